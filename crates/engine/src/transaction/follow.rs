//! Applying rows of a source that leaves the changes of child rows by foreign keys to its replica's
//! engine: MySQL before 9.6, and MariaDB.
//!
//! Such a row is changed as a session would change it, with the child rows that follow, and the
//! transaction's own event group has all of them. So the log says what was done, recovery needs to
//! know nothing of foreign keys, and replicas of this server get every row (docs/decisions/0027).

use super::apply::{check_columns, find_row, name_row};
use super::change::{delete_row, update_row};
use super::mode::ForeignKeys;
use super::row_access::RowAccess;
use crate::catalog::Catalog;
use crate::error::Result;
use crate::partial::PartialRow;
use crate::table::Table;
use std::sync::Arc;
use types::ColumnMask;

/// Reports whether a row that takes the place of another has the same key for every foreign key
/// that refers to the table.
pub(super) fn keeps_references(catalog: &Catalog, table: &Table, old: &[u8], new: &[u8]) -> Result<bool> {
    if !table.is_related() {
        return Ok(true);
    }
    let changed = table.layout.changed(old, new)?;
    let children = catalog.children(&table.def.schema, &table.def.name);
    let mut keys = children.iter().flat_map(|child| &child.def.foreign_keys);
    let is_kept = |name: &String| table.def.column(name).is_none_or(|column| !changed.contains(column));
    Ok(keys.all(|key| {
        !key.is_about(&table.def.schema, &table.def.name) || key.parent_columns.iter().all(is_kept)
    }))
}

/// Reports whether other rows may change when a row of this table is deleted.
pub(super) fn delete_has_followers(catalog: &Catalog, table: &Table) -> bool {
    if table.is_temporary() {
        return false;
    }
    let children = catalog.children(&table.def.schema, &table.def.name);
    let mut keys = children.iter().flat_map(|child| &child.def.foreign_keys);
    keys.any(|key| key.is_about(&table.def.schema, &table.def.name) && key.on_delete.changes_rows())
}

/// Returns the columns of this table that rows of child tables follow.
pub(super) fn followed_columns(catalog: &Catalog, table: &Table) -> ColumnMask {
    let mut mask = ColumnMask::empty(table.columns());
    if table.is_temporary() {
        return mask;
    }
    let children = catalog.children(&table.def.schema, &table.def.name);
    let keys = children.iter().flat_map(|child| &child.def.foreign_keys);
    for key in
        keys.filter(|key| key.is_about(&table.def.schema, &table.def.name) && key.on_update.changes_rows())
    {
        key.parent_columns.iter().filter_map(|name| table.def.column(name)).for_each(|at| mask.insert(at));
    }
    mask
}

/// Applies an updated row and the changes that follow from it. All of them are in the transaction's
/// own events.
pub(super) fn apply_update_followed(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    before: PartialRow<'_>,
    after: PartialRow<'_>,
) -> Result<()> {
    check_columns(table, after)?;
    following(rows, table, before, |rows, key| {
        let current = rows.current_row(table, key)?;
        let mut image = Vec::with_capacity(current.image.len() + after.image.len());
        table.layout.splice(&current.image, after.mask, after.image, &mut image)?;
        update_row(rows, table, key, current, image, None)
    })
}

/// Applies a deleted row and the changes that follow from it. All of them are in the transaction's
/// own events.
pub(super) fn apply_delete_followed(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    before: PartialRow<'_>,
) -> Result<()> {
    following(rows, table, before, |rows, key| {
        let current = rows.current_row(table, key)?;
        delete_row(rows, table, key, current, None)
    })
}

/// Makes a change of the row that a before image describes.
fn following(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    before: PartialRow<'_>,
    change: impl FnOnce(&mut RowAccess, &[u8]) -> Result<()>,
) -> Result<()> {
    rows.locks.check_not_ahead()?;
    check_columns(table, before)?;
    rows.use_table_to_change(table)?;
    let key = find_row(rows, table, before)?;
    let mode = std::mem::replace(&mut rows.foreign_keys, ForeignKeys::Followed);
    let changed = change(rows, &key).map_err(|error| name_row(error, table, before));
    rows.foreign_keys = mode;
    changed
}
