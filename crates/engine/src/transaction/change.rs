//! Inserting, updating and deleting rows: locks and checks come first, then the write set and the
//! event group, then the child rows that follow.

use super::cascade::{
    Cause, Change, ChildChange, Following, Reference, check_reference, check_references, child_change,
    references,
};
use super::foreign_key::{Stored, check_parents, looks_at_foreign_keys, rows_with};
use super::new_keys::{
    NewRow, UpdatedKeys, new_row_id, note_auto_increment, prepare_insert, prepare_update, row_id_of,
    touched_indexes,
};
use super::overlap::check_overlaps;
use super::row_access::RowAccess;
use crate::bytes::KeyBuf;
use crate::error::Result;
use crate::rows::OldRow;
use crate::status::bump;
use crate::table::Table;
use std::sync::Arc;
use types::ColumnMask;

/// Inserts a row.
///
/// # Errors
/// Returns [`crate::EngineError::Duplicate`], which names the violated index, when another row has
/// a key of the row. Nothing of the row is left behind.
pub(super) fn insert(rows: &mut RowAccess, table: &Arc<Table>, image: &[u8]) -> Result<()> {
    rows.use_table_to_change(table)?;
    let row_id = new_row_id(table);
    check_overlaps(rows, table, image, None)?;
    let announced = rows.locks.owner.announced();
    let NewRow { key, leaf, keys, over } = prepare_insert(rows, table, image, row_id)?;
    if looks_at_foreign_keys(rows, table)
        && table.is_current(image)?
        && let Err(error) = check_parents(rows, table, image, &Stored::New)
    {
        rows.engine.locks.withdraw_announced(&mut rows.locks.owner, announced);
        return Err(error);
    }
    let logged_at = match table.is_temporary() {
        true => None,
        false => Some(rows.changes.group.write_row(table, image)?),
    };
    rows.changes.let_images_go()?;
    rows.record_change(table, row_id);
    rows.changes.stage_over(table, &key, over)?;
    rows.changes.stage_insert(table, &key, leaf, (image.to_vec(), logged_at), keys);
    note_auto_increment(table, image)?;
    bump(&rows.engine.counters.rows_inserted, 1);
    Ok(())
}

/// Changes a row that is locked and whose present state is `current`, and the child rows that
/// follow it.
pub(super) fn update_row(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    key: &[u8],
    current: OldRow,
    new_image: Vec<u8>,
    from: Following<'_>,
) -> Result<()> {
    let changed = table.layout.changed(&current.image, &new_image)?;
    if changed.is_empty() {
        return Ok(());
    }
    update_changed(rows, table, key, current, (new_image, changed), from)
}

/// Does what [`update_row`] does, when the columns are known in which the images differ.
pub(super) fn update_changed(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    key: &[u8],
    current: OldRow,
    (image, changed): (Vec<u8>, ColumnMask),
    from: Following<'_>,
) -> Result<()> {
    let new_image = &image[..];
    debug_assert_eq!(Ok(&changed), table.layout.changed(&current.image, new_image).as_ref());
    let old_image = if table.is_related() { current.image.clone() } else { Vec::new() };
    // In a table with system versioning, a row version that ends counts as deleted for the rows
    // that refer to it.
    let ends = table.is_current(&current.image)? && !table.is_current(new_image)?;
    let change = match ends {
        true => Change::Delete { old: &old_image },
        false => Change::Update { old: &old_image, new: new_image, changed: &changed },
    };
    let references = references(rows, table, change)?;
    let row_id = row_id_of(table, key);
    let keeps_key = !table.primary_mask.iter().any(|part| changed.contains(part));
    let new_key = if keeps_key { KeyBuf::from_slice(key) } else { table.clustered_key(new_image, row_id)? };
    let moved = *new_key != *key;
    if looks_at_foreign_keys(rows, table) {
        let followed = from.map(|(followed, _)| followed);
        check_parents(rows, table, new_image, &Stored::Changed { changed: &changed, moved, followed })?;
        check_references(rows, &references, table, change, from)?;
    }
    check_overlaps(rows, table, new_image, Some(key))?;
    let touched = touched_indexes(table, &changed, moved);
    let new_keys = match moved || touched.contains(&true) {
        true => prepare_update(rows, table, new_image, (key, &new_key), &touched)?,
        false => UpdatedKeys::default(),
    };
    let logged_at = match table.is_temporary() {
        true => None,
        false => rows.changes.group.update_row(table, &current.image, new_image, &changed)?,
    };
    rows.changes.let_images_go()?;
    if moved && logged_at.is_none() && !table.is_temporary() {
        rows.changes.sidecar.whole_row(table.id, new_image);
    }
    rows.record_change(table, row_id);
    if table.auto_increment.is_some_and(|column| changed.contains(column)) {
        note_auto_increment(table, new_image)?;
    }
    // The write set gets the image itself. Only what follows needs another one.
    let for_followers = if references.is_empty() { Vec::new() } else { image.clone() };
    rows.changes.stage_over(table, &new_key, new_keys.over)?;
    rows.changes.stage_update(table, key, current, &new_key, (image, logged_at), new_keys.keys)?;
    bump(&rows.engine.counters.rows_updated, 1);
    let change = match ends {
        true => Change::Delete { old: &old_image },
        false => Change::Update { old: &old_image, new: &for_followers, changed: &changed },
    };
    cascade(rows, &references, table, change, from)
}

/// Deletes a row that is locked and whose present state is `current`, and the child rows that go
/// with it.
pub(super) fn delete_row(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    key: &[u8],
    current: OldRow,
    from: Following<'_>,
) -> Result<()> {
    let old_image = if table.is_related() { current.image.clone() } else { Vec::new() };
    let change = Change::Delete { old: &old_image };
    let references = references(rows, table, change)?;
    check_references(rows, &references, table, change, from)?;
    if !table.is_temporary() {
        rows.changes.group.delete_row(table, &current.image)?;
    }
    rows.changes.let_images_go()?;
    rows.record_change(table, row_id_of(table, key));
    rows.changes.stage_delete(table, key, current)?;
    bump(&rows.engine.counters.rows_deleted, 1);
    cascade(rows, &references, table, change, from)
}

/// Makes the changes of child rows that follow from a change. It goes through one foreign key after
/// the other, so a row that the first has deleted forbids nothing by the second.
fn cascade(
    rows: &mut RowAccess,
    references: &[Reference],
    table: &Table,
    change: Change<'_>,
    from: Following<'_>,
) -> Result<()> {
    let cause = change.cause(table, from);
    let is_followed = |reference: &Reference| cause.is_followed_by(reference, change);
    for reference in references.iter().skip_while(|reference| !is_followed(reference)) {
        if !is_followed(reference) {
            check_reference(rows, reference, false)?;
            continue;
        }
        for row in rows_with(rows, &reference.child, reference.index, &reference.key)? {
            follow(rows, reference, &row, (table, change), &cause)?;
        }
    }
    Ok(())
}

/// Makes the change of one child row that follows from a change of its parent row.
fn follow(
    rows: &mut RowAccess,
    reference: &Reference,
    row: &KeyBuf,
    parent: (&Table, Change<'_>),
    cause: &Cause<'_>,
) -> Result<()> {
    let from = Some((reference.foreign_key(), cause));
    match child_change(rows, reference, row, parent, cause)? {
        None => Ok(()),
        Some(ChildChange::Delete(current)) => delete_row(rows, &reference.child, row, current, from),
        Some(ChildChange::Update(current, image)) => {
            update_row(rows, &reference.child, row, current, image, from)
        }
    }
}
