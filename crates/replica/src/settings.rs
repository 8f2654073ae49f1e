//! The server's settings as its replica threads see them.

use std::path::PathBuf;

use crate::info::InfoSettings;
use crate::relay::RelayLogConfig;

/// The server's settings as its replica threads see them.
#[derive(Debug, Clone)]
pub struct ReplicaSettings {
    /// `datadir`
    pub datadir: PathBuf,
    /// `server_id`
    pub server_id: u32,
    /// `server_uuid`
    pub server_uuid: String,
    /// `relay_log`, `max_relay_log_size`, `relay_log_space_limit`, `relay_log_purge`
    pub relay: RelayLogConfig,
    /// `replica_net_timeout`
    pub net_timeout_s: u32,
    /// `report_host`; empty is not reported.
    pub report_host: String,
    /// `report_port`
    pub report_port: u16,
    /// `log_replica_updates`
    pub log_replica_updates: bool,
    /// `replica_sql_verify_checksum`
    pub sql_verify_checksum: bool,
    /// `master_info_repository`, `relay_log_info_repository` and their files
    pub info: InfoSettings,
}
