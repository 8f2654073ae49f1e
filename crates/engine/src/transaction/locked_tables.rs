//! Tables that a session has locked (`LOCK TABLES`): their metadata locks outlive its transactions,
//! which take none of their own on them.
//!
//! A table locked READ keeps out whoever changes rows, locks them to change them, or changes the
//! definition; one locked WRITE everybody else.

use crate::catalog::Catalog;
use crate::error::{EngineError, Result};
use crate::lock::{LockId, LockOwner, LockTable, LockType, OwnerId, Patience};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What `LOCK TABLES` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLock {
    /// Nobody changes the table.
    Read,
    /// Nobody else uses it.
    Write,
}

/// Locked tables; dropped, they are unlocked.
pub struct LockedTables {
    table: Arc<LockTable>,
    locks: LockOwner,
    tables: Vec<(String, String)>,
}

impl LockedTables {
    /// Locks tables: schema, name, and how. Waits for each for up to `timeout_ms`, or until
    /// `interrupt` becomes true.
    ///
    /// # Errors
    /// [`EngineError::UnknownTable`], of a table that was dropped while it was waited for, too;
    /// [`EngineError::LockWaitTimeout`], [`EngineError::Deadlock`], [`EngineError::Interrupted`].
    /// None is locked then.
    pub(crate) fn new(
        (table, catalog): (&Arc<LockTable>, &Catalog),
        tables: &[(String, String, TableLock)],
        timeout_ms: u64,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<LockedTables> {
        let mut locks = table.owner();
        // As with MySQL a transaction gives way, not who locks tables.
        locks.set_important();
        if let Some(interrupt) = interrupt {
            locks.set_interrupt(interrupt);
        }
        let mut locked = LockedTables { table: table.clone(), locks, tables: Vec::new() };
        // Sessions that lock several take them in the same order.
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

    /// Locks as the statement does that changes the definition, so that one that is under way is
    /// waited for.
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

    /// Whether the table is locked, in whatever way.
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
    }
}
