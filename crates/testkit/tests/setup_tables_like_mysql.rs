//! Tests that performance_schema's tables of settings are changed as in MySQL, and that what they
//! say has its effect on what is measured.

use bench::instance::Settings;
use protocol::client::{Client, ConnectOptions};
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

fn measuring() -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings
}

/// Runs a statement and returns how it ended: the rows that it changed and its warnings, or its
/// error.
fn done(client: &mut Client, sql: &str) -> Vec<String> {
    let end = client.query(sql).map(|done| done.affected_rows());
    let mut lines = vec![format!("{sql}: {end:?}")];
    lines.extend(rows(client, "SHOW WARNINGS"));
    lines
}

fn connected(server: &Server, user: &str) -> Client {
    let options = ConnectOptions { user: user.into(), password: "p".into(), ..server.connect_options() };
    Client::connect(&options).expect("a session")
}

#[test]
fn rows_are_changed_as_in_mysql() {
    let test = "setup_tables_like_mysql::rows_are_changed_as_in_mysql";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        client.query("USE performance_schema").expect("it is there");
        let mut lines = Vec::new();
        for table in ["setup_actors", "setup_objects"] {
            lines.extend(rows(&mut client, &format!("SELECT * FROM {table} ORDER BY 1, 2, 3")));
        }
        for sql in [
            "INSERT INTO setup_actors VALUES ('localhost', 'bob', '%', 'YES', 'NO')",
            "INSERT INTO setup_actors (host, user) VALUES ('h', 'u')",
            "INSERT INTO setup_actors (host, user, `role`) VALUES ('h', 'u', 'r')",
            "INSERT INTO setup_actors (host, user) VALUES ('h', 'u')",
            "INSERT INTO setup_actors (host, user, enabled) VALUES ('h2', 'u', 'maybe')",
            "INSERT INTO setup_actors (host, user, enabled) VALUES ('h2', 'u', NULL)",
            "INSERT INTO setup_actors () VALUES ()",
            "INSERT INTO setup_actors SET user = 'x'",
            "INSERT INTO setup_actors VALUES ('a', 'b', '%', 'YES')",
            "INSERT INTO setup_actors (host, nothing) VALUES ('a', 'b')",
            "INSERT INTO setup_actors (host, host) VALUES ('a', 'b')",
            "INSERT INTO setup_actors (host, user) VALUES (DEFAULT, REPEAT('long', 12))",
            "INSERT INTO setup_actors VALUES ('h3', 'bob', '%', 'YES', 'NO'), ('h4', 'bob', '%', 'YES', 'YES')",
            "INSERT INTO setup_actors (host, user) VALUES ('a1', 'b'), ('a1', 'b'), ('a2', 'b')",
            "INSERT INTO setup_actors SELECT 'h5', 'x', '%', 'NO', 'NO'",
            "INSERT IGNORE INTO setup_actors VALUES ('h3', 'bob', '%', 'YES', 'NO')",
            "REPLACE INTO setup_actors VALUES ('h3', 'bob', '%', 'NO', 'NO')",
            "INSERT INTO setup_actors VALUES ('h3', 'bob', '%', 'YES', 'NO') ON DUPLICATE KEY UPDATE enabled = 'NO'",
            "UPDATE setup_actors SET enabled = 'NO' WHERE user = 'x'",
            "UPDATE setup_actors SET user = 'y' WHERE user = 'x'",
            "UPDATE setup_actors SET history = 'NO', enabled = DEFAULT",
            "UPDATE setup_actors SET host = 'h' WHERE host = 'h'",
            "UPDATE setup_actors SET enabled = 'NO', enabled = 'YES' WHERE host = 'h'",
            "UPDATE setup_actors SET enabled = 'maybe'",
            "DELETE FROM setup_actors WHERE user = 'bob'",
            "DELETE FROM setup_actors WHERE host = 'h' ORDER BY `role` DESC LIMIT 1",
            "DELETE FROM setup_actors WHERE nothing = 1",
            "DELETE a FROM setup_actors AS a WHERE a.host = 'a1'",
            "INSERT INTO setup_objects VALUES ('TABLE', 'd', 't', 'YES', 'NO')",
            "INSERT INTO setup_objects VALUES ('VIEW', 'd', 't', 'YES', 'NO')",
            "INSERT INTO setup_objects (object_schema, object_name) VALUES ('d', 't2')",
            "INSERT INTO setup_objects () VALUES ()",
            "UPDATE setup_objects SET timed = 'NO' WHERE object_schema = 'd'",
            "UPDATE setup_objects SET object_name = 't'",
            "DELETE FROM setup_objects WHERE object_type <> 'TABLE'",
            "INSERT INTO setup_consumers VALUES ('x', 'YES')",
            "DELETE FROM setup_consumers",
            "REPLACE INTO setup_instruments (name) VALUES ('x')",
            "DELETE FROM setup_instruments",
            "INSERT INTO setup_threads (name) VALUES ('x')",
            "DELETE FROM threads",
            "UPDATE setup_instruments SET name = 'x' WHERE name = 'statement/sql/select'",
            "UPDATE setup_instruments SET enabled = 'NO' WHERE name = 'statement/sql/do'",
            "UPDATE setup_instruments SET enabled = 'x' WHERE name = 'statement/sql/do'",
            "UPDATE setup_instruments SET enabled = 1, timed = 2 WHERE name = 'statement/sql/do'",
            "UPDATE setup_instruments SET timed = 'YES' WHERE name = 'error'",
            "UPDATE setup_threads SET history = 'NO' WHERE name = 'thread/sql/one_connection'",
            "UPDATE setup_threads SET properties = 'user' WHERE name = 'thread/sql/one_connection'",
            "UPDATE threads SET name = 'x' WHERE processlist_id = CONNECTION_ID()",
            "UPDATE threads SET instrumented = 'x' WHERE processlist_id = CONNECTION_ID()",
            "UPDATE threads SET history = 'NO' WHERE processlist_id = CONNECTION_ID()",
            "UPDATE setup_consumers SET enabled = NULL",
            "UPDATE IGNORE setup_consumers SET enabled = 'huh' WHERE name = 'events_stages_current'",
            "SET sql_mode = ''",
            "UPDATE setup_consumers SET enabled = 'huh'",
            "INSERT INTO setup_actors (host, user, enabled) VALUES ('h2', 'u', 'maybe')",
            "UPDATE events_statements_current SET event_id = 1",
        ] {
            lines.extend(done(&mut client, sql));
        }
        for (table, order) in
            [("setup_actors", "1, 2, 3"), ("setup_objects", "1, 2, 3"), ("setup_consumers", "1")]
        {
            lines.extend(rows(&mut client, &format!("SELECT * FROM {table} ORDER BY {order}")));
        }
        lines.extend(rows(
            &mut client,
            "SELECT name, enabled, timed, properties FROM setup_instruments WHERE name IN \
             ('error', 'transaction', 'statement/sql/do', 'statement/abstract/Query') ORDER BY name",
        ));
        lines.extend(rows(
            &mut client,
            "SELECT instrumented, history FROM threads WHERE processlist_id = CONNECTION_ID()",
        ));
        for sql in ["TRUNCATE setup_actors", "TRUNCATE setup_objects", "DELETE FROM setup_actors"] {
            lines.extend(done(&mut client, sql));
        }
        lines.extend(rows(&mut client, "SELECT * FROM setup_actors"));
        lines.extend(rows(&mut client, "SELECT * FROM setup_objects"));
        lines
    });
    assert!(lines.iter().any(|line| line.contains("1022")), "{lines:?}");
}

#[test]
fn prepared_statements_and_programs_change_settings() {
    let test = "setup_tables_like_mysql::prepared_statements_and_programs_change_settings";
    same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE DATABASE d");
        server.run(
            "CREATE PROCEDURE d.p(called VARCHAR(32)) BEGIN \
             INSERT INTO performance_schema.setup_actors (user) VALUES (called); \
             UPDATE performance_schema.setup_actors SET history = 'NO' WHERE user = called; END",
        );
        let mut client = server.connect();
        let mut lines = Vec::new();
        for sql in [
            "PREPARE s FROM 'INSERT INTO performance_schema.setup_actors (host, user) VALUES (?, ?)'",
            "SET @a = 'p'",
            "EXECUTE s USING @a, @a",
            "EXECUTE s USING @a, @a",
            "PREPARE s FROM 'UPDATE performance_schema.setup_actors SET enabled = ? WHERE host = ?'",
            "SET @n = 'NO'",
            "EXECUTE s USING @n, @a",
            "CALL d.p('called')",
            "START TRANSACTION",
            "INSERT INTO performance_schema.setup_actors (host) VALUES ('stays')",
            "ROLLBACK",
        ] {
            let end = client.query(sql).map(|done| done.affected_rows());
            lines.push(format!("{sql}: {end:?}"));
        }
        lines.extend(rows(&mut client, "SELECT * FROM performance_schema.setup_actors ORDER BY 1, 2, 3"));
        lines
    });
}

#[test]
fn only_accounts_with_the_privilege_change_settings() {
    let test = "setup_tables_like_mysql::only_accounts_with_the_privilege_change_settings";
    same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE USER reader IDENTIFIED BY 'p'");
        server.run("GRANT SELECT, INSERT ON performance_schema.* TO reader");
        let mut reader = connected(server, "reader");
        let mut lines = Vec::new();
        for sql in [
            "INSERT INTO performance_schema.setup_actors (user) VALUES ('x')",
            "UPDATE performance_schema.setup_actors SET enabled = 'NO'",
            "DELETE FROM performance_schema.setup_actors",
            "TRUNCATE performance_schema.setup_actors",
            "REPLACE INTO performance_schema.setup_actors (user) VALUES ('y')",
        ] {
            lines.extend(done(&mut reader, sql));
        }
        lines
    });
}

/// Runs a query and waits until it has been measured, which may be after it was answered.
fn measured(client: &mut Client, sql: &str) {
    client.query(sql).expect("a query");
    client.query("DO 0").expect("the next statement begins after the query was measured");
}

/// Returns what was kept of the statements of a session that have `mark` in them: how many are in
/// the history, in the digests and in the sums of the user.
fn kept(server: &Server, mark: &str, user: &str) -> String {
    let count = |table: &str, column: &str| {
        server.rows(&format!(
            "SELECT COUNT(*) FROM performance_schema.{table} WHERE {column} LIKE 'SELECT%{mark}%' \
             AND {column} NOT LIKE '%performance_schema%'"
        ))
    };
    let of_user = server.rows(&format!(
        "SELECT count_star FROM performance_schema.events_statements_summary_by_user_by_event_name \
         WHERE user = '{user}' AND event_name = 'statement/sql/select'"
    ));
    let history = count("events_statements_history", "sql_text");
    let long = count("events_statements_history_long", "sql_text");
    let digests = count("events_statements_summary_by_digest", "digest_text");
    format!("{mark}: {history:?} {long:?} {digests:?} {of_user:?}")
}

#[test]
fn actors_say_whose_sessions_are_measured() {
    let test = "setup_tables_like_mysql::actors_say_whose_sessions_are_measured";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.run(
            "UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE '%history_long'",
        );
        server.run(
            "INSERT INTO performance_schema.setup_actors VALUES ('%', 'amy', '%', 'NO', 'YES'), \
             ('%', 'zoe', '%', 'YES', 'NO'), ('%', 'bob', 'r', 'NO', 'NO')",
        );
        let mut lines = Vec::new();
        for user in ["amy", "bob", "zoe"] {
            server.run(&format!("CREATE USER {user} IDENTIFIED BY 'p'"));
            let mut client = connected(server, user);
            measured(&mut client, &format!("SELECT 1 AS by_{user}"));
            lines.push(kept(server, &format!("by_{user}"), user));
            lines.extend(server.rows(&format!(
                "SELECT instrumented, history FROM performance_schema.threads WHERE processlist_user = '{user}'"
            )));
        }
        lines
    });
    assert!(lines.iter().any(|line| line == "NO\tYES"), "{lines:?}");
}

#[test]
fn threads_and_instruments_say_what_is_measured() {
    let test = "setup_tables_like_mysql::threads_and_instruments_say_what_is_measured";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.run(
            "UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE '%history_long'",
        );
        server.run("CREATE USER amy IDENTIFIED BY 'p'");
        let mut client = connected(server, "amy");
        let mut lines = Vec::new();
        let mut seen = |mark: &str, change: &str| {
            server.run(&format!("UPDATE performance_schema.{change}"));
            measured(&mut client, &format!("SELECT 1 AS `{mark}`"));
            lines.push(kept(server, mark, "amy"));
            lines.extend(server.rows(&format!(
                "SELECT sql_text, timer_start IS NULL, timer_end IS NULL, timer_wait IS NULL, timer_wait > 0 FROM performance_schema.events_statements_history_long \
                 WHERE sql_text LIKE 'SELECT%{mark}_'"
            )));
            lines.extend(server.rows(&format!(
                "SELECT count_star, sum_timer_wait > 0, min_timer_wait > 0, avg_timer_wait > 0, sum_rows_sent, \
                 quantile_95 > 0, query_sample_text FROM performance_schema.events_statements_summary_by_digest \
                 WHERE digest_text LIKE 'SELECT%{mark}_'"
            )));
        };
        let thread = |setting: &str| format!("threads SET {setting} WHERE processlist_user = 'amy'");
        let of = |setting: &str, name: &str| format!("setup_instruments SET {setting} WHERE name = '{name}'");
        let (query, packet) = ("statement/abstract/Query", "statement/abstract/new_packet");
        seen("all", &thread("history = 'YES'"));
        seen("no_history", &thread("history = 'NO'"));
        seen("no_thread", &thread("history = 'YES', instrumented = 'NO'"));
        seen("thread", &thread("instrumented = 'YES'"));
        seen("no_query", &of("enabled = 'NO'", query));
        seen("query", &of("enabled = 'YES'", query));
        seen("untimed_query", &of("timed = 'NO'", query));
        seen("timed_query", &of("timed = 'YES'", query));
        seen("untimed_packet", &of("timed = 'NO'", packet));
        seen("timed_packet", &of("timed = 'YES'", packet));
        seen("no_packet", &of("enabled = 'NO'", packet));
        seen("packet", &of("enabled = 'YES'", packet));
        server.run("UPDATE performance_schema.setup_instruments SET enabled = 'NO' WHERE name = 'statement/sql/select'");
        measured(&mut client, "SELECT 1 AS no_select");
        server.run("UPDATE performance_schema.setup_instruments SET enabled = 'YES' WHERE name = 'statement/sql/select'");
        lines.push(kept(server, "no_select", "amy"));
        lines
    });
    assert!(
        lines.iter().any(|line| line.ends_with("\t1\t1\t1\tNULL")),
        "a statement without times: {lines:?}"
    );
}

/// Returns what was counted of SELECTs and of error 1054 since the sums were emptied, for the
/// server, for a user and for its session. It also returns whether the user and the session had
/// transactions; MySQL may have some of its own at any moment.
fn counted(server: &Server, user: &str) -> Vec<String> {
    let of = |what: &str, table: &str, condition: &str| {
        let sum =
            format!("SELECT COALESCE(SUM({what}), 0) FROM performance_schema.{table} WHERE {condition}");
        server.rows(&sum).concat()
    };
    let of_user = format!("user = '{user}'");
    let of_thread = format!(
        "thread_id = (SELECT thread_id FROM performance_schema.threads WHERE processlist_user = '{user}')"
    );
    let levels = [("global", "TRUE"), ("by_user", &of_user), ("by_thread", &of_thread)];
    let line = |(level, condition): (&str, &str)| {
        let selects = format!("{condition} AND event_name = 'statement/sql/select'");
        let errors = format!("{condition} AND error_number = 1054");
        let transactions = format!("events_transactions_summary_{level}_by_event_name");
        format!(
            "{level}: {} {} {}",
            of("count_star", &format!("events_statements_summary_{level}_by_event_name"), &selects),
            of("sum_error_raised", &format!("events_errors_summary_{level}_by_error"), &errors),
            level != "global" && of("count_star", &transactions, condition) != "0",
        )
    };
    levels.into_iter().map(line).collect()
}

#[test]
fn what_is_measured_while_threads_are_not_told_apart_counts_for_no_account() {
    let test = "setup_tables_like_mysql::threads_not_told_apart";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE USER amy IDENTIFIED BY 'p'");
        let mut client = connected(server, "amy");
        let mut lines = Vec::new();
        for on in ["YES", "NO", "YES", "NO"] {
            let switch = format!("SET enabled = '{on}' WHERE name = 'thread_instrumentation'");
            server.run(&format!("UPDATE performance_schema.setup_consumers {switch}"));
            // Every level is emptied together with those below it.
            for table in [
                "events_statements_summary_by_user_by_event_name",
                "events_statements_summary_global_by_event_name",
                "events_errors_summary_by_user_by_error",
                "events_errors_summary_global_by_error",
                "events_transactions_summary_by_user_by_event_name",
                "events_transactions_summary_global_by_event_name",
            ] {
                server.run(&format!("TRUNCATE performance_schema.{table}"));
            }
            client.query("SELECT 1").expect("a query");
            client.query("SELECT nothing").expect_err("there is no such column");
            measured(&mut client, "SELECT 2");
            lines.push(format!("thread_instrumentation {on}"));
            // Queries of this test are counted for the server, and they are as many in each round.
            lines.extend(counted(server, "amy"));
        }
        lines
    });
    assert!(lines.iter().any(|line| line == "by_user: 0 0 false"), "{lines:?}");
}
