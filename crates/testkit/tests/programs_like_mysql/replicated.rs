//! Tests of programs at both ends of replication: what a program changes on the source is changed
//! on its replica, whether the log has rows or statements.

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use testkit::{Replica, Server};

/// The tables, and the programs that change them.
const PROGRAMS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, s VARCHAR(30))",
    "CREATE TABLE d.log (n INT PRIMARY KEY, what VARCHAR(60))",
    "CREATE TRIGGER d.bi BEFORE INSERT ON d.t FOR EACH ROW SET NEW.a = NEW.a + 1",
    "CREATE TRIGGER d.ai AFTER INSERT ON d.t FOR EACH ROW INSERT INTO d.log VALUES (NEW.id * 10, CONCAT('ins ', NEW.s))",
    "CREATE TRIGGER d.au AFTER UPDATE ON d.t FOR EACH ROW \
     INSERT INTO d.log VALUES (NEW.id * 10 + 1, CONCAT(OLD.a, '->', NEW.a)) ON DUPLICATE KEY UPDATE what = 'again'",
    "CREATE TRIGGER d.bd BEFORE DELETE ON d.t FOR EACH ROW DELETE FROM d.log WHERE n = OLD.id * 10",
    "CREATE FUNCTION d.f(x INT) RETURNS INT DETERMINISTIC MODIFIES SQL DATA \
     BEGIN INSERT INTO d.log VALUES (x, 'by f'); RETURN x + 1; END",
    "CREATE FUNCTION d.g(x INT) RETURNS INT DETERMINISTIC RETURN x * 3",
    "CREATE PROCEDURE d.p(IN k INT, IN word VARCHAR(20), OUT total INT) BEGIN \
     DECLARE i INT DEFAULT 0; \
     WHILE i < 3 DO INSERT INTO d.t VALUES (k + i, i, CONCAT(word, '''s ', i)); SET i = i + 1; END WHILE; \
     UPDATE d.t SET a = a + k WHERE id >= k; \
     SELECT COUNT(*) INTO total FROM d.t; END",
    "CREATE PROCEDURE d.fails(k INT) BEGIN \
     DECLARE EXIT HANDLER FOR SQLEXCEPTION ROLLBACK; \
     START TRANSACTION; INSERT INTO d.t VALUES (k, 1, 'lost'); INSERT INTO d.t VALUES (k, 2, 'lost'); COMMIT; END",
];

/// The statements that run the programs.
const STATEMENTS: &[&str] = &[
    "USE d",
    "INSERT INTO t VALUES (1, 1, 'one'), (2, 2, 'two')",
    "UPDATE t SET a = a * 2",
    "CALL p(100, 'word', @total)",
    "CALL fails(300)",
    "INSERT INTO t VALUES (5, g(5), 'five')",
    "UPDATE t SET a = g(a) WHERE id = 5",
    "DELETE FROM t WHERE id = 2",
    "SELECT f(7777)",
    "DO f(8888)",
    "SET @x = f(9999)",
    "INSERT INTO t VALUES (6, f(6666), 'six')",
    "BEGIN",
    "CALL p(200, 'in a transaction', @total)",
    "DELETE FROM t WHERE id = 201",
    "COMMIT",
    "REPLACE INTO t VALUES (1, 50, 'replaced')",
];

fn behind(source: Flavor, replica: Flavor, format: &str) {
    if !testkit::available("programs_replicated", &[source, replica]) {
        return;
    }
    let settings = |server_id| Settings {
        server_id,
        extra: vec!["--log-bin-trust-function-creators=1".into()],
        ..Settings::default()
    };
    let from = Server::start(source, &settings(1));
    let to = Replica::start(replica, &settings(2));
    to.follow(source, from.port(), &StartFrom::Gtid);
    PROGRAMS.iter().for_each(|sql| drop(from.run(sql)));
    let mut session = from.connect();
    let set = format!("SET SESSION binlog_format = {format}");
    for sql in [&[&set[..]], STATEMENTS].concat() {
        session.query_all(sql).unwrap_or_else(|error| panic!("{source}: {sql}: {error}"));
    }
    to.catch_up(&from);
    for sql in ["SELECT * FROM d.t ORDER BY id", "SELECT * FROM d.log ORDER BY n"] {
        assert!(from.run(sql).rows.len() > 5, "{sql} has rows to compare");
        to.equals_by(&from, sql);
    }
}

#[test]
fn rows_of_slipstream_at_mysql() {
    behind(Flavor::Slipstream, Flavor::MySql, "ROW");
}

#[test]
fn mixed_of_slipstream_at_mysql() {
    behind(Flavor::Slipstream, Flavor::MySql, "MIXED");
}

#[test]
fn statements_of_slipstream_at_mysql() {
    behind(Flavor::Slipstream, Flavor::MySql, "STATEMENT");
}

#[test]
fn rows_of_mysql_at_slipstream() {
    behind(Flavor::MySql, Flavor::Slipstream, "ROW");
}

#[test]
fn mixed_of_mysql_at_slipstream() {
    behind(Flavor::MySql, Flavor::Slipstream, "MIXED");
}

#[test]
fn statements_of_mysql_at_slipstream() {
    behind(Flavor::MySql, Flavor::Slipstream, "STATEMENT");
}
