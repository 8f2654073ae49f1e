//! SELECT: runs a query's plan.

use super::counting::count_select;
use super::cte::run_recursive;
use super::distinct::Distinct;
use super::gathered::Gathered;
use super::group::grouped;
use super::kept::Kept;
use super::limit::{limit_of, wanted};
use super::loops::{Flow, Materialized, Order, nested_loops};
use super::named_tables::NamedTables;
use super::narrowed::narrow;
use super::output::{Output, Projection, equal_rows, groups_equal_rows};
use super::partition_shares;
use super::reader::Reader;
use super::rollup::run_rolled;
use super::run::{Emit, QueryOutcome, Run};
use super::set_operations::{run_union, run_values};
use super::sort::Sorter;
use super::spill::Rows;
use super::window::run_windowed;
use crate::error::Result;
use crate::expr::{Context, Expr, SubqueryRows};
use crate::plan::{QueryBody, QueryPlan, RowLock, SelectPlan, Source, TableStep};
use crate::sink::ColumnMeta;
use crate::stopwatch::{Operator, Timing};
use types::Value;

/// Runs a query. `emit` gets each row, with values of the types that the plan's columns have.
pub(crate) fn run_query(
    run: &mut Run<'_, '_>,
    plan: &QueryPlan,
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    match run.ctx.measures {
        None => run_unmeasured(run, plan, emit),
        Some(measures) => {
            let mut outcome = QueryOutcome::default();
            measures.measure(plan, Operator::Whole, emit, |emit| {
                outcome = run_unmeasured(run, plan, emit)?;
                Ok(())
            })?;
            Ok(outcome)
        }
    }
}

fn run_unmeasured(run: &mut Run<'_, '_>, plan: &QueryPlan, emit: &mut Emit<'_>) -> Result<QueryOutcome> {
    match &plan.body {
        QueryBody::Select(select) => run_select(run, select, &plan.columns, emit),
        QueryBody::Union { branches, order, limit } => {
            run_union(run, run_query, branches, (order, limit.as_deref()), &plan.columns, emit)
        }
        QueryBody::Values { rows, limit } => run_values(run, rows, limit.as_deref(), &plan.columns, emit),
        QueryBody::Rolled(rolled) => run_rolled(run, run_query, rolled, emit),
        QueryBody::Windowed(windowed) => run_windowed(run, run_query, windowed, emit),
        QueryBody::Recursive(recursion) => run_recursive(run, run_query, recursion, &plan.columns, emit),
    }
}

/// Gathers all rows of a query.
pub(super) fn gather(run: &mut Run<'_, '_>, plan: &QueryPlan) -> Result<SubqueryRows> {
    let ctx = run.ctx;
    let mut rows = Gathered::new(ctx);
    let mut kept = Kept::new(plan);
    run_query(run, plan, &mut |row| rows.push(kept.row(row, ctx)?, ctx))?;
    Ok(rows.finish())
}

/// Collects all rows of a query, in a temporary file once they do not fit in memory.
pub(super) fn collect_rows(run: &mut Run<'_, '_>, plan: &QueryPlan) -> Result<Rows> {
    let ctx = run.ctx;
    let mut rows = Rows::new(plan.columns.len(), ctx);
    let mut kept = Kept::new(plan);
    run_query(run, plan, &mut |row| rows.push(kept.row(row, ctx)?, ctx))?;
    Ok(rows)
}

/// Computes the rows of the computed and derived tables.
pub(super) fn materialize(run: &mut Run<'_, '_>, tables: &[TableStep]) -> Result<Materialized> {
    if !tables.iter().any(|step| matches!(step.source, Source::Virtual { .. } | Source::Derived(_))) {
        return Ok(Vec::new());
    }
    let mut materialized = Vec::with_capacity(tables.len());
    for step in tables {
        materialized.push(match &step.source {
            Source::Stored { .. } | Source::Subquery(_) | Source::JsonTable(_) => None,
            Source::Virtual { schema, name } => {
                let ctx = run.ctx;
                let of_view = |view: &_| crate::bind::view_columns(ctx.engine, ctx.host, ctx.variables, view);
                let named = NamedTables::of(step);
                let wanted = |schema: &str, name: &str| named.may_want(schema, name, ctx);
                let partition_shares = |table: &_| partition_shares::of_table(table, ctx);
                let asked = crate::schema_tables::Asked {
                    columns_of_view: &of_view,
                    wanted: &wanted,
                    partition_shares: &partition_shares,
                };
                let (computed, _charge) = crate::schema_tables::read(ctx, asked, run.charge(), schema, name)?;
                let mut rows = Rows::new(step.columns, run.ctx);
                computed.iter().try_for_each(|row| rows.push(row, run.ctx))?;
                Some(rows)
            }
            Source::Derived(plan) => Some(collect_rows(run, plan)?),
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
        distinct: (plan.distinct && !deduplicates_sorted(plan))
            .then(|| Distinct::new(!plan.order.is_empty(), ctx)),
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
    if possible {
        count_select(plan, ctx.counters);
    }
    let _narrowed = if possible { narrow(run, plan)? } else { None };
    let materialized = if possible { Some(materialize(run, &plan.tables)?) } else { None };
    match &plan.grouping {
        Some(grouping) => grouped(run, plan, grouping, materialized.as_ref(), &mut output)?,
        None => {
            if let Some(materialized) = &materialized {
                ungrouped(run, plan, materialized, &mut output)?;
            }
        }
    }
    output.finish(ctx)?;
    if let Some(measures) = ctx.measures {
        let timing = Timing { loops: 1, rows: output.passed, ..Timing::default() };
        measures.add(plan, Operator::Ordered, timing);
    }
    let found_rows = if plan.calc_found_rows { output.passed } else { output.emitted };
    Ok(QueryOutcome { found_rows })
}

/// Reports whether DISTINCT can drop the duplicates from the sorted rows: equal rows come one after
/// the other.
pub(super) fn deduplicates_sorted(plan: &SelectPlan) -> bool {
    let is_sorted = plan.grouping.is_none() && !plan.order.is_empty() && !plan.ordered_by_access;
    is_sorted && groups_equal_rows(plan)
}

/// Reports whether HAVING holds for a row, which is counted for EXPLAIN ANALYZE if it does.
fn holds(plan: &SelectPlan, having: &Expr, row: &[Value], ctx: &Context<'_>) -> Result<bool> {
    let holds = having.holds(row, ctx)?;
    if holds && let Some(measures) = ctx.measures {
        measures.count_row(plan, Operator::Having);
    }
    Ok(holds)
}

fn ungrouped(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    materialized: &Materialized,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut row = Value::nulls(plan.slots);
    let projection = Projection::new(plan, output.columns);
    let in_order = plan.order.is_empty() || (plan.ordered_by_access && !degrades(run, plan)?);
    if in_order {
        let mut values = Vec::new();
        let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
            if let Some(having) = &plan.having
                && !holds(plan, having, row, run.ctx)?
            {
                return Ok(Flow::Continue);
            }
            projection.compute(row, &mut values, run.ctx)?;
            projection.move_rest(row, &mut values, run.ctx)?;
            output.take(&values, run.ctx)
        };
        // With a LIMIT no more rows of the first table are read than it needs.
        let is_free = plan.order.is_empty() && plan.limit.is_none();
        let order = if is_free { Order::Free } else { Order::OfTables };
        nested_loops(run, (&plan.tables, order), materialized, &mut row, visit)?;
        return Ok(());
    }
    let ctx = run.ctx;
    let columns = output.columns;
    let mut sorter = Sorter::new(&plan.order, wanted(plan, output.limit), ctx);
    let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        if plan.having.as_ref().map_or(Ok(true), |having| holds(plan, having, row, run.ctx))?
            && sorter.offer(row, run.ctx)?
        {
            for (expr, column) in plan.outputs.iter().zip(columns) {
                sorter.write(&*expr.output(row, &column.ty, run.ctx)?);
            }
            sorter.keep(run.ctx)?;
        }
        Ok(Flow::Continue)
    };
    nested_loops(run, (&plan.tables, Order::Free), materialized, &mut row, visit)?;
    send_sorted(plan, sorter, output, run)
}

/// Passes the rows of a sorter on to the output, in order.
fn send_sorted(
    plan: &SelectPlan,
    sorter: Sorter<'_>,
    output: &mut Output<'_>,
    run: &Run<'_, '_>,
) -> Result<()> {
    let deduplicates = plan.distinct && output.distinct.is_none();
    let mut sorted = sorter.finish(run.ctx)?;
    let mut values = Value::nulls(output.columns.len());
    // The row that went out last, if DISTINCT compares with it. Its memory is that of the next row.
    let mut before: Option<Vec<Value>> = None;
    while sorted.next(&mut values, run.ctx)? {
        run.on_row()?;
        if deduplicates
            && let Some(before) = &before
            && equal_rows(before, &values, output.columns, run.ctx)?
        {
            continue;
        }
        if output.take(&values, run.ctx)? == Flow::Stop {
            break;
        }
        if deduplicates {
            let next = before.take().unwrap_or_else(|| Value::nulls(values.len()));
            before = Some(std::mem::replace(&mut values, next));
        }
    }
    Ok(())
}

/// Reports whether the ranges that the first table is read by turn out not to deliver the order
/// that the plan counts on.
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
