//! The table that an UPDATE or a DELETE changes.

use super::query::{limit, wish_of};
use super::texts::in_order;
use super::{Binder, Place, Scope, TableUse};
use crate::ast::{self, TableRef};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::host::Privilege;
use crate::optimize::Freedom;
use crate::plan::{Leaf, LimitPlan, SortKey, Source, TableStep, conjuncts};

/// The rows that UPDATE and DELETE change: one stored table with its conditions, order and limit.
pub(crate) struct Target {
    pub scope: Scope,
    pub step: TableStep,
    pub preconditions: Vec<Expr>,
    pub order: Vec<SortKey>,
    pub ordered_by_access: bool,
    pub limit: Option<LimitPlan>,
    /// Rows that somebody else has locked are first looked at as they are committed (UPDATE).
    pub semi_consistent: bool,
}

impl Target {
    /// Leaves out the columns that neither the conditions nor the order look at, nor these
    /// expressions.
    pub fn need_used_columns<'e>(&mut self, further: impl Iterator<Item = &'e Expr>) {
        let mut slots = Vec::new();
        further.for_each(|expr| expr.slots(&mut slots));
        self.step.conditions.iter().for_each(|condition| condition.slots(&mut slots));
        self.order.iter().for_each(|key| key.expr.slots(&mut slots));
        self.step.needed.retain(|column| slots.contains(&(self.step.base + column)));
    }
}

/// Binds the table of a single-table UPDATE or DELETE, which needs this privilege; every column is
/// needed.
pub(crate) fn bind_target(
    binder: &mut Binder<'_>,
    from: &TableRef,
    privilege: Privilege,
    filter: Option<&ast::Expr>,
    order_by: &[ast::OrderItem],
    written_limit: Option<&ast::Limit>,
) -> Result<Target> {
    let (scope, from) = binder.from(Some(from), TableUse::Change(privilege), None)?;
    let [Leaf { source: Source::Stored { .. }, .. }] = &from.tables[..] else {
        return Err(SqlError::not_supported("UPDATE or DELETE of several tables"));
    };
    let mut conditions = Vec::new();
    if let Some(written) = filter {
        conjuncts(binder.expr(written, &mut Place::new(&scope, "where clause"))?, &mut conditions);
    }
    let mut order = Vec::new();
    for item in order_by {
        let expr = binder.expr(&item.expr, &mut Place::new(&scope, "order clause"))?;
        order.push(SortKey { expr: in_order(expr), descending: item.descending });
    }
    let limit = limit(binder, written_limit)?;
    let slots = 0..scope.slots();
    let wish = |_| wish_of(&order, &slots, limit.is_some());
    let (mut steps, preconditions) = binder.steps(from, conditions, Freedom::None, wish)?;
    let Some(mut step) = steps.pop() else { return Err(SqlError::new(1096, "No tables used")) };
    step.needed = (0..step.columns).collect();
    let ordered_by_access =
        matches!(&step.source, Source::Stored { access, .. } if access.ordered && !order.is_empty());
    Ok(Target { scope, step, preconditions, order, ordered_by_access, limit, semi_consistent: false })
}
