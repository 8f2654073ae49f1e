//! Tests that performance_schema has MySQL's tables: a real MySQL says which columns, types and
//! keys they have, and which of them may be emptied.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

/// The tables that are this server's own.
const OWN: &str = "('clone_progress', 'clone_status', 'replication_lag', 'thread_times')";

fn measuring() -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings
}

/// Returns the names of MySQL's tables.
fn tables(client: &mut Client) -> Vec<String> {
    let sql = format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'performance_schema' \
         AND table_name NOT IN {OWN} ORDER BY BINARY table_name"
    );
    rows(client, &sql)
}

/// Returns the answer to a statement: its rows, or its error.
fn answer(client: &mut Client, sql: &str) -> Vec<String> {
    match client.query(sql) {
        Ok(_) => rows(client, sql),
        Err(error) => vec![format!("{sql}: {error}")],
    }
}

#[test]
fn columns_and_keys_are_mysqls() {
    let test = "performance_schema_like_mysql::columns_and_keys_are_mysqls";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for (columns, table, order) in [
            (
                "table_name, column_name, ordinal_position, column_default, is_nullable, column_type, \
                 collation_name, column_key, extra, column_comment",
                "columns",
                "ordinal_position",
            ),
            ("*", "statistics", "BINARY index_name, seq_in_index"),
            ("*", "table_constraints", "BINARY constraint_name"),
            ("*", "key_column_usage", "BINARY constraint_name, ordinal_position"),
            ("table_name, table_type, engine, version, row_format, table_collation", "tables", "1"),
        ] {
            lines.extend(rows(
                &mut client,
                &format!(
                    "SELECT {columns} FROM information_schema.{table} \
                     WHERE table_schema = 'performance_schema' AND table_name NOT IN {OWN} \
                     ORDER BY BINARY table_name, {order}"
                ),
            ));
        }
        lines
    });
    assert!(lines.len() > 2000, "{}", lines.len());
}

#[test]
fn show_says_what_mysql_says() {
    let test = "performance_schema_like_mysql::show_says_what_mysql_says";
    same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for table in tables(&mut client) {
            for show in ["CREATE TABLE", "COLUMNS FROM", "INDEX FROM"] {
                lines.extend(answer(&mut client, &format!("SHOW {show} performance_schema.{table}")));
            }
        }
        lines
    });
}

#[test]
fn tables_are_emptied_where_mysql_allows_it() {
    let test = "performance_schema_like_mysql::tables_are_emptied_where_mysql_allows_it";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let of = |table: &String| format!("TRUNCATE TABLE performance_schema.{table}");
        let all = tables(&mut client);
        all.iter().map(of).flat_map(|sql| answer(&mut client, &sql)).collect()
    });
    assert!(lines.iter().any(|line| line.contains("1142")), "{lines:?}");
}

#[test]
fn every_table_is_read() {
    let server = Server::start(Flavor::Slipstream, &measuring());
    let mut client = server.connect();
    for table in tables(&mut client) {
        rows(&mut client, &format!("SELECT * FROM performance_schema.{table}"));
    }
}

#[test]
fn clients_say_what_they_are() {
    let test = "performance_schema_like_mysql::clients_say_what_they_are";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let sql = "SELECT attr_name, attr_value, ordinal_position \
                   FROM performance_schema.session_account_connect_attrs \
                   WHERE processlist_id = CONNECTION_ID() ORDER BY ordinal_position";
        rows(&mut client, sql)
    });
    assert!(lines.iter().any(|line| line.starts_with("program_name\t")), "{lines:?}");
}

#[test]
fn the_error_log_has_the_start() {
    let test = "performance_schema_like_mysql::the_error_log_has_the_start";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let sql = "SELECT prio, error_code, subsystem, data LIKE '%ready for connections%', \
                   ABS(TIMESTAMPDIFF(MINUTE, logged, NOW())) < 60 \
                   FROM performance_schema.error_log WHERE error_code IN ('MY-010116', 'MY-010931') ORDER BY logged";
        rows(&mut client, sql)
    });
    assert_eq!(lines.len(), 2, "{lines:?}");
}
