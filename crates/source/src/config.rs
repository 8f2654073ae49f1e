//! The settings of the binary log.

use std::path::PathBuf;

use binlog::Checksum;

/// The settings of the binary log.
#[derive(Debug, Clone)]
pub struct BinlogConfig {
    /// The system variable `datadir`.
    pub datadir: PathBuf,
    /// The base name of the option `log_bin`, relative to the data directory.
    pub basename: String,
    /// The option `log_bin_index`.
    pub index: Option<String>,
    /// The system variable `max_binlog_size`, in bytes.
    pub max_file_bytes: u64,
    /// The age in seconds at which files are removed (`binlog_expire_logs_seconds`); 0 keeps all
    /// files.
    pub expire_after_s: u64,
    /// The system variable `binlog_transaction_dependency_history_size`, in keys.
    pub dependency_history_size: u64,
    /// The system variable `binlog_checksum`.
    pub checksum: Checksum,
    /// The system variable `server_id`.
    pub server_id: u32,
    /// The system variable `server_uuid`.
    pub server_uuid: String,
    /// The system variable `version`, as format description events hold it.
    pub server_version: String,
}
