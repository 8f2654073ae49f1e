//! The frames of a part's rows: from where to where an aggregate over a window goes for each of
//! them. Both ends only move forward from row to row.

use super::part::Part;
use crate::error::{Result, SqlError};
use crate::exec::keyed_rows::KeyedRow;
use crate::expr::{Context, Expr, Number, compare, double_of, number};
use crate::memory::Charge;
use crate::plan::{FrameEdge, WindowPlan};
use std::cmp::Ordering;
use types::Value;

/// The frames of the rows of a part.
pub(super) enum Frames {
    /// From the first row to the last one.
    Whole,
    /// From the first row to the last one that is equal in order.
    ToPeers,
    /// Of each row, where its frame begins and where it ends.
    Each(Vec<(usize, usize)>),
}

/// Error 3586.
fn wrong_bound(window: &WindowPlan) -> SqlError {
    let name = &window.name;
    let text = format!("Window '{name}': frame start or end is negative, NULL or of non-integral type");
    SqlError::new(3586, text)
}

/// How many rows a frame goes on.
fn rows_of(offset: &Expr, window: &WindowPlan, ctx: &Context<'_>) -> Result<usize> {
    let value = offset.eval(&[], ctx)?;
    let rows = match &*value {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        _ => None,
    };
    rows.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX)).ok_or_else(|| wrong_bound(window))
}

/// Which end of the frames is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    Behind,
}

impl Frames {
    pub fn of(
        part: &Part<'_>,
        window: &WindowPlan,
        charge: &mut Charge,
        ctx: &Context<'_>,
    ) -> Result<Frames> {
        let frame = &window.frame;
        match (&frame.start, &frame.end, frame.rows) {
            (FrameEdge::Unbounded, FrameEdge::Unbounded, _) => return Ok(Frames::Whole),
            (FrameEdge::Unbounded, FrameEdge::CurrentRow, false) => return Ok(Frames::ToPeers),
            _ => {}
        }
        charge.add(3 * part.rows.len() * size_of::<usize>())?;
        let starts = ends_of(part, window, &frame.start, End::Start, ctx)?;
        let behinds = ends_of(part, window, &frame.end, End::Behind, ctx)?;
        // A frame that ends before it begins is empty.
        Ok(Frames::Each(
            starts.into_iter().zip(behinds).map(|(start, end)| (start, end.max(start))).collect(),
        ))
    }

    /// The frame of a row.
    pub fn at(&self, row: usize, part: &Part<'_>) -> (usize, usize) {
        match self {
            Frames::Whole => (0, part.rows.len()),
            Frames::ToPeers => (0, part.peers[row].1),
            Frames::Each(frames) => frames[row],
        }
    }
}

/// One end of each row's frame.
fn ends_of(
    part: &Part<'_>,
    window: &WindowPlan,
    edge: &FrameEdge,
    end: End,
    ctx: &Context<'_>,
) -> Result<Vec<usize>> {
    let count = part.rows.len();
    Ok(match edge {
        FrameEdge::Unbounded => vec![if end == End::Start { 0 } else { count }; count],
        FrameEdge::CurrentRow if window.frame.rows => match end {
            End::Start => (0..count).collect(),
            End::Behind => (1..=count).collect(),
        },
        FrameEdge::CurrentRow => match end {
            End::Start => part.peers.iter().map(|(start, _)| *start).collect(),
            End::Behind => part.peers.iter().map(|(_, end)| *end).collect(),
        },
        FrameEdge::Rows { offset, follows } => {
            let rows = rows_of(offset, window, ctx)?;
            let behind = usize::from(end == End::Behind);
            let bound = |row: usize| match follows {
                true => row.saturating_add(rows).saturating_add(behind).min(count),
                false => (row + behind).saturating_sub(rows),
            };
            (0..count).map(bound).collect()
        }
        FrameEdge::Range { limit, offset } => ranges(part, window, (limit, offset), end, ctx)?,
    })
}

/// One end of each row's frame, where the distance of the keys decides. Rows without a key have
/// their peers.
fn ranges(
    part: &Part<'_>,
    window: &WindowPlan,
    (limit, offset): (&Expr, &Expr),
    end: End,
    ctx: &Context<'_>,
) -> Result<Vec<usize>> {
    let value = offset.eval(&[], ctx)?;
    let is_negative = match number(&value) {
        Number::Int(n) => n < 0,
        Number::UInt(_) => false,
        other => double_of(&other) < 0.0,
    };
    if value.is_null() || is_negative {
        return Err(wrong_bound(window));
    }
    let key = &window.keys[window.partition_keys];
    let key_of = |row: &KeyedRow| row.keys[window.partition_keys].clone();
    let mut ends = Vec::with_capacity(part.rows.len());
    let mut at = 0;
    for (number, row) in part.rows.iter().enumerate() {
        ctx.check_interrupt()?;
        ctx.forget_made();
        let (first_peer, behind_peers) = part.peers[number];
        if number > first_peer {
            ends.push(ends[number - 1]);
            continue;
        }
        if key_of(row).is_null() {
            ends.push(if end == End::Start { first_peer } else { behind_peers });
            continue;
        }
        let limit = limit.eval(&row.row, ctx)?;
        if limit.is_null() {
            // Beyond what there is.
            ends.push(if end == End::Start { first_peer } else { behind_peers });
            continue;
        }
        while let Some(other) = part.rows.get(at) {
            let ordering = match compare(&key_of(other), &limit, key.expr.ty.collation, ctx)? {
                Some(ordering) if key.descending => ordering.reverse(),
                Some(ordering) => ordering,
                // Rows without a key are the first ones, or the last ones.
                None if key.descending => Ordering::Greater,
                None => Ordering::Less,
            };
            let is_before = match end {
                End::Start => ordering == Ordering::Less,
                End::Behind => ordering != Ordering::Greater,
            };
            if !is_before {
                break;
            }
            at += 1;
        }
        ends.push(at);
    }
    Ok(ends)
}
