//! The FLUSH statement.

use crate::client::connection_host::ConnectionHost;
use crate::server::Server;
use crate::server::query_logs::Log;
use sql::SqlError;
use sql::admin::FlushTarget;

/// Flushes all targets of the statement.
pub fn flush(host: &ConnectionHost, targets: &[FlushTarget]) -> sql::Result<()> {
    targets.iter().try_for_each(|target| check(host, target))?;
    let server = host.server();
    targets.iter().try_for_each(|target| match target {
        FlushTarget::Logs => flush_logs(server),
        FlushTarget::BinaryLogs => flush_binary_logs(server),
        FlushTarget::RelayLogs => Err(SqlError::not_supported("FLUSH RELAY LOGS")),
        FlushTarget::OtherLogs(word) => flush_other_logs(server, word),
        FlushTarget::Privileges => crate::accounts::storage::load(server),
        FlushTarget::Status => {
            server.status.flush(server.sessions.clients());
            server.sessions.flush_counters(host.entry());
            Ok(())
        }
        FlushTarget::Other(word) if word == "USER_RESOURCES" => {
            server.accounts.usage.begin_hour();
            Ok(())
        }
        FlushTarget::Tables(tables) if tables.is_empty() => {
            server.status.flush_commands.add_one();
            Ok(())
        }
        FlushTarget::TablesWithReadLock => {
            server.status.flush_commands.add_one();
            Ok(())
        }
        // Nothing is held back here that would have to be flushed: tables are cached by the engine
        // only, and its log is synced by a thread of its own. The session itself holds back
        // commits.
        FlushTarget::Tables(_) | FlushTarget::Other(_) => Ok(()),
    })
}

/// Checks for RELOAD, or for the dynamic privilege that covers the target.
fn check(host: &ConnectionHost, target: &FlushTarget) -> sql::Result<()> {
    match target {
        FlushTarget::Status => host.require_reload_or("FLUSH_STATUS"),
        FlushTarget::Tables(_) | FlushTarget::TablesWithReadLock => host.require_reload_or("FLUSH_TABLES"),
        FlushTarget::Privileges => host.require_reload_or("FLUSH_PRIVILEGES"),
        FlushTarget::Other(words) if words == "USER_RESOURCES" => {
            host.require_reload_or("FLUSH_USER_RESOURCES")
        }
        FlushTarget::Other(words) if words == "OPTIMIZER_COSTS" => {
            host.require_reload_or("FLUSH_OPTIMIZER_COSTS")
        }
        FlushTarget::Logs
        | FlushTarget::BinaryLogs
        | FlushTarget::RelayLogs
        | FlushTarget::OtherLogs(_)
        | FlushTarget::Other(_) => host.require_static("RELOAD"),
    }
}

/// Flushes all logs, for FLUSH LOGS and SIGHUP.
pub fn flush_logs(server: &Server) -> sql::Result<()> {
    reopen_error_log()?;
    server.query_logs.reopen(&server.log_opening(), &[Log::General, Log::Slow])?;
    let audit_file = server.globals.named("audit_log_file");
    server.audit.reopen(&server.disk, &server.log_opening(), audit_file.text())?;
    flush_binary_logs(server)
}

/// `FLUSH ERROR|GENERAL|SLOW|ENGINE LOGS`.
fn flush_other_logs(server: &Server, word: &str) -> sql::Result<()> {
    match word.to_ascii_uppercase().as_str() {
        "ERROR" => reopen_error_log(),
        "GENERAL" => server.query_logs.reopen(&server.log_opening(), &[Log::General]),
        "SLOW" => server.query_logs.reopen(&server.log_opening(), &[Log::Slow]),
        _ => Ok(()),
    }
}

fn reopen_error_log() -> sql::Result<()> {
    crate::process::error_log::reopen()
        .map_err(|e| SqlError::new(1105, format!("cannot open the error log: {e}")))
}

fn flush_binary_logs(server: &Server) -> sql::Result<()> {
    match server.open_binlog() {
        Some(binlog) => binlog.rotate().map_err(|e| SqlError::new(e.code, e.message)),
        None => Ok(()),
    }
}
