//! The options that an engine is opened with.

use crate::dropped_partitions::Conditions;
use crate::group::filter::BinlogFilter;
use binlog::gtid::Uuid;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The values of `binlog_row_image`: which columns the row images of events have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowImage {
    /// All columns, before and after the change.
    #[default]
    Full,
    /// The primary key before the change, the changed columns after it.
    Minimal,
    /// All columns except BLOBs that are not needed.
    Noblob,
}

/// The options of an engine. They have MySQL's names where MySQL has the option.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The disk that all files are on.
    pub disk: Arc<dyn os::disk::Disk>,
    /// The path of the data directory (`datadir`).
    pub datadir: PathBuf,
    /// The path of the directory that has the redo log's directory (`innodb_log_group_home_dir`).
    /// Without one, that is the data directory.
    pub log_home: Option<PathBuf>,
    /// `innodb_page_size` in bytes. An existing data directory must have been made with the same
    /// page size.
    pub page_size: u32,
    /// `innodb_buffer_pool_size` in bytes.
    pub pool_bytes: u64,
    /// The limit of the memory for older versions of rows, in bytes. 0 means a quarter of the pool,
    /// and 8 MB at least.
    pub version_memory_limit_bytes: u64,
    /// `innodb_redo_log_capacity` in bytes.
    pub redo_capacity_bytes: u64,
    /// `innodb_log_buffer_size` in bytes.
    pub log_buffer_bytes: u64,
    /// Whether only the log's own threads write and sync it (`innodb_log_writer_threads`).
    pub log_writer_threads: bool,
    /// `innodb_flush_log_at_trx_commit`: 0, 1 or 2.
    pub flush_log_at_trx_commit: u8,
    /// The id of this server in its events (`server_id`).
    pub server_id: u32,
    /// The UUID of this server in its GTIDs (`server_uuid`).
    pub server_uuid: Uuid,
    /// The server version in GTID events, for example 80400 for 8.4.0.
    pub server_version: u32,
    /// Whether the server writes a binary log (`log_bin`).
    pub log_bin: bool,
    /// Whether the engine starts with `gtid_mode=ON`, so that local transactions get GTIDs of this
    /// server. See [`crate::Engine::set_gtid_mode`].
    pub gtid_mode: bool,
    /// `binlog_do_db` and `binlog_ignore_db`.
    pub binlog_filter: BinlogFilter,
    /// The columns that row images have (`binlog_row_image`).
    pub binlog_row_image: RowImage,
    /// `binlog_row_event_max_size` in bytes.
    pub binlog_row_event_max_bytes: usize,
    /// `max_binlog_cache_size` in bytes: the largest event group of a transaction.
    pub max_binlog_cache_bytes: usize,
    /// The largest part of a transaction's event group that is kept in memory, in bytes. The rest
    /// is spilled to a file.
    pub spill_bytes: usize,
    /// `innodb_lock_wait_timeout` in milliseconds, for row locks.
    pub innodb_lock_wait_timeout_ms: u64,
    /// `lock_wait_timeout` in milliseconds, for metadata locks.
    pub lock_wait_timeout_ms: u64,
    /// The options of the buffer pool.
    pub pool: buffer::PoolOptions,
    /// `tmpdir`, on the same disk. Its files are never needed again after a restart.
    pub tmpdir: PathBuf,
    /// `innodb_sort_buffer_size` in bytes: the memory for sorting the keys of one index, for each
    /// thread that reads the table.
    pub sort_buffer_bytes: usize,
    /// The compiler of the conditions by which partitions had their rows.
    pub conditions: Conditions,
    /// Whether the checkpointer and purge run as threads. Tests that decide themselves when each
    /// runs turn this off.
    pub background: bool,
}

impl EngineConfig {
    /// Returns MySQL's defaults on this disk and directory, without a binary log.
    pub fn new(disk: Arc<dyn os::disk::Disk>, datadir: impl Into<PathBuf>) -> EngineConfig {
        let datadir = datadir.into();
        EngineConfig {
            disk,
            tmpdir: datadir.clone(),
            log_home: None,
            datadir,
            sort_buffer_bytes: 1 << 20,
            page_size: 16 << 10,
            pool_bytes: 128 << 20,
            version_memory_limit_bytes: 0,
            redo_capacity_bytes: 100 << 20,
            log_buffer_bytes: 16 << 20,
            log_writer_threads: false,
            flush_log_at_trx_commit: 1,
            server_id: 1,
            server_uuid: Uuid([0; 16]),
            server_version: 80400,
            log_bin: false,
            gtid_mode: false,
            binlog_filter: BinlogFilter::default(),
            binlog_row_image: RowImage::Full,
            binlog_row_event_max_bytes: 8192,
            max_binlog_cache_bytes: 1 << 30,
            spill_bytes: 8 << 20,
            innodb_lock_wait_timeout_ms: 50_000,
            lock_wait_timeout_ms: 31_536_000_000,
            pool: buffer::PoolOptions::default(),
            conditions: Conditions::default(),
            background: true,
        }
    }

    /// Returns the path of the directory that has the redo log's directory.
    pub(crate) fn log_home(&self) -> &Path {
        self.log_home.as_deref().unwrap_or(&self.datadir)
    }
}
