//! Reading one row: the transaction's own change, the page, or an older version.

use super::{Isolation, LastRead, LockMode, Row, Transaction};
use crate::bytes::KeyBuf;
use crate::error::Result;
use crate::lock::{Acquired, CLUSTERED, LockId, OnLocked};
use crate::rows::OldRow;
use crate::status::bump;
use crate::table::Table;
use std::sync::Arc;

impl Transaction {
    /// Returns the mode in which a read is done at this isolation level.
    pub(super) fn effective_mode(&self, mode: LockMode) -> LockMode {
        let locks = self.isolation == Isolation::Serializable && !self.autocommit;
        if mode == LockMode::Snapshot && locks { LockMode::Share } else { mode }
    }

    /// Returns the row with this clustered key (see [`Table::encode_key`]).
    pub fn get(&mut self, table: &Arc<Table>, key: &[u8], mode: LockMode) -> Result<Option<Row>> {
        self.get_unless_locked(table, key, mode, OnLocked::Wait)
    }

    /// Does what [`Transaction::get`] does; `on_locked` says what to do about a row that another
    /// transaction has locked.
    pub fn get_unless_locked(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Row>> {
        self.use_table_in(table, mode == LockMode::Update)?;
        let image = match self.effective_mode(mode) {
            mode if table.is_temporary() => {
                if mode == LockMode::Snapshot {
                    self.open_snapshot()?;
                }
                (self.last_lock, self.last_read) = (None, None);
                let newest = |txn: &mut Transaction| txn.engine.rows.read_newest(table, key);
                self.read_own_or(table, key, |txn| Ok(newest(txn)?.map(|row| row.image)))?
            }
            LockMode::Snapshot => {
                // The snapshot is opened even if the row is the transaction's own, so that later
                // reads see the state as of now.
                self.open_snapshot()?;
                self.read_own_or(table, key, |txn| {
                    let view = &txn.snapshot.as_ref().expect("just opened").view;
                    let read = txn.engine.rows.read_at(table, key, view);
                    txn.at_valid_snapshot(read)
                })?
            }
            mode => self.get_locked(table, key, mode, on_locked)?,
        };
        bump(&self.engine.counters.rows_read, u64::from(image.is_some()));
        Ok(image.map(|image| Row { key: key.to_vec(), image }))
    }

    /// Returns the newest committed row, locked. A row that exists costs its record lock and
    /// nothing else. If there is none, the gap is locked (if the isolation level locks gaps), and
    /// the key is not.
    fn get_locked(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Vec<u8>>> {
        self.last_lock = None;
        let Some(acquired) = self.lock_row_unless(table, key, mode, on_locked)? else { return Ok(None) };
        let image = match self.own_image(table, key)? {
            // A row that the transaction itself deleted stays locked.
            Some(own) => return Ok(own),
            None => self.engine.rows.read_newest(table, key)?.map(|row| {
                let OldRow { image, seq, externs, leaf } = row;
                let (table_id, key) = (table.id, KeyBuf::from_slice(key));
                self.last_read =
                    (mode == LockMode::Update).then_some(LastRead { table_id, key, seq, externs, leaf });
                image
            }),
        };
        if image.is_none() {
            // The gap is locked while the key itself is still locked, so nobody can insert the key
            // in between.
            if self.locks_gaps() {
                self.lock_gap_around(table, key)?;
            }
            if acquired == Acquired::New {
                let engine = self.engine.clone();
                engine.locks.release(&mut self.locks, LockId::row(table.id, CLUSTERED, key));
            }
        } else if acquired == Acquired::New {
            self.last_lock = Some(LockId::row(table.id, CLUSTERED, key));
        }
        Ok(image)
    }

    /// Returns the transaction's own state of the row if it has one, otherwise what `committed`
    /// reads.
    pub(super) fn read_own_or(
        &mut self,
        table: &Table,
        key: &[u8],
        committed: impl FnOnce(&mut Transaction) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Vec<u8>>> {
        match self.own_image(table, key)? {
            Some(own) => Ok(own),
            None => committed(self),
        }
    }

    /// Returns the transaction's own state of a row: `None` when it has not changed the row,
    /// `Some(None)` when it has deleted it.
    pub(super) fn own_image(&self, table: &Table, key: &[u8]) -> Result<Option<Option<Vec<u8>>>> {
        Ok(match self.writes_of(table).row(table.id, key) {
            None => None,
            Some(None) => Some(None),
            Some(Some(image)) if table.is_temporary() => {
                Some(Some(self.temporary.image(image)?.into_owned()))
            }
            Some(Some(image)) => Some(Some(self.group.image(image)?)),
        })
    }
}
