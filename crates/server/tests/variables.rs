//! Tests of system variables through SQL: values, scopes, MySQL's errors.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError};
use server::variables::{self, Definition, Kind, Scope};
use std::collections::BTreeMap;
use testkit::{Server, available};

fn code<T: std::fmt::Debug>(result: Result<T, ClientError>) -> u16 {
    let error = result.expect_err("this must be refused");
    error.server_code().unwrap_or_else(|| panic!("not the server's error: {error}"))
}

fn value(client: &mut Client, expression: &str) -> Option<String> {
    client.query(&format!("SELECT {expression}")).unwrap_or_else(|e| panic!("{expression}: {e}")).cell(0, 0)
}

#[test]
fn options_are_variables() {
    let extra = ["--server-id=77", "--max-connections=33", "--innodb-page-size=8K", "--skip-name-resolve"];
    let settings = Settings { extra: extra.map(str::to_owned).into(), log_bin: true, ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    for (expression, want) in [
        ("@@server_id", "77"),
        ("@@global.max_connections", "33"),
        ("@@innodb_page_size", "8192"),
        ("@@skip_name_resolve", "1"),
        ("@@log_bin", "1"),
        ("@@lower_case_table_names", "0"),
        ("@@version_comment", "Slipstream"),
        ("@@system_time_zone", "UTC"),
    ] {
        assert_eq!(value(&mut client, expression).as_deref(), Some(want), "{expression}");
    }
    let shown = client.query("SHOW GLOBAL VARIABLES LIKE 'log\\_slave%'").unwrap();
    assert_eq!(
        (shown.cell(0, 0).as_deref(), shown.cell(0, 1).as_deref()),
        (Some("log_slave_updates"), Some("ON"))
    );
    assert_eq!(value(&mut client, "@@server_uuid").map(|uuid| uuid.len()), Some(36));
}

#[test]
fn set_has_mysqls_scopes_and_errors() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    for (statement, want) in [
        ("SET no_such_variable = 1", 1193),
        ("SET GLOBAL no_such_variable = 1", 1193),
        ("SELECT @@no_such_variable", 1193),
        ("SET GLOBAL port = 1", 1238),
        ("SET max_connections = 5", 1229),
        ("SET GLOBAL max_connections = 'many'", 1232),
        ("SET GLOBAL binlog_checksum = 'perhaps'", 1231),
        ("SET GLOBAL read_only = 7", 1231),
        ("SET GLOBAL gtid_next = 'AUTOMATIC'", 1228),
    ] {
        assert_eq!(code(client.query(statement)), want, "{statement}");
    }
    client.query("SET GLOBAL wait_timeout = 1000, SESSION net_read_timeout = 77").unwrap();
    assert_eq!(value(&mut client, "@@wait_timeout").as_deref(), Some("28800"));
    assert_eq!(value(&mut client, "@@net_read_timeout").as_deref(), Some("77"));
    let mut later = server.connect();
    assert_eq!(value(&mut later, "@@wait_timeout").as_deref(), Some("1000"));
    assert_eq!(value(&mut later, "@@net_read_timeout").as_deref(), Some("30"));
    client.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2").unwrap();
    assert_eq!(value(&mut later, "@@innodb_flush_log_at_trx_commit").as_deref(), Some("2"));
}

#[test]
fn an_idle_connection_is_closed() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    client.query("SET wait_timeout = 1").unwrap();
    let error = client.read_packet_checked().map(<[u8]>::to_vec).expect_err("the server hangs up");
    // The server's last packet has the sequence number of an unasked packet, which a client may
    // report as out of order.
    assert!(matches!(error.server_code(), Some(4031) | None), "{error}");
    assert!(client.ping().is_err());
}

/// Variables whose value the server finds when it starts: a path, a name of the machine, a version,
/// or something that follows from other variables. Their definitions have no default to compare.
const FOUND_OUT_AT_START: &[&str] = &[
    "basedir",
    "character_sets_dir",
    "datadir",
    "general_log_file",
    "gtid_executed",
    "gtid_purged",
    "hostname",
    "innodb_buffer_pool_chunk_size",
    "innodb_buffer_pool_instances",
    "innodb_page_cleaners",
    "innodb_version",
    "lc_messages_dir",
    "log_bin_basename",
    "log_bin_index",
    "pid_file",
    "plugin_dir",
    "relay_log",
    "relay_log_basename",
    "relay_log_index",
    "report_port",
    "server_uuid",
    "slow_query_log_file",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "system_time_zone",
    "version",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    "version_compile_zlib",
];

/// What MySQL shows of a variable.
struct InMySql {
    scope: String,
    range: (String, String),
    /// The global value, if it is the compiled-in one.
    default: Option<String>,
    read_only: bool,
}

fn ask_mysql(mysql: &Server) -> BTreeMap<String, InMySql> {
    let mut client = mysql.connect();
    let mut read_only = |name: &str, scope: &str| {
        if scope == "SESSION_ONLY" {
            return false;
        }
        match client.query(&format!("SET GLOBAL {name} = @@GLOBAL.{name}")) {
            Err(error) => error.server_code() == Some(1238),
            Ok(_) => false,
        }
    };
    let rows = mysql.rows(
        "SELECT m.variable_name, m.variable_scope, m.min_value, m.max_value, i.variable_source, g.variable_value \
         FROM performance_schema.variables_metadata m \
         JOIN performance_schema.variables_info i ON i.variable_name = m.variable_name \
         LEFT JOIN performance_schema.global_variables g ON g.variable_name = m.variable_name",
    );
    let of_row = |row: String| {
        let [name, scope, least, greatest, source, value] =
            row.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().expect("six columns");
        let default = (source == "COMPILED" && scope != "SESSION_ONLY").then_some(value);
        let read_only = read_only(&name, &scope);
        (name, InMySql { scope, range: (least, greatest), default, read_only })
    };
    rows.into_iter().map(of_row).collect()
}

/// Returns the points in which a definition differs from what MySQL shows.
fn differences(definition: &Definition, theirs: &InMySql) -> Vec<String> {
    let mut found = Vec::new();
    let scope = match definition.scope {
        Scope::Global => "GLOBAL",
        Scope::Session => "SESSION",
        Scope::SessionOnly => "SESSION_ONLY",
    };
    if scope != theirs.scope {
        found.push(format!("the scope is {scope}, MySQL's {}", theirs.scope));
    }
    // MySQL shows the right range for integers only; the ranges of doubles are cut or garbled.
    let range = match definition.kind {
        Kind::UInt(least, greatest) => Some((least.to_string(), greatest.to_string())),
        Kind::Int(least, greatest) => Some((least.to_string(), greatest.to_string())),
        Kind::Bool | Kind::Double(..) | Kind::Enum(_) | Kind::Collation(_) | Kind::Text => None,
    };
    if let Some(range) = range.filter(|range| *range != theirs.range) {
        found.push(format!("the range is {range:?}, MySQL's {:?}", theirs.range));
    }
    if definition.read_only != theirs.read_only && definition.scope != Scope::SessionOnly {
        found.push(format!("read only is {}, MySQL's {}", definition.read_only, theirs.read_only));
    }
    let default = definition.default_setting().to_string();
    if let Some(theirs) = &theirs.default
        && !FOUND_OUT_AT_START.contains(&definition.name)
        && default != *theirs
    {
        found.push(format!("the default is '{default}', MySQL's '{theirs}'"));
    }
    found
}

#[test]
fn variables_are_mysqls_but_where_their_definitions_say_why_not() {
    if !available("variables", &[Flavor::MySql]) {
        return;
    }
    // Without it, MySQL says 0 of everything that performance_schema keeps.
    let settings = Settings { extra: vec!["--performance-schema=ON".to_owned()], ..Settings::default() };
    let mysql = Server::start(Flavor::MySql, &settings);
    let theirs = ask_mysql(&mysql);
    assert!(theirs.len() > 500, "MySQL has {} variables", theirs.len());
    let mut untold = Vec::new();
    for definition in variables::all().map(|id| id.definition()) {
        let found = match theirs.get(definition.name) {
            Some(theirs) => differences(definition, theirs),
            None => vec!["MySQL does not have it".to_owned()],
        };
        if !found.is_empty() && definition.differs.is_empty() {
            untold.push(format!("{}: {}", definition.name, found.join("; ")));
        }
    }
    assert!(untold.is_empty(), "the definitions do not say why these differ:\n{}", untold.join("\n"));
}

#[test]
fn a_fill_factor_given_at_start_counts() {
    let sizes = ["10", "100"].map(|percent| {
        let extra = vec![format!("--innodb-fill-factor={percent}")];
        let server = Server::start(Flavor::Slipstream, &Settings { extra, ..Settings::default() });
        server.run("CREATE DATABASE f");
        server.run("CREATE TABLE f.t (id INT PRIMARY KEY, v CHAR(200))");
        let rows: Vec<String> = (0..20_000).map(|id| format!("({id}, 'v')")).collect();
        server.run(&format!("INSERT INTO f.t VALUES {}", rows.join(",")));
        server.run("ALTER TABLE f.t ADD INDEX (v, id)");
        let file = server.datadir().join("f/t.ibd");
        std::fs::metadata(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).len()
    });
    assert!(sizes[0] > 2 * sizes[1], "an index of pages that are full to 10% is larger: {sizes:?}");
}
