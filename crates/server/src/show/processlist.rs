//! The connections as a session sees them, for SHOW PROCESSLIST and the tables that list them.

use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::{Activity, ProcessLine, activity_name};
use crate::show::result_table::text_or_null;
use types::Value;

/// Returns the connections that an account may see: all with PROCESS, otherwise its own.
pub fn visible_processes(host: &ConnectionHost) -> Vec<ProcessLine> {
    let sees_all = host.has_static("PROCESS");
    let own = host.account().shown();
    let lines = host.server().sessions.all();
    lines.iter().map(|e| e.line()).filter(|l| sees_all || l.shown.account == own).collect()
}

/// Returns the value of the column State of a connection.
pub fn state_of(line: &ProcessLine) -> &'static str {
    match line.activity {
        _ if !line.shown.state.is_empty() => line.shown.state,
        Activity::Sleep => "",
        Activity::Connect => "login",
        Activity::BinlogDump | Activity::BinlogDumpGtid => {
            "Source has sent all binlog to replica; waiting for more updates"
        }
        _ => "executing",
    }
}

/// Returns the values that all lists of connections show of one, in their order: Id, User, Host,
/// db, Command, Time, State and Info.
pub fn values(line: &ProcessLine) -> [Value; 8] {
    let statement = line.shown.is_running.then_some(line.shown.statement.as_str());
    [
        Value::UInt(line.id.into()),
        Value::text(&line.shown.user),
        Value::text(&line.shown.host),
        text_or_null(line.shown.schema.as_deref()),
        Value::text(activity_name(line.activity)),
        Value::UInt(line.time_s),
        Value::text(state_of(line)),
        text_or_null(statement),
    ]
}
