//! Tests that SHOW GLOBAL STATUS has MySQL's variables, each once.

use bench::instance::{Flavor, Settings};
use testkit::Server;
use testkit::server::same_as_mysql;

fn names(server: &Server) -> Vec<String> {
    let name = |row: String| row.split('\t').next().unwrap_or_default().to_owned();
    server.rows("SHOW GLOBAL STATUS").into_iter().map(name).collect()
}

#[test]
fn each_variable_is_there_once() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut ours = names(&server);
    ours.sort_unstable();
    let twice: Vec<_> = ours.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "a count may hide behind another one: {twice:?}");
    let test = "status_like_mysql::each_variable_is_there_once";
    if !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let theirs = names(&Server::start(Flavor::MySql, &Settings::default()));
    let is_missing = |name: &&String| {
        // What is of a plugin or component of MySQL has no place here.
        !["Mysqlx_", "option_tracker_usage"].iter().any(|prefix| name.starts_with(prefix))
            && ours.binary_search(name).is_err()
    };
    let missing: Vec<_> = theirs.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_has_happened_is_counted() {
    let test = "status_like_mysql::what_has_happened_is_counted";
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    same_as_mysql(test, &settings, |server: &Server| {
        let value = |name: &str| {
            let rows = server.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
            rows.first().and_then(|row| row.split('\t').nth(1)).unwrap_or_default().to_owned()
        };
        let number = |name: &str| value(name).parse::<i64>().expect("a number");
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (a INT PRIMARY KEY)");
        let before = number("Binlog_cache_use");
        server.run("INSERT INTO d.t VALUES (1)");
        server.run("UPDATE d.t SET a = 2");
        server.run("DELETE FROM d.t WHERE a = 99");
        let mut lines = vec![format!("cache: {}", number("Binlog_cache_use") - before)];
        for name in ["Binlog_cache_disk_use", "Performance_schema_digest_lost", "Connection_errors_accept"] {
            lines.push(format!("{name}: {}", value(name)));
        }
        for name in [
            "Error_log_buffered_events",
            "Error_log_buffered_bytes",
            "Opened_tables",
            "Innodb_num_open_files",
        ] {
            lines.push(format!("{name}: {}", number(name) > 0));
        }
        lines.extend(server.rows(
            "SELECT ABS(TIMESTAMPDIFF(MINUTE, variable_value, UTC_TIMESTAMP())) < 24 * 60 \
             FROM performance_schema.global_status WHERE variable_name = 'Max_used_connections_time'",
        ));
        lines.push(format!("now: {}", number("Error_log_latest_write") > 1_700_000_000_000_000));
        let counted = ["Flush_commands", "Deprecated_use_i_s_processlist_count"].map(&number);
        for sql in [
            "FLUSH TABLES",
            "FLUSH TABLES d.t",
            "FLUSH TABLES WITH READ LOCK",
            "FLUSH STATUS",
            "SHOW PROCESSLIST",
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST",
            "SELECT COUNT(*) FROM performance_schema.processlist",
        ] {
            server.run(sql);
        }
        for (name, before) in ["Flush_commands", "Deprecated_use_i_s_processlist_count"].iter().zip(counted) {
            lines.push(format!("{name}: {}", number(name) - before));
        }
        let used_us = number("Deprecated_use_i_s_processlist_last_timestamp");
        lines.push(format!("now: {}", used_us > 1_700_000_000_000_000));
        lines.push(format!(
            "files: {}",
            number("Open_files") > 0 && number("Opened_files") >= number("Open_files")
        ));
        lines.push(format!("slow: {}", number("Slow_launch_threads")));
        for name in ["Caching_sha2_password_rsa_public_key", "Rsa_public_key"] {
            let key = value(name);
            lines.push(format!("{name}: {} {}", key.contains("-----BEGIN PUBLIC KEY-----"), key.len()));
        }
        for name in ["Ssl_server_not_before", "Ssl_server_not_after"] {
            lines.push(format!("{name}: {} {}", value(name).ends_with(" GMT"), value(name).len()));
        }
        lines
    });
}

#[test]
fn what_is_deprecated_and_what_outgrows_memory_is_counted() {
    let test = "status_like_mysql::what_is_deprecated_and_what_outgrows_memory_is_counted";
    let lines = same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut session = server.connect();
        let mut run = |sql: &str| session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "SET restrict_fk_on_non_standard_key = OFF",
            "CREATE TABLE p (a INT, b INT, u INT UNIQUE, KEY (a), KEY (b))",
            "CREATE TABLE c (x INT, y INT, FOREIGN KEY (x) REFERENCES p (a), FOREIGN KEY (y) REFERENCES p (b))",
            "ALTER TABLE c ADD FOREIGN KEY (x) REFERENCES p (b)",
            "CREATE TABLE IF NOT EXISTS c (x INT, FOREIGN KEY (x) REFERENCES p (a))",
            "CREATE TABLE c2 (x INT, FOREIGN KEY (x) REFERENCES p (u))",
            "CREATE TABLE big (a INT PRIMARY KEY, b VARCHAR(200))",
            "SET cte_max_recursion_depth = 100000",
            "INSERT INTO big WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 20000) \
             SELECT n, REPEAT(n, 20) FROM r",
        ] {
            run(sql);
        }
        let mut number = |name: &str| {
            let found = run(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
            found.cell(0, 1).and_then(|text| text.parse::<u64>().ok()).expect("a number")
        };
        let (before, keys) =
            (number("Count_hit_tmp_table_size"), number("Deprecated_use_fk_on_non_standard_key_count"));
        let at_us = number("Deprecated_use_fk_on_non_standard_key_last_timestamp");
        run("SET tmp_table_size = 1024 * 1024");
        run("SELECT COUNT(*) FROM (SELECT b, COUNT(*) FROM big GROUP BY b LIMIT 1000000) x");
        let after = run("SHOW GLOBAL STATUS LIKE 'Count_hit_tmp_table_size'").cell(0, 1).expect("a number");
        vec![
            format!("keys: {keys}, {}", at_us > 1_700_000_000_000_000),
            format!("outgrown: {}", after.parse::<u64>().expect("a number") > before),
        ]
    });
    assert_eq!(lines, ["keys: 3, true", "outgrown: true"]);
}

/// Sessions without TLS have no cipher, and nothing to verify.
#[test]
fn the_encryption_of_a_session_is_told() {
    let test = "status_like_mysql::the_encryption_of_a_session_is_told";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut lines = server.rows(
            "SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher_list', 'Ssl_default_timeout', \
             'Ssl_sessions_reused', 'Ssl_verify_depth', 'Ssl_verify_mode', 'Ssl_version')",
        );
        lines.extend(server.rows(
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Ssl_ctx_verify_mode', 'Ssl_session_cache_hits', \
             'Ssl_session_cache_misses', 'Ssl_session_cache_mode', 'Ssl_session_cache_overflows', \
             'Ssl_session_cache_timeouts', 'Ssl_used_session_cache_entries')",
        ));
        lines
    });
}

/// What MySQL counts for statements about definitions depends on its own dictionary, so that these
/// are not compared.
#[test]
fn commits_and_rollbacks_are_counted_for_each_engine() {
    const STATEMENTS: &[&str] = &[
        "SELECT 1",
        "SELECT * FROM t",
        "SELECT * FROM t WHERE id = 1",
        "SELECT COUNT(*) FROM t JOIN u",
        "INSERT INTO t VALUES (3, 3)",
        "INSERT INTO t VALUES (4, 4), (5, 5)",
        "UPDATE t SET v = 7 WHERE id = 1",
        "UPDATE t SET v = 7 WHERE id = -1",
        "DELETE FROM t WHERE id = -1",
        "INSERT IGNORE INTO t VALUES (1, 1)",
        "REPLACE INTO t VALUES (1, 1)",
        "INSERT INTO t VALUES (1, 1)",
        "BEGIN",
        "COMMIT",
        "BEGIN",
        "ROLLBACK",
        "BEGIN",
        "SELECT * FROM t",
        "COMMIT",
        "BEGIN",
        "SELECT * FROM t",
        "INSERT INTO t VALUES (11, 1)",
        "INSERT INTO t VALUES (1, 1)",
        "SELECT * FROM u",
        "COMMIT",
        "BEGIN",
        "INSERT INTO t VALUES (12, 1)",
        "INSERT INTO u VALUES (12)",
        "ROLLBACK",
        "SET autocommit = 0",
        "SELECT * FROM t",
        "COMMIT",
        "SET autocommit = 1",
        "SET sql_log_bin = 0",
        "INSERT INTO t VALUES (21, 1)",
        "BEGIN",
        "INSERT INTO t VALUES (22, 1)",
        "COMMIT",
        "SET sql_log_bin = 1",
        "BEGIN",
        "INSERT INTO t VALUES (23, 1)",
    ];
    const SAVEPOINTS: &[&str] = &["SAVEPOINT a", "ROLLBACK TO a", "RELEASE SAVEPOINT a", "ROLLBACK"];
    let test = "status_like_mysql::commits_and_rollbacks_are_counted_for_each_engine";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE u (id INT PRIMARY KEY)",
            "INSERT INTO t VALUES (1, 1), (2, 2)",
            // The first use of a table reads the dictionary in MySQL.
            "INSERT INTO u VALUES (1)",
            "SELECT * FROM t JOIN u",
        ] {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        // MySQL commits in the binary log when it logs a savepoint, which is of its own.
        let of_all = "'Handler_commit', 'Handler_prepare', 'Handler_rollback', 'Handler_external_lock'";
        let of_savepoints = "'Handler_savepoint', 'Handler_savepoint_rollback', 'Handler_rollback'";
        let mut lines = Vec::new();
        for (statements, names) in [(STATEMENTS, of_all), (SAVEPOINTS, of_savepoints)] {
            let shown = format!("SHOW SESSION STATUS WHERE variable_name IN ({names})");
            let mut before: Vec<i64> = Vec::new();
            for sql in std::iter::once(&"DO 1").chain(statements) {
                let failed = client.query(sql).err().map(|error| error.server_code());
                let counts: Vec<i64> = testkit::answers::rows(&mut client, &shown)
                    .iter()
                    .map(|row| row.split('\t').nth(1).and_then(|count| count.parse().ok()).expect("a count"))
                    .collect();
                let more: Vec<i64> = counts.iter().zip(&before).map(|(now, before)| now - before).collect();
                lines.push(format!("{sql}: {failed:?} {more:?}"));
                before = counts;
            }
        }
        lines
    });
}
