//! The frames of a partition's rows: the rows that a window function sees for each row. Both ends
//! of a frame only move forward from row to row.

use super::part::Part;
use crate::error::{Result, SqlError};
use crate::exec::keyed_rows::equal_keys;
use crate::expr::{Context, Expr, Number, compare, double_of, number};
use crate::plan::{FrameEdge, SortKey, WindowPlan};
use std::cmp::Ordering;
use types::Value;

/// Where a row is in its partition. The ends are those behind the last row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub row: usize,
    /// The rows that are equal to the row in the window's order.
    pub peers: (usize, usize),
    pub frame: (usize, usize),
}

/// One end of the frames.
enum Edge<'w> {
    /// The partition's first or last row.
    Unbounded,
    CurrentRow,
    Peers,
    Rows {
        rows: usize,
        follows: bool,
    },
    Range {
        limit: &'w Expr,
        /// The first row that has not been found to be before the edge.
        at: usize,
        /// The edge of the current peers.
        edge: usize,
    },
}

/// The end of the frames that is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    Behind,
}

/// The frames of a partition's rows, one row after the other.
pub(super) struct Frames<'w> {
    window: &'w WindowPlan,
    /// The number of values of a row before its keys.
    columns: usize,
    start: Edge<'w>,
    behind: Edge<'w>,
    peers: (usize, usize),
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

fn edge_of<'w>(edge: &'w FrameEdge, window: &'w WindowPlan, ctx: &Context<'_>) -> Result<Edge<'w>> {
    Ok(match edge {
        FrameEdge::Unbounded => Edge::Unbounded,
        FrameEdge::CurrentRow if window.frame.rows => Edge::CurrentRow,
        FrameEdge::CurrentRow => Edge::Peers,
        FrameEdge::Rows { offset, follows } => {
            Edge::Rows { rows: rows_of(offset, window, ctx)?, follows: *follows }
        }
        FrameEdge::Range { limit, offset } => {
            let value = offset.eval(&[], ctx)?;
            let is_negative = match number(&value) {
                Number::Int(n) => n < 0,
                Number::UInt(_) => false,
                other => double_of(&other) < 0.0,
            };
            if value.is_null() || is_negative {
                return Err(wrong_bound(window));
            }
            Edge::Range { limit, at: 0, edge: 0 }
        }
    })
}

impl<'w> Frames<'w> {
    /// Begins in front of a partition's first row. A row has `columns` values before its keys.
    ///
    /// # Errors
    /// Returns 3586 when a bound of the frame is negative, NULL or no integer.
    pub fn of(window: &'w WindowPlan, columns: usize, ctx: &Context<'_>) -> Result<Frames<'w>> {
        let start = edge_of(&window.frame.start, window, ctx)?;
        let behind = edge_of(&window.frame.end, window, ctx)?;
        Ok(Frames { window, columns, start, behind, peers: (0, 0) })
    }

    /// Returns the place of a row. The rows are asked for in their order.
    ///
    /// # Errors
    /// Returns the errors of [`Part::row`] and of the window's expressions.
    pub fn next(&mut self, part: &Part, row: usize, ctx: &Context<'_>) -> Result<Place> {
        if row == self.peers.1 {
            self.peers = (row, self.behind_peers(part, row, ctx)?);
        }
        let around = Around { part, window: self.window, columns: self.columns, peers: self.peers };
        let start = around.edge(&mut self.start, End::Start, row, ctx)?;
        let behind = around.edge(&mut self.behind, End::Behind, row, ctx)?;
        let (first, last) = self.peers;
        assert!(first <= row && row < last && last <= part.len(), "a row is one of its peers");
        assert!(start.max(behind) <= part.len(), "a frame lies within its partition");
        // A frame that would end before it begins is empty.
        Ok(Place { row, peers: self.peers, frame: (start, behind.max(start)) })
    }

    /// Returns the index behind the last of the rows that are equal to `row` in the window's order.
    fn behind_peers(&self, part: &Part, row: usize, ctx: &Context<'_>) -> Result<usize> {
        let order = &self.window.keys[self.window.partition_keys..];
        if order.is_empty() {
            return Ok(part.len());
        }
        let from = self.columns + self.window.partition_keys;
        let first = part.row(row)?;
        let mut behind = row + 1;
        while behind < part.len() && equal_keys(&first[from..], &part.row(behind)?[from..], order, ctx)? {
            ctx.check_interrupt()?;
            behind += 1;
        }
        Ok(behind)
    }
}

/// What an end of a row's frame depends on.
struct Around<'a> {
    part: &'a Part,
    window: &'a WindowPlan,
    columns: usize,
    peers: (usize, usize),
}

impl Around<'_> {
    fn edge(&self, edge: &mut Edge<'_>, end: End, row: usize, ctx: &Context<'_>) -> Result<usize> {
        let of = |(start, behind): (usize, usize)| if end == End::Start { start } else { behind };
        let count = self.part.len();
        Ok(match edge {
            Edge::Unbounded => of((0, count)),
            Edge::CurrentRow => of((row, row + 1)),
            Edge::Peers => of(self.peers),
            Edge::Rows { rows, follows } => {
                let behind = usize::from(end == End::Behind);
                match follows {
                    true => row.saturating_add(*rows).saturating_add(behind).min(count),
                    false => (row + behind).saturating_sub(*rows),
                }
            }
            Edge::Range { edge, .. } if row > self.peers.0 => *edge,
            Edge::Range { limit, at, edge } => {
                *edge = match self.range(limit, at, end, ctx)? {
                    Some(found) => found,
                    None => of(self.peers),
                };
                *edge
            }
        })
    }

    /// Computes one end of the frame of the first peer for RANGE with a distance. `None` means that
    /// the frame consists of the peers: the key is NULL, or the limit is out of range.
    fn range(&self, limit: &Expr, at: &mut usize, end: End, ctx: &Context<'_>) -> Result<Option<usize>> {
        let key: &SortKey = &self.window.keys[self.window.partition_keys];
        let key_slot = self.columns + self.window.partition_keys;
        let row = self.part.row(self.peers.0)?;
        if row[key_slot].is_null() {
            return Ok(None);
        }
        let limit = limit.eval(&row, ctx)?;
        if limit.is_null() {
            return Ok(None);
        }
        while *at < self.part.len() {
            ctx.check_interrupt()?;
            let other = self.part.row(*at)?;
            let ordering = match compare(&other[key_slot], &limit, key.expr.ty.collation, ctx)? {
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
            *at += 1;
        }
        Ok(Some(*at))
    }
}
