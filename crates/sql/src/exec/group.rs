//! GROUP BY and aggregates over all rows.
//!
//! In: the rows of the nested loops. Out: a row for each group, in the order of the groups' first
//! rows or as ORDER BY says.

use super::Run;
use super::limit::wanted;
use super::loops::{Flow, Materialized, nested_loops};
use super::output::Output;
use super::sort::Sorter;
use crate::error::Result;
use crate::expr::{Accumulator, Context, conform, group_key};
use crate::memory::{Charge, allocated, growth, row_bytes};
use crate::plan::{Grouping, IndexEnds, RowLock, SelectPlan};
use crate::sink::ColumnMeta;
use engine::{Direction, KeyRange};
use std::collections::HashMap;
use std::ops::Bound;
use types::Value;

fn outputs(
    plan: &SelectPlan,
    row: &[Value],
    columns: &[ColumnMeta],
    ctx: &Context<'_>,
) -> Result<Vec<Value>> {
    let mut out = Vec::with_capacity(plan.outputs.len());
    for (expr, column) in plan.outputs.iter().zip(columns) {
        out.push(ctx.owned(conform(expr.eval(row, ctx)?, &column.ty, ctx)?)?);
    }
    Ok(out)
}

/// A group: its first row, and its aggregates.
struct Group {
    row: Vec<Value>,
    accumulators: Vec<Accumulator>,
}

/// What a group takes beside its place in the list of groups and its key, before its aggregates
/// have taken a row in.
fn group_bytes(row: &[Value], grouping: &Grouping) -> usize {
    row_bytes(row) + allocated(grouping.aggregates.len() * size_of::<Accumulator>())
}

impl Group {
    fn new(row: Vec<Value>, grouping: &Grouping) -> Group {
        Group { row, accumulators: grouping.aggregates.iter().map(|aggregate| aggregate.start()).collect() }
    }

    fn add(
        &mut self,
        grouping: &Grouping,
        row: &[Value],
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        for (accumulator, aggregate) in self.accumulators.iter_mut().zip(&grouping.aggregates) {
            accumulator.add(aggregate, row, ctx, charge)?;
        }
        Ok(())
    }

    /// The row with the aggregates' results behind the columns.
    fn finish(self, grouping: &Grouping, ctx: &Context<'_>) -> Result<Vec<Value>> {
        let mut row = self.row;
        row.reserve_exact(grouping.aggregates.len());
        for (accumulator, aggregate) in self.accumulators.into_iter().zip(&grouping.aggregates) {
            row.push(accumulator.finish(aggregate, ctx)?);
        }
        Ok(row)
    }
}

fn collect_groups(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &Grouping,
    materialized: Option<&Materialized>,
    charge: &mut Charge,
) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    if grouping.keys.is_empty() {
        // One group, with or without rows.
        groups.push(Group::new(vec![Value::Null; plan.slots], grouping));
    }
    let Some(materialized) = materialized else { return Ok(groups) };
    let mut by_key: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut row = vec![Value::Null; plan.slots];
    let mut is_first = true;
    let mut key = Vec::new();
    let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        let at = if grouping.keys.is_empty() {
            if std::mem::take(&mut is_first) {
                charge.add(group_bytes(row, grouping))?;
                groups[0].row.clone_from(row);
            }
            0
        } else {
            key.clear();
            for expr in &grouping.keys {
                group_key(&*expr.eval(row, run.ctx)?, expr.ty.collation, &mut key);
            }
            match by_key.get(&key) {
                Some(at) => *at,
                None => {
                    charge.add(group_bytes(row, grouping) + allocated(key.len()))?;
                    growth::push(&mut groups, Group::new(row.clone(), grouping), charge)?;
                    growth::insert_new(&mut by_key, key.clone(), groups.len() - 1, charge)?;
                    groups.len() - 1
                }
            }
        };
        groups[at].add(grouping, row, run.ctx, charge)?;
        Ok(Flow::Continue)
    };
    nested_loops(run, &plan.tables, materialized, &mut row, visit)?;
    Ok(groups)
}

/// Runs a query with groups; `materialized` is None when a condition on no table does not hold.
pub(super) fn grouped(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &Grouping,
    materialized: Option<&Materialized>,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut charge = run.charge();
    let (ends, groups) = match &plan.index_ends {
        Some(ends) if materialized.is_some() => (Some(read_index_ends(run, plan, ends)?), Vec::new()),
        _ => (None, collect_groups(run, plan, grouping, materialized, &mut charge)?),
    };
    let ctx = run.ctx;
    let columns = output.columns;
    let sorts = !plan.order.is_empty();
    let mut sorter =
        Sorter::with_values(&plan.order, &plan.outputs, wanted(plan, output.limit), run.charge());
    // A group is gone once it has its row: no second list of all of them is made.
    let rows = ends.into_iter().map(Ok).chain(groups.into_iter().map(|group| group.finish(grouping, ctx)));
    for row in rows {
        run.on_row()?;
        let row = row?;
        if let Some(having) = &plan.having
            && !having.holds(&row, ctx)?
        {
            continue;
        }
        let mut values = outputs(plan, &row, columns, ctx)?;
        if sorts {
            sorter.add_keys(&row, &mut values, ctx)?;
            sorter.push(values, (), ctx)?;
        } else if output.take(&values)? == Flow::Stop {
            return Ok(());
        }
    }
    for (values, ()) in sorter.finish(ctx)? {
        ctx.check_interrupt()?;
        if output.take(&values)? == Flow::Stop {
            break;
        }
    }
    Ok(())
}

/// MIN and MAX from the first entry at an end of an index that is not NULL.
fn read_index_ends(run: &mut Run<'_, '_>, plan: &SelectPlan, ends: &IndexEnds) -> Result<Vec<Value>> {
    let mut row = vec![Value::Null; plan.slots];
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
        row.push(match found {
            Some(found) => ends.table.layout.decode(&found.image, *column)?,
            None => Value::Null,
        });
    }
    Ok(row)
}
