//! Tests of replicas whose sources undo work in part: tables of engines without transactions keep
//! there what a statement had done when it failed, and what a transaction had done that is rolled
//! back. The replica ends with the same rows, and so does a replica behind it.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ClientError};
use testkit::server::SOON;
use testkit::{Replica, Server};

const TABLES: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE m (a INT PRIMARY KEY, b INT, UNIQUE (b)) ENGINE=MyISAM",
    "CREATE TABLE m2 (b TINYINT NOT NULL) ENGINE=MEMORY",
    "CREATE TABLE i (a INT PRIMARY KEY, b INT) ENGINE=InnoDB",
];

/// Statements of which some fail half way: of a key that is there already, or of a value that
/// strict mode refuses.
const FAILING: &[&str] = &[
    "SET sql_mode = 'STRICT_TRANS_TABLES'",
    "INSERT INTO m VALUES (1, 1), (2, 2), (1, 3), (4, 4)",
    "INSERT INTO m SELECT 10, 10 UNION ALL SELECT 11, 11 UNION ALL SELECT 10, 12",
    "INSERT INTO m VALUES (20, 20), (21, 99999999999)",
    "INSERT INTO m2 VALUES (1), (120), (3)",
    "UPDATE m2 SET b = b + 10 ORDER BY b",
    "INSERT INTO m2 VALUES (5), (NULL), (1000)",
    "SET sql_mode = 'STRICT_ALL_TABLES'",
    "INSERT INTO m2 VALUES (6), (NULL), (7)",
    "REPLACE INTO m VALUES (3, 4), (9, 9), (10, 999999999999)",
    "INSERT IGNORE INTO m VALUES (3, 4), (9, 9), (30, 999999999999)",
    "UPDATE m SET b = 7 WHERE a > 3 ORDER BY a DESC",
    "CREATE TEMPORARY TABLE t (a INT PRIMARY KEY) ENGINE=MyISAM",
    "INSERT INTO t VALUES (1), (2), (1)",
    "INSERT INTO m SELECT a + 50, a + 50 FROM t",
    "INSERT INTO i VALUES (1, 1), (2, 2), (1, 3)",
];

/// Transactions of both kinds of tables that are rolled back as a whole or in part. MySQL refuses
/// most of the changes where GTIDs are on.
const ROLLED_BACK: &[&str] = &[
    "BEGIN",
    "INSERT INTO i VALUES (101, 1)",
    "INSERT INTO m VALUES (101, 101)",
    "INSERT INTO m SELECT a + 100, a + 100 FROM i WHERE a > 50",
    "INSERT INTO i SELECT a + 500, b FROM m",
    "ROLLBACK",
    "BEGIN",
    "INSERT INTO i VALUES (102, 1)",
    "UPDATE i, m SET i.b = i.b + 1, m.b = 61 WHERE i.a = 102",
    "UPDATE m, i SET i.b = i.b + 1, m.b = m.b + 1000 WHERE i.a = 102",
    "INSERT INTO m VALUES (103, 103), (103, 104)",
    "COMMIT",
    "BEGIN",
    "INSERT INTO i VALUES (110, 1)",
    "SAVEPOINT `a b`",
    "INSERT INTO i VALUES (111, 1)",
    "INSERT INTO m SELECT a + 200, a + 200 FROM i",
    "SAVEPOINT later",
    "DELETE m FROM m JOIN i ON i.a = 110 WHERE m.a < 10",
    "UPDATE m SET a = a + 1000 WHERE a > 300 ORDER BY a DESC",
    "ROLLBACK TO SAVEPOINT `a b`",
    "INSERT INTO i VALUES (112, 1)",
    "COMMIT",
    "BEGIN",
    "DELETE FROM i",
    "DELETE FROM m WHERE a IN (SELECT a FROM i) OR a = 101",
    "ROLLBACK",
    "INSERT INTO i VALUES (120, 1)",
];

const COMPARED: [&str; 3] =
    ["SELECT * FROM d.m ORDER BY a", "SELECT * FROM d.m2 ORDER BY b", "SELECT * FROM d.i ORDER BY a"];

/// Runs the statements, of which the source may refuse some. Returns the number of those.
fn run_all(session: &mut Client, statements: &[&str]) -> usize {
    let refused = |sql: &&&str| match session.query(sql) {
        Ok(_) => false,
        Err(ClientError::Server(_)) => true,
        Err(error) => panic!("{sql}: {error}"),
    };
    statements.iter().filter(refused).count()
}

fn behind(flavor: Flavor, format: &str, workers: u32, name: &str) {
    if !testkit::available(name, &[flavor]) {
        return;
    }
    let settings = |server_id| Settings { server_id, replica_workers: workers, ..Settings::default() };
    let mut of_source = settings(1);
    of_source.extra.push(format!("--binlog-format={format}"));
    let source = Server::start(flavor, &of_source);
    let mut replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    let last = Replica::start(Flavor::Slipstream, &settings(3));
    last.follow(Flavor::Slipstream, replica.port(), &StartFrom::Gtid);
    let mut session = source.connect();
    assert_eq!(run_all(&mut session, TABLES), 0, "the tables are made");
    assert_eq!(run_all(&mut session, FAILING), 8, "so many statements fail");
    run_all(&mut session, ROLLED_BACK);
    replica.catch_up(&source);
    COMPARED.iter().for_each(|sql| replica.equals_by(&source, sql));
    last.catch_up(&replica);
    COMPARED.iter().for_each(|sql| last.equals_by(&source, sql));
    replica.kill();
    replica.come_back();
    COMPARED.iter().for_each(|sql| replica.equals_by(&source, sql));
}

#[test]
fn mysql_keeps_what_failed_statements_had_done() {
    behind(Flavor::MySql, "STATEMENT", 0, "mysql_keeps_what_failed_statements_had_done");
}

#[test]
fn mariadb_keeps_what_failed_and_rolled_back_statements_had_done() {
    let name = "mariadb_keeps_what_failed_and_rolled_back_statements_had_done";
    behind(Flavor::MariaDb, "STATEMENT", 0, name);
}

#[test]
fn mariadb_keeps_it_where_the_format_is_mixed_and_workers_apply() {
    let name = "mariadb_keeps_it_where_the_format_is_mixed_and_workers_apply";
    behind(Flavor::MariaDb, "MIXED", 4, name);
}

/// Starts a source of statements and its replica, with the tables on both.
fn pair(replica: Flavor) -> (Server, Replica) {
    let mut settings = Settings::default();
    settings.extra.push("--binlog-format=STATEMENT".to_string());
    let source = Server::start(Flavor::MySql, &settings);
    let replica = Replica::start(replica, &Settings { server_id: 2, ..Settings::default() });
    replica.follow(Flavor::MySql, source.port(), &StartFrom::Gtid);
    run_all(&mut source.connect(), TABLES);
    replica.catch_up(&source);
    (source, replica)
}

/// Returns the errors with which replicas of this flavor stop at a statement that does not fail
/// there, that fails there with another error, and that was killed at the source.
fn stops(flavor: Flavor) -> Vec<(u32, String)> {
    let status_of = |replica: &Replica| {
        let status = replica.wait_until("stopped", |status| status.sql_errno != 0);
        // MySQL has the error itself behind the transaction's name and place.
        let words = replica
            .rows("SELECT last_error_message FROM performance_schema.replication_applier_status_by_worker");
        let shown = if flavor == Flavor::MySql { words.concat() } else { status.sql_error };
        let at = shown.find("Query ").unwrap_or(0);
        (status.sql_errno, shown[at..].to_string())
    };
    let mut found = Vec::new();
    for hidden in ["INSERT INTO d.m VALUES (7, 7)", "INSERT INTO d.m VALUES (6, 6), (7, 7)"] {
        let (source, replica) = pair(flavor);
        let mut session = source.connect();
        run_all(&mut session, &["SET sql_log_bin = 0", hidden, "SET sql_log_bin = 1"]);
        assert_eq!(run_all(&mut session, &["INSERT INTO d.m VALUES (5, 5), (7, 7)"]), 1);
        found.push(status_of(&replica));
    }
    let (source, replica) = pair(flavor);
    source.run("INSERT INTO d.m VALUES (8, 8), (9, 9)");
    let mut killed = source.connect();
    let id = killed.query("SELECT CONNECTION_ID()").expect("a number").rows[0][0].clone().expect("a number");
    let id = String::from_utf8(id).expect("digits");
    let sleeping = std::thread::scope(|scope| {
        let sleeping = scope.spawn(|| killed.query("UPDATE d.m SET b = b + 10 + SLEEP(60)").map(|_| ()));
        // The table is locked, so only the list of sessions tells that the first row is there.
        let clock = Stopwatch::start();
        let sleeps =
            format!("SELECT 1 FROM information_schema.processlist WHERE id = {id} AND state = 'User sleep'");
        while source.rows(&sleeps).is_empty() {
            assert!(clock.elapsed() < SOON, "the statement sleeps");
            sleep(Duration::from_millis(10));
        }
        source.run(&format!("KILL QUERY {id}"));
        sleeping.join().expect("the session ends")
    });
    assert!(matches!(sleeping, Err(ClientError::Server(_))), "{sleeping:?}");
    found.push(status_of(&replica));
    found
}

#[test]
fn other_ends_of_statements_stop_the_applier_as_in_mysql() {
    if testkit::available("other_ends_of_statements_stop_the_applier_as_in_mysql", &[Flavor::MySql]) {
        assert_eq!(stops(Flavor::Slipstream), stops(Flavor::MySql));
    }
}
