//! What a session asks of its transaction about tables and rows.

use super::change::{delete_row, insert, update_changed, update_row};
use super::dropped::{DroppedStep, delete_dropped};
use super::mode::{LastRead, LockMode, Row};
use super::scan::Scan;
use super::spent::SpentTransaction;
use super::{Transaction, read, xa};
use crate::commit::pipeline::{CommitOptions, CommitOutcome};
use crate::definition::IndexRef;
use crate::error::Result;
use crate::lock::OnLocked;
use crate::rows::OldRow;
use crate::table::Table;
use crate::transaction::key_range::KeyRange;
use crate::xa::branches::XaBranch;
use btree::Direction;
use std::sync::Arc;
use types::ColumnMask;

impl Transaction {
    /// Ends the transaction as dropping it does, and keeps its memory for the next one.
    pub fn spend(self: Box<Self>) -> SpentTransaction {
        SpentTransaction::new(self)
    }

    /// Deletes some of the rows that went with their partitions, beginning with the leaf of the key
    /// `from`.
    pub(crate) fn delete_dropped(&mut self, table: &Arc<Table>, from: &[u8]) -> Result<DroppedStep> {
        delete_dropped(&mut self.rows, table, from)
    }

    /// Looks a table up and keeps its definition from changing until the transaction ends.
    pub fn open_table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.rows.open_table(schema, name)
    }

    /// Takes the metadata locks of all tables that a statement changes, and then of the tables that
    /// it reads, so that DDL can change none of them between the statement's first row and its
    /// last.
    ///
    /// # Errors
    /// Returns [`crate::EngineError::TableChanged`] when a table is not the one that the catalog
    /// has now, and the errors of a wait for a lock.
    pub fn use_tables<'t>(
        &mut self,
        changed: impl IntoIterator<Item = &'t Arc<Table>>,
        read: impl IntoIterator<Item = &'t Arc<Table>>,
    ) -> Result<()> {
        changed.into_iter().try_for_each(|table| self.rows.use_table_to_change(table))?;
        read.into_iter().try_for_each(|table| self.use_table(table))
    }

    /// Uses a table that was looked up before, unless it has changed since.
    pub(crate) fn use_table(&mut self, table: &Arc<Table>) -> Result<()> {
        self.rows.use_table(table, false)
    }

    /// Begins a transaction that reads what this one reads, for another thread of the same
    /// statement. It may read the tables that this one uses and has not changed, until this one
    /// ends, and must change nothing. `None` means that this one has changes of its own or locks
    /// the rows that it reads.
    ///
    /// # Errors
    /// Returns [`crate::EngineError::SnapshotTooOld`] and
    /// [`crate::EngineError::TooManySnapshots`].
    pub fn reader_beside(&mut self) -> Result<Option<Transaction>> {
        let has_changes = self.has_changes() || self.has_temporary_changes();
        if has_changes || self.rows.view.effective_mode(LockMode::Snapshot) != LockMode::Snapshot {
            return Ok(None);
        }
        self.rows.open_snapshot()?;
        let engine = &self.rows.engine;
        let view = self.rows.view.beside(engine)?;
        let mut reader = engine.begin(view.isolation);
        reader.rows.view = view;
        reader.rows.tables.held = true;
        reader.rows.locks.owner.set_works_for(&self.rows.locks.owner);
        reader.read_only = true;
        Ok(Some(reader))
    }

    /// Opens a scan of an index.
    pub fn scan(
        &mut self,
        table: &Arc<Table>,
        index: IndexRef,
        range: KeyRange,
        direction: Direction,
        mode: LockMode,
    ) -> Result<Scan> {
        Scan::open(&mut self.rows, table, (index, range), direction, mode)
    }

    /// Returns the row with this clustered key (see [`Table::encode_key`]).
    pub fn get(&mut self, table: &Arc<Table>, key: &[u8], mode: LockMode) -> Result<Option<Row>> {
        self.get_unless_locked(table, key.to_vec(), mode, OnLocked::Wait)
    }

    /// Does what [`Transaction::get`] does, with a key that becomes the row's. `on_locked` says
    /// what to do about a row that another transaction has locked.
    pub fn get_unless_locked(
        &mut self,
        table: &Arc<Table>,
        key: Vec<u8>,
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Row>> {
        read::get(&mut self.rows, table, key, mode, on_locked)
    }

    /// Puts the row with this clustered key into `image`, as a read without locks sees it. Returns
    /// false if there is none; what is in `image` then means nothing.
    pub fn get_into(&mut self, table: &Arc<Table>, key: &[u8], image: &mut Vec<u8>) -> Result<bool> {
        read::get_into(&mut self.rows, table, key, image)
    }

    /// Reports whether locking reads lock gaps, so that they find the same rows again.
    pub fn locks_gaps(&self) -> bool {
        self.isolation().locks_gaps()
    }

    /// Releases the lock of the row that was read last, if reading it took the lock and the
    /// isolation level is READ COMMITTED, which keeps no locks on rows that a statement does not
    /// want.
    pub fn release_unwanted(&mut self) {
        self.rows.release_unwanted();
    }

    /// Inserts a row.
    ///
    /// # Errors
    /// Returns [`crate::EngineError::Duplicate`], which names the violated index, when another row
    /// has a key of the row. Nothing of the row is left behind.
    pub fn insert(&mut self, table: &Arc<Table>, image: &[u8]) -> Result<()> {
        self.check_writable(table)?;
        insert(&mut self.rows, table, image)
    }

    /// Changes a row that was read with [`LockMode::Update`], and the child rows that follow it. If
    /// the row was not read so, it is locked and read again.
    ///
    /// # Errors
    /// Returns [`crate::EngineError::Duplicate`], [`crate::EngineError::NoParentRow`], or
    /// [`crate::EngineError::RowNotFound`] when the row is gone. These leave nothing behind. After
    /// another error the statement has to be rolled back.
    pub fn update(&mut self, table: &Arc<Table>, old: &Row, new_image: &[u8]) -> Result<()> {
        self.check_writable(table)?;
        self.rows.use_table_to_change(table)?;
        let current = self.rows.locked_row(table, old)?;
        update_row(&mut self.rows, table, &old.key, current, new_image.to_vec(), None)
    }

    /// Changes a row as [`Transaction::update`] does. `new_image` differs from the image of `old`
    /// in columns of `columns` alone.
    ///
    /// # Errors
    /// Returns the errors of [`Transaction::update`].
    pub fn update_columns(
        &mut self,
        table: &Arc<Table>,
        old: Row,
        new_image: Vec<u8>,
        columns: &ColumnMask,
    ) -> Result<()> {
        self.check_writable(table)?;
        self.rows.use_table_to_change(table)?;
        let Row { key, image } = old;
        match self.rows.take_last_read(table, &key) {
            Some(LastRead { seq, externs, leaf, .. }) => {
                let current = OldRow { image, seq, externs, leaf };
                // Of a single column it is known that it differs.
                match columns.count() == 1 && current.image != new_image {
                    true => {
                        let new = (new_image, columns.clone());
                        update_changed(&mut self.rows, table, &key, current, new, None)
                    }
                    false => update_row(&mut self.rows, table, &key, current, new_image, None),
                }
            }
            None => {
                let current = self.rows.current_row(table, &key)?;
                update_row(&mut self.rows, table, &key, current, new_image, None)
            }
        }
    }

    /// Deletes a row that was read with [`LockMode::Update`], and the child rows that go with it.
    /// If the row was not read so, it is locked and read again.
    ///
    /// # Errors
    /// Returns [`crate::EngineError::RowNotFound`] when the row is gone. After another error the
    /// statement has to be rolled back.
    pub fn delete(&mut self, table: &Arc<Table>, old: &Row) -> Result<()> {
        self.check_writable(table)?;
        self.rows.use_table_to_change(table)?;
        let current = self.rows.locked_row(table, old)?;
        delete_row(&mut self.rows, table, &old.key, current, None)
    }

    /// Prepares the transaction (`XA PREPARE`). From here on it holds all its locks itself and ends
    /// by [`crate::Engine::finish_xa`]. After an error it is rolled back.
    pub fn prepare_xa(
        mut self,
        branch: XaBranch,
        attached: bool,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        xa::prepare_xa(&mut self.rows, branch, attached, options)
    }
}
