//! The keys that an insert or an update makes: they are locked, checked for uniqueness and
//! announced before the row is staged.

use super::mode::LockMode;
use super::row_access::RowAccess;
use super::unique::{check_unique, duplicate};
use super::write_set::WriteSet;
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::error::Result;
use crate::multi_valued::EntryKeys;
use crate::rows::OldRow;
use crate::table::{Index, Table};
use btree::Spot;
use buffer::FoundLeaf;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use types::ColumnMask;

/// A row that may be inserted.
pub(super) struct NewRow {
    pub key: KeyBuf,
    /// The leaf that the row belongs into, if it is known.
    pub leaf: Option<FoundLeaf>,
    pub keys: Vec<Option<EntryKeys>>,
    /// The row that the new one takes the place of, because it went with its partition.
    pub over: Option<OldRow>,
}

/// The new keys of a row that is updated.
#[derive(Default)]
pub(super) struct UpdatedKeys {
    /// For each index the new keys, if the update touches it. The list is empty when the update
    /// touches none.
    pub keys: Vec<Option<EntryKeys>>,
    /// The row at the new place of a row that moves, which went with its partition.
    pub over: Option<OldRow>,
}

/// Locks, checks and announces the keys of a row that is to be inserted.
pub(super) fn prepare_insert(
    rows: &mut RowAccess,
    table: &Table,
    image: &[u8],
    row_id: Option<u64>,
) -> Result<NewRow> {
    let key = table.clustered_key(image, row_id)?;
    loop {
        let held = rows.locks.owner.held();
        let (leaf, over) = lock_for_insert(rows, table, &key, image, row_id.is_some())?;
        let keys = check_new_keys(rows, table, image, (&key, &key), None)?;
        if rows.announce(table, Some(&key), &keys, held)? {
            return Ok(NewRow { key, leaf, keys, over });
        }
    }
}

/// Locks, checks and announces the new keys of an update: the clustered key of a row that moves,
/// and the keys of the indexes that the update touches.
pub(super) fn prepare_update(
    rows: &mut RowAccess,
    table: &Table,
    image: &[u8],
    (old_key, new_key): (&[u8], &[u8]),
    touched: &[bool],
) -> Result<UpdatedKeys> {
    let moved = old_key != new_key;
    loop {
        let held = rows.locks.owner.held();
        let over = if moved { lock_for_insert(rows, table, new_key, image, false)?.1 } else { None };
        let keys = check_new_keys(rows, table, image, (new_key, old_key), Some(touched))?;
        if rows.announce(table, moved.then_some(new_key), &keys, held)? {
            return Ok(UpdatedKeys { keys, over });
        }
    }
}

/// Locks a key that is to be inserted and makes sure that no row has it. Returns the leaf that the
/// key belongs into, if it is known, and a row with the key that went with its partition.
fn lock_for_insert(
    rows: &mut RowAccess,
    table: &Table,
    key: &[u8],
    image: &[u8],
    fresh_row_id: bool,
) -> Result<(Option<FoundLeaf>, Option<OldRow>)> {
    let is_ahead = rows.locks.is_ahead();
    if fresh_row_id {
        // Nobody has the row, but a locking scan may want to wait for it.
        if !is_ahead {
            rows.lock_row(table, key, LockMode::Update)?;
        }
        return Ok((None, None));
    }
    // The key is located before it is locked, so that its leaf is on the way into the cache
    // meanwhile.
    let spot = match last_leaf(rows.changes.writes_of(table), table, key) {
        Some(leaf) => Spot::again(key, leaf),
        None => table.clustered.locate(key),
    };
    if !is_ahead {
        rows.lock_row(table, key, LockMode::Update)?;
    }
    let own = rows.changes.writes_of(table).row(table.id, key).map(|own| own.is_some());
    let is_own = own.is_some();
    let taken = match own {
        Some(is_there) => is_there,
        None if is_ahead => false,
        None => rows.engine.rows.row_exists_at(table, &spot)?,
    };
    if taken {
        return Err(duplicate(table, IndexRef::Primary, image));
    }
    let over = if is_ahead || is_own { None } else { rows.engine.rows.read_dropped(table, key)? };
    Ok((spot.leaf(), over))
}

/// Returns the table's last leaf, if the transaction's last insert went there and the key comes
/// after that insert's.
fn last_leaf(writes: &WriteSet, table: &Table, key: &[u8]) -> Option<FoundLeaf> {
    let (last, change) = writes.table(table.id)?.rows.last()?;
    change.leaf.filter(|leaf| leaf.is_last() && **last < *key)
}

/// Returns the secondary keys of a row that is to be stored under the first of the two clustered
/// keys. They are checked for uniqueness against all rows except the one under the second, which
/// the row replaces. `only` restricts the indexes.
fn check_new_keys(
    rows: &mut RowAccess,
    table: &Table,
    image: &[u8],
    (key, own): (&[u8], &[u8]),
    only: Option<&[bool]>,
) -> Result<Vec<Option<EntryKeys>>> {
    let mut keys = Vec::with_capacity(table.indexes.len());
    for at in 0..table.indexes.len() {
        if only.is_some_and(|only| !only[at]) {
            keys.push(None);
            continue;
        }
        let secondary = table.entry_keys(at, image, key)?;
        for secondary in secondary.as_slice() {
            table.check_key_len(secondary.key.len())?;
            check_unique(rows, table, at, secondary, own, image)?;
        }
        keys.push(Some(secondary));
    }
    table.check_key_len(key.len())?;
    Ok(keys)
}

/// Returns a fresh hidden row id for a table without a primary key, and `None` for other tables.
pub(super) fn new_row_id(table: &Table) -> Option<u64> {
    table.primary.is_none().then(|| table.counters.row_id.fetch_add(1, Ordering::Relaxed))
}

/// Returns the hidden row id in a clustered key; `None` for a table with a primary key.
pub(super) fn row_id_of(table: &Table, key: &[u8]) -> Option<u64> {
    match (&table.primary, <[u8; 8]>::try_from(key)) {
        (None, Ok(bytes)) => Some(u64::from_be_bytes(bytes)),
        _ => None,
    }
}

/// Raises the table's next AUTO_INCREMENT value above the one that a stored row has.
pub(super) fn note_auto_increment(table: &Table, image: &[u8]) -> Result<()> {
    if let Some(stored) = table.stored_auto_increment(image)? {
        table.note_auto_increment(stored);
    }
    Ok(())
}

/// Returns, for each index, whether an update touches it.
pub(super) fn touched_indexes(table: &Table, changed: &ColumnMask, moved: bool) -> SmallVec<[bool; 16]> {
    let touches = |index: &Index| index.columns.iter().any(|at| changed.contains(*at));
    table.indexes.iter().map(|index| moved || touches(index)).collect()
}
