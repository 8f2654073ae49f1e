//! Transactions that have ended and whose memory the next one of the same owner takes.
//!
//! A transaction is a value of some 1,600 bytes with buffers. To make one and to drop it takes more
//! instructions than a short transaction's read, so an owner of many transactions, one after the
//! other, keeps the one that has ended.

use super::Transaction;
use super::mode::{ForeignKeys, Isolation};
use super::row_access::RowAccess;
use crate::Engine;
use std::sync::Arc;

/// The memory of a transaction that has ended. It has no lock, no snapshot, no table, no change and
/// no memory of a budget.
pub struct SpentTransaction(Box<Transaction>);

impl SpentTransaction {
    /// Ends a transaction as dropping it does, and keeps its memory.
    pub(super) fn new(mut transaction: Box<Transaction>) -> SpentTransaction {
        transaction.end_without_commit();
        // Each part is named, so that a new one cannot be forgotten.
        let Transaction { rows, read_only, defines } = &mut *transaction;
        let RowAccess { engine: _, view, tables, locks, changes, last_read, foreign_keys, rows_read } = rows;
        assert!(!view.is_open(), "a transaction that has ended has no snapshot");
        assert_eq!(*rows_read, 0, "a transaction that has ended has passed its counts on");
        *last_read = None;
        tables.spend();
        locks.spend();
        changes.spend();
        *foreign_keys = ForeignKeys::Enforced;
        (*read_only, *defines) = (false, false);
        SpentTransaction(transaction)
    }

    /// Begins a transaction of its engine, which is as a new one in every respect. `journalled`
    /// says whether a part of it can be taken back.
    pub(crate) fn begin(
        self,
        engine: &Arc<Engine>,
        isolation: Isolation,
        journalled: bool,
    ) -> Box<Transaction> {
        let mut transaction = self.0;
        let RowAccess { engine: its, view, locks, changes, .. } = &mut transaction.rows;
        assert!(Arc::ptr_eq(its, engine), "a transaction stays in its engine");
        let config = &engine.config;
        (view.isolation, view.autocommit) = (isolation, false);
        locks.begin(
            engine.locks.owner_id(),
            (config.innodb_lock_wait_timeout_ms, config.lock_wait_timeout_ms),
        );
        changes.begin(engine, journalled);
        transaction
    }
}
