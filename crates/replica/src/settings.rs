//! The server's settings as its replica threads see them.

use std::path::PathBuf;

use crate::info::InfoSettings;
use crate::relay::RelayLogConfig;

/// The server's settings as its replica threads see them.
#[derive(Debug, Clone)]
pub struct ReplicaSettings {
    /// The system variable `datadir`.
    pub datadir: PathBuf,
    /// The system variable `server_id`.
    pub server_id: u32,
    /// The system variable `server_uuid`.
    pub server_uuid: String,
    /// The system variables `relay_log`, `max_relay_log_size`, `relay_log_space_limit` and
    /// `relay_log_purge`.
    pub relay: RelayLogConfig,
    /// The system variable `replica_net_timeout`, in seconds.
    pub net_timeout_s: u32,
    /// The system variable `report_host`. An empty name is not reported to the source.
    pub report_host: String,
    /// The system variable `report_port`.
    pub report_port: u16,
    /// The system variable `log_replica_updates`.
    pub log_replica_updates: bool,
    /// The system variable `replica_sql_verify_checksum`.
    pub sql_verify_checksum: bool,
    /// The system variables `master_info_repository` and `relay_log_info_repository`, and the
    /// options that name their files.
    pub info: InfoSettings,
}
