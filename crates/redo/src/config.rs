//! The settings that a log is opened with.

use std::path::PathBuf;

/// The options of a log, named as MySQL names them where MySQL has them.
#[derive(Debug, Clone)]
pub struct LogConfig {
    /// The directory that holds (or will hold) `#innodb_redo`.
    pub dir: PathBuf,
    /// The disk space of all log files together, in bytes (`innodb_redo_log_capacity`). At least
    /// [`LogConfig::MIN_CAPACITY_BYTES`]. It may differ from the capacity that the log was made
    /// with: files of the old size are replaced as they are used up.
    pub capacity_bytes: u64,
    /// The size of the log buffer in bytes, rounded up to a power of two, at least 64 KB
    /// (`innodb_log_buffer_size`). A record may be larger.
    pub buffer_bytes: u64,
    /// How long a commit waits (`innodb_flush_log_at_trx_commit`): 1 until the log is durable, 2
    /// until it is written, 0 not at all.
    pub flush_at_trx_commit: u8,
    /// Whether only the log's own threads write and sync (`innodb_log_writer_threads`). If not, a
    /// thread that waits for a write or a sync does it itself when no other thread is doing it.
    pub writer_threads: bool,
}

impl LogConfig {
    /// The smallest capacity in bytes: four files of the smallest size.
    pub const MIN_CAPACITY_BYTES: u64 = 4 << 20;
    pub(crate) const MIN_FILE_BYTES: u64 = 1 << 20;
    pub(crate) const MIN_BUFFER_BYTES: u64 = 64 << 10;
    pub(crate) const MAX_BUFFER_BYTES: u64 = 1 << 32;
    /// The number of files that the capacity is divided into, as in MySQL.
    pub(crate) const FILES: u64 = 32;

    /// Returns options with MySQL's defaults: 100 MB of log, a buffer of 64 MB (the default of
    /// MySQL 9), durable commits.
    pub fn new(dir: impl Into<PathBuf>) -> LogConfig {
        LogConfig {
            dir: dir.into(),
            capacity_bytes: 100 << 20,
            buffer_bytes: 64 << 20,
            flush_at_trx_commit: 1,
            writer_threads: false,
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity_bytes.max(LogConfig::MIN_CAPACITY_BYTES)
    }

    /// Returns the size in bytes of one file of a log of this capacity. It includes the header and
    /// is a multiple of 4 KB.
    pub(crate) fn file_bytes(capacity_bytes: u64) -> u64 {
        (capacity_bytes / LogConfig::FILES).max(LogConfig::MIN_FILE_BYTES) / 4096 * 4096
    }

    /// Returns the size in bytes of the ring for a buffer of this size.
    pub(crate) fn ring_bytes(buffer_bytes: u64) -> u64 {
        buffer_bytes.clamp(LogConfig::MIN_BUFFER_BYTES, LogConfig::MAX_BUFFER_BYTES).next_power_of_two()
    }
}
