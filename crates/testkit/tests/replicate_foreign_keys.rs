//! Tests of tables with foreign keys, at every place of a chain of replicas.
//!
//! A MariaDB source leaves changes of child rows to its replicas' engines; a MySQL 9.7 source logs
//! them. Behind a Slipstream source, replicas of MySQL, MariaDB and Slipstream get every row from
//! the log and make none by themselves.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::Thread;
use testkit::family;
use testkit::following::{By, Pair};
use testkit::server::{Replica, flavor_under_test};

/// Tests that everything that happens to parents and children at the source arrives at the replica,
/// which is far behind when its applier starts.
fn carries(pair: Pair) -> Pair {
    let seed = os::random::test_seed("replicate_foreign_keys");
    family::make(&pair.source);
    pair.replica.catch_up(&pair.source);
    pair.replica.stop_thread(Thread::Sql);
    let committed = family::load(&pair.source, 3, 250, seed);
    assert!(committed > 100, "the load is to do something: {committed}");
    pair.replica.start_thread(Thread::Sql);
    pair.replica.catch_up(&pair.source);
    family::compare(&pair.source, &pair.replica);
    pair
}

fn pair(source: Flavor, replica: Flavor, replica_workers: u32, row_image: RowImage, by: By) -> Pair {
    let settings = Settings { row_image, replica_workers, ..Settings::default() };
    Pair::start_with(source, replica, &settings, by)
}

#[test]
fn behind_mysql() {
    if testkit::available("replicate_foreign_keys::behind_mysql", &[Flavor::MySql]) {
        carries(pair(Flavor::MySql, flavor_under_test(), 4, RowImage::Full, By::Gtid));
    }
}

/// The source logs as a MySQL before 9.6 does.
#[test]
fn behind_mysql_with_foreign_keys_in_innodb() {
    if testkit::available(
        "replicate_foreign_keys::behind_mysql_with_foreign_keys_in_innodb",
        &[Flavor::MySql],
    ) {
        let extra = vec!["--innodb-native-foreign-keys=ON".to_string()];
        let settings = Settings { extra, ..Settings::default() };
        let pair = Pair::start_each((Flavor::MySql, &settings), (flavor_under_test(), 4), By::Gtid);
        let logged = "SELECT @@innodb_native_foreign_keys";
        assert_eq!(pair.source.rows(logged), ["1"]);
        let pair = carries(pair);
        // The key and the document of a parent change, and the log has only the difference of the
        // document.
        let mut session = pair.source.connect();
        for sql in [
            "SET binlog_row_value_options = PARTIAL_JSON",
            "CREATE TABLE family.papers (id INT PRIMARY KEY, doc JSON)",
            "CREATE TABLE family.notes (paper INT, FOREIGN KEY (paper) REFERENCES papers (id) ON UPDATE CASCADE)",
            "INSERT INTO family.papers VALUES (1, '{\"a\": 1, \"b\": \"a text that is long enough\"}')",
            "INSERT INTO family.notes VALUES (1), (1)",
            "UPDATE family.papers SET id = 2, doc = JSON_SET(doc, '$.a', 2)",
        ] {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        pair.replica.catch_up(&pair.source);
        assert_eq!(pair.replica.rows("SELECT * FROM family.notes"), ["2", "2"]);
        pair.replica.equals_by(&pair.source, "SELECT * FROM family.papers");
    }
}

#[test]
fn behind_mariadb() {
    if testkit::available("replicate_foreign_keys::behind_mariadb", &[Flavor::MariaDb]) {
        carries(pair(Flavor::MariaDb, flavor_under_test(), 4, RowImage::Full, By::Gtid));
    }
}

#[test]
fn behind_mariadb_without_workers_with_minimal_images() {
    if testkit::available("replicate_foreign_keys::behind_mariadb_without_workers", &[Flavor::MariaDb]) {
        carries(pair(Flavor::MariaDb, flavor_under_test(), 0, RowImage::Minimal, By::Gtid));
    }
}

#[test]
fn behind_slipstream() {
    carries(pair(Flavor::Slipstream, flavor_under_test(), 4, RowImage::Minimal, By::Gtid));
}

#[test]
fn mysql_behind_us() {
    if testkit::available("replicate_foreign_keys::mysql_behind_us", &[Flavor::MySql]) {
        carries(pair(Flavor::Slipstream, Flavor::MySql, 4, RowImage::Full, By::Gtid));
    }
}

#[test]
fn mariadb_behind_us() {
    if testkit::available("replicate_foreign_keys::mariadb_behind_us", &[Flavor::MariaDb]) {
        carries(pair(Flavor::Slipstream, Flavor::MariaDb, 0, RowImage::Full, By::Position));
    }
}

/// The rows that our engine changed for a MariaDB source's parents are in our own log, so that a
/// replica behind us makes none by itself. They are there after a crash too.
#[test]
fn rows_that_followed_are_in_our_log() {
    if !testkit::available("replicate_foreign_keys::rows_that_followed_are_in_our_log", &[Flavor::MariaDb]) {
        return;
    }
    let mut pair = carries(pair(Flavor::MariaDb, Flavor::Slipstream, 4, RowImage::Full, By::Gtid));
    let last = Replica::start(Flavor::Slipstream, &Settings { server_id: 3, ..Settings::default() });
    // This replica does not follow its own foreign keys, so it can only do what the log says.
    last.follow(Flavor::Slipstream, pair.replica.port(), &testkit::following::beginning(&pair.replica));
    last.catch_up(&pair.replica);
    family::compare(&pair.source, &last);
    pair.replica.server.kill();
    pair.replica.server.come_back();
    pair.replica.catch_up(&pair.source);
    family::compare(&pair.source, &pair.replica);
}
