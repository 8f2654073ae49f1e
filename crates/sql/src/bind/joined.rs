//! The joined tables of an UPDATE or a DELETE of several tables, of which the statement changes
//! some.

use super::changed_view::{ViewCheck, Wanted, check_holder, leaf_of, no_column, no_delete_from_join};
use super::query::{BlockHints, From, Merged, mark_used, merge};
use super::zero_dates::{find_made_zero_dates, find_zero_dates};
use super::{Binder, Place, Scope, ScopeTable, TableUse};
use crate::ast::{self, TableRef};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::host::{Host, Privilege};
use crate::optimize::Freedom;
use crate::plan::{Holder, Leaf, RowLock, Source, TableStep, Wish, conjuncts};
use engine::Table;
use std::sync::Arc;

/// The bound FROM and WHERE. The tables of views that may be changed stand in FROM in place of
/// their views.
pub(crate) struct JoinedTables {
    pub scope: Scope,
    from: From,
    conditions: Vec<Expr>,
    merged: Merged,
    /// The number of slots of all tables and of the columns of views.
    pub slots: usize,
}

/// A table of a join that the statement changes.
pub(crate) struct ToChange {
    /// The table's position among the tables of FROM.
    pub leaf: usize,
    pub table: Arc<Table>,
    /// The first of the table's slots.
    pub base: usize,
    /// The position in the scope of the table that the statement names: this table, or a view of
    /// it.
    pub named: usize,
    /// The table's rows are changed through a view.
    pub is_of_view: bool,
    holder: Option<Arc<Holder>>,
}

/// The nested loops over the joined tables. The keys of the rows that are changed are in slots of
/// their own, behind those of the columns.
pub(crate) struct Join {
    pub tables: Vec<TableStep>,
    pub preconditions: Vec<Expr>,
    pub slots: usize,
}

/// Binds the tables and the conditions.
pub(crate) fn bind_joined(
    binder: &mut Binder<'_>,
    from: &TableRef,
    filter: Option<&ast::Expr>,
    table_use: TableUse,
) -> Result<JoinedTables> {
    let hints = BlockHints::of_statement(binder);
    let (scope, mut from) = binder.from(Some(from), table_use, None)?;
    from.take_hints(binder, &hints);
    let mut conditions = Vec::new();
    if let Some(written) = filter {
        conjuncts(binder.expr(written, &mut Place::new(&scope, "where clause"))?, &mut conditions);
        find_zero_dates(binder, &scope, None, &mut conditions);
    }
    let mut slots = scope.slots();
    let merged = merge(binder, &mut from, &mut conditions, &mut slots, &scope, true)?;
    find_made_zero_dates(binder, &scope, &from, &mut conditions);
    Ok(JoinedTables { scope, from, conditions, merged, slots })
}

impl JoinedTables {
    /// Returns the table of FROM that a slot of the scope belongs to, which the statement is to
    /// change, and the column's position in that table.
    ///
    /// # Errors
    /// Returns 1288 for a derived table and for a view that cannot be changed, 1348 when the slot
    /// is an expression of a view, and 1099 when LOCK TABLES holds a READ lock on the table.
    pub fn column_to_change(
        &self,
        binder: &Binder<'_>,
        slot: usize,
        name: &str,
    ) -> Result<(ToChange, usize)> {
        let Some((named, at)) = self.scope.of_slot(slot) else { unreachable!("a slot belongs to a table") };
        let own = named.column(at);
        let column = self.merged.column(slot).unwrap_or(&own);
        let (leaf, at) = leaf_of(&self.from.tables, column).ok_or_else(|| no_column(name))?;
        Ok((self.to_change(binder, named.base, leaf, "UPDATE")?, at))
    }

    /// Returns the table that the statement deletes from: the one at a position of the scope, or
    /// the only table of the view at that position.
    ///
    /// # Errors
    /// Returns 1288 for a derived table and for a view that cannot be changed, 1395 for a view of
    /// several tables, and 1099 when LOCK TABLES holds a READ lock on the table.
    pub fn table_to_delete_from(&self, binder: &Binder<'_>, position: usize) -> Result<ToChange> {
        let named = &self.scope.tables[position];
        let is_of_it = |leaf: &Leaf| self.merged.base_around(leaf.base) == named.base;
        let leaves = self.from.tables.iter().enumerate();
        let mut leaves = leaves.filter(|(_, leaf)| is_of_it(leaf)).map(|(at, _)| at);
        match (leaves.next(), leaves.next()) {
            (Some(leaf), None) => self.to_change(binder, named.base, leaf, "DELETE"),
            _ => Err(no_delete_from_join(&named.schema, &named.org_table)),
        }
    }

    /// Returns the table at the position `leaf` of FROM. `base` is the first slot of the table or
    /// view in the scope that it belongs to.
    fn to_change(&self, binder: &Binder<'_>, base: usize, leaf: usize, statement: &str) -> Result<ToChange> {
        let position = self.scope.tables.iter().position(|table| table.base == base);
        let position = position.expect("each slot of the scope has a table");
        let (named, of) = (&self.scope.tables[position], &self.from.tables[leaf]);
        let Source::Stored { table, .. } = &of.source else {
            return Err(SqlError::not_updatable(&named.alias, statement));
        };
        let is_of_view = of.base != base;
        if is_of_view {
            binder.locked.use_within_view(&table.def.schema, &table.def.name, true)?;
        } else if !table.is_temporary() {
            binder.locked.check_to_change(&named.schema, &named.org_table, &named.alias)?;
        }
        let (table, base, holder) = (table.clone(), of.base, of.holder.clone());
        Ok(ToChange { leaf, table, base, named: position, is_of_view, holder })
    }

    /// Rewrites an expression over the columns of the scope into one over the columns of the tables
    /// of FROM.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub fn resolve(&self, binder: &mut Binder<'_>, mut expr: Expr) -> Result<Expr> {
        self.merged.expand(binder, &mut expr)?;
        Ok(expr)
    }

    /// Returns what CHECK OPTION of the view through which a table is changed demands. `None` if it
    /// demands nothing.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub fn check(&self, binder: &mut Binder<'_>, changed: &ToChange) -> Result<Option<ViewCheck>> {
        let named = &self.scope.tables[changed.named];
        let mut conditions = Vec::new();
        for (base, check) in &self.merged.checks {
            if *base == named.base {
                conditions.push(binder.copied(check)?);
            }
        }
        let view = format!("{}.{}", named.schema, named.org_table);
        Ok((!conditions.is_empty()).then_some(ViewCheck { conditions, base: changed.base, view }))
    }

    /// Checks that the account with whose rights a table is changed through a view has the wanted
    /// privilege.
    ///
    /// # Errors
    /// Returns 1356 (`ER_VIEW_INVALID`) when it has not.
    pub fn check_rights(&self, binder: &Binder<'_>, changed: &ToChange, wanted: &Wanted<'_>) -> Result<()> {
        match changed.is_of_view {
            true => {
                let table = (changed.holder.as_ref(), &*changed.table);
                check_holder(binder, table, &self.scope.tables[changed.named], wanted)
            }
            false => Ok(()),
        }
    }

    /// Plans the nested loops. They lock the rows of the tables at the positions `changed` of FROM
    /// for UPDATE, and read the columns in the slots `used`, too. The key of the `n`th changed
    /// table is in the `n`th slot behind the columns.
    pub fn plan(self, binder: &mut Binder<'_>, changed: &[usize], used: Vec<usize>) -> Result<Join> {
        let JoinedTables { from, conditions, slots: first_key_slot, .. } = self;
        let bases: Vec<usize> = changed.iter().map(|leaf| from.tables[*leaf].base).collect();
        let (mut tables, preconditions) =
            binder.steps(from, conditions, Freedom::None, |_| Wish::default())?;
        assert!(
            tables.iter().all(|step| step.base + step.columns <= first_key_slot),
            "the keys lie behind the columns"
        );
        for (nth, base) in bases.iter().enumerate() {
            let step = tables.iter_mut().find(|step| step.base == *base).expect("each table has a step");
            step.lock = RowLock::UPDATE;
            step.key_slot = Some(first_key_slot + nth);
        }
        mark_used(&mut tables, used);
        Ok(Join { tables, preconditions, slots: first_key_slot + changed.len() })
    }
}

/// Checks the privilege to change columns with these names of a table or view. As MySQL does for
/// several tables, the privilege is checked column by column (error 1143), even where it is held on
/// the whole table.
pub(crate) fn check_columns_to_change(
    host: &dyn Host,
    named: &ScopeTable,
    columns: &mut dyn Iterator<Item = &str>,
) -> Result<()> {
    for column in columns {
        host.check_column(Privilege::Update, &named.schema, &named.org_table, column)?;
    }
    Ok(())
}
