//! What reading and changing rows works on: the parts of a transaction below its statements and its
//! commit.
//!
//! Operations on rows are functions and types in files of their own, each of which borrows the
//! parts that it uses, or this whole when it uses them all.

use super::changes::Changes;
use super::locking::TransactionLocks;
use super::mode::{ForeignKeys, Isolation, LastRead, LockMode, Row};
use super::read_view::ReadView;
use super::used_tables::UsedTables;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, OnLocked};
use crate::multi_valued::EntryKeys;
use crate::rows::OldRow;
use crate::status::bump;
use crate::table::Table;
use crate::transaction::key_range::key_hex;
use redo::Lsn;
use std::sync::Arc;

/// The parts of a transaction that reading and changing rows works on.
pub(crate) struct RowAccess {
    pub(crate) engine: Arc<Engine>,
    pub(super) view: ReadView,
    pub(super) tables: UsedTables,
    pub(crate) locks: TransactionLocks,
    pub(super) changes: Changes,
    /// The row that was read last and locked for update.
    pub(super) last_read: Option<LastRead>,
    pub(super) foreign_keys: ForeignKeys,
    /// The rows that were read and are not in the engine's counter yet, which all threads share.
    pub(super) rows_read: u64,
}

impl RowAccess {
    // Inlined, so that the parts, which are large, are made in place and not copied.
    #[inline(always)]
    pub(super) fn new(engine: Arc<Engine>, isolation: Isolation, journalled: bool) -> RowAccess {
        let config = &engine.config;
        let timeouts = (config.innodb_lock_wait_timeout_ms, config.lock_wait_timeout_ms);
        RowAccess {
            view: ReadView::new(isolation),
            tables: UsedTables::default(),
            locks: TransactionLocks::new(engine.locks.owner(), timeouts.0, timeouts.1),
            changes: Changes::new(&engine, journalled),
            last_read: None,
            foreign_keys: ForeignKeys::Enforced,
            rows_read: 0,
            engine,
        }
    }

    /// Counts a row that was read.
    #[inline]
    pub(super) fn count_read(&mut self) {
        const MOST_UNCOUNTED: u64 = 1 << 10;
        self.rows_read += 1;
        if self.rows_read >= MOST_UNCOUNTED {
            self.pass_rows_read_on();
        }
    }

    /// Adds the rows that were read to the engine's counter.
    pub(super) fn pass_rows_read_on(&mut self) {
        if self.rows_read > 0 {
            bump(&self.engine.counters.rows_read, std::mem::take(&mut self.rows_read));
        }
    }

    /// Looks a table up and keeps its definition from changing until the transaction ends.
    pub(super) fn open_table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.tables.open(&self.engine, &mut self.locks, self.view.seq(), (schema, name))
    }

    /// Uses a table that was looked up before, unless it has changed since.
    #[inline]
    pub(super) fn use_table(&mut self, table: &Arc<Table>, to_change: bool) -> Result<()> {
        if self.tables.is_used(table, to_change) {
            return Ok(());
        }
        self.tables.begin_use(&self.engine, &mut self.locks, self.view.seq(), table, to_change)
    }

    /// Does what [`RowAccess::use_table`] does, for changing rows of the table or locking them to
    /// be changed: it also waits for sessions that want the rows to stay as they are.
    pub(super) fn use_table_to_change(&mut self, table: &Arc<Table>) -> Result<()> {
        self.locks.check_memory()?;
        self.use_table(table, true)
    }

    /// Locks a row.
    pub(super) fn lock_row(&mut self, table: &Table, key: &[u8], mode: LockMode) -> Result<Acquired> {
        self.locks.lock_row(&self.engine.locks, table, key, mode)
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
        self.locks.lock_row_unless(&self.engine.locks, table, key, mode, on_locked)
    }

    /// Announces keys that are about to be inserted; see [`TransactionLocks::announce`].
    pub(super) fn announce(
        &mut self,
        table: &Table,
        clustered: Option<&[u8]>,
        secondary: &[Option<EntryKeys>],
        held: usize,
    ) -> Result<bool> {
        self.locks.announce(&self.engine.locks, table, clustered, secondary, held)
    }

    /// Releases the lock of the row that was read last, if reading it took the lock and the
    /// isolation level is READ COMMITTED, which keeps no locks on rows that a statement does not
    /// want.
    pub(super) fn release_unwanted(&mut self) {
        let Some(id) = self.locks.last.take() else { return };
        self.last_read = None;
        if !self.view.isolation.locks_gaps() {
            self.engine.locks.release(&mut self.locks.owner, id);
        }
    }

    /// Opens the snapshot, if none is open.
    pub(super) fn open_snapshot(&mut self) -> Result<()> {
        self.view.open(&self.engine, self.locks.owner.depends_on()).map(|_| ())
    }

    pub(super) fn close_snapshot(&mut self) {
        self.view.close(&self.engine);
    }

    /// Returns [`EngineError::Interrupted`] when the interrupt flag is set.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        if self.locks.owner.is_interrupted() { Err(EngineError::Interrupted) } else { Ok(()) }
    }

    /// Returns the newest state of a row, of the transaction itself or committed.
    pub(super) fn newest_image(&self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.changes.own_image(table, key)? {
            Some(own) => Ok(own),
            None => Ok(self.engine.rows.read_newest(table, key)?.map(|row| row.image)),
        }
    }

    /// Returns the present state of a row that is to be changed. A row that has just been locked
    /// and read is not read again.
    pub(super) fn locked_row(&mut self, table: &Table, row: &Row) -> Result<OldRow> {
        match self.take_last_read(table, &row.key) {
            Some(LastRead { seq, externs, leaf, .. }) => {
                Ok(OldRow { image: row.image.clone(), seq, externs, leaf })
            }
            None => self.current_row(table, &row.key),
        }
    }

    /// Returns what is known of a row if it is the one that was locked and read last, and if the
    /// transaction has not changed it. Its image is then still the present one.
    #[inline]
    pub(super) fn take_last_read(&mut self, table: &Table, key: &[u8]) -> Option<LastRead> {
        self.last_read.take().filter(|last| {
            last.table_id == table.id
                && *last.key == *key
                && self.changes.writes_of(table).row(table.id, key).is_none()
        })
    }

    /// Locks a row that is to be changed and reads its present state.
    pub(super) fn current_row(&mut self, table: &Table, key: &[u8]) -> Result<OldRow> {
        let mut spot = table.clustered.locate(key);
        table.clustered.prefetch(&mut spot);
        if !self.locks.is_ahead() {
            self.lock_row(table, key, LockMode::Update)?;
        }
        let current = match self.changes.own_image(table, key)? {
            Some(own) => own.map(|image| OldRow { image, seq: 0, externs: Default::default(), leaf: None }),
            None => self.engine.rows.read_newest_at(table, &spot)?,
        };
        current.ok_or_else(|| EngineError::RowNotFound {
            table: table.qualified_name.clone(),
            key: key_hex(key),
        })
    }

    /// Notes the change of a row, before it is staged. `row_id` is the row's hidden id in a table
    /// without a primary key.
    pub(super) fn record_change(&mut self, table: &Table, row_id: Option<u64>) {
        let may_change = self.tables.may_change(table);
        assert!(may_change, "{} is not locked as one that is changed", table.qualified_name);
        if table.is_temporary() {
            return;
        }
        self.changes.writes.changes += 1;
        self.locks.memory.note_change(table.indexes.len());
        self.locks.owner.set_changes(self.changes.writes.changes);
        if let Some(row_id) = row_id {
            self.changes.sidecar.row_id(table.id, row_id);
        }
    }

    /// Notes the commit before its locks are released.
    pub(super) fn note_committed(&mut self, seq: Lsn) {
        let seen = self.locks.owner.depends_on();
        assert!(seen < seq, "the commit {seq} comes before the commit {seen}, which it has seen");
        self.engine.sequencer.note_released(seq);
        self.locks.owner.set_committed(seq);
    }

    /// Reports whether there is nothing that [`RowAccess::release`] would drop or release.
    pub(super) fn is_released(&self) -> bool {
        let has_changes = !self.changes.writes.is_empty() || self.changes.has_temporary();
        !has_changes && self.tables.is_empty() && !self.view.is_open() && self.locks.owner.holds_nothing()
    }

    /// Drops all changes and releases all locks, tables and the snapshot.
    pub(super) fn release(&mut self) {
        self.last_read = None;
        self.pass_rows_read_on();
        self.close_snapshot();
        self.changes.clear();
        self.tables.clear();
        self.engine.locks.release_all(&mut self.locks.owner);
        assert!(self.is_released(), "a transaction that ends holds no lock, no snapshot and no table");
    }
}
