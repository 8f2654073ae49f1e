//! `gtid_mode`, `enforce_gtid_consistency`, `gtid_purged` and `gtid_owned`, and the values that
//! MySQL refuses for them (`Sys_var_gtid_mode`, `Sys_var_gtid_purged`).

use super::Setting;
use crate::server::Server;
use binlog::gtid::GtidSet;
use engine::{GtidMode, GtidModeRefusal};
use sql::SqlError;
use std::sync::atomic::Ordering;

const MODES: [(&str, GtidMode); 4] = [
    ("OFF", GtidMode::Off),
    ("OFF_PERMISSIVE", GtidMode::OffPermissive),
    ("ON_PERMISSIVE", GtidMode::OnPermissive),
    ("ON", GtidMode::On),
];

/// Returns the mode with this name.
pub fn mode_named(name: &str) -> GtidMode {
    MODES.iter().find(|(known, _)| *known == name).map_or(GtidMode::Off, |(_, mode)| *mode)
}

/// Carries out `SET GLOBAL gtid_mode`, which changes one step at a time (MySQL manual, 19.1.4) and
/// begins a new file of the binary log.
pub fn set_mode(server: &Server, name: &str) -> Result<(), SqlError> {
    let (old, new) = (server.engine.gtid_mode(), mode_named(name));
    if (old as u8).abs_diff(new as u8) > 1 {
        let text = "The value of @@GLOBAL.GTID_MODE can only be changed one step at a time: OFF <-> OFF_PERMISSIVE <-> \
                    ON_PERMISSIVE <-> ON. Also note that this value must be stepped up or down simultaneously on all \
                    servers. See the Manual for instructions.";
        return Err(SqlError::new(1788, text));
    }
    if old == new {
        return Ok(());
    }
    check_channels(server, new)?;
    if new == GtidMode::Off && server.gtid_waiters.load(Ordering::SeqCst) > 0 {
        let why = "there are ongoing calls to WAIT_FOR_EXECUTED_GTID_SET. Before you set @@GLOBAL.GTID_MODE = OFF, ensure that no other \
                   client is waiting for GTID-transactions to be committed";
        return Err(not_allowed("OFF", why));
    }
    if new == GtidMode::On && server.globals.named("enforce_gtid_consistency").text() != "ON" {
        return Err(not_allowed("ON", "ENFORCE_GTID_CONSISTENCY is not ON"));
    }
    server.engine.set_gtid_mode(new).map_err(refused)?;
    match server.open_binlog() {
        Some(binlog) => binlog.rotate().map_err(|e| SqlError::new(e.code, e.message)),
        None => Ok(()),
    }
}

fn check_channels(server: &Server, new: GtidMode) -> Result<(), SqlError> {
    for status in server.replica.statuses() {
        let channel = &status.channel;
        if new == GtidMode::Off && status.config.auto_position {
            let why = format!(
                "replication channel '{channel}' is configured in AUTO_POSITION mode. Execute CHANGE REPLICATION SOURCE TO \
                 SOURCE_AUTO_POSITION = 0 FOR CHANNEL '{channel}' before you set @@GLOBAL.GTID_MODE = OFF."
            );
            return Err(not_allowed("OFF", &why));
        }
        if new == GtidMode::On && !status.config.ignore_server_ids.is_empty() {
            let why = "there is at least one replication channel with IGNORE_SEVER_IDS configured (i.e. not empty).Before you set \
                       @@GLOBAL.GTID_MODE = ON, ensure no channel has a configured value for IGNORE_SERVER_IDS";
            return Err(not_allowed("ON", why));
        }
    }
    Ok(())
}

fn not_allowed(mode: &str, why: &str) -> SqlError {
    SqlError::new(3111, format!("SET @@GLOBAL.GTID_MODE = {mode} is not allowed because {why}."))
}

fn refused(refusal: GtidModeRefusal) -> SqlError {
    match refusal {
        GtidModeRefusal::Owned => not_allowed(
            "OFF",
            "there are ongoing transactions that have a GTID. Before you set @@GLOBAL.GTID_MODE = OFF, wait until SELECT \
             @@GLOBAL.GTID_OWNED is empty on all servers. Then wait for all GTID-transactions to replicate to all servers, and then \
             execute SET @@GLOBAL.GTID_MODE = OFF on all servers. See the Manual for details",
        ),
        GtidModeRefusal::Anonymous => not_allowed(
            "ON",
            "there are ongoing, anonymous transactions. Before setting @@GLOBAL.GTID_MODE = ON, wait until SHOW STATUS LIKE \
             'ANONYMOUS_TRANSACTION_COUNT' shows zero on all servers. Then wait for all existing, anonymous transactions to replicate to \
             all replicas, and then execute SET @@GLOBAL.GTID_MODE = ON on all servers. See the Manual for details",
        ),
        GtidModeRefusal::Tagged => not_allowed(
            "OFF/OFF_PERMISSIVE",
            "there is an ongoing session with GTID_NEXT set to AUTOMATIC:<TAG>",
        ),
    }
}

/// Checks the value of `SET GLOBAL enforce_gtid_consistency`. No statement of this server violates
/// the consistency, so OFF and WARN let nothing more through.
pub fn check_consistency(server: &Server, new: &str) -> Result<(), SqlError> {
    if new != "ON" && server.engine.gtid_mode() == GtidMode::On {
        return Err(SqlError::new(1779, "GTID_MODE = ON requires ENFORCE_GTID_CONSISTENCY = ON."));
    }
    Ok(())
}

/// Carries out `SET GLOBAL gtid_purged`: the value is a superset of the old one, or `+` and the
/// GTIDs to add.
pub fn set_purged(server: &Server, text: &str) -> Result<(), SqlError> {
    let wrong = || SqlError::wrong_value_for_variable("gtid_purged", text);
    let (text, adds) = match text.trim().strip_prefix('+') {
        Some(rest) => (rest, true),
        None => (text.trim(), false),
    };
    let set: GtidSet = text.parse().map_err(|_| wrong())?;
    let (executed, purged) = (server.engine.gtid_executed(), server.engine.gtid_purged());
    let refused =
        |why: &str| Err(SqlError::new(3546, format!("@@GLOBAL.GTID_PURGED cannot be changed: the {why}")));
    if !adds && !purged.is_subset(&set) {
        return refused("new value must be a superset of the old value");
    }
    let mut added = set.clone();
    if !adds {
        added.subtract(&purged);
    }
    let mut others = executed.clone();
    others.subtract(&added);
    if others != executed {
        return refused("added gtid set must not overlap with @@GLOBAL.GTID_EXECUTED");
    }
    if server.engine.owned_gtids().iter().any(|(gtid, _)| added.contains(*gtid)) {
        return refused("added gtid set must not overlap with @@GLOBAL.GTID_OWNED");
    }
    server.engine.add_gtid_purged(&set).map_err(|e| SqlError::new(3546, e.to_string()))
}

/// Returns MariaDB's `@@GLOBAL.gtid_binlog_pos`, which is empty where the log cannot be read.
pub fn mariadb_binlog_pos(server: &Server) -> String {
    let last = server.open_binlog().and_then(|binlog| {
        let asked = binlog.mariadb_gtid_at_end();
        asked.inspect_err(|error| log::warn!("gtid_binlog_pos: {error}")).ok().flatten()
    });
    last.map(|gtid| gtid.to_string()).unwrap_or_default()
}

/// Returns the value of `@@GLOBAL.gtid_owned`.
pub fn owned(server: &Server) -> Setting {
    let owned = server.engine.owned_gtids();
    Setting::Text(owned.iter().map(|(gtid, owner)| format!("{gtid}#{owner}")).collect::<Vec<_>>().join(","))
}
