//! The child's side of foreign keys: a row's parent row must exist, and stays there until the
//! transaction ends.
//!
//! Locks, as InnoDB takes them: a transaction that adds a child row, or moves one to another
//! primary key, takes a shared lock on the parent row. A transaction that deletes a parent row or
//! changes its key has locked it exclusively before it looks for child rows ([`super::cascade`]).
//! So the two meet at the parent row, and neither has to lock gaps between child rows. A moved row
//! counts because the search for child rows reads committed rows only: it finds the row under its
//! old key, waits there, and would never learn of the new key.
//!
//! Rows of a source are not checked: the source has checked them, and they are committed in its
//! order.

use super::mode::{ForeignKeys, LockMode};
use super::row_access::RowAccess;
use super::scan::Scan;
use super::unique::holder_of;
use crate::bytes::KeyBuf;
use crate::definition::ForeignKeyDef;
use crate::definition::IndexRef;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, LockType};
use crate::table::Table;
use crate::transaction::key_range::KeyRange;
use smallvec::SmallVec;
use std::sync::Arc;
use types::{ColumnMask, Value};

/// The place of the parent row of a child row.
pub(crate) struct ParentKey {
    /// The parent's index that leads to the row. `None` means that there is no such table or no
    /// such index.
    pub index: Option<IndexRef>,
    /// The leading columns of the index key, encoded.
    pub bytes: Vec<u8>,
    /// Whether the columns are a whole unique key.
    is_unique: bool,
}

/// The way in which a row of a child table comes to be stored.
pub(super) enum Stored<'a> {
    New,
    Changed {
        /// The columns that differ from the row's old state.
        changed: &'a ColumnMask,
        /// Whether the primary key is another one.
        moved: bool,
        /// The foreign key that this change follows.
        followed: Option<&'a ForeignKeyDef>,
    },
}

/// What a row that is stored demands of the parent row of a foreign key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// The parent row is locked if it exists. A row that was stored without checks may move without
    /// one.
    Locked,
    /// The parent row exists and is locked.
    There,
}

impl Stored<'_> {
    fn asks(&self, key: &ForeignKeyDef) -> Asked {
        match self {
            Stored::New => Asked::There,
            Stored::Changed { followed: Some(followed), .. } if std::ptr::eq(*followed, key) => {
                // The change that this one follows has locked the parent row already.
                Asked::Nothing
            }
            Stored::Changed { changed, .. } if key.columns.iter().any(|&at| changed.contains(at)) => {
                Asked::There
            }
            Stored::Changed { moved: true, .. } => Asked::Locked,
            Stored::Changed { .. } => Asked::Nothing,
        }
    }
}

/// Returns the key that a child row demands of its parent. `None` means that one of the child's
/// columns is NULL and nothing is demanded.
pub(crate) fn parent_key(
    child: &Table,
    foreign_key: &ForeignKeyDef,
    parent: Option<&Table>,
    image: &[u8],
) -> Result<Option<ParentKey>> {
    let Some(values) = values_of(child, &foreign_key.columns, image)? else { return Ok(None) };
    let nowhere = ParentKey { index: None, bytes: Vec::new(), is_unique: false };
    let Some(parent) = parent else { return Ok(Some(nowhere)) };
    let columns = parent.def.positions(&foreign_key.parent_columns);
    let Some(index) = columns.as_deref().and_then(|columns| parent.def.index_on(columns)) else {
        return Ok(Some(nowhere));
    };
    // A value that the parent's columns cannot have is in none of the parent's rows.
    let Ok(bytes) = parent.encode_key(index, &values) else { return Ok(Some(nowhere)) };
    let is_unique = columns.is_some_and(|columns| parent.def.unique_index_on(&columns).is_some());
    Ok(Some(ParentKey { index: Some(index), bytes, is_unique }))
}

/// Returns the values of columns of a row; `None` when one of them is NULL.
pub(super) fn values_of(
    table: &Table,
    columns: &[usize],
    image: &[u8],
) -> Result<Option<SmallVec<[Value; 2]>>> {
    let mut values = SmallVec::new();
    for &column in columns {
        match table.layout.decode(image, column)? {
            Value::Null => return Ok(None),
            value => values.push(value),
        }
    }
    Ok(Some(values))
}

/// Reports whether foreign keys of the table's rows have to be looked at.
#[inline]
pub(super) fn looks_at_foreign_keys(rows: &RowAccess, table: &Table) -> bool {
    table.is_related() && rows.foreign_keys != ForeignKeys::Off
}

/// Opens the other table of a foreign key, if that table exists.
pub(super) fn open_related(rows: &mut RowAccess, schema: &str, name: &str) -> Result<Option<Arc<Table>>> {
    match rows.open_table(schema, name) {
        Ok(table) => Ok(Some(table)),
        Err(EngineError::UnknownTable(..)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes shared locks on the parent rows of a row that is to be stored, and refuses a row that
/// lacks one.
pub(super) fn check_parents(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    image: &[u8],
    stored: &Stored<'_>,
) -> Result<()> {
    if rows.foreign_keys != ForeignKeys::Enforced {
        return Ok(());
    }
    for foreign_key in &table.def.foreign_keys {
        let asked = stored.asks(foreign_key);
        if asked == Asked::Nothing {
            continue;
        }
        let is_own = foreign_key.is_about(&table.def.schema, &table.def.name);
        let parent = match is_own {
            true => Some(table.clone()),
            false => open_related(rows, &foreign_key.parent_schema, &foreign_key.parent_table)?,
        };
        let Some(key) = parent_key(table, foreign_key, parent.as_deref(), image)? else { continue };
        let found = match (&parent, key.index) {
            (Some(parent), Some(index)) => {
                // A row may be its own parent.
                (is_own && parent.has_key(index, image, &key.bytes)?)
                    || lock_parent(rows, parent, index, &key)?
            }
            _ => false,
        };
        if !found && asked == Asked::There {
            return Err(EngineError::NoParentRow(foreign_key.described(&table.def)));
        }
    }
    Ok(())
}

/// Takes a shared lock on a row that has this key. Returns false when there is none.
fn lock_parent(rows: &mut RowAccess, parent: &Arc<Table>, index: IndexRef, key: &ParentKey) -> Result<bool> {
    match index {
        IndexRef::Primary if key.is_unique => {
            // The key is locked before the row is looked for, so that a transaction which inserts
            // or deletes the row is waited for.
            rows.lock_row(parent, &key.bytes, LockMode::Share)?;
            match rows.changes.writes.row(parent.id, &key.bytes) {
                Some(own) => Ok(own.is_some()),
                None => rows.engine.rows.row_exists_at(parent, &parent.clustered.locate(&key.bytes)),
            }
        }
        IndexRef::Secondary(at) if key.is_unique => {
            let index_id = parent.indexes[at].id;
            rows.locks.lock_key(&rows.engine.locks, parent, index_id, &key.bytes, LockType::Shared)?;
            while let Some(holder) = holder_of(rows, parent, at, &key.bytes, &[])? {
                if rows.lock_row(parent, &holder, LockMode::Share)? == Acquired::Held {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        index => {
            for row in rows_with(rows, parent, index, &key.bytes)? {
                rows.lock_row(parent, &row, LockMode::Share)?;
                let is_there = still_has(rows, parent, index, &row, &key.bytes)?;
                if is_there && is_current_row(rows, parent, &row)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// Reports whether a locked row is a current row of a table with system versioning. In other tables
/// all rows are current.
pub(super) fn is_current_row(rows: &mut RowAccess, table: &Arc<Table>, key: &[u8]) -> Result<bool> {
    if table.def.temporal.versioning.is_none() {
        return Ok(true);
    }
    match rows.current_row(table, key) {
        Ok(row) => table.is_current(&row.image),
        Err(EngineError::RowNotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the clustered keys of the newest rows whose key in an index begins with `key`, including
/// the transaction's own rows. The rows are not locked.
pub(super) fn rows_with(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    index: IndexRef,
    key: &[u8],
) -> Result<Vec<KeyBuf>> {
    let had_snapshot = rows.view.is_open();
    let mut scan = Scan::open_newest(rows, table, index, KeyRange::prefix(key))?;
    let mut keys = Vec::new();
    while let Some(row) = scan.next_row(rows)? {
        keys.push(KeyBuf::from_slice(&row.key));
    }
    if !had_snapshot {
        // Later reads of the transaction must see the state as of the time when they run.
        rows.close_snapshot();
    }
    Ok(keys)
}

/// Reports whether a row that has been locked still exists with this key in an index.
pub(super) fn still_has(
    rows: &RowAccess,
    table: &Table,
    index: IndexRef,
    row: &[u8],
    key: &[u8],
) -> Result<bool> {
    let image = rows.newest_image(table, row)?;
    image.map_or(Ok(false), |image| table.has_key(index, &image, key))
}
