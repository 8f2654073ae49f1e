//! Reading one row: the transaction's own change, the page, or an older version.

use super::{Isolation, LastRead, LockMode, Row, Transaction};
use crate::Engine;
use crate::bytes::KeyBuf;
use crate::entry::{ClusteredValue, Externs};
use crate::error::Result;
use crate::lock::{Acquired, CLUSTERED, LockId, OnLocked};
use crate::overflow;
use crate::status::bump;
use crate::table::Table;
use crate::transaction::write_set::OldRow;
use crate::version::store::Found;
use crate::version::view::View;
use btree::Spot;
use std::sync::Arc;

impl Engine {
    /// The newest committed row with this key, long values resolved.
    pub(crate) fn read_newest(&self, table: &Table, key: &[u8]) -> Result<Option<OldRow>> {
        self.read_newest_at(table, &table.clustered.locate(key))
    }

    /// As [`Engine::read_newest`], for a key located before.
    pub(crate) fn read_newest_at(&self, table: &Table, spot: &Spot<'_>) -> Result<Option<OldRow>> {
        let leaf = spot.leaf();
        let read = table.clustered.get_at(spot, |value| -> Result<_> {
            let parsed = ClusteredValue::parse(value)?;
            if parsed.is_deleted() {
                return Ok(None);
            }
            if parsed.flags & crate::entry::EXTERN == 0 {
                let (image, seq) = (parsed.image.to_vec(), parsed.seq);
                return Ok(Some(Ok(OldRow { image, seq, externs: Externs::new(), leaf })));
            }
            // Overflow pages are read after the leaf is let go.
            Ok(Some(Err(value.to_vec())))
        })?;
        match read.transpose()?.flatten() {
            None => Ok(None),
            Some(Ok(row)) => Ok(Some(row)),
            Some(Err(value)) => {
                let parsed = ClusteredValue::parse(&value)?;
                let image = overflow::resolve(&self.pool, table, &parsed)?;
                Ok(Some(OldRow { image, seq: parsed.seq, externs: parsed.externs(), leaf }))
            }
        }
    }

    /// Whether a committed row with this key exists now.
    pub(crate) fn row_exists_at(&self, table: &Table, spot: &Spot<'_>) -> Result<bool> {
        let is_live = |value: &[u8]| Ok(crate::entry::parse_header(value)?.0 & crate::entry::DELETED == 0);
        let live = table.clustered.get_at(spot, is_live)?;
        live.transpose().map(|live| live.unwrap_or(false))
    }

    /// The row with this key as a snapshot sees it.
    pub(crate) fn read_at(&self, table: &Table, key: &[u8], view: &View) -> Result<Option<Vec<u8>>> {
        let read = table.clustered.get(key, |value| -> Result<_> {
            let parsed = ClusteredValue::parse(value)?;
            let is_simple = view.sees(parsed.seq) && !parsed.is_deleted() && !parsed.has_externs();
            Ok(if is_simple { Ok(parsed.image.to_vec()) } else { Err(value.to_vec()) })
        })?;
        match read.transpose()? {
            None => Ok(None),
            Some(Ok(image)) => Ok(Some(image)),
            // Older versions and overflow pages are read after the leaf is let go.
            Some(Err(value)) => self.visible(table, key, Some(&value), view),
        }
    }

    /// What a snapshot sees of a row whose page entry is `value`.
    pub(crate) fn visible(
        &self,
        table: &Table,
        key: &[u8],
        value: Option<&[u8]>,
        view: &View,
    ) -> Result<Option<Vec<u8>>> {
        // Without an entry there is no version either: an entry is removed only when no snapshot
        // needs the row.
        let Some(value) = value else { return Ok(None) };
        let parsed = ClusteredValue::parse(value)?;
        if view.sees(parsed.seq) {
            return if parsed.is_deleted() {
                Ok(None)
            } else {
                overflow::resolve(&self.pool, table, &parsed).map(Some)
            };
        }
        match self.versions.find(table.id, key, view) {
            Found::Nothing => Ok(None),
            Found::Value(value) => {
                overflow::resolve(&self.pool, table, &ClusteredValue::parse(&value)?).map(Some)
            }
        }
    }
}

impl Transaction {
    /// How a plain read is done at this isolation level.
    pub(super) fn effective_mode(&self, mode: LockMode) -> LockMode {
        let locks = self.isolation == Isolation::Serializable && !self.autocommit;
        if mode == LockMode::Snapshot && locks { LockMode::Share } else { mode }
    }

    /// The row with this clustered key (see [`Table::encode_key`]).
    pub fn get(&mut self, table: &Arc<Table>, key: &[u8], mode: LockMode) -> Result<Option<Row>> {
        self.get_unless_locked(table, key, mode, OnLocked::Wait)
    }

    /// As [`Transaction::get`], with a say in what is done about a row that somebody else has
    /// locked.
    pub fn get_unless_locked(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Row>> {
        self.use_table_in(table, mode == LockMode::Update)?;
        let image = match self.effective_mode(mode) {
            LockMode::Snapshot => {
                // Of a row of its own, too: what is read later is as of now.
                self.open_snapshot()?;
                self.read_own_or(table, key, |txn| {
                    let view = &txn.snapshot.as_ref().expect("just opened").view;
                    let read = txn.engine.read_at(table, key, view);
                    txn.at_valid_snapshot(read)
                })?
            }
            mode => self.get_locked(table, key, mode, on_locked)?,
        };
        bump(&self.engine.counters.rows_read, u64::from(image.is_some()));
        Ok(image.map(|image| Row { key: key.to_vec(), image }))
    }

    /// The newest committed row, locked. A row that is there costs its record lock and nothing
    /// else; where there is none the gap is locked, if the isolation level locks gaps, and the key
    /// is not.
    fn get_locked(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        mode: LockMode,
        on_locked: OnLocked,
    ) -> Result<Option<Vec<u8>>> {
        self.last_lock = None;
        let Some(acquired) = self.lock_row_unless(table, key, mode, on_locked)? else { return Ok(None) };
        let image = match self.own_image(table.id, key)? {
            // What the transaction itself deleted stays locked.
            Some(own) => return Ok(own),
            None => self.engine.read_newest(table, key)?.map(|row| {
                let OldRow { image, seq, externs, leaf } = row;
                let (table_id, key) = (table.id, KeyBuf::from_slice(key));
                self.last_read =
                    (mode == LockMode::Update).then_some(LastRead { table_id, key, seq, externs, leaf });
                image
            }),
        };
        if image.is_none() {
            // While the key itself is still locked: nobody can insert it in between.
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

    /// The transaction's own state of the row if it has one, else what `committed` reads.
    pub(super) fn read_own_or(
        &mut self,
        table: &Table,
        key: &[u8],
        committed: impl FnOnce(&mut Transaction) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Vec<u8>>> {
        match self.own_image(table.id, key)? {
            Some(own) => Ok(own),
            None => committed(self),
        }
    }

    /// The transaction's own state of a row: `None` when it has not changed it, `Some(None)` when
    /// it deleted it.
    pub(super) fn own_image(&self, table_id: u64, key: &[u8]) -> Result<Option<Option<Vec<u8>>>> {
        Ok(match self.writes.row(table_id, key) {
            None => None,
            Some(None) => Some(None),
            Some(Some(image)) => Some(Some(self.group.image(image)?)),
        })
    }
}
