//! Computes window functions for the rows of one partition.

use super::frame::Frames;
use super::part::Part;
use crate::error::{Result, SqlError};
use crate::exec::run::Run;
use crate::expr::{Accumulator, Aggregate, AggregateKind, Context, Expr, conform, extreme_compare};
use crate::memory::Charge;
use crate::plan::{WindowFunction, WindowKind};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::VecDeque;
use types::Value;

/// Computes a function for each row of a partition.
pub(super) fn compute(
    part: &mut Part<'_>,
    frames: &Frames,
    function: &WindowFunction,
    run: &Run<'_, '_>,
) -> Result<()> {
    let ctx = run.ctx;
    match &function.kind {
        WindowKind::RowNumber => put(part, function, ctx, |_, row, _| Ok(Value::UInt(row as u64 + 1))),
        WindowKind::Rank => put(part, function, ctx, |part, row, _| Ok(Value::UInt(rank(part, row)))),
        WindowKind::DenseRank => {
            let mut groups = 0;
            put(part, function, ctx, |part, row, _| {
                groups += u64::from(part.peers[row].0 == row);
                Ok(Value::UInt(groups))
            })
        }
        WindowKind::PercentRank => put(part, function, ctx, |part, row, _| {
            let others = part.rows.len() - 1;
            let before = (rank(part, row) - 1) as f64;
            Ok(Value::Double(if others == 0 { 0.0 } else { before / others as f64 }))
        }),
        WindowKind::CumeDist => put(part, function, ctx, |part, row, _| {
            Ok(Value::Double(part.peers[row].1 as f64 / part.rows.len() as f64))
        }),
        WindowKind::Ntile => {
            let buckets = count_of(&function.args[0], 1, "ntile", ctx)?;
            put(part, function, ctx, |part, row, _| Ok(bucket(buckets, row, part.rows.len())))
        }
        WindowKind::Lag | WindowKind::Lead => {
            let leads = matches!(function.kind, WindowKind::Lead);
            let name = if leads { "lead" } else { "lag" };
            let distance = match function.args.get(1) {
                Some(offset) => count_of(offset, 0, name, ctx)?,
                None => Some(1),
            };
            put(part, function, ctx, |part, row, ctx| {
                let other =
                    distance.and_then(|distance| usize::try_from(distance).ok()).and_then(|distance| {
                        let other = if leads { row.checked_add(distance) } else { row.checked_sub(distance) };
                        other.filter(|other| *other < part.rows.len())
                    });
                match (other, function.args.get(2)) {
                    (Some(other), _) => value_at(part, other, &function.args[0], ctx),
                    (None, Some(default)) => value_at(part, row, default, ctx),
                    (None, None) => Ok(Value::Null),
                }
            })
        }
        WindowKind::FirstValue | WindowKind::LastValue | WindowKind::NthValue => {
            let nth = match function.args.get(1) {
                Some(nth) => count_of(nth, 1, "nth_value", ctx)?,
                None => Some(1),
            };
            let is_last = matches!(function.kind, WindowKind::LastValue);
            put(part, function, ctx, |part, row, ctx| {
                let (start, end) = frames.at(row, part);
                let nth = nth.and_then(|nth| usize::try_from(nth - 1).ok());
                let wanted = match is_last {
                    true => end.checked_sub(1),
                    false => nth.and_then(|nth| start.checked_add(nth)),
                };
                match wanted.filter(|wanted| (start..end).contains(wanted)) {
                    Some(wanted) => value_at(part, wanted, &function.args[0], ctx),
                    None => Ok(Value::Null),
                }
            })
        }
        WindowKind::Aggregate(aggregate) => {
            let mut over = OverFrames::new(aggregate, run.charge());
            put(part, function, ctx, |part, row, ctx| over.value(part, frames.at(row, part), ctx))
        }
    }
}

/// Puts a value into the function's slot of each row.
fn put(
    part: &mut Part<'_>,
    function: &WindowFunction,
    ctx: &Context<'_>,
    mut value: impl FnMut(&Part<'_>, usize, &Context<'_>) -> Result<Value>,
) -> Result<()> {
    for row in 0..part.rows.len() {
        ctx.check_interrupt()?;
        ctx.forget_made();
        let value = value(part, row, ctx)?;
        part.rows[row].row[function.slot] =
            conform(Cow::Owned(value), &function.result.ty, ctx)?.into_owned();
    }
    Ok(())
}

fn rank(part: &Part<'_>, row: usize) -> u64 {
    part.peers[row].0 as u64 + 1
}

fn value_at(part: &Part<'_>, row: usize, expr: &Expr, ctx: &Context<'_>) -> Result<Value> {
    ctx.owned(expr.eval(&part.rows[row].row, ctx)?)
}

/// Returns the NTILE bucket of a row, from 1 on. The sizes of the buckets differ by at most one
/// row. `None` for `buckets` stands for NULL.
fn bucket(buckets: Option<u64>, row: usize, rows: usize) -> Value {
    let Some(buckets) = buckets else { return Value::Null };
    let (row, rows) = (row as u64, rows as u64);
    let (small, larger) = (rows / buckets, rows % buckets);
    let in_larger = larger * (small + 1);
    Value::UInt(1 + if row < in_larger { row / (small + 1) } else { larger + (row - in_larger) / small })
}

/// Evaluates an argument that is the same for all rows and is an integer of at least `least`.
/// `None` means NULL.
///
/// # Errors
/// Returns 1210 (`ER_WRONG_ARGUMENTS`) when the argument is no such integer.
fn count_of(expr: &Expr, least: u64, name: &str, ctx: &Context<'_>) -> Result<Option<u64>> {
    let value = expr.eval(&[], ctx)?;
    let count = match &*value {
        Value::Null => return Ok(None),
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        _ => None,
    };
    let count = count.filter(|count| *count >= least);
    count.map(Some).ok_or_else(|| SqlError::new(1210, format!("Incorrect arguments to {name}")))
}

/// An aggregate over one frame after the other.
struct OverFrames<'a> {
    aggregate: &'a Aggregate,
    accumulator: Accumulator,
    /// The frame whose rows the accumulator has taken in.
    frame: (usize, usize),
    /// The value over `frame`, once it has been computed.
    known: Option<Value>,
    /// For MIN and MAX, the rows that are or may yet become the extreme. The first is the current
    /// one.
    candidates: VecDeque<usize>,
    charge: Charge,
}

impl<'a> OverFrames<'a> {
    fn new(aggregate: &'a Aggregate, charge: Charge) -> OverFrames<'a> {
        let (accumulator, candidates) = (aggregate.start(), VecDeque::new());
        OverFrames { aggregate, accumulator, frame: (0, 0), known: None, candidates, charge }
    }

    fn value(&mut self, part: &Part<'_>, frame: (usize, usize), ctx: &Context<'_>) -> Result<Value> {
        if frame == self.frame
            && let Some(known) = &self.known
        {
            return ctx.copied(known);
        }
        let value = match self.aggregate.kind {
            AggregateKind::Min | AggregateKind::Max => self.extreme(part, frame, ctx)?,
            _ => self.accumulated(part, frame, ctx)?,
        };
        self.charge.add(crate::memory::copy_bytes(&value))?;
        self.known = Some(ctx.copied(&value)?);
        Ok(value)
    }

    /// Returns MIN or MAX over the frame. A row with a better one behind it can never be the
    /// extreme again, so it is no candidate.
    fn extreme(&mut self, part: &Part<'_>, (start, end): (usize, usize), ctx: &Context<'_>) -> Result<Value> {
        let arg = &self.aggregate.args[0];
        let better = match self.aggregate.kind {
            AggregateKind::Min => Ordering::Less,
            _ => Ordering::Greater,
        };
        for row in self.frame.1.max(start)..end {
            ctx.check_interrupt()?;
            let value = arg.eval(&part.rows[row].row, ctx)?;
            if value.is_null() {
                continue;
            }
            while let Some(last) = self.candidates.back() {
                let other = arg.eval(&part.rows[*last].row, ctx)?;
                if extreme_compare(&value, &other, arg.ty.collation, ctx)? != better {
                    break;
                }
                self.candidates.pop_back();
            }
            self.charge.add(size_of::<usize>())?;
            self.candidates.push_back(row);
        }
        while self.candidates.front().is_some_and(|first| *first < start) {
            self.candidates.pop_front();
        }
        self.frame = (start, end.max(self.frame.1));
        match self.candidates.front() {
            Some(first) => value_at(part, *first, arg, ctx),
            None => Ok(Value::Null),
        }
    }

    /// Moves the accumulator to the frame: takes out the rows that have left, where the aggregate
    /// can do that, and takes in the new ones. Else it begins anew.
    fn accumulated(
        &mut self,
        part: &Part<'_>,
        (start, end): (usize, usize),
        ctx: &Context<'_>,
    ) -> Result<Value> {
        let (first, behind) = self.frame;
        let overlaps = start < behind;
        let mut goes_on = overlaps || first == behind && start == behind;
        if overlaps {
            for row in first..start {
                ctx.check_interrupt()?;
                goes_on = goes_on && self.accumulator.remove(self.aggregate, &part.rows[row].row, ctx)?;
            }
        }
        let from = if goes_on { behind } else { start };
        if !goes_on {
            self.accumulator = self.aggregate.start();
            self.charge.clear();
        }
        for row in from..end {
            ctx.check_interrupt()?;
            self.accumulator.add(self.aggregate, &part.rows[row].row, ctx, &mut self.charge)?;
        }
        self.frame = (start, end);
        if let Some(value) = self.accumulator.value(self.aggregate, ctx)? {
            return Ok(value);
        }
        // The aggregate can only deliver its value at its end, so it has to begin anew for the next
        // frame.
        self.frame = (end, end);
        self.known = None;
        let ended = std::mem::replace(&mut self.accumulator, self.aggregate.start());
        ended.finish(self.aggregate, ctx)
    }
}
