//! GROUP BY ... WITH ROLLUP.
//!
//! In: the rows of a query, which are sorted by the keys here. Out: one row for each group; behind
//! the groups that agree in all keys but the last, a row for all of them together; and so on, up to
//! one row for all rows. A row has the columns of the group's first row, the aggregates, the keys,
//! and the number of keys that identify the group.

use super::keyed_rows::{KeyedRow, compare_keys, sort};
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use crate::error::Result;
use crate::expr::{Accumulator, Context, group_key};
use crate::memory::{Charge, growth};
use crate::plan::Rolled;
use crate::stopwatch::{Measures, Operator};
use std::cmp::Ordering;
use std::collections::HashSet;
use types::Value;

/// A group whose rows are being read.
struct Level {
    accumulators: Vec<Accumulator>,
    /// For each aggregate with DISTINCT, the values that it has seen. The sets of the others stay
    /// empty.
    seen: Vec<HashSet<Vec<u8>>>,
    charge: Charge,
}

impl Level {
    fn new(rolled: &Rolled, run: &Run<'_, '_>) -> Level {
        let accumulators = rolled.aggregates.iter().map(|aggregate| aggregate.start()).collect();
        let seen = rolled.aggregates.iter().map(|_| HashSet::new()).collect();
        Level { accumulators, seen, charge: run.charge() }
    }

    fn add(&mut self, rolled: &Rolled, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        let accumulators = self.accumulators.iter_mut().zip(&mut self.seen);
        for ((accumulator, seen), aggregate) in accumulators.zip(&rolled.aggregates) {
            if !aggregate.distinct {
                accumulator.add(aggregate, row, ctx, &mut self.charge)?;
                continue;
            }
            let Some(values) = aggregate.values(row, ctx)? else { continue };
            let mut key = Vec::new();
            for (value, arg) in values.iter().zip(aggregate.distinct_args()) {
                group_key(value, arg.ty.collation, &mut key);
            }
            if growth::insert(seen, key, &mut self.charge)? {
                accumulator.take_values(aggregate, &values, ctx, &mut self.charge)?;
            }
        }
        Ok(())
    }
}

/// Returns how many of the first keys are equal in two rows.
fn common(rolled: &Rolled, a: &KeyedRow, b: &KeyedRow, run: &Run<'_, '_>) -> Result<usize> {
    for (at, key) in rolled.keys.iter().enumerate() {
        let of = |row: &'_ KeyedRow| row.keys[at..=at].to_vec();
        if compare_keys(&of(a), &of(b), std::slice::from_ref(key), run.ctx)? != Ordering::Equal {
            return Ok(at);
        }
    }
    Ok(rolled.keys.len())
}

/// Ends a group: emits its row, of which the first `keys` keys are set, and resets the level for
/// the next group. `first` is the first row of the group.
fn end_level(
    rolled: &Rolled,
    level: &mut Level,
    (first, keys): (Option<&KeyedRow>, usize),
    run: &Run<'_, '_>,
    emit: &mut Emit<'_>,
) -> Result<()> {
    run.on_row()?;
    let ended = std::mem::replace(level, Level::new(rolled, run));
    let mut row = match first {
        Some(first) => first.row.clone(),
        None => vec![Value::Null; rolled.input.columns.len()],
    };
    for (accumulator, aggregate) in ended.accumulators.into_iter().zip(&rolled.aggregates) {
        row.push(accumulator.finish(aggregate, run.ctx)?);
    }
    for at in 0..rolled.keys.len() {
        let key = first.filter(|_| at < keys).map(|first| first.keys[at].clone());
        row.push(key.unwrap_or(Value::Null));
    }
    row.push(Value::Int(keys as i64));
    emit(&row)
}

/// Runs a query and groups its rows.
pub(super) fn run_rolled(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    rolled: &Rolled,
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let began = ctx.measures.map(Measures::begin);
    let mut charge = run.charge();
    let mut rows: Vec<KeyedRow> = Vec::new();
    run_query(run, &rolled.input, &mut |row| {
        charge.add_row(row)?;
        growth::push(&mut rows, KeyedRow { keys: Vec::new(), row: row.to_vec() }, &mut charge)
    })?;
    sort(&mut rows, &rolled.keys, &mut charge, ctx)?;
    if let Some(began) = began {
        began.end(rolled, Operator::Ordered, rows.len());
    }
    let most = rolled.keys.len();
    let mut levels: Vec<Level> = (0..=most).map(|_| Level::new(rolled, run)).collect();
    // For each number of keys, the index of the first row of the current group.
    let mut firsts = vec![0; most + 1];
    let mut found_rows = 0;
    for at in 0..rows.len() {
        if at > 0 {
            let same = common(rolled, &rows[at - 1], &rows[at], run)?;
            for keys in (same + 1..=most).rev() {
                end_level(rolled, &mut levels[keys], (Some(&rows[firsts[keys]]), keys), run, emit)?;
                firsts[keys] = at;
                found_rows += 1;
            }
        }
        run.on_row()?;
        for level in &mut levels {
            level.add(rolled, &rows[at].row, ctx)?;
        }
    }
    // Without rows, there is still the group of all rows.
    let least = if rows.is_empty() { 0..=0 } else { 0..=most };
    for keys in least.rev() {
        end_level(rolled, &mut levels[keys], (rows.get(firsts[keys]), keys), run, emit)?;
        found_rows += 1;
    }
    Ok(QueryOutcome { found_rows })
}
