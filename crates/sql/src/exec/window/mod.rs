//! Window functions: values over the rows around each row.
//!
//! In: the rows of a query. They are sorted for one window after the other, but not for a window
//! whose order is the beginning of the current one. The rows of each partition are collected
//! ([`part`]), and go on one by one, each with the values of the window's functions ([`function`])
//! over its frame ([`frame`]). Out: the rows with the values in their slots, in the order of the
//! last window. Rows beyond `sort_buffer_size`, and those of a partition beyond `tmp_table_size`,
//! are in files.

mod frame;
mod function;
mod part;

use super::keyed_rows::{KeyedSorter, equal_keys, in_slots};
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use super::sort::Sorted;
use super::spill::Rows;
use crate::error::Result;
use crate::plan::{SortKey, WindowPlan, Windowed};
use crate::stopwatch::{Measures, Operator};
use frame::Frames;
use function::Running;
use part::Part;
use types::Value;

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
    assert_eq!(turns.len(), windows.len(), "each window has its turn");
    turns
}

/// Passes the next row on. Returns false behind the last one.
type NextRow<'n> = dyn FnMut(&mut [Value]) -> Result<bool> + 'n;

/// Computes the functions of one window for rows that come sorted for it. A row has `columns`
/// values, and the keys that it is sorted by behind them.
fn run_window(
    run: &Run<'_, '_>,
    (window, columns, width): (&WindowPlan, usize, usize),
    next: &mut NextRow<'_>,
    emit: &mut Emit<'_>,
) -> Result<()> {
    let ctx = run.ctx;
    let partition = &window.keys[..window.partition_keys];
    // Each function may ask for rows at the ends of its frames and at a distance from the row.
    let places = 4 + 4 * window.functions.len();
    let mut row = vec![Value::Null; width];
    let mut has_row = next(&mut row)?;
    while has_row {
        let mut part = Part::new(width, places, ctx);
        let first = row[columns..].to_vec();
        while has_row && equal_keys(&first, &row[columns..], partition, ctx)? {
            run.on_row()?;
            part.push(std::mem::replace(&mut row, vec![Value::Null; width]), ctx)?;
            has_row = next(&mut row)?;
        }
        part.close(ctx)?;
        run_part(run, &part, (window, columns), emit)?;
    }
    Ok(())
}

/// Computes the functions of a window for the rows of a partition.
fn run_part(
    run: &Run<'_, '_>,
    part: &Part,
    (window, columns): (&WindowPlan, usize),
    emit: &mut Emit<'_>,
) -> Result<()> {
    let ctx = run.ctx;
    let mut frames = Frames::of(window, columns, ctx)?;
    let mut functions = Vec::with_capacity(window.functions.len());
    for function in &window.functions {
        functions.push(Running::of(function, run)?);
    }
    let mut out = Vec::new();
    for row in 0..part.len() {
        run.on_row()?;
        let place = frames.next(part, row, ctx)?;
        out.clear();
        out.extend_from_slice(&part.row(row)?);
        debug_assert!(
            functions.iter().all(|function| function.slot() < columns),
            "each function has a slot of the row"
        );
        for function in &mut functions {
            function.put(part, &place, &mut out, ctx)?;
        }
        emit(&out)?;
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
    let columns = windowed.input.columns.len();
    let turns = in_turn(&windowed.windows);
    let [first, ..] = &turns[..] else { return run_query(run, &windowed.input, emit) };
    let mut keys = in_slots(&first.keys, columns);
    let mut sorter = KeyedSorter::new(&first.keys, &keys, ctx);
    run_query(run, &windowed.input, &mut |row| sorter.push(row, ctx))?;
    let rows = sorter.len();
    let mut sorted = sorter.finish(ctx)?;
    if let Some(began) = &began {
        began.end(windowed, Operator::Ordered, rows);
    }
    let mut left = &turns[..];
    let mut passed = 0;
    while let [first, ..] = left {
        // The rows are sorted by keys that begin with those of the windows of this turn.
        let behind = left.iter().take_while(|window| begins_with(first, window)).count();
        let (turn, behind) = left.split_at(behind);
        left = behind;
        let Some(then) = behind.first() else {
            run_turn(run, turn, (columns, sorted), &mut |row| {
                run.on_row()?;
                passed += 1;
                emit(&row[..columns])
            })?;
            break;
        };
        keys = in_slots(&then.keys, columns);
        let mut sorter = KeyedSorter::new(&then.keys, &keys, ctx);
        run_turn(run, turn, (columns, sorted), &mut |row| sorter.push(&row[..columns], ctx))?;
        assert_eq!(sorter.len(), rows, "a window passes on all rows");
        sorted = sorter.finish(ctx)?;
    }
    assert_eq!(passed, rows, "a window passes on all rows");
    Ok(QueryOutcome { found_rows: rows as u64 })
}

/// Computes windows that share the order of these rows, one window after the other.
fn run_turn(
    run: &Run<'_, '_>,
    turn: &[&WindowPlan],
    (columns, mut sorted): (usize, Sorted),
    emit: &mut Emit<'_>,
) -> Result<()> {
    let ctx = run.ctx;
    let width = columns + turn.first().map_or(0, |window| window.keys.len());
    let mut before: Option<Rows> = None;
    for (at, window) in turn.iter().enumerate() {
        let of = (*window, columns, width);
        ctx.counters.created_tmp_tables.count();
        let mut cursor = before.as_ref().map(Rows::cursor);
        let mut next = |row: &mut [Value]| match &mut cursor {
            Some(cursor) => cursor.next(row, ctx),
            None => sorted.next(row, ctx),
        };
        if at + 1 == turn.len() {
            return run_window(run, of, &mut next, emit);
        }
        let mut rows = Rows::uncounted(width, ctx);
        run_window(run, of, &mut next, &mut |row| rows.push(row, ctx))?;
        before = Some(rows);
    }
    Ok(())
}
