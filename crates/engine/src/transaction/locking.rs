//! The locks of a transaction: on rows, on the gaps between them, and the announcement of keys that
//! it is about to insert.
//!
//! A transaction locks as in InnoDB, with these differences, none of which lets a phantom in:
//! - A row has one lock, on its clustered key. Entries of secondary indexes have no locks of their
//!   own. So two statements that come to a row through different indexes meet at the row.
//! - The record behind a scanned range is not locked, only the gap before it (as MySQL 8.0.18 and
//!   later do for the clustered index, and MariaDB does not).
//! - Transactions that insert the same key wait in line for the key's exclusive lock. InnoDB gives
//!   all of them the shared lock when the first rolls back, and then they deadlock.

use super::{Isolation, LockMode, Transaction};
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, CLUSTERED, LockId, LockType, OnLocked, Patience, RowName};
use crate::table::{SecondaryKey, Table};
use btree::{Direction, Tree};
use std::ops::Bound;

/// Returns the first key of a range of an index, in this direction.
pub(super) fn first_key(
    tree: &Tree,
    range: (Bound<&[u8]>, Bound<&[u8]>),
    direction: Direction,
) -> Result<Option<Vec<u8>>> {
    let mut scan = tree.scan(range.0, range.1, direction);
    Ok(scan.next()?.map(|(key, _)| key.to_vec()))
}

impl Transaction {
    /// Reports whether locking reads lock gaps, so that they find the same rows again.
    pub fn locks_gaps(&self) -> bool {
        matches!(self.isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Locks a row.
    pub(super) fn lock_row(&mut self, table: &Table, key: &[u8], mode: LockMode) -> Result<Acquired> {
        self.lock_key(table, CLUSTERED, key, lock_type(mode))
    }

    /// Locks a row, or does what `on_locked` says if another transaction has it locked. `None`
    /// means that the row is to be left out.
    pub(super) fn lock_row_unless(
        &mut self,
        table: &Table,
        key: &[u8],
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Acquired>> {
        if on_locked == OnLocked::Wait || table.is_temporary() {
            return self.lock_row(table, key, mode).map(Some);
        }
        self.memory.check(self.locks.held())?;
        let id = LockId::row(table.id, CLUSTERED, key);
        match self.engine.locks.try_acquire(&mut self.locks, id, lock_type(mode)) {
            None if on_locked == OnLocked::Fail => Err(EngineError::LockNotAvailable),
            acquired => Ok(acquired),
        }
    }

    /// Locks a key of an index.
    ///
    /// # Errors
    /// Returns the errors of the wait, and an error when the session's memory has no room for
    /// another lock.
    pub(super) fn lock_key(
        &mut self,
        table: &Table,
        index_id: u32,
        key: &[u8],
        mode: LockType,
    ) -> Result<Acquired> {
        if table.is_temporary() {
            return Ok(Acquired::Held);
        }
        self.memory.check(self.locks.held())?;
        let id = LockId::row(table.id, index_id, key);
        if !self.waits {
            let acquired = self.engine.locks.try_acquire(&mut self.locks, id, mode);
            return acquired.ok_or(EngineError::LockNotAvailable);
        }
        let describe = || described(table, index_id, key, if mode == LockType::Shared { "S" } else { "X" });
        let row = || RowName { table_id: table.id, index_id, key: key.into() };
        let patience =
            Patience { timeout_ms: self.row_lock_timeout_ms, describe: &describe, row: Some(&row) };
        self.engine.locks.acquire(&mut self.locks, id, mode, patience)
    }

    /// Releases the lock of the row that was read last, if reading it took the lock and the
    /// isolation level is READ COMMITTED, which keeps no locks on rows that a statement does not
    /// want.
    pub fn release_unwanted(&mut self) {
        let Some(id) = self.last_lock.take() else { return };
        self.last_read = None;
        if !self.locks_gaps() {
            let engine = self.engine.clone();
            engine.locks.release(&mut self.locks, id);
        }
    }

    /// Locks the gap of the clustered index that a missing key is in.
    pub(super) fn lock_gap_around(&mut self, table: &Table, key: &[u8]) -> Result<()> {
        let below =
            first_key(&table.clustered, (Bound::Unbounded, Bound::Excluded(key)), Direction::Backward)?;
        let above =
            first_key(&table.clustered, (Bound::Excluded(key), Bound::Unbounded), Direction::Forward)?;
        let table_locks = &table.counters.locks;
        self.engine.locks.lock_gap(
            &mut self.locks,
            table_locks,
            CLUSTERED,
            below.as_deref(),
            above.as_deref(),
        );
        Ok(())
    }

    /// Announces keys that are about to be inserted. If another transaction has locked a gap that
    /// one of the keys is in, releases the record locks taken since `held`, waits for that gap and
    /// returns false: then the caller must check everything again.
    pub(super) fn announce(
        &mut self,
        table: &Table,
        clustered: Option<&[u8]>,
        secondary: &[Option<SecondaryKey>],
        held: usize,
    ) -> Result<bool> {
        let of_index =
            table.indexes.iter().zip(secondary).filter_map(|(index, key)| {
                key.as_ref().map(|key| (index.id, &key.key[..], key.secondary_len))
            });
        let keys = || clustered.map(|key| (CLUSTERED, key, 0)).into_iter().chain(of_index.clone());
        if table.is_temporary() || keys().next().is_none() {
            return Ok(true);
        }
        if let Some(owed) = &mut self.ahead {
            owed.announcement(table, clustered, secondary);
            return Ok(true);
        }
        let engine = self.engine.clone();
        let (locks, at_table) = (&engine.locks, &table.counters.locks);
        let owner = self.locks.id();
        let covered = || keys().find(|(index, key, _)| at_table.is_covered(owner, *index, key));
        let mut in_the_way = None;
        if locks.has_others_gaps(&mut self.locks, at_table) {
            in_the_way = covered();
        }
        if in_the_way.is_none() {
            let first = locks.announce(&mut self.locks, at_table, keys());
            if locks.has_others_gaps(&mut self.locks, at_table) {
                // Another transaction may have locked a gap before it could see the announcement.
                in_the_way = covered();
            }
            if in_the_way.is_some() {
                locks.withdraw_announced(&mut self.locks, first);
            }
        }
        let Some((index_id, key, _)) = in_the_way else { return Ok(true) };
        if !self.waits {
            return Err(EngineError::LockNotAvailable);
        }
        locks.release_since(&mut self.locks, held);
        let describe = || described(table, index_id, key, "X insert intention");
        let row = || RowName { table_id: table.id, index_id, key: key.into() };
        let patience =
            Patience { timeout_ms: self.row_lock_timeout_ms, describe: &describe, row: Some(&row) };
        locks.wait_for_key(&self.locks, at_table, index_id, key, patience)?;
        Ok(false)
    }
}

fn lock_type(mode: LockMode) -> LockType {
    if mode == LockMode::Update { LockType::Exclusive } else { LockType::Shared }
}

fn described(table: &Table, index_id: u32, key: &[u8], mode: &str) -> String {
    let index = table.indexes.iter().find(|index| index.id == index_id);
    let (index, name) = (index.map_or("PRIMARY", |index| &index.name), &table.def);
    let key = super::change::key_hex(key);
    format!(
        "RECORD LOCKS index {index} of table `{}`.`{}` lock_mode {mode} key {key}",
        name.schema, name.name
    )
}
