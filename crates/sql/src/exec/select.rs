//! SELECT and UNION: a query's plan, carried out.

use super::Run;
use super::group::grouped;
use super::limit::{limit_of, wanted};
use super::loops::{Flow, Materialized, nested_loops};
use super::output::{Emit, Output, Projection, equal_rows, groups_equal_rows};
use super::reader::Reader;
use super::sort::Sorter;
use crate::error::Result;
use crate::expr::{conform, group_key};
use crate::memory::{Charge, growth};
use crate::plan::{LimitPlan, QueryBody, QueryPlan, RowLock, SelectPlan, SortKey, Source, TableStep};
use crate::sink::ColumnMeta;
use std::borrow::Cow;
use std::collections::HashSet;
use types::Value;

/// What is known when a query is done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueryOutcome {
    /// FOUND_ROWS(): rows there would have been without LIMIT, when SQL_CALC_FOUND_ROWS asked for
    /// it.
    pub found_rows: u64,
}

/// Runs a query; `emit` gets each row as the columns' types say.
pub(crate) fn run_query(
    run: &mut Run<'_, '_>,
    plan: &QueryPlan,
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    match &plan.body {
        QueryBody::Select(select) => run_select(run, select, &plan.columns, emit),
        QueryBody::Union { branches, order, limit } => {
            run_union(run, branches, order, limit.as_deref(), &plan.columns, emit)
        }
    }
}

/// All rows of a query, with the charge of what they take.
pub(super) fn collect(run: &mut Run<'_, '_>, plan: &QueryPlan) -> Result<(Vec<Vec<Value>>, Charge)> {
    let (mut rows, mut charge) = (Vec::new(), run.charge());
    run_query(run, plan, &mut |row| {
        charge.add_row(row)?;
        growth::push(&mut rows, row.to_vec(), &mut charge)
    })?;
    Ok((rows, charge))
}

pub(super) fn materialize(run: &mut Run<'_, '_>, tables: &[TableStep]) -> Result<Materialized> {
    let mut materialized = Vec::with_capacity(tables.len());
    for step in tables {
        materialized.push(match &step.source {
            Source::Stored { .. } | Source::Subquery(_) => None,
            Source::Virtual { schema, name } => {
                Some(crate::schema_tables::read(run.ctx, run.charge(), schema, name)?)
            }
            Source::Derived(plan) => Some(collect(run, plan)?),
        });
    }
    Ok(materialized)
}

fn run_select<'e>(
    run: &mut Run<'_, '_>,
    plan: &'e SelectPlan,
    columns: &'e [ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let limit = limit_of(plan.limit.as_ref(), ctx)?;
    let mut forward = |row: &[Value]| emit(row);
    let mut output = Output {
        columns,
        seen: (plan.distinct && !deduplicates_sorted(plan)).then(HashSet::new),
        charge: run.charge(),
        limit,
        count_all: plan.calc_found_rows,
        passed: 0,
        emitted: 0,
        emit: &mut forward,
    };
    let mut possible = limit.count > 0 || plan.calc_found_rows;
    for condition in &plan.preconditions {
        possible = possible && condition.holds(&[], ctx)?;
    }
    let materialized = if possible { Some(materialize(run, &plan.tables)?) } else { None };
    match &plan.grouping {
        Some(grouping) => grouped(run, plan, grouping, materialized.as_ref(), &mut output)?,
        None => {
            if let Some(materialized) = &materialized {
                ungrouped(run, plan, materialized, &mut output)?;
            }
        }
    }
    let found_rows = if plan.calc_found_rows { output.passed } else { output.emitted };
    Ok(QueryOutcome { found_rows })
}

/// A DISTINCT that drops a row when it equals the one before.
fn deduplicates_sorted(plan: &SelectPlan) -> bool {
    let is_sorted = plan.grouping.is_none() && !plan.order.is_empty() && !plan.ordered_by_access;
    is_sorted && groups_equal_rows(plan)
}

fn ungrouped(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    materialized: &Materialized,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut row = vec![Value::Null; plan.slots];
    let projection = Projection::new(plan, output.columns);
    let in_order = plan.order.is_empty() || (plan.ordered_by_access && !degrades(run, plan)?);
    if in_order {
        let mut values = Vec::new();
        let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
            if let Some(having) = &plan.having
                && !having.holds(row, run.ctx)?
            {
                return Ok(Flow::Continue);
            }
            projection.compute(row, &mut values, run.ctx)?;
            projection.move_rest(row, &mut values, run.ctx)?;
            output.take(&values)
        };
        nested_loops(run, &plan.tables, materialized, &mut row, visit)?;
        return Ok(());
    }
    let mut sorter =
        Sorter::with_values(&plan.order, &plan.outputs, wanted(plan, output.limit), run.charge());
    let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        if plan.having.as_ref().map_or(Ok(true), |having| having.holds(row, run.ctx))? {
            let mut values = Vec::with_capacity(plan.outputs.len() + plan.order.len());
            projection.compute(row, &mut values, run.ctx)?;
            sorter.add_keys(row, &mut values, run.ctx)?;
            projection.move_rest(row, &mut values, run.ctx)?;
            sorter.push(values, (), run.ctx)?;
        }
        Ok(Flow::Continue)
    };
    nested_loops(run, &plan.tables, materialized, &mut row, visit)?;
    let mut before: Option<Vec<Value>> = None;
    let deduplicates = plan.distinct && output.seen.is_none();
    for (values, ()) in sorter.finish(run.ctx)? {
        run.on_row()?;
        if deduplicates
            && let Some(before) = &before
            && equal_rows(before, &values, output.columns, run.ctx)?
        {
            continue;
        }
        if output.take(&values)? == Flow::Stop {
            break;
        }
        before = deduplicates.then_some(values);
    }
    Ok(())
}

/// Whether the first table's ranges are not what the order was planned with.
fn degrades(run: &mut Run<'_, '_>, plan: &SelectPlan) -> Result<bool> {
    match plan.tables.first() {
        Some(TableStep { source: Source::Stored { table, access }, .. })
            if !access.alternatives.is_empty() =>
        {
            Ok(Reader::open(run, table, access, RowLock::NONE, &[])?.degraded)
        }
        _ => Ok(false),
    }
}

fn run_union(
    run: &mut Run<'_, '_>,
    branches: &[(QueryPlan, bool)],
    order: &[SortKey],
    limit: Option<&LimitPlan>,
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let limit = limit_of(limit, ctx)?;
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut charge = run.charge();
    // Up to the last branch that loses its duplicates all lose them, as they come.
    let distinct_branches = branches.iter().rposition(|(_, distinct)| *distinct).map_or(0, |last| last + 1);
    let (mut keys, mut key_charge) = (HashSet::new(), run.charge());
    for (at, (plan, _)) in branches.iter().enumerate() {
        ctx.check_interrupt()?;
        let distinct = at < distinct_branches;
        run_query(run, plan, &mut |row| {
            ctx.check_interrupt()?;
            let mut conformed = Vec::with_capacity(row.len());
            for (value, column) in row.iter().zip(columns) {
                conformed.push(ctx.owned(conform(Cow::Borrowed(value), &column.ty, ctx)?)?);
            }
            if distinct {
                let mut key = Vec::new();
                for (value, column) in conformed.iter().zip(columns) {
                    group_key(value, column.ty.collation, &mut key);
                }
                if !growth::insert(&mut keys, key, &mut key_charge)? {
                    return Ok(());
                }
            }
            charge.add_row(&conformed)?;
            growth::push(&mut rows, conformed, &mut charge)
        })?;
    }
    drop((keys, key_charge));
    let total = rows.len() as u64;
    if !order.is_empty() {
        let mut sorter = Sorter::new(order, None, run.charge());
        for row in rows {
            ctx.check_interrupt()?;
            let mut keys = Vec::with_capacity(order.len());
            sorter.add_keys(&row, &mut keys, ctx)?;
            sorter.push(keys, row, ctx)?;
        }
        rows = sorter.finish(ctx)?.map(|(_, row)| row).collect();
    }
    let from = limit.offset.min(total) as usize;
    let to = limit.offset.saturating_add(limit.count).min(total) as usize;
    for row in &rows[from..to] {
        ctx.check_interrupt()?;
        emit(row)?;
    }
    Ok(QueryOutcome { found_rows: (to - from) as u64 })
}
