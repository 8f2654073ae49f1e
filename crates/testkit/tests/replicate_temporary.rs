//! Tests of replicas whose sources log what their sessions do with temporary tables: each session's
//! tables are its own on the replica too, also while the replica is stopped, until the session
//! drops them or the source is started anew.

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use protocol::client::Client;
use testkit::{Replica, Server};

/// Statements that two sessions run in turns, each with its own value for `?`.
const STATEMENTS: &[&str] = &[
    "CREATE TEMPORARY TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(20), KEY (s)) ENGINE = InnoDB",
    "INSERT INTO t (s) VALUES ('?'), ('two')",
    "INSERT INTO b (n, s) SELECT a, s FROM t ORDER BY a",
    "UPDATE t SET s = CONCAT(s, '!')",
    "INSERT INTO b (n, s) SELECT a + 10, s FROM t ORDER BY a",
    "ALTER TABLE t ADD z INT DEFAULT 7",
    "CREATE TEMPORARY TABLE same SELECT a, s FROM t",
    "INSERT INTO b (n, s) SELECT z, s FROM t ORDER BY a",
    "BEGIN",
    "INSERT INTO t (s) VALUES ('in ?')",
    "INSERT INTO b (n, s) SELECT a + 20, s FROM t ORDER BY a",
    "DELETE FROM t WHERE s = 'two!'",
    "COMMIT",
    "BEGIN",
    "INSERT INTO t (s) VALUES ('not')",
    "INSERT INTO b (n, s) SELECT a + 30, s FROM t ORDER BY a",
    "ROLLBACK",
    "INSERT INTO b (n, s) SELECT a + 40, s FROM t ORDER BY a",
    "TRUNCATE TABLE t",
    "INSERT INTO t (s) VALUES ('after ?')",
    "INSERT INTO b (n, s) SELECT a + 50, s FROM t ORDER BY a",
    "INSERT INTO b (n, s) SELECT a + 60, s FROM same ORDER BY a",
    "DROP TABLE same",
    // The stored table of this name is visible again.
    "INSERT INTO same VALUES ('?')",
];

/// Statements that MariaDB accepts and MySQL refuses: their table's schema does not exist.
const WITHOUT_A_SCHEMA: &[&str] = &[
    "CREATE TEMPORARY TABLE nowhere.x (a INT)",
    "INSERT INTO nowhere.x VALUES (80)",
    "INSERT INTO b (n, s) SELECT a, '?' FROM nowhere.x",
    "DROP TABLE nowhere.x",
];

fn run(client: &mut Client, text: &str) {
    client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
}

fn open_tables(replica: &Replica) -> String {
    let name = "Replica_open_temp_tables";
    let rows = replica.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    rows[0].trim_start_matches(name).trim_matches([',', ' ', '|', '\t']).to_owned()
}

fn behind(flavor: Flavor, format: &str, workers: u32) {
    if !testkit::available("replicate_temporary", &[flavor]) {
        return;
    }
    let settings = |server_id| Settings { server_id, replica_workers: workers, ..Settings::default() };
    let mut source = Server::start(flavor, &settings(1));
    let replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    let last = Replica::start(Flavor::Slipstream, &settings(3));
    last.follow(Flavor::Slipstream, replica.port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.b (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(40))");
    source.run("CREATE TABLE d.same (s VARCHAR(20))");
    let mut sessions = [source.connect(), source.connect()];
    for client in &mut sessions {
        run(client, "USE d");
        run(client, &format!("SET binlog_format = {format}"));
    }
    let (first, second) = STATEMENTS.split_at(8);
    let mut both = |statements: &[&str]| {
        // The transactions of the two sessions do not overlap, so that the rows of `b` have one
        // order.
        for part in statements.split_inclusive(|text| !text.starts_with("BEGIN")) {
            for (at, client) in sessions.iter_mut().enumerate() {
                part.iter().for_each(|text| run(client, &text.replace('?', &format!("session {at}"))));
            }
        }
    };
    both(first);
    if flavor == Flavor::MariaDb {
        both(WITHOUT_A_SCHEMA);
    }
    replica.catch_up(&source);
    // MySQL logs temporary tables only with STATEMENT, Slipstream never.
    let logs_tables = flavor == Flavor::MariaDb || (format == "STATEMENT" && flavor == Flavor::MySql);
    // The number of 2 for MariaDB with MIXED was observed, not derived.
    let expected = match (logs_tables, flavor, format) {
        (false, ..) => "0",
        (true, Flavor::MariaDb, "MIXED") => "2",
        (true, ..) => "4",
    };
    assert_eq!(open_tables(&replica), expected);
    replica.stop_thread(Thread::Sql);
    replica.start_thread(Thread::Sql);
    both(second);
    replica.catch_up(&source);
    last.catch_up(&replica);
    for compared in ["SELECT n, s FROM d.b ORDER BY id", "SELECT s FROM d.same ORDER BY s"] {
        replica.equals_by(&source, compared);
        last.equals_by(&source, compared);
    }
    assert_eq!(open_tables(&last), "0", "this server logs nothing of them");
    // One session ends, and its table goes with it. The other session's table goes when the source
    // is killed.
    let [one, other] = sessions;
    one.quit();
    source.run("INSERT INTO d.b (n) VALUES (1000)");
    replica.catch_up(&source);
    if logs_tables {
        replica.wait_for_open_tables("1");
    }
    drop(other);
    source.kill();
    source.come_back();
    source.run("INSERT INTO d.b (n) VALUES (1001)");
    replica.catch_up(&source);
    assert_eq!(open_tables(&replica), "0");
    replica.equals_by(&source, "SELECT n, s FROM d.b ORDER BY id");
}

/// A check of a replica's open temporary tables that waits.
trait OpenTables {
    fn wait_for_open_tables(&self, wanted: &str);
}

impl OpenTables for Replica {
    fn wait_for_open_tables(&self, wanted: &str) {
        for _ in 0..3000 {
            if open_tables(self) == wanted {
                return;
            }
            os::clock::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(open_tables(self), wanted);
    }
}

#[test]
fn behind_mysql_with_statements() {
    behind(Flavor::MySql, "STATEMENT", 0);
}

#[test]
fn behind_mysql_with_statements_and_workers() {
    behind(Flavor::MySql, "STATEMENT", 4);
}

#[test]
fn behind_mysql_mixed() {
    behind(Flavor::MySql, "MIXED", 0);
}

#[test]
fn behind_mariadb_with_statements() {
    behind(Flavor::MariaDb, "STATEMENT", 0);
}

#[test]
fn behind_mariadb_mixed() {
    behind(Flavor::MariaDb, "MIXED", 4);
}

#[test]
fn behind_slipstream_with_statements() {
    behind(Flavor::Slipstream, "STATEMENT", 0);
}
