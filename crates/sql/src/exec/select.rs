//! SELECT and UNION.

use super::Run;
use super::output::{Output, Projection, equal_rows, groups_equal_rows};
use super::reader::Reader;
use super::sort::Sorter;
use crate::error::{Result, SqlError};
use crate::expr::{Accumulator, Context, Expr, conform, group_key, number};
use crate::memory::{Charge, allocated, growth, row_bytes};
use crate::plan::{
    Grouping, IndexEnds, LimitPlan, QueryBody, QueryPlan, RowLock, SelectPlan, SortKey, Source, TableStep,
};
use crate::sink::ColumnMeta;
use engine::{Direction, KeyRange};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Bound;
use types::Value;

/// Takes the rows of a query.
pub(crate) type Emit<'e> = dyn FnMut(&[Value]) -> Result<()> + 'e;

/// Whether to go on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    Stop,
}

/// What is known when a query is done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueryOutcome {
    /// FOUND_ROWS(): rows there would have been without LIMIT, when SQL_CALC_FOUND_ROWS asked for
    /// it.
    pub found_rows: u64,
}

/// LIMIT's numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub offset: u64,
    pub count: u64,
}

fn limit_number(expr: &Expr, ctx: &Context<'_>) -> Result<u64> {
    let value = expr.eval(&[], ctx)?;
    match number(&value) {
        crate::expr::Number::Int(n) if n >= 0 && !value.is_null() => Ok(n as u64),
        crate::expr::Number::UInt(n) => Ok(n),
        _ => Err(SqlError::new(1210, "Incorrect arguments to LIMIT")),
    }
}

fn limit_of(plan: Option<&LimitPlan>, ctx: &Context<'_>) -> Result<Limit> {
    let Some(plan) = plan else { return Ok(Limit { offset: 0, count: u64::MAX }) };
    let offset = plan.offset.as_ref().map_or(Ok(0), |offset| limit_number(offset, ctx))?;
    Ok(Limit { offset, count: limit_number(&plan.count, ctx)? })
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

/// All rows of a query, with the charge of what they take.
pub(super) fn collect(run: &mut Run<'_, '_>, plan: &QueryPlan) -> Result<(Vec<Vec<Value>>, Charge)> {
    let (mut rows, mut charge) = (Vec::new(), run.charge());
    run_query(run, plan, &mut |row| {
        charge.add_row(row)?;
        growth::push(&mut rows, row.to_vec(), &mut charge)
    })?;
    Ok((rows, charge))
}

/// Computed tables and derived tables, read once.
pub(super) type Materialized = Vec<Option<(Vec<Vec<Value>>, Charge)>>;

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
    match &plan.grouping {
        Some(grouping) => grouped(run, plan, grouping, possible, &mut output)?,
        None if possible => ungrouped(run, plan, &mut output)?,
        None => {}
    }
    let found_rows = if plan.calc_found_rows { output.passed } else { output.emitted };
    Ok(QueryOutcome { found_rows })
}

/// Rows that LIMIT will ask the sorter for; all when duplicates may go first.
fn wanted(plan: &SelectPlan, limit: Limit) -> Option<u64> {
    if plan.distinct || plan.calc_found_rows || limit.count == u64::MAX {
        return None;
    }
    Some(limit.offset.saturating_add(limit.count))
}

/// A DISTINCT that drops a row when it equals the one before.
fn deduplicates_sorted(plan: &SelectPlan) -> bool {
    let is_sorted = plan.grouping.is_none() && !plan.order.is_empty() && !plan.ordered_by_access;
    is_sorted && groups_equal_rows(plan)
}

fn ungrouped(run: &mut Run<'_, '_>, plan: &SelectPlan, output: &mut Output<'_>) -> Result<()> {
    let materialized = materialize(run, &plan.tables)?;
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
        nested_loops(run, &plan.tables, 0, &materialized, &mut row, visit)?;
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
    nested_loops(run, &plan.tables, 0, &materialized, &mut row, visit)?;
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

pub(super) type Visit<'v> = dyn FnMut(&mut Run<'_, '_>, &mut Vec<Value>) -> Result<Flow> + 'v;

/// One level of the loops: for each row of this table that its conditions take, the levels within.
pub(super) fn nested_loops(
    run: &mut Run<'_, '_>,
    tables: &[TableStep],
    level: usize,
    materialized: &Materialized,
    row: &mut Vec<Value>,
    visit: &mut Visit<'_>,
) -> Result<Flow> {
    let Some(step) = tables.get(level) else { return visit(run, row) };
    let mut matched = false;
    let slots = step.base..step.base + step.columns;
    let mut within = |run: &mut Run<'_, '_>, row: &mut Vec<Value>, matched: &mut bool| -> Result<Flow> {
        for condition in step.outer.iter().flatten() {
            if !condition.holds(row, run.ctx)? {
                run.with(|txn| txn.release_unwanted());
                return Ok(Flow::Continue);
            }
        }
        *matched = true;
        for condition in &step.conditions {
            if !condition.holds(row, run.ctx)? {
                run.with(|txn| txn.release_unwanted());
                return Ok(Flow::Continue);
            }
        }
        nested_loops(run, tables, level + 1, materialized, row, visit)
    };
    match (&step.source, &materialized[level]) {
        (Source::Stored { table, access }, _) => {
            let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), row)?;
            while reader.read_into(run, step, row)? {
                if within(run, row, &mut matched)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        (_, Some((rows, _))) => {
            for found in rows.iter() {
                run.on_row()?;
                row[slots.clone()].clone_from_slice(found);
                if within(run, row, &mut matched)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        (Source::Subquery(call), _) => {
            let found = call.rows(row, run.ctx)?;
            for found in &found.rows {
                run.on_row()?;
                row[slots.clone()].clone_from_slice(found);
                if within(run, row, &mut matched)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        (_, None) => {}
    }
    if step.outer.is_some() && !matched {
        row[slots].fill(Value::Null);
        if let Some(key) = step.key_slot {
            row[key] = Value::Null;
        }
        for condition in &step.conditions {
            if !condition.holds(row, run.ctx)? {
                return Ok(Flow::Continue);
            }
        }
        return nested_loops(run, tables, level + 1, materialized, row, visit);
    }
    Ok(Flow::Continue)
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
    possible: bool,
    charge: &mut Charge,
) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    if grouping.keys.is_empty() {
        // One group, with or without rows.
        groups.push(Group::new(vec![Value::Null; plan.slots], grouping));
    }
    if !possible {
        return Ok(groups);
    }
    let materialized = materialize(run, &plan.tables)?;
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
    nested_loops(run, &plan.tables, 0, &materialized, &mut row, visit)?;
    Ok(groups)
}

fn grouped(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &Grouping,
    possible: bool,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut charge = run.charge();
    let (ends, groups) = match &plan.index_ends {
        Some(ends) if possible => (Some(read_index_ends(run, plan, ends)?), Vec::new()),
        _ => (None, collect_groups(run, plan, grouping, possible, &mut charge)?),
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
