//! System variables through SQL: values, scopes, MySQL's errors.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError};
use testkit::Server;

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
    // The farewell is a packet of its own number, which a client that waits for nothing may take as
    // out of order.
    assert!(matches!(error.server_code(), Some(4031) | None), "{error}");
    assert!(client.ping().is_err());
}
