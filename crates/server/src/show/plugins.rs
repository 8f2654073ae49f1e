//! The parts of this server that are plugins in MySQL, for SHOW PLUGINS and
//! `information_schema.PLUGINS`.

use super::result_table::{not_null, text_column};
use sql::VirtualTable;
use types::Value;

/// The license of everything here.
const LICENSE: &str = "Apache-2.0";
/// The author that MySQL's own plugins name is this project here.
const AUTHOR: &str = "Slipstream";

/// A part of the server that is a plugin in MySQL.
struct Plugin {
    name: &'static str,
    kind: Kind,
    version: &'static str,
    description: &'static str,
}

/// The kinds of plugins.
#[derive(Clone, Copy)]
enum Kind {
    StorageEngine,
    Authentication,
    Replication,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::StorageEngine => "STORAGE ENGINE",
            Kind::Authentication => "AUTHENTICATION",
            Kind::Replication => "REPLICATION",
        }
    }

    /// Returns the version of the interface that MySQL 9.7 has for plugins of this kind.
    fn interface(self) -> &'static str {
        match self {
            Kind::StorageEngine => "90700.0",
            Kind::Authentication => "2.1",
            Kind::Replication => "4.0",
        }
    }
}

const PLUGINS: &[Plugin] = &[
    plugin("binlog", Kind::StorageEngine, "1.0", "The binary log, which takes part in transactions"),
    plugin("mysql_native_password", Kind::Authentication, "1.1", "Native MySQL authentication"),
    plugin("caching_sha2_password", Kind::Authentication, "1.0", "Caching sha2 authentication"),
    plugin(
        "InnoDB",
        Kind::StorageEngine,
        "9.7",
        "Supports transactions, row-level locking, and foreign keys",
    ),
    plugin("rpl_semi_sync_source", Kind::Replication, "1.0", "Source-side semi-synchronous replication"),
    plugin("rpl_semi_sync_replica", Kind::Replication, "1.0", "Replica-side semi-synchronous replication"),
];

const fn plugin(name: &'static str, kind: Kind, version: &'static str, description: &'static str) -> Plugin {
    Plugin { name, kind, version, description }
}

/// Returns the answer to SHOW PLUGINS.
pub fn shown() -> VirtualTable {
    let columns = vec![
        not_null(text_column("Name", 64)),
        not_null(text_column("Status", 10)),
        not_null(text_column("Type", 80)),
        text_column("Library", 64),
        text_column("License", 80),
    ];
    let row = |plugin: &Plugin| {
        let [name, kind] = [plugin.name, plugin.kind.name()].map(Value::text);
        vec![name, Value::text("ACTIVE"), kind, Value::Null, Value::text(LICENSE)]
    };
    VirtualTable { columns, rows: PLUGINS.iter().map(row).collect() }
}

/// Returns `information_schema.PLUGINS`.
pub fn table() -> VirtualTable {
    let columns = vec![
        not_null(text_column("PLUGIN_NAME", 64)),
        not_null(text_column("PLUGIN_VERSION", 20)),
        not_null(text_column("PLUGIN_STATUS", 10)),
        not_null(text_column("PLUGIN_TYPE", 80)),
        not_null(text_column("PLUGIN_TYPE_VERSION", 20)),
        text_column("PLUGIN_LIBRARY", 64),
        text_column("PLUGIN_LIBRARY_VERSION", 20),
        text_column("PLUGIN_AUTHOR", 64),
        text_column("PLUGIN_DESCRIPTION", 65_535),
        text_column("PLUGIN_LICENSE", 80),
        not_null(text_column("LOAD_OPTION", 64)),
    ];
    let row = |plugin: &Plugin| {
        vec![
            Value::text(plugin.name),
            Value::text(plugin.version),
            Value::text("ACTIVE"),
            Value::text(plugin.kind.name()),
            Value::text(plugin.kind.interface()),
            Value::Null,
            Value::Null,
            Value::text(AUTHOR),
            Value::text(plugin.description),
            Value::text(LICENSE),
            Value::text("FORCE"),
        ]
    };
    VirtualTable { columns, rows: PLUGINS.iter().map(row).collect() }
}
