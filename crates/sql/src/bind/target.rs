//! The table that a single-table UPDATE or DELETE changes.

use super::common_tables::find_common;
use super::query::From;
use super::query::view::MOST_VIEW_LEVELS;
use super::query::{BlockHints, limit, wish_of};
use super::texts::in_order;
use super::zero_dates::find_zero_dates;
use super::{Binder, Changed, ChangedView, Names, Opening, Place, Scope, TableUse};
use crate::ast::{self, QueryBody, TableRef};
use crate::attribute;
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::host::Privilege;
use crate::optimize::Freedom;
use crate::plan::{Leaf, LimitPlan, SortKey, Source, TableStep, conjuncts};
use crate::view_query::query_of_view;
use engine::ObjectKind;

/// The rows that UPDATE and DELETE change: one stored table with its conditions, order and limit.
pub(crate) struct Target {
    pub scope: Scope,
    pub step: TableStep,
    pub preconditions: Vec<Expr>,
    pub order: Vec<SortKey>,
    pub ordered_by_access: bool,
    pub limit: Option<LimitPlan>,
    /// UPDATE does not wait at once for a row that another transaction has locked, but looks at the
    /// row's committed version first.
    pub semi_consistent: bool,
    /// The view through which the rows are changed. If there is one, `scope` is the view's.
    pub view: Option<Box<ChangedView>>,
}

impl Target {
    /// Returns the names of the table's columns, or of the view's.
    pub fn names(&self) -> Names<'_> {
        let table = match &self.step.source {
            Source::Stored { table, .. } => table,
            _ => unreachable!("a target is a stored table"),
        };
        Names { table, view: self.view.as_deref() }
    }

    /// Returns what the statement changes, as the statement names it.
    pub fn changed(&self) -> Changed<'_> {
        let named = &self.scope.tables[0];
        let view = self.view.as_ref().map(|_| (&*named.schema, &*named.org_table));
        Changed { table: self.names().table, shown: &named.alias, view }
    }

    /// Leaves out the columns that neither the conditions nor the order use and that are not among
    /// `slots`.
    pub fn need_used_columns(&mut self, mut slots: Vec<usize>) {
        self.order.iter().for_each(|key| key.expr.slots(&mut slots));
        let is_used = |column: &usize| slots.contains(&(self.step.base + column));
        let beside = self.step.needed.iter().copied().filter(is_used).collect();
        self.step.needed_beside_conditions = Some(beside);
        self.step.conditions.iter().for_each(|condition| condition.slots(&mut slots));
        self.step.needed.retain(|column| slots.contains(&(self.step.base + column)));
        self.step.note_padding();
    }
}

/// Reports whether the only table of an UPDATE is a view of several tables.
pub(crate) fn is_join_view(binder: &Binder<'_>, from: &TableRef) -> Result<bool> {
    let TableRef::Table { name, .. } = from else { return Ok(false) };
    if find_common(&binder.common, name).is_some() {
        return Ok(false);
    }
    let (mut schema, mut name) = (binder.schema_of(name)?, name.name.clone());
    if binder.temporary.table(&schema, &name).is_some() {
        return Ok(false);
    }
    for _ in 0..MOST_VIEW_LEVELS {
        let Some(view) = binder.engine.catalog().object(&schema, ObjectKind::View, &name) else { break };
        if Opening::of(&view.def, TableUse::Join).is_none() {
            break;
        }
        let mut query = query_of_view(&view.def)?;
        while let QueryBody::Nested(inner) = query.body {
            query = inner;
        }
        let QueryBody::Select(select) = query.body else { break };
        match select.from {
            Some(TableRef::Join { .. }) => return Ok(true),
            Some(TableRef::Table { name: inner, .. }) => {
                let current = view.def.attribute(attribute::CURRENT).unwrap_or(&view.def.schema);
                schema = inner.schema.unwrap_or_else(|| current.to_owned());
                name = inner.name;
            }
            _ => break,
        }
    }
    Ok(false)
}

/// Binds the table of a single-table UPDATE or DELETE, which needs this privilege. All of the
/// table's columns are marked as needed.
pub(crate) fn bind_target(
    binder: &mut Binder<'_>,
    from: &TableRef,
    privilege: Privilege,
    filter: Option<&ast::Expr>,
    order_by: &[ast::OrderItem],
    written_limit: Option<&ast::Limit>,
) -> Result<Target> {
    let hints = BlockHints::of_statement(binder);
    let (scope, mut from) = binder.from(Some(from), TableUse::Change(privilege), None)?;
    from.take_hints(binder, &hints);
    let statement = if privilege == Privilege::Delete { "DELETE" } else { "UPDATE" };
    let (view, mut conditions) = open_alone(binder, &mut from, &scope, statement)?;
    let scope = view.as_ref().map_or(scope, |view| view.scope.clone());
    let resolve = |binder: &mut Binder<'_>, expr| match &view {
        Some(view) => view.resolve(binder, expr),
        None => Ok(expr),
    };
    if let Some(written) = filter {
        let bound = binder.expr(written, &mut Place::new(&scope, "where clause"))?;
        let mut filter = Vec::new();
        conjuncts(bound, &mut filter);
        if view.is_none() || binder.variables.of_mariadb {
            find_zero_dates(binder, &scope, None, &mut filter);
        }
        for condition in filter {
            conditions.push(resolve(binder, condition)?);
        }
    }
    let mut order = Vec::new();
    for item in order_by {
        let expr = binder.expr(&item.expr, &mut Place::new(&scope, "order clause"))?;
        order.push(SortKey { expr: in_order(resolve(binder, expr)?), descending: item.descending });
    }
    let limit = limit(binder, written_limit)?;
    let slots = 0..from.tables.iter().map(|leaf| leaf.columns).sum();
    let wish = |_| wish_of(&order, &slots, limit.is_some());
    let (mut steps, preconditions) = binder.steps(from, conditions, Freedom::None, wish)?;
    let Some(mut step) = steps.pop() else { return Err(SqlError::new(1096, "No tables used")) };
    step.needed = (0..step.columns).collect();
    step.note_padding();
    let ordered_by_access =
        matches!(&step.source, Source::Stored { access, .. } if access.ordered && !order.is_empty());
    Ok(Target { scope, step, preconditions, order, ordered_by_access, limit, semi_consistent: false, view })
}

/// Opens the view that a statement changes, if it changes one. The view's table takes the view's
/// place in FROM, and the view's conditions are returned.
///
/// # Errors
/// Returns the errors of [`ChangedView::alone`], and 1099 when LOCK TABLES holds a READ lock on the
/// view's table.
fn open_alone(
    binder: &Binder<'_>,
    from: &mut From,
    scope: &Scope,
    statement: &str,
) -> Result<(Option<Box<ChangedView>>, Vec<Expr>)> {
    match from.tables.pop() {
        Some(leaf @ Leaf { source: Source::Stored { .. }, .. }) => {
            from.tables.push(leaf);
            Ok((None, Vec::new()))
        }
        Some(Leaf { source: Source::Derived(plan), .. }) => {
            let (view, leaf, conditions) = ChangedView::alone(*plan, &scope.tables[0], statement)?;
            binder.locked.use_within_view(&view.table.def.schema, &view.table.def.name, true)?;
            from.tables.push(leaf);
            Ok((Some(Box::new(view)), conditions))
        }
        _ => Err(SqlError::not_updatable(&scope.tables[0].alias, statement)),
    }
}
