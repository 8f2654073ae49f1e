//! The connections as a session sees them, for SHOW PROCESSLIST and the tables that list them.

use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::{Activity, ProcessLine};

/// The connections that an account may see: all with PROCESS, else its own.
pub fn visible_processes(host: &ConnectionHost) -> Vec<ProcessLine> {
    let sees_all = host.has_static("PROCESS");
    let own = host.account().shown();
    let lines = host.server().sessions.all();
    lines.iter().map(|e| e.line()).filter(|l| sees_all || l.shown.account == own).collect()
}

/// What the column State says of a connection.
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
