//! Deleting the rows that went with their partitions, a few at a time.

use super::mode::LockMode;
use super::new_keys::row_id_of;
use super::row_access::RowAccess;
use crate::bytes::KeyBuf;
use crate::entry::ClusteredValue;
use crate::error::Result;
use crate::lock::OnLocked;
use crate::overflow;
use crate::table::Table;
use std::sync::Arc;

/// A step ends behind so many leaves, or behind the leaf with which it has deleted so many rows,
/// because its transaction keeps DDL waiting and holds the locks of these rows.
const LEAVES_A_STEP: usize = 200;
const ROWS_A_STEP: usize = 1000;

/// What a step has done.
pub(crate) struct DroppedStep {
    /// The key at which the next step begins; `None` behind the last leaf.
    pub next: Option<Vec<u8>>,
    /// Whether rows were left because other transactions have locked them.
    pub has_left_rows: bool,
}

/// Deletes rows that went with their partitions, beginning with the leaf of the key `from`. Rows
/// that another transaction has locked, which is about to put its own in their places, are left.
pub(super) fn delete_dropped(rows: &mut RowAccess, table: &Arc<Table>, from: &[u8]) -> Result<DroppedStep> {
    rows.use_table_to_change(table)?;
    // The snapshot keeps purge from freeing long values that are about to be read.
    rows.open_snapshot()?;
    rows.view.pin(&rows.engine);
    let (mut deleted, mut has_left_rows) = (0, false);
    let mut leaves = table.clustered.leaves(from, None);
    for _ in 0..LEAVES_A_STEP {
        if deleted >= ROWS_A_STEP || !leaves.advance()? {
            break;
        }
        for (key, value) in leaves.entries() {
            let parsed = ClusteredValue::parse(value)?;
            if parsed.is_deleted() || table.reads_as_stored(&parsed) {
                continue;
            }
            let image = overflow::resolve(&rows.engine.rows.pool, table, &parsed)?;
            if rows.engine.rows.dropped.has_gone(table, parsed.seq, &image)? {
                match delete_one(rows, table, key)? {
                    true => deleted += 1,
                    false => has_left_rows = true,
                }
            }
        }
    }
    Ok(DroppedStep { next: leaves.next_start().map(<[u8]>::to_vec), has_left_rows })
}

/// Deletes the row with this key, which went with its partition. Returns false when another
/// transaction has locked the key.
fn delete_one(rows: &mut RowAccess, table: &Arc<Table>, key: &[u8]) -> Result<bool> {
    if rows.lock_row_unless(table, key, LockMode::Update, OnLocked::Skip)?.is_none() {
        return Ok(false);
    }
    // Another row may have taken its place before the lock was granted.
    let Some(old) = rows.engine.rows.read_dropped(table, key)? else { return Ok(true) };
    rows.changes.group.delete_row(table, &old.image)?;
    rows.changes.let_images_go()?;
    rows.record_change(table, row_id_of(table, key));
    rows.changes.stage_delete(table, &KeyBuf::from_slice(key), old)?;
    Ok(true)
}
