//! GROUP BY, and aggregates over all rows.
//!
//! In: the rows of the nested loops. Out: a row for each group, in the order of ORDER BY. Without
//! ORDER BY, the groups come in the order of their first rows as long as they fit in memory.

mod in_order;
mod shared;
mod table;
mod values;

use super::Run;
use super::limit::wanted;
use super::loops::{Flow, Materialized, Order, nested_loops};
use super::output::Output;
use super::sort::Sorter;
use crate::error::Result;
use crate::expr::{Context, conform};
use crate::plan::{Grouping, IndexEnds, RowLock, SelectPlan};
use crate::sink::ColumnMeta;
use crate::stopwatch::Operator;
use engine::{Direction, KeyRange, Use};
use in_order::groups_in_order;
use shared::{groups_of_threads, put_group_key};
use std::borrow::Cow;
use std::ops::Bound;
use table::{Groups, VisitGroup};
use types::{ColumnType, Value};
pub(super) use values::DistinctValues;

fn outputs(
    plan: &SelectPlan,
    row: &[Value],
    columns: &[ColumnMeta],
    ctx: &Context<'_>,
) -> Result<Vec<Value>> {
    assert_eq!(plan.outputs.len(), columns.len(), "each output has a column of the result");
    let mut out = Vec::with_capacity(plan.outputs.len());
    for (expr, column) in plan.outputs.iter().zip(columns) {
        let value = ctx.owned(expr.output(row, &column.ty, ctx)?)?;
        out.push(of_group(value, &column.ty, plan, ctx)?);
    }
    Ok(out)
}

/// Returns a value of a group as MySQL shows it. Groups are the rows of a table, whose values have
/// the columns' types. Only the one group of a query without GROUP BY is in no table: a YEAR there
/// is shown without zeros before it.
fn of_group(value: Value, ty: &ColumnType, plan: &SelectPlan, ctx: &Context<'_>) -> Result<Value> {
    let is_alone = plan.grouping.as_ref().is_some_and(|grouping| grouping.keys.is_empty());
    Ok(match value {
        Value::Year(year) if is_alone => Value::UInt(u64::from(year)),
        value @ Value::Decimal(_) if !is_alone => conform(Cow::Owned(value), ty, ctx)?.into_owned(),
        value => value,
    })
}

/// Groups the rows of the nested loops.
fn collect_groups<'g>(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &'g Grouping,
    materialized: Option<&Materialized>,
) -> Result<Groups<'g>> {
    let Some(materialized) = materialized else { return Ok(Groups::new(grouping, run.ctx)) };
    if let Some(groups) = groups_of_threads(run, plan, grouping, materialized)? {
        return Ok(groups);
    }
    let mut groups = Groups::new(grouping, run.ctx);
    let mut row = Value::nulls(plan.slots);
    let mut key = Vec::new();
    let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        key.clear();
        put_group_key(&grouping.keys, row, &mut key, run.ctx)?;
        groups.add(&key, row, run.ctx)?;
        Ok(Flow::Continue)
    };
    nested_loops(run, (&plan.tables, Order::Free), materialized, &mut row, visit)?;
    Ok(groups)
}

/// Runs a query with groups. `materialized` is `None` when a condition that reads no table is
/// false, so that there are no rows.
pub(super) fn grouped(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &Grouping,
    materialized: Option<&Materialized>,
    output: &mut Output<'_>,
) -> Result<()> {
    let ctx = run.ctx;
    let columns = output.columns;
    assert!(
        plan.index_ends.as_ref().is_none_or(|ends| ends.ends.len() == grouping.aggregates.len()),
        "each aggregate is read from an end of an index, or none is"
    );
    let mut sorter =
        (!plan.order.is_empty()).then(|| Sorter::new(&plan.order, wanted(plan, output.limit), ctx));
    let mut visit = |row: &[Value]| {
        ctx.check_interrupt()?;
        if let Some(having) = &plan.having {
            let holds = having.holds(row, ctx)?;
            if !holds {
                return Ok(Flow::Continue);
            }
            ctx.measures.iter().for_each(|measures| measures.count_row(plan, Operator::Having));
        }
        match &mut sorter {
            None => output.take(&outputs(plan, row, columns, ctx)?, ctx),
            Some(sorter) => {
                if sorter.offer(row, ctx)? {
                    outputs(plan, row, columns, ctx)?.iter().for_each(|value| sorter.write(value));
                    sorter.keep(ctx)?;
                }
                Ok(Flow::Continue)
            }
        }
    };
    let mut each_group = |visit: &mut VisitGroup<'_>| match &plan.index_ends {
        Some(ends) if materialized.is_some() => visit(&read_index_ends(run, plan, ends)?).map(|_| ()),
        _ if grouping.is_in_order => match materialized {
            Some(materialized) => groups_in_order(run, plan, grouping, materialized, visit),
            None => Ok(()),
        },
        _ => collect_groups(run, plan, grouping, materialized)?.finish(plan.slots, ctx, visit),
    };
    match ctx.measures {
        None => each_group(&mut visit)?,
        Some(measures) => measures.measure(plan, Operator::Grouped, &mut visit, each_group)?,
    }
    let Some(sorter) = sorter else { return Ok(()) };
    let mut sorted = sorter.finish(ctx)?;
    let mut values = Value::nulls(columns.len());
    while sorted.next(&mut values, ctx)? && output.take(&values, ctx)? == Flow::Continue {}
    Ok(())
}

/// Reads MIN and MAX from the ends of indexes: the first entry from the end that is not NULL.
fn read_index_ends(run: &mut Run<'_, '_>, plan: &SelectPlan, ends: &IndexEnds) -> Result<Vec<Value>> {
    let mut row = Value::nulls(plan.slots);
    for (index, column, direction) in &ends.ends {
        let definition = &ends.table.def.columns[*column];
        let mut range = KeyRange::all();
        if definition.nullable && *direction == Direction::Forward {
            let nulls = ends.table.encode_key(*index, &[Value::Null])?;
            range = KeyRange::between(Bound::Excluded(&nulls), Bound::Unbounded);
        }
        let mode = run.lock_for(RowLock::NONE).mode;
        let mut scan = run.with(|txn| txn.scan(&ends.table, *index, range, *direction, mode))?;
        let found = run.with(|txn| scan.next(txn))?;
        run.ctx.counters.uses.add(ends.table.usage(Some(*index)), Use::Fetch, 1);
        row.push(match found {
            Some(found) => ends.table.layout.decode(&found.image, *column)?,
            None => Value::Null,
        });
    }
    Ok(row)
}
