//! FOR UPDATE and FOR SHARE: the tables whose rows they lock, and how.

use super::joined_tables::From;
use super::merge::Merged;
use crate::ast::{self, LockClause, LockStrength, LockWait};
use crate::bind::{Scope, ScopeTable};
use crate::error::{Result, SqlError};
use crate::host::Host;
use crate::plan::{RowLock, Source, TableStep};
use engine::{LockMode, OnLocked};

/// Checks that the account may lock the rows of the tables. This comes before the check that it may
/// read them.
pub(super) fn check_row_locks(
    host: &dyn Host,
    from: &From,
    scope: &Scope,
    clauses: &[LockClause],
) -> Result<()> {
    let to_change = clauses.iter().filter(|clause| clause.strength == LockStrength::Update);
    for clause in to_change {
        for (leaf, of) in from.tables.iter().zip(&scope.tables) {
            let is_asked = match &leaf.source {
                Source::Stored { table, .. } => !table.is_temporary(),
                Source::Virtual { .. } => false,
                // No privileges exist on a derived table, which has no schema. On a view there are
                // some.
                _ => !of.schema.is_empty(),
            };
            if !is_asked {
                continue;
            }
            let is_named = |name: &ast::TableName| leaf.alias.eq_ignore_ascii_case(&name.name);
            if clause.tables.is_empty() || clause.tables.iter().any(is_named) {
                host.check_row_locks(&of.schema, &of.org_table)?;
            }
        }
    }
    Ok(())
}

/// Gives the tables the locks that the query's clauses demand.
pub(super) fn set_locks(
    tables: &mut [TableStep],
    scope: &Scope,
    merged: &Merged,
    clauses: &[LockClause],
) -> Result<()> {
    for clause in clauses {
        let lock = RowLock {
            mode: match clause.strength {
                LockStrength::Share => LockMode::Share,
                LockStrength::Update => LockMode::Update,
            },
            on_locked: match clause.wait {
                LockWait::Wait => OnLocked::Wait,
                LockWait::NoWait => OnLocked::Fail,
                LockWait::SkipLocked => OnLocked::Skip,
            },
        };
        let named = |name: &ast::TableName| {
            let is_it = |table: &&ScopeTable| {
                table.alias.eq_ignore_ascii_case(&name.name)
                    && name.schema.as_ref().is_none_or(|schema| *schema == table.schema)
            };
            scope.tables.iter().find(is_it).map(|table| table.base)
        };
        let mut bases = Vec::with_capacity(clause.tables.len());
        for name in &clause.tables {
            let unresolved =
                || SqlError::new(3568, format!("Unresolved table name `{}` in locking clause.", name.name));
            bases.push(named(name).ok_or_else(unresolved)?);
        }
        let is_locked = |step: &&mut TableStep| bases.contains(&merged.base_around(step.base));
        for step in tables.iter_mut().filter(|step| bases.is_empty() || is_locked(step)) {
            if step.lock != RowLock::NONE {
                let base = merged.base_around(step.base);
                let alias = scope.tables.iter().find(|table| table.base == base);
                let alias = alias.map_or("", |table| &table.alias);
                return Err(SqlError::new(
                    3569,
                    format!("Table {alias} appears in multiple locking clauses."),
                ));
            }
            step.lock = lock;
        }
    }
    Ok(())
}
