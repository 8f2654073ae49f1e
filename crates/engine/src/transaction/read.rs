//! Reading one row: the transaction's own change, the page, or an older version.

use super::mode::{LastRead, LockMode, Row};
use super::row_access::RowAccess;
use crate::bytes::KeyBuf;
use crate::error::Result;
use crate::lock::{Acquired, CLUSTERED, LockId, OnLocked};
use crate::rows::OldRow;
use crate::table::Table;
use std::sync::Arc;

/// Returns the row with this clustered key, which becomes the row's. `on_locked` says what to do
/// about a row that another transaction has locked.
#[inline]
pub(super) fn get(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    key: Vec<u8>,
    mode: LockMode,
    on_locked: OnLocked,
) -> Result<Option<Row>> {
    rows.use_table(table, mode == LockMode::Update)?;
    let image = match rows.view.effective_mode(mode) {
        mode if table.is_temporary() => {
            if mode == LockMode::Snapshot {
                rows.open_snapshot()?;
            }
            (rows.locks.last, rows.last_read) = (None, None);
            rows.newest_image(table, &key)?
        }
        LockMode::Snapshot => get_at_snapshot(rows, table, &key)?,
        mode => get_locked(rows, table, &key, mode, on_locked)?,
    };
    if image.is_some() {
        rows.count_read();
    }
    Ok(image.map(|image| Row { key, image }))
}

/// Puts the row with this clustered key into `image`, as a read without locks sees it. Returns
/// false if there is none; what is in `image` then means nothing.
pub(super) fn get_into(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    key: &[u8],
    image: &mut Vec<u8>,
) -> Result<bool> {
    let is_plain = rows.view.effective_mode(LockMode::Snapshot) == LockMode::Snapshot;
    let has_changes = rows.changes.writes_of(table).table(table.id).is_some();
    if !is_plain || has_changes || table.is_temporary() {
        let found = get(rows, table, key.to_vec(), LockMode::Snapshot, OnLocked::Wait)?;
        return Ok(found.map(|row| *image = row.image).is_some());
    }
    rows.use_table(table, false)?;
    let RowAccess { engine, view, locks, .. } = rows;
    let at = view.open(engine, locks.owner.depends_on())?;
    let read = engine.rows.read_into(table, key, at, image);
    let is_there = view.at_valid_snapshot(engine, read)?;
    if is_there {
        rows.count_read();
    }
    Ok(is_there)
}

/// Returns the row as the snapshot sees it, or the transaction's own state of it.
#[inline]
fn get_at_snapshot(rows: &mut RowAccess, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let RowAccess { engine, view, locks, changes, .. } = rows;
    // The snapshot is opened even if the row is the transaction's own, so that later reads see the
    // state as of now.
    let at = view.open(engine, locks.owner.depends_on())?;
    match changes.own_image(table, key)? {
        Some(own) => Ok(own),
        None => {
            let read = engine.rows.read_at(table, key, at);
            view.at_valid_snapshot(engine, read)
        }
    }
}

/// Returns the newest committed row, locked. A row that exists costs its record lock and nothing
/// else. If there is none, the gap is locked (if the isolation level locks gaps), and the key is
/// not.
fn get_locked(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    key: &[u8],
    mode: LockMode,
    on_locked: OnLocked,
) -> Result<Option<Vec<u8>>> {
    rows.locks.last = None;
    let Some(acquired) = rows.lock_row_unless(table, key, mode, on_locked)? else { return Ok(None) };
    if let Some(own) = rows.changes.own_image(table, key)? {
        // A row that the transaction itself deleted stays locked.
        return Ok(own);
    }
    if let Some(row) = rows.engine.rows.read_newest(table, key)? {
        let OldRow { image, seq, externs, leaf } = row;
        let (table_id, own_key) = (table.id, KeyBuf::from_slice(key));
        rows.last_read =
            (mode == LockMode::Update).then_some(LastRead { table_id, key: own_key, seq, externs, leaf });
        if acquired == Acquired::New {
            rows.locks.last = Some(LockId::row(table.id, CLUSTERED, key));
        }
        return Ok(Some(image));
    }
    // The gap is locked while the key itself is still locked, so nobody can insert the key in
    // between.
    if rows.view.isolation.locks_gaps() {
        rows.locks.lock_gap_around(&rows.engine.locks, table, key)?;
    }
    if acquired == Acquired::New {
        rows.locks.release_row(&rows.engine.locks, table, key);
    }
    Ok(None)
}
