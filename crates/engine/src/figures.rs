//! The figures of the engine and of its tables, for `SHOW STATUS` and `SHOW TABLE STATUS`.
//!
//! Nothing here changes anything. Each figure is read at its own moment, so figures need not agree
//! with each other.

use crate::Engine;
use crate::table::Table;
use buffer::Pool;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// The figures of a table's size that are known without reading all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableFigures {
    /// The number of rows, estimated from a few paths through the clustered tree.
    pub rows: u64,
    /// The bytes of the clustered index, the long values of rows among them.
    pub data_bytes: u64,
    /// Bytes of the secondary indexes, estimated from a few paths through each of their trees.
    pub index_bytes: u64,
    /// Bytes of the table's file that are free for further pages of the table.
    pub free_bytes: u64,
    /// The next AUTO_INCREMENT value.
    pub next_auto_increment: u64,
}

/// The file that holds a table's indexes (a tablespace of its own).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// The number of the tablespace.
    pub space: u32,
    /// The path of the file, relative to the data directory where it is in there.
    pub path: PathBuf,
    /// The length of the file in bytes.
    pub bytes: u64,
}

impl TableFile {
    /// Returns a table's file. `None` when the table was dropped meanwhile.
    pub(crate) fn of(engine: &Engine, table: &Table) -> Option<TableFile> {
        let space = table.placement.space;
        let path = engine.pool.space_path(space)?;
        let path = path.strip_prefix(&engine.config.datadir).map_or(path.clone(), |within| within.to_owned());
        Some(TableFile { space, path, bytes: engine.pool.space_bytes(space)? })
    }
}

impl TableFigures {
    /// Returns a table's figures, for `SHOW TABLE STATUS` and information_schema. A figure that a
    /// damaged page hides is 0.
    pub(crate) fn of(pool: &Pool, table: &Table) -> TableFigures {
        let page_bytes = pool.page_size() as u64;
        let space = table.placement.space;
        let pages_of_indexes: u64 = table
            .indexes
            .iter()
            .map(|index| btree::estimate::pages(&index.tree).map_or(0, |pages| pages.all()))
            .sum();
        // Page 0 is the file's own.
        let used_pages =
            pool.space_usage(space).map_or(0, |(allocated, free)| allocated.saturating_sub(free + 1));
        let used_bytes = u64::from(used_pages) * page_bytes;
        let index_bytes = pages_of_indexes * page_bytes;
        let file_bytes = pool.space_bytes(space).unwrap_or(0);
        TableFigures {
            rows: btree::estimate::entries(&table.clustered).unwrap_or(0),
            data_bytes: used_bytes.saturating_sub(index_bytes),
            index_bytes,
            free_bytes: file_bytes.saturating_sub(used_bytes + page_bytes),
            next_auto_increment: table.counters.auto_increment.load(Ordering::Relaxed),
        }
    }
}

/// Returns every counter of the engine as (status variable, value), for `SHOW GLOBAL STATUS`.
pub(crate) fn status(engine: &Engine) -> Vec<(String, u64)> {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let wait_ms = read(&engine.locks.wait_us) / 1000;
    let waits = read(&engine.locks.waits);
    let list = [
        ("Innodb_rows_read", read(&engine.counters.rows_read)),
        ("Innodb_rows_inserted", read(&engine.counters.rows_inserted)),
        ("Innodb_rows_updated", read(&engine.counters.rows_updated)),
        ("Innodb_rows_deleted", read(&engine.counters.rows_deleted)),
        // Each changes a page of the clustered index. Entries of other indexes are not counted.
        ("Innodb_buffer_pool_write_requests", read(&engine.counters.changes_on_pages)),
        ("Innodb_row_lock_waits", waits),
        ("Innodb_row_lock_current_waits", read(&engine.locks.current_waits)),
        ("Innodb_row_lock_time", wait_ms),
        ("Innodb_row_lock_time_max", read(&engine.locks.longest_wait_us) / 1000),
        ("Innodb_row_lock_time_avg", wait_ms.checked_div(waits).unwrap_or(0)),
        ("Innodb_deadlocks", read(&engine.locks.deadlocks)),
        ("Innodb_row_lock_timeouts", read(&engine.locks.timeouts)),
        ("Slipstream_thread_concurrency_waits", read(&engine.locks.concurrency.waits)),
        ("Slipstream_commits", read(&engine.counters.commits)),
        ("Slipstream_rollbacks", read(&engine.counters.rollbacks)),
        ("Slipstream_unversioned_commits", read(&engine.counters.unversioned_commits)),
        ("Slipstream_spilled_commits", read(&engine.counters.spilled_commits)),
        ("Slipstream_checkpoints", read(&engine.counters.checkpoints)),
        ("Slipstream_locks", engine.locks.len() as u64),
        ("Slipstream_snapshots", engine.snapshots.active() as u64),
        ("Slipstream_versions", engine.rows.versions.len()),
        ("Slipstream_version_bytes", engine.rows.versions.bytes()),
        ("Slipstream_version_memory_limit", engine.version_memory_limit()),
        ("Slipstream_snapshots_evicted", read(&engine.snapshots.evictions)),
        ("Slipstream_history_list_length", engine.purger.purge_queue.len() as u64),
        ("Slipstream_purged_entries", read(&engine.purger.purge_queue.removed)),
        ("Slipstream_visible_lsn", engine.sequencer.visible()),
        ("Slipstream_redo_log_current_lsn", engine.log.current_lsn()),
        ("Slipstream_redo_log_written_lsn", engine.log.written_lsn()),
        ("Slipstream_redo_log_durable_lsn", engine.log.durable_lsn()),
    ];
    list.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
