//! Computes window functions for the rows of one partition.

use super::frame::Place;
use super::part::Part;
use crate::error::{Result, SqlError};
use crate::exec::run::Run;
use crate::expr::{Accumulator, Aggregate, AggregateKind, Context, Expr, conform, extreme_compare};
use crate::memory::{Charge, copy_bytes};
use crate::plan::{WindowFunction, WindowKind};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::VecDeque;
use types::Value;

/// A function whose values for the rows of a partition are computed, one row after the other.
pub(super) struct Running<'f> {
    function: &'f WindowFunction,
    state: State<'f>,
}

enum State<'f> {
    RowNumber,
    Rank,
    /// The number of groups of peers so far.
    DenseRank(u64),
    PercentRank,
    CumeDist,
    /// The number of buckets. `None` means NULL.
    Ntile(Option<u64>),
    /// LAG and LEAD: the distance, and whether the row is behind.
    Other(Option<u64>, bool),
    /// FIRST_VALUE and NTH_VALUE: the number of the row in the frame, from 1 on.
    Nth(Option<u64>),
    Last,
    Aggregate(Box<OverFrames<'f>>),
}

impl<'f> Running<'f> {
    /// Begins in front of a partition's first row.
    ///
    /// # Errors
    /// Returns 1210 when an argument that is the same for all rows is no fitting integer.
    pub fn of(function: &'f WindowFunction, run: &Run<'_, '_>) -> Result<Running<'f>> {
        let ctx = run.ctx;
        let distance = |name| match function.args.get(1) {
            Some(offset) => count_of(offset, 0, name, ctx),
            None => Ok(Some(1)),
        };
        let state = match &function.kind {
            WindowKind::RowNumber => State::RowNumber,
            WindowKind::Rank => State::Rank,
            WindowKind::DenseRank => State::DenseRank(0),
            WindowKind::PercentRank => State::PercentRank,
            WindowKind::CumeDist => State::CumeDist,
            WindowKind::Ntile => State::Ntile(count_of(&function.args[0], 1, "ntile", ctx)?),
            WindowKind::Lag => State::Other(distance("lag")?, false),
            WindowKind::Lead => State::Other(distance("lead")?, true),
            WindowKind::FirstValue => State::Nth(Some(1)),
            WindowKind::LastValue => State::Last,
            WindowKind::NthValue => State::Nth(match function.args.get(1) {
                Some(nth) => count_of(nth, 1, "nth_value", ctx)?,
                None => Some(1),
            }),
            WindowKind::Aggregate(aggregate) => State::Aggregate(Box::new(OverFrames::new(aggregate, run))),
        };
        Ok(Running { function, state })
    }

    /// Returns the slot that the function's values go to.
    pub fn slot(&self) -> usize {
        self.function.slot
    }

    /// Puts the function's value for a row into its slot. `out` is a copy of the row.
    ///
    /// # Errors
    /// Returns the errors of the expressions and of [`Part::row`].
    pub fn put(&mut self, part: &Part, place: &Place, out: &mut [Value], ctx: &Context<'_>) -> Result<()> {
        let value = self.value(part, place, ctx)?;
        out[self.function.slot] = conform(Cow::Owned(value), &self.function.result.ty, ctx)?.into_owned();
        Ok(())
    }

    fn value(&mut self, part: &Part, place: &Place, ctx: &Context<'_>) -> Result<Value> {
        let Place { row, peers, frame: (start, end) } = *place;
        assert!(row < part.len() && peers.1 <= part.len(), "a function is asked for rows of its partition");
        let args = &self.function.args;
        let in_frame = |wanted: Option<usize>| match wanted.filter(|wanted| (start..end).contains(wanted)) {
            Some(wanted) => value_at(part, wanted, &args[0], ctx),
            None => Ok(Value::Null),
        };
        match &mut self.state {
            State::RowNumber => Ok(Value::UInt(row as u64 + 1)),
            State::Rank => Ok(Value::UInt(peers.0 as u64 + 1)),
            State::DenseRank(groups) => {
                *groups += u64::from(peers.0 == row);
                Ok(Value::UInt(*groups))
            }
            State::PercentRank => {
                let others = part.len() - 1;
                let before = peers.0 as f64;
                Ok(Value::Double(if others == 0 { 0.0 } else { before / others as f64 }))
            }
            State::CumeDist => Ok(Value::Double(peers.1 as f64 / part.len() as f64)),
            State::Ntile(buckets) => Ok(bucket(*buckets, row, part.len())),
            State::Other(distance, leads) => {
                let other = distance.and_then(|distance| usize::try_from(distance).ok());
                let other = other.and_then(|distance| match leads {
                    true => row.checked_add(distance),
                    false => row.checked_sub(distance),
                });
                match (other.filter(|other| *other < part.len()), args.get(2)) {
                    (Some(other), _) => value_at(part, other, &args[0], ctx),
                    (None, Some(default)) => value_at(part, row, default, ctx),
                    (None, None) => Ok(Value::Null),
                }
            }
            State::Nth(nth) => {
                let nth = nth.and_then(|nth| usize::try_from(nth - 1).ok());
                in_frame(nth.and_then(|nth| start.checked_add(nth)))
            }
            State::Last => in_frame(end.checked_sub(1)),
            State::Aggregate(over) => over.value(part, (start, end), ctx),
        }
    }
}

fn value_at(part: &Part, row: usize, expr: &Expr, ctx: &Context<'_>) -> Result<Value> {
    ctx.owned(expr.eval(&part.row(row)?, ctx)?)
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

/// The bytes that a row takes in the list of candidates.
const CANDIDATE_BYTES: usize = size_of::<usize>();

/// An aggregate over one frame after the other.
struct OverFrames<'a> {
    aggregate: &'a Aggregate,
    accumulator: Accumulator,
    /// The frame whose rows the accumulator has taken in.
    frame: (usize, usize),
    /// The frame whose value was asked for last, and that value.
    known: Option<((usize, usize), Value)>,
    /// For MIN and MAX, the rows that are or may yet become the extreme. The first is the current
    /// one.
    candidates: VecDeque<usize>,
    /// What the accumulator keeps.
    accumulated_charge: Charge,
    /// What `known` and `candidates` keep.
    charge: Charge,
}

impl<'a> OverFrames<'a> {
    fn new(aggregate: &'a Aggregate, run: &Run<'_, '_>) -> OverFrames<'a> {
        OverFrames {
            aggregate,
            accumulator: aggregate.start(),
            frame: (0, 0),
            known: None,
            candidates: VecDeque::new(),
            accumulated_charge: run.charge(),
            charge: run.charge(),
        }
    }

    fn value(&mut self, part: &Part, frame: (usize, usize), ctx: &Context<'_>) -> Result<Value> {
        if let Some((of, known)) = &self.known
            && *of == frame
        {
            return ctx.copied(known);
        }
        let value = match self.aggregate.kind {
            AggregateKind::Min | AggregateKind::Max => self.extreme(part, frame, ctx)?,
            _ => self.accumulated(part, frame, ctx)?,
        };
        if let Some((_, before)) = self.known.take() {
            self.charge.take_away(copy_bytes(&before));
        }
        self.charge.add(copy_bytes(&value))?;
        self.known = Some((frame, ctx.copied(&value)?));
        Ok(value)
    }

    /// Returns MIN or MAX over the frame. A row with a better one behind it can never be the
    /// extreme again, so it is no candidate.
    fn extreme(&mut self, part: &Part, (start, end): (usize, usize), ctx: &Context<'_>) -> Result<Value> {
        let arg = &self.aggregate.args[0];
        let better = match self.aggregate.kind {
            AggregateKind::Min => Ordering::Less,
            _ => Ordering::Greater,
        };
        for row in self.frame.1.max(start)..end {
            ctx.check_interrupt()?;
            let current = part.row(row)?;
            let value = arg.eval(&current, ctx)?;
            if value.is_null() {
                continue;
            }
            while let Some(last) = self.candidates.back() {
                let last = part.row(*last)?;
                let other = arg.eval(&last, ctx)?;
                if extreme_compare(&value, &other, arg.ty.collation, ctx)? != better {
                    break;
                }
                self.candidates.pop_back();
                self.charge.take_away(CANDIDATE_BYTES);
            }
            self.charge.add(CANDIDATE_BYTES)?;
            self.candidates.push_back(row);
        }
        debug_assert!(self.candidates.iter().is_sorted(), "a candidate lies behind those that are better");
        while self.candidates.front().is_some_and(|first| *first < start) {
            self.candidates.pop_front();
            self.charge.take_away(CANDIDATE_BYTES);
        }
        self.frame = (start, end.max(self.frame.1));
        match self.candidates.front() {
            Some(first) => value_at(part, *first, arg, ctx),
            None => Ok(Value::Null),
        }
    }

    /// Moves the accumulator to the frame: takes out the rows that have left, where the aggregate
    /// can do that, and takes in the new ones. Else it begins anew.
    fn accumulated(&mut self, part: &Part, (start, end): (usize, usize), ctx: &Context<'_>) -> Result<Value> {
        let (first, behind) = self.frame;
        let overlaps = start < behind;
        let mut goes_on = overlaps || first == behind && start == behind;
        if overlaps {
            for row in first..start {
                ctx.check_interrupt()?;
                goes_on = goes_on && self.accumulator.remove(self.aggregate, &part.row(row)?, ctx)?;
            }
        }
        let from = if goes_on { behind } else { start };
        if !goes_on {
            self.accumulator = self.aggregate.start();
            self.accumulated_charge.clear();
        }
        for row in from..end {
            ctx.check_interrupt()?;
            self.accumulator.add(self.aggregate, &part.row(row)?, ctx, &mut self.accumulated_charge)?;
        }
        self.frame = (start, end);
        if let Some(value) = self.accumulator.value(self.aggregate, ctx)? {
            return Ok(value);
        }
        // The aggregate can only deliver its value at its end, so it has to begin anew for the next
        // frame, as it does before the first one.
        self.frame = (0, 0);
        let ended = std::mem::replace(&mut self.accumulator, self.aggregate.start());
        ended.finish(self.aggregate, ctx)
    }
}
