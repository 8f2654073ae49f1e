//! What one client may take: time, memory, prepared statements. The real MySQL is asked the same, and has to answer the same.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError};
use testkit::Server;

/// What a statement came to: its rows or its error, and the warnings after it.
fn answer(client: &mut Client, statement: &str) -> String {
    let answered = match client.query(statement) {
        Ok(result) => (0..result.rows.len())
            .map(|row| {
                let cells = (0..result.columns.len()).map(|at| result.cell(row, at).unwrap_or("NULL".into()));
                cells.collect::<Vec<_>>().join("\t")
            })
            .collect::<Vec<_>>()
            .join("\n"),
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

/// Runs the statements on Slipstream and, where it is there, on MySQL; the answers are the same, and are returned.
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

/// A table of 1024 rows: three of it joined are a thousand million.
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

/// A row lock that is waited for is a wait like any other.
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

/// Each of them would run for hours.
#[test]
fn kill_query_reaches_every_loop() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    MANY_ROWS.iter().for_each(|statement| drop(server.run(statement)));
    server.run("CREATE TABLE d.u (id INT PRIMARY KEY AUTO_INCREMENT, v INT)");
    let mut killer = server.connect();
    for statement in [
        "SELECT SUM(a.v * b.v + c.v) FROM d.t a, d.t b, d.t c, d.t d",
        "SELECT COUNT(*) FROM d.t a, d.t b, d.t c, d.t d WHERE CONCAT(a.s, d.s) LIKE '%y%q%'",
        "SELECT a.id, COUNT(DISTINCT b.v) FROM d.t a, d.t b, d.t c, d.t d GROUP BY a.id",
        "SELECT DISTINCT a.v FROM d.t a, d.t b, d.t c, d.t d",
        "SELECT 1 UNION SELECT a.v - a.v FROM d.t a, d.t b, d.t c, d.t d WHERE d.v < 0",
        "SELECT (SELECT MAX(a.v + b.v) FROM d.t a, d.t b, d.t c, d.t d)",
        "SELECT REPEAT('a', 30000000) LIKE CONCAT('%', REPEAT('a', 15000000), 'b')",
        "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, \
         information_schema.columns c, information_schema.columns d",
        "UPDATE d.t SET v = (SELECT MAX(a.id) FROM d.u a, d.u b) + (SELECT SUM(a.v) FROM (SELECT b.v FROM d.t b, \
         d.t c, d.t d, d.t e WHERE e.v < 0) a)",
        "DELETE FROM d.t WHERE id IN (SELECT a.id FROM d.t b, d.t a, d.t c, d.t d WHERE d.v < 0)",
        "INSERT INTO d.u (v) SELECT a.v FROM d.t a, d.t b, d.t c, d.t d WHERE d.v < 0",
        "SELECT WAIT_FOR_EXECUTED_GTID_SET('22222222-2222-3333-4444-555555555555:1-1000000')",
    ] {
        let mut victim = server.connect();
        let id = victim.connection_id();
        let run = os::thread::spawn("victim", move || victim.query(statement).map(|_| victim));
        // Until it runs: KILL QUERY is the affair of the statement that runs then.
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
