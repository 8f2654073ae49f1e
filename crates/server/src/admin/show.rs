//! SHOW statements about the server.

use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::ProcessLine;
use crate::show::processlist::{values, visible_processes};
use crate::show::result_table::{number_column, send, text_column};
use sql::{ResultSink, SqlError, VirtualTable};
use types::Value;

/// The number of characters of a statement that SHOW PROCESSLIST shows without FULL.
const INFO_CHARS: usize = 100;

/// Carries out `SHOW [FULL] PROCESSLIST`.
pub fn processlist(
    host: &ConnectionHost,
    full: bool,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    let row = |mut line: ProcessLine| {
        if !full {
            let shown = &mut line.shown.statement;
            shown.truncate(shown.char_indices().nth(INFO_CHARS).map_or(shown.len(), |(at, _)| at));
        }
        values(&line).into()
    };
    host.server().status.note_process_list();
    let columns = vec![
        number_column("Id"),
        text_column("User", 32),
        text_column("Host", 261),
        text_column("db", 64),
        text_column("Command", 16),
        number_column("Time"),
        text_column("State", 64),
        text_column("Info", if full { 65_535 } else { 100 }),
    ];
    send(
        &VirtualTable { columns, rows: visible_processes(host).into_iter().map(row).collect() },
        status,
        sink,
    )
}

/// Carries out SHOW ENGINE.
pub fn engine(
    host: &ConnectionHost,
    engine: &str,
    what: &str,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    let columns = vec![text_column("Type", 10), text_column("Name", 512), text_column("Status", 65_535)];
    if !engine.eq_ignore_ascii_case("INNODB") {
        return Err(SqlError::new(1286, format!("Unknown storage engine '{engine}'")));
    }
    host.require_static("PROCESS")?;
    let rows = if what.eq_ignore_ascii_case("STATUS") {
        let text = crate::show::innodb_monitor::text(host.server());
        vec![vec![Value::text("InnoDB"), Value::text(""), Value::text(&text)]]
    } else {
        // SHOW ENGINE INNODB MUTEX lists the mutexes that threads have waited for. Latches here
        // keep no such list.
        Vec::new()
    };
    send(&VirtualTable { columns, rows }, status, sink)
}

/// Carries out SHOW PLUGINS.
pub fn plugins(status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    send(&crate::show::plugins::shown(), status, sink)
}

/// Carries out SHOW PRIVILEGES.
pub fn privileges(status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    send(&crate::show::privilege_list::shown(), status, sink)
}
