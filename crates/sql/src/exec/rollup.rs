//! GROUP BY ... WITH ROLLUP.
//!
//! In: the rows of a query, which are sorted by the keys here. Out: one row for each group; behind
//! the groups that agree in all keys but the last, a row for all of them together; and so on, up to
//! one row for all rows. A row has the columns of the group's first row, the aggregates, the keys,
//! and the number of keys that identify the group.

use super::group::DistinctValues;
use super::keyed_rows::{KeyedSorter, equal_keys, in_slots};
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use crate::error::Result;
use crate::expr::{Accumulator, Context, is_same_for_each_row, truth};
use crate::memory::{Charge, row_bytes};
use crate::plan::{QueryBody, Rolled};
use crate::stopwatch::{Measures, Operator};
use types::Value;

/// A group whose rows are being read.
struct Level {
    accumulators: Vec<Accumulator>,
    /// The values that aggregates with DISTINCT have seen, if there are any.
    seen: Option<DistinctValues>,
    /// The first row of the group, with its keys. `None` as long as the group has no row.
    first: Option<Vec<Value>>,
    charge: Charge,
}

impl Level {
    fn new(rolled: &Rolled, run: &Run<'_, '_>) -> Level {
        let accumulators = rolled.aggregates.iter().map(|aggregate| aggregate.start()).collect();
        let distinct = rolled.aggregates.iter().any(|aggregate| aggregate.distinct);
        let seen = distinct.then(|| DistinctValues::new(run.ctx));
        Level { accumulators, seen, first: None, charge: run.charge() }
    }

    fn add(&mut self, rolled: &Rolled, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        if self.first.is_none() {
            self.charge.add(row_bytes(row))?;
            self.first = Some(row.to_vec());
        }
        for (at, (accumulator, aggregate)) in self.accumulators.iter_mut().zip(&rolled.aggregates).enumerate()
        {
            if !aggregate.distinct {
                accumulator.add(aggregate, row, ctx, &mut self.charge)?;
            } else if let Some(values) = aggregate.values(row, ctx)?
                && let Some(seen) = &mut self.seen
                && seen.is_first(at, aggregate, &values, ctx)?
            {
                accumulator.take_values(aggregate, &values, ctx, &mut self.charge)?;
            }
        }
        Ok(())
    }
}

/// Returns how many of the first keys are equal in two rows. `columns` is the number of values
/// before the keys.
fn common(rolled: &Rolled, a: &[Value], b: &[Value], columns: usize, ctx: &Context<'_>) -> Result<usize> {
    for (at, key) in rolled.keys.iter().enumerate() {
        let of = columns + at..;
        if !equal_keys(&a[of.clone()], &b[of], std::slice::from_ref(key), ctx)? {
            return Ok(at);
        }
    }
    Ok(rolled.keys.len())
}

/// Returns a key as ROLLUP shows it: MySQL makes a number of a YEAR, which has no zeros before it.
fn shown_key(key: Value) -> Value {
    match key {
        Value::Year(year) => Value::UInt(u64::from(year)),
        key => key,
    }
}

/// Ends a group: emits its row, of which the first `keys` keys are set, and resets the level for
/// the next group.
fn end_level(
    rolled: &Rolled,
    level: &mut Level,
    keys: usize,
    run: &Run<'_, '_>,
    emit: &mut Emit<'_>,
) -> Result<()> {
    run.on_row()?;
    let Level { mut accumulators, seen, first, mut charge } =
        std::mem::replace(level, Level::new(rolled, run));
    if let Some(seen) = seen {
        seen.finish(run.ctx, &mut |at, values| {
            accumulators[at].take_values(&rolled.aggregates[at], values, run.ctx, &mut charge)
        })?;
    }
    let columns = rolled.input.columns.len();
    let mut row = first.unwrap_or_else(|| vec![Value::Null; columns + rolled.keys.len()]);
    let of_keys = row.split_off(columns);
    for (accumulator, aggregate) in accumulators.into_iter().zip(&rolled.aggregates) {
        row.push(accumulator.finish(aggregate, run.ctx)?);
    }
    row.extend(
        of_keys.into_iter().enumerate().map(|(at, key)| if at < keys { shown_key(key) } else { Value::Null }),
    );
    row.push(Value::Int(keys as i64));
    let width = columns + rolled.aggregates.len() + rolled.keys.len() + 1;
    assert_eq!(row.len(), width, "a row of a group has its columns, aggregates and keys");
    emit(&row)
}

/// Reports whether a condition of constants says that the query has no rows.
fn is_impossible(rolled: &Rolled, ctx: &Context<'_>) -> Result<bool> {
    let QueryBody::Select(input) = &rolled.input.body else { return Ok(false) };
    for condition in &input.preconditions {
        if is_same_for_each_row(condition) {
            let value = condition.eval(&[], ctx)?;
            if truth(&value, ctx) != Some(true) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the row of the only group that MySQL has when it knows that there are no rows before it
/// reads any: the columns are NULL, and the keys are computed from them.
fn row_of_nothing(rolled: &Rolled, ctx: &Context<'_>) -> Result<Vec<Value>> {
    let mut row = vec![Value::Null; rolled.input.columns.len()];
    for key in &rolled.keys {
        let value = key.expr.eval(&row, ctx)?.into_owned();
        row.push(value);
    }
    Ok(row)
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
    let columns = rolled.input.columns.len();
    let keys = in_slots(&rolled.keys, columns);
    let mut sorter = KeyedSorter::new(&rolled.keys, &keys, ctx);
    run_query(run, &rolled.input, &mut |row| sorter.push(row, ctx))?;
    let rows = sorter.len();
    let mut sorted = sorter.finish(ctx)?;
    if let Some(began) = began {
        began.end(rolled, Operator::Ordered, rows);
    }
    let most = rolled.keys.len();
    let mut levels: Vec<Level> = (0..=most).map(|_| Level::new(rolled, run)).collect();
    let mut row = vec![Value::Null; columns + most];
    let mut found_rows = 0;
    while sorted.next(&mut row, ctx)? {
        // The group of all keys has begun with a row that has the keys of the row before.
        let same = match &levels[most].first {
            Some(before) => common(rolled, before, &row, columns, ctx)?,
            None => most,
        };
        for keys in (same + 1..=most).rev() {
            end_level(rolled, &mut levels[keys], keys, run, emit)?;
            found_rows += 1;
        }
        run.on_row()?;
        for level in &mut levels {
            level.add(rolled, &row, ctx)?;
        }
    }
    // Without rows, there is still the group of all rows.
    let least = match rows {
        0 if is_impossible(rolled, ctx)? => {
            levels[most].first = Some(row_of_nothing(rolled, ctx)?);
            most..=most
        }
        0 => 0..=0,
        _ => 0..=most,
    };
    for keys in least.rev() {
        end_level(rolled, &mut levels[keys], keys, run, emit)?;
        found_rows += 1;
    }
    Ok(QueryOutcome { found_rows })
}
