//! Tests of FLUSH TABLES WITH READ LOCK, under which mysqldump, Debezium and others take a snapshot
//! and its position in the binary log.

use std::time::Duration;

use bench::instance::Settings;
use os::thread::JoinHandle;
use protocol::client::ClientError;
use testkit::Server;
use testkit::ledger::Ledger;
use testkit::server::flavor_under_test;

/// The time that is given to what must not happen.
const A_WHILE: Duration = Duration::from_millis(100);

fn started() -> Server {
    let server = Server::start(flavor_under_test(), &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
    server.run("INSERT INTO d.t VALUES (1, 1), (2, 2)");
    server
}

/// Runs statements in a session of their own, in the background.
fn begin(server: &Server, statements: &'static [&'static str]) -> JoinHandle<()> {
    let mut session = server.connect();
    os::thread::spawn("behind_the_lock", move || {
        for sql in statements {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    })
}

fn code(error: ClientError) -> u16 {
    match error {
        ClientError::Server(error) => error.code,
        error => panic!("{error}"),
    }
}

#[test]
fn nothing_is_committed_while_it_is_held() {
    let server = started();
    let mut holder = server.connect();
    let mut open = server.connect();
    open.query("BEGIN").expect("begins");
    open.query("UPDATE d.t SET v = 20 WHERE id = 2").expect("updates");
    holder.query("FLUSH TABLES WITH READ LOCK").expect("locks");
    let position = server.position();
    let writers = [
        begin(&server, &["INSERT INTO d.t VALUES (3, 3)"]),
        begin(&server, &["ALTER TABLE d.t ADD COLUMN w INT"]),
        begin(&server, &["CREATE TABLE d.u (id INT PRIMARY KEY)"]),
        os::thread::spawn("open_transaction", move || drop(open.query("COMMIT").expect("commits"))),
    ];
    os::clock::sleep(A_WHILE);
    assert!(writers.iter().all(|writer| !writer.is_finished()), "somebody passed the lock");
    assert_eq!(server.position(), position, "something was logged");
    // Neither the holder nor other readers are held up.
    assert_eq!(holder.query("SELECT * FROM d.t").expect("reads").rows.len(), 2);
    assert_eq!(server.rows("SELECT v FROM d.t WHERE id = 2"), ["2"]);
    for (sql, refused) in [
        ("INSERT INTO d.t VALUES (9, 9)", 1223),
        ("CREATE TABLE d.v (id INT)", 1223),
        ("STOP REPLICA SQL_THREAD", 1192),
    ] {
        assert_eq!(code(holder.query(sql).expect_err(sql)), refused, "{sql}");
    }
    holder.query("UNLOCK TABLES").expect("unlocks");
    for writer in writers {
        writer.join().expect("goes on behind the lock");
    }
    assert_eq!(
        server.rows("SELECT id, v, w FROM d.t ORDER BY id"),
        ["1\t1\tNULL", "2\t20\tNULL", "3\t3\tNULL"]
    );
    holder.query("INSERT INTO d.t (id) VALUES (9)").expect("writes again");
}

/// The session that holds the lock may wait for a lock of a session that waits for the read lock.
/// Both waits have an end.
#[test]
fn a_definition_waits_for_it_as_for_a_lock() {
    let server = started();
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    holder.query("FLUSH TABLES WITH READ LOCK").expect("locks");
    waiter.query("SET lock_wait_timeout = 1").expect("sets");
    for sql in ["CREATE TABLE d.u (id INT PRIMARY KEY)", "ALTER TABLE d.t ADD COLUMN w INT"] {
        assert_eq!(code(waiter.query(sql).expect_err(sql)), 1205, "{sql}");
    }
    waiter.query("SET lock_wait_timeout = 1000").expect("sets");
    let id = waiter.connection_id();
    let killed = os::thread::spawn("behind_the_lock", move || {
        code(waiter.query("CREATE TABLE d.u (id INT PRIMARY KEY)").expect_err("it is killed"))
    });
    while !killed.is_finished() {
        os::clock::sleep(A_WHILE);
        // The session ends as soon as it has its answer.
        if let Err(error) = server.connect().query(&format!("KILL QUERY {id}")) {
            assert_eq!(code(error), 1094);
        }
    }
    assert_eq!(killed.join().expect("is answered"), 1317);
    holder.query("UNLOCK TABLES").expect("unlocks");
    server.run("CREATE TABLE d.u (id INT PRIMARY KEY)");
}

#[test]
fn it_ends_with_its_session_and_two_can_hold_it() {
    let server = started();
    let (mut one, mut two) = (server.connect(), server.connect());
    one.query("FLUSH TABLES WITH READ LOCK").expect("locks");
    two.query("FLUSH TABLES WITH READ LOCK").expect("locks");
    let writer = begin(&server, &["INSERT INTO d.t VALUES (3, 3)"]);
    drop(one);
    os::clock::sleep(A_WHILE);
    assert!(!writer.is_finished(), "the other one still holds it");
    drop(two);
    writer.join().expect("goes on");
}

/// A snapshot that is taken under the lock belongs to the position that was read under it: it has
/// all commits before that position and none after.
#[test]
fn a_snapshot_belongs_to_its_place_in_the_log() {
    let server = started();
    let ledger = Ledger::create(&server, 4);
    let working = ledger.work(&server);
    let mut reader = server.connect();
    for _ in 0..20 {
        reader.query("FLUSH TABLES WITH READ LOCK").expect("locks");
        let before = server.position();
        reader.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").expect("takes a snapshot");
        let after = server.position();
        let newest = server.rows("SELECT SUM(n) FROM ledger.total");
        reader.query("UNLOCK TABLES").expect("unlocks");
        assert_eq!(before, after);
        let seen = reader.query("SELECT SUM(n) FROM ledger.total").expect("reads").rows;
        assert_eq!(seen[0][0].as_deref(), Some(newest[0].as_bytes()));
        reader.query("COMMIT").expect("ends the snapshot");
    }
    assert!(ledger.acknowledged() > 0);
    working.end();
    ledger.check(&server);
}
