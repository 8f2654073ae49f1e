//! The server's settings as its replica threads see them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::info::InfoSettings;
use crate::relay::RelayLogConfig;
use crate::stores::StoresSetting;

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
    /// The system variable `replica_net_timeout`, in seconds, which all channels share. Each new
    /// connection takes the value of its moment. It guards no other data.
    pub net_timeout_s: Arc<AtomicU32>,
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
    /// The stores whose logs a channel can follow.
    pub stores: StoresSetting,
}

impl ReplicaSettings {
    /// Returns the system variable `replica_net_timeout`, in seconds.
    pub(crate) fn net_timeout_s(&self) -> u32 {
        self.net_timeout_s.load(Ordering::Relaxed)
    }
}
