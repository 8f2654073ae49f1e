//! Tables that a thread of a replica keeps open over many transactions: the next transaction is
//! mostly about the same ones, and a metadata lock for each would be the one thing that all threads
//! fight for.

use super::{Isolation, Transaction};
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, LockId, LockOwner, LockType, OwnerId, Patience};
use crate::table::Table;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Metadata locks on tables whose rows are changed. DDL waits for them, so whoever has one lets go
/// often: [`TableHold::release`].
///
/// Invariant: it never waits for a table while it has another, for DDL about both could wait for
/// that one. A transaction that waits for a row while its tables are held is found by the search
/// for deadlocks, for whom DDL that waits for the hold waits.
pub struct TableHold {
    engine: Arc<Engine>,
    locks: LockOwner,
    tables: Vec<Arc<Table>>,
}

impl TableHold {
    /// Holds nothing.
    pub fn new(engine: Arc<Engine>) -> TableHold {
        TableHold { locks: engine.locks.owner(), engine, tables: Vec::new() }
    }

    /// Sets the flag that ends its waits, and those of the transactions that it begins, with
    /// [`EngineError::Interrupted`] when it becomes true.
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.locks.set_interrupt(interrupt);
    }

    pub(super) fn owner_id(&self) -> OwnerId {
        self.locks.id()
    }

    /// The engine that the tables are in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether the table is held.
    pub fn holds(&self, table: &Arc<Table>) -> bool {
        self.tables.iter().any(|held| Arc::ptr_eq(held, table))
    }

    /// Holds a table. With `wait` and no other table held it waits for DDL for up to
    /// `lock_wait_timeout`.
    ///
    /// # Errors
    /// [`EngineError::TableChanged`] when the table is not what the catalog has now;
    /// [`EngineError::LockWaitTimeout`]; [`EngineError::LockNotAvailable`] when it would have to
    /// wait and may not: release, and begin with this table.
    pub fn hold(&mut self, table: &Arc<Table>, wait: bool) -> Result<()> {
        if self.holds(table) {
            return Ok(());
        }
        let (schema, name) = (&table.def.schema, &table.def.name);
        let describe = || format!("metadata of table `{schema}`.`{name}`");
        let (locks, id) = (&self.engine.locks, LockId::metadata(schema, name));
        let acquired = match locks.try_acquire(&mut self.locks, id, LockType::SharedWrite) {
            Some(acquired) => acquired,
            None if !wait || self.locks.held() > 0 => return Err(EngineError::LockNotAvailable),
            None => {
                let timeout_ms = self.engine.config.lock_wait_timeout_ms;
                let patience = Patience { timeout_ms, describe: &describe, row: None };
                locks.acquire(&mut self.locks, id, LockType::SharedWrite, patience)?
            }
        };
        match self.engine.catalog.table_by_id(table.id) {
            Some(current) if Arc::ptr_eq(&current, table) => self.tables.push(current),
            _ => {
                if acquired == Acquired::New {
                    locks.release(&mut self.locks, id);
                }
                return Err(EngineError::TableChanged(name.clone()));
            }
        }
        Ok(())
    }

    /// Lets every table go. No transaction begun here may be open.
    pub fn release(&mut self) {
        self.tables.clear();
        self.engine.locks.release_all(&mut self.locks);
    }

    /// Begins a transaction that applies a source's. It may use the tables that are held, and those
    /// only, until the hold is released.
    pub fn begin_apply(&self) -> Box<Transaction> {
        let mut transaction = self.engine.begin_apply();
        transaction.tables_held = true;
        transaction.locks.set_works_for(&self.locks);
        transaction
    }

    /// Begins a transaction for a source's statements, and for rows between them. It takes the
    /// locks of its tables itself.
    pub fn begin_apply_statements(&self) -> Box<Transaction> {
        let mut transaction = Box::new(self.engine.begin(Isolation::RepeatableRead));
        transaction.locks.set_works_for(&self.locks);
        transaction
    }
}

impl Drop for TableHold {
    fn drop(&mut self) {
        self.release();
    }
}
