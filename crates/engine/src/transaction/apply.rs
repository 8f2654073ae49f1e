//! Applying a source's transactions.
//!
//! The group of events arrives complete and goes into the log as it was received (with this
//! engine's table ids), so no event is written here. Rows are found by key, their partial images
//! are spliced over the stored rows, and everything is checked before the commit. A transaction
//! that cannot be applied leaves nothing in the log or on pages.
//!
//! A row is found by the primary key when the before image has it; otherwise by the first unique or
//! other secondary index whose columns the before image has; otherwise by a scan of the table for a
//! row that equals the before image. Without a unique key one scan finds all rows of an event, or
//! those rows of the event that have the same key of the index.

use super::key_range::key_hex;
use super::new_keys::{
    NewRow, UpdatedKeys, new_row_id, note_auto_increment, prepare_insert, prepare_update, row_id_of,
    touched_indexes,
};
use super::row_access::RowAccess;
use super::scan::Scan;
use super::unique::holder_of;
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::error::{EngineError, Result};
use crate::partial::PartialRow;
use crate::rows::OldRow;
use crate::status::bump;
use crate::table::{SEQUENCE_ROW_ID, SecondaryKey, Table};
use crate::transaction::key_range::KeyRange;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use types::ColumnMask;

/// A row of a source that was found here.
#[derive(Debug)]
pub struct FoundRow(pub(super) KeyBuf);

pub(super) fn check_columns(table: &Table, row: PartialRow<'_>) -> Result<()> {
    if row.mask.columns() == table.columns() {
        return Ok(());
    }
    Err(EngineError::Incompatible {
        table: table.qualified_name.clone(),
        reason: format!("the event has {} columns, the table {}", row.mask.columns(), table.columns()),
    })
}

/// Applies an inserted row. Columns that the event does not have get their defaults, as in the
/// source's row. A column without a default gets NULL or, if the table forbids NULL, causes the
/// error of a missing default.
pub(super) fn apply_insert(rows: &mut RowAccess, table: &Arc<Table>, after: PartialRow<'_>) -> Result<()> {
    check_columns(table, after)?;
    rows.use_table_to_change(table)?;
    if table.def.is_sequence() {
        return apply_sequence(rows, table, after);
    }
    let image = table.inserted_image(after)?;
    let row_id = new_row_id(table);
    let NewRow { key, leaf, keys, over } = prepare_insert(rows, table, &image, row_id)?;
    if !after.mask.is_full() {
        // Replay cannot know what the defaults were.
        rows.changes.sidecar.whole_row(table.id, &image);
    }
    rows.record_change(table, row_id);
    note_auto_increment(table, &image)?;
    rows.changes.stage_over(table, &key, over)?;
    rows.changes.stage_insert(table, &key, leaf, (image, None), keys);
    bump(&rows.engine.counters.rows_inserted, 1);
    Ok(())
}

/// Sets the one row of a MariaDB sequence as a source logged it: the inserted row takes the place
/// of the existing one.
fn apply_sequence(rows: &mut RowAccess, table: &Arc<Table>, after: PartialRow<'_>) -> Result<()> {
    let image = table.inserted_image(after)?;
    if !after.mask.is_full() {
        // Replay cannot know what the defaults were.
        rows.changes.sidecar.whole_row(table.id, &image);
    }
    let key = table.clustered_key(&image, Some(SEQUENCE_ROW_ID))?;
    match rows.current_row(table, &key) {
        Ok(old) => {
            rows.record_change(table, Some(SEQUENCE_ROW_ID));
            let new = (image.clone(), None);
            rows.changes.stage_update(table, &key, old, &key, new, Vec::new())?;
            let whole = PartialRow { mask: &table.full_mask, image: &image };
            note_update_ahead(rows, table, &key, Some(whole));
        }
        // The table got these columns and became a sequence while it was empty.
        Err(EngineError::RowNotFound { .. }) => {
            rows.locks.check_not_ahead()?;
            rows.record_change(table, Some(SEQUENCE_ROW_ID));
            rows.changes.stage_insert(table, &key, None, (image, None), Vec::new());
        }
        Err(error) => return Err(error),
    }
    bump(&rows.engine.counters.rows_inserted, 1);
    Ok(())
}

/// Applies an inserted row whatever exists: rows that have one of its keys are deleted first
/// (`replica_exec_mode=IDEMPOTENT`). Returns the images of the deleted rows, in the order of their
/// deletion.
pub(super) fn apply_insert_over(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    after: PartialRow<'_>,
) -> Result<Vec<Vec<u8>>> {
    rows.locks.check_not_ahead()?;
    let mut deleted = Vec::new();
    loop {
        let index = match apply_insert(rows, table, after) {
            Err(EngineError::Duplicate { index, .. }) => index,
            other => return other.map(|()| deleted),
        };
        let image = table.inserted_image(after)?;
        // If the row is gone again, it is in nobody's way.
        let Some((key, old)) = row_in_the_way(rows, table, &image, &index)? else { continue };
        deleted.push(old.image.clone());
        rows.record_change(table, row_id_of(table, &key));
        rows.changes.stage_delete(table, &key, old)?;
        bump(&rows.engine.counters.rows_deleted, 1);
    }
}

/// Locks the row whose key of this index is the one of an image, and returns it with its clustered
/// key. `None` means that there is no such row any more.
pub(super) fn row_in_the_way(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    image: &[u8],
    index: &str,
) -> Result<Option<(KeyBuf, OldRow)>> {
    let holder = match table.indexes.iter().position(|held| held.name == index) {
        Some(at) => {
            let keys = table.entry_keys(at, image, &[])?;
            let holder = |key: &SecondaryKey| holder_of(rows, table, at, &key.key, &[]).transpose();
            keys.as_slice().iter().find_map(holder).transpose()?
        }
        None => Some(table.clustered_key(image, None)?),
    };
    let Some(key) = holder else { return Ok(None) };
    match rows.current_row(table, &key) {
        Err(EngineError::RowNotFound { .. }) => Ok(None),
        old => Ok(Some((key, old?))),
    }
}

/// Applies an updated row.
pub(super) fn apply_update(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    before: PartialRow<'_>,
    after: PartialRow<'_>,
) -> Result<()> {
    check_columns(table, before)?;
    rows.use_table_to_change(table)?;
    let key = find_row(rows, table, before)?;
    apply_update_of(rows, table, &FoundRow(key), before, after)
}

/// Applies an updated row that [`find_together`] or [`find_current`] has found.
pub(super) fn apply_update_of(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    FoundRow(key): &FoundRow,
    before: PartialRow<'_>,
    after: PartialRow<'_>,
) -> Result<()> {
    check_columns(table, after)?;
    let old = rows.current_row(table, key).map_err(|error| name_row(error, table, before))?;
    let mut new = Vec::with_capacity(old.image.len() + after.image.len());
    table.layout.check_values(after.mask, after.image)?;
    table.layout.splice(&old.image, after.mask, after.image, &mut new)?;
    let row_id = row_id_of(table, key);
    let may_move = row_id.is_none() && after.mask.intersects(&table.primary_mask);
    let made = if may_move { Some(table.clustered_key(&new, None)?) } else { None };
    let new_key = made.as_ref().unwrap_or(key);
    let moved = may_move && new_key != key;
    let new_keys = changed_keys(rows, table, &old, &new, after.mask, (key, new_key))?;
    if moved && !after.mask.is_full() {
        rows.changes.sidecar.whole_row(table.id, &new);
    }
    rows.record_change(table, row_id);
    if table.auto_increment.is_some_and(|column| after.mask.contains(column)) {
        note_auto_increment(table, &new)?;
    }
    let by_columns_alone = !moved && new_keys.keys.is_empty();
    rows.changes.stage_over(table, new_key, new_keys.over)?;
    rows.changes.stage_update(table, key, old, new_key, (new, None), new_keys.keys)?;
    note_update_ahead(rows, table, key, by_columns_alone.then_some(after));
    bump(&rows.engine.counters.rows_updated, 1);
    Ok(())
}

/// Returns the new keys of the indexes that an update touches. `keys` are the row's clustered keys
/// before and after.
fn changed_keys(
    rows: &mut RowAccess,
    table: &Table,
    old: &OldRow,
    new: &[u8],
    after: &ColumnMask,
    keys: (&[u8], &KeyBuf),
) -> Result<UpdatedKeys> {
    let (old_key, new_key) = keys;
    let moved = **new_key != *old_key;
    if !moved && !after.intersects(&table.indexed_mask) {
        return Ok(UpdatedKeys::default());
    }
    let changed = table.layout.changed(&old.image, new)?;
    let touched = touched_indexes(table, &changed, moved);
    prepare_update(rows, table, new, (old_key, new_key), &touched)
}

/// Locks the row that a before image describes and returns it with its full image, for a change
/// that depends on what is there.
pub(super) fn find_current(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    before: PartialRow<'_>,
) -> Result<(FoundRow, Vec<u8>)> {
    rows.locks.check_not_ahead()?;
    check_columns(table, before)?;
    rows.use_table_to_change(table)?;
    let key = find_row(rows, table, before)?;
    let row = rows.current_row(table, &key).map_err(|error| name_row(error, table, before))?;
    Ok((FoundRow(key), row.image))
}

/// Applies a deleted row.
pub(super) fn apply_delete(rows: &mut RowAccess, table: &Arc<Table>, before: PartialRow<'_>) -> Result<()> {
    check_columns(table, before)?;
    rows.use_table_to_change(table)?;
    let key = find_row(rows, table, before)?;
    apply_delete_of(rows, table, &FoundRow(key), before)
}

/// Applies a deleted row that [`find_together`] has found.
pub(super) fn apply_delete_of(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    FoundRow(key): &FoundRow,
    before: PartialRow<'_>,
) -> Result<()> {
    let old = rows.current_row(table, key).map_err(|error| name_row(error, table, before))?;
    rows.record_change(table, row_id_of(table, key));
    rows.changes.stage_delete(table, key, old)?;
    bump(&rows.engine.counters.rows_deleted, 1);
    Ok(())
}

/// Returns the clustered key of the row that a before image describes.
pub(super) fn find_row(rows: &mut RowAccess, table: &Arc<Table>, before: PartialRow<'_>) -> Result<KeyBuf> {
    if table.primary.is_some() && before.mask.covers(&table.primary_mask) {
        return table.partial_clustered_key(before);
    }
    rows.locks.check_not_ahead()?;
    let image = before.widened(table)?;
    let (index, range) = match table.best_index(before.mask) {
        Some(at) => {
            let key = table.secondary_key(at, &image, &[])?.key;
            table.usage(Some(IndexRef::Secondary(at))).add(&[1, 0, 0, 0]);
            (IndexRef::Secondary(at), KeyRange::prefix(&key))
        }
        None => (IndexRef::Primary, KeyRange::all()),
    };
    // Rows that do not match are passed by without a lock. The row that matches is locked and read
    // again.
    let wanted = table.layout.comparable(before.mask, before.image);
    let mut scan = Scan::open_newest(rows, table, index, range)?;
    let mut found = None;
    while let Some(row) = scan.next_row(rows)? {
        let mut columns = Vec::new();
        table.layout.extract(&row.image, before.mask, &mut columns)?;
        if table.layout.comparable(before.mask, &columns) == wanted {
            found = Some(KeyBuf::from_slice(&row.key));
            break;
        }
    }
    rows.close_snapshot();
    found.ok_or_else(|| not_found(table, before))
}

/// Finds the rows that before images with these columns describe, when no unique key leads to them.
/// It scans the best index once for each different key, or the table once. `None` stands for an
/// image that no row has now; an earlier change of the same event may make such a row. An empty
/// list means that there is a better way to each of the rows.
pub(super) fn find_together(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    mask: &ColumnMask,
    images: &[&[u8]],
) -> Result<Vec<Option<FoundRow>>> {
    let has_key = table.primary.is_some() && mask.covers(&table.primary_mask);
    let index = table.best_index(mask);
    if images.len() < 2 || has_key || index.is_some_and(|at| table.indexes[at].unique) {
        return Ok(Vec::new());
    }
    rows.locks.check_not_ahead()?;
    rows.use_table_to_change(table)?;
    let mut wanted: HashMap<Cow<'_, [u8]>, Vec<usize>> = HashMap::new();
    // The last one of equal images is the first to be taken out again.
    for (at, image) in images.iter().enumerate().rev() {
        wanted.entry(table.layout.comparable(mask, image)).or_default().push(at);
    }
    let mut found = Vec::new();
    found.resize_with(images.len(), || None);
    let mut columns = Vec::new();
    for (index, range, mut missing) in table.places_of(index, mask, images)? {
        if index != IndexRef::Primary {
            table.usage(Some(index)).add(&[1, 0, 0, 0]);
        }
        let mut scan = Scan::open_newest(rows, table, index, range)?;
        while missing > 0 {
            let Some(row) = scan.next_row(rows)? else { break };
            columns.clear();
            table.layout.extract(&row.image, mask, &mut columns)?;
            let image = table.layout.comparable(mask, &columns);
            if let Some(at) = wanted.get_mut(&image[..]).and_then(Vec::pop) {
                found[at] = Some(FoundRow(KeyBuf::from_slice(&row.key)));
                missing -= 1;
            }
        }
    }
    rows.close_snapshot();
    Ok(found)
}

/// Notes how an update can be made again from another state of its row, if the transaction is
/// applied ahead; see [`super::changes::Changes::note_patch`].
fn note_update_ahead(rows: &mut RowAccess, table: &Table, key: &[u8], after: Option<PartialRow<'_>>) {
    if rows.locks.is_ahead() {
        rows.changes.note_patch(table, key, after);
    }
}

fn not_found(table: &Table, before: PartialRow<'_>) -> EngineError {
    let key = match before.widened(table) {
        Ok(image) if table.primary.is_some() => table.key_text(IndexRef::Primary, &image),
        _ => key_hex(before.image),
    };
    EngineError::RowNotFound { table: table.qualified_name.clone(), key }
}

/// Puts the text of the row's key into the error of a missing row.
pub(super) fn name_row(error: EngineError, table: &Table, before: PartialRow<'_>) -> EngineError {
    match error {
        EngineError::RowNotFound { .. } => not_found(table, before),
        error => error,
    }
}
