//! Tables that a thread of a replica keeps open over many transactions: the next transaction is mostly about the same ones, and a metadata
//! lock for each would be the one thing that all threads fight for.

use super::Transaction;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::lock::{LockId, LockOwner, LockType, Patience};
use crate::table::Table;
use std::sync::Arc;

/// Metadata locks, shared, on tables. DDL waits for them, so whoever has one lets go often: [`TableHold::release`].
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

    /// The engine that the tables are in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether the table is held.
    pub fn holds(&self, table: &Arc<Table>) -> bool {
        self.tables.iter().any(|held| Arc::ptr_eq(held, table))
    }

    /// Holds a table. Waits for DDL for up to `lock_wait_timeout`, or not at all.
    ///
    /// # Errors
    /// [`EngineError::TableChanged`] when the table is not what the catalog has now; [`EngineError::LockWaitTimeout`].
    pub fn hold(&mut self, table: &Arc<Table>, wait: bool) -> Result<()> {
        if self.holds(table) {
            return Ok(());
        }
        let (schema, name) = (&table.def.schema, &table.def.name);
        let describe = || format!("metadata of table `{schema}`.`{name}`");
        let timeout_ms = if wait { self.engine.config.lock_wait_timeout_ms } else { 0 };
        let patience = Patience { timeout_ms, describe: &describe };
        self.engine.locks.acquire(
            &mut self.locks,
            LockId::metadata(schema, name),
            LockType::Shared,
            patience,
        )?;
        match self.engine.catalog.table_by_id(table.id) {
            Some(current) if Arc::ptr_eq(&current, table) => self.tables.push(current),
            _ => return Err(EngineError::TableChanged(name.clone())),
        }
        Ok(())
    }

    /// Lets every table go. No transaction begun here may be open.
    pub fn release(&mut self) {
        self.tables.clear();
        self.engine.locks.release_all(&mut self.locks);
    }

    /// Begins a transaction that applies a source's. It may use the tables that are held, and those only, until the hold is released.
    pub fn begin_apply(&self) -> Transaction {
        let mut transaction = self.engine.begin_apply();
        transaction.tables_held = true;
        transaction
    }
}

impl Drop for TableHold {
    fn drop(&mut self) {
        self.release();
    }
}
