//! Tests of a MariaDB source's unique keys WITHOUT OVERLAPS: a statement with IGNORE, or one that
//! fails half way, leaves out the same rows at the replica as at the source.

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use protocol::client::ClientError;
use testkit::{Replica, Server};

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE p (id INT, room INT, s DATE, e DATE, PERIOD FOR pp(s, e), UNIQUE (room, pp WITHOUT OVERLAPS))",
    "CREATE TABLE q (id INT, s DATETIME, e DATETIME, note VARCHAR(9), PERIOD FOR pp(s, e), \
     PRIMARY KEY (id, pp WITHOUT OVERLAPS))",
    "CREATE TABLE o (id INT, s DATE, e DATE, PERIOD FOR pp(s, e))",
    "CREATE TABLE n (id INT, s DATE, e DATE, note INT, PERIOD FOR pp(s, e), \
     PRIMARY KEY (id, pp WITHOUT OVERLAPS)) ENGINE=MyISAM",
    "INSERT INTO p VALUES (1, 1, '2020-01-01', '2020-02-01'), (2, 1, '2020-02-01', '2020-03-01'), \
     (3, 2, '2020-01-01', '2020-06-01'), (4, NULL, '2020-01-01', '2020-06-01'), (5, NULL, '2020-01-01', '2020-06-01')",
    "INSERT IGNORE INTO p VALUES (6, 1, '2020-01-15', '2020-01-16'), (7, 1, '2020-03-01', '2020-03-02'), \
     (8, 1, '2019-12-01', '2021-01-01'), (9, 1, '2019-12-01', '2020-01-01')",
    "UPDATE IGNORE p SET room = 1",
    "UPDATE IGNORE p SET e = e + INTERVAL 1 DAY ORDER BY id",
    "UPDATE IGNORE p SET s = s + INTERVAL 1 DAY, room = 2 WHERE id = 2",
    "INSERT INTO q VALUES (1, '2020-01-01', '2020-01-02', 'a'), (1, '2020-01-02', '2020-01-03', 'b')",
    "INSERT IGNORE INTO q VALUES (1, '2020-01-01 12:00:00', '2020-01-01 13:00:00', 'c'), \
     (2, '2020-01-01', '2021-01-02', 'd')",
    "UPDATE IGNORE q SET id = 1 WHERE note = 'd'",
    "UPDATE IGNORE q SET id = 2 WHERE note = 'a'",
    "UPDATE q SET note = 'x'",
    // A period that ends before it begins is refused, so IGNORE leaves these rows out.
    "INSERT IGNORE INTO o VALUES (1, '2020-01-01', NULL), (2, '2020-02-01', '2020-01-01'), \
     (3, '2020-01-01', '2020-01-01'), (4, '2020-01-01', '2020-01-02')",
    "UPDATE IGNORE o SET s = '2021-01-01'",
    // The third row fails, and MyISAM keeps the first two.
    "INSERT INTO n VALUES (1, '2020-01-01', '2020-02-01', 1), (1, '2020-02-01', '2020-03-01', 2), \
     (1, '2020-02-15', '2020-02-16', 3), (2, '2020-02-15', '2020-02-16', 4)",
];

fn behind(format: &str) {
    if !testkit::available(&format!("replicate_mariadb_periods::{format}"), &[Flavor::MariaDb]) {
        return;
    }
    let mut settings = Settings::default();
    settings.extra.push(format!("--binlog-format={format}"));
    let source = Server::start(Flavor::MariaDb, &settings);
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    replica.follow(Flavor::MariaDb, source.port(), &StartFrom::Gtid);
    let mut session = source.connect();
    let mut refused = 0;
    for sql in STATEMENTS {
        match session.query(sql) {
            Ok(_) => {}
            Err(ClientError::Server(_)) => refused += 1,
            Err(error) => panic!("{sql}: {error}"),
        }
    }
    assert_eq!(refused, 1, "one statement fails");
    replica.catch_up(&source);
    for (table, rows) in [("p", 7), ("q", 3), ("n", 2), ("o", 1)] {
        replica.equals_by(&source, &format!("SELECT * FROM d.{table} ORDER BY id, s, e"));
        assert_eq!(source.rows(&format!("SELECT * FROM d.{table}")).len(), rows, "{table}");
    }
}

#[test]
fn statements_leave_out_rows_whose_periods_overlap() {
    behind("STATEMENT");
}

#[test]
fn mixed_statements_leave_out_rows_whose_periods_overlap() {
    behind("MIXED");
}
