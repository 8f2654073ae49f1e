//! Binding of queries: WITH, set operations, and the query blocks that they combine.

mod clauses;
mod cte;
mod dependence;
mod from;
mod grouping;
mod hints;
mod indexed;
mod indexed_arrays;
mod joined_tables;
mod json_table;
mod layers;
mod merge;
mod moved;
mod opening;
pub(super) mod portion;
mod rollup;
mod row_locks;
mod select;
mod system_time;
mod union;
mod unnest;
pub(super) mod view;
mod window;

pub(super) use clauses::limit;
pub(super) use hints::BlockHints;
pub(crate) use hints::end_hints;
pub(super) use joined_tables::From;
pub(super) use merge::{Merged, merge, take_opened};
pub(super) use select::{mark_used, wish_of};
pub(super) use window::bind_call as bind_window_call;

use super::{Binder, Frame};
use crate::ast::{self, SetOperator};
use crate::error::{Result, SqlError};
use crate::plan::{Branch, QueryBody, QueryPlan};
use clauses::{Behind, Stands};
use select::bind_select;
use union::{bind_order, bind_rows, bind_values, columns_of_branches};

/// Binds a query. `outer` is the place in the query around it where it stands, if it is a subquery.
pub(crate) fn bind_query(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    bind_with(binder, query, Stands::Alone, outer)
}

/// Binds the query of a derived table or a view. The query around it may join the tables of that
/// query with its own tables.
fn bind_table(binder: &mut Binder<'_>, query: &ast::Query, outer: Option<&Frame<'_>>) -> Result<QueryPlan> {
    bind_with(binder, query, Stands::AsTable, outer)
}

fn bind_with(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    stands: Stands,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    let Some(with) = &query.with else { return bind_body(binder, query, stands, outer) };
    binder.enter_with(with, Frame::depth(outer))?;
    let level = binder.common.len();
    let plan = bind_body(binder, query, stands, outer);
    assert_eq!(binder.common.len(), level, "queries within a query have left their common tables");
    binder.common.pop();
    plan
}

fn bind_body(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    stands: Stands,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    match &query.body {
        ast::QueryBody::Select(select) => {
            bind_select(binder, select, Behind { stands, ..Behind::of(query) }, outer)
        }
        ast::QueryBody::Values(rows) => bind_values(binder, rows, Behind::of(query), outer),
        ast::QueryBody::Nested(inner) if query.order_by.is_empty() && query.limit.is_none() => {
            bind_with(binder, inner, stands, outer)
        }
        ast::QueryBody::Nested(inner) if inner.is_bare_select() => {
            let inner = &ast::Query {
                order_by: query.order_by.clone(),
                limit: query.limit.clone(),
                ..(**inner).clone()
            };
            bind_with(binder, inner, stands, outer)
        }
        body => {
            // A union converts its branches' values before they are compared.
            outer.iter().for_each(|frame| frame.needle.set(None));
            bind_union(binder, body, Behind::of(query), outer)
        }
    }
}

/// Binds a UNION, or a query within parentheses that has an order or a limit of its own.
fn bind_union(
    binder: &mut Binder<'_>,
    body: &ast::QueryBody,
    behind: Behind<'_>,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    let (first, rest) = match body {
        ast::QueryBody::Union { first, rest } => (&**first, &rest[..]),
        other => (other, &[][..]),
    };
    let mut branches: Vec<Branch> = Vec::new();
    let rest = rest.iter().map(|branch| (&branch.body, branch.operator, !branch.all));
    for (body, operator, distinct) in std::iter::once((first, SetOperator::Union, false)).chain(rest) {
        let plan = bind_branch(binder, body, behind, outer)?;
        if branches.first().is_some_and(|first| first.plan.columns.len() != plan.columns.len()) {
            return Err(SqlError::new(1222, "The used SELECT statements have a different number of columns"));
        }
        branches.push(Branch { plan, operator, distinct });
    }
    let columns = columns_of_branches(binder, &branches)?;
    assert!(
        branches.iter().all(|branch| branch.plan.columns.len() == columns.len()),
        "all branches have as many columns"
    );
    let (order, limit) = bind_order(binder, behind, &columns, outer)?;
    Ok(QueryPlan { columns, body: QueryBody::Union { branches, order, limit } })
}

/// Binds one query of a UNION.
fn bind_branch(
    binder: &mut Binder<'_>,
    body: &ast::QueryBody,
    behind: Behind<'_>,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    match body {
        ast::QueryBody::Nested(inner) => bind_with(binder, inner, Stands::InUnion, outer),
        // ORDER BY and LIMIT belong to the whole union.
        ast::QueryBody::Select(select) => bind_select(binder, select, behind.of_part(), outer),
        ast::QueryBody::Values(rows) => {
            let (rows, columns) = bind_rows(binder, rows, outer)?;
            Ok(QueryPlan { columns, body: QueryBody::Values { rows, limit: None } })
        }
        ast::QueryBody::Union { .. } => bind_union(binder, body, behind.of_part(), outer),
    }
}
