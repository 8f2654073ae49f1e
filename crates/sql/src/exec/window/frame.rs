//! The frames of a partition's rows: the rows that a window function sees for each row. Both ends
//! of a frame only move forward from row to row.

use super::part::Part;
use crate::error::{Result, SqlError};
use crate::exec::keyed_rows::KeyedRow;
use crate::expr::{Context, Expr, Number, compare, double_of, number};
use crate::memory::Charge;
use crate::plan::{FrameEdge, WindowPlan};
use std::cmp::Ordering;
use types::Value;

/// The frames of the rows of a partition.
pub(super) enum Frames {
    /// From the first row of the partition to the last one.
    Whole,
    /// From the first row of the partition to the last peer of the row.
    ToPeers,
    /// For each row, the index of the first row of its frame and the index behind the last one.
    Each(Vec<(usize, usize)>),
}

/// Builds error 3586 (`ER_WINDOW_FRAME_ILLEGAL`), which tells that a bound of the frame is
/// negative, NULL or no integer.
fn wrong_bound(window: &WindowPlan) -> SqlError {
    let name = &window.name;
    let text = format!("Window '{name}': frame start or end is negative, NULL or of non-integral type");
    SqlError::new(3586, text)
}

/// Evaluates the number of rows that a ROWS frame extends before or behind the row.
fn rows_of(offset: &Expr, window: &WindowPlan, ctx: &Context<'_>) -> Result<usize> {
    let value = offset.eval(&[], ctx)?;
    let rows = match &*value {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        _ => None,
    };
    rows.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX)).ok_or_else(|| wrong_bound(window))
}

/// The end of the frames that is computed.
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
        // A frame that would end before it begins is empty.
        Ok(Frames::Each(
            starts.into_iter().zip(behinds).map(|(start, end)| (start, end.max(start))).collect(),
        ))
    }

    /// Returns the frame of a row: the index of its first row and the index behind its last one.
    pub fn at(&self, row: usize, part: &Part<'_>) -> (usize, usize) {
        match self {
            Frames::Whole => (0, part.rows.len()),
            Frames::ToPeers => (0, part.peers[row].1),
            Frames::Each(frames) => frames[row],
        }
    }
}

/// Computes one end of each row's frame.
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

/// Computes one end of each row's frame for RANGE with a distance. The frame of a row whose key is
/// NULL consists of its peers.
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
            // The limit cannot be computed because it is out of range.
            ends.push(if end == End::Start { first_peer } else { behind_peers });
            continue;
        }
        while let Some(other) = part.rows.get(at) {
            let ordering = match compare(&key_of(other), &limit, key.expr.ty.collation, ctx)? {
                Some(ordering) if key.descending => ordering.reverse(),
                Some(ordering) => ordering,
                // NULLs sort first, or last with DESC.
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
