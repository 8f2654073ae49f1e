//! Tests of transactions larger than the replica's redo log: they arrive whole, through kills of
//! the replica, and go on whole to the next replica.

use std::time::Duration;

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::StartFrom;
use os::clock::sleep;
use os::random::{Rng, test_seed};
use testkit::following::{By, Pair};
use testkit::server::{Replica, Server, flavor_under_test};

const REDO_BYTES: u64 = 8 << 20;
/// The number of rows before they are doubled `DOUBLINGS` times, to 24 MB.
const FIRST_ROWS: u64 = 100;
const DOUBLINGS: u32 = 6;
const ALL_ROWS: &str = "SELECT id, k, pad FROM large.t ORDER BY id";

fn run(source: &Server, statements: &[&str]) {
    let mut client = source.connect();
    for sql in statements {
        client.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", source.flavor()));
    }
}

/// Runs a transaction of many rows, with savepoints and rows that are changed again, between small
/// ones.
fn change_much(source: &Server) {
    let mut client = source.connect();
    let mut query = |sql: &str| {
        drop(client.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", source.flavor())))
    };
    query("INSERT INTO large.small VALUES (1, 'before')");
    query("BEGIN");
    for id in 0..FIRST_ROWS {
        query(&format!("INSERT INTO large.t VALUES ({id}, {}, REPEAT('{}', 1900))", id % 7, id % 10));
    }
    for doubling in 0..DOUBLINGS {
        let rows = FIRST_ROWS << doubling;
        query(&format!(
            "INSERT INTO large.t SELECT id + {rows}, k + {rows}, pad FROM large.t WHERE id < {rows}"
        ));
    }
    query("SAVEPOINT s");
    query("DELETE FROM large.t WHERE id < 1000");
    query("ROLLBACK TO SAVEPOINT s");
    query("UPDATE large.t SET k = k + 1 WHERE id < 2000");
    query("DELETE FROM large.t WHERE id >= 1000 AND id < 1500");
    query("INSERT INTO large.small VALUES (2, 'within')");
    query("COMMIT");
    query("INSERT INTO large.small VALUES (3, 'after')");
}

fn arrives(test: &str, source: Flavor, image: RowImage, replica_workers: u32) {
    let settings = Settings {
        redo_bytes: REDO_BYTES,
        row_image: image,
        replica_workers,
        log_replica_updates: true,
        ..Settings::default()
    };
    let mut rng = Rng::new(test_seed(test));
    let mut pair = Pair::start_with(source, flavor_under_test(), &settings, By::Gtid);
    run(
        &pair.source,
        &[
            "CREATE DATABASE large",
            "CREATE TABLE large.t (id INT PRIMARY KEY, k INT NOT NULL, pad VARCHAR(2000) NOT NULL, KEY k (k))",
            "CREATE TABLE large.small (id INT PRIMARY KEY, what VARCHAR(20))",
        ],
    );
    change_much(&pair.source);
    run(&pair.source, &["UPDATE large.t SET pad = REVERSE(pad), k = k + 10"]);
    for _ in 0..5 {
        sleep(Duration::from_millis(rng.between(20, 500)));
        pair.replica.server.kill();
        pair.replica.server.come_back();
    }
    // This transaction gives the replica's newest file a position.
    run(&pair.source, &["INSERT INTO large.small VALUES (4, 'last')"]);
    pair.replica.catch_up(&pair.source);
    let next = Replica::start(flavor_under_test(), &Settings { server_id: 3, ..settings });
    next.follow(pair.replica.flavor(), pair.replica.port(), &StartFrom::Gtid);
    next.catch_up(&pair.replica);
    for sql in
        [ALL_ROWS, "SELECT * FROM large.small ORDER BY id", "SELECT k FROM large.t WHERE k > 0 ORDER BY k"]
    {
        pair.replica.equals_by(&pair.source, sql);
        next.equals_by(&pair.source, sql);
    }
    if pair.replica.flavor() == Flavor::Slipstream {
        assert_eq!(pair.replica.rows("CHECK TABLE large.t")[0], "large.t\tcheck\tstatus\tOK");
    }
}

#[test]
fn behind_mysql() {
    if testkit::available("replicate_large::behind_mysql", &[Flavor::MySql]) {
        arrives("behind_mysql", Flavor::MySql, RowImage::Full, 0);
    }
}

#[test]
fn behind_mariadb_with_workers() {
    if testkit::available("replicate_large::behind_mariadb_with_workers", &[Flavor::MariaDb]) {
        arrives("behind_mariadb_with_workers", Flavor::MariaDb, RowImage::Minimal, 4);
    }
}

#[test]
fn behind_slipstream_with_workers() {
    arrives("behind_slipstream_with_workers", Flavor::Slipstream, RowImage::Full, 4);
}
