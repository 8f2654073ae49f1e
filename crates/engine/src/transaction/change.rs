//! Inserting, updating and deleting rows: locks and checks come first, then the write set and the
//! event group.

use super::cascade::{Change, Following};
use super::foreign_key::Stored;
use super::{LastRead, LockMode, Row, Transaction};
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::error::{EngineError, Result};
use crate::rows::OldRow;
use crate::status::bump;
use crate::table::{SecondaryKey, Table};
use crate::transaction::row_change::Origin;
use btree::Spot;
use buffer::FoundLeaf;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::ColumnMask;

/// A row that may be inserted.
pub(super) struct NewRow {
    pub key: KeyBuf,
    /// The leaf that the row belongs into, if it is known.
    pub leaf: Option<FoundLeaf>,
    pub keys: Vec<Option<SecondaryKey>>,
}

impl Transaction {
    /// Inserts a row.
    ///
    /// # Errors
    /// Returns [`EngineError::Duplicate`], which names the violated index, when another row has a
    /// key of the row. Nothing of the row is left behind.
    pub fn insert(&mut self, table: &Arc<Table>, image: &[u8]) -> Result<()> {
        self.check_writable(table)?;
        self.use_table_to_change(table)?;
        let row_id = self.new_row_id(table);
        let announced = self.locks.announced();
        let NewRow { key, leaf, keys } = self.prepare_insert(table, image, row_id)?;
        if self.looks_at_foreign_keys(table)
            && table.is_current(image)?
            && let Err(error) = self.check_parents(table, image, &Stored::New)
        {
            self.engine.locks.withdraw_announced(&mut self.locks, announced);
            return Err(error);
        }
        let logged_at = match table.is_temporary() {
            true => None,
            false => Some(self.group.write_row(table, image)?),
        };
        self.let_images_go()?;
        self.record_change(table, row_id);
        self.stage_insert(table, &key, leaf, (image.to_vec(), logged_at), keys);
        self.note_auto_increment(table, image)?;
        bump(&self.engine.counters.rows_inserted, 1);
        Ok(())
    }

    /// Moves row images out of memory when more of the event group has been spilled.
    pub(super) fn let_images_go(&mut self) -> Result<()> {
        self.temporary.let_images_go()?;
        let spilled = self.group.spilled();
        if spilled > self.seen_spilled {
            let group = &mut self.group;
            self.writes.let_images_go(spilled as u64, |images| group.keep_images(images))?;
        }
        self.seen_spilled = spilled;
        Ok(())
    }

    /// Locks, checks and announces the keys of a row that is to be inserted.
    pub(super) fn prepare_insert(
        &mut self,
        table: &Table,
        image: &[u8],
        row_id: Option<u64>,
    ) -> Result<NewRow> {
        let key = table.clustered_key(image, row_id)?;
        loop {
            let held = self.locks.held();
            let leaf = self.lock_for_insert(table, &key, image, row_id.is_some())?;
            let keys = self.check_new_keys(table, image, &key, &key, None)?;
            if self.announce(table, Some(&key), &keys, held)? {
                return Ok(NewRow { key, leaf, keys });
            }
        }
    }

    /// Locks, checks and announces the new keys of an update: the clustered key of a row that
    /// moves, and the keys of the indexes that the update touches.
    pub(super) fn prepare_update(
        &mut self,
        table: &Table,
        image: &[u8],
        (old_key, new_key): (&[u8], &[u8]),
        touched: &[bool],
    ) -> Result<Vec<Option<SecondaryKey>>> {
        let moved = old_key != new_key;
        loop {
            let held = self.locks.held();
            if moved {
                self.lock_for_insert(table, new_key, image, false)?;
            }
            let keys = self.check_new_keys(table, image, new_key, old_key, Some(touched))?;
            if self.announce(table, moved.then_some(new_key), &keys, held)? {
                return Ok(keys);
            }
        }
    }

    /// Returns a fresh hidden row id for a table without a primary key, and `None` for other
    /// tables.
    pub(super) fn new_row_id(&self, table: &Table) -> Option<u64> {
        table.primary.is_none().then(|| table.counters.row_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Locks a key that is to be inserted and makes sure that no row has it. Returns the leaf that
    /// the key belongs into, if it is known.
    pub(super) fn lock_for_insert(
        &mut self,
        table: &Table,
        key: &[u8],
        image: &[u8],
        fresh_row_id: bool,
    ) -> Result<Option<FoundLeaf>> {
        if fresh_row_id {
            // Nobody has the row, but a locking scan may want to wait for it.
            if self.ahead.is_none() {
                self.lock_row(table, key, LockMode::Update)?;
            }
            return Ok(None);
        }
        // The key is located before it is locked, so that its leaf is on the way into the cache
        // meanwhile.
        let spot = match self.last_leaf(table, key) {
            Some(leaf) => Spot::again(key, leaf),
            None => table.clustered.locate(key),
        };
        if self.ahead.is_none() {
            self.lock_row(table, key, LockMode::Update)?;
        }
        let taken = match self.writes_of(table).row(table.id, key) {
            Some(own) => own.is_some(),
            None if self.ahead.is_some() => false,
            None => self.engine.rows.row_exists_at(table, &spot)?,
        };
        if taken { Err(self.duplicate(table, IndexRef::Primary, image)) } else { Ok(spot.leaf()) }
    }

    /// Returns the table's last leaf, if the transaction's last insert went there and the key comes
    /// after that insert's.
    fn last_leaf(&self, table: &Table, key: &[u8]) -> Option<FoundLeaf> {
        let (last, change) = self.writes_of(table).table(table.id)?.rows.last()?;
        change.leaf.filter(|leaf| leaf.is_last() && **last < *key)
    }

    /// Returns the secondary keys of a row that is to be stored under `key`. They are checked for
    /// uniqueness against all rows except the one under `own`, which the row replaces. `only`
    /// restricts the indexes.
    pub(super) fn check_new_keys(
        &mut self,
        table: &Table,
        image: &[u8],
        key: &[u8],
        own: &[u8],
        only: Option<&[bool]>,
    ) -> Result<Vec<Option<SecondaryKey>>> {
        let mut keys = Vec::with_capacity(table.indexes.len());
        for at in 0..table.indexes.len() {
            if only.is_some_and(|only| !only[at]) {
                keys.push(None);
                continue;
            }
            let secondary = table.secondary_key(at, image, key)?;
            table.check_key_len(secondary.key.len())?;
            self.check_unique(table, at, &secondary, own, image)?;
            keys.push(Some(secondary));
        }
        table.check_key_len(key.len())?;
        Ok(keys)
    }

    pub(super) fn record_change(&mut self, table: &Table, row_id: Option<u64>) {
        assert!(self.may_change(table), "{} is not locked as one that is changed", table.qualified_name);
        if table.is_temporary() {
            return;
        }
        self.writes.changes += 1;
        self.memory.note_change(table.indexes.len());
        self.locks.set_changes(self.writes.changes);
        if let Some(row_id) = row_id {
            self.sidecar.row_id(table.id, row_id);
        }
    }

    pub(super) fn stage_insert(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        leaf: Option<FoundLeaf>,
        (image, logged_at): (Vec<u8>, Option<u64>),
        keys: Vec<Option<SecondaryKey>>,
    ) {
        self.temporary.note_image(table, &image);
        let writes = self.writes_of_mut(table);
        writes.set_row(table, key, Origin::Insert(leaf), Some(image), logged_at);
        if keys.is_empty() {
            return;
        }
        let derivable = writes.is_inserted(table.id, key);
        for (at, secondary) in keys.into_iter().enumerate() {
            if let Some(secondary) = secondary {
                writes.set_entry(table, at, secondary, true, derivable);
            }
        }
    }

    pub(super) fn note_auto_increment(&self, table: &Table, image: &[u8]) -> Result<()> {
        if let Some(stored) = table.stored_auto_increment(image)? {
            table.note_auto_increment(stored);
        }
        Ok(())
    }

    /// Changes a row that was read with [`LockMode::Update`], and the child rows that follow it. If
    /// the row was not read so, it is locked and read again.
    ///
    /// # Errors
    /// Returns [`EngineError::Duplicate`], [`EngineError::NoParentRow`], or
    /// [`EngineError::RowNotFound`] when the row is gone. These leave nothing behind. After another
    /// error the statement has to be rolled back.
    pub fn update(&mut self, table: &Arc<Table>, old: &Row, new_image: &[u8]) -> Result<()> {
        self.check_writable(table)?;
        self.use_table_to_change(table)?;
        let current = self.locked_row(table, old)?;
        self.update_row(table, &old.key, current, new_image, None)
    }

    /// Changes a row that is locked and whose present state is `current`.
    pub(super) fn update_row(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        current: OldRow,
        new_image: &[u8],
        from: Following<'_>,
    ) -> Result<()> {
        let changed = table.layout.changed(&current.image, new_image)?;
        if changed.is_empty() {
            return Ok(());
        }
        let old_image = if table.is_related() { current.image.clone() } else { Vec::new() };
        // In a table with system versioning, a row version that ends counts as deleted for the rows
        // that refer to it.
        let ends = table.is_current(&current.image)? && !table.is_current(new_image)?;
        let change = match ends {
            true => Change::Delete { old: &old_image },
            false => Change::Update { old: &old_image, new: new_image, changed: &changed },
        };
        let references = self.references(table, change)?;
        let row_id = row_id_of(table, key);
        let keeps_key = !table.primary_mask.iter().any(|part| changed.contains(part));
        let new_key =
            if keeps_key { KeyBuf::from_slice(key) } else { table.clustered_key(new_image, row_id)? };
        let moved = *new_key != *key;
        if self.looks_at_foreign_keys(table) {
            let followed = from.map(|(followed, _)| followed);
            self.check_parents(table, new_image, &Stored::Changed { changed: &changed, moved, followed })?;
            self.check_references(&references, table, change, from)?;
        }
        let touched = touched_indexes(table, &changed, moved);
        let new_keys = match moved || touched.contains(&true) {
            true => self.prepare_update(table, new_image, (key, &new_key), &touched)?,
            false => Vec::new(),
        };
        let logged_at = match table.is_temporary() {
            true => None,
            false => self.group.update_row(table, &current.image, new_image, &changed)?,
        };
        self.let_images_go()?;
        if moved && logged_at.is_none() && !table.is_temporary() {
            self.sidecar.whole_row(table.id, new_image);
        }
        self.record_change(table, row_id);
        let new = (new_image.to_vec(), logged_at);
        self.stage_update(table, key, current, &new_key, new, new_keys)?;
        if table.auto_increment.is_some_and(|column| changed.contains(column)) {
            self.note_auto_increment(table, new_image)?;
        }
        bump(&self.engine.counters.rows_updated, 1);
        self.cascade(&references, table, change, from)
    }

    /// Returns the present state of a row that is to be changed. A row that has just been locked
    /// and read is not read again.
    fn locked_row(&mut self, table: &Table, row: &Row) -> Result<OldRow> {
        match self.last_read.take() {
            Some(LastRead { table_id, key, seq, externs, leaf })
                if table_id == table.id
                    && *key == row.key[..]
                    && self.writes_of(table).row(table_id, &key).is_none() =>
            {
                Ok(OldRow { image: row.image.clone(), seq, externs, leaf })
            }
            _ => self.current_row(table, &row.key),
        }
    }

    /// Locks a row that is to be changed and reads its present state.
    pub(super) fn current_row(&mut self, table: &Table, key: &[u8]) -> Result<OldRow> {
        let spot = table.clustered.locate(key);
        table.clustered.prefetch(&spot);
        if self.ahead.is_none() {
            self.lock_row(table, key, LockMode::Update)?;
        }
        let current = match self.own_image(table, key)? {
            Some(own) => own.map(|image| OldRow { image, seq: 0, externs: Default::default(), leaf: None }),
            None => self.engine.rows.read_newest_at(table, &spot)?,
        };
        current.ok_or_else(|| EngineError::RowNotFound {
            table: table.qualified_name.clone(),
            key: key_hex(key),
        })
    }

    pub(super) fn stage_update(
        &mut self,
        table: &Arc<Table>,
        old_key: &[u8],
        old: OldRow,
        new_key: &KeyBuf,
        (new_image, logged_at): (Vec<u8>, Option<u64>),
        new_keys: Vec<Option<SecondaryKey>>,
    ) -> Result<()> {
        let moved = **new_key != *old_key;
        let old_derivable = self.writes_of(table).is_inserted(table.id, old_key);
        let mut entries = Vec::new();
        for (at, new) in new_keys.into_iter().enumerate() {
            let Some(new) = new else { continue };
            let previous = table.secondary_key(at, &old.image, old_key)?;
            if previous.key != new.key {
                entries.push((at, previous, new));
            }
        }
        self.temporary.note_image(table, &new_image);
        let writes = self.writes_of_mut(table);
        if moved {
            writes.set_row(table, old_key, Origin::Committed(old), None, None);
            writes.set_row(table, new_key, Origin::Move(None), Some(new_image), logged_at);
        } else {
            writes.set_row(table, old_key, Origin::Committed(old), Some(new_image), logged_at);
        }
        for (at, previous, new) in entries {
            // A row that moved is an update in the events, from which replay derives no entries.
            // For a unique index the writeset wants every key that the row has had, and an update's
            // image need not have all of the key's columns.
            let new_derivable = old_derivable && !moved && !table.indexes[at].unique;
            writes.set_entry(table, at, previous, false, old_derivable);
            writes.set_entry(table, at, new, true, new_derivable);
        }
        Ok(())
    }

    /// Deletes a row that was read with [`LockMode::Update`], and the child rows that go with it.
    /// If the row was not read so, it is locked and read again.
    ///
    /// # Errors
    /// Returns [`EngineError::RowNotFound`] when the row is gone. After another error the statement
    /// has to be rolled back.
    pub fn delete(&mut self, table: &Arc<Table>, old: &Row) -> Result<()> {
        self.check_writable(table)?;
        self.use_table_to_change(table)?;
        let current = self.locked_row(table, old)?;
        self.delete_row(table, &old.key, current, None)
    }

    /// Deletes a row that is locked and whose present state is `current`.
    pub(super) fn delete_row(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        current: OldRow,
        from: Following<'_>,
    ) -> Result<()> {
        let old_image = if table.is_related() { current.image.clone() } else { Vec::new() };
        let change = Change::Delete { old: &old_image };
        let references = self.references(table, change)?;
        self.check_references(&references, table, change, from)?;
        if !table.is_temporary() {
            self.group.delete_row(table, &current.image)?;
        }
        self.let_images_go()?;
        self.record_change(table, row_id_of(table, key));
        self.stage_delete(table, key, current)?;
        bump(&self.engine.counters.rows_deleted, 1);
        self.cascade(&references, table, change, from)
    }

    pub(super) fn stage_delete(&mut self, table: &Arc<Table>, key: &[u8], old: OldRow) -> Result<()> {
        let writes = self.writes_of_mut(table);
        let derivable = writes.is_inserted(table.id, key);
        for at in 0..table.indexes.len() {
            let secondary = table.secondary_key(at, &old.image, key)?;
            writes.set_entry(table, at, secondary, false, derivable);
        }
        writes.set_row(table, key, Origin::Committed(old), None, None);
        Ok(())
    }
}

/// Returns, for each index, whether an update touches it.
pub(super) fn touched_indexes(table: &Table, changed: &ColumnMask, moved: bool) -> SmallVec<[bool; 16]> {
    let touches = |index: &crate::table::Index| index.parts.iter().any(|part| changed.contains(part.column));
    table.indexes.iter().map(|index| moved || touches(index)).collect()
}

/// Returns the hidden row id in a clustered key; `None` for a table with a primary key.
pub(super) fn row_id_of(table: &Table, key: &[u8]) -> Option<u64> {
    match (&table.primary, <[u8; 8]>::try_from(key)) {
        (None, Ok(bytes)) => Some(u64::from_be_bytes(bytes)),
        _ => None,
    }
}

/// Returns a clustered key in the form that an error message shows when no image of the row is at
/// hand.
pub(super) fn key_hex(key: &[u8]) -> String {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}
