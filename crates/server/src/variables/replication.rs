//! The effects of setting the variables of replication and of the binary log.

use super::Setting;
use crate::server::Server;
use replica::info::Repository;
use sql::SqlError;

/// Returns the checksum that a value of `binlog_checksum` names.
pub fn checksum_named(name: &str) -> binlog::Checksum {
    if name == "NONE" { binlog::Checksum::None } else { binlog::Checksum::Crc32 }
}

/// Sets `binlog_checksum`; the binary log goes on in a new file.
pub fn set_checksum(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    let Some(binlog) = server.open_binlog() else { return Ok(()) };
    let checksum = checksum_named(setting.text());
    binlog.set_checksum(checksum).map_err(|e| SqlError::new(e.code, e.message))
}

/// Sets `binlog_error_action`.
pub fn set_error_action(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if let Some(binlog) = &server.binlog {
        binlog.set_ignores_errors(setting.text() == "IGNORE_ERROR");
    }
    Ok(())
}

/// Sets `binlog_expire_logs_auto_purge`.
pub fn set_auto_purge(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    expire_after(server, setting.is_on(), server.globals.named("binlog_expire_logs_seconds").uint());
    Ok(())
}

/// Sets `binlog_expire_logs_seconds`.
pub fn set_expiry(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    expire_after(server, server.globals.named("binlog_expire_logs_auto_purge").is_on(), setting.uint());
    Ok(())
}

/// Sets the age in seconds at which files of the binary log are removed, if they are removed
/// automatically.
fn expire_after(server: &Server, auto_purge: bool, seconds: u64) {
    if let Some(binlog) = &server.binlog {
        binlog.set_expire_after_s(if auto_purge { seconds } else { 0 });
    }
}

/// Sets `binlog_transaction_dependency_history_size`.
pub fn set_dependency_history_size(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if let Some(binlog) = &server.binlog {
        binlog.set_dependency_history_size(setting.uint());
    }
    Ok(())
}

/// Sets `max_binlog_size`, also for the relay log if that has no limit of its own.
pub fn set_max_binlog_size(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if let Some(binlog) = &server.binlog {
        binlog.set_max_file_bytes(setting.uint());
    }
    if server.globals.named("max_relay_log_size").uint() == 0 {
        server.replica.set_max_relay_log_bytes(setting.uint());
    }
    Ok(())
}

/// Sets `max_relay_log_size`.
pub fn set_max_relay_log_size(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    let size = setting.uint();
    let size = if size == 0 { server.globals.named("max_binlog_size").uint() } else { size };
    server.replica.set_max_relay_log_bytes(size);
    Ok(())
}

/// Sets MariaDB's `gtid_slave_pos`, the point where a replica of a MariaDB source begins.
pub fn set_gtid_slave_pos(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    server.replica.set_gtid_slave_pos(setting.text()).map_err(|e| SqlError::new(e.code, e.message))
}

/// Sets `master_info_repository` or `relay_log_info_repository`.
pub fn set_repository(server: &Server, repository: Repository, place: &str) -> Result<(), SqlError> {
    let place = place.parse().expect("one of the variable's words");
    server.replica.set_repository(repository, place).map_err(|e| SqlError::new(e.code, e.message))
}

/// Sets `slipstream_parallel_policy`.
pub fn set_parallel_policy(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    let wrong = |_| SqlError::wrong_value_for_variable("slipstream_parallel_policy", setting.text());
    server.replica.apply_settings().set_policy(setting.text().parse().map_err(wrong)?);
    Ok(())
}

/// Sets `replica_parallel_type`, which is `slipstream_parallel_policy` in MySQL's words.
pub fn set_parallel_type(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    let wrong = |_| SqlError::wrong_value_for_variable("replica_parallel_type", setting.text());
    server.replica.apply_settings().set_policy(setting.text().parse().map_err(wrong)?);
    server.globals.set_named("slipstream_parallel_policy", setting.clone());
    Ok(())
}

/// Sets `replica_type_conversions`.
pub fn set_type_conversions(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    let wrong = |_| SqlError::wrong_value_for_variable("replica_type_conversions", setting.text());
    server.replica.apply_settings().set_type_conversions(setting.text().parse().map_err(wrong)?);
    Ok(())
}

/// Sets `sql_replica_skip_counter`.
///
/// # Errors
/// Returns 1858 when the counter is not 0 and `gtid_mode` is ON, and the errors of the channels.
pub fn set_skip_counter(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    if setting.uint() > 0 && server.globals.named("gtid_mode").text() == "ON" {
        let text = "sql_replica_skip_counter can not be set when the server is running with @@GLOBAL.GTID_MODE = ON. Instead, for \
                    each transaction that you want to skip, generate an empty transaction with the same GTID as the transaction";
        return Err(SqlError::new(1858, text));
    }
    server.replica.set_skip_counter(setting.uint()).map_err(|e| SqlError::new(e.code, e.message))
}
