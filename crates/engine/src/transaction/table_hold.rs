//! Tables that a thread of a replica keeps open over many transactions. The next transaction is
//! mostly about the same tables, and with a metadata lock for each transaction all threads would
//! contend for that lock.

use super::Transaction;
use super::mode::Isolation;
use super::spent::SpentTransaction;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, LockId, LockOwner, LockType, OwnerId, Patience};
use crate::table::Table;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Metadata locks on tables whose rows are changed. DDL waits for them, so a thread that has them
/// should release them often: [`TableHold::release`].
///
/// Invariant: a hold never waits for a table while it has another one, because DDL about both
/// tables could wait for that one. A transaction that waits for a row while its tables are held is
/// seen by the search for deadlocks, which takes DDL that waits for the hold as waiting for that
/// transaction.
pub struct TableHold {
    engine: Arc<Engine>,
    locks: LockOwner,
    tables: Vec<Arc<Table>>,
    /// The memory of a transaction that was begun here and has ended, for the next one.
    spent: Option<SpentTransaction>,
}

impl TableHold {
    /// Returns a hold without any table.
    pub fn new(engine: Arc<Engine>) -> TableHold {
        TableHold { locks: engine.locks.owner(), engine, tables: Vec::new(), spent: None }
    }

    /// Sets the flag that ends the waits of this hold, and those of the transactions that it
    /// begins, with [`EngineError::Interrupted`] when it becomes true.
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.locks.set_interrupt(interrupt);
    }

    pub(super) fn owner_id(&self) -> OwnerId {
        self.locks.id()
    }

    /// Returns the engine that the tables are in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Reports whether the table is held.
    pub fn holds(&self, table: &Arc<Table>) -> bool {
        self.tables.iter().any(|held| Arc::ptr_eq(held, table))
    }

    /// Holds a table. With `wait`, and if no other table is held, this waits for DDL for up to
    /// `lock_wait_timeout`.
    ///
    /// # Errors
    /// Returns [`EngineError::TableChanged`] when the table is not the one that the catalog has
    /// now, [`EngineError::LockWaitTimeout`], or [`EngineError::LockNotAvailable`] when it would
    /// have to wait and may not. In the last case the caller releases the hold and begins with this
    /// table.
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

    /// Releases every table. No transaction begun here may be open.
    pub fn release(&mut self) {
        self.tables.clear();
        self.engine.locks.release_all(&mut self.locks);
    }

    /// Begins a transaction that applies changes of a source. Until the hold is released it may use
    /// the tables that are held, and no others.
    pub fn begin_apply(&mut self) -> Box<Transaction> {
        let mut transaction = match self.spent.take() {
            Some(spent) => spent.begin(&self.engine, Isolation::ReadCommitted, false),
            None => self.engine.begin_apply(),
        };
        transaction.rows.tables.held = true;
        transaction.rows.locks.owner.set_works_for(&self.locks);
        transaction
    }

    /// Ends a transaction as dropping it does, and keeps its memory for the next one.
    pub fn spend(&mut self, transaction: Box<Transaction>) {
        self.spent = Some(SpentTransaction::new(transaction));
    }

    /// Begins a transaction that reads what is committed now, beside another one of the same
    /// session. It may read the tables that the other one uses, by whose metadata locks they stay
    /// as they are, and changes nothing.
    pub fn begin_beside(engine: &Arc<Engine>) -> Transaction {
        let mut transaction = engine.begin(Isolation::RepeatableRead);
        transaction.rows.tables.held = true;
        transaction
    }

    /// Begins a transaction for a source's statements, and for rows between them. It takes the
    /// locks of its tables itself.
    pub fn begin_apply_statements(&self) -> Box<Transaction> {
        let mut transaction = Box::new(self.engine.begin(Isolation::RepeatableRead));
        transaction.rows.locks.owner.set_works_for(&self.locks);
        transaction
    }
}

impl Drop for TableHold {
    fn drop(&mut self) {
        self.release();
    }
}
