//! Uniqueness of the primary key and of unique secondary keys.
//!
//! A transaction that makes a key first locks it exclusively (the row's key; for a secondary index
//! the index's own columns), so two transactions that insert the same key wait for each other. A
//! transaction that finds the key taken takes a shared lock on the row that has it and looks again:
//! a row that another transaction is deleting may be gone then.

use super::mode::LockMode;
use super::row_access::RowAccess;
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::entry;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, LockType};
use crate::table::{SecondaryKey, Table};
use crate::transaction::key_range::after_prefix;
use btree::Direction;
use std::ops::Bound;

/// Returns the error for a row whose key of `index` another row has.
pub(super) fn duplicate(table: &Table, index: IndexRef, image: &[u8]) -> EngineError {
    EngineError::Duplicate {
        table: table.qualified_name.clone(),
        index: table.index_name(index).to_string(),
        key: table.key_text(index, image),
    }
}

/// Refuses a key of a unique secondary index that a row other than the one with clustered key `own`
/// has.
pub(super) fn check_unique(
    rows: &mut RowAccess,
    table: &Table,
    at: usize,
    key: &SecondaryKey,
    own: &[u8],
    image: &[u8],
) -> Result<()> {
    let index = &table.indexes[at];
    if !index.unique || key.has_null {
        return Ok(());
    }
    if let Some(owed) = &mut rows.locks.owed {
        owed.unique_check(table, at, key, own, image);
        return Ok(());
    }
    let columns = &key.key[..key.secondary_len];
    rows.locks.lock_key(&rows.engine.locks, table, index.id, columns, LockType::Exclusive)?;
    while let Some(holder) = holder_of(rows, table, at, columns, own)? {
        if rows.lock_row(table, &holder, LockMode::Share)? == Acquired::Held {
            // The row was locked before, so the second look was the last one needed.
            return Err(duplicate(table, IndexRef::Secondary(at), image));
        }
    }
    Ok(())
}

/// Returns the clustered key of a row, other than `own`, that has these unique columns: by the
/// transaction's own changes, otherwise by the pages.
pub(super) fn holder_of(
    rows: &mut RowAccess,
    table: &Table,
    at: usize,
    columns: &[u8],
    own: &[u8],
) -> Result<Option<KeyBuf>> {
    rows.changes.settle_index(table, at);
    let overlay = rows.changes.writes_of(table).table(table.id).map(|writes| writes.entries[at].settled());
    let end = after_prefix(columns);
    if let Some(entries) = overlay {
        let from = Bound::Included(columns);
        let present = entries
            .range((from, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(columns))
            .find(|(key, change)| change.present && key[columns.len()..] != *own);
        if let Some((key, _)) = present {
            return Ok(Some(key[columns.len()..].into()));
        }
    }
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut scan = table.indexes[at].tree.scan(Bound::Included(columns), end, Direction::Forward);
    while let Some((key, value)) = scan.next()? {
        let (flags, _) = entry::parse_header(value)?;
        let taken_back = overlay.and_then(|entries| entries.get(key)).is_some_and(|change| !change.present);
        let holder = &key[columns.len()..];
        if flags & entry::DELETED != 0 || taken_back || *holder == *own {
            continue;
        }
        // The row of an entry may have gone with its partition.
        if table.dropped.is_none() || rows.newest_image(table, holder)?.is_some() {
            return Ok(Some(holder.into()));
        }
    }
    Ok(None)
}
