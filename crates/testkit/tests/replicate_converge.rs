//! Tests of `replica_exec_mode=CONVERGE`: a replica whose rows were copied while the source worked,
//! each at a later point of the source's history than the applier had reached, becomes equal to the
//! source.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::{StartFrom, Thread};
use os::random::{Rng, test_seed_or};
use protocol::client::Client;
use testkit::{Replica, Server};

const ROUNDS: u64 = 12;
const IDS: u64 = 60;
/// The number of ids that one read of a copy covers.
const CHUNK_IDS: u64 = 10;
const TABLE: &str = "CREATE TABLE d.t (id INT PRIMARY KEY, u INT, v VARCHAR(10), w INT NOT NULL, x BLOB, \
                     UNIQUE KEY by_u (u), UNIQUE KEY by_vw (v, w), KEY by_w (w))";

/// Returns the source's flavor: MySQL if it is available, otherwise Slipstream.
fn source_flavor(test: &str) -> Flavor {
    if testkit::available(test, &[Flavor::MySql]) { Flavor::MySql } else { Flavor::Slipstream }
}

fn pair(test: &str, image: RowImage, workers: u32) -> (Server, Replica) {
    let flavor = source_flavor(test);
    let source = Server::start(flavor, &Settings { server_id: 1, row_image: image, ..Settings::default() });
    let settings =
        Settings { server_id: 2, row_image: image, replica_workers: workers, ..Settings::default() };
    let replica = Replica::start(Flavor::Slipstream, &settings);
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    (source, replica)
}

/// Returns a random change of the source: rows take each other's keys, move, come and go. Some
/// changes are refused for a duplicate key, which does no harm.
fn change(rng: &mut Rng) -> String {
    let (id, other) = (rng.below(IDS), rng.below(IDS));
    let (u, w) = (rng.below(40), rng.below(4));
    match rng.below(8) {
        0 | 1 => format!("INSERT IGNORE INTO d.t VALUES ({id}, {u}, 'v{u}', {w}, REPEAT('x', {u}))"),
        2 => format!("REPLACE INTO d.t VALUES ({id}, {u}, 'v{w}', {u}, NULL)"),
        3 => format!("DELETE FROM d.t WHERE id IN ({id}, {other})"),
        4 => format!("UPDATE IGNORE d.t SET id = {other} WHERE id = {id}"),
        5 => format!("UPDATE IGNORE d.t SET u = {u}, x = REPEAT('y', {w}) WHERE id = {id}"),
        6 => format!("UPDATE IGNORE d.t SET v = 'v{w}', w = w + 1 WHERE u BETWEEN {u} AND {u} + 3"),
        _ => format!("UPDATE d.t SET u = NULL WHERE id = {id} OR u = {u}"),
    }
}

/// Swaps the keys of two rows, in one transaction of three updates.
fn exchange(session: &mut Client, rng: &mut Rng) {
    let (a, b) = (rng.below(IDS), rng.below(IDS));
    for sql in [
        "BEGIN",
        &format!("SELECT MAX(IF(id = {a}, u, NULL)), MAX(IF(id = {b}, u, NULL)) INTO @a, @b FROM d.t"),
        &format!("UPDATE d.t SET u = NULL WHERE id = {a}"),
        &format!("UPDATE IGNORE d.t SET u = @a WHERE id = {b}"),
        &format!("UPDATE IGNORE d.t SET u = @b WHERE id = {a}"),
        "COMMIT",
    ] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn work(session: &mut Client, rng: &mut Rng, changes: u64) {
    for _ in 0..changes {
        if rng.below(6) == 0 {
            exchange(session, rng);
        } else {
            let sql = change(rng);
            session.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
}

/// Reads a range of ids at the source and puts the rows into the replica in place of its own.
fn copy(source: &mut Client, replica: &mut Client, from: u64) {
    let to = from + CHUNK_IDS;
    let read = format!(
        "SELECT CONCAT_WS(', ', id, IFNULL(u, 'NULL'), IFNULL(QUOTE(v), 'NULL'), w, IFNULL(QUOTE(x), 'NULL')) \
         FROM d.t WHERE id >= {from} AND id < {to}"
    );
    for row in source.query(&read).expect("the rows can be read").rows {
        let values = String::from_utf8(row[0].clone().expect("a text")).expect("it is ASCII");
        let sql = format!("REPLACE INTO d.t VALUES ({values})");
        replica.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn converges(test: &str, workers: u32) {
    let mut rng = Rng::new(test_seed_or(test, 0x5eed));
    let (source, replica) = pair(test, RowImage::Full, workers);
    source.run("CREATE DATABASE d");
    source.run(TABLE);
    replica.catch_up(&source);
    let (mut there, mut copying) = (source.connect(), source.connect());
    let mut here = replica.connect();
    here.query("SET sql_log_bin = 0").expect("an administrator may");
    for round in 0..ROUNDS {
        // The applier is stopped: rows from before the copy are in no event that it will see.
        replica.stop_thread(Thread::Sql);
        if round == 0 {
            replica.run("SET GLOBAL replica_exec_mode = CONVERGE");
        }
        here.query("DELETE FROM d.t").expect("rows can be deleted");
        // The source changes before, between and after the reads of the ranges.
        let mut ranges: Vec<u64> = (0..IDS / CHUNK_IDS).map(|range| range * CHUNK_IDS).collect();
        ranges.sort_by_cached_key(|_| rng.u64());
        let (before, behind) = ranges.split_at(ranges.len() / 2);
        for part in [before, behind] {
            for from in part {
                let changes = rng.below(20);
                work(&mut there, &mut rng, changes);
                copy(&mut copying, &mut here, *from);
            }
            work(&mut there, &mut rng, 10);
            // The applier catches up between the two halves of the copy.
            replica.start_thread(Thread::Sql);
            replica.catch_up(&source);
            replica.stop_thread(Thread::Sql);
        }
        replica.equals_by(&source, "SELECT * FROM d.t ORDER BY id");
        replica.start_thread(Thread::Sql);
    }
    replica.run("SET GLOBAL replica_exec_mode = STRICT");
    work(&mut there, &mut rng, 200);
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM d.t ORDER BY id");
    let checked = replica.rows("CHECK TABLE d.t");
    assert!(checked[0].ends_with("status\tOK"), "{checked:?}");
}

#[test]
fn rows_from_later_points_converge() {
    converges("rows_from_later_points_converge", 0);
}

#[test]
fn rows_from_later_points_converge_with_workers() {
    converges("rows_from_later_points_converge_with_workers", 4);
}

/// Tests that what the mode cannot repeat stops the applier, and that STRICT goes on with it.
fn is_refused(test: &str, image: RowImage, setup: &[&str], changes: &[&str], why: &str) {
    let (source, replica) = pair(test, image, 0);
    source.run("CREATE DATABASE d");
    setup.iter().for_each(|sql| drop(source.run(sql)));
    replica.catch_up(&source);
    replica.run("SET GLOBAL replica_exec_mode = CONVERGE");
    let mut session = source.connect();
    changes.iter().for_each(|sql| drop(session.query(sql).expect(sql)));
    let status = replica.wait_until("stopped", |status| status.sql_running == "No");
    assert!(status.sql_error.contains(why), "{}", status.sql_error);
    replica.run("SET GLOBAL replica_exec_mode = STRICT");
    replica.start_thread(Thread::Sql);
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM d.t");
}

#[test]
fn updates_without_whole_rows_are_refused() {
    is_refused(
        "updates_without_whole_rows_are_refused",
        RowImage::Minimal,
        &[TABLE, "INSERT INTO d.t VALUES (1, 1, 'v', 1, NULL)"],
        &["UPDATE d.t SET w = 2"],
        "binlog_row_image is not FULL",
    );
}

#[test]
fn statements_are_refused() {
    is_refused(
        "statements_are_refused",
        RowImage::Full,
        &[TABLE, "INSERT INTO d.t VALUES (1, 1, 'v', 1, NULL)"],
        &["SET binlog_format = STATEMENT", "UPDATE d.t SET w = w + 2"],
        "replica_exec_mode=CONVERGE cannot repeat",
    );
}

#[test]
fn differences_of_documents_are_refused() {
    is_refused(
        "differences_of_documents_are_refused",
        RowImage::Full,
        &[
            "CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)",
            "INSERT INTO d.t VALUES (1, '{\"a\": [1, 2, 3]}')",
        ],
        &["SET binlog_row_value_options = PARTIAL_JSON", "UPDATE d.t SET j = JSON_SET(j, '$.a[1]', 7)"],
        "only how it differs",
    );
}
