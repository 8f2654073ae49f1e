//! Common table expressions.
//!
//! A common table is bound where it is first named. From then on it is one of the statement's
//! subqueries, which every place that names it reads, so it is computed once. The columns that it
//! names of the queries around the one with the WITH clause are its arguments, as for any subquery.

use super::super::{Binder, Frame, Scope, ScopeTable};
use super::clauses::{Behind, limit};
use super::union::columns_of_branches;
use super::{bind_branch, bind_query};
use crate::ast::{self, CommonTable, QueryBody, SetOperator};
use crate::bind::TableUse;
use crate::bind::common_tables::{Recursing, State, find_common};
use crate::bind::subqueries::add_subquery;
use crate::error::{Result, SqlError};
use crate::expr::SubqueryCall;
use crate::host::Privilege;
use crate::plan::{self, Branch, QueryPlan, Recursion, Source, SubPlan};
use crate::sink::{ColumnMeta, column_flag};
use types::{ColumnType, TypeCode};

fn column_lists_differ() -> SqlError {
    let text = "In definition of view, derived table or common table expression, SELECT list and column names list \
                have different column counts";
    SqlError::new(1353, text)
}

/// Gives the columns of a derived or common table the names listed behind the table's name, if
/// there are any.
///
/// # Errors
/// Returns 1353 when the list has a different number of columns, and 1060 when two columns have one
/// name.
pub(super) fn name_columns(columns: &mut [ColumnMeta], names: &[String]) -> Result<()> {
    if !names.is_empty() && names.len() != columns.len() {
        return Err(column_lists_differ());
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    let mut seen = std::collections::HashSet::with_capacity(columns.len());
    match columns.iter().find(|column| !seen.insert(column.name.to_lowercase())) {
        Some(twice) => Err(SqlError::new(1060, format!("Duplicate column name '{}'", twice.name))),
        None => Ok(()),
    }
}

/// Returns the common table with this name, and adds it to the scope. `None` if there is none.
pub(super) fn common_table(
    binder: &mut Binder<'_>,
    name: &ast::TableName,
    alias: Option<&str>,
    scope: &mut Scope,
    outer: Option<&Frame<'_>>,
) -> Result<Option<Source>> {
    let Some((level, at)) = find_common(&binder.common, name) else { return Ok(None) };
    let shown = alias.unwrap_or(&name.name);
    if let TableUse::Change(privilege) = binder.around.table_use {
        let statement = if privilege == Privilege::Delete { "DELETE" } else { "UPDATE" };
        let text = format!("The target table {shown} of the {statement} is not updatable");
        return Err(SqlError::new(1288, text));
    }
    crate::parse::check_stack()?;
    let (call, columns) = use_common(binder, level, at, outer)?;
    let mut table = ScopeTable::computed("", shown, &name.name, &columns, scope.slots());
    let plan = &binder.subqueries[call.number].plan;
    // The rows that a recursive table has not seen yet have no plan of their own.
    if !plan.columns.is_empty() {
        table.hold_as(plan);
    }
    binder.add_to_scope(scope, table)?;
    Ok(Some(Source::Subquery(call)))
}

/// Returns the subquery that a place reads which names a common table, and the table's columns.
fn use_common(
    binder: &mut Binder<'_>,
    level: usize,
    at: usize,
    outer: Option<&Frame<'_>>,
) -> Result<(SubqueryCall, Vec<ColumnMeta>)> {
    let depth = Frame::depth(outer);
    let with = binder.common[level].with.clone();
    let name = &with.tables[at].name;
    if let State::Recursive(recursing) = &mut binder.common[level].states[at] {
        let Some(columns) = &recursing.columns else {
            return Err(match recursing.is_union {
                true => seeds_come_first(name),
                false => no_union(name),
            });
        };
        recursing.uses += 1;
        recursing.in_subquery |= depth != recursing.depth;
        let call = SubqueryCall { number: recursing.number, args: Vec::new() };
        return Ok((call, columns.clone()));
    }
    let inner: Vec<&Frame<'_>> =
        std::iter::successors(outer, |frame| frame.parent).take(depth - binder.common[level].depth).collect();
    if matches!(binder.common[level].states[at], State::Unbound) {
        let around = inner.last().map_or(outer, |outermost| outermost.parent);
        let used = binder.temporary.count();
        let (call, columns) = bind_common(binder, level, at, around)?;
        let temporary = binder.temporary.name(used).map(str::to_owned);
        binder.common[level].states[at] = State::Bound { call, columns, temporary };
    } else if let State::Bound { temporary: Some(shown), .. } = &binder.common[level].states[at] {
        return Err(crate::temporary::cannot_reopen(shown));
    }
    let State::Bound { call, columns, .. } = &binder.common[level].states[at] else {
        unreachable!("a common table is bound where it is named")
    };
    let (mut call, columns) = (call.clone(), columns.clone());
    for arg in &mut call.args {
        *arg = inner.iter().rev().fold(arg.clone(), |arg, frame| frame.argument(arg));
    }
    Ok((call, columns))
}

/// Binds a common table. Its query may name the common tables before it. `around` is the place
/// of the query with the WITH clause.
fn bind_common(
    binder: &mut Binder<'_>,
    level: usize,
    at: usize,
    around: Option<&Frame<'_>>,
) -> Result<(SubqueryCall, Vec<ColumnMeta>)> {
    let with = binder.common[level].with.clone();
    let hidden = binder.common.split_off(level + 1);
    let visible = std::mem::replace(&mut binder.common[level].visible, at + usize::from(with.recursive));
    let alone = Scope::default();
    let frame = Frame::derived(&alone, around);
    let (first, read_before) = (binder.subqueries.len(), binder.noted.reads.count());
    let plan = match with.recursive {
        true => bind_recursive(binder, level, at, &with.tables[at], &frame),
        false => bind_query(binder, &with.tables[at].query, Some(&frame)),
    };
    assert_eq!(binder.common.len(), level + 1, "each query has left its own common tables");
    binder.common[level].visible = visible;
    binder.common.extend(hidden);
    let mut plan = plan?;
    binder.noted.reads.note_derived(read_before);
    name_columns(&mut plan.columns, &with.tables[at].columns)?;
    let columns = plan.columns.clone();
    let call = add_subquery(&mut binder.subqueries, plan, frame, first);
    // The table's rows are the same however often it is read.
    let subquery = &mut binder.subqueries[call.number];
    (subquery.varies, subquery.reads_variables) = (false, false);
    Ok((call, columns))
}

/// Binds a common table that may name itself.
fn bind_recursive(
    binder: &mut Binder<'_>,
    level: usize,
    at: usize,
    table: &CommonTable,
    frame: &Frame<'_>,
) -> Result<QueryPlan> {
    let is_union = is_union(&table.query.body);
    let depth = Frame::depth(Some(frame));
    binder.common[level].states[at] = State::Recursive(Recursing { is_union, depth, ..Recursing::default() });
    let plan = match is_union && table.query.with.is_none() {
        true => bind_blocks(binder, level, at, table, frame),
        false => bind_query(binder, &table.query, Some(frame)),
    };
    binder.common[level].states[at] = State::Unbound;
    plan
}

/// Binds the query blocks of a UNION: first those that do not name the table, then those that
/// do.
fn bind_blocks(
    binder: &mut Binder<'_>,
    level: usize,
    at: usize,
    table: &CommonTable,
    frame: &Frame<'_>,
) -> Result<QueryPlan> {
    let mut written = Vec::new();
    flatten(&table.query.body, false, &mut written);
    let (mut seeds, mut blocks): (Vec<Branch>, Vec<QueryPlan>) = (Vec::new(), Vec::new());
    let (mut distinct, mut distinct_blocks) = (false, false);
    for (body, is_distinct) in written {
        let plan = bind_branch(binder, body, Behind::of(&table.query), Some(frame))?;
        let width = seeds.first().map_or(plan.columns.len(), |seed| seed.plan.columns.len());
        if plan.columns.len() != width {
            return Err(SqlError::new(1222, "The used SELECT statements have a different number of columns"));
        }
        let recursing = binder.common[level].states[at].recursing();
        let (uses, in_subquery) = (std::mem::take(&mut recursing.uses), recursing.in_subquery);
        if uses == 0 && blocks.is_empty() {
            seeds.push(Branch { plan, operator: SetOperator::Union, distinct: is_distinct });
            let columns = columns_of_seeds(binder, &seeds, table)?;
            binder.common[level].states[at].recursing().columns = Some(columns);
            if seeds.len() == 1 {
                binder.common[level].states[at].recursing().number = binder.subqueries.len();
                binder.subqueries.push(SubPlan::own_rows());
            }
            continue;
        }
        if uses == 0 {
            return Err(seeds_come_first(&table.name));
        }
        check_block(&plan, uses > 1 || in_subquery, &table.name)?;
        if distinct_blocks && !is_distinct {
            return Err(SqlError::not_supported(
                "recursive query blocks with UNION DISTINCT then UNION ALL, in recursive Common Table Expression",
            ));
        }
        distinct_blocks |= is_distinct;
        distinct |= is_distinct;
        blocks.push(plan);
    }
    if blocks.is_empty() {
        // The table does not name itself after all.
        return bind_query(binder, &table.query, Some(frame));
    }
    if !table.query.order_by.is_empty() {
        return Err(SqlError::not_supported("ORDER BY over UNION in recursive Common Table Expression"));
    }
    let limit = limit(binder, table.query.limit.as_ref())?;
    let recursing = binder.common[level].states[at].recursing();
    let columns = recursing.columns.take().expect("there is a block that does not name the table");
    let own_rows = recursing.number;
    assert!(own_rows < binder.subqueries.len(), "the table's own rows are one of the subqueries");
    let seed = plan::union_of(seeds, columns.clone());
    let recursion = Recursion { seed, blocks, own_rows, distinct, limit };
    Ok(QueryPlan { columns, body: plan::QueryBody::Recursive(Box::new(recursion)) })
}

/// Returns the columns that the first query blocks give the table. Any of them may be NULL in
/// the rows of later blocks.
fn columns_of_seeds(
    binder: &mut Binder<'_>,
    seeds: &[Branch],
    table: &CommonTable,
) -> Result<Vec<ColumnMeta>> {
    let mut columns = columns_of_branches(binder, seeds)?;
    for column in &mut columns {
        column.flags &= !(column_flag::NOT_NULL | column_flag::PRI_KEY);
        if column.ty.code == TypeCode::Null {
            column.ty = ColumnType::varbinary(0);
        }
        // The table has a YEAR column where the first blocks make years.
        if column.ty.code == TypeCode::Year {
            column.ty = ColumnType::year();
            column.flags |= column_flag::ZEROFILL;
        }
    }
    name_columns(&mut columns, &table.columns)?;
    Ok(columns)
}

fn is_union(body: &QueryBody) -> bool {
    matches!(body, QueryBody::Union { rest, .. }
        if rest.iter().all(|branch| branch.operator == SetOperator::Union))
}

/// Collects the query blocks of a UNION, including those of plain UNIONs within parentheses. Each
/// comes with a flag: duplicates among its rows and those of the blocks before it are removed.
fn flatten<'q>(body: &'q QueryBody, distinct: bool, found: &mut Vec<(&'q QueryBody, bool)>) {
    match body {
        QueryBody::Union { first, rest } if is_union(body) => {
            flatten(first, distinct, found);
            rest.iter().for_each(|branch| flatten(&branch.body, distinct || !branch.all, found));
        }
        QueryBody::Nested(query)
            if is_union(&query.body)
                && query.with.is_none()
                && query.order_by.is_empty()
                && query.limit.is_none() =>
        {
            flatten(&query.body, distinct, found);
        }
        _ => found.push((body, distinct)),
    }
}

fn no_union(name: &str) -> SqlError {
    SqlError::new(3573, format!("Recursive Common Table Expression '{name}' should contain a UNION"))
}

fn seeds_come_first(name: &str) -> SqlError {
    let text = format!(
        "Recursive Common Table Expression '{name}' should have one or more non-recursive query blocks followed by one \
         or more recursive ones"
    );
    SqlError::new(3574, text)
}

/// Refuses a query block that names its own table and does what only other blocks may do: grouping,
/// windows, DISTINCT, ORDER BY, LIMIT, or naming the table again.
fn check_block(block: &QueryPlan, is_named_again: bool, name: &str) -> Result<()> {
    if is_named_again {
        let text = format!(
            "In recursive query block of Recursive Common Table Expression '{name}', the recursive table must be \
             referenced only once, and not in any subquery"
        );
        return Err(SqlError::new(3577, text));
    }
    let not_here = "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression";
    let plan::QueryBody::Select(select) = &block.body else { return Err(SqlError::not_supported(not_here)) };
    let is_windowed = |plan: &QueryPlan| matches!(plan.body, plan::QueryBody::Windowed(_));
    let has_windows =
        select.tables.iter().any(|step| matches!(&step.source, Source::Derived(plan) if is_windowed(plan)));
    if select.grouping.is_some() || has_windows {
        let text = format!(
            "Recursive Common Table Expression '{name}' can contain neither aggregation nor window functions in \
             recursive query block"
        );
        return Err(SqlError::new(3575, text));
    }
    if select.distinct || select.limit.is_some() || !select.order.is_empty() {
        return Err(SqlError::not_supported(not_here));
    }
    Ok(())
}
