//! Window functions: values over the rows around each row.
//!
//! In: the rows of a query. They are sorted for one window after the other, but not for a window
//! whose order is the beginning of the current one. Then each function goes through the rows of
//! each partition ([`function`]), with the frame of each row ([`frame`]). Out: the rows with the
//! values in their slots, in the order of the last window.

mod frame;
mod function;
mod part;

use super::keyed_rows::{KeyedRow, end_of_equals, sort};
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use crate::error::Result;
use crate::memory::growth;
use crate::plan::{SortKey, WindowPlan, Windowed};
use crate::stopwatch::{Measures, Operator};
use frame::Frames;
use function::compute;
use part::Part;

/// Reports whether rows sorted for one window are in the order that another one wants.
fn begins_with(sorted: &WindowPlan, wanted: &WindowPlan) -> bool {
    let same = |(a, b): (&SortKey, &SortKey)| a.expr == b.expr && a.descending == b.descending;
    wanted.keys.len() <= sorted.keys.len() && sorted.keys.iter().zip(&wanted.keys).all(same)
}

/// Orders the windows so that those which can share a sort follow one another, the one with the
/// most keys first.
fn in_turn(windows: &[WindowPlan]) -> Vec<&WindowPlan> {
    let mut left: Vec<&WindowPlan> = windows.iter().collect();
    let mut turns = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let longest = (0..left.len()).find(|at| {
            !left.iter().any(|other| other.keys.len() > left[*at].keys.len() && begins_with(other, left[*at]))
        });
        let first = left.remove(longest.unwrap_or(0));
        turns.push(first);
        let mut at = 0;
        while at < left.len() {
            if begins_with(first, left[at]) { turns.push(left.remove(at)) } else { at += 1 }
        }
    }
    turns
}

/// Computes the functions of one window for rows that are sorted for it.
fn run_window(rows: &mut [KeyedRow], window: &WindowPlan, run: &Run<'_, '_>) -> Result<()> {
    let ctx = run.ctx;
    let (partition, order) = window.keys.split_at(window.partition_keys);
    let mut start = 0;
    while start < rows.len() {
        let end = end_of_equals(rows, start, (0, partition), ctx)?;
        let mut charge = run.charge();
        let part = &mut rows[start..end];
        charge.add(part.len() * size_of::<(usize, usize)>())?;
        let mut peers = Vec::with_capacity(part.len());
        while peers.len() < part.len() {
            let first = peers.len();
            let last = end_of_equals(part, first, (window.partition_keys, order), ctx)?;
            peers.resize(last, (first, last));
        }
        let mut part = Part { rows: part, peers };
        let frames = Frames::of(&part, window, &mut charge, ctx)?;
        for function in &window.functions {
            compute(&mut part, &frames, function, run)?;
        }
        start = end;
    }
    Ok(())
}

/// Runs a query and computes the windows over its rows.
pub(super) fn run_windowed(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    windowed: &Windowed,
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let began = ctx.measures.map(Measures::begin);
    let mut charge = run.charge();
    let mut rows: Vec<KeyedRow> = Vec::new();
    run_query(run, &windowed.input, &mut |row| {
        charge.add_row(row)?;
        growth::push(&mut rows, KeyedRow { keys: Vec::new(), row: row.to_vec() }, &mut charge)
    })?;
    let mut before: Option<&WindowPlan> = None;
    for window in in_turn(&windowed.windows) {
        match before {
            // The rows are sorted by keys that begin with this window's.
            Some(before) if begins_with(before, window) => {}
            _ => {
                sort(&mut rows, &window.keys, &mut charge, ctx)?;
                if before.replace(window).is_none()
                    && let Some(began) = &began
                {
                    began.end(windowed, Operator::Ordered, rows.len());
                }
            }
        }
        run_window(&mut rows, window, run)?;
    }
    let found_rows = rows.len() as u64;
    for KeyedRow { row, .. } in &rows {
        run.on_row()?;
        emit(row)?;
    }
    Ok(QueryOutcome { found_rows })
}
