//! Settings of the binary log.

use std::path::PathBuf;

use binlog::Checksum;

/// Settings of the binary log.
#[derive(Debug, Clone)]
pub struct BinlogConfig {
    /// `datadir`
    pub datadir: PathBuf,
    /// `log_bin`: basename, relative to the data directory.
    pub basename: String,
    /// `log_bin_index`
    pub index: Option<String>,
    /// `max_binlog_size`
    pub max_file_bytes: u64,
    /// `binlog_expire_logs_seconds`; 0 keeps all.
    pub expire_after_s: u64,
    /// `binlog_transaction_dependency_history_size`
    pub dependency_history_size: u64,
    /// `binlog_checksum`
    pub checksum: Checksum,
    /// `server_id`
    pub server_id: u32,
    /// `server_uuid`
    pub server_uuid: String,
    /// `version`, as format description events carry it.
    pub server_version: String,
}
