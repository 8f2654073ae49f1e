//! Applying rows of a source that leaves the changes of child rows by foreign keys to its replica's
//! engine: MySQL before 9.6, and MariaDB.
//!
//! Such a row is changed as a session would change it, with the child rows that follow, and the
//! transaction's own event group has all of them. So the log says what was done, recovery needs to
//! know nothing of foreign keys, and replicas of this server get every row (docs/decisions/0027).

use super::apply::name_row;
use super::{ForeignKeys, Transaction};
use crate::error::Result;
use crate::partial::PartialRow;
use crate::table::Table;
use std::sync::Arc;
use types::ColumnMask;

/// Reports whether child rows, in other tables or in this one, change when rows of this table are
/// deleted.
fn has_followers_of_delete(table: &Table, children: &[Arc<Table>]) -> bool {
    let mut keys = children.iter().flat_map(|child| &child.def.foreign_keys);
    keys.any(|key| key.is_about(&table.def.schema, &table.def.name) && key.on_delete.changes_rows())
}

/// Returns the columns whose change makes child rows change.
fn followed_columns(table: &Table, children: &[Arc<Table>]) -> ColumnMask {
    let mut mask = ColumnMask::empty(table.columns());
    let keys = children.iter().flat_map(|child| &child.def.foreign_keys);
    for key in
        keys.filter(|key| key.is_about(&table.def.schema, &table.def.name) && key.on_update.changes_rows())
    {
        key.parent_columns.iter().filter_map(|name| table.def.column(name)).for_each(|at| mask.insert(at));
    }
    mask
}

impl Transaction {
    /// Reports whether a row that takes the place of another has the same key for every foreign key
    /// that refers to the table.
    pub fn keeps_references(&self, table: &Table, old: &[u8], new: &[u8]) -> Result<bool> {
        if !table.is_related() {
            return Ok(true);
        }
        let changed = table.layout.changed(old, new)?;
        let children = self.engine.catalog.children(&table.def.schema, &table.def.name);
        let mut keys = children.iter().flat_map(|child| &child.def.foreign_keys);
        let is_kept = |name: &String| table.def.column(name).is_none_or(|column| !changed.contains(column));
        Ok(keys.all(|key| {
            !key.is_about(&table.def.schema, &table.def.name) || key.parent_columns.iter().all(is_kept)
        }))
    }

    /// Reports whether other rows may change when a row of this table is deleted.
    pub fn delete_has_followers(&self, table: &Table) -> bool {
        if table.is_temporary() {
            return false;
        }
        let children = self.engine.catalog.children(&table.def.schema, &table.def.name);
        has_followers_of_delete(table, &children)
    }

    /// Returns the columns of this table that rows of child tables follow.
    pub fn followed_columns(&self, table: &Table) -> ColumnMask {
        if table.is_temporary() {
            return ColumnMask::empty(table.columns());
        }
        let children = self.engine.catalog.children(&table.def.schema, &table.def.name);
        followed_columns(table, &children)
    }

    /// Applies an updated row and the changes that follow from it. All of them are in the
    /// transaction's own events.
    pub fn apply_update_followed(
        &mut self,
        table: &Arc<Table>,
        before: PartialRow<'_>,
        after: PartialRow<'_>,
    ) -> Result<()> {
        self.check_columns(table, after)?;
        self.following(table, before, |transaction, key| {
            let current = transaction.current_row(table, key)?;
            let mut image = Vec::with_capacity(current.image.len() + after.image.len());
            table.layout.splice(&current.image, after.mask, after.image, &mut image)?;
            transaction.update_row(table, key, current, &image, None)
        })
    }

    /// Applies a deleted row and the changes that follow from it. All of them are in the
    /// transaction's own events.
    pub fn apply_delete_followed(&mut self, table: &Arc<Table>, before: PartialRow<'_>) -> Result<()> {
        self.following(table, before, |transaction, key| {
            let current = transaction.current_row(table, key)?;
            transaction.delete_row(table, key, current, None)
        })
    }

    /// Makes a change of the row that a before image describes.
    fn following(
        &mut self,
        table: &Arc<Table>,
        before: PartialRow<'_>,
        change: impl FnOnce(&mut Transaction, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.check_not_ahead()?;
        self.check_columns(table, before)?;
        self.use_table_to_change(table)?;
        let key = self.find_row(table, before)?;
        let mode = std::mem::replace(&mut self.foreign_keys, ForeignKeys::Followed);
        let changed = change(self, &key).map_err(|error| name_row(error, table, before));
        self.foreign_keys = mode;
        changed
    }
}
