//! Purge: removes versions and delete marks and frees overflow pages once no snapshot can need
//! them.
//!
//! Each commit that leaves something to purge puts one batch at the end of the queue. A batch is
//! purged when the purge limit has reached the commit's sequence number. Batches stand in the order
//! of their commits, except that commits which were applied at the same time may have changed
//! places. That can only make purge later.

use crate::catalog::Catalog;
use crate::commit::sequencer::Sequencer;
use crate::entry;
use crate::error::Result;
use crate::lock::CLUSTERED;
use crate::overflow;
use crate::rows::Rows;
use crate::table::Table;
use crate::version::queue::{PurgeBatch, PurgeQueue};
use crate::version::snapshot::Snapshots;
use btree::{Change, Tree};
use buffer::RecordLsn;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Purges the queue of what commits leave behind.
pub(crate) struct Purger {
    pub catalog: Arc<Catalog>,
    pub rows: Arc<Rows>,
    pub snapshots: Arc<Snapshots>,
    pub sequencer: Arc<Sequencer>,
    pub purge_queue: Arc<PurgeQueue>,
}

impl Purger {
    /// Purges every batch that no snapshot needs, and, while versions take more memory than they
    /// may, also batches that the oldest snapshots need. Returns how many batches it purged.
    pub fn purge(&self) -> Result<usize> {
        let mut batches = self.purge_unneeded()?;
        while self.rows.versions.bytes() > self.rows.versions.limit_bytes() {
            // If only a commit in progress holds a batch up, evicting a snapshot would not help.
            let limit = self.sequencer.visible().min(self.sequencer.oldest_passed() - 1);
            let held_up_at = self.purge_queue.front().filter(|seq| *seq <= limit);
            if !held_up_at.is_some_and(|seq| self.snapshots.evict_oldest(seq)) {
                break;
            }
            batches += self.purge_unneeded()?;
        }
        Ok(batches)
    }

    fn purge_unneeded(&self) -> Result<usize> {
        let limit = self.snapshots.purge_limit(&self.sequencer);
        let mut batches = 0;
        while let Some(batch) = self.purge_queue.take(limit) {
            self.purge_batch(&batch)?;
            batches += 1;
        }
        Ok(batches)
    }

    fn purge_batch(&self, batch: &PurgeBatch) -> Result<()> {
        for (table_id, key, seq) in &batch.versions {
            self.rows.versions.remove(*table_id, key, *seq);
        }
        for (table_id, index_id, key) in &batch.marks {
            self.with_purgeable(*table_id, |table| match tree_of(table, *index_id) {
                Some(tree) => self.remove_mark(tree, key, batch.seq),
                None => Ok(()),
            })?;
        }
        for (table_id, first_page, len) in &batch.overflow {
            self.with_purgeable(*table_id, |table| {
                overflow::free(&self.rows.pool, table.placement.space, *first_page, *len)
            })?;
        }
        Ok(())
    }

    /// Calls `work` on a table, if it still exists, while DDL cannot take the table's trees away.
    fn with_purgeable(&self, table_id: u64, work: impl FnOnce(&Table) -> Result<()>) -> Result<()> {
        let Some(table) = self.catalog.table_by_id(table_id) else { return Ok(()) };
        let counters = table.counters.clone();
        let _gate = counters.gate.read();
        // The table is looked up again, because DDL may have replaced or dropped it before the gate
        // was entered.
        match self.catalog.table_by_id(table_id) {
            Some(table) => work(&table),
            None => Ok(()),
        }
    }

    /// Removes an entry that the commit with this sequence number has marked and that is still
    /// marked. The change is not logged: replay of the delete removes the entry, and a mark that
    /// survives a crash counts as deleted.
    fn remove_mark(&self, tree: &Tree, key: &[u8], seq: u64) -> Result<()> {
        let mut removed = false;
        tree.modify(key, RecordLsn::UNLOGGED, |current| match current.map(entry::parse_header) {
            Some(Ok((flags, marked_at))) if flags & entry::DELETED != 0 && marked_at == seq => {
                removed = true;
                Change::Remove
            }
            _ => Change::Keep,
        })?;
        self.purge_queue.removed.fetch_add(u64::from(removed), Ordering::Relaxed);
        Ok(())
    }
}

fn tree_of(table: &Table, index_id: u32) -> Option<&Tree> {
    if index_id == CLUSTERED {
        return Some(&table.clustered);
    }
    table.indexes.iter().find(|index| index.id == index_id).map(|index| &index.tree)
}
