//! UNION, INTERSECT, EXCEPT, and the table value constructor VALUES.

use super::distinct::Distinct;
use super::limit::limit_of;
use super::loops::Flow;
use super::output::Output;
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use super::sort::Sorter;
use crate::ast::SetOperator;
use crate::error::Result;
use crate::expr::{Context, Expr, conform, group_key, text_for};
use crate::memory::{Charge, growth};
use crate::plan::{Branch, LimitPlan, QueryPlan, SortKey};
use crate::sink::ColumnMeta;
use crate::stopwatch::{Operator, Timing};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use types::{ColumnType, Value};

/// Rows in memory, with the charge for them.
struct Kept {
    rows: Vec<Vec<Value>>,
    charge: Charge,
}

impl Kept {
    fn new(run: &Run<'_, '_>) -> Kept {
        Kept { rows: Vec::new(), charge: run.charge() }
    }

    fn add(&mut self, row: Vec<Value>) -> Result<()> {
        self.charge.add_row(&row)?;
        growth::push(&mut self.rows, row, &mut self.charge)
    }

    /// Keeps only the rows for which `stays` returns true, in their order.
    fn retain(&mut self, run: &Run<'_, '_>, mut stays: impl FnMut(&[Value]) -> Result<bool>) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.charge = run.charge();
        for row in rows {
            run.ctx.check_interrupt()?;
            if stays(&row)? {
                self.add(row)?;
            }
        }
        Ok(())
    }
}

/// Returns bytes that are the same for two rows exactly if DISTINCT takes the rows as equal.
pub(super) fn row_key(row: &[Value], columns: &[ColumnMeta]) -> Vec<u8> {
    let mut key = Vec::new();
    for (value, column) in row.iter().zip(columns) {
        group_key(value, column.ty.collation, &mut key);
    }
    key
}

/// Converts a value of one query's column to the column's type in the whole result.
fn united(value: &Value, from: &ColumnType, to: &ColumnType, ctx: &Context<'_>) -> Result<Value> {
    match text_for(value, from, to, ctx.zone()) {
        Some(text) => Ok(text),
        None => ctx.owned(conform(Cow::Borrowed(value), to, ctx)?),
    }
}

/// Converts a row of one query to the column types of the whole result.
fn conformed(
    row: &[Value],
    plan: &QueryPlan,
    columns: &[ColumnMeta],
    ctx: &Context<'_>,
) -> Result<Vec<Value>> {
    let values = row.iter().zip(&plan.columns).zip(columns);
    values.map(|((value, from), to)| united(value, &from.ty, &to.ty, ctx)).collect()
}

/// Returns how often each row of a query occurs, by the rows' keys.
fn counted(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    plan: &QueryPlan,
    columns: &[ColumnMeta],
    charge: &mut Charge,
) -> Result<HashMap<Vec<u8>, u64>> {
    let (ctx, mut counts) = (run.ctx, HashMap::new());
    run_query(run, plan, &mut |row| {
        ctx.check_interrupt()?;
        let key = row_key(&conformed(row, plan, columns, ctx)?, columns);
        match counts.get_mut(&key) {
            Some(count) => *count += 1,
            None => {
                charge.add(crate::memory::allocated(key.len()))?;
                growth::insert_new(&mut counts, key, 1, charge)?;
            }
        }
        Ok(())
    })?;
    Ok(counts)
}

/// Reduces the rows so far to those that INTERSECT or EXCEPT with the branch leaves.
fn combine(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    kept: &mut Kept,
    branch: &Branch,
    columns: &[ColumnMeta],
) -> Result<()> {
    let mut charge = run.charge();
    let mut counts = counted(run, run_query, &branch.plan, columns, &mut charge)?;
    let keeps_common = branch.operator == SetOperator::Intersect;
    let mut seen = HashSet::new();
    kept.retain(run, |row| {
        let key = row_key(row, columns);
        if branch.distinct {
            return Ok(
                counts.contains_key(&key) == keeps_common && growth::insert(&mut seen, key, &mut charge)?
            );
        }
        // With ALL, each row of the branch matches one row here.
        let is_there = counts.get_mut(&key).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
        Ok(is_there == keeps_common)
    })
}

/// Runs the branches of a set operation, or a single query in parentheses with an order of its own.
pub(super) fn run_union(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    branches: &[Branch],
    (order, limit): (&[SortKey], Option<&LimitPlan>),
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    if branches.iter().any(|branch| branch.operator != SetOperator::Union) {
        return run_chain(run, run_query, branches, (order, limit), columns, emit);
    }
    let ctx = run.ctx;
    let limit = limit_of(limit, ctx)?;
    let wanted = (limit.count < u64::MAX).then(|| limit.offset.saturating_add(limit.count));
    let mut sorter = (!order.is_empty()).then(|| Sorter::new(order, wanted, ctx));
    let mut forward = |row: &[Value]| emit(row);
    let (passed, emitted) = (0, 0);
    let mut output =
        Output { columns, distinct: None, limit, count_all: false, passed, emitted, emit: &mut forward };
    let mut flow = if limit.count == 0 { Flow::Stop } else { Flow::Continue };
    let mut put = |row: &[Value]| {
        if let Some(measures) = ctx.measures {
            measures.count_row(branches, Operator::Ordered);
        }
        match &mut sorter {
            Some(sorter) => sorter.push(row, row, ctx).map(|()| Flow::Continue),
            None => output.take(row, ctx),
        }
    };
    // UNION DISTINCT removes the duplicates of all branches up to it, so the duplicates of all
    // branches up to the last DISTINCT are dropped as they come.
    let distinct_branches = branches.iter().rposition(|branch| branch.distinct).map_or(0, |last| last + 1);
    let mut distinct = (distinct_branches > 0).then(|| Distinct::new(false, ctx));
    let mut conformed: Vec<Value> = Vec::with_capacity(columns.len());
    for (at, branch) in branches.iter().enumerate() {
        ctx.check_interrupt()?;
        if flow == Flow::Stop {
            break;
        }
        let mut distinct = distinct.as_mut().filter(|_| at < distinct_branches);
        run_query(run, &branch.plan, &mut |row| {
            ctx.check_interrupt()?;
            if flow == Flow::Stop {
                return Ok(());
            }
            conformed.clear();
            for ((value, from), to) in row.iter().zip(&branch.plan.columns).zip(columns) {
                conformed.push(united(value, &from.ty, &to.ty, ctx)?);
            }
            if let Some(distinct) = &mut distinct
                && !distinct.is_first(&conformed, columns, ctx)?
            {
                return Ok(());
            }
            flow = put(&conformed)?;
            Ok(())
        })?;
    }
    if let Some(distinct) = distinct
        && flow == Flow::Continue
    {
        distinct.finish(columns.len(), ctx, &mut put)?;
    }
    if let Some(sorter) = sorter {
        let mut sorted = sorter.finish(ctx)?;
        conformed.resize(columns.len(), Value::Null);
        while sorted.next(&mut conformed, ctx)? && output.take(&conformed, ctx)? == Flow::Continue {}
    }
    Ok(QueryOutcome { found_rows: output.emitted })
}

/// Runs branches of which some are combined by INTERSECT or EXCEPT. The rows so far are kept in
/// memory.
fn run_chain(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    branches: &[Branch],
    behind: (&[SortKey], Option<&LimitPlan>),
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let mut kept = Kept::new(run);
    let mut at = 0;
    while at < branches.len() {
        if branches[at].operator != SetOperator::Union {
            combine(run, run_query, &mut kept, &branches[at], columns)?;
            at += 1;
            continue;
        }
        let unions = branches[at..].iter().take_while(|branch| branch.operator == SetOperator::Union).count();
        let unions = &branches[at..at + unions];
        at += unions.len();
        // As in `run_union`: duplicates are dropped up to the last DISTINCT branch.
        let last_distinct = unions.iter().rposition(|branch| branch.distinct);
        let distinct_branches = last_distinct.map_or(0, |last| last + 1);
        let (mut keys, mut key_charge) = (HashSet::new(), run.charge());
        if distinct_branches > 0 {
            kept.retain(run, |row| growth::insert(&mut keys, row_key(row, columns), &mut key_charge))?;
        }
        for (at, branch) in unions.iter().enumerate() {
            ctx.check_interrupt()?;
            let distinct = at < distinct_branches;
            run_query(run, &branch.plan, &mut |row| {
                ctx.check_interrupt()?;
                let conformed = conformed(row, &branch.plan, columns, ctx)?;
                if distinct && !growth::insert(&mut keys, row_key(&conformed, columns), &mut key_charge)? {
                    return Ok(());
                }
                kept.add(conformed)
            })?;
        }
    }
    if let Some(measures) = ctx.measures {
        let timing = Timing { rows: kept.rows.len() as u64, ..Timing::default() };
        measures.add(branches, Operator::Ordered, timing);
    }
    in_order(run, &kept.rows, behind, emit)
}

/// Runs a table value constructor.
pub(super) fn run_values(
    run: &mut Run<'_, '_>,
    rows: &[Vec<Expr>],
    limit: Option<&LimitPlan>,
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let mut kept = Kept::new(run);
    for row in rows {
        run.on_row()?;
        let values = row.iter().zip(columns);
        let values = values.map(|(expr, column)| united(&*expr.eval(&[], ctx)?, &expr.ty, &column.ty, ctx));
        kept.add(values.collect::<Result<_>>()?)?;
    }
    in_order(run, &kept.rows, (&[], limit), emit)
}

/// Sorts the rows and emits those that LIMIT takes.
fn in_order(
    run: &mut Run<'_, '_>,
    rows: &[Vec<Value>],
    (order, limit): (&[SortKey], Option<&LimitPlan>),
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let limit = limit_of(limit, ctx)?;
    let wanted = limit.offset.saturating_add(limit.count);
    let mut found_rows = 0;
    let mut give = |number: u64, row: &[Value]| {
        ctx.check_interrupt()?;
        if number < limit.offset {
            return Ok(());
        }
        found_rows += 1;
        emit(row)
    };
    let numbers = 0..wanted.min(rows.len() as u64);
    if order.is_empty() {
        numbers.zip(rows).try_for_each(|(number, row)| give(number, row))?;
        return Ok(QueryOutcome { found_rows });
    }
    let mut sorter = Sorter::new(order, Some(wanted), ctx);
    for row in rows {
        sorter.push(row, row, ctx)?;
    }
    let mut sorted = sorter.finish(ctx)?;
    let mut values = vec![Value::Null; rows.first().map_or(0, Vec::len)];
    for number in numbers {
        if !sorted.next(&mut values, ctx)? {
            break;
        }
        give(number, &values)?;
    }
    Ok(QueryOutcome { found_rows })
}
