//! The tables of performance_schema about the server as a whole: its variables' definitions, its
//! logs, its TLS, and where its memory is.

use super::cells::{Cells, number, table, text, text_of};
use crate::client::connection_host::ConnectionHost;
use crate::variables::{self, Definition, Kind, Scope};
use sql::{ComputedTable, SqlError};

/// `variables_metadata`: the definitions of the system variables.
pub fn variables_metadata(_host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(definition: &Definition) -> Cells {
        let scope = match definition.scope {
            Scope::Global => "GLOBAL",
            Scope::Session => "SESSION",
            Scope::SessionOnly => "SESSION_ONLY",
        };
        let (kind, least, greatest) = match definition.kind {
            Kind::Bool => ("Boolean", String::new(), String::new()),
            Kind::Int(least, greatest) => ("Integer", least.to_string(), greatest.to_string()),
            Kind::UInt(least, greatest) => ("Integer", least.to_string(), greatest.to_string()),
            Kind::Double(least, greatest) => ("Numeric", least.to_string(), greatest.to_string()),
            Kind::Enum(_) | Kind::Collation(_) => ("Enumeration", String::new(), String::new()),
            Kind::Text => ("String", String::new(), String::new()),
        };
        vec![
            text("VARIABLE_NAME", definition.name),
            text("VARIABLE_SCOPE", scope),
            text("DATA_TYPE", kind),
            text("MIN_VALUE", &least),
            text("MAX_VALUE", &greatest),
            text("DOCUMENTATION", definition.about),
        ]
    }
    let mut all: Vec<&Definition> = variables::all().map(|id| id.definition()).collect();
    all.sort_by_key(|definition| definition.name);
    let columns = all.first().map(|definition| row(definition)).unwrap_or_default();
    table(columns, move || all.into_iter().map(row).collect::<Vec<_>>())
}

/// Returns the text as a string of JSON.
fn in_quotes(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// `log_status`: how far the binary log, the channels and the engine's log are. A commit may come
/// between the three. Reading it needs BACKUP_ADMIN; without it the error is 1227.
pub fn log_status(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(uuid: &str, local: &str, replication: &str, engines: &str) -> Cells {
        vec![
            text("SERVER_UUID", uuid),
            text_of("LOCAL", Some(local)),
            text_of("REPLICATION", Some(replication)),
            text_of("STORAGE_ENGINES", Some(engines)),
        ]
    }
    let columns = super::cells::columns(row("", "", "", ""));
    ComputedTable::new(columns, |rows| {
        if !host.account().administers(&["BACKUP_ADMIN"]) {
            let text =
                "Access denied; you need (at least one of) the BACKUP_ADMIN privilege(s) for this operation";
            return Err(SqlError::new(1227, text));
        }
        let server = host.server();
        let gtids = in_quotes(&server.engine.gtid_executed().to_string());
        let place = server.open_binlog().and_then(|binlog| binlog.status().ok());
        let place = place.map_or(String::new(), |status| {
            let file = in_quotes(&status.file);
            format!(", \"binary_log_file\": {file}, \"binary_log_position\": {}", status.position)
        });
        let channels: Vec<String> = server
            .replica
            .statuses()
            .iter()
            .map(|status| {
                let name = in_quotes(&status.channel);
                format!("{{\"channel_name\": {name}}}")
            })
            .collect();
        let log = server.engine.log().status();
        let engines = format!(
            "{{\"InnoDB\": {{\"LSN\": {}, \"LSN_checkpoint\": {}}}}}",
            log.durable_lsn, log.checkpoint_lsn
        );
        let local = format!("{{\"gtid_executed\": {gtids}{place}}}");
        let replication = format!("{{\"channels\": [{}]}}", channels.join(", "));
        let uuid = server.globals.named("server_uuid");
        rows.put(super::cells::values(row(uuid.text(), &local, &replication, &engines)))
    })
}

/// `memory_summary_global_by_event_name`: the great parts of the memory that are known.
pub fn memory(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str, bytes: u64) -> Cells {
        let used = u64::from(bytes > 0);
        let mut cells = vec![text("EVENT_NAME", name)];
        for column in ["COUNT_ALLOC", "LOW_COUNT_USED", "CURRENT_COUNT_USED", "HIGH_COUNT_USED"] {
            cells.push(number(column, used));
        }
        for column in [
            "SUM_NUMBER_OF_BYTES_ALLOC",
            "LOW_NUMBER_OF_BYTES_USED",
            "CURRENT_NUMBER_OF_BYTES_USED",
            "HIGH_NUMBER_OF_BYTES_USED",
        ] {
            cells.push(number(column, bytes));
        }
        cells
    }
    table(row("", 0), move || {
        let server = host.server();
        let pool = server.globals.named("innodb_buffer_pool_size").uint();
        [("memory/innodb/buf_buf_pool", pool), ("memory/sql/THD::main_mem_root", server.memory.used_bytes())]
            .map(|(name, bytes)| row(name, bytes))
    })
}

/// `tls_channel_status`: whether connections may use TLS, and the settings for it.
pub fn tls_channel_status(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str, value: &str) -> Cells {
        vec![text("CHANNEL", "mysql_main"), text("PROPERTY", name), text("VALUE", value)]
    }
    const SETTINGS: [(&str, &str); 5] = [
        ("Current_tls_ca", "ssl_ca"),
        ("Current_tls_cert", "ssl_cert"),
        ("Current_tls_cipher", "ssl_cipher"),
        ("Current_tls_key", "ssl_key"),
        ("Current_tls_version", "tls_version"),
    ];
    table(row("", ""), move || {
        let globals = &host.server().globals;
        let known = SETTINGS.into_iter().filter(|(_, variable)| variables::find(variable).is_some());
        let mut rows: Vec<Cells> =
            known.map(|(name, variable)| row(name, globals.named(variable).text())).collect();
        let has_tls = host.server().tls.get().is_some();
        rows.insert(0, row("Enabled", if has_tls { "Yes" } else { "No" }));
        rows
    })
}
