//! What clients see of definitions beside MySQL: the counts and the words of the OK packets, and
//! the order of indexes.

use bench::instance::{Flavor, Settings};
use protocol::command;
use testkit::{Server, available};

/// Each is sent to both servers, and both must answer with the same count of rows, warnings and
/// words.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE DATABASE IF NOT EXISTS d",
    "ALTER DATABASE d CHARACTER SET latin1",
    "ALTER DATABASE d CHARACTER SET utf8mb4",
    "CREATE TABLE d.a (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.b LIKE d.a",
    "INSERT INTO d.a VALUES (1, 1), (2, 2)",
    "ALTER TABLE d.a ADD c INT",
    "ALTER TABLE d.a ADD KEY (v)",
    "ALTER TABLE d.a MODIFY v BIGINT",
    "ALTER TABLE d.a ALGORITHM=COPY, ADD e INT",
    "ALTER TABLE d.a DROP COLUMN c",
    "ALTER TABLE d.a COMMENT 'words'",
    "CREATE INDEX x ON d.a (e)",
    "DROP INDEX x ON d.a",
    "RENAME TABLE d.a TO d.c",
    "CREATE TABLE d.e AS SELECT 1 AS x UNION SELECT 2",
    "CREATE TABLE d.f (j JSON, t TEXT, b BLOB NOT NULL, u INT, n INT NOT NULL, KEY k (u, n), UNIQUE KEY uu (u), UNIQUE KEY nn (n))",
    "TRUNCATE d.c",
    "DROP TABLE d.b",
];

/// These must show the same rows.
const SHOWN: &[&str] = &["SHOW CREATE TABLE d.f", "SHOW INDEX FROM d.f", "SHOW CREATE TABLE d.c"];

fn answers(flavor: Flavor) -> Vec<String> {
    let server = Server::start(flavor, &Settings::default());
    let mut client = server.connect();
    let mut run = |text: &str| {
        let ok = client
            .command(command::QUERY, text.as_bytes())
            .unwrap_or_else(|e| panic!("{flavor}: {text}: {e}"));
        format!("{text}: {} rows, {} warnings, '{}'", ok.affected_rows, ok.warnings, ok.info)
    };
    let mut told: Vec<String> = STATEMENTS.iter().map(|text| run(text)).collect();
    for text in SHOWN {
        told.extend(server.rows(text).into_iter().map(|row| format!("{text}: {row}")));
    }
    told.push(run("DROP DATABASE d"));
    told
}

#[test]
fn definitions_are_answered_as_mysql_answers_them() {
    if available("definitions_are_answered_as_mysql_answers_them", &[Flavor::MySql]) {
        assert_eq!(answers(Flavor::Slipstream), answers(Flavor::MySql));
    }
}
