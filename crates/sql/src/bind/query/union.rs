//! UNION: its branches, and columns that hold the values of all.

use super::super::{Binder, Frame, Place, Scope, ScopeTable};
use super::{META_BYTES, bind_query, bind_select, limit, position};
use crate::ast;
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Expr, Node, common_type};
use crate::memory::Charge;
use crate::plan::{QueryBody, QueryPlan, SortKey};
use crate::sink::ColumnMeta;
use types::Value;

pub(super) fn bind_union(
    binder: &mut Binder<'_>,
    body: &ast::QueryBody,
    query: &ast::Query,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    let (first, rest) = match body {
        ast::QueryBody::Union { first, rest } => (&**first, &rest[..]),
        other => (other, &[][..]),
    };
    let mut branches: Vec<(QueryPlan, bool)> = Vec::new();
    let rest = rest.iter().map(|branch| (&branch.body, !branch.all));
    for (body, distinct) in std::iter::once((first, false)).chain(rest) {
        let plan = match body {
            ast::QueryBody::Nested(inner) => bind_query(binder, inner, outer)?,
            // ORDER BY and LIMIT are the whole union's.
            ast::QueryBody::Select(select) => bind_select(binder, select, (&[], None, &query.locks), outer)?,
            union => bind_union(binder, union, query, outer)?,
        };
        if branches.first().is_some_and(|(first, _)| first.columns.len() != plan.columns.len()) {
            return Err(SqlError::new(1222, "The used SELECT statements have a different number of columns"));
        }
        branches.push((plan, distinct));
    }
    let columns = union_columns(binder, &branches)?;
    let scope = Scope::of(ScopeTable::computed("", "", "", &columns, 0));
    let mut order = Vec::new();
    for item in &query.order_by {
        let expr = match position(&item.expr, columns.len())? {
            Some(at) => scope.tables[0].column(at),
            None => binder.expr(&item.expr, &mut Place::within(outer, &scope, "order clause"))?,
        };
        order.push(SortKey { expr, descending: item.descending });
    }
    let limit = limit(binder, query.limit.as_ref())?;
    Ok(QueryPlan { columns, body: QueryBody::Union { branches, order, limit: limit.map(Box::new) } })
}

/// The names of the first query, and types that hold the values of all.
fn union_columns(binder: &mut Binder<'_>, branches: &[(QueryPlan, bool)]) -> Result<Vec<ColumnMeta>> {
    let first = &branches[0].0.columns;
    binder.may_make(first.len() * META_BYTES)?;
    if branches.len() == 1 {
        return Ok(first.clone());
    }
    let mut columns = Vec::with_capacity(first.len());
    // For one column at a time.
    let mut of_branches = Charge::new(&binder.host.memory());
    of_branches.add(branches.len() * (size_of::<Expr>() + size_of::<&Expr>()))?;
    for (at, named) in first.iter().enumerate() {
        binder.check_interrupt()?;
        let exprs: Vec<Expr> = branches
            .iter()
            .map(|(plan, _)| Expr {
                node: Node::Constant(Value::Null),
                ty: plan.columns[at].ty.clone(),
                nullable: plan.columns[at].flags & crate::sink::column_flag::NOT_NULL == 0,
                coercibility: Coercibility::Implicit,
            })
            .collect();
        let (ty, coercibility) = common_type(&exprs.iter().collect::<Vec<_>>())?;
        let nullable = exprs.iter().any(|expr| expr.nullable);
        let expr = Expr { node: Node::Constant(Value::Null), ty, nullable, coercibility };
        columns.push(Scope::default().describe(&expr, &named.name));
    }
    Ok(columns)
}
