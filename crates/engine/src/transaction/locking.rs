//! The locks of a transaction: on rows, on the gaps between them, on the metadata of tables, and
//! the announcement of keys that it is about to insert.
//!
//! A transaction locks as in InnoDB, with these differences, none of which lets a phantom in:
//! - A row has one lock, on its clustered key. Entries of secondary indexes have no locks of their
//!   own. So two statements that come to a row through different indexes meet at the row.
//! - The record behind a scanned range is not locked, only the gap before it (as MySQL 8.0.18 and
//!   later do for the clustered index, and MariaDB does not).
//! - Transactions that insert the same key wait in line for the key's exclusive lock. InnoDB gives
//!   all of them the shared lock when the first rolls back, and then they deadlock.

use super::memory::Memory;
use super::mode::LockMode;
use super::owed::Owed;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::lock::{
    Acquired, CLUSTERED, LockId, LockOwner, LockTable, LockType, OnLocked, OwnerId, Patience, RowName,
};
use crate::multi_valued::EntryKeys;
use crate::table::Table;
use btree::{Direction, Tree};
use std::ops::Bound;

/// The locks that a transaction holds, and how it takes further ones.
pub(crate) struct TransactionLocks {
    pub owner: LockOwner,
    /// The memory that the locks and the changes of the transaction take.
    pub memory: Memory,
    /// `innodb_lock_wait_timeout` in milliseconds.
    pub row_timeout_ms: u64,
    /// `lock_wait_timeout` in milliseconds.
    pub metadata_timeout_ms: u64,
    /// Whether the transaction waits for locks. Otherwise it gets
    /// [`EngineError::LockNotAvailable`].
    pub waits: bool,
    /// The checks that the transaction's turn owes, while it is being applied ahead of that turn.
    /// It takes no row locks then.
    pub owed: Option<Owed>,
    /// The lock of the row that was read last, if reading it took the lock.
    pub last: Option<LockId>,
}

impl TransactionLocks {
    /// Returns the locks of a transaction that holds none yet.
    #[inline]
    pub fn new(owner: LockOwner, row_timeout_ms: u64, metadata_timeout_ms: u64) -> TransactionLocks {
        TransactionLocks {
            owner,
            memory: Memory::default(),
            row_timeout_ms,
            metadata_timeout_ms,
            waits: true,
            owed: None,
            last: None,
        }
    }

    /// Forgets what belonged to a transaction that has released its locks, and gives its memory
    /// back to the budget.
    pub fn spend(&mut self) {
        let TransactionLocks { owner, memory, row_timeout_ms: _, metadata_timeout_ms: _, waits, owed, last } =
            self;
        owner.spend();
        *memory = Memory::default();
        *waits = true;
        *owed = None;
        *last = None;
    }

    /// Begins another transaction with this number and these timeouts, those for rows and for
    /// metadata, after [`TransactionLocks::spend`].
    pub fn begin(&mut self, id: OwnerId, timeouts: (u64, u64)) {
        self.owner.begin(id);
        (self.row_timeout_ms, self.metadata_timeout_ms) = timeouts;
    }

    /// Reports whether the transaction is being applied ahead of its turn.
    #[inline]
    pub fn is_ahead(&self) -> bool {
        self.owed.is_some()
    }

    /// Refuses, while the transaction is applied ahead, what needs everything earlier on the pages.
    pub fn check_not_ahead(&self) -> Result<()> {
        if self.is_ahead() { Err(EngineError::NeedsTurn) } else { Ok(()) }
    }

    /// Asks for the memory of another change or lock.
    ///
    /// # Errors
    /// Returns an error when the session's memory has no room for it.
    #[inline]
    pub fn check_memory(&mut self) -> Result<()> {
        self.memory.check(self.owner.held())
    }

    /// Locks a row.
    pub fn lock_row(
        &mut self,
        lock_table: &LockTable,
        table: &Table,
        key: &[u8],
        mode: LockMode,
    ) -> Result<Acquired> {
        self.lock_key(lock_table, table, CLUSTERED, key, lock_type(mode))
    }

    /// Locks a row, or does what `on_locked` says if another transaction has it locked. `None`
    /// means that the row is to be left out.
    pub fn lock_row_unless(
        &mut self,
        lock_table: &LockTable,
        table: &Table,
        key: &[u8],
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Acquired>> {
        if on_locked == OnLocked::Wait || self.is_alone_in(table) {
            return self.lock_row(lock_table, table, key, mode).map(Some);
        }
        self.check_memory()?;
        let id = LockId::row(table.id, CLUSTERED, key);
        match lock_table.try_acquire(&mut self.owner, id, lock_type(mode)) {
            None if on_locked == OnLocked::Fail => Err(EngineError::LockNotAvailable),
            acquired => Ok(acquired),
        }
    }

    /// Locks a key of an index.
    ///
    /// # Errors
    /// Returns the errors of the wait, and an error when the session's memory has no room for
    /// another lock.
    pub fn lock_key(
        &mut self,
        lock_table: &LockTable,
        table: &Table,
        index_id: u32,
        key: &[u8],
        mode: LockType,
    ) -> Result<Acquired> {
        if self.is_alone_in(table) {
            return Ok(Acquired::Held);
        }
        assert!(!self.is_ahead(), "a transaction that is applied ahead of its turn takes no row lock");
        self.check_memory()?;
        let id = LockId::row(table.id, index_id, key);
        if !self.waits {
            let acquired = lock_table.try_acquire(&mut self.owner, id, mode);
            return acquired.ok_or(EngineError::LockNotAvailable);
        }
        let describe = || described(table, index_id, key, if mode == LockType::Shared { "S" } else { "X" });
        let row = || RowName { table_id: table.id, index_id, key: key.into() };
        let patience = Patience { timeout_ms: self.row_timeout_ms, describe: &describe, row: Some(&row) };
        lock_table.acquire(&mut self.owner, id, mode, patience)
    }

    /// Locks the metadata of a table.
    pub fn lock_metadata(
        &mut self,
        lock_table: &LockTable,
        id: LockId,
        (schema, table): (&str, &str),
        mode: LockType,
    ) -> Result<()> {
        debug_assert_eq!(id, LockId::metadata(schema, table), "the lock is the table's");
        let describe = || format!("metadata of table `{schema}`.`{table}`");
        let patience = Patience { timeout_ms: self.metadata_timeout_ms, describe: &describe, row: None };
        lock_table.acquire(&mut self.owner, id, mode, patience)?;
        Ok(())
    }

    /// Takes a table whose rows are changed for the transaction alone, if no other transaction uses
    /// it: its exclusive metadata lock stands for the locks of rows and gaps from then on. Returns
    /// whether it does. Nothing is waited for.
    pub fn take_alone(&mut self, engine: &Engine, table: &Table) -> bool {
        if self.is_alone_in(table) {
            return true;
        }
        // Rows of related tables are locked by transactions that use the other table only.
        if table.is_related() || self.is_ahead() {
            return false;
        }
        let taken = engine.locks.try_acquire(&mut self.owner, table.metadata_lock, LockType::Exclusive);
        if taken.is_some() {
            // The rows' last changes are not known by locks of theirs.
            self.owner.depend_on(engine.sequencer.depends_on());
            self.owner.set_alone(table.id);
        }
        taken.is_some()
    }

    /// Reports whether no other transaction can have anything to do with the table's rows, so that
    /// the transaction locks none.
    #[inline]
    fn is_alone_in(&self, table: &Table) -> bool {
        table.is_temporary() || self.owner.is_alone(table.id)
    }

    /// Releases the lock of a row.
    pub fn release_row(&mut self, lock_table: &LockTable, table: &Table, key: &[u8]) {
        if self.is_alone_in(table) {
            return;
        }
        lock_table.release(&mut self.owner, LockId::row(table.id, CLUSTERED, key));
    }

    /// Locks the gap of the clustered index that a missing key is in.
    pub fn lock_gap_around(&mut self, lock_table: &LockTable, table: &Table, key: &[u8]) -> Result<()> {
        let below =
            first_key(&table.clustered, (Bound::Unbounded, Bound::Excluded(key)), Direction::Backward)?;
        let above =
            first_key(&table.clustered, (Bound::Excluded(key), Bound::Unbounded), Direction::Forward)?;
        let at_table = &table.counters.locks;
        lock_table.lock_gap(&mut self.owner, at_table, CLUSTERED, below.as_deref(), above.as_deref());
        Ok(())
    }

    /// Announces keys that are about to be inserted. If another transaction has locked a gap that
    /// one of the keys is in, releases the record locks taken since `held`, waits for that gap and
    /// returns false: then the caller must check everything again.
    pub fn announce(
        &mut self,
        lock_table: &LockTable,
        table: &Table,
        clustered: Option<&[u8]>,
        secondary: &[Option<EntryKeys>],
        held: usize,
    ) -> Result<bool> {
        // Only snapshots read the entries of words, so that nobody locks gaps between them.
        let locked = table.indexes.iter().zip(secondary).filter(|(index, _)| index.entries.are_locked());
        let of_index = locked.flat_map(|(index, keys)| {
            let keys = keys.as_ref().map_or(&[][..], EntryKeys::as_slice);
            keys.iter().map(|key| (index.id, &key.key[..], key.secondary_len))
        });
        let keys = || clustered.map(|key| (CLUSTERED, key, 0)).into_iter().chain(of_index.clone());
        if self.is_alone_in(table) || keys().next().is_none() {
            return Ok(true);
        }
        if let Some(owed) = &mut self.owed {
            owed.announcement(table, clustered, secondary);
            return Ok(true);
        }
        let at_table = &table.counters.locks;
        let id = self.owner.id();
        let covered = || keys().find(|(index, key, _)| at_table.is_covered(id, *index, key));
        let mut in_the_way = None;
        if lock_table.has_others_gaps(&mut self.owner, at_table) {
            in_the_way = covered();
        }
        if in_the_way.is_none() {
            let first = lock_table.announce(&mut self.owner, at_table, keys());
            if lock_table.has_others_gaps(&mut self.owner, at_table) {
                // Another transaction may have locked a gap before it could see the announcement.
                in_the_way = covered();
            }
            if in_the_way.is_some() {
                lock_table.withdraw_announced(&mut self.owner, first);
            }
        }
        let Some((index_id, key, _)) = in_the_way else { return Ok(true) };
        if !self.waits {
            return Err(EngineError::LockNotAvailable);
        }
        lock_table.release_since(&mut self.owner, held);
        let describe = || described(table, index_id, key, "X insert intention");
        let row = || RowName { table_id: table.id, index_id, key: key.into() };
        let patience = Patience { timeout_ms: self.row_timeout_ms, describe: &describe, row: Some(&row) };
        lock_table.wait_for_key(&self.owner, at_table, index_id, key, patience)?;
        Ok(false)
    }
}

/// Returns the first key of a range of an index, in this direction.
pub(super) fn first_key(
    tree: &Tree,
    range: (Bound<&[u8]>, Bound<&[u8]>),
    direction: Direction,
) -> Result<Option<Vec<u8>>> {
    let mut scan = tree.scan(range.0, range.1, direction);
    Ok(scan.next()?.map(|(key, _)| key.to_vec()))
}

fn lock_type(mode: LockMode) -> LockType {
    if mode == LockMode::Update { LockType::Exclusive } else { LockType::Shared }
}

fn described(table: &Table, index_id: u32, key: &[u8], mode: &str) -> String {
    let index = table.indexes.iter().find(|index| index.id == index_id);
    let (index, name) = (index.map_or("PRIMARY", |index| &index.name), &table.def);
    let key = super::key_range::key_hex(key);
    format!(
        "RECORD LOCKS index {index} of table `{}`.`{}` lock_mode {mode} key {key}",
        name.schema, name.name
    )
}
