//! The tables that a session has locked (`LOCK TABLES`). Their metadata locks outlive the session's
//! transactions, which take no metadata locks of their own on them.
//!
//! A table locked READ keeps out sessions that change rows, lock rows to change them, or change the
//! definition. A table locked WRITE keeps out everybody else.

use crate::catalog::Catalog;
use crate::error::{EngineError, Result};
use crate::lock::{LockId, LockOwner, LockTable, LockType, OwnerId, OwnerKind, Patience};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The lock that `LOCK TABLES` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLock {
    /// Nobody changes the table.
    Read,
    /// Nobody else uses the table.
    Write,
}

/// Locked tables. Dropping this value unlocks them.
pub struct LockedTables {
    table: Arc<LockTable>,
    locks: LockOwner,
    tables: Vec<(String, String)>,
}

impl LockedTables {
    /// Locks tables, each given by its schema, its name and the kind of lock. Waits for each lock
    /// up to `timeout_ms` milliseconds, or until `interrupt` becomes true.
    ///
    /// # Errors
    /// Returns [`EngineError::UnknownTable`], also for a table that was dropped during the wait for
    /// its lock, [`EngineError::LockWaitTimeout`], [`EngineError::Deadlock`] or
    /// [`EngineError::Interrupted`]. After an error no table is locked.
    pub(crate) fn new(
        (table, catalog): (&Arc<LockTable>, &Catalog),
        tables: &[(String, String, TableLock)],
        timeout_ms: u64,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<LockedTables> {
        let mut locks = table.owner();
        // As in MySQL, a transaction gives way to a session that locks tables.
        locks.set_important();
        table.introduce(locks.id(), OwnerKind::LockTables, interrupt.clone());
        if let Some(interrupt) = interrupt {
            locks.set_interrupt(interrupt);
        }
        let mut locked = LockedTables { table: table.clone(), locks, tables: Vec::new() };
        // Sessions that lock several tables take the locks in the same order.
        let mut tables = tables.to_vec();
        tables.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        for (schema, name, how) in tables {
            locked.lock(&schema, &name, how, timeout_ms)?;
            if catalog.table(&schema, &name).is_none() {
                return Err(EngineError::UnknownTable(schema, name));
            }
            locked.tables.push((schema, name));
        }
        Ok(locked)
    }

    /// Takes the locks that a statement which changes the definition takes, so that such a
    /// statement that is under way is waited for.
    fn lock(&mut self, schema: &str, name: &str, how: TableLock, timeout_ms: u64) -> Result<()> {
        self.acquire(LockId::metadata(schema, ""), LockType::Shared, timeout_ms, schema)?;
        let mode = match how {
            TableLock::Read => LockType::SharedReadOnly,
            TableLock::Write => {
                let definition = LockId::upgradable_metadata(schema, name);
                self.acquire(definition, LockType::Exclusive, timeout_ms, name)?;
                LockType::Exclusive
            }
        };
        self.acquire(LockId::metadata(schema, name), mode, timeout_ms, name)
    }

    fn acquire(&mut self, id: LockId, mode: LockType, timeout_ms: u64, what: &str) -> Result<()> {
        let describe = || format!("metadata of `{what}`");
        let patience = Patience { timeout_ms, describe: &describe, row: None };
        self.table.acquire(&mut self.locks, id, mode, patience)?;
        Ok(())
    }

    /// Reports whether the table is locked, in whatever way.
    pub(crate) fn has(&self, schema: &str, name: &str) -> bool {
        self.tables.iter().any(|(of, table)| table == name && of == schema)
    }

    pub(crate) fn owner_id(&self) -> OwnerId {
        self.locks.id()
    }
}

impl fmt::Debug for LockedTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LockedTables").field(&self.tables).finish()
    }
}

impl Drop for LockedTables {
    fn drop(&mut self) {
        self.table.release_all(&mut self.locks);
        self.table.retire(self.locks.id());
    }
}
