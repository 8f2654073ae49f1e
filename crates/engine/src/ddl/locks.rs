//! The metadata locks of one DDL statement.
//!
//! A statement keeps others out while it changes a definition, and may let them in while it builds
//! something that they do not see yet. Dropping the locks releases them.

use super::context::DdlContext;
use crate::error::Result;
use crate::lock::{LockId, LockOwner, LockTable, LockType, OwnerKind, Patience};
use crate::transaction::locked_tables::LockedTables;

/// The exclusive metadata locks of one statement, which are released when this value is dropped.
pub(super) struct MetadataLocks<'e> {
    table: &'e LockTable,
    owner: LockOwner,
    timeout_ms: u64,
    /// The tables that the session has locked before the statement and keeps locked after it.
    locked_tables: Option<&'e LockedTables>,
}

impl Drop for MetadataLocks<'_> {
    fn drop(&mut self) {
        self.table.release_all(&mut self.owner);
        self.table.retire(self.owner.id());
    }
}

impl<'e> MetadataLocks<'e> {
    /// Returns a value that holds no lock yet. If the context says no timeout, each wait lasts
    /// `timeout_ms` milliseconds at most.
    pub fn new(table: &'e LockTable, context: &DdlContext<'e>, timeout_ms: u64) -> MetadataLocks<'e> {
        let mut owner = table.owner();
        owner.set_important();
        if let Some(interrupt) = context.lock_interrupt.as_ref().or(context.interrupt.as_ref()) {
            owner.set_interrupt(interrupt.clone());
        }
        if let Some(locked) = context.locked_tables {
            owner.set_works_under(locked.owner_id());
        }
        table.introduce(owner.id(), OwnerKind::Statement, context.interrupt.clone());
        let timeout_ms = context.lock_timeout_ms.unwrap_or(timeout_ms);
        MetadataLocks { table, owner, timeout_ms, locked_tables: context.locked_tables }
    }

    fn is_locked(&self, schema: &str, table: &str) -> bool {
        self.locked_tables.is_some_and(|locked| locked.has(schema, table))
    }

    pub fn lock(&mut self, schema: &str, table: &str, mode: LockType) -> Result<()> {
        if self.is_locked(schema, table) {
            return Ok(());
        }
        let id = LockId::metadata(schema, table);
        let describe = || format!("metadata of table `{schema}`.`{table}`");
        let patience = Patience { timeout_ms: self.timeout_ms, describe: &describe, row: None };
        self.table.acquire(&mut self.owner, id, mode, patience)?;
        Ok(())
    }

    /// Locks a table against every use, and its schema against being dropped. Other DDL stays
    /// locked out of the table even while [`MetadataLocks::let_others_in`] is in force.
    pub fn lock_table(&mut self, schema: &str, table: &str) -> Result<()> {
        self.lock_definition(schema, table)?;
        self.keep_others_out(schema, table)
    }

    /// Locks a table's definition against other DDL, and its schema against being dropped. Others
    /// may use the table.
    pub fn lock_definition(&mut self, schema: &str, table: &str) -> Result<()> {
        self.lock(schema, "", LockType::Shared)?;
        if self.is_locked(schema, table) {
            return Ok(());
        }
        let upgradable = LockId::upgradable_metadata(schema, table);
        let describe = || format!("definition of table `{schema}`.`{table}`");
        let patience = Patience { timeout_ms: self.timeout_ms, describe: &describe, row: None };
        self.table.acquire(&mut self.owner, upgradable, LockType::Exclusive, patience)?;
        Ok(())
    }

    /// Lets transactions use a locked table, unless the session has locked it before. The table's
    /// definition stays locked.
    pub fn let_others_in(&mut self, schema: &str, table: &str) {
        if self.is_locked(schema, table) {
            return;
        }
        self.table.release(&mut self.owner, LockId::metadata(schema, table));
    }

    /// Locks the table against every use again, if it is not locked so.
    pub fn keep_others_out(&mut self, schema: &str, table: &str) -> Result<()> {
        self.lock(schema, table, LockType::Exclusive)
    }
}
