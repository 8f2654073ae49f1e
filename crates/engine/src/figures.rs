//! Figures of the engine and of its tables, for `SHOW STATUS`, `SHOW TABLE STATUS` and the query
//! processor.
//!
//! Nothing here changes anything. Each figure is of its own moment: no two belong together.

use crate::Engine;
use crate::definition::IndexRef;
use crate::error::Result;
use crate::sampling::sampled;
use crate::statistics::TableStatistics;
use crate::table::Table;
use crate::transaction::key_range::KeyRange;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is known of a table's size without reading all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableFigures {
    /// Rows, estimated from a few paths through the clustered tree.
    pub rows: u64,
    /// Bytes of the table's file.
    pub data_bytes: u64,
    /// The next AUTO_INCREMENT value.
    pub next_auto_increment: u64,
}

impl Engine {
    /// A table's figures, for `SHOW TABLE STATUS` and information_schema; a damaged page counts as
    /// nothing.
    pub fn table_figures(&self, table: &Table) -> TableFigures {
        TableFigures {
            rows: table.clustered.approximate_len().unwrap_or(0),
            data_bytes: self.pool.space_bytes(table.placement.space).unwrap_or(0),
            next_auto_increment: table.counters.auto_increment.load(Ordering::Relaxed),
        }
    }

    /// How the rows of a table are spread, as it was when the table had about as many rows as now:
    /// it is found out anew when their number has changed by a tenth.
    ///
    /// # Errors
    /// A damaged page; an I/O error.
    pub fn statistics(&self, table: &Table) -> Result<Arc<TableStatistics>> {
        let rows = table.clustered.approximate_len()?;
        let known = table.statistics.lock().clone();
        match known {
            Some(known) if known.rows.abs_diff(rows) <= known.rows / 10 => Ok(known),
            _ => self.sample_statistics(table),
        }
    }

    /// Finds out anew how the rows of a table are spread.
    ///
    /// # Errors
    /// As [`Engine::statistics`].
    pub fn sample_statistics(&self, table: &Table) -> Result<Arc<TableStatistics>> {
        let sampled = Arc::new(sampled(table)?);
        *table.statistics.lock() = Some(sampled.clone());
        Ok(sampled)
    }

    /// About how many entries a range of an index has.
    ///
    /// # Errors
    /// As [`Engine::statistics`].
    pub fn estimate_range(&self, table: &Table, index: IndexRef, range: &KeyRange) -> Result<u64> {
        let (start, end) = (range.start.as_ref().map(Vec::as_slice), range.end.as_ref().map(Vec::as_slice));
        Ok(table.tree(index).estimate_range(start, end)?)
    }

    /// Every counter of the engine as (status variable, value), for `SHOW GLOBAL STATUS`.
    pub fn status(&self) -> Vec<(String, u64)> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let wait_ms = read(&self.locks.wait_us) / 1000;
        let waits = read(&self.locks.waits);
        let list = [
            ("Innodb_rows_read", read(&self.counters.rows_read)),
            ("Innodb_rows_inserted", read(&self.counters.rows_inserted)),
            ("Innodb_rows_updated", read(&self.counters.rows_updated)),
            ("Innodb_rows_deleted", read(&self.counters.rows_deleted)),
            ("Innodb_row_lock_waits", waits),
            ("Innodb_row_lock_current_waits", read(&self.locks.current_waits)),
            ("Innodb_row_lock_time", wait_ms),
            ("Innodb_row_lock_time_max", read(&self.locks.longest_wait_us) / 1000),
            ("Innodb_row_lock_time_avg", wait_ms.checked_div(waits).unwrap_or(0)),
            ("Innodb_deadlocks", read(&self.locks.deadlocks)),
            ("Innodb_row_lock_timeouts", read(&self.locks.timeouts)),
            ("Slipstream_thread_concurrency_waits", read(&self.locks.concurrency.waits)),
            ("Innodb_page_size", u64::from(self.config.page_size)),
            ("Slipstream_commits", read(&self.counters.commits)),
            ("Slipstream_rollbacks", read(&self.counters.rollbacks)),
            ("Slipstream_unversioned_commits", read(&self.counters.unversioned_commits)),
            ("Slipstream_spilled_commits", read(&self.counters.spilled_commits)),
            ("Slipstream_checkpoints", read(&self.counters.checkpoints)),
            ("Slipstream_locks", self.locks.len() as u64),
            ("Slipstream_snapshots", self.snapshots.active() as u64),
            ("Slipstream_versions", self.rows.versions.len()),
            ("Slipstream_version_bytes", self.rows.versions.bytes()),
            ("Slipstream_version_memory_limit", self.version_memory_limit()),
            ("Slipstream_snapshots_evicted", read(&self.snapshots.evictions)),
            ("Slipstream_history_list_length", self.purger.purge_queue.len() as u64),
            ("Slipstream_purged_entries", read(&self.purger.purge_queue.removed)),
            ("Slipstream_visible_lsn", self.sequencer.visible()),
            ("Slipstream_redo_log_current_lsn", self.log.current_lsn()),
            ("Slipstream_redo_log_written_lsn", self.log.written_lsn()),
            ("Slipstream_redo_log_durable_lsn", self.log.durable_lsn()),
        ];
        list.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}
