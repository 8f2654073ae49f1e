//! The statements that the server itself carries out (`sql::AdminCommand`).

pub mod account_changes;
mod account_rights;
mod accounts;
mod clone;
pub mod flush;
mod replication;
mod show;

pub use replication::RARE_HEARTBEAT;

use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::Activity;
use crate::show::result_table::send_ok;
use sql::{AdminCommand as Command, ResultSink, SqlError};

/// Carries out a command and answers it.
pub fn carry_out(
    host: &ConnectionHost,
    command: Command,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    match command {
        Command::ChangeReplicationSource { .. }
        | Command::ChangeReplicationFilter { .. }
        | Command::StartReplica { .. }
        | Command::StopReplica { .. }
        | Command::ResetReplica { .. }
        | Command::ShowReplicaStatus { .. }
        | Command::ShowReplicas { .. }
        | Command::ShowBinaryLogs
        | Command::ShowBinaryLogStatus
        | Command::ShowBinlogEvents { .. }
        | Command::ResetBinaryLogsAndGtids { .. }
        | Command::PurgeBinaryLogs(_) => replication::carry_out(host, command, status, sink),
        Command::SetRole(_) | Command::ShowGrants { .. } | Command::ShowCreateUser(_) => {
            accounts::carry_out(host, command, status, sink)
        }
        Command::Flush { targets, .. } => {
            flush::flush(host, &targets)?;
            send_ok(status, sink)
        }
        Command::UnlockTables => send_ok(status, sink),
        Command::Kill { query_only, connection_id } => {
            kill(host, connection_id, query_only)?;
            send_ok(status, sink)
        }
        Command::CloneLocal { directory } => clone::local(host, &directory, status, sink),
        Command::Shutdown { restart } => shutdown(host, restart, status, sink),
        Command::ShowProcesslist { full } => show::processlist(host, full, status, sink),
        Command::ShowEngine { engine, what } => show::engine(host, &engine, &what, status, sink),
        Command::ShowPlugins => show::plugins(status, sink),
        Command::ShowPrivileges => show::privileges(status, sink),
        Command::ResetPersist { .. } => panic!("the session carries out RESET PERSIST"),
        Command::CreateUser { .. }
        | Command::AlterUser { .. }
        | Command::DropUser { .. }
        | Command::RenameUser(_)
        | Command::SetPassword { .. }
        | Command::Grant { .. }
        | Command::Revoke { .. }
        | Command::GrantRoles { .. }
        | Command::RevokeRoles { .. }
        | Command::GrantProxy { .. }
        | Command::RevokeProxy { .. }
        | Command::CreateRole { .. }
        | Command::DropRole { .. }
        | Command::SetDefaultRole { .. } => panic!("account_changes carries out what changes accounts"),
    }
}

fn kill(host: &ConnectionHost, connection_id: u64, query_only: bool) -> sql::Result<()> {
    // A thread of the server itself is no connection; `event_scheduler` ends it.
    let entry = host.server().sessions.get(connection_id).filter(|it| it.activity() != Activity::Daemon);
    let entry = entry.ok_or_else(|| SqlError::new(1094, format!("Unknown thread id: {connection_id}")))?;
    // Every account may kill its own connections.
    let is_own = entry.shown().account == host.account().shown();
    if !is_own && !may_kill(host, &entry.shown().account) {
        return Err(SqlError::new(1095, format!("You are not owner of thread {connection_id}")));
    }
    entry.kill(query_only);
    if let Some(binlog) = &host.server().binlog {
        binlog.wake_sessions();
    }
    Ok(())
}

/// Reports whether the session may kill connections of another account. It needs SUPER or
/// CONNECTION_ADMIN, and for an account with SYSTEM_USER also SYSTEM_USER.
fn may_kill(host: &ConnectionHost, account: &str) -> bool {
    let is_protected = || {
        let table = host.server().accounts.table();
        let owner = table.iter().find(|known| known.shown() == account);
        owner.is_some_and(|owner| owner.is_system_user())
    };
    host.require_admin("SUPER or CONNECTION_ADMIN", &["CONNECTION_ADMIN"]).is_ok()
        && (host.is_system_user() || !is_protected())
}

fn shutdown(host: &ConnectionHost, restart: bool, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    host.require_static("SHUTDOWN")?;
    if restart {
        let text = "Restart server failed (mysqld is not managed by supervisor process).";
        return Err(SqlError::new(3707, text));
    }
    log_system(host);
    host.stop_when_answered();
    send_ok(status, sink)
}

fn log_system(host: &ConnectionHost) {
    crate::log_system!("MY-013172", "Received SHUTDOWN from user {}.", host.account().shown());
}
