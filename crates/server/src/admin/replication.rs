//! The statements about replication and the binary log.

use crate::accounts::needs_privilege;
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::{number_column, send, send_ok, text_column};
use replica::config::{Login, SHORTEST_HEARTBEAT_PERIOD_S};
use replica::error::ChannelError;
use replica::status::{Cell, ReplicaStatus};
use replica::{Replica, Threads};
use source::Binlog;
use source::error::Refusal;
use source::show::{ShowRange, ShownEvent, show_file};
use sql::admin::{PurgeTo, SourceOptions};
use sql::{AdminCommand as Command, ResultSink, SqlError, VirtualTable, WarningLevel};
use std::sync::Arc;
use types::Value;

/// Carries out a statement about replication or the binary log.
pub fn carry_out(
    host: &ConnectionHost,
    command: Command,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    check_subject(host, &command)?;
    check(host, &command)?;
    let replica = &host.server().replica;
    match command {
        Command::ChangeReplicationSource { options, channel } => {
            replica.change_source(&options, channel.as_deref()).map_err(channel_error)?;
            warn_of_options(host, &options, sink);
        }
        Command::ChangeReplicationFilter { filters, channel } => {
            replica.change_filters(&filters, channel.as_deref()).map_err(channel_error)?;
        }
        Command::StartReplica { threads, until, login, channel } => {
            let threads = either_or_both(Threads { receiver: threads.receiver, applier: threads.applier });
            let named = replica.named_or_all(channel.as_deref()).map_err(channel_error)?;
            let running: Vec<_> = named.iter().filter(|channel| channel.runs(threads).0).collect();
            let names: Vec<String> = running.iter().map(|channel| channel.name().to_owned()).collect();
            if login.is_some() && threads.receiver {
                // MySQL notes this for each channel that the statement starts.
                named.iter().for_each(|_| note_insecure_password(host, sink));
            }
            let login = login.map(|login| Login { user: login.user, password: login.password });
            if channel.is_none() && until.is_none() {
                replica.start_all(threads, login.as_ref()).map_err(channel_error)?;
            } else {
                let channel = replica.one(channel.as_deref()).map_err(channel_error)?;
                channel.start_as(threads, until.as_ref(), login.as_ref()).map_err(channel_error)?;
            }
            for name in names {
                // MySQL's text has this slip.
                note_idle(sink, 3083, &name, "runnning");
            }
        }
        Command::StopReplica { threads, channel } => {
            let threads = either_or_both(Threads { receiver: threads.receiver, applier: threads.applier });
            for channel in replica.named_or_all(channel.as_deref()).map_err(channel_error)? {
                let ran = channel.runs(threads).1;
                channel.stop(threads);
                if !ran {
                    note_idle(sink, 3084, channel.name(), "stopped");
                }
            }
        }
        Command::ResetReplica { all, channel } => {
            replica.reset(all, channel.as_deref()).map_err(channel_error)?;
        }
        Command::ShowReplicaStatus { old_names, channel } => {
            let channels = replica.named_or_all(channel.as_deref()).map_err(channel_error)?;
            let statuses: Vec<_> = channels.iter().filter_map(|channel| channel.status()).collect();
            return send(&replica_status(&statuses, old_names), status, sink);
        }
        Command::ShowReplicas { old_names } => return send(&replicas(host, old_names), status, sink),
        Command::ShowBinaryLogs => return send(&binary_logs(host)?, status, sink),
        Command::ShowBinaryLogStatus => return send(&binary_log_status(host)?, status, sink),
        Command::ShowBinlogEvents { relay, channel, file, position, offset, limit } => {
            let range = ShowRange { position, offset, limit };
            let relay = match relay {
                true => Some(replica.one(channel.as_deref()).map_err(channel_error)?),
                false => None,
            };
            return send(&events(host, relay.as_deref(), file.as_deref(), &range)?, status, sink);
        }
        Command::ResetBinaryLogsAndGtids { to } => reset(host, to)?,
        Command::PurgeBinaryLogs(to) => purge(host, &to)?,
        other => panic!("{other:?} is no statement about replication"),
    }
    send_ok(status, sink)
}

/// Notes that START or STOP REPLICA had nothing to do for a channel.
fn note_idle(sink: &mut dyn ResultSink, code: u16, channel: &str, state: &str) {
    let text = format!("Replication thread(s) for channel '{channel}' are already {state}.");
    sink.warn(WarningLevel::Note, code, text);
}

/// Notes that the client has sent a password which everybody on its way can read.
fn note_insecure_password(host: &ConnectionHost, sink: &mut dyn ResultSink) {
    if host.entry().encryption().is_none() {
        let text = "Sending passwords in plain text without SSL/TLS is extremely insecure.";
        sink.warn(WarningLevel::Note, 1759, text.to_owned());
    }
}

/// The text of warning 1704.
pub const RARE_HEARTBEAT: &str = "The requested value for the heartbeat period exceeds the value of \
     `replica_net_timeout' seconds. A sensible value for the period should be less than the timeout.";

/// Warns of options of CHANGE REPLICATION SOURCE TO as MySQL does.
fn warn_of_options(host: &ConnectionHost, options: &SourceOptions, sink: &mut dyn ResultSink) {
    if let Some(period_s) = options.heartbeat_period_s {
        let timeout_s = host.server().globals.named("replica_net_timeout").uint();
        if period_s > 0.0 && period_s < SHORTEST_HEARTBEAT_PERIOD_S {
            let text = "The requested value for the heartbeat period is less than 1 millisecond. The value is \
                        reset to 0, meaning that heartbeating will effectively be disabled.";
            sink.warn(WarningLevel::Warning, 1703, text.to_owned());
        } else if period_s > timeout_s as f64 {
            sink.warn(WarningLevel::Warning, 1704, RARE_HEARTBEAT.to_owned());
        }
    }
    if options.user.is_some() || options.password.is_some() {
        note_insecure_password(host, sink);
        let text = "Storing MySQL user name or password information in the connection metadata repository \
                    is not secure and is therefore not recommended. Please consider using the USER and \
                    PASSWORD connection options for START REPLICA; see the 'START REPLICA Syntax' in the \
                    MySQL Manual for more information.";
        sink.warn(WarningLevel::Note, 1760, text.to_owned());
    }
}

/// Checks what MySQL checks before privileges: that the channel exists, and that the number of the
/// first log is in range.
fn check_subject(host: &ConnectionHost, command: &Command) -> sql::Result<()> {
    match command {
        Command::StartReplica { channel: Some(channel), .. }
        | Command::StopReplica { channel: Some(channel), .. } => {
            host.server().replica.channel(channel).map(drop).map_err(channel_error)
        }
        Command::ResetBinaryLogsAndGtids { to: Some(to) } if !(1..=2_000_000_000).contains(to) => {
            let text = format!(
                "The requested value '{to}' for the next binary log index is out of range. Please use a value between '1' and \
                 '2000000000'."
            );
            Err(SqlError::new(3567, text))
        }
        _ => Ok(()),
    }
}

fn check(host: &ConnectionHost, command: &Command) -> sql::Result<()> {
    match command {
        Command::ShowReplicaStatus { .. } | Command::ShowBinaryLogs | Command::ShowBinaryLogStatus => {
            if host.has_static("REPLICATION CLIENT") || host.has_static("SUPER") {
                return Ok(());
            }
            Err(needs_privilege("SUPER, REPLICATION CLIENT"))
        }
        Command::ShowReplicas { .. } | Command::ShowBinlogEvents { .. } => {
            host.require_static("REPLICATION SLAVE")
        }
        Command::ResetReplica { .. } | Command::ResetBinaryLogsAndGtids { .. } => {
            host.require_static("RELOAD")
        }
        Command::PurgeBinaryLogs(_) => host.require_admin("SUPER or BINLOG_ADMIN", &["BINLOG_ADMIN"]),
        _ => host.require_admin("SUPER or REPLICATION_SLAVE_ADMIN", &["REPLICATION_SLAVE_ADMIN"]),
    }
}

/// Returns both threads when the statement names neither.
fn either_or_both(threads: Threads) -> Threads {
    if threads.receiver || threads.applier { threads } else { Threads::BOTH }
}

fn channel_error(e: ChannelError) -> SqlError {
    SqlError::new(e.code, e.message)
}

fn refusal(e: Refusal) -> SqlError {
    SqlError::new(e.code, e.message)
}

fn binlog(host: &ConnectionHost) -> sql::Result<&Arc<Binlog>> {
    host.server().open_binlog().ok_or_else(no_binary_logging)
}

fn no_binary_logging() -> SqlError {
    SqlError::new(1381, "You are not using binary logging")
}

fn replica_status(statuses: &[ReplicaStatus], old_names: bool) -> VirtualTable {
    // MariaDB's columns are there only for channels that have a MariaDB source. All rows have the
    // columns of the shortest list.
    let all: Vec<_> = statuses.iter().map(|status| status.columns(old_names)).collect();
    let shortest = all.iter().min_by_key(|cells| cells.len()).cloned();
    let cells = shortest.unwrap_or_else(|| ReplicaStatus::default().columns(old_names));
    let width = cells.len();
    let columns = cells.iter().map(|(name, cell)| match cell {
        // Only numbers of seconds may be NULL.
        Cell::Number(_) | Cell::Null => number_column(name),
        Cell::Text(_) => text_column(name, 1024),
    });
    let columns: Vec<_> = columns.collect();
    let value = |cell: Cell| match cell {
        Cell::Null => Value::Null,
        Cell::Number(n) => Value::UInt(n),
        Cell::Text(text) => Value::text(&text),
    };
    let row = |cells: Vec<(&str, Cell)>| cells.into_iter().take(width).map(|(_, cell)| value(cell)).collect();
    VirtualTable { columns, rows: all.into_iter().map(row).collect() }
}

fn replicas(host: &ConnectionHost, old_names: bool) -> VirtualTable {
    let names = if old_names {
        ["Server_id", "Host", "Port", "Master_id", "Slave_UUID"]
    } else {
        ["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"]
    };
    let columns = vec![
        number_column(names[0]),
        text_column(names[1], 255),
        number_column(names[2]),
        number_column(names[3]),
        text_column(names[4], 36),
    ];
    let row = |r: crate::server::replicas::RegisteredReplica| {
        vec![
            Value::UInt(r.server_id.into()),
            Value::text(&r.host),
            Value::UInt(r.port.into()),
            Value::UInt(r.source_id.into()),
            Value::text(&r.server_uuid),
        ]
    };
    VirtualTable { columns, rows: host.server().replicas.list().into_iter().map(row).collect() }
}

fn binary_logs(host: &ConnectionHost) -> sql::Result<VirtualTable> {
    let files = binlog(host)?.list().map_err(refusal)?;
    let columns = vec![text_column("Log_name", 255), number_column("File_size"), text_column("Encrypted", 3)];
    let row = |f: source::LogFile| vec![Value::text(&f.name), Value::UInt(f.size_bytes), Value::text("No")];
    Ok(VirtualTable { columns, rows: files.into_iter().map(row).collect() })
}

fn binary_log_status(host: &ConnectionHost) -> sql::Result<VirtualTable> {
    let columns = vec![
        text_column("File", 255),
        number_column("Position"),
        text_column("Binlog_Do_DB", 255),
        text_column("Binlog_Ignore_DB", 255),
        text_column("Executed_Gtid_Set", 65_535),
    ];
    let Some(binlog) = host.server().open_binlog() else {
        return Ok(VirtualTable { columns, rows: Vec::new() });
    };
    let status = binlog.status().map_err(refusal)?;
    let filter = host.server().engine.binlog_filter();
    let row = vec![
        Value::text(&status.file),
        Value::UInt(status.position),
        Value::text(&filter.do_schemas.join(",")),
        Value::text(&filter.ignore_schemas.join(",")),
        Value::text(&status.executed_gtid_set),
    ];
    Ok(VirtualTable { columns, rows: vec![row] })
}

fn events(
    host: &ConnectionHost,
    relay: Option<&Replica>,
    file: Option<&str>,
    range: &ShowRange,
) -> sql::Result<VirtualTable> {
    let columns = vec![
        text_column("Log_name", 255),
        number_column("Pos"),
        text_column("Event_type", 64),
        number_column("Server_id"),
        number_column("End_log_pos"),
        text_column("Info", 65_535),
    ];
    let shown = if let Some(channel) = relay {
        relay_events(host, channel, file, range)?
    } else {
        match host.server().open_binlog() {
            Some(binlog) => binlog.events(file, range).map_err(refusal)?,
            None => Vec::new(),
        }
    };
    let row = |e: ShownEvent| {
        vec![
            Value::text(&e.log_name),
            Value::UInt(e.pos),
            Value::text(e.event_type),
            Value::UInt(e.server_id.into()),
            Value::UInt(e.end_log_pos),
            Value::text(&e.info),
        ]
    };
    Ok(VirtualTable { columns, rows: shown.into_iter().map(row).collect() })
}

fn relay_events(
    host: &ConnectionHost,
    channel: &Replica,
    file: Option<&str>,
    range: &ShowRange,
) -> sql::Result<Vec<ShownEvent>> {
    let files = channel.relay_log().list();
    let found = files.iter().find(|(name, _)| file.is_none_or(|wanted| wanted == name));
    let not_found = || {
        SqlError::new(1220, "Error when executing command SHOW RELAYLOG EVENTS: Could not find target log")
    };
    let (name, path) = found.ok_or_else(not_found)?;
    show_file(&*host.server().disk, path, name, None, range).map_err(refusal)
}

fn reset(host: &ConnectionHost, to: Option<u64>) -> sql::Result<()> {
    let binlog = &host.server().binlog;
    if to.is_none() && binlog.is_none() {
        // Without a binary log there are only the GTIDs to reset.
        return host.server().engine.reset_gtids().map_err(SqlError::from);
    }
    let binlog = binlog.as_ref().ok_or_else(no_binary_logging)?;
    binlog.reset(to.unwrap_or(1)).map_err(refusal)
}

fn purge(host: &ConnectionHost, to: &PurgeTo) -> sql::Result<()> {
    let Some(binlog) = host.server().open_binlog() else { return Ok(()) };
    match to {
        PurgeTo::File(name) => binlog.purge_to(name),
        PurgeTo::BeforeUnixTime(time_s) => binlog.purge_before(*time_s),
    }
    .map_err(refusal)
}
