//! Tests of what stands in a replica's way. When its transactions meet locks they are tried again,
//! and DDL of the replica's own never ends in a deadlock. A source may also close its connections.

use std::net::TcpListener;
use std::time::Duration;

use bench::instance::{Flavor, RowImage, Settings};
use os::clock::{Stopwatch, sleep};
use protocol::client::Client;
use testkit::following::{By, Pair, beginning};
use testkit::proxy::Proxy;
use testkit::server::{Replica, SOON, Server};

fn pair(workers: u32) -> Pair {
    let settings = Settings {
        row_image: RowImage::Full,
        replica_workers: workers,
        extra: vec!["--innodb-lock-wait-timeout=1".into(), "--replica-transaction-retries=2".into()],
        ..Settings::default()
    };
    let pair = Pair::start_with(Flavor::Slipstream, Flavor::Slipstream, &settings, By::Gtid);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.x (id INT PRIMARY KEY, n INT)",
        "CREATE TABLE d.y (id INT PRIMARY KEY, n INT)",
        "INSERT INTO d.x VALUES (1, 1), (2, 2)",
        "INSERT INTO d.y VALUES (1, 1), (2, 2)",
    ] {
        pair.source.run(sql);
    }
    pair.replica.catch_up(&pair.source);
    pair
}

/// Returns a session on the replica that has locked row 1 of `d.y`.
fn locker(pair: &Pair) -> Client {
    let mut session = pair.replica.connect();
    for sql in ["BEGIN", "SELECT * FROM d.y WHERE id = 1 FOR UPDATE"] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    session
}

fn retries(server: &Server) -> u64 {
    let sql = "SELECT COUNT_TRANSACTIONS_RETRIES FROM performance_schema.replication_applier_status";
    server.rows(sql)[0].parse().expect("a number")
}

fn wait_for(server: &Server, what: &str, reached: impl Fn() -> bool) {
    let clock = Stopwatch::start();
    while !reached() {
        assert!(clock.elapsed() < SOON, "not {what}\n{}", server.log_tail());
        sleep(Duration::from_millis(5));
    }
}

fn waits(server: &Server) -> u64 {
    let row = server.rows("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
    row[0].split('\t').nth(1).and_then(|n| n.parse().ok()).expect("a number")
}

fn retries_and_gives_up(workers: u32) {
    let pair = pair(workers);
    let mut session = locker(&pair);
    pair.source.run("UPDATE d.y SET n = n + 10 WHERE id = 1");
    let status = pair.replica.wait_until("given up", |status| status.sql_running == "No");
    assert_eq!(status.sql_errno, 1205, "{status:?}");
    let wording = "Could not execute Update_rows event on table d.y; Lock wait timeout exceeded; try restarting transaction, \
                   Error_code: 1205; handler error HA_ERR_LOCK_WAIT_TIMEOUT; the event's source log ";
    assert!(status.sql_error.starts_with(wording), "{status:?}");
    assert_eq!(retries(&pair.replica), 2);
    // The transaction that the applier gave up is not lost.
    pair.replica.run("SET GLOBAL replica_transaction_retries = 1000");
    pair.replica.start_thread(bench::replication::Thread::Sql);
    wait_for(&pair.replica, "tried again", || retries(&pair.replica) >= 4);
    assert_eq!(pair.replica.rows("SELECT n FROM d.y WHERE id = 1"), ["1"]);
    session.query("ROLLBACK").expect("rolls back");
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT n FROM d.y WHERE id = 1"), ["11"]);
}

#[test]
fn a_locked_row_is_tried_for_again_and_then_named() {
    retries_and_gives_up(0);
}

#[test]
fn so_with_workers() {
    retries_and_gives_up(4);
}

fn ddl_over_two_tables(workers: u32) {
    let pair = pair(workers);
    pair.replica.run("SET GLOBAL replica_transaction_retries = 0");
    let mut session = locker(&pair);
    let mut source = pair.source.connect();
    for sql in ["BEGIN", "UPDATE d.y SET n = 11 WHERE id = 1", "UPDATE d.x SET n = 22 WHERE id = 2", "COMMIT"]
    {
        source.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    // The applier has `d.y` and waits for its row. DDL then gets `d.x` and waits for `d.y`, while
    // the applier needs `d.x` next.
    wait_for(&pair.replica, "the applier waiting", || waits(&pair.replica) == 1);
    let mut ddl = pair.replica.connect();
    let running = os::thread::spawn("ddl", move || {
        // Each table has the other's rows after the first RENAME, and its own again after the
        // second.
        for _ in 0..2 {
            ddl.query("RENAME TABLE d.x TO d.z, d.y TO d.x, d.z TO d.y").expect("renames");
        }
    });
    wait_for(&pair.replica, "DDL waiting", || waits(&pair.replica) == 2);
    session.query("COMMIT").expect("commits");
    running.join().expect("DDL ends");
    pair.replica.catch_up(&pair.source);
    // The transaction may have been applied between the two, and then changed each table in the
    // place of the other.
    let rows = ["d.x", "d.y"].map(|table| pair.replica.rows(&format!("SELECT * FROM {table} ORDER BY id")));
    let (in_place, swapped) =
        ([["1\t1", "2\t22"], ["1\t11", "2\t2"]], [["1\t11", "2\t2"], ["1\t1", "2\t22"]]);
    assert!(rows == in_place || rows == swapped, "{rows:?}");
    assert_eq!(retries(&pair.replica), 0, "waiting for a table is no retry");
}

#[test]
fn ddl_over_two_tables_does_not_stop_it() {
    ddl_over_two_tables(0);
}

#[test]
fn ddl_over_two_tables_does_not_stop_workers() {
    ddl_over_two_tables(2);
}

#[test]
fn stop_replica_does_not_wait_for_ddl() {
    let pair = pair(0);
    let mut reader = pair.replica.connect();
    for sql in ["BEGIN", "SELECT * FROM d.y"] {
        reader.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let mut ddl = pair.replica.connect();
    let running = os::thread::spawn("ddl", move || {
        drop(ddl.query("ALTER TABLE d.y ADD COLUMN m INT").expect("alters"))
    });
    wait_for(&pair.replica, "DDL waiting", || waits(&pair.replica) == 1);
    pair.source.run("UPDATE d.y SET n = 11 WHERE id = 1");
    wait_for(&pair.replica, "the applier waiting", || waits(&pair.replica) == 2);
    pair.replica.stop_thread(bench::replication::Thread::Sql);
    let status = pair.replica.status();
    assert_eq!((status.sql_running.as_str(), status.sql_errno), ("No", 0), "{status:?}");
    reader.query("COMMIT").expect("commits");
    running.join().expect("DDL ends");
    pair.replica.start_thread(bench::replication::Thread::Sql);
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT n FROM d.y WHERE id = 1"), ["11"]);
}

#[test]
fn a_statement_that_fails_is_not_passed_over_by_the_next_start() {
    let pair = pair(0);
    pair.replica.run("CREATE TABLE d.there (id INT PRIMARY KEY)");
    pair.source.run("CREATE TABLE d.there (id INT PRIMARY KEY, n INT)");
    for _ in 0..2 {
        let status = pair.replica.wait_until("stopped", |status| status.sql_running == "No");
        assert_eq!(status.sql_errno, 1050, "{status:?}");
        pair.replica.start_thread(bench::replication::Thread::Sql);
    }
    pair.replica.wait_until("stopped again", |status| status.sql_running == "No");
    pair.replica.run("DROP TABLE d.there");
    pair.replica.start_thread(bench::replication::Thread::Sql);
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT COUNT(n) FROM d.there"), ["0"]);
}

/// Tests that STOP REPLICA does not wait for the locks of a prepared transaction, which stay until
/// a session ends that transaction.
fn stop_behind_a_prepared_transaction(workers: u32) {
    let endless = "--innodb-lock-wait-timeout=100000";
    let settings = Settings { replica_workers: workers, extra: vec![endless.into()], ..Settings::default() };
    let pair = Pair::start_with(Flavor::Slipstream, Flavor::Slipstream, &settings, By::Gtid);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.y (id INT PRIMARY KEY, n INT)",
        "INSERT INTO d.y VALUES (1, 1), (2, 2)",
    ] {
        pair.source.run(sql);
    }
    pair.replica.catch_up(&pair.source);
    let mut session = pair.replica.connect();
    let branch =
        ["SET sql_log_bin = 0", "XA START 'x'", "UPDATE d.y SET n = 9", "XA END 'x'", "XA PREPARE 'x'"];
    for sql in branch {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    pair.source.run("UPDATE d.y SET n = 11 WHERE id = 1");
    pair.source.run("UPDATE d.y SET n = 12 WHERE id = 2");
    wait_for(&pair.replica, "the applier waiting", || waits(&pair.replica) > 0);
    for _ in 0..2 {
        pair.replica.stop_thread(bench::replication::Thread::Sql);
        let status = pair.replica.status();
        assert_eq!((status.sql_running.as_str(), status.sql_errno), ("No", 0), "{status:?}");
        assert_eq!(waits(&pair.replica), 0);
        pair.replica.start_thread(bench::replication::Thread::Sql);
        wait_for(&pair.replica, "the applier waiting again", || waits(&pair.replica) > 0);
    }
    session.query("XA ROLLBACK 'x'").expect("it ends");
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT n FROM d.y ORDER BY id"), ["11", "12"]);
}

#[test]
fn stop_replica_does_not_wait_for_a_prepared_transaction() {
    stop_behind_a_prepared_transaction(0);
}

#[test]
fn nor_do_workers() {
    stop_behind_a_prepared_transaction(4);
}

/// Tests a source that closes the connection whenever its log is asked for. It is asked again at
/// once, one time, and then after `SOURCE_CONNECT_RETRY` seconds each, `SOURCE_RETRY_COUNT` times
/// in all.
fn closed_at_once(replica: Flavor) {
    let source = Server::start(Flavor::Slipstream, &Settings::default());
    source.run("CREATE DATABASE d");
    let proxy = Proxy::start(source.port());
    proxy.cut_dumps(true);
    let replica = Replica::start(replica, &Settings { server_id: 2, ..Settings::default() });
    replica.follow(source.flavor(), proxy.port(), &beginning(&source));
    replica.run("STOP REPLICA");
    // The connection is not encrypted, because the proxy must see what is asked for.
    replica
        .run("CHANGE REPLICATION SOURCE TO SOURCE_RETRY_COUNT = 2, SOURCE_CONNECT_RETRY = 1, SOURCE_SSL = 0");
    let before = proxy.dumps();
    replica.run("START REPLICA");
    let status = replica.wait_until("given up", |status| status.io_running == "No");
    assert_eq!((proxy.dumps() - before, status.io_errno), (3, 0), "{status:?}");
    proxy.cut_dumps(false);
    replica.start_thread(bench::replication::Thread::Io);
    replica.catch_up(&source);
    // A connection that was of use is followed by another at once.
    replica.run("STOP REPLICA");
    replica.run("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY = 86400");
    replica.run("START REPLICA");
    for number in 1..4 {
        source.run(&format!("CREATE DATABASE d{number}"));
        replica.catch_up(&source);
        proxy.cut();
    }
    replica.wait_until("connected again", |status| status.io_running == "Yes");
}

#[test]
fn a_source_that_closes_at_once_is_asked_after_a_pause() {
    closed_at_once(Flavor::Slipstream);
}

#[test]
fn mysql_asks_after_a_pause() {
    if testkit::available("replicate_retries::mysql_asks_after_a_pause", &[Flavor::MySql]) {
        closed_at_once(Flavor::MySql);
    }
}

#[test]
fn stop_replica_does_not_wait_for_a_source_that_says_nothing() {
    // The operating system accepts connections to this port, but nobody sends a greeting.
    let source = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = source.local_addr().expect("it is bound").port();
    let settings =
        Settings { server_id: 2, extra: vec!["--replica-net-timeout=100000".into()], ..Settings::default() };
    let replica = Server::start(Flavor::Slipstream, &settings);
    replica.run(&format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='u'"
    ));
    replica.run("START REPLICA IO_THREAD");
    let (connected, _) = source.accept().expect("the receiver connects");
    let mut client = replica.connect();
    client.set_read_timeout(Some(SOON)).expect("a socket");
    client.query("STOP REPLICA").expect("the connection is ended before it has begun");
    drop(connected);
}
