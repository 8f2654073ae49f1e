//! Tests that what statements keep is charged with the memory that it really takes, before it is
//! made: lists that grow, plans of short texts, packets, copies of long values. A server that
//! charged lengths alone would run each of these statements to its end.

use bench::instance::{Flavor, Settings};
use os::clock::Stopwatch;
use protocol::client::{Client, ClientError};
use std::path::Path;
use std::time::Duration;
use testkit::Server;

const SETUP: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, s VARCHAR(60))",
    "INSERT INTO d.t (v, s) VALUES (1, REPEAT('x', 50)), (2, REPEAT('y', 50)), (3, 'z'), (4, 'z')",
    "INSERT INTO d.t (v, s) SELECT a.v + b.v, a.s FROM d.t a, d.t b",
    "INSERT INTO d.t (v, s) SELECT a.v + b.v, a.s FROM d.t a, d.t b LIMIT 236",
    "CREATE USER u IDENTIFIED BY ''",
    "GRANT SELECT ON d.* TO u",
];

/// Starts a server whose connections may have two megabytes each.
fn small() -> Server {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    SETUP.iter().for_each(|statement| drop(server.run(statement)));
    server.run("SET GLOBAL connection_memory_limit = 2097152");
    server
}

fn limited(server: &Server) -> Client {
    Client::connect(&server.connect_options().user("u", "")).expect("the account is there")
}

/// Runs the statements in a session of their own and returns the number of the error of the last
/// one. 0 means that it succeeded.
fn code(server: &Server, statements: &[&str]) -> u16 {
    let mut client = limited(server);
    let (last, before) = statements.split_last().expect("a statement");
    before.iter().for_each(|statement| drop(client.query(statement).expect("it prepares the last")));
    match client.query_discard(last) {
        Ok(_) => 0,
        Err(ClientError::Server(error)) => error.code,
        Err(error) => panic!("no answer to {}: {error}", last.chars().take(100).collect::<String>()),
    }
}

/// Returns the bytes that all connections together have charged.
fn charged_bytes(server: &Server) -> u64 {
    let shown = server.rows("SHOW GLOBAL STATUS LIKE 'Slipstream_connection_memory'").join("");
    shown.rsplit('\t').next().and_then(|bytes| bytes.parse().ok()).expect("a number")
}

#[test]
fn lists_are_charged_with_the_room_that_they_have() {
    let server = small();
    for statement in [
        "SELECT SUBSTRING_INDEX(REPEAT('a', 400000), 'a', -3)",
        "SELECT REPLACE(REPEAT('a', 400000), 'a', '')",
    ] {
        assert_eq!(code(&server, &[statement]), 4082, "{statement}");
    }
    // An operation that can use files does so before memory is refused.
    for statement in [
        "SELECT a.id FROM d.t a, d.t b ORDER BY b.v",
        "SELECT COUNT(*) FROM (SELECT a.id FROM d.t a, d.t b) x",
        "SELECT LENGTH(MAX(CONCAT(a.id, REPEAT('x', 20000)))) FROM d.t a GROUP BY a.id",
        "SELECT COUNT(DISTINCT a.id, b.id) FROM d.t a, d.t b",
        // The subquery has 60 thousand rows of one number each.
        "SELECT a.id IN (SELECT b.id + c.id FROM d.t b, d.t c) FROM d.t a",
        "SELECT a.id, SUM(b.id) OVER (ORDER BY a.id, b.id) FROM d.t a, d.t b",
        "SELECT a.id, b.id, COUNT(*) FROM d.t a, d.t b GROUP BY a.id, b.id WITH ROLLUP",
        "SELECT a.id, b.id FROM d.t a, d.t b INTERSECT SELECT b.id, a.id FROM d.t a, d.t b",
        "SELECT COUNT(*) FROM (SELECT a.id * 1000 + b.id k FROM d.t a, d.t b LIMIT 100000) x JOIN (SELECT a.id * 1000 + \
         b.id k FROM d.t a, d.t b LIMIT 100000) y ON x.k = y.k",
        "SELECT a.id, b.id FROM d.t a, d.t b UNION SELECT a.id, b.v FROM d.t a, d.t b",
        "SELECT GROUP_CONCAT(a.id ORDER BY b.id) FROM d.t a, d.t b",
    ] {
        assert_eq!(code(&server, &[statement]), 0, "{statement}");
    }
    // No more is kept than the query returns.
    for statement in [
        "SELECT GROUP_CONCAT(a.s) FROM d.t a, d.t b, d.t c WHERE c.id < 3",
        "SELECT a.v FROM d.t a, d.t b UNION SELECT b.v FROM d.t a, d.t b",
        "SELECT a.id FROM d.t a, d.t b, d.t c WHERE c.id < 3 ORDER BY b.id DESC, a.id LIMIT 10",
    ] {
        assert_eq!(code(&server, &[statement]), 0, "{statement}");
    }
}

#[test]
fn plans_are_charged_as_they_are_made() {
    let server = small();
    let sum = vec!["1"; 1000].join("+");
    let aliases = format!("SELECT {sum} AS a FROM d.t HAVING a{}", "+a".repeat(100));
    let positions = format!("SELECT {sum} AS a FROM d.t ORDER BY 1{}", ",1".repeat(100));
    let columns = format!("SELECT {} FROM d.t WHERE 0", vec!["*"; 2500].join(","));
    let unions = vec!["SELECT 1"; 1500].join(" UNION ");
    for statement in [aliases, positions, columns, unions] {
        let begin: String = statement.chars().take(60).collect();
        assert_eq!(code(&server, &[&statement]), 4082, "{begin}");
    }
}

#[test]
fn a_plan_that_a_session_keeps_stays_charged() {
    let server = small();
    let mut client = limited(&server);
    let list = vec!["1"; 1500].join(",");
    let before = charged_bytes(&server);
    for number in 0..3 {
        let statement = format!("SELECT {number} IN ({list})");
        // The second run keeps the plan.
        (0..2).for_each(|_| drop(client.query(&statement).expect("a list")));
    }
    assert!(charged_bytes(&server) >= before + 3 * 1500 * 64, "{before}");
    client.query("SET sql_mode = ''").expect("it forgets the plans");
    client.query("SELECT 1").expect("a plan");
    drop(client);
    let waited = os::clock::Stopwatch::start();
    while charged_bytes(&server) > before {
        assert!(waited.elapsed_ms() < 60_000, "they stay charged");
    }
}

/// Waits until all connections together have charged at most this much.
fn wait_until_charged(server: &Server, most_bytes: u64) {
    let waited = Stopwatch::start();
    while charged_bytes(server) > most_bytes {
        assert!(waited.elapsed() < Duration::from_secs(60), "more than {most_bytes} bytes stay charged");
        os::clock::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_columns_that_prepared_statements_have_sent_stay_charged() {
    const STATEMENTS: u64 = 100;
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    // The definition of each column has its name of 200 letters, and so has what is kept beside it.
    let columns: Vec<String> = (0..20).map(|at| format!("1 AS {}{at:02}", "x".repeat(198))).collect();
    let text = format!("SELECT {}", columns.join(", "));
    let prepared: Vec<_> = (0..STATEMENTS).map(|_| client.prepare(&text).expect("a statement")).collect();
    let before = charged_bytes(&server);
    for statement in &prepared {
        client.execute(statement, &[]).expect("a row");
    }
    let sent_bytes = charged_bytes(&server) - before;
    assert!(sent_bytes >= STATEMENTS * 20 * 2 * 200, "{sent_bytes} bytes are charged");
    for statement in prepared {
        client.close(statement).expect("the connection is there");
    }
    client.query("SELECT 1").expect("the statements are closed");
    wait_until_charged(&server, before);
}

#[test]
fn inserts_that_a_session_keeps_stay_charged() {
    const INSERTS: u64 = 16;
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (v VARCHAR(10000))");
    let mut client = server.connect();
    client.query("INSERT INTO d.t VALUES ('x')").expect("a row");
    let before = charged_bytes(&server);
    for number in 0..INSERTS {
        let (lead, row) = (format!("/* {number:8000} */"), "x".repeat(8000));
        client.query(&format!("INSERT {lead} INTO d.t VALUES ('{row}')")).expect("a row");
    }
    let kept_bytes = charged_bytes(&server) - before;
    assert!(kept_bytes >= INSERTS * 16_000, "{kept_bytes} bytes are charged");
    // Another setting makes the session forget them, and what is too long is not kept.
    client.query("SET sql_mode = ''").expect("it forgets the statements");
    let long = format!("INSERT /* {} */ INTO d.t VALUES ('x')", "x".repeat(900_000));
    client.query(&long).expect("a row");
    client.query("SELECT 1").expect("a row");
    wait_until_charged(&server, before + 64 * 1024);
}

/// The rows of the query are kept until it has ended, in memory up to `tmp_table_size`.
#[test]
fn the_rows_of_create_table_select_go_on_in_a_file() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    SETUP.iter().for_each(|statement| drop(server.run(statement)));
    let mut client = server.connect();
    client.query("SET SESSION tmp_table_size = 1048576, cte_max_recursion_depth = 10000000").expect("sets");
    let many = |rows: u32, name: &str| {
        format!(
            "CREATE TABLE d.{name} AS WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < {rows}) \
             SELECT n, REPEAT(CHAR(65 + n % 26), 300) s, IF(n % 7, NOW(6), NULL) at FROM r"
        )
    };
    client.query(&many(10, "few")).expect("a table");
    client.query(&many(20_000, "many")).expect("a table");
    let sums = "SELECT COUNT(*), SUM(n), SUM(s = REPEAT(CHAR(65 + n % 26), 300)), COUNT(at) FROM d.many";
    assert_eq!(server.rows(sums), ["20000\t200010000\t20000\t17143"]);
    let files = server.rows("SHOW GLOBAL STATUS LIKE 'Created_tmp_disk_tables'").join("");
    assert!(!files.ends_with("\t0"), "{files}");
}

#[test]
fn what_help_reads_is_charged() {
    let server = small();
    server.run("GRANT SELECT ON mysql.* TO u");
    assert_eq!(code(&server, &["HELP 'none'"]), 0);
    for id in 0..40 {
        let topic = format!("{}, 'topic {id}', 1, REPEAT('x', 60000), '', ''", 900_000 + id);
        server.run(&format!("INSERT INTO mysql.help_topic VALUES ({topic})"));
    }
    assert_eq!(code(&server, &["HELP 'none'"]), 4082);
}

#[test]
fn copies_of_long_values_are_charged() {
    let server = small();
    let long = "SET @a = REPEAT('x', 700000)";
    for statement in [
        "SELECT @a, @a",
        "SELECT LEFT(@a, 600000), RIGHT(@a, 600000)",
        "SELECT UPPER(@a)",
        "SELECT TRIM(@a), LTRIM(@a)",
        "SELECT @b := @a",
        "SELECT CONVERT(@a USING latin1), 1",
        "SELECT LOCATE('b', @a)",
    ] {
        assert_eq!(code(&server, &[long, statement]), 4082, "{statement}");
    }
    assert_eq!(code(&server, &[long, "SELECT @a IS NULL"]), 0);
}

/// Returns the kilobytes of memory that the server's process has.
fn resident_kb(server: &Server) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", server.pid().expect("it runs"))).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel tells it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn what_a_statement_had_goes_back_to_the_system_while_its_connection_stays() {
    const MUCH_KB: u64 = 100 << 10;
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    let hungry = |rows: u32| {
        format!(
            "WITH RECURSIVE r AS (SELECT 1 n, REPEAT('x', 200) s UNION ALL SELECT n + 1, s FROM r WHERE n < {rows}) \
             SELECT COUNT(DISTINCT s, n) FROM r"
        )
    };
    let limits = "SET SESSION cte_max_recursion_depth = 10000000, tmp_table_size = 1000000000";
    client.query(limits).expect("sets");
    client.query(&hungry(10)).expect("counts");
    let before_kb = resident_kb(&server);
    let most_kb = std::thread::scope(|scope| {
        let ends = scope.spawn(|| client.query(&hungry(700_000)).expect("counts"));
        let mut most_kb = 0;
        while !ends.is_finished() {
            most_kb = most_kb.max(resident_kb(&server));
            os::clock::sleep(Duration::from_millis(5));
        }
        most_kb
    });
    assert!(most_kb > before_kb + MUCH_KB, "only {most_kb} KB, {before_kb} before");
    let since = Stopwatch::start();
    while resident_kb(&server) > before_kb + MUCH_KB / 4 {
        let kept_kb = resident_kb(&server) - before_kb;
        assert!(since.elapsed() < Duration::from_secs(20), "{kept_kb} KB of {most_kb} are kept");
        os::clock::sleep(Duration::from_millis(10));
    }
    client.query("SELECT 1").expect("the connection is there");
}

#[test]
fn the_changes_of_a_transaction_are_charged_until_it_ends() {
    let server = small();
    server.run("CREATE TABLE d.many (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY by_v (v))");
    server.run("GRANT INSERT, UPDATE, DELETE ON d.* TO u");
    // The statement inserts 65,536 rows, which need about 40 megabytes of keys and locks.
    let many = "INSERT INTO d.many (v) SELECT a.id FROM d.t a, d.t b";
    let before = charged_bytes(&server);
    assert_eq!(code(&server, &["BEGIN", many]), 4082);
    assert_eq!(code(&server, &[many]), 4082);
    let waited = Stopwatch::start();
    while charged_bytes(&server) > before {
        assert!(waited.elapsed() < Duration::from_secs(60), "what a transaction kept stays charged");
        os::clock::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.many"), ["0"], "nothing of the transactions stays");
    // Small transactions one after the other do not add up, and an account without limits may take
    // everything.
    let mut client = limited(&server);
    for _ in 0..40 {
        client.query("INSERT INTO d.many (v) SELECT id FROM d.t").expect("256 rows have room");
    }
    server.run(many);
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.many"), [(40 * 256 + 65_536).to_string()]);
}

#[test]
fn the_locks_of_a_transaction_are_charged_while_it_holds_them() {
    let server = small();
    server.run("CREATE TABLE d.many (id INT PRIMARY KEY AUTO_INCREMENT, v INT)");
    server.run("GRANT UPDATE ON d.* TO u");
    server.run("INSERT INTO d.many (v) SELECT a.id FROM d.t a, d.t b");
    let committed = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
    // The query locks 65,536 rows, which need about 6 megabytes of locks.
    for lock in ["FOR UPDATE", "FOR SHARE", "FOR UPDATE SKIP LOCKED"] {
        let many = format!("SELECT COUNT(*) FROM d.many {lock}");
        assert_eq!(code(&server, &["BEGIN", &many]), 4082, "{many}");
        let none = format!("SELECT COUNT(*) FROM d.many WHERE v < 0 {lock}");
        assert_eq!(code(&server, &[committed, &none]), 0, "READ COMMITTED keeps none: {none}");
    }
    // The locks of one statement still count in the next statement.
    let part = |from: u32| format!("SELECT COUNT(*) FROM d.many WHERE id > {from} FOR UPDATE");
    let parts: Vec<String> = (1..8).map(|part_number| part(65_536 - part_number * 8_192)).collect();
    let mut client = limited(&server);
    client.query("BEGIN").expect("it begins");
    let refused = parts.iter().find_map(|statement| client.query(statement).err());
    assert_eq!(refused.expect("the limit is reached").server_code(), Some(4082));
    let mut another = limited(&server);
    another.query(&parts[0]).expect("the locks are released, and 8,192 rows have room");
}

#[test]
fn what_xpath_makes_is_charged() {
    let server = small();
    let long = "SET @a = REPEAT('x', 700000)";
    let parts = "$@a, concat(".repeat(3) + "$@a, $@a" + &")".repeat(3);
    assert_eq!(code(&server, &[long, &format!("SELECT EXTRACTVALUE('<a/>', 'concat({parts}) = 1')")]), 4082);
    // The path finds four million pairs of an element and one around it, which must not be kept one
    // by one.
    let nested = "CONCAT(REPEAT('<a>', 2000), REPEAT('</a>', 2000))";
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    for (path, count) in [("//a/ancestor::a", 1999), ("//a/ancestor-or-self::*", 2001), ("//a/a", 1999)] {
        let counted = server.rows(&format!("SELECT EXTRACTVALUE({nested}, 'count({path})')"));
        assert_eq!(counted, [count.to_string()], "{path}");
    }
}

#[test]
fn packets_are_charged() {
    let server = small();
    let comment = format!("SELECT /* {} */ 1", "x".repeat(3 << 20));
    let text = format!("SELECT LENGTH('{}')", "x".repeat(1_200_000));
    assert_eq!(code(&server, &[&comment]), 4082, "a comment");
    assert_eq!(code(&server, &[&text]), 4082, "a text, and its literal in two trees");
    let several = format!("SELECT LENGTH('{}')", "x".repeat(20 << 20));
    assert_eq!(code(&server, &[&several]), 4082, "a text of several packets");
}

/// What all connections may have depends on what the process has left, not only on its limit.
#[test]
fn connections_leave_the_process_room_under_a_limit() {
    const LIMIT_KB: u64 = 900 << 10;
    let script = testkit::limited::binary(Path::new(env!("CARGO_TARGET_TMPDIR")), LIMIT_KB);
    let (pool_bytes, redo_bytes) = (32 << 20, 32 << 20);
    let settings = Settings { slipstream: Some(script), pool_bytes, redo_bytes, ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    let refused = (0..1000).find_map(|number| {
        let kept = client.query(&format!("SET @v{number} = REPEAT('x', 2000000)"));
        kept.err().map(|error| error.server_code())
    });
    assert_eq!(refused, Some(Some(1041)));
    let pid = server.pid().expect("it runs");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process's status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).expect("a line of it");
    let data_kb: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(data_kb < LIMIT_KB - (80 << 10), "{data_kb} of {LIMIT_KB} KB are in use");
    server.run("SELECT 1");
}

/// MySQL cuts what its messages show of a value, and the alias of a column.
#[test]
fn messages_and_names_are_cut_as_mysqls() {
    let shown = |flavor: Flavor| -> Option<Vec<String>> {
        if !testkit::available("cut_messages", &[flavor]) {
            return None;
        }
        let server = Server::start(flavor, &Settings::default());
        let mut client = server.connect();
        let mut all = Vec::new();
        for statement in [
            "SELECT CAST(REPEAT('x', 2000) AS DATETIME)",
            "SELECT CAST(REPEAT('x', 2000) AS SIGNED)",
            "SELECT CAST(REPEAT('é', 2000) AS SIGNED)",
            "SELECT DATE(REPEAT('x', 2000))",
            "SET SESSION sql_mode = REPEAT('x', 2000)",
            "SET time_zone = REPEAT('x', 2000)",
            "SET character_set_client = REPEAT('x', 2000)",
            "SET autocommit = REPEAT('x', 2000)",
        ] {
            match client.query(statement) {
                Ok(_) => {
                    let warnings = client.query("SHOW WARNINGS").expect("the connection is there");
                    all.push(format!("{statement}: {}", warnings.cell(0, 2).unwrap_or_default()));
                }
                Err(error) => all.push(format!("{statement}: {error}")),
            }
        }
        for (letter, times) in [("x", 300), ("é", 300), ("x", 256)] {
            let named = client.query(&format!("SELECT 1 AS `{}`", letter.repeat(times)));
            all.push(named.expect("an alias").columns[0].name.to_string());
        }
        Some(all)
    };
    let ours = shown(Flavor::Slipstream).expect("it is here");
    assert!(ours.iter().all(|shown| shown.len() < 400), "{ours:#?}");
    if let Some(theirs) = shown(Flavor::MySql) {
        assert_eq!(ours, theirs);
    }
}
