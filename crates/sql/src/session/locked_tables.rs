//! LOCK TABLES, UNLOCK TABLES, and what may be done in between.

use super::Session;
use super::state::TableLocks;
use crate::ast::{Statement, TableName, TableToLock};
use crate::bind::{LockedName, LockedNames};
use crate::error::{Result, SqlError};
use crate::host::Privilege;
use engine::TableLock;
use std::sync::Arc;

impl Session {
    /// Commits, lets go what was locked before, and locks; whatever of it fails, nothing is locked
    /// then.
    pub(super) fn lock_tables(&mut self, tables: &[TableToLock]) -> Result<()> {
        self.commit_transaction()?;
        self.let_tables_go();
        let mut names = LockedNames::new(&self.server.memory);
        for wanted in tables {
            self.server.check_interrupt()?;
            if self.temporary.has(&self.settings.schema_of(&wanted.table)?, &wanted.table.name) {
                // Nobody else has it.
                continue;
            }
            if self.is_view(&wanted.table)? {
                // Its tables are locked by their own names.
                self.check_lock(&wanted.table)?;
                continue;
            }
            names.add(self.name_to_lock(wanted)?)?;
        }
        let mut wanted: Vec<(String, String, TableLock)> = Vec::new();
        for name in names.all() {
            let how = if name.write { TableLock::Write } else { TableLock::Read };
            match wanted.iter_mut().find(|(schema, table, _)| *schema == name.schema && *table == name.table)
            {
                // The stronger one counts for all names of a table.
                Some((.., known)) if name.write => *known = how,
                Some(_) => {}
                None => wanted.push((name.schema.clone(), name.table.clone(), how)),
            }
        }
        let timeout_ms = self.settings.variables.lock_wait_timeout_s * 1000;
        let locked =
            self.server.engine.lock_tables(&wanted, timeout_ms, Some(self.server.interrupt.clone()))?;
        self.locks.tables = Some(TableLocks { tables: Arc::new(locked), names });
        self.invalidate_plans();
        Ok(())
    }

    fn is_view(&self, name: &TableName) -> Result<bool> {
        let schema = self.settings.schema_of(name)?;
        Ok(self.server.engine.catalog().object(&schema, engine::ObjectKind::View, &name.name).is_some())
    }

    fn check_lock(&self, name: &TableName) -> Result<()> {
        let schema = self.settings.schema_of(name)?;
        self.server.host.check_privilege(Privilege::LockTables, Some(&schema), None)?;
        self.server.host.check_privilege(Privilege::Select, Some(&schema), Some(&name.name))
    }

    fn name_to_lock(&self, wanted: &TableToLock) -> Result<LockedName> {
        let TableToLock { table: name, alias, write } = wanted;
        self.check_lock(name)?;
        let table = self.binder().stored_table(name)?;
        let (schema, of) = (&table.def.schema, &table.def.name);
        if *write {
            self.check_writable()?;
            self.check_session_writable()?;
        }
        let shown = alias.as_ref().unwrap_or(&name.name).clone();
        Ok(LockedName { schema: schema.clone(), table: of.clone(), shown, write: *write })
    }

    /// UNLOCK TABLES commits what was done under LOCK TABLES; a snapshot that was taken under the
    /// global read lock outlives it.
    pub(super) fn unlock_tables(&mut self) -> Result<()> {
        self.locks.read_lock = None;
        if self.locks.has_tables() {
            self.commit_transaction()?;
            self.let_tables_go();
        }
        Ok(())
    }

    /// Unlocks; no transaction is open.
    pub(super) fn let_tables_go(&mut self) {
        if self.locks.let_tables_go() {
            self.invalidate_plans();
        }
    }

    /// Under LOCK TABLES a statement about definitions may be about tables that are locked WRITE.
    pub(super) fn check_locked_for_ddl(&self, statement: &Statement) -> Result<()> {
        let Some(names) = self.locks.names() else { return Ok(()) };
        let tables: Vec<&TableName> = match statement {
            Statement::CreateTable(create) => vec![&create.table],
            Statement::AlterTable(alter) => vec![&alter.table],
            Statement::DropTable { tables, .. } => tables.iter().collect(),
            Statement::RenameTable { pairs, .. } => pairs.iter().map(|(from, _)| from).collect(),
            Statement::Truncate(table) => vec![table],
            Statement::CreateObject(create) => match &create.details {
                crate::ast::ObjectDetails::Trigger(trigger) => vec![&trigger.table],
                _ => return Err(active_locks()),
            },
            Statement::AlterRoutine(_) | Statement::AlterEvent(_) => return Err(active_locks()),
            Statement::CreateIndex { table, .. } | Statement::DropIndex { table, .. } => vec![table],
            Statement::CreateSchema { .. } | Statement::DropSchema { .. } | Statement::AlterSchema { .. } => {
                return Err(active_locks());
            }
            _ => return Ok(()),
        };
        tables
            .into_iter()
            .try_for_each(|name| names.allow_change(&self.settings.schema_of(name)?, &name.name))
    }
}

/// Error 1192.
pub(super) fn active_locks() -> SqlError {
    let text =
        "Can't execute the given command because you have active locked tables or an active transaction";
    SqlError::new(1192, text)
}
