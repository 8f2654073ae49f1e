//! Tests of performance_schema's tables about statements: a real MySQL gets the same statements,
//! and its tables have the same columns and the same figures.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use protocol::column::Column;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

/// The tables with all their columns as MySQL has them.
const TABLES: &[&str] = &[
    "accounts",
    "events_statements_current",
    "events_statements_histogram_by_digest",
    "events_statements_histogram_global",
    "events_statements_history",
    "events_statements_history_long",
    "events_statements_summary_by_account_by_event_name",
    "events_statements_summary_by_digest",
    "events_statements_summary_by_host_by_event_name",
    "events_statements_summary_by_thread_by_event_name",
    "events_statements_summary_by_user_by_event_name",
    "events_statements_summary_global_by_event_name",
    "hosts",
    "prepared_statements_instances",
    "users",
];

/// Statements whose figures have to be MySQL's. Their plans are the same in both servers; SHOW
/// TABLES and its like are queries of stored tables in MySQL and therefore not among them.
const STATEMENTS: &[&str] = &[
    "SELECT 1",
    "SELECT 2",
    "SELEC 3",
    "SELECT * FROM missing WHERE id = 6",
    "INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 2, 4)",
    "INSERT INTO t VALUES (1, 1, 1)",
    "REPLACE INTO t VALUES (1, 1, 5)",
    "SELECT * FROM t",
    "SELECT * FROM t LIMIT 2",
    "SELECT * FROM t WHERE id = 4",
    "SELECT * FROM t WHERE id = 40",
    "SELECT * FROM t WHERE id IN (1, 3, 99)",
    "SELECT * FROM t WHERE id > 2",
    "SELECT * FROM t FORCE INDEX (a) WHERE a = 2",
    "SELECT * FROM t ORDER BY b",
    "SELECT * FROM t ORDER BY b LIMIT 2",
    "SELECT b, COUNT(*) FROM t GROUP BY b",
    "SELECT * FROM t x JOIN t y ON x.b = y.b",
    "SELECT CAST('x' AS SIGNED)",
    "UPDATE t SET b = b + 1 WHERE id = 3",
    "UPDATE t SET b = b + 1 WHERE id > 1",
    "INSERT INTO t SELECT id + 20, a, b FROM t WHERE id < 3",
    "DELETE FROM t WHERE id = 4",
    "PREPARE s FROM 'SELECT ?'",
    "SET @a = 1",
    "EXECUTE s USING @a",
    "DEALLOCATE PREPARE s",
    "BEGIN",
    "COMMIT",
    "CREATE TABLE u (id INT)",
    "ALTER TABLE u ADD COLUMN a INT",
    "TRUNCATE u",
    "DROP TABLE u",
    "CREATE USER 'somebody'@'localhost' IDENTIFIED BY 'a password'",
    "DROP USER somebody@localhost",
    "SHOW CREATE TABLE t",
];

/// The columns of a statement that do not depend on the moment or on the server's inside.
const FIGURES: &str = "event_name, sql_text, digest_text, current_schema, mysql_errno, returned_sqlstate, \
                       message_text, errors, warnings, rows_affected, rows_sent, rows_examined, \
                       created_tmp_disk_tables, created_tmp_tables, select_full_join, \
                       select_full_range_join, select_range, select_range_check, select_scan, \
                       sort_merge_passes, sort_range, sort_rows, sort_scan, no_index_used, \
                       no_good_index_used, nesting_event_level, execution_engine";

/// Settings with performance_schema, which tests otherwise leave off in MySQL.
fn measuring(options: &[&str]) -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings.extra.extend(options.iter().map(|option| (*option).to_owned()));
    settings
}

fn begin(server: &Server) -> Client {
    server.run("CREATE DATABASE measured");
    server.run("CREATE TABLE measured.t (id INT PRIMARY KEY, a INT, b INT, KEY (a))");
    let mut client = server.connect();
    for sql in ["USE measured", "TRUNCATE performance_schema.events_statements_summary_by_digest"] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    client
}

#[test]
fn columns_are_mysqls() {
    let test = "statements_measured_like_mysql::columns_are_mysqls";
    same_as_mysql(test, &measuring(&[]), |server| {
        /// Flags that tell the type: NOT NULL and unsigned.
        const OF_TYPE: u16 = 0x0001 | 0x0020;
        let of = |table: &&str| {
            let found = server.run(&format!("SELECT * FROM performance_schema.{table} LIMIT 0"));
            let column = |c: &Column| {
                let (flags, length) = (c.flags & OF_TYPE, c.length_bytes);
                format!("{table} {} {} {flags} {length} {} {}", c.name, c.field_type, c.decimals, c.collation)
            };
            // There is no DOUBLE(7, 6) here; it is a DOUBLE.
            let known = found.columns.iter().filter(|column| column.name != "BUCKET_QUANTILE");
            known.map(column).collect::<Vec<_>>()
        };
        TABLES.iter().flat_map(of).collect()
    });
}

#[test]
fn each_statement_has_mysqls_figures() {
    let test = "statements_measured_like_mysql::each_statement_has_mysqls_figures";
    let lines = same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        for sql in STATEMENTS {
            // Some are refused, and their errors are measured, too.
            let _refused = client.query(sql);
            let last = format!(
                "SELECT {FIGURES} FROM performance_schema.events_statements_history \
                 WHERE thread_id = PS_CURRENT_THREAD_ID() ORDER BY event_id DESC LIMIT 1"
            );
            lines.extend(rows(&mut client, &last));
        }
        lines
    });
    assert_eq!(lines.len(), STATEMENTS.len());
}

#[test]
fn digests_and_kinds_sum_up_to_mysqls_figures() {
    let test = "statements_measured_like_mysql::digests_and_kinds_sum_up_to_mysqls_figures";
    let lines = same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        for sql in STATEMENTS {
            let _refused = client.query(sql);
        }
        // The sample of several statements is the slowest of them.
        let mut lines = rows(
            &mut client,
            "SELECT digest_text, count_star, sum_errors, sum_warnings, sum_rows_affected, sum_rows_sent, \
             sum_rows_examined, sum_sort_rows, sum_no_index_used, \
             IF(count_star = 1, query_sample_text, query_sample_text IS NOT NULL), \
             min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait, \
             min_timer_wait > 0, quantile_95 >= min_timer_wait, quantile_999 >= max_timer_wait, \
             first_seen <= last_seen, LENGTH(digest) \
             FROM performance_schema.events_statements_summary_by_digest \
             WHERE schema_name = 'measured' AND digest_text NOT LIKE '%performance_schema%' \
             AND digest_text <> 'SELECT ?' ORDER BY digest_text",
        );
        for of in ["thread", "account", "user", "host"] {
            let own = match of {
                "thread" => "thread_id = PS_CURRENT_THREAD_ID()",
                "account" => "CONCAT(user, '@', host) = USER()",
                "user" => "user = SUBSTRING_INDEX(USER(), '@', 1)",
                _ => "host = SUBSTRING_INDEX(USER(), '@', -1)",
            };
            lines.extend(rows(
                &mut client,
                &format!(
                    "SELECT '{of}', event_name, count_star > 0, sum_errors, sum_rows_affected \
                     FROM performance_schema.events_statements_summary_by_{of}_by_event_name \
                     WHERE {own} AND event_name IN ('statement/sql/insert', 'statement/sql/error', \
                     'statement/sql/update', 'statement/sql/xa_start') ORDER BY event_name"
                ),
            ));
        }
        lines.extend(rows(
            &mut client,
            // How many kinds MySQL has depends on its plugins.
            "SELECT COUNT(*) > 200 FROM performance_schema.events_statements_summary_global_by_event_name",
        ));
        lines
    });
    assert!(lines.len() > STATEMENTS.len() - 8, "{lines:?}");
}

#[test]
fn buckets_have_mysqls_bounds_and_hold_every_statement() {
    let test = "statements_measured_like_mysql::buckets_have_mysqls_bounds_and_hold_every_statement";
    same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        for _ in 0..100 {
            rows(&mut client, "SELECT a FROM t WHERE id = 5");
        }
        let mut lines = rows(
            &mut client,
            "SELECT bucket_number, bucket_timer_low, bucket_timer_high \
             FROM performance_schema.events_statements_histogram_global ORDER BY bucket_number",
        );
        lines.extend(rows(
            &mut client,
            "SELECT COUNT(*), SUM(count_bucket), MAX(count_bucket_and_lower), MAX(bucket_quantile) = 1 \
             FROM performance_schema.events_statements_histogram_by_digest h \
             JOIN performance_schema.events_statements_summary_by_digest d USING (schema_name, digest) \
             WHERE digest_text LIKE 'SELECT `a` FROM `t`%'",
        ));
        lines
    });
}

#[test]
fn truncate_empties_a_table_and_not_those_above_it() {
    let test = "statements_measured_like_mysql::truncate_empties_a_table_and_not_those_above_it";
    same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        let _refused = client.query("INSERT INTO t VALUES (7, 7, 7)");
        let mut lines = Vec::new();
        let levels = ["thread", "account", "user", "host"];
        for emptied in levels {
            let table = format!("performance_schema.events_statements_summary_by_{emptied}_by_event_name");
            rows(&mut client, &format!("TRUNCATE {table}"));
            for level in levels {
                lines.extend(rows(
                    &mut client,
                    &format!(
                        "SELECT '{emptied}', '{level}', SUM(count_star) > 0 \
                         FROM performance_schema.events_statements_summary_by_{level}_by_event_name \
                         WHERE event_name = 'statement/sql/insert'"
                    ),
                ));
            }
            lines.extend(rows(
                &mut client,
                "SELECT SUM(count_star) FROM performance_schema.events_statements_summary_global_by_event_name \
                 WHERE event_name = 'statement/sql/insert'",
            ));
        }
        for table in TABLES {
            rows(&mut client, &format!("TRUNCATE performance_schema.{table}"));
        }
        lines.extend(rows(
            &mut client,
            "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest \
             WHERE digest_text LIKE 'INSERT%'",
        ));
        lines.extend(rows(
            &mut client,
            "SELECT SUM(count_star) FROM performance_schema.events_statements_summary_global_by_event_name \
             WHERE event_name = 'statement/sql/insert'",
        ));
        lines
    });
}

#[test]
fn prepared_statements_are_shown_as_long_as_they_are_there() {
    let test = "statements_measured_like_mysql::prepared_statements_are_shown_as_long_as_they_are_there";
    same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        let shown = "SELECT statement_name, sql_text, count_reprepare, count_execute, sum_rows_sent, \
                     sum_errors, timer_prepare > 0, owner_object_type \
                     FROM performance_schema.prepared_statements_instances \
                     WHERE owner_thread_id = PS_CURRENT_THREAD_ID() ORDER BY sql_text";
        for sql in ["PREPARE one FROM 'SELECT 1, ?'", "PREPARE two FROM 'SELECT * FROM t'", "SET @a = 1"] {
            rows(&mut client, sql);
        }
        for _ in 0..3 {
            rows(&mut client, "EXECUTE one USING @a");
        }
        let mut lines = rows(&mut client, shown);
        rows(&mut client, "DEALLOCATE PREPARE one");
        lines.extend(rows(&mut client, shown));
        lines
    });
}

#[test]
fn digests_beyond_the_limit_are_counted_together() {
    let test = "statements_measured_like_mysql::digests_beyond_the_limit_are_counted_together";
    same_as_mysql(test, &measuring(&["--performance-schema-digests-size=4"]), |server| {
        let mut client = begin(server);
        for name in ["a", "b", "c", "d", "e", "f"] {
            rows(&mut client, &format!("SELECT 1 AS {name}"));
        }
        rows(
            &mut client,
            "SELECT schema_name, digest, digest_text, count_star > 2 \
             FROM performance_schema.events_statements_summary_by_digest WHERE digest_text IS NULL",
        )
    });
}

#[test]
fn nothing_is_measured_where_performance_schema_is_off() {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=OFF".into());
    let server = Server::start(Flavor::Slipstream, &settings);
    for table in TABLES.iter().filter(|table| **table != "events_statements_histogram_global") {
        assert_eq!(server.rows(&format!("SELECT * FROM performance_schema.{table}")), [""; 0], "{table}");
    }
}
