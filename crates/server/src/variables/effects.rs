//! What SET GLOBAL changes beside the value.

use super::gtids;
use super::{Definition, Scope, Setting, VariableId};
use crate::server::Server;
use replica::info::Repository;
use sql::SqlError;
use types::Value;

/// Sets a global value and makes it count. `None` is DEFAULT.
pub fn set_global(server: &Server, id: VariableId, value: Option<&Value>) -> Result<(), SqlError> {
    let definition = id.definition();
    check_has_global(definition, false)?;
    let setting = definition.from_sql(value)?;
    if super::pool::act(server, definition.name, &setting) {
        return Ok(());
    }
    apply(server, definition.name, &setting)?;
    server.globals.set(id, setting);
    if definition.name == "mandatory_roles" {
        // The active roles of sessions may have become fewer.
        server.accounts.touch();
    }
    Ok(())
}

/// Error 1228 where there is no global value, 1238 where it cannot be set; `for_later` is of `SET
/// PERSIST_ONLY`, which may name what cannot be set now.
pub fn check_has_global(definition: &Definition, for_later: bool) -> Result<(), SqlError> {
    let name = definition.name;
    if definition.scope == Scope::SessionOnly {
        let text = format!("Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL");
        return Err(SqlError::new(1228, text));
    }
    if definition.read_only && !(for_later && definition.is_option) {
        return Err(read_only(name));
    }
    Ok(())
}

/// Error 1621.
pub fn session_read_only(name: &str) -> SqlError {
    let text = format!("SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value");
    SqlError::new(1621, text)
}

/// Error 1238.
pub fn read_only(name: &str) -> SqlError {
    SqlError::new(1238, format!("Variable '{name}' is a read only variable"))
}

fn apply(server: &Server, name: &str, setting: &Setting) -> Result<(), SqlError> {
    match name {
        "innodb_flush_log_at_trx_commit" => {
            server.engine.set_flush_log_at_trx_commit(setting.uint() as u8);
        }
        "slipstream_version_memory_limit" => server.engine.set_version_memory_limit(setting.uint()),
        "partial_revokes" if !setting.is_on() => crate::accounts::check_no_restrictions(&server.accounts)?,
        "innodb_thread_concurrency" => server.engine.set_thread_concurrency(setting.uint() as u32),
        "innodb_deadlock_detect" => server.engine.set_deadlock_detect(setting.is_on()),
        "innodb_print_all_deadlocks" => server.engine.set_print_all_deadlocks(setting.is_on()),
        "innodb_redo_log_capacity" => server.engine.set_redo_capacity(setting.uint()),
        "innodb_log_buffer_size" => server.engine.log().set_buffer_bytes(setting.uint()),
        "innodb_log_writer_threads" => server.engine.log().set_writer_threads(setting.is_on()),
        "innodb_fill_factor" => server.engine.set_fill_factor(setting.uint() as u8),
        "innodb_online_alter_log_max_size" => server.engine.set_online_alter_log_max_bytes(setting.uint()),
        "binlog_row_metadata" => server.engine.set_full_row_metadata(setting.text() == "FULL"),
        "binlog_group_commit_sync_delay" => server.engine.set_group_commit_delay_us(setting.uint()),
        "binlog_group_commit_sync_no_delay_count" => {
            server.engine.set_group_commit_no_delay_count(setting.uint());
        }
        "sync_binlog" => server.engine.set_sync_binlog(setting.uint()),
        "gtid_mode" => gtids::set_mode(server, setting.text())?,
        "enforce_gtid_consistency" => gtids::check_consistency(server, setting.text())?,
        "gtid_purged" => gtids::set_purged(server, setting.text())?,
        // MariaDB's: where a replica of a MariaDB source begins.
        "gtid_slave_pos" => {
            let refused = |e: replica::error::ChannelError| SqlError::new(e.code, e.message);
            server.replica.set_gtid_slave_pos(setting.text()).map_err(refused)?;
        }
        "binlog_transaction_compression" => {
            server.replica.apply_settings().set_transaction_compression(setting.is_on());
        }
        "binlog_transaction_compression_level_zstd" => {
            server.replica.apply_settings().set_compression_level(setting.uint() as u8);
        }
        "replica_transaction_retries" => {
            server.replica.apply_settings().set_transaction_retries(setting.uint());
        }
        "replica_type_conversions" => {
            let wrong = |_| SqlError::wrong_value_for_variable(name, setting.text());
            server.replica.apply_settings().set_type_conversions(setting.text().parse().map_err(wrong)?);
        }
        "replica_exec_mode" => {
            server.replica.apply_settings().set_idempotent(setting.text() == "IDEMPOTENT");
        }
        "slipstream_parallel_adaptive" => server.replica.apply_settings().set_adaptive(setting.is_on()),
        "slipstream_parallel_policy" => set_parallel_policy(server, name, setting.text())?,
        "replica_parallel_type" => {
            set_parallel_policy(server, name, setting.text())?;
            server.globals.set_named("slipstream_parallel_policy", setting.clone());
        }
        "sql_replica_skip_counter" => set_skip_counter(server, setting.uint())?,
        "master_info_repository" => set_repository(server, Repository::Connection, setting.text())?,
        "relay_log_info_repository" => set_repository(server, Repository::Applier, setting.text())?,
        "replica_parallel_workers" => server.replica.set_parallel_workers(setting.uint()),
        "relay_log_purge" => server.replica.set_relay_log_purge(setting.is_on()),
        "max_relay_log_size" => {
            let size = setting.uint();
            let size = if size == 0 { server.globals.named("max_binlog_size").uint() } else { size };
            server.replica.set_max_relay_log_bytes(size);
        }
        "read_only" if !setting.is_on() => set_flag(server, "super_read_only", false),
        "super_read_only" if setting.is_on() => set_flag(server, "read_only", true),
        "max_binlog_size" => {
            if let Some(binlog) = &server.binlog {
                binlog.set_max_file_bytes(setting.uint());
            }
            if server.globals.named("max_relay_log_size").uint() == 0 {
                server.replica.set_max_relay_log_bytes(setting.uint());
            }
        }
        "binlog_checksum" => {
            if let Some(binlog) = server.open_binlog() {
                let checksum = crate::start::checksum_named(setting.text());
                binlog.set_checksum(checksum).map_err(|e| SqlError::new(e.code, e.message))?;
            }
        }
        "binlog_error_action" => {
            if let Some(binlog) = &server.binlog {
                binlog.set_ignores_errors(setting.text() == "IGNORE_ERROR");
            }
        }
        "binlog_expire_logs_seconds" => {
            set_expiry(server, server.globals.named("binlog_expire_logs_auto_purge").is_on(), setting.uint());
        }
        "binlog_expire_logs_auto_purge" => {
            let seconds = server.globals.named("binlog_expire_logs_seconds").uint();
            set_expiry(server, setting.is_on(), seconds);
        }
        "binlog_transaction_dependency_history_size" => {
            if let Some(binlog) = &server.binlog {
                binlog.set_dependency_history_size(setting.uint());
            }
        }
        name if name.starts_with("rpl_semi_sync_source_") => {
            if let Some(binlog) = &server.binlog {
                set_semi_sync(binlog.semi_sync(), name, setting);
            }
        }
        "rpl_semi_sync_replica_enabled" => server.replica.set_semi_sync(setting.is_on()),
        "global_connection_memory_limit" => server.memory.set_limit(setting.uint()),
        "log_error_verbosity" => crate::error_log::set_verbosity(setting.uint() as u8),
        _ => super::pool::apply(server, name, setting)?,
    }
    Ok(())
}

/// A setting of semi-synchronous replication, at start and whenever it changes.
pub fn set_semi_sync(semi_sync: &source::semi_sync::SemiSync, name: &str, setting: &Setting) {
    match name {
        "rpl_semi_sync_source_enabled" => semi_sync.set_enabled(setting.is_on()),
        "rpl_semi_sync_source_timeout" => semi_sync.set_timeout_ms(setting.uint()),
        "rpl_semi_sync_source_wait_for_replica_count" => semi_sync.set_wanted(setting.uint()),
        "rpl_semi_sync_source_wait_no_replica" => semi_sync.set_waits_without_replicas(setting.is_on()),
        "rpl_semi_sync_source_wait_point" => semi_sync.set_after_sync(setting.text() == "AFTER_SYNC"),
        _ => {}
    }
}

/// Files of the binary log go when they are so old, if any go by themselves.
fn set_expiry(server: &Server, auto_purge: bool, seconds: u64) {
    if let Some(binlog) = &server.binlog {
        binlog.set_expire_after_s(if auto_purge { seconds } else { 0 });
    }
}

fn set_flag(server: &Server, name: &str, on: bool) {
    server.globals.set_named(name, Setting::Bool(on));
}

fn set_parallel_policy(server: &Server, variable: &str, policy: &str) -> Result<(), SqlError> {
    let wrong = |_| SqlError::wrong_value_for_variable(variable, policy);
    server.replica.apply_settings().set_policy(policy.parse().map_err(wrong)?);
    Ok(())
}

fn set_repository(server: &Server, repository: Repository, place: &str) -> Result<(), SqlError> {
    let place = place.parse().expect("one of the variable's words");
    server.replica.set_repository(repository, place).map_err(|e| SqlError::new(e.code, e.message))
}

fn set_skip_counter(server: &Server, events: u64) -> Result<(), SqlError> {
    if events > 0 && server.globals.named("gtid_mode").text() == "ON" {
        let text = "sql_replica_skip_counter can not be set when the server is running with @@GLOBAL.GTID_MODE = ON. Instead, for \
                    each transaction that you want to skip, generate an empty transaction with the same GTID as the transaction";
        return Err(SqlError::new(1858, text));
    }
    server.replica.set_skip_counter(events).map_err(|e| SqlError::new(e.code, e.message))
}

/// The variables whose global value is computed when it is asked for.
pub fn computed(server: &Server, name: &str) -> Option<Setting> {
    let text = |text: String| Some(Setting::Text(text));
    match name {
        "gtid_executed" => text(server.engine.gtid_executed().to_string()),
        "gtid_owned" => Some(gtids::owned(server)),
        "gtid_purged" => text(server.engine.gtid_purged().to_string()),
        "gtid_binlog_pos" => text(gtids::mariadb_binlog_pos(server)),
        "gtid_slave_pos" => text(server.replica.gtid_slave_pos()),
        "sql_replica_skip_counter" => Some(Setting::UInt(server.replica.apply_settings().skip_counter())),
        "log_bin_basename" => text(server.binlog.as_ref()?.basename_path().display().to_string()),
        "log_bin_index" => text(server.binlog.as_ref()?.index_path().display().to_string()),
        _ => None,
    }
}

/// The global value as it is now.
pub fn global_now(server: &Server, id: VariableId) -> Setting {
    computed(server, id.definition().name).unwrap_or_else(|| server.globals.get(id))
}
