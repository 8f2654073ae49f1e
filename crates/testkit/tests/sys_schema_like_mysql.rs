//! Tests of the schema `sys`: what is in it has the names, columns and types of a real MySQL's, and
//! its functions and views answer alike.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::Server;
use testkit::lines::lines_of;
use testkit::server::same_as_mysql;

/// The views over tables of information_schema whose numbers MySQL counts one or two digits wider,
/// and those whose texts have the length of the version or of a thread's name.
const OF_INFORMATION_SCHEMA: &str = "('innodb_buffer_stats_by_schema', 'innodb_buffer_stats_by_table', \
                                     'innodb_lock_waits', 'latest_file_io', 'metrics', \
                                     'schema_auto_increment_columns', 'schema_object_overview', \
                                     'schema_table_statistics_with_buffer', 'version', \
                                     'x$innodb_buffer_stats_by_schema', 'x$innodb_buffer_stats_by_table', \
                                     'x$innodb_lock_waits', 'x$latest_file_io', \
                                     'x$schema_table_statistics_with_buffer')";

/// Statements with the same answer everywhere.
const ANSWERS: &[&str] = &[
    "SELECT sys.format_bytes(NULL), sys.format_bytes(5000), sys.format_bytes(-5000), sys.format_bytes(1023)",
    "SELECT sys.format_time(NULL), sys.format_time(0), sys.format_time(999), sys.format_time(1000)",
    "SELECT sys.format_time(34534534543543), sys.format_time(8.64e16), sys.format_time(7e17)",
    "SELECT sys.format_time(3.6e15), sys.format_time(6e13), sys.format_time('abc'), sys.format_time(1234567)",
    "SELECT sys.format_statement('select\n1'), sys.format_statement(REPEAT('abc ', 40))",
    "SET @sys.statement_truncate_len = 11",
    "SELECT sys.format_statement('abcdefghijklmnop'), sys.format_statement(NULL)",
    "SET @sys.statement_truncate_len = NULL",
    "SELECT sys.sys_get_config('statement_truncate_len', 3), sys.sys_get_config('nothing', 'x')",
    "SELECT sys.list_add('a,b', 'c'), sys.list_add('', 'c'), sys.list_add(NULL, 'c')",
    "SELECT sys.list_drop('a,b,c', 'b'), sys.list_drop('a,b,c', 'a'), sys.list_drop('a, b, c', 'c')",
    "SELECT sys.list_drop(NULL, 'b'), sys.list_drop('a', 'a'), sys.list_drop('a,b', 'x')",
    "SELECT sys.list_add('a', NULL)",
    "SELECT sys.list_drop('a', NULL)",
    "SELECT sys.quote_identifier('a`b'), sys.quote_identifier(NULL)",
    "SELECT sys.version_major(), sys.version_minor(), sys.version_patch() >= 0",
    "SELECT sys.extract_schema_from_file_name('/var/lib/mysql/emp/t1.ibd'), \
     sys.extract_table_from_file_name('/var/lib/mysql/emp/t1.ibd')",
    "SELECT sys.extract_schema_from_file_name('x'), sys.extract_table_from_file_name('x')",
    "SELECT sys.extract_table_from_file_name('./a@0024b/t@002e1.ibd')",
    "SELECT sys.format_path(CONCAT(@@datadir, 'a/b.ibd')), sys.format_path(NULL), sys.format_path('/x/y')",
    "SELECT sys.ps_is_account_enabled('localhost', 'root')",
    "SELECT sys.ps_is_consumer_enabled('events_statements_history')",
    "SELECT sys.ps_is_consumer_enabled('events_statements_history_long')",
    "SELECT sys.ps_is_consumer_enabled('events_waits_history')",
    "SELECT sys.ps_is_consumer_enabled('nonsense')",
    "SELECT sys.ps_is_instrument_default_enabled('statement/sql/select')",
    "SELECT sys.ps_is_instrument_default_timed('wait/synch/mutex/sql/x')",
    "SELECT sys.ps_is_thread_instrumented(CONNECTION_ID()), sys.ps_is_thread_instrumented(100000000)",
    "SELECT sys.ps_is_thread_instrumented(NULL), sys.ps_thread_id(100000000)",
    "SELECT sys.ps_thread_id(NULL) = sys.ps_thread_id(CONNECTION_ID())",
    "SELECT sys.ps_thread_account(sys.ps_thread_id(CONNECTION_ID())) = CURRENT_USER()",
    "SELECT * FROM sys.schema_redundant_indexes ORDER BY redundant_index_name, dominant_index_name",
    "SELECT * FROM sys.schema_auto_increment_columns",
    "SELECT * FROM sys.schema_object_overview WHERE db = 'shop'",
    "SELECT sys_version, mysql_version = VERSION() FROM sys.version",
    "SELECT * FROM sys.ps_check_lost_instrumentation",
    "SELECT conn_id = CONNECTION_ID(), user, db, command, program_name FROM sys.session \
     WHERE conn_id = CONNECTION_ID()",
    "SELECT query, db, full_scan, exec_count, err_count, rows_sent, rows_affected, rows_affected_avg \
     FROM sys.x$statement_analysis WHERE db = 'shop' AND query LIKE 'INSERT%'",
    "SELECT query, exec_count, errors, error_pct FROM sys.x$statements_with_errors_or_warnings \
     WHERE db = 'shop' AND query LIKE 'INSERT%'",
    "SELECT query, no_index_used_pct FROM sys.x$statements_with_full_table_scans \
     WHERE db = 'shop' AND query LIKE 'SELECT * FROM `a`%'",
    "SELECT total_connections >= 1 FROM sys.user_summary WHERE user = 'kit'",
    "SELECT statement, total, rows_affected FROM sys.user_summary_by_statement_type \
     WHERE user = 'kit' AND statement = 'insert'",
    "CALL sys.table_exists('shop', 'a', @found)",
    "SELECT @found",
    "CALL sys.table_exists('shop', 'nothing', @found)",
    "SELECT @found",
    "CREATE TEMPORARY TABLE shop.a (id INT)",
    "CALL sys.table_exists('shop', 'a', @found)",
    "SELECT @found",
    "DROP TEMPORARY TABLE shop.a",
    "CALL sys.execute_prepared_stmt('SELECT 1 + 1 AS two')",
    "CALL sys.create_synonym_db('shop', 'corner_shop')",
    "SHOW TABLES FROM corner_shop",
    "CALL sys.create_synonym_db('shop', 'corner_shop')",
    "CALL sys.create_synonym_db('nowhere', 'x')",
    "UPDATE sys.sys_config SET value = 20 WHERE variable = 'statement_truncate_len'",
    "SELECT sys.format_statement(REPEAT('abc ', 40))",
    "DROP VIEW sys.version",
    "SELECT * FROM sys.version",
    "SHOW TABLES FROM sys LIKE 'sys%'",
];

fn measuring() -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings
}

/// Returns the rows of the answer to a statement, or its error.
fn answer(client: &mut Client, sql: &str) -> Vec<String> {
    let found = match client.query(sql) {
        Ok(found) => found,
        Err(error) => return vec![format!("{sql}: {error}")],
    };
    std::iter::once(sql.to_owned()).chain(lines_of(&found)).collect()
}

#[test]
fn views_have_mysqls_columns() {
    let test = "sys_schema_like_mysql::views_have_mysqls_columns";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for (columns, but) in [
            ("table_name, column_name", "('')"),
            ("table_name, column_name, column_type, is_nullable, character_set_name", OF_INFORMATION_SCHEMA),
        ] {
            lines.extend(answer(
                &mut client,
                &format!(
                    "SELECT {columns} FROM information_schema.columns WHERE table_schema = 'sys' \
                     AND table_name NOT IN {but} \
                     ORDER BY BINARY table_name, ordinal_position"
                ),
            ));
        }
        lines
    });
    assert!(lines.len() > 1500, "{}", lines.len());
}

#[test]
fn functions_have_mysqls_parameters() {
    let test = "sys_schema_like_mysql::functions_have_mysqls_parameters";
    same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let here = "('format_bytes', 'format_time', 'format_statement', 'format_path', 'list_add', 'list_drop', \
                    'quote_identifier', 'sys_get_config', 'version_major', 'version_minor', 'version_patch', \
                    'extract_schema_from_file_name', 'extract_table_from_file_name', 'ps_is_account_enabled', \
                    'ps_is_consumer_enabled', 'ps_is_instrument_default_enabled', \
                    'ps_is_instrument_default_timed', 'ps_is_thread_instrumented', 'ps_thread_id', \
                    'ps_thread_account', 'table_exists', 'execute_prepared_stmt', 'create_synonym_db', \
                    'ps_truncate_all_tables', 'ps_setup_show_enabled_consumers')";
        let mut lines = answer(
            &mut client,
            &format!(
                "SELECT specific_name, ordinal_position, parameter_mode, parameter_name, data_type, routine_type \
                 FROM information_schema.parameters WHERE specific_schema = 'sys' AND specific_name IN {here} \
                 ORDER BY BINARY specific_name, ordinal_position"
            ),
        );
        lines.extend(answer(
            &mut client,
            &format!(
                "SELECT routine_name, routine_type, data_type, is_deterministic, sql_data_access, security_type, \
                 definer, sql_mode FROM information_schema.routines WHERE routine_schema = 'sys' \
                 AND routine_name IN {here} ORDER BY BINARY routine_name"
            ),
        ));
        lines
    });
}

#[test]
fn answers_are_mysqls() {
    let test = "sys_schema_like_mysql::answers_are_mysqls";
    same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE DATABASE shop");
        server.run(
            "CREATE TABLE shop.a (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, b INT, c INT, d VARCHAR(20), \
             KEY b (b), KEY b_c (b, c), UNIQUE KEY d (d), KEY d_again (d), KEY d_b (d, b), KEY short (d(5)))",
        );
        server.run("CREATE VIEW shop.v AS SELECT id FROM shop.a");
        let mut client = server.connect();
        for sql in [
            "USE shop",
            "TRUNCATE performance_schema.events_statements_summary_by_digest",
            "TRUNCATE performance_schema.events_statements_summary_by_user_by_event_name",
            "INSERT INTO a (b, c, d) VALUES (1, 1, 'x')",
            "INSERT INTO a (b, c, d) VALUES (1, 1, 'y')",
            "INSERT INTO a (b, c, d) VALUES (1, 1, 'y')",
            "SELECT * FROM a WHERE c = 1",
        ] {
            // One of them is refused, which is to be counted.
            let _refused = client.query(sql);
        }
        ANSWERS.iter().flat_map(|sql| answer(&mut client, sql)).collect()
    });
}

#[test]
fn what_is_dropped_stays_dropped_and_nothing_of_it_is_in_the_binary_log() {
    let mut settings = Settings::default();
    settings.extra.push("--log-bin=binlog".into());
    let mut server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    let events = answer(&mut client, "SHOW BINLOG EVENTS");
    assert!(!events.iter().any(|event| event.contains("sys")), "{events:?}");
    let dropped = answer(&mut client, "DROP VIEW sys.version");
    assert_eq!(dropped, ["DROP VIEW sys.version"]);
    drop(client);
    server.shut_down();
    server.come_back();
    let mut client = server.connect();
    let gone = answer(&mut client, "SELECT * FROM sys.version");
    assert!(gone[0].contains("1146"), "{gone:?}");
    let kept = answer(&mut client, "SELECT sys_version FROM (SELECT sys.version_major() AS sys_version) v");
    assert_eq!(kept.last().map(String::as_str), Some("9"));
}

#[test]
fn a_data_directory_without_it_gets_it_even_when_clients_may_not_write() {
    let mut settings = Settings::default();
    settings.extra.push("--log-bin=binlog".into());
    let mut server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    answer(&mut client, "SET sql_log_bin = 0");
    answer(&mut client, "DROP DATABASE sys");
    drop(client);
    server.shut_down();
    let revision = server.datadir().join("sys_schema_revision");
    std::fs::remove_file(&revision).unwrap_or_else(|error| panic!("{}: {error}", revision.display()));
    let mut settings = server.settings().clone();
    settings.extra.push("--super-read-only=ON".into());
    server.start_again_with(&settings).unwrap_or_else(|error| panic!("{error}"));
    let found = server.rows("SELECT sys_version, @@super_read_only FROM sys.version");
    assert_eq!(found, ["2.1.3\t1"]);
    let events = server.rows("SHOW BINLOG EVENTS");
    assert!(!events.iter().any(|event| event.contains("sys")), "{events:?}");
}
