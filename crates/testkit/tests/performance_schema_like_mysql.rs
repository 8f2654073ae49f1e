//! Tests that performance_schema has MySQL's tables: a real MySQL says which columns, types and
//! keys they have, and which of them may be emptied.

use bench::instance::{Flavor, Settings};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ConnectOptions};
use std::time::Duration;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::{SOON, same_as_mysql};

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

#[test]
fn counters_of_innodb_have_mysqls_names_and_count_alike() {
    let test = "performance_schema_like_mysql::counters_of_innodb_have_mysqls_names_and_count_alike";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = rows(
            &mut client,
            "SELECT name, subsystem, type FROM information_schema.innodb_metrics ORDER BY BINARY name",
        );
        // MySQL calls its averages FLOAT(12,0) and sends them with all digits.
        let columns = "SELECT column_name, ordinal_position, is_nullable, column_type, collation_name \
                       FROM information_schema.columns WHERE table_name = 'INNODB_METRICS' \
                       AND column_name NOT LIKE 'AVG%' ORDER BY ordinal_position";
        lines.extend(rows(&mut client, columns));
        let counted = "SELECT name, count, status FROM information_schema.innodb_metrics WHERE name IN \
                       ('dml_inserts', 'dml_updates', 'dml_deletes', 'lock_deadlocks', 'lock_timeouts') \
                       ORDER BY name";
        let numbers = |client: &mut Client| -> Vec<i64> {
            let cell = |row: String| row.split('\t').nth(1).and_then(|cell| cell.parse().ok());
            rows(client, counted).into_iter().map(|row| cell(row).expect("a number")).collect()
        };
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)");
        let before = numbers(&mut client);
        server.run("INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)");
        server.run("UPDATE d.t SET n = n + 1 WHERE id < 3");
        server.run("DELETE FROM d.t WHERE id = 1");
        let grown =
            numbers(&mut client).iter().zip(before).map(|(now, before)| now - before).collect::<Vec<_>>();
        lines.push(format!("deletes, inserts, updates, deadlocks, timeouts: {grown:?}"));
        lines.extend(rows(
            &mut client,
            "SELECT name, count, status, max_count IS NULL, min_count, time_enabled IS NULL, time_disabled, \
             time_reset, count_reset = count FROM information_schema.innodb_metrics WHERE name IN \
             ('innodb_page_size', 'buffer_pool_size', 'lock_deadlocks', 'icp_attempts') AND type <> 'value' \
             ORDER BY name",
        ));
        lines.extend(rows(
            &mut client,
            "SELECT COUNT(*), COUNT(DISTINCT Variable_name) FROM sys.metrics WHERE Type LIKE 'InnoDB Metrics%'",
        ));
        server.run("CREATE USER reader IDENTIFIED BY 'r'");
        let options =
            ConnectOptions { user: "reader".into(), password: "r".into(), ..server.connect_options() };
        let mut reader = Client::connect(&options).expect("a session");
        lines.extend(answer(&mut reader, "SELECT COUNT(*) FROM information_schema.innodb_metrics"));
        lines
    });
    assert!(
        lines.len() > 314
            && lines.contains(&"deletes, inserts, updates, deadlocks, timeouts: [1, 3, 2, 0, 0]".into())
    );
}

#[test]
fn variables_info_says_where_values_come_from() {
    let test = "performance_schema_like_mysql::variables_info_says_where_values_come_from";
    let mut settings = measuring();
    settings.extra.push("--sort-buffer-size=400000".into());
    same_as_mysql(test, &settings, |server: &Server| {
        let shown = "SELECT variable_name, variable_source, variable_path, min_value, max_value, \
                     ABS(TIMESTAMPDIFF(SECOND, set_time, NOW(6))) < 60, set_user, set_host \
                     FROM performance_schema.variables_info WHERE variable_name IN \
                     ('autocommit', 'binlog_format', 'innodb_flush_log_at_trx_commit', 'join_buffer_size', \
                     'read_only', 'server_id', 'sort_buffer_size', 'sql_mode', 'time_zone') \
                     ORDER BY variable_name";
        let mut client = server.connect();
        let mut lines = rows(&mut client, shown);
        for sql in [
            "SET GLOBAL join_buffer_size = 262144",
            "SET PERSIST read_only = OFF",
            "SET SESSION time_zone = '+01:00'",
            "SET SESSION sort_buffer_size = 300000",
            "SET autocommit = 1",
        ] {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        // The times are those of the session, so that NOW() is compared in its zone.
        lines.extend(rows(&mut client, shown));
        lines.extend(rows(&mut server.connect(), shown));
        lines
    });
}

#[test]
fn a_value_that_is_kept_comes_from_its_file() {
    let mut server = Server::start(Flavor::Slipstream, &measuring());
    server.run("SET PERSIST join_buffer_size = 262144");
    server.shut_down();
    server.come_back();
    let shown = "SELECT variable_source, variable_path LIKE '%/mysqld-auto.cnf', set_user, set_time IS NULL \
                 FROM performance_schema.variables_info WHERE variable_name = 'join_buffer_size'";
    assert_eq!(server.rows(shown), ["PERSISTED\t1\tkit\t0"]);
}

#[test]
fn a_transaction_shows_what_its_session_checks() {
    let test = "performance_schema_like_mysql::a_transaction_shows_what_its_session_checks";
    same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
        let mut lines = Vec::new();
        for (unique, foreign) in [(1, 1), (0, 1), (1, 0), (0, 0)] {
            let mut client = server.connect();
            let sets = format!("SET unique_checks = {unique}, foreign_key_checks = {foreign}");
            for sql in [sets.as_str(), "START TRANSACTION", "INSERT INTO d.t VALUES (1)"] {
                client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            // MySQL answers with what it has shown less than 0.1 s ago.
            sleep(Duration::from_millis(200));
            lines.extend(rows(
                &mut client,
                "SELECT trx_unique_checks, trx_foreign_key_checks, trx_is_read_only, trx_isolation_level \
                 FROM information_schema.innodb_trx",
            ));
            client.query("ROLLBACK").expect("an end");
        }
        lines
    });
}

#[test]
fn locks_on_definitions_are_shown_with_who_waits() {
    let test = "performance_schema_like_mysql::locks_on_definitions_are_shown_with_who_waits";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)");
        server.run("CREATE TABLE d.u (id INT PRIMARY KEY)");
        let mut asks = server.connect();
        // What a statement has besides, while it waits for the table, differs from MySQL.
        let shown = "SELECT object_type, object_schema, object_name, column_name, lock_type, lock_duration, \
                     lock_status, processlist_user, IF(lock_status = 'PENDING', processlist_info, NULL) FROM performance_schema.metadata_locks \
                     LEFT JOIN performance_schema.threads ON thread_id = owner_thread_id \
                     WHERE object_type = 'TABLE' AND object_schema = 'd' AND object_name NOT LIKE '#sql%' \
                     AND lock_type NOT IN ('SHARED_UPGRADABLE', 'SHARED_NO_WRITE') ORDER BY object_name, lock_type, lock_status";
        let mut lines = rows(&mut asks, shown);
        let mut holder = server.connect();
        for sql in ["START TRANSACTION", "SELECT * FROM d.t", "INSERT INTO d.u VALUES (1)"] {
            holder.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            lines.extend(rows(&mut asks, shown));
        }
        let mut alters = server.connect();
        let waiting = os::thread::spawn("alters", move || {
            alters.query("ALTER TABLE d.t ADD COLUMN m INT, ALGORITHM=COPY").expect("an altered table");
        });
        let pending = "SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE lock_status = 'PENDING'";
        let clock = Stopwatch::start();
        while rows(&mut asks, pending) != ["1"] {
            assert!(clock.elapsed() < SOON, "nobody waits: {:?}", rows(&mut asks, shown));
            sleep(Duration::from_millis(10));
        }
        lines.extend(rows(&mut asks, shown));
        lines.extend(rows(
            &mut asks,
            "SELECT object_schema, object_name, waiting_query, waiting_query_rows_affected, blocking_lock_type, \
             blocking_lock_duration, LEFT(sql_kill_blocking_query, 11) \
             FROM sys.schema_table_lock_waits WHERE waiting_thread_id <> blocking_thread_id",
        ));
        holder.query("COMMIT").expect("an end");
        waiting.join().expect("the table is altered");
        lines.extend(rows(&mut asks, shown));
        for how in ["READ", "WRITE"] {
            let mut locks = server.connect();
            locks.query(&format!("LOCK TABLES d.t {how}")).expect("a lock");
            lines.extend(rows(&mut asks, shown));
        }
        lines
    });
    assert!(lines.iter().any(|line| line.contains("PENDING")), "{lines:?}");
}

#[test]
fn consumers_are_switched_by_update() {
    let test = "performance_schema_like_mysql::consumers_are_switched_by_update";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE USER reader IDENTIFIED BY 'r'");
        server.run("GRANT SELECT ON performance_schema.* TO reader");
        let options =
            ConnectOptions { user: "reader".into(), password: "r".into(), ..server.connect_options() };
        let mut reader = Client::connect(&options).expect("a session");
        let mut client = server.connect();
        client.query("USE performance_schema").expect("it is there");
        let mut lines = rows(&mut client, "SELECT * FROM setup_consumers ORDER BY name");
        for sql in [
            "UPDATE setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_statements_history'",
            "UPDATE setup_consumers SET enabled = 'no' WHERE name = 'events_statements_history'",
            "UPDATE performance_schema.setup_consumers AS c SET c.enabled = 'YES' WHERE c.name LIKE 'events_waits_%'",
            "UPDATE setup_consumers SET ENABLED = IF(NAME LIKE '%long', 'YES', ENABLED) WHERE NAME LIKE 'events_st%s_h%'",
            "UPDATE setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE 'events_statements_%'",
            "UPDATE setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_statements_cpu'",
            "UPDATE setup_consumers SET ENABLED = 'NO' WHERE NAME = 'nothing'",
            "UPDATE setup_consumers SET ENABLED = 'maybe' WHERE NAME = 'events_waits_current'",
            "UPDATE setup_consumers SET ENABLED = 'maybe' WHERE NAME = 'nothing'",
            "UPDATE setup_consumers SET NAME = 'x' WHERE NAME = 'events_waits_current'",
            "UPDATE setup_consumers SET nothing = 'YES'",
            "UPDATE setup_consumers SET ENABLED = 'YES' WHERE nothing = 1",
            "UPDATE setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'statement/sql/sel%'",
            "UPDATE setup_actors SET ENABLED = 'YES' WHERE USER = '%'",
        ] {
            let done = client.query(sql).map(|done| done.affected_rows());
            lines.push(format!("{sql}: {done:?}"));
        }
        lines.extend(rows(&mut client, "SELECT * FROM setup_consumers ORDER BY name"));
        lines.extend(answer(&mut reader, "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO'"));
        lines
    });
    assert!(lines.iter().any(|line| line.contains("Ok(1)")), "{lines:?}");
}

#[test]
fn consumers_say_what_is_kept() {
    let test = "performance_schema_like_mysql::consumers_say_what_is_kept";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut watcher = server.connect();
        let mut client = server.connect();
        let mut lines = Vec::new();
        let mut switch = |name: &str, to: &str| {
            let sql = "UPDATE performance_schema.setup_consumers SET ENABLED =";
            watcher.query(&format!("{sql} '{to}' WHERE NAME = '{name}'")).expect("it can be switched");
        };
        let mut seen = |client: &mut Client, mark: &str| {
            let count = |table: &str, column: &str| {
                server.rows(&format!(
                    "SELECT COUNT(*) FROM performance_schema.{table} WHERE {column} LIKE 'SELECT%{mark}%' \
                     AND {column} NOT LIKE '%performance_schema%'"
                ))
            };
            client.query(&format!("SELECT 1 AS {mark}")).expect("a query");
            // The statement that is shown as the current one is replaced by the next one.
            let current = count("events_statements_current", "sql_text");
            let history = count("events_statements_history", "sql_text");
            let long = count("events_statements_history_long", "sql_text");
            let digests = count("events_statements_summary_by_digest", "digest_text");
            lines.push(format!("{mark}: {current:?} {history:?} {long:?} {digests:?}"));
        };
        seen(&mut client, "as_it_is");
        switch("events_statements_history", "NO");
        seen(&mut client, "no_history");
        switch("events_statements_history_long", "YES");
        seen(&mut client, "long_alone");
        switch("events_statements_history", "YES");
        switch("statements_digest", "NO");
        seen(&mut client, "no_digest");
        switch("statements_digest", "YES");
        switch("global_instrumentation", "NO");
        seen(&mut client, "nothing");
        switch("global_instrumentation", "YES");
        seen(&mut client, "all_again");
        server.run("TRUNCATE TABLE performance_schema.events_statements_history_long");
        lines.extend(server.rows(
            "SELECT COUNT(*) FROM performance_schema.events_statements_history_long WHERE sql_text LIKE '%all_again%' \
             AND sql_text NOT LIKE '%performance_schema%'",
        ));
        lines
    });
    assert!(lines[0].starts_with("as_it_is"), "{lines:?}");
}
