//! Tests of what one client may take: time, memory, prepared statements. A real MySQL gets the same
//! statements and has to answer the same.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError};
use std::path::Path;
use std::time::Duration;
use testkit::Server;
use testkit::lines::lines_of;

/// Runs a statement and returns its rows or its error, with the warnings after it.
fn answer(client: &mut Client, statement: &str) -> String {
    let answered = match client.query(statement) {
        Ok(result) => lines_of(&result).join("\n"),
        Err(e) => shown(&e),
    };
    let warnings = client.query("SHOW WARNINGS").expect("the connection is still there");
    let lines = (0..warnings.rows.len()).map(|row| {
        let cell = |at| warnings.cell(row, at).unwrap_or_default();
        format!("\n  {} {} {}", cell(0), cell(1), cell(2))
    });
    answered + &lines.collect::<String>()
}

fn shown(error: &ClientError) -> String {
    match error {
        ClientError::Server(packet) => {
            format!("ERROR {} ({}) {}", packet.code, String::from_utf8_lossy(&packet.state), packet.message)
        }
        other => panic!("not the server's error: {other}"),
    }
}

/// Runs the statements on Slipstream and, if it is available, on MySQL. Checks that the answers are
/// the same, and returns them.
fn same_answers(test: &str, settings: &Settings, setup: &[&str], statements: &[&str]) -> Vec<String> {
    let on = |flavor: Flavor| {
        let server = Server::start(flavor, settings);
        setup.iter().for_each(|statement| drop(server.run(statement)));
        let mut client = server.connect();
        statements.iter().map(|statement| answer(&mut client, statement)).collect::<Vec<_>>()
    };
    let ours = on(Flavor::Slipstream);
    if testkit::available(test, &[Flavor::MySql]) {
        for ((statement, ours), theirs) in statements.iter().zip(&ours).zip(on(Flavor::MySql)) {
            assert_eq!(*ours, theirs, "{statement}");
        }
    }
    ours
}

/// The statements that make a table of 1024 rows. A join of three of it has a thousand million
/// rows.
const MANY_ROWS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, s VARCHAR(60))",
    "INSERT INTO d.t (v, s) VALUES (1, REPEAT('x', 50)), (2, REPEAT('y', 50)), (3, 'z'), (4, 'z')",
    "INSERT INTO d.t (v, s) SELECT a.v + b.v, a.s FROM d.t a, d.t b",
    "INSERT INTO d.t (v, s) SELECT a.v + b.v, a.s FROM d.t a, d.t b LIMIT 396",
    "INSERT INTO d.t (v, s) SELECT a.v + b.v, a.s FROM d.t a, d.t b LIMIT 608",
];

#[test]
fn max_execution_time_ends_selects() {
    let exceeded =
        "ERROR 3024 (HY000) Query execution was interrupted, maximum statement execution time exceeded";
    let statements = [
        "SET max_execution_time = 100",
        "SELECT SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a.v * b.v + c.v % 10 FROM d.t a, d.t b, d.t c) x",
        "SELECT a.v % 10, SUM(b.v + c.v) FROM d.t a, d.t b, d.t c GROUP BY a.v % 10 ORDER BY 1",
        "SELECT SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c UNION SELECT 1",
        "SELECT v, SLEEP(1) FROM d.t LIMIT 3",
        "SELECT SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c FOR SHARE",
        "SELECT SLEEP(10)",
        "SELECT SLEEP(10), 5",
        "(SELECT SLEEP(10)) UNION SELECT 5",
        "SELECT SLEEP(0.5) FOR UPDATE",
        "DO SLEEP(0.3)",
        "INSERT INTO d.t (v) SELECT SLEEP(0.3)",
        "SELECT /*+ MAX_EXECUTION_TIME(60000) */ SLEEP(0.3)",
        "SELECT /*+ MAX_EXECUTION_TIME(0) */ SLEEP(0.3)",
        "PREPARE s FROM 'SELECT SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c'",
        "EXECUTE s",
        "SET max_execution_time = 0",
        "PREPARE s FROM 'SELECT /*+ MAX_EXECUTION_TIME(100) */ SLEEP(10)'",
        "EXECUTE s",
        "SELECT /*+ MAX_EXECUTION_TIME(100) */ SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c",
        "SELECT 1 WHERE (SELECT /*+ MAX_EXECUTION_TIME(50) */ SLEEP(0.2)) = 0",
        "UPDATE /*+ MAX_EXECUTION_TIME(50) */ d.t SET v = 1 WHERE id = 1",
        "SELECT /*+ MAX_EXECUTION_TIME(-1) */ 1",
        "SELECT @@max_execution_time",
        "SET max_execution_time = 99999999999",
        "SELECT @@max_execution_time",
        "SHOW GLOBAL STATUS LIKE 'Max\\_execution\\_time%'",
    ];
    let answers = same_answers("max_execution_time", &Settings::default(), MANY_ROWS, &statements);
    assert_eq!(answers.iter().filter(|answer| answer.starts_with(exceeded)).count(), 9, "{answers:#?}");
}

/// The time limit ends a wait for a row lock as it ends any other wait.
#[test]
fn max_execution_time_ends_a_lock_wait() {
    for flavor in [Flavor::Slipstream, Flavor::MySql] {
        if !testkit::available("lock_wait_limit", &[flavor]) {
            continue;
        }
        let server = Server::start(flavor, &Settings::default());
        MANY_ROWS.iter().for_each(|statement| drop(server.run(statement)));
        let mut holder = server.connect();
        holder.query("BEGIN").unwrap();
        holder.query("UPDATE d.t SET v = 0 WHERE id = 1").unwrap();
        let mut waiter = server.connect();
        let waits = "SELECT /*+ MAX_EXECUTION_TIME(100) */ v FROM d.t WHERE id = 1 FOR UPDATE";
        let error = waiter.query(waits).expect_err("the row is locked");
        assert_eq!(error.server_code(), Some(3024), "{flavor}: {error}");
        holder.query("ROLLBACK").unwrap();
        waiter.query(waits).expect("the limit is the statement's own");
    }
}

/// Each of these statements would run for hours without the kill.
#[test]
fn kill_query_reaches_every_loop() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    MANY_ROWS.iter().for_each(|statement| drop(server.run(statement)));
    server.run("CREATE TABLE d.u (id INT PRIMARY KEY AUTO_INCREMENT, v INT)");
    server.run("INSERT INTO d.u (v) VALUES (1)");
    let mut killer = server.connect();
    for statement in [
        "SELECT SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c, d.t d",
        "SELECT COUNT(*) FROM d.t a, d.t b, d.t c, d.t d WHERE CONCAT(a.s, d.s) LIKE '%y%q%'",
        "SELECT a.id, COUNT(DISTINCT b.v) FROM d.t a, d.t b, d.t c, d.t d GROUP BY a.id",
        "SELECT DISTINCT a.v FROM d.t a, d.t b, d.t c, d.t d",
        "SELECT 1 UNION SELECT a.v - a.v FROM d.t a, d.t b, d.t c, d.t d WHERE a.v + b.v + c.v + d.v < 0",
        "SELECT (SELECT MAX(a.v + b.v) FROM d.t a, d.t b, d.t c, d.t d)",
        "SELECT REPEAT('a', 30000000) LIKE CONCAT('%', REPEAT('a', 15000000), 'b')",
        "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, \
         information_schema.columns c, information_schema.columns d",
        "UPDATE d.t SET v = (SELECT MAX(a.id) FROM d.u a, d.u b) + (SELECT SUM(a.v) FROM (SELECT b.v FROM d.t b, \
         d.t c, d.t d, d.t e WHERE b.v + c.v + d.v + e.v < 0) a)",
        "DELETE FROM d.t WHERE id IN (SELECT id FROM (SELECT a.id FROM d.t b, d.t a, d.t c, d.t d WHERE a.v + b.v + c.v + d.v < 0) x)",
        "SELECT COUNT(*) FROM d.t WHERE EXISTS (SELECT 1 FROM d.t a, d.t b, d.t c WHERE a.v + b.v + c.v < t.v - 100000000)",
        "INSERT INTO d.u (v) SELECT a.v FROM d.t a, d.t b, d.t c, d.t d WHERE a.v + b.v + c.v + d.v < 0",
        "SELECT WAIT_FOR_EXECUTED_GTID_SET('22222222-2222-3333-4444-555555555555:1-1000000')",
        // SLEEP ends by itself when it is interrupted, and its row is the last one.
        "UPDATE d.u SET v = SLEEP(1000) WHERE id = 1",
        "INSERT INTO d.u (v) VALUES (SLEEP(1000))",
    ] {
        let mut victim = server.connect();
        let id = victim.connection_id();
        let run = os::thread::spawn("victim", move || victim.query(statement).map(|_| victim));
        // KILL QUERY ends the statement that is running, so the test waits until this one runs.
        let is_running =
            format!("SELECT 1 FROM information_schema.processlist WHERE id = {id} AND info IS NOT NULL");
        while killer.query(&is_running).unwrap().rows.is_empty() {
            assert!(!run.is_finished(), "{statement}");
        }
        os::clock::sleep(std::time::Duration::from_millis(20));
        killer.query(&format!("KILL QUERY {id}")).unwrap();
        let error = run.join().unwrap().err().unwrap_or_else(|| panic!("{statement} has come to its end"));
        assert_eq!(error.server_code(), Some(1317), "{statement}: {error}");
    }
}

/// Functions that make texts observe `max_allowed_packet`: they return NULL with a warning, or fail
/// where rows are changed in strict mode.
#[test]
fn functions_keep_to_max_allowed_packet() {
    let setup =
        ["CREATE DATABASE d", "CREATE TABLE d.s (a LONGTEXT)", "SET GLOBAL max_allowed_packet = 1024"];
    let a = "REPEAT('a', 1000)";
    let statements = [
        "SELECT @@max_allowed_packet".to_owned(),
        "SELECT LENGTH(REPEAT('a', 1024)), REPEAT('a', 1025) IS NULL".into(),
        "SELECT REPEAT('aaa', 9223372036854775807) IS NULL, REPEAT('a', -1)".into(),
        "SELECT LENGTH(SPACE(1024)), SPACE(1025) IS NULL".into(),
        format!("SELECT LENGTH(CONCAT({a}, REPEAT('b', 24))), CONCAT({a}, REPEAT('b', 25)) IS NULL"),
        format!(
            "SELECT LENGTH(CONCAT_WS(',', {a}, REPEAT('b', 23))), CONCAT_WS(',', {a}, NULL, REPEAT('b', 24)) IS NULL"
        ),
        "SELECT CONCAT_WS(REPEAT(',', 600), 'a', 'b', 'c') IS NULL".into(),
        format!("SELECT LENGTH(HEX({a})), LENGTH(UNHEX(REPEAT('41', 512)))"),
        format!(
            "SELECT LENGTH(INSERT({a}, 1, 0, REPEAT('b', 24))), INSERT({a}, 1, 0, REPEAT('b', 25)) IS NULL"
        ),
        "SELECT LENGTH(QUOTE(REPEAT('''', 500))), QUOTE(REPEAT('''', 600)) IS NULL".into(),
        format!("SELECT LENGTH(REPLACE({a}, 'a', 'b')), REPLACE({a}, 'a', 'bb') IS NULL"),
        "SELECT LENGTH(LPAD('a', 256, 'b')), LPAD('a', 257, 'b') IS NULL".into(),
        "SELECT LENGTH(RPAD('a', 256, 'b')), RPAD('a', 257, 'b') IS NULL".into(),
        format!("SELECT LENGTH(TO_BASE64(REPEAT('a', 700))), TO_BASE64({a}) IS NULL"),
        format!("SELECT LENGTH(UPPER({a})), LENGTH(REVERSE({a})), ELT(1, REPEAT('a', 1025)) IS NULL"),
        "SET group_concat_max_len = 1000000".into(),
        "SELECT LENGTH(GROUP_CONCAT(a)) FROM (SELECT REPEAT('a', 600) a UNION ALL SELECT REPEAT('b', 600)) x"
            .into(),
        "INSERT INTO d.s VALUES (REPEAT('a', 1025))".into(),
        format!("INSERT INTO d.s VALUES (CONCAT({a}, {a}))"),
        "INSERT INTO d.s VALUES (REPEAT('a', 10))".into(),
        "UPDATE d.s SET a = REPEAT('x', 2000)".into(),
        "SET sql_mode = ''".into(),
        "INSERT INTO d.s VALUES (REPEAT('a', 1025))".into(),
        "SELECT LENGTH(a) FROM d.s".into(),
    ];
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let answers = same_answers("max_allowed_packet", &Settings::default(), &setup, &statements);
    assert!(answers[1].contains("1024\t1\n  Warning 1301"), "{answers:#?}");
}

/// PREPARE and the protocol's command take from the same number of places, and each way to drop a
/// statement gives its place back.
#[test]
fn prepared_statements_are_counted_however_they_are_made() {
    for flavor in [Flavor::Slipstream, Flavor::MySql] {
        if !testkit::available("max_prepared_stmt_count", &[flavor]) {
            continue;
        }
        let server = Server::start(flavor, &Settings::default());
        let mut watcher = server.connect();
        let mut count = || {
            let shown = watcher.query("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").unwrap();
            shown.cell(0, 1).unwrap_or_default()
        };
        assert_eq!(count(), "0");
        server.run("SET GLOBAL max_prepared_stmt_count = 3");
        let mut client = server.connect();
        client.query("PREPARE a FROM 'SELECT 1'").unwrap();
        client.query("PREPARE b FROM 'SELECT 2'").unwrap();
        let of_protocol = client.prepare("SELECT 3").unwrap();
        let refused = |client: &mut Client, statement: &str| match client.query(statement) {
            Err(e) => shown(&e),
            Ok(_) => panic!("{flavor}: {statement} was let in"),
        };
        let words =
            "ERROR 1461 (42000) Can't create more than max_prepared_stmt_count statements (current value: 3)";
        assert_eq!(refused(&mut client, "PREPARE c FROM 'SELECT 4'"), words, "{flavor}");
        assert_eq!(client.prepare("SELECT 5").unwrap_err().server_code(), Some(1461), "{flavor}");
        // A statement replaces an older one of the same name, and one that cannot be prepared takes
        // no place.
        client.query("PREPARE a FROM 'SELECT 6'").unwrap();
        assert_eq!(count(), "3", "{flavor}");
        client.query("DEALLOCATE PREPARE b").unwrap();
        assert!(refused(&mut client, "PREPARE c FROM 'SELEKT'").contains("1064"), "{flavor}");
        assert_eq!(count(), "2", "{flavor}");
        drop(of_protocol);
        client.command(protocol::command::RESET_CONNECTION, &[]).unwrap();
        assert_eq!(count(), "0", "{flavor}");
        client.query("PREPARE a FROM 'SELECT 1'").unwrap();
        client.prepare("SELECT 3").unwrap();
        assert_eq!(count(), "2", "{flavor}");
        drop(client);
        let watch = os::clock::Stopwatch::start();
        while count() != "0" {
            assert!(
                watch.elapsed_ms() < 60_000,
                "{flavor}: the places of a connection that is gone stay taken"
            );
        }
    }
}

/// The memory limits end the statement and close the connection, except for accounts with
/// CONNECTION_ADMIN.
#[test]
fn memory_limits_end_statements_and_close_the_connection() {
    for flavor in [Flavor::Slipstream, Flavor::MySql] {
        if !testkit::available("connection_memory_limit", &[flavor]) {
            continue;
        }
        let server = Server::start(flavor, &Settings::default());
        MANY_ROWS.iter().for_each(|statement| drop(server.run(statement)));
        server.run("CREATE USER u IDENTIFIED BY 'u'");
        server.run("GRANT SELECT ON d.* TO u");
        let sorts = "SELECT a.s, b.s FROM d.t a, d.t b ORDER BY CONCAT(a.s, b.s, a.id) LIMIT 1000000, 1";
        let groups =
            "SELECT COUNT(*) FROM (SELECT a.id, b.id c, MAX(b.s) FROM d.t a, d.t b GROUP BY a.id, b.id) x";
        let windows = "SELECT MAX(n) FROM (SELECT ROW_NUMBER() OVER (ORDER BY CONCAT(a.s, b.s, a.id)) n \
                       FROM d.t a, d.t b) x";
        let refuse = |statement: &str, code: u16, words: &str| {
            let mut client = Client::connect(&server.connect_options().user("u", "u")).unwrap();
            let error = client.query(statement).err();
            let error = error.unwrap_or_else(|| panic!("{flavor}: {statement} was let through"));
            assert_eq!(error.server_code(), Some(code), "{flavor}: {statement}: {error}");
            assert!(shown(&error).contains(words), "{flavor}: {error}");
            let after = client.query("SELECT 1").map(drop).expect_err("the connection is closed");
            assert_eq!(after.server_code(), None, "{flavor}: {after}");
        };
        server.run("SET GLOBAL connection_memory_limit = 2097152");
        let words = "Connection closed. Connection memory limit 2097152 bytes exceeded. Consumed ";
        if flavor == Flavor::Slipstream {
            // MySQL counts with performance_schema, which is off here, and uses files for some of
            // these queries, so these statements run on Slipstream only. The words are MySQL's.
            refuse(windows, 4082, words);
            // Sorts, groups and duplicates go on in files instead.
            let distinct = "SELECT DISTINCT CONCAT(a.id, b.s, b.id) FROM d.t a, d.t b LIMIT 1000000, 1";
            let union = "SELECT CONCAT(a.id, b.s, b.id) FROM d.t a, d.t b UNION SELECT b.id FROM d.t b LIMIT 1000000, 1";
            for statement in [sorts, groups, distinct, union] {
                let mut client = Client::connect(&server.connect_options().user("u", "u")).unwrap();
                client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
            }
            refuse("SELECT @a := REPEAT('x', 10000000)", 4082, words);
            refuse(
                "SELECT CONCAT(LEFT(REPEAT('x', 2000000), 1999999), LEFT(REPEAT('x', 2000000), 1999999))",
                4082,
                words,
            );
            let list = vec!["1"; 100_000].join(",");
            refuse(&format!("SELECT 1 IN ({list})"), 4082, words);
            // What the functions of one row make counts together, and is released before the next
            // row.
            let long = |times: u32| format!("LENGTH(REPEAT(CONCAT(a.s, a.s), {times}))");
            let three = [long(10_000), long(10_001), long(10_002)].join(", ");
            refuse(&format!("SELECT {three} FROM d.t a WHERE LENGTH(a.s) = 50"), 4082, words);
            let mut client = Client::connect(&server.connect_options().user("u", "u")).unwrap();
            client.query(&format!("SELECT SUM({}) FROM d.t a", long(10_000))).expect("one a row");
        }
        // An account that may administer connections has no limit.
        server.run(sorts);
        server.run("SET GLOBAL connection_memory_limit = DEFAULT");
        server.run("SET GLOBAL global_connection_memory_limit = 16777216");
        if flavor == Flavor::Slipstream {
            let mut client = Client::connect(&server.connect_options().user("u", "u")).unwrap();
            client.query(groups).expect("nobody is tracked yet");
            server.run("SET GLOBAL global_connection_memory_tracking = ON");
            let words =
                "Connection closed. Global connection memory limit 16777216 bytes exceeded. Consumed ";
            refuse(windows, 4081, words);
        }
        let mut client = Client::connect(&server.connect_options().user("u", "u")).unwrap();
        let raises = client.query("SET SESSION connection_memory_limit = 100000000").map_err(|e| shown(&e));
        let denied = "ERROR 1227 (42000) Access denied; you need (at least one of) the SUPER, SYSTEM_VARIABLES_ADMIN or \
                      SESSION_VARIABLES_ADMIN privilege(s) for this operation";
        assert_eq!(raises.err().as_deref(), Some(denied), "{flavor}");
        drop(client);
        let watch = os::clock::Stopwatch::start();
        let kept =
            |server: &Server| server.rows("SHOW GLOBAL STATUS LIKE 'Global_connection_memory'").join("");
        while flavor == Flavor::Slipstream && !kept(&server).ends_with("\t0") {
            assert!(watch.elapsed_ms() < 60_000, "{}", kept(&server));
        }
    }
}

/// `connect_timeout` limits the whole handshake, also for a client that keeps sending.
#[test]
fn slow_clients_lose_their_places() {
    use std::io::Write;
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("SET GLOBAL connect_timeout = 2");
    let mut slow = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    // The client sends a login packet of 200 bytes at ten bytes a second.
    let mut sent = 0;
    let mut write = |byte: u8| slow.write_all(&[byte]).is_ok();
    while sent < 200 && write([200, 0, 0, 1].get(sent).copied().unwrap_or(0)) {
        sent += 1;
        os::clock::sleep(std::time::Duration::from_millis(100));
    }
    assert!(sent < 200, "the server waited for all of the handshake");
}

#[test]
fn a_client_that_gets_no_thread_is_told_so() {
    // The stack of each thread counts, so that the limit allows only a few dozen threads.
    let script = testkit::limited::binary(Path::new(env!("CARGO_TARGET_TMPDIR")), 600 << 10);
    let extra = vec!["--max-connections=1000".to_owned()];
    let (pool_bytes, redo_bytes) = (16 << 20, 16 << 20);
    let settings =
        Settings { slipstream: Some(script), extra, pool_bytes, redo_bytes, ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    let mut clients = Vec::new();
    let refused = loop {
        match server.try_connect() {
            Ok(client) => clients.push(client),
            Err(error) => break error,
        }
        assert!(clients.len() < 1000, "the system gives any number of threads");
    };
    assert!(clients.len() > 1, "nobody gets in");
    let told = shown(&refused);
    assert!(told.starts_with("ERROR 1135 (HY000) Can't create a new thread (errno 11)"), "{told}");
    // Connected clients are still served, and another client gets in when one of them has gone.
    clients.pop();
    clients[0].query("SELECT 1").expect("a client that is connected");
    let again = (0..100).any(|_| {
        os::clock::sleep(Duration::from_millis(100));
        server.try_connect().is_ok()
    });
    assert!(again, "a place that is free again is given to nobody");
}
