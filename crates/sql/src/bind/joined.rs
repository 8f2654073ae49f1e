//! The joined tables of an UPDATE or a DELETE of several tables, of which it changes some.

use super::query::{From, mark_used};
use super::{Binder, Place, Scope, TableUse};
use crate::ast::{self, TableRef};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::host::{Host, Privilege};
use crate::optimize::Freedom;
use crate::plan::{RowLock, Source, TableStep, Wish, conjuncts};
use engine::Table;
use std::sync::Arc;

/// FROM and WHERE, bound.
pub(crate) struct JoinedTables {
    pub scope: Scope,
    from: From,
    conditions: Vec<Expr>,
}

/// The loops over joined tables. The keys of the rows that are changed are in slots of their own,
/// behind those of the columns.
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
    let (scope, from) = binder.from(Some(from), table_use, None)?;
    let mut conditions = Vec::new();
    if let Some(written) = filter {
        conjuncts(binder.expr(written, &mut Place::new(&scope, "where clause"))?, &mut conditions);
    }
    Ok(JoinedTables { scope, from, conditions })
}

impl JoinedTables {
    /// The stored table at a position of the scope, which the statement is to change.
    ///
    /// # Errors
    /// 1288 of a derived table; 1099 under LOCK TABLES READ; 1235 of a view.
    pub fn to_change(&self, binder: &Binder<'_>, position: usize, statement: &str) -> Result<Arc<Table>> {
        let named = &self.scope.tables[position];
        let Source::Stored { table, .. } = &self.from.tables[position].source else {
            let (schema, name) = (&named.schema, &named.org_table);
            if binder.engine.catalog().object(schema, engine::ObjectKind::View, name).is_some() {
                let text = format!("{statement} of several tables, of which {} is a view", named.alias);
                return Err(SqlError::not_supported(text));
            }
            let text = format!("The target table {} of the {statement} is not updatable", named.alias);
            return Err(SqlError::new(1288, text));
        };
        if !table.is_temporary() {
            binder.locked.check_to_change(&named.schema, &named.org_table, &named.alias)?;
        }
        Ok(table.clone())
    }

    /// The loops, in which the rows of these tables of the scope are locked to be changed, and what
    /// these expressions look at is read. The key of the `n`th of them is in the `n`th slot behind
    /// the columns.
    pub fn plan<'e>(
        self,
        binder: &mut Binder<'_>,
        changed: &[usize],
        used: impl Iterator<Item = &'e Expr>,
    ) -> Result<Join> {
        let JoinedTables { scope, from, conditions } = self;
        let (mut tables, preconditions) =
            binder.steps(from, conditions, Freedom::None, |_| Wish::default())?;
        for (nth, position) in changed.iter().enumerate() {
            let base = scope.tables[*position].base;
            let step = tables.iter_mut().find(|step| step.base == base).expect("each table has a step");
            step.lock = RowLock::UPDATE;
            step.key_slot = Some(scope.slots() + nth);
        }
        let mut slots = Vec::new();
        used.for_each(|expr| expr.slots(&mut slots));
        mark_used(&mut tables, slots);
        Ok(Join { tables, preconditions, slots: scope.slots() + changed.len() })
    }
}

/// Checks the privilege to change a table's columns with these names: as MySQL does for several
/// tables, column by column (1143), wherever it is held.
pub(crate) fn check_columns_to_change(
    host: &dyn Host,
    table: &Table,
    columns: &mut dyn Iterator<Item = &str>,
) -> Result<()> {
    let (schema, name) = (&table.def.schema, &table.def.name);
    for column in columns.filter(|_| !table.is_temporary()) {
        host.check_column(Privilege::Update, schema, name, column)?;
    }
    Ok(())
}
