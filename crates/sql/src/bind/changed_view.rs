//! A view through which a statement changes the rows of one table: what the view's columns stand
//! for in that table, and what WITH CHECK OPTION demands.

use super::Binder;
use super::query::take_opened;
use super::scope::{Scope, ScopeTable};
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node};
use crate::host::{Privilege, Rights};
use crate::plan::{Holder, Leaf, QueryPlan, Source, Unplanned};
use engine::Table;
use std::sync::Arc;
use types::Value;

/// The demand of WITH CHECK OPTION on a row.
pub(crate) struct ViewCheck {
    /// The conditions, all of which must hold.
    pub conditions: Vec<Expr>,
    /// The first slot of the table's columns.
    pub base: usize,
    /// Schema and name of the view that the statement names, joined by a dot.
    pub view: String,
}

impl ViewCheck {
    /// Builds error 1369 (`ER_VIEW_CHECK_FAILED`) for a row that would not be visible through the
    /// view.
    pub fn failed(&self) -> SqlError {
        SqlError::new(1369, format!("CHECK OPTION failed '{}'", self.view))
    }
}

/// A view and the table within it that the statement changes. The table's columns have the first
/// slots.
pub(crate) struct ChangedView {
    /// The view's columns, as names are resolved to them. Their slots begin behind two rows of the
    /// table.
    pub scope: Scope,
    pub table: Arc<Table>,
    /// The expression over the table's columns that each of the view's columns stands for.
    columns: Vec<Expr>,
    /// The names of the view's columns, each with the position of the table's column that it is.
    /// `None` if the column is an expression or belongs to another table.
    pub names: Vec<(String, Option<usize>)>,
    checks: Vec<Expr>,
    /// The conditions of the view itself, if rows are inserted through it.
    filter: Vec<Expr>,
    holder: Option<Arc<Holder>>,
    /// The view has more than one table.
    pub is_join: bool,
}

/// The names of the columns that a statement sets. They mean columns of the table, or columns of a
/// view of the table.
#[derive(Clone, Copy)]
pub(crate) struct Names<'v> {
    pub table: &'v Table,
    pub view: Option<&'v ChangedView>,
}

impl Names<'_> {
    /// Returns the position of the table's column that a name stands for.
    ///
    /// # Errors
    /// Returns 1054 when there is no such column, and 1348 when the view's column is an expression.
    pub fn column(&self, name: &str) -> Result<usize> {
        match self.view {
            Some(view) => view.column(name),
            None => {
                let at = self.table.def.column(name);
                at.ok_or_else(|| SqlError::unknown_column(name, "field list"))
            }
        }
    }

    /// Rewrites an expression over the view's columns into one over the table's columns.
    ///
    /// # Errors
    /// Returns the errors of [`ChangedView::resolve`].
    pub fn resolve(&self, binder: &mut Binder<'_>, expr: Expr) -> Result<Expr> {
        match self.view {
            Some(view) => view.resolve(binder, expr),
            None => Ok(expr),
        }
    }
}

/// Builds error 1393 (`ER_VIEW_MULTIUPDATE`).
pub(crate) fn several_tables(schema: &str, view: &str) -> SqlError {
    let text = format!("Can not modify more than one base table through a join view '{schema}.{view}'");
    SqlError::new(1393, text)
}

/// Builds error 1395 (`ER_VIEW_DELETE_MERGE_VIEW`).
pub(crate) fn no_delete_from_join(schema: &str, view: &str) -> SqlError {
    SqlError::new(1395, format!("Can not delete from join view '{schema}.{view}'"))
}

/// Builds error 1348 (`ER_NONUPDATEABLE_COLUMN`).
pub(crate) fn no_column(name: &str) -> SqlError {
    SqlError::new(1348, format!("Column '{name}' is not updatable"))
}

/// Builds error 1471 (`ER_NON_INSERTABLE_TABLE`).
fn not_insertable(view: &str) -> SqlError {
    SqlError::new(1471, format!("The target table {view} of the INSERT is not insertable-into"))
}

/// The privilege that a change of the rows of a view's table needs.
pub(crate) struct Wanted<'w> {
    pub privilege: Privilege,
    /// The positions of the columns that need the privilege. `None` if the whole table needs it.
    pub columns: Option<&'w [usize]>,
}

/// Checks that the account with whose rights a view's table is changed has the wanted privilege.
///
/// # Errors
/// Returns 1356 (`ER_VIEW_INVALID`) when it has not. The error names the view that the statement
/// names.
pub(crate) fn check_holder(
    binder: &Binder<'_>,
    (holder, table): (Option<&Arc<Holder>>, &Table),
    view: &ScopeTable,
    wanted: &Wanted<'_>,
) -> Result<()> {
    let check = |rights: &dyn Rights| {
        let (schema, name) = (&table.def.schema, &table.def.name);
        let Some(columns) = wanted.columns else {
            return rights.check_table(&[wanted.privilege], schema, name);
        };
        let mut columns = columns.iter().map(|at| &table.def.columns[*at].name);
        columns.try_for_each(|column| rights.check_column(wanted.privilege, schema, name, column))
    };
    let definer = match holder {
        Some(holder) => binder.view.rights.of_definer((&holder.0, &holder.1))?,
        None => None,
    };
    check(definer.as_deref().unwrap_or(binder.view.rights))
        .map_err(|_| SqlError::invalid_view(&view.schema, &view.org_table))
}

/// Returns the position of the leaf whose slots hold a column, and the column's position in the
/// leaf. `None` if the expression is no column of any leaf.
pub(super) fn leaf_of(leaves: &[Leaf], column: &Expr) -> Option<(usize, usize)> {
    let Node::Slot(slot) = column.node else { return None };
    let holds = |leaf: &Leaf| (leaf.base..leaf.base + leaf.columns).contains(&slot);
    let leaf = leaves.iter().position(holds)?;
    Some((leaf, slot - leaves[leaf].base))
}

impl ChangedView {
    /// Opens a view that stands alone in the FROM of an UPDATE or DELETE. Returns the view, its
    /// only table and its conditions.
    ///
    /// # Errors
    /// Returns 1288 when the view cannot be changed, and 1395 when it has more than one table.
    pub fn alone(
        plan: QueryPlan,
        named: &ScopeTable,
        statement: &str,
    ) -> Result<(ChangedView, Leaf, Vec<Expr>)> {
        let refused = || SqlError::not_updatable(&named.alias, statement);
        let mut opened = *take_opened(plan).ok_or_else(refused)?;
        if opened.leaves.len() > 1 {
            return Err(no_delete_from_join(&named.schema, &named.org_table));
        }
        let mut conditions = std::mem::take(&mut opened.conditions);
        let (view, mut leaf) = ChangedView::of(opened, 0, named).ok_or_else(refused)?;
        let base = std::mem::take(&mut leaf.base);
        conditions.iter_mut().chain(&mut leaf.chosen).for_each(|expr| move_down(expr, base, leaf.columns));
        Ok((view, leaf, conditions))
    }

    /// Opens a view that rows are inserted into, and chooses the one table that gets them. `listed`
    /// has the names of the columns that get values; `None` means all of them.
    ///
    /// # Errors
    /// Returns
    ///
    /// - 1471 when the view is not insertable,
    /// - 1394 when it has several tables and no column is listed,
    /// - 1393 when the listed columns belong to several tables,
    /// - 1348 when a listed column is an expression,
    /// - 1054 when there is no such column.
    pub fn to_fill(plan: QueryPlan, named: &ScopeTable, listed: Option<&[String]>) -> Result<ChangedView> {
        let refused = || not_insertable(&named.alias);
        let opened = *take_opened(plan).ok_or_else(refused)?;
        let is_stored = |leaf: &Leaf| matches!(leaf.source, Source::Stored { .. });
        if !opened.leaves.iter().all(is_stored) {
            return Err(refused());
        }
        let is_join = opened.leaves.len() > 1;
        if is_join && listed.is_none_or(<[String]>::is_empty) {
            let text = format!(
                "Can not insert into join view '{}.{}' without fields list",
                named.schema, named.org_table
            );
            return Err(SqlError::new(1394, text));
        }
        let (mut leaf, mut is_of_several) = (None, false);
        let is_set =
            |name: &str| listed.is_none_or(|listed| listed.iter().any(|set| set.eq_ignore_ascii_case(name)));
        for (column, output) in named.columns.iter().zip(&opened.outputs) {
            if !is_set(&column.name) {
                continue;
            }
            let (at, _) = leaf_of(&opened.leaves, output).ok_or_else(|| no_column(&column.name))?;
            is_of_several |= leaf.is_some_and(|known| known != at);
            leaf = Some(at);
        }
        for name in listed.into_iter().flatten() {
            if !named.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                return Err(SqlError::unknown_column(name, "field list"));
            }
        }
        if is_of_several {
            return Err(several_tables(&named.schema, &named.org_table));
        }
        let mut seen = Vec::with_capacity(opened.outputs.len());
        for output in &opened.outputs {
            match leaf_of(&opened.leaves, output) {
                Some(at) if !seen.contains(&at) => seen.push(at),
                _ => return Err(refused()),
            }
        }
        ChangedView::of(opened, leaf.unwrap_or(0), named).map(|(view, _)| view).ok_or_else(refused)
    }

    /// Builds the view whose leaf at this position is changed. `None` if that leaf is no stored
    /// table.
    fn of(opened: Unplanned, leaf: usize, named: &ScopeTable) -> Option<(ChangedView, Leaf)> {
        let Unplanned { mut leaves, outputs, opened, conditions, .. } = opened;
        let is_join = leaves.len() > 1;
        let own = leaf_slots(&leaves[leaf]);
        let names = named.columns.iter().zip(&outputs).map(|(column, output)| {
            let at = match output.node {
                Node::Slot(slot) if own.contains(&slot) => Some(slot - own.start),
                _ => None,
            };
            (column.name.clone(), at)
        });
        let names = names.collect();
        let leaf = leaves.swap_remove(leaf);
        let Source::Stored { table, .. } = &leaf.source else { return None };
        let moved = |exprs: Vec<Expr>| {
            let down = |mut expr| {
                move_down(&mut expr, leaf.base, leaf.columns);
                expr
            };
            exprs.into_iter().map(down).collect()
        };
        let scope = Scope::of(ScopeTable { base: 2 * leaf.columns, ..named.clone() });
        let view = ChangedView {
            scope,
            table: table.clone(),
            columns: moved(outputs),
            names,
            checks: moved(opened.map(|opened| opened.checks).unwrap_or_default()),
            filter: moved(conditions),
            holder: leaf.holder.clone(),
            is_join,
        };
        Some((view, leaf))
    }

    /// Returns the view as the statement names it.
    pub fn named(&self) -> &ScopeTable {
        &self.scope.tables[0]
    }

    /// Returns the position of the table's column that a column of the view stands for.
    ///
    /// # Errors
    /// Returns 1054 when the view has no such column, 1348 when the column is an expression, and
    /// 1393 when it belongs to another table.
    pub fn column(&self, name: &str) -> Result<usize> {
        let at = self.names.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        let at = at.ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        match (self.names[at].1, &self.columns[at].node) {
            (Some(column), _) => Ok(column),
            (None, Node::Constant(Value::Null)) if self.is_join => {
                Err(several_tables(&self.named().schema, &self.named().org_table))
            }
            (None, _) => Err(no_column(name)),
        }
    }

    /// Rewrites an expression over the view's columns into one over the table's columns.
    ///
    /// # Errors
    /// Returns 1393 when a column belongs to another table, and the errors of [`Binder::may_make`].
    pub fn resolve(&self, binder: &mut Binder<'_>, mut expr: Expr) -> Result<Expr> {
        let first = self.named().base;
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        for slot in slots.into_iter().filter(|slot| *slot >= first) {
            binder.copied(&self.columns[slot - first])?;
            if self.is_join && self.names[slot - first].1.is_none() {
                return Err(several_tables(&self.named().schema, &self.named().org_table));
            }
        }
        expr.change(&mut |part| {
            if let Node::Slot(slot) = part.node
                && slot >= first
            {
                let nullable = part.nullable;
                *part =
                    Expr { nullable, coercibility: part.coercibility, ..self.columns[slot - first].clone() };
            }
        });
        Ok(expr)
    }

    /// Returns what CHECK OPTION demands of the table's rows. `None` if it demands nothing.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub fn check(&self, binder: &mut Binder<'_>) -> Result<Option<ViewCheck>> {
        if self.checks.is_empty() {
            return Ok(None);
        }
        let conditions: Result<Vec<Expr>> = self.checks.iter().map(|check| binder.copied(check)).collect();
        let view = format!("{}.{}", self.named().schema, self.named().org_table);
        Ok(Some(ViewCheck { conditions: conditions?, base: 0, view }))
    }

    /// Returns the conditions that hold for the rows that are visible through the view.
    pub fn into_filter(self) -> Vec<Expr> {
        self.filter
    }

    /// Checks that the account with whose rights the table is changed has the wanted privilege.
    ///
    /// # Errors
    /// Returns 1356 (`ER_VIEW_INVALID`) when it has not.
    pub fn check_rights(&self, binder: &Binder<'_>, wanted: &Wanted<'_>) -> Result<()> {
        check_holder(binder, (self.holder.as_ref(), &self.table), self.named(), wanted)
    }
}

fn leaf_slots(leaf: &Leaf) -> std::ops::Range<usize> {
    leaf.base..leaf.base + leaf.columns
}

/// Moves the slots of the table that begins at `base` down to 0. The slots of other tables become
/// NULL, since nothing is known of the rows of those tables.
fn move_down(expr: &mut Expr, base: usize, columns: usize) {
    expr.change(&mut |part| {
        if let Node::Slot(slot) = part.node {
            match (base..base + columns).contains(&slot) {
                true => part.node = Node::Slot(slot - base),
                false => part.node = Node::Constant(Value::Null),
            }
        }
    });
}
