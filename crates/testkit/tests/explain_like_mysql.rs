//! Tests of EXPLAIN ANALYZE, EXPLAIN FOR CONNECTION, EXPLAIN ... INTO and FOR SCHEMA beside a real
//! MySQL: what they refuse, and what they leave as it was. Plans and times are of each server's
//! own, so of these only what has to be the same is compared.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use std::thread;
use testkit::answers::{answer, same_answers};
use testkit::server::{Server, same_as_mysql};

const TABLES: &[&str] = &[
    "CREATE DATABASE e",
    "USE e",
    "CREATE TABLE t1 (a INT PRIMARY KEY, b INT, c INT, KEY b (b))",
    "CREATE TABLE t2 (a INT PRIMARY KEY, b INT)",
    "INSERT INTO t1 VALUES (1,1,1),(2,2,2),(3,3,3),(4,4,4),(5,5,5)",
    "INSERT INTO t2 VALUES (1,1),(2,2)",
];

const REFUSED: &[&str] = &[
    "EXPLAIN ANALYZE t1",
    "EXPLAIN FORMAT=TREE e.t1",
    "EXPLAIN PARTITIONS SELECT 1",
    "EXPLAIN EXTENDED SELECT 1",
    "EXPLAIN INTO @v e.t1",
    "EXPLAIN FORMAT=JSON INTO @v e.t1",
    "EXPLAIN FOR SCHEMA e t1",
    "EXPLAIN ANALYZE FORMAT=TRADITIONAL SELECT 1",
    "EXPLAIN ANALYZE FORMAT=TRADITIONAL INTO @v SELECT 1",
    "EXPLAIN ANALYZE INTO @v FORMAT=JSON SELECT 1",
    "EXPLAIN FORMAT=TREE INTO @v SELECT 1",
    "EXPLAIN FORMAT=JSON INTO v SELECT 1",
    "EXPLAIN FORMAT=JSON INTO @v FOR CONNECTION 1",
    "EXPLAIN INTO @v FOR CONNECTION 1",
    "EXPLAIN FORMAT=foo INTO @v FOR CONNECTION 1",
    "EXPLAIN ANALYZE FOR CONNECTION 1",
    "EXPLAIN ANALYZE FORMAT=TRADITIONAL FOR CONNECTION 1",
    "EXPLAIN FOR CONNECTION 4294967290",
    "EXPLAIN FOR CONNECTION -1",
    "EXPLAIN ANALYZE LOAD DATA INFILE 'x' INTO TABLE t1",
    "EXPLAIN ANALYZE SELECT nope FROM t1",
    "EXPLAIN ANALYZE SELECT (SELECT a FROM t1)",
    "EXPLAIN FORMAT=JSON FOR SCHEMA nope SELECT 1",
    "EXPLAIN FORMAT=JSON FOR SCHEMA e INTO @v SELECT 1",
    "PREPARE s FROM 'EXPLAIN FORMAT=TREE INTO @v SELECT 1'",
    "SET explain_json_format_version = 1",
    "EXPLAIN ANALYZE FORMAT=JSON SELECT 1",
    "SET explain_format = JSON",
    "EXPLAIN ANALYZE SELECT 1",
];

/// Statements whose first rows do not depend on which plan a server chooses.
const FILLED: &[&str] = &[
    "SET explain_format = TRADITIONAL",
    "EXPLAIN INSERT INTO t2 SELECT 1, 2",
    "EXPLAIN REPLACE INTO t2 SELECT 1, 2 ORDER BY 1",
    "EXPLAIN INSERT INTO t2 VALUES (1, 2)",
    "EXPLAIN INSERT INTO t2 VALUES ROW(1, 2)",
    "EXPLAIN INSERT INTO t2 SELECT MAX(a), 1 FROM t1",
    "EXPLAIN INSERT INTO t2 SELECT 1, 2 FROM DUAL WHERE 0",
    "EXPLAIN INSERT INTO t2 SELECT 1, 2 FROM DUAL HAVING 0",
    "EXPLAIN INSERT INTO t2 SELECT a, b FROM t1 WHERE 0",
    "EXPLAIN INSERT INTO t2 SELECT a, b FROM t1 WHERE NULL",
    "EXPLAIN INSERT INTO t2 SELECT a, b FROM t1 HAVING 0",
    "EXPLAIN INSERT INTO t2 SELECT a, b FROM t1 LIMIT 0",
    "EXPLAIN INSERT INTO t2 SELECT 1, 2 LIMIT 0",
    "EXPLAIN INSERT INTO t2 SELECT 1, 2 UNION SELECT 3, 4",
    "EXPLAIN INSERT INTO t2 SELECT (SELECT MAX(a) FROM t1), 2",
    "EXPLAIN INSERT INTO t2 (a) SELECT SUM(1) FROM t1 WHERE 0",
    "EXPLAIN INSERT INTO t2 SELECT c, b FROM t1",
    "EXPLAIN SELECT 1",
    "EXPLAIN SELECT 1 WHERE 0",
    "EXPLAIN SELECT * FROM t1 WHERE 0",
    "EXPLAIN SELECT * FROM t1 LIMIT 0",
    "EXPLAIN SELECT * FROM t1 HAVING 0",
    "EXPLAIN SELECT COUNT(*) FROM t1 WHERE 0",
];

#[test]
fn what_is_filled_and_what_is_never_read_is_told() {
    same_as_mysql("explain_filled", &Settings::default(), |server| {
        let mut client = server.connect();
        // The warnings of MySQL have the statement as its optimizer has changed it.
        TABLES.iter().chain(FILLED).map(|statement| answer(&mut client, statement)).collect()
    });
}

/// What EXPLAIN ANALYZE runs and does not store, and what EXPLAIN puts into a variable.
const KEPT: &[&str] = &[
    "SET @a = 5",
    "EXPLAIN ANALYZE FORMAT=JSON INTO @v SELECT a FROM t1 WHERE c > 2 INTO @a",
    "SELECT @a, JSON_EXTRACT(@v, '$.query_plan.actual_rows', '$.query_plan.actual_loops', '$.query_type')",
    "EXPLAIN ANALYZE FORMAT=JSON INTO @v UPDATE t1 JOIN t2 ON t1.a = t2.a SET t1.c = 9, t2.b = 9",
    "SELECT JSON_EXTRACT(@v, '$.query_plan.inputs[0].actual_rows', '$.query_type')",
    "EXPLAIN ANALYZE FORMAT=JSON INTO @v DELETE t1 FROM t1 JOIN t2 ON t1.a = t2.a",
    "SELECT JSON_EXTRACT(@v, '$.query_plan.inputs[0].actual_rows', '$.query_type')",
    "EXPLAIN ANALYZE FORMAT=JSON INTO @v INSERT INTO t2 SELECT a + 100, b FROM t1",
    "EXPLAIN ANALYZE FORMAT=JSON INTO @v UPDATE t1 SET c = 9",
    "SELECT JSON_EXTRACT(@v, '$.query_plan.operation', '$.query_type')",
    "EXPLAIN ANALYZE FORMAT=JSON INTO @v DELETE FROM t1",
    "SELECT a, b, c FROM t1 ORDER BY a",
    "SELECT a, b FROM t2 ORDER BY a",
    "EXPLAIN FORMAT=JSON INTO @v FOR SCHEMA e SELECT a FROM t1",
    "SELECT JSON_EXTRACT(@v, '$.query_plan.actual_rows', '$.query_type')",
    "USE mysql",
    "EXPLAIN FORMAT=JSON INTO @v FOR SCHEMA e SELECT a FROM t1",
    "EXPLAIN FORMAT=JSON INTO @v SELECT a FROM t1",
    "SELECT DATABASE()",
    "PREPARE s FROM 'EXPLAIN ANALYZE FORMAT=JSON INTO @v SELECT a FROM e.t1 WHERE c > ?'",
    "SET @p = 3",
    "EXECUTE s USING @p",
    "SELECT JSON_EXTRACT(@v, '$.query_plan.actual_rows')",
];

#[test]
fn what_explain_refuses_is_refused_as_in_mysql() {
    let answers = same_answers("explain_refused", &[TABLES, REFUSED].concat());
    assert!(answers[TABLES.len()].contains("1064"), "{}", answers[TABLES.len()]);
}

#[test]
fn a_statement_that_is_analyzed_runs_and_changes_nothing() {
    let answers = same_answers("explain_analyzed", &[TABLES, KEPT].concat());
    assert!(answers.last().is_some_and(|last| last.contains("2.0")), "{answers:?}");
}

/// Waits until a connection sleeps in a statement that begins like this, and returns its number. A
/// statement that is listed without that State may not have its plan yet.
fn running(client: &mut Client, beginning: &str) -> String {
    let query = format!(
        "SELECT id FROM information_schema.processlist WHERE info LIKE '{beginning}%' AND state = 'User sleep'"
    );
    loop {
        let found = client.query(&query).expect("the list of connections");
        if let Some(id) = found.rows.first().and_then(|row| row[0].clone()) {
            return String::from_utf8_lossy(&id).into_owned();
        }
        thread::yield_now();
    }
}

/// Returns what an account is answered to EXPLAIN FOR CONNECTION, without the plan and the number.
fn explained(client: &mut Client, id: &str) -> String {
    match client.query(&format!("EXPLAIN FORMAT=TRADITIONAL FOR CONNECTION {id}")) {
        Ok(result) => {
            let shown = |cell: &Option<Vec<u8>>| {
                cell.as_ref().map_or_else(String::new, |cell| String::from_utf8_lossy(cell).into_owned())
            };
            result.rows.iter().map(|row| format!("{} {};", shown(&row[1]), shown(&row[2]))).collect()
        }
        Err(ClientError::Server(e)) => format!("{} {}", e.code, e.message),
        Err(e) => panic!("{e}"),
    }
}

/// Statements that run until they are killed, and how each begins.
const LONG: &[&str] = &[
    "SELECT SLEEP(1000), b FROM e.t1 WHERE b > 2",
    "UPDATE e.t1 SET c = c + SLEEP(1000) WHERE a = 1",
    "INSERT INTO e.t2 SELECT a + 100, SLEEP(1000) FROM e.t1",
    "EXPLAIN ANALYZE SELECT SLEEP(1000) FROM e.t1",
    "DO SLEEP(1000)",
];

fn of_connections(server: &Server) -> Vec<String> {
    let mut client = server.connect();
    for statement in TABLES {
        client.query(statement).expect("the tables are made");
    }
    client.query("CREATE USER other IDENTIFIED BY 'x'").expect("the account is made");
    client.query("GRANT SELECT ON e.* TO other").expect("the account gets rights");
    let options = server.connect_options().user("other", "x");
    let mut other = Client::connect(&options).expect("the account is let in");
    let mut answers = Vec::new();
    for statement in LONG {
        let mut runner = server.connect();
        thread::scope(|scope| {
            let runs = scope.spawn(move || answer(&mut runner, statement));
            let beginning = statement.split('(').next().unwrap_or_default();
            let id = running(&mut client, beginning);
            answers.push(format!("{statement}: {}", explained(&mut client, &id)));
            answers.push(format!("{statement}, as another: {}", explained(&mut other, &id)));
            client.query(&format!("KILL QUERY {id}")).expect("the statement is killed");
            runs.join().expect("the runner ends");
        });
    }
    answers
}

#[test]
fn what_runs_in_another_connection_is_explained() {
    let answers = same_as_mysql("explain_for_connection", &Settings::default(), of_connections);
    assert!(answers[0].contains("SIMPLE t1"), "{answers:?}");
}
