//! Tests of performance_schema's tables about transactions: a real MySQL gets the same statements,
//! and its tables have the same columns, events and sums.

use bench::instance::Settings;
use protocol::client::Client;
use protocol::column::Column;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

/// The tables with all their columns as MySQL has them.
const TABLES: &[&str] = &[
    "events_transactions_current",
    "events_transactions_history",
    "events_transactions_history_long",
    "events_transactions_summary_by_account_by_event_name",
    "events_transactions_summary_by_host_by_event_name",
    "events_transactions_summary_by_thread_by_event_name",
    "events_transactions_summary_by_user_by_event_name",
    "events_transactions_summary_global_by_event_name",
];

/// The columns of a transaction that do not depend on the moment or on the server's inside. A GTID
/// is shown as `one`.
const EVENT: &str = "event_id, end_event_id, event_name, state, IF(gtid LIKE '%:%', 'one', gtid), \
                     xid_format_id, xid_gtrid, xid_bqual, xa_state, access_mode, isolation_level, \
                     autocommit, number_of_savepoints, number_of_rollback_to_savepoint, \
                     number_of_release_savepoint, object_instance_begin, nesting_event_id, \
                     nesting_event_type, timer_wait = timer_end - timer_start";

fn measuring(options: &[&str]) -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings.extra.extend(options.iter().map(|option| (*option).to_owned()));
    settings
}

const WITH_GTIDS: &[&str] = &["--gtid-mode=ON", "--enforce-gtid-consistency=ON"];

fn begin(server: &Server) -> Client {
    server.run("CREATE DATABASE measured");
    server.run("CREATE TABLE measured.t (id INT PRIMARY KEY, a INT)");
    server.run("INSERT INTO measured.t VALUES (1, 1), (2, 2)");
    let mut client = server.connect();
    run(&mut client, "USE measured");
    client
}

fn run(client: &mut Client, sql: &str) {
    client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Returns the session's last transactions, the oldest first, and forgets them.
fn history(client: &mut Client) -> Vec<String> {
    let found = rows(
        client,
        &format!(
            "SELECT {EVENT} FROM performance_schema.events_transactions_history \
             WHERE thread_id = PS_CURRENT_THREAD_ID() ORDER BY event_id"
        ),
    );
    run(client, "TRUNCATE performance_schema.events_transactions_history");
    found
}

#[test]
fn columns_are_mysqls() {
    let test = "transactions_measured_like_mysql::columns_are_mysqls";
    same_as_mysql(test, &measuring(&[]), |server| {
        /// Flags that tell the type: NOT NULL and unsigned.
        const OF_TYPE: u16 = 0x0001 | 0x0020;
        let of = |table: &&str| {
            let found = server.run(&format!("SELECT * FROM performance_schema.{table} LIMIT 0"));
            let column = |c: &Column| {
                let (flags, length) = (c.flags & OF_TYPE, c.length_bytes);
                format!("{table} {} {} {flags} {length} {} {}", c.name, c.field_type, c.decimals, c.collation)
            };
            found.columns.iter().map(column).collect::<Vec<_>>()
        };
        TABLES.iter().flat_map(of).collect()
    });
}

#[test]
fn each_transaction_has_mysqls_event() {
    let test = "transactions_measured_like_mysql::each_transaction_has_mysqls_event";
    let lines = same_as_mysql(test, &measuring(WITH_GTIDS), |server| {
        let mut client = begin(server);
        let mut lines = history(&mut client);
        for statements in [
            &["SELECT * FROM t WHERE id = 1", "SELECT 1", "SET @a = 1", "DO 1"][..],
            &["UPDATE t SET a = a + 1 WHERE id = 1", "UPDATE t SET a = 7 WHERE id = 70"],
            &["BEGIN", "SELECT * FROM t", "UPDATE t SET a = a + 1", "COMMIT"],
            &["BEGIN", "UPDATE t SET a = a + 1", "ROLLBACK"],
            &["START TRANSACTION READ ONLY", "SELECT * FROM t", "COMMIT"],
            &["BEGIN", "COMMIT", "COMMIT", "ROLLBACK"],
            &["BEGIN", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "RELEASE SAVEPOINT a", "COMMIT"],
            &["SET autocommit = 0", "SELECT 1", "SELECT * FROM t", "COMMIT", "SET autocommit = 1"],
            &["SET autocommit = 0", "UPDATE t SET a = a + 1", "SET autocommit = 1"],
            &["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT * FROM t"],
            &["SET SESSION TRANSACTION READ ONLY", "SELECT * FROM t", "SET SESSION TRANSACTION READ WRITE"],
            &["SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "COMMIT AND CHAIN", "COMMIT"],
            &["BEGIN", "SELECT * FROM t", "BEGIN", "COMMIT"],
        ] {
            statements.iter().for_each(|sql| run(&mut client, sql));
            lines.extend(history(&mut client));
        }
        let _refused = client.query("INSERT INTO t VALUES (1, 1)");
        lines.extend(history(&mut client));
        lines
    });
    assert!(lines.len() > 15, "{lines:?}");
}

#[test]
fn without_gtids_a_change_is_anonymous() {
    let test = "transactions_measured_like_mysql::without_gtids_a_change_is_anonymous";
    let lines = same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        for sql in
            ["SELECT * FROM t WHERE id = 1", "UPDATE t SET a = a + 1", "BEGIN", "DELETE FROM t", "COMMIT"]
        {
            run(&mut client, sql);
        }
        history(&mut client)
    });
    assert!(lines.len() >= 3, "{lines:?}");
}

#[test]
fn an_open_transaction_is_shown_and_its_statements_are_within_it() {
    let test =
        "transactions_measured_like_mysql::an_open_transaction_is_shown_and_its_statements_are_within_it";
    same_as_mysql(test, &measuring(WITH_GTIDS), |server| {
        let mut client = begin(server);
        let mut other = server.connect();
        let id = rows(&mut client, "SELECT PS_CURRENT_THREAD_ID()")[0].clone();
        let current = format!(
            "SELECT {EVENT} FROM performance_schema.events_transactions_current WHERE thread_id = {id}"
        );
        // MySQL answers before it notes the end of a statement.
        let statement = format!(
            "SELECT event_name, event_id, nesting_event_id, nesting_event_type, nesting_event_level \
             FROM performance_schema.events_statements_current WHERE thread_id = {id}"
        );
        let mut lines = Vec::new();
        for sql in [
            "BEGIN",
            "SELECT * FROM t",
            "SAVEPOINT s",
            "UPDATE t SET a = a + 1",
            "COMMIT",
            "XA START 'a', 'b', 7",
            "UPDATE t SET a = a + 1",
            "XA END 'a', 'b', 7",
            "XA COMMIT 'a', 'b', 7 ONE PHASE",
            "SELECT 1",
            "XA START 'c'",
            "UPDATE t SET a = a + 1",
            "XA END 'c'",
            "XA PREPARE 'c'",
        ] {
            run(&mut client, sql);
            lines.extend(rows(&mut other, &current));
            lines.extend(rows(&mut other, &statement));
        }
        lines
    });
}

#[test]
fn definitions_are_transactions() {
    let test = "transactions_measured_like_mysql::definitions_are_transactions";
    let lines = same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        run(&mut client, "TRUNCATE performance_schema.events_transactions_history");
        for sql in ["CREATE TABLE u (id INT)", "BEGIN", "SELECT * FROM t", "DROP TABLE u"] {
            run(&mut client, sql);
        }
        rows(
            &mut client,
            "SELECT event_id, end_event_id, state, SUBSTRING_INDEX(gtid, ':', -1), access_mode, isolation_level, autocommit, \
             nesting_event_id FROM performance_schema.events_transactions_history \
             WHERE thread_id = PS_CURRENT_THREAD_ID() ORDER BY event_id",
        )
    });
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn definitions_have_the_gtids_of_the_log() {
    let test = "transactions_measured_like_mysql::definitions_have_the_gtids_of_the_log";
    let lines = same_as_mysql(test, &measuring(WITH_GTIDS), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        run(&mut client, "TRUNCATE performance_schema.events_transactions_history");
        for sql in [
            "CREATE TABLE u (id INT)",
            "DROP TABLE IF EXISTS nothing",
            "ALTER TABLE u ADD y INT, ADD KEY (y)",
            "CREATE OR REPLACE VIEW v AS SELECT 1",
            "DROP VIEW v",
            "TRUNCATE u",
            "CREATE USER somebody",
            "GRANT SELECT ON *.* TO somebody",
            "DROP USER somebody",
            "RENAME TABLE u TO w",
            "CREATE DATABASE other",
            "DROP DATABASE other",
            "SET GTID_NEXT = '11111111-2222-3333-4444-555555555555:7'",
            "DROP TABLE w",
            "SET GTID_NEXT = 'AUTOMATIC'",
        ] {
            run(&mut client, sql);
            let last = rows(
                &mut client,
                "SELECT gtid <> 'AUTOMATIC' AND GTID_SUBSET(gtid, @@global.gtid_executed), state \
                 FROM performance_schema.events_transactions_history \
                 WHERE thread_id = PS_CURRENT_THREAD_ID() ORDER BY event_id DESC LIMIT 1",
            );
            lines.push(format!("{sql}: {last:?}"));
        }
        lines
    });
    assert!(lines.iter().any(|line| line.contains("COMMITTED")), "{lines:?}");
}

#[test]
fn transactions_sum_up_by_session_account_user_and_host() {
    let test = "transactions_measured_like_mysql::transactions_sum_up_by_session_account_user_and_host";
    same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        run(&mut client, "TRUNCATE performance_schema.events_transactions_summary_global_by_event_name");
        for sql in [
            "SELECT * FROM t",
            "UPDATE t SET a = a + 1",
            "BEGIN",
            "SELECT * FROM t",
            "COMMIT",
            "START TRANSACTION READ ONLY",
            "SELECT * FROM t",
            "ROLLBACK",
        ] {
            run(&mut client, sql);
        }
        let sums = "count_star, count_read_write, count_read_only, min_timer_wait > 0, \
                    min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait, \
                    sum_timer_wait = sum_timer_read_write + sum_timer_read_only";
        let levels = [
            ("thread", "thread_id = PS_CURRENT_THREAD_ID()"),
            ("account", "CONCAT(user, '@', host) = USER()"),
            ("user", "user = SUBSTRING_INDEX(USER(), '@', 1)"),
            ("host", "host = SUBSTRING_INDEX(USER(), '@', -1)"),
        ];
        let all = |client: &mut Client| {
            let mut lines = Vec::new();
            for (level, own) in levels {
                let table =
                    format!("performance_schema.events_transactions_summary_by_{level}_by_event_name");
                lines.extend(rows(client, &format!("SELECT '{level}', {sums} FROM {table} WHERE {own}")));
            }
            let table = "performance_schema.events_transactions_summary_global_by_event_name";
            // MySQL has transactions of its own, which write.
            lines.extend(rows(
                client,
                &format!("SELECT count_star >= count_read_write, count_read_only FROM {table}"),
            ));
            lines
        };
        let mut lines = all(&mut client);
        for (level, _) in levels {
            let table = format!("performance_schema.events_transactions_summary_by_{level}_by_event_name");
            run(&mut client, &format!("TRUNCATE {table}"));
            lines.push(format!("{level} is emptied"));
            lines.extend(all(&mut client));
        }
        for table in TABLES {
            run(&mut client, &format!("TRUNCATE performance_schema.{table}"));
        }
        lines.extend(all(&mut client));
        lines
    });
}

#[test]
fn consumers_instruments_and_threads_switch_them() {
    let test = "transactions_measured_like_mysql::consumers_instruments_and_threads_switch_them";
    same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        let (consumers, instruments) = ("setup_consumers", "setup_instruments");
        for (table, change) in [
            (consumers, "enabled = 'YES' WHERE name = 'events_transactions_history_long'"),
            (consumers, "enabled = 'NO' WHERE name = 'events_transactions_history'"),
            (consumers, "enabled = 'NO' WHERE name = 'events_transactions_current'"),
            (consumers, "enabled = 'YES' WHERE name LIKE 'events_transactions%'"),
            (instruments, "timed = 'NO' WHERE name = 'transaction'"),
            (instruments, "enabled = 'NO' WHERE name = 'transaction'"),
            (instruments, "enabled = 'YES', timed = 'YES' WHERE name = 'transaction'"),
            ("threads", "history = 'NO' WHERE thread_id = PS_CURRENT_THREAD_ID()"),
            ("threads", "instrumented = 'NO' WHERE thread_id = PS_CURRENT_THREAD_ID()"),
            ("threads", "instrumented = 'YES', history = 'YES' WHERE thread_id = PS_CURRENT_THREAD_ID()"),
            (consumers, "enabled = 'NO' WHERE name = 'global_instrumentation'"),
            (consumers, "enabled = 'YES' WHERE name = 'global_instrumentation'"),
        ] {
            run(&mut client, &format!("UPDATE performance_schema.{table} SET {change}"));
            for table in ["history", "history_long"] {
                run(&mut client, &format!("TRUNCATE performance_schema.events_transactions_{table}"));
            }
            run(&mut client, "TRUNCATE performance_schema.events_transactions_summary_global_by_event_name");
            for sql in ["SELECT * FROM t", "BEGIN", "UPDATE t SET a = a + 1", "COMMIT"] {
                run(&mut client, sql);
            }
            lines.push(change.to_owned());
            for table in ["history", "history_long"] {
                lines.extend(rows(
                    &mut client,
                    &format!(
                        "SELECT '{table}', COUNT(*), SUM(timer_wait > 0), SUM(timer_end IS NULL) \
                         FROM performance_schema.events_transactions_{table} \
                         WHERE thread_id = PS_CURRENT_THREAD_ID()"
                    ),
                ));
            }
            lines.extend(rows(
                &mut client,
                "SELECT count_star, sum_timer_wait > 0 \
                 FROM performance_schema.events_transactions_summary_by_thread_by_event_name \
                 WHERE thread_id = PS_CURRENT_THREAD_ID()",
            ));
        }
        lines
    });
}

#[test]
fn statements_of_a_procedure_are_transactions_of_their_own() {
    let test = "transactions_measured_like_mysql::statements_of_a_procedure_are_transactions_of_their_own";
    same_as_mysql(test, &measuring(&[]), |server| {
        let mut client = begin(server);
        run(
            &mut client,
            "CREATE PROCEDURE p() BEGIN UPDATE t SET a = a + 1; START TRANSACTION; DELETE FROM t; COMMIT; END",
        );
        run(&mut client, "TRUNCATE performance_schema.events_transactions_history");
        run(&mut client, "CALL p()");
        rows(
            &mut client,
            "SELECT state, access_mode, autocommit FROM performance_schema.events_transactions_history \
             WHERE thread_id = PS_CURRENT_THREAD_ID() ORDER BY event_id",
        )
    });
}
