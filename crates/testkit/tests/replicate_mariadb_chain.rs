//! Tests of a replica of a Slipstream replica of MariaDB: it reads the statements that the first
//! server logged as MariaDB's, so that it has the same definitions and rows, and stops nowhere.

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use testkit::following::{By, Pair};
use testkit::server::{Replica, Server};

/// Statements that MySQL reads in another way, or not at all.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE OR REPLACE TABLE t (a INT, u UUID DEFAULT '123e4567-e89b-12d3-a456-426655440000', i INET6 DEFAULT '::1')",
    "INSERT INTO t (a) VALUES (1), (2) RETURNING a",
    "ALTER TABLE t ADD COLUMN IF NOT EXISTS c TEXT DEFAULT 'abc', ADD KEY IF NOT EXISTS k (c(3))",
    "CREATE TABLE g (p POINT NOT NULL, d DECIMAL(38,38), UNIQUE (p(5)))",
    "INSERT INTO g VALUES (POINT(1, 2), 0.12345678901234567890123456789012345678)",
    "INSERT IGNORE INTO g VALUES (POINT(1, 2), 0)",
    "CREATE SEQUENCE s START WITH 5",
    "CREATE TABLE v (a INT) WITH SYSTEM VERSIONING",
    "CREATE TABLE j (a JSON, b DATETIME(1))",
    // MariaDB cuts fractions, and MySQL rounds them.
    "INSERT INTO j VALUES ('[1,  2]', '2020-01-01 00:00:00.19')",
    // MariaDB's bit of EMPTY_STRING_IS_NULL is MySQL's of cut fractions.
    "CREATE TABLE n (a VARCHAR(9) DEFAULT '', b INT DEFAULT 1)",
    "SET sql_mode = 'ORACLE'",
    "CREATE TABLE o (a NUMBER, b VARCHAR2(10), c CLOB, d RAW(5), e DATE)",
    "INSERT INTO o VALUES (2.5, 'b' || 'c', 'clob', 'raw', '2020-01-02 03:04:05')",
    "CREATE PROCEDURE p (a IN NUMBER) AS BEGIN INSERT INTO o (a) VALUES (a); END",
    "SET sql_mode = DEFAULT",
    "CREATE VIEW w AS SELECT a || 1 AS x FROM t",
    "DROP TABLE IF EXISTS nothing WAIT 3",
];

const QUESTIONS: &[&str] = &[
    "SHOW TABLES",
    "SHOW CREATE TABLE t",
    "SHOW CREATE TABLE g",
    "SHOW CREATE TABLE s",
    "SHOW CREATE TABLE v",
    "SHOW CREATE TABLE j",
    "SHOW CREATE TABLE n",
    "SHOW CREATE TABLE o",
    "SHOW CREATE PROCEDURE p",
    "SHOW CREATE VIEW w",
    "SELECT ST_AsText(p), d FROM g",
];

fn answers(server: &Server) -> Vec<Vec<String>> {
    let mut session = server.connect();
    session.query("USE d").expect("is there");
    let mut texts = |sql: &str| -> Vec<String> {
        let rows = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
        let cells = rows.into_iter().flatten().map(Option::unwrap_or_default);
        cells.map(|cell| String::from_utf8_lossy(&cell).into_owned()).collect()
    };
    QUESTIONS.iter().map(|sql| texts(sql)).collect()
}

fn follows(format: &str) {
    if !testkit::available("replicate_mariadb_chain", &[Flavor::MariaDb]) {
        return;
    }
    let Pair { source, replica: first, proxy: _proxy, .. } =
        Pair::start_with(Flavor::MariaDb, Flavor::Slipstream, &Settings::default(), By::Gtid);
    let second = Replica::start(Flavor::Slipstream, &Settings { server_id: 3, ..Settings::default() });
    second.follow(Flavor::Slipstream, first.port(), &StartFrom::Gtid);
    let mut session = source.connect();
    session.query(&format!("SET binlog_format = {format}")).expect("is set");
    for sql in STATEMENTS {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    first.catch_up(&source);
    second.catch_up(&first);
    assert_eq!(answers(&second), answers(&first));
    for sql in ["SELECT * FROM d.o", "SELECT * FROM d.j", "SELECT a, u, i, c FROM d.t ORDER BY a"] {
        assert_eq!(second.rows(sql), source.rows(sql), "{sql}");
    }
}

#[test]
fn a_log_of_rows() {
    follows("ROW");
}

#[test]
fn a_log_of_statements() {
    follows("STATEMENT");
}
