//! The parent's side of foreign keys: what happens to child rows when their parent row is deleted
//! or its key changes.
//!
//! The parent row is locked exclusively by then, so nobody adds a child row to it. Foreign keys
//! count in the order of their creation. Those before the first that changes child rows are checked
//! before anything is done to the row. The others follow after it, row by row, and each child row
//! is changed as a statement would change it: it is locked, its own child rows are looked at, and
//! it is logged like any other. As in InnoDB, a table that an update has come through is not
//! updated by what follows from that update. So chains of updates end, as chains of deletes do
//! anyway.

use super::foreign_key::{
    is_current_row, looks_at_foreign_keys, open_related, rows_with, still_has, values_of,
};
use super::mode::{ForeignKeys, LockMode};
use super::row_access::RowAccess;
use crate::definition::IndexRef;
use crate::definition::{ForeignKeyDef, ReferentialAction};
use crate::error::{EngineError, MAX_CASCADE_DEPTH, Result};
use crate::lock::Acquired;
use crate::rows::OldRow;
use crate::table::Table;
use std::sync::Arc;
use types::{ColumnMask, Value};

/// The change of a parent row.
#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    Delete { old: &'a [u8] },
    Update { old: &'a [u8], new: &'a [u8], changed: &'a ColumnMask },
}

/// A change that other changes follow from.
pub(super) struct Cause<'c> {
    table_id: u64,
    updates: bool,
    /// The foreign key that the change itself follows, and the cause of the change.
    from: Option<(&'c ForeignKeyDef, &'c Cause<'c>)>,
}

/// The foreign key that a change follows, and its cause.
pub(super) type Following<'c> = Option<(&'c ForeignKeyDef, &'c Cause<'c>)>;

impl Cause<'_> {
    fn depth(&self) -> usize {
        1 + self.from.map_or(0, |(_, cause)| cause.depth())
    }

    /// Reports whether child rows change with this change. If not, they forbid it.
    pub fn is_followed_by(&self, reference: &Reference, change: Change<'_>) -> bool {
        let action = change.action(reference.foreign_key());
        let deletes = action == ReferentialAction::Cascade && !change.is_update();
        action.changes_rows() && (deletes || !self.has_updated(reference.child.id))
    }

    /// Reports whether this change is an update of the table, or follows from one with nothing but
    /// updates in between.
    fn has_updated(&self, table_id: u64) -> bool {
        self.updates
            && (self.table_id == table_id || self.from.is_some_and(|(_, cause)| cause.has_updated(table_id)))
    }
}

impl<'a> Change<'a> {
    fn old(&self) -> &'a [u8] {
        match *self {
            Change::Delete { old } | Change::Update { old, .. } => old,
        }
    }

    fn is_update(&self) -> bool {
        matches!(self, Change::Update { .. })
    }

    fn action(&self, foreign_key: &ForeignKeyDef) -> ReferentialAction {
        if self.is_update() { foreign_key.on_update } else { foreign_key.on_delete }
    }

    /// Returns this change as the cause of other changes.
    pub fn cause<'c>(&self, table: &Table, from: Following<'c>) -> Cause<'c> {
        Cause { table_id: table.id, updates: self.is_update(), from }
    }

    /// Reports whether the change takes away the key that the foreign key is about.
    fn touches(&self, parent: &Table, foreign_key: &ForeignKeyDef) -> bool {
        let Change::Update { changed, .. } = self else { return true };
        let columns = foreign_key.parent_columns.iter().filter_map(|name| parent.def.column(name));
        columns.into_iter().any(|column| changed.contains(column))
    }
}

/// A foreign key of a child table that refers to a row which is to change.
pub(super) struct Reference {
    pub child: Arc<Table>,
    /// The position among the child's foreign keys.
    at: usize,
    /// The child's index that leads to the child rows, and the leading columns of their keys.
    pub index: IndexRef,
    pub key: Vec<u8>,
}

impl Reference {
    pub fn foreign_key(&self) -> &ForeignKeyDef {
        &self.child.def.foreign_keys[self.at]
    }
}

/// What a child row has to become because its parent row changes.
pub(super) enum ChildChange {
    Delete(OldRow),
    /// The row, and its new image.
    Update(OldRow, Vec<u8>),
}

/// Returns the foreign keys that a change of a row of the table is about, in the order of their
/// creation. There are none when nothing is to be done about them.
pub(super) fn references(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    change: Change<'_>,
) -> Result<Vec<Reference>> {
    if !looks_at_foreign_keys(rows, table) {
        return Ok(Vec::new());
    }
    let (schema, name) = (&table.def.schema, &table.def.name);
    let mut references = Vec::new();
    for child in rows.engine.catalog.children(schema, name) {
        let child = match child.id == table.id {
            true => table.clone(),
            false => match open_related(rows, &child.def.schema, &child.def.name)? {
                Some(child) => child,
                None => continue,
            },
        };
        for (at, foreign_key) in child.def.foreign_keys.iter().enumerate() {
            if !foreign_key.is_about(schema, name) || !change.touches(table, foreign_key) {
                continue;
            }
            let columns = table.def.positions(&foreign_key.parent_columns);
            let values = columns.map(|columns| values_of(table, &columns, change.old())).transpose()?;
            let index = child.def.index_on(&foreign_key.columns);
            // No child row has NULL or a value that its columns cannot hold.
            if let (Some(values), Some(index)) = (values.flatten(), index)
                && let Ok(key) = child.encode_key(index, &values)
            {
                references.push(Reference { child: child.clone(), at, index, key });
            }
        }
    }
    references.sort_by_key(|reference| (reference.child.id, reference.at));
    Ok(references)
}

/// Refuses a change of a row that has child rows which forbid it, as far as that can be told before
/// other rows are changed. Nothing of the change has been done yet.
pub(super) fn check_references(
    rows: &mut RowAccess,
    references: &[Reference],
    table: &Table,
    change: Change<'_>,
    from: Following<'_>,
) -> Result<()> {
    let cause = change.cause(table, from);
    for reference in references.iter().take_while(|reference| !cause.is_followed_by(reference, change)) {
        check_reference(rows, reference, from.is_none())?;
    }
    Ok(())
}

/// Refuses a change of a row if child rows exist by this foreign key.
pub(super) fn check_reference(rows: &mut RowAccess, reference: &Reference, is_undone: bool) -> Result<()> {
    if rows.foreign_keys == ForeignKeys::Enforced && has_child_row(rows, reference)? {
        let constraint = reference.foreign_key().described(&reference.child.def);
        return Err(EngineError::HasChildRows { constraint, is_undone });
    }
    Ok(())
}

/// Reports whether a child row exists. A child row that another transaction is deleting is waited
/// for.
fn has_child_row(rows: &mut RowAccess, reference: &Reference) -> Result<bool> {
    let Reference { child, index, key, .. } = reference;
    for row in rows_with(rows, child, *index, key)? {
        let acquired = rows.lock_row(child, &row, LockMode::Share)?;
        let is_there = acquired == Acquired::Held || still_has(rows, child, *index, &row, key)?;
        if is_there && is_current_row(rows, child, &row)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Locks a child row, and returns what it has to become because of a change of its parent row.
/// `None` means that the row stays as it is. What the caller does then follows from `cause`.
///
/// # Errors
/// Returns [`EngineError::CascadeTooDeep`], [`EngineError::HasChildRows`] when the child row cannot
/// become that, and the errors of a wait for a lock.
pub(super) fn child_change(
    rows: &mut RowAccess,
    reference: &Reference,
    row: &[u8],
    (parent, change): (&Table, Change<'_>),
    cause: &Cause<'_>,
) -> Result<Option<ChildChange>> {
    let (child, foreign_key) = (&reference.child, reference.foreign_key());
    let current = match rows.current_row(child, row) {
        Err(EngineError::RowNotFound { .. }) => return Ok(None),
        current => current?,
    };
    if !child.has_key(reference.index, &current.image, &reference.key)? {
        // The row has been changed during the wait for its lock.
        return Ok(None);
    }
    if !child.is_current(&current.image)? {
        return Ok(None);
    }
    if child.def.temporal.versioning.is_some() {
        // Its old state would have to be kept, with a time that the source has not logged.
        let reason = "it has system versioning, and its rows follow those of another table".to_owned();
        return Err(EngineError::Incompatible { table: child.qualified_name.clone(), reason });
    }
    if cause.depth() >= MAX_CASCADE_DEPTH {
        return Err(EngineError::CascadeTooDeep);
    }
    // A session that has locked the child table for reading keeps the table's rows as they are.
    rows.use_table_to_change(child)?;
    rows.changes.group.note_cascade();
    if change.action(foreign_key) == ReferentialAction::Cascade && !change.is_update() {
        return Ok(Some(ChildChange::Delete(current)));
    }
    let image = followed_image(reference, &current.image, parent, change)?;
    Ok(Some(ChildChange::Update(current, image)))
}

/// Returns the image of a child row with the new values of its foreign key: those of the parent
/// row, or NULL.
fn followed_image(
    reference: &Reference,
    current: &[u8],
    parent: &Table,
    change: Change<'_>,
) -> Result<Vec<u8>> {
    let (child, foreign_key) = (&reference.child, reference.foreign_key());
    let mut values = child.layout.decode_all(current)?;
    for (&column, name) in foreign_key.columns.iter().zip(&foreign_key.parent_columns) {
        values[column] = match (change, parent.def.column(name)) {
            (Change::Update { new, .. }, Some(at)) if foreign_key.on_update == ReferentialAction::Cascade => {
                parent.layout.decode(new, at)?
            }
            _ => Value::Null,
        };
    }
    let is_refused = |&column: &usize| values[column].is_null() && !child.def.columns[column].nullable;
    let mut image = Vec::with_capacity(current.len());
    if foreign_key.columns.iter().any(is_refused) || child.layout.encode(&values, &mut image).is_err() {
        let constraint = foreign_key.described(&child.def);
        return Err(EngineError::HasChildRows { constraint, is_undone: false });
    }
    Ok(image)
}
