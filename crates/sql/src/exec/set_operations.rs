//! UNION, INTERSECT, EXCEPT, and the table value constructor VALUES.

use super::distinct::{Distinct, row_key};
use super::intersection::{Counted, Rule, reduce};
use super::limit::limit_of;
use super::loops::Flow;
use super::output::Output;
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use super::sort::Sorter;
use super::spill::{Rows, hash_of};
use crate::ast::SetOperator;
use crate::error::Result;
use crate::expr::{Context, Expr, conform, text_for};
use crate::plan::{Branch, LimitPlan, QueryPlan, SortKey};
use crate::sink::ColumnMeta;
use crate::stopwatch::{Operator, Timing};
use std::borrow::Cow;
use types::collation::BINARY;
use types::{ColumnType, TypeCode, Value};

/// Converts a value of one query's column to the column's type in the whole result.
fn united(value: &Value, from: &ColumnType, to: &ColumnType, ctx: &Context<'_>) -> Result<Value> {
    match (value, to.code) {
        // Bits have the bytes of the widest column, and are a number among texts.
        (Value::Bit { bits, .. }, TypeCode::Bit) => {
            return Ok(Value::Bit { bits: *bits, width: to.meta as u8 });
        }
        (Value::Bit { bits, .. }, TypeCode::Varchar | TypeCode::String | TypeCode::Blob) => {
            return Ok(in_binary(Value::Bytes(bits.to_string().into_bytes()), to));
        }
        // The year 0 is a number among texts.
        (Value::Year(year), TypeCode::Varchar | TypeCode::String | TypeCode::Blob) => {
            return Ok(in_binary(Value::Bytes(year.to_string().into_bytes()), to));
        }
        _ => {}
    }
    let united = match text_for(value, from, to, ctx.zone()) {
        Some(text) => text,
        None => ctx.owned(conform(Cow::Borrowed(value), to, ctx)?)?,
    };
    Ok(in_binary(united, to))
}

/// Fills up bytes with zeros if the column is of type BINARY.
fn in_binary(mut value: Value, column: &ColumnType) -> Value {
    if let Value::Bytes(bytes) = &mut value
        && (column.code, column.collation) == (TypeCode::String, BINARY)
        && bytes.len() < usize::from(column.meta)
    {
        bytes.resize(usize::from(column.meta), 0);
    }
    value
}

/// Converts a row of one query to the column types of the whole result.
fn conformed(
    row: &[Value],
    plan: &QueryPlan,
    columns: &[ColumnMeta],
    ctx: &Context<'_>,
) -> Result<Vec<Value>> {
    assert_eq!(row.len(), columns.len(), "all branches have as many columns");
    let values = row.iter().zip(&plan.columns).zip(columns);
    values.map(|((value, from), to)| united(value, &from.ty, &to.ty, ctx)).collect()
}

/// Reduces the rows so far to those that INTERSECT or EXCEPT with the branch leaves.
fn combine(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    before: &Rows,
    branch: &Branch,
    columns: &[ColumnMeta],
) -> Result<Rows> {
    let ctx = run.ctx;
    let mut counted = Counted::new(0, ctx);
    run_query(run, &branch.plan, &mut |row| {
        ctx.check_interrupt()?;
        let key = row_key(&conformed(row, &branch.plan, columns, ctx)?, columns);
        counted.add(&key, hash_of(&key), ctx)
    })?;
    let rule = Rule { keeps_common: branch.operator == SetOperator::Intersect, distinct: branch.distinct };
    reduce(run, before, counted, rule, columns)
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
            assert_eq!(row.len(), columns.len(), "all branches have as many columns");
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
        conformed.resize_with(columns.len(), || Value::Null);
        while sorted.next(&mut conformed, ctx)? && output.take(&conformed, ctx)? == Flow::Continue {}
    }
    assert!(output.emitted <= limit.count, "LIMIT bounds the rows of the whole result");
    Ok(QueryOutcome { found_rows: output.emitted })
}

/// Runs branches of which some are combined by INTERSECT or EXCEPT.
fn run_chain(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    branches: &[Branch],
    behind: (&[SortKey], Option<&LimitPlan>),
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let mut kept = Rows::new(columns.len(), ctx);
    let mut at = 0;
    // Whether the rows in front of the next INTERSECT or EXCEPT are those of a UNION without rows.
    let mut begins_empty = false;
    assert!(
        branches.first().is_some_and(|first| first.operator == SetOperator::Union),
        "the first branch has rows that others can be combined with"
    );
    while at < branches.len() {
        if branches[at].operator != SetOperator::Union {
            // As in MySQL, branches are not computed, nor their errors found, where the first one
            // has no rows.
            if !begins_empty {
                kept = combine(run, run_query, &kept, &branches[at], columns)?;
            }
            at += 1;
            continue;
        }
        let unions = branches[at..].iter().take_while(|branch| branch.operator == SetOperator::Union).count();
        kept = unite(run, run_query, kept, &branches[at..at + unions], columns)?;
        begins_empty = kept.len() == 0;
        at += unions;
    }
    if let Some(measures) = ctx.measures {
        let timing = Timing { rows: kept.len(), ..Timing::default() };
        measures.add(branches, Operator::Ordered, timing);
    }
    in_order(run, &kept, behind, emit)
}

/// Adds the rows of branches of a UNION to the rows so far.
fn unite(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    before: Rows,
    unions: &[Branch],
    columns: &[ColumnMeta],
) -> Result<Rows> {
    let ctx = run.ctx;
    // As in `run_union`: duplicates are dropped up to the last DISTINCT branch.
    let last_distinct = unions.iter().rposition(|branch| branch.distinct);
    let distinct_branches = last_distinct.map_or(0, |last| last + 1);
    let mut distinct = (distinct_branches > 0).then(|| Distinct::uncounted(false, ctx));
    let mut united = match &mut distinct {
        None => before,
        Some(distinct) => {
            let mut united = Rows::uncounted(columns.len(), ctx);
            let mut cursor = before.cursor();
            let mut row = Value::nulls(columns.len());
            while cursor.next(&mut row, ctx)? {
                run.on_row()?;
                if distinct.is_first(&row, columns, ctx)? {
                    united.push(&row, ctx)?;
                }
            }
            united
        }
    };
    for (at, branch) in unions.iter().enumerate() {
        ctx.check_interrupt()?;
        let mut distinct = distinct.as_mut().filter(|_| at < distinct_branches);
        run_query(run, &branch.plan, &mut |row| {
            ctx.check_interrupt()?;
            let conformed = conformed(row, &branch.plan, columns, ctx)?;
            if let Some(distinct) = &mut distinct
                && !distinct.is_first(&conformed, columns, ctx)?
            {
                return Ok(());
            }
            united.push(&conformed, ctx)
        })?;
    }
    if let Some(distinct) = distinct {
        distinct.finish(columns.len(), ctx, &mut |row| {
            united.push(row, ctx)?;
            Ok(Flow::Continue)
        })?;
    }
    Ok(united)
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
    let mut kept = Rows::uncounted(columns.len(), ctx);
    for row in rows {
        run.on_row()?;
        assert_eq!(row.len(), columns.len(), "all rows of VALUES have as many columns");
        let values = row.iter().zip(columns);
        let values = values.map(|(expr, column)| united(&*expr.eval(&[], ctx)?, &expr.ty, &column.ty, ctx));
        kept.push(&values.collect::<Result<Vec<_>>>()?, ctx)?;
    }
    in_order(run, &kept, (&[], limit), emit)
}

/// Sorts the rows and emits those that LIMIT takes.
fn in_order(
    run: &mut Run<'_, '_>,
    rows: &Rows,
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
    let mut cursor = rows.cursor();
    let mut values = vec![Value::Null; rows.columns()];
    let numbers = 0..wanted.min(rows.len());
    let in_limit = numbers.end.saturating_sub(limit.offset);
    if order.is_empty() {
        for number in numbers {
            if !cursor.next(&mut values, ctx)? {
                break;
            }
            give(number, &values)?;
        }
        assert_eq!(found_rows, in_limit, "a cursor gives all rows");
        return Ok(QueryOutcome { found_rows });
    }
    let mut sorter = Sorter::new(order, Some(wanted), ctx);
    while cursor.next(&mut values, ctx)? {
        run.on_row()?;
        sorter.push(&values, &values, ctx)?;
    }
    let mut sorted = sorter.finish(ctx)?;
    for number in numbers {
        if !sorted.next(&mut values, ctx)? {
            break;
        }
        give(number, &values)?;
    }
    assert_eq!(found_rows, in_limit, "a sort gives all rows that are wanted");
    Ok(QueryOutcome { found_rows })
}
