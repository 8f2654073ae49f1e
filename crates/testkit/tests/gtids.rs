//! GTIDs of sessions: what MySQL does about them, we do. One session or several, statement by statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::Thread;
use protocol::client::{Client, ClientError};
use testkit::following::{By, Pair, SIZE, beginning};
use testkit::{Replica, Server, available};

const G: &str = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";

/// `G` stands for the UUID.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))",
    // Owning a GTID, and a statement that fails, which gives it up.
    "SET gtid_next = 'G:5'",
    "SELECT @@gtid_owned, REPLACE(@@GLOBAL.gtid_owned, CONNECTION_ID(), 'N')",
    "SET gtid_next = 'G:6'",
    "SELECT @@gtid_owned, @@GLOBAL.gtid_owned",
    "INSERT INTO d.t VALUES (1, 'spent')",
    "SET gtid_next = 'G:5'",
    "SET gtid_next = AUTOMATIC",
    "SET gtid_next = 'G:5'",
    "SET gtid_next = 'G:5'",
    "SET gtid_next = 'G:5'",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE",
    "SET gtid_next = 'G:5'",
    "SET GLOBAL enforce_gtid_consistency = ON",
    "SELECT @@gtid_owned",
    "SET GLOBAL gtid_purged = '+G:5'",
    "SELECT @@gtid_owned",
    "SET gtid_next = 'G:5'",
    "SET sql_log_bin = 0",
    "SET sql_log_bin = 1",
    // Its transaction.
    "BEGIN",
    "INSERT INTO d.t VALUES (1, 'x')",
    "SET gtid_next = 'G:6'",
    "SELECT @@gtid_owned",
    "COMMIT",
    "SELECT @@gtid_owned, @@GLOBAL.gtid_owned, @@gtid_next",
    "INSERT INTO d.t VALUES (2, 'x')",
    // Executed before.
    "SET gtid_next = 'G:5'",
    "SELECT @@gtid_owned",
    "INSERT INTO d.t VALUES (2, 'passed over')",
    "SELECT COUNT(*), @@gtid_owned FROM d.t",
    "SET gtid_next = 'G:7'",
    "COMMIT",
    "SELECT @@gtid_owned, @@gtid_next",
    "SET gtid_next = 'G:8'",
    "UPDATE d.t SET v = 'none' WHERE id = 99",
    "SELECT @@gtid_owned",
    "SET gtid_next = AUTOMATIC",
    "SET gtid_next = 'G:10'",
    "INSERT INTO d.t VALUES (1, 'duplicate')",
    "SELECT @@gtid_owned, @@gtid_next",
    "INSERT INTO d.t VALUES (8, 'spent')",
    "SET gtid_next = 'G:9'",
    "BEGIN",
    "COMMIT",
    "SET gtid_next = 'G:11'",
    "ROLLBACK",
    "SELECT @@gtid_owned, @@gtid_next",
    "SET gtid_next = 'G:12'",
    "BEGIN",
    "INSERT INTO d.t VALUES (1, 'duplicate')",
    "SELECT @@gtid_owned",
    "INSERT INTO d.t VALUES (12, 'x')",
    "COMMIT",
    "SET gtid_next = 'G:13'",
    "CREATE TABLE d.u (id INT PRIMARY KEY)",
    "SELECT @@gtid_owned",
    "SET gtid_next = NULL",
    "SET gtid_next = AUTOMATIC",
    "BEGIN",
    "SET gtid_next = 'G:14'",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE",
    "ROLLBACK",
    "SELECT GTID_SUBSET('G:5:9', @@GLOBAL.gtid_executed), GTID_SUBTRACT('G:1-14', @@GLOBAL.gtid_executed)",
    // gtid_purged.
    "SET GLOBAL gtid_purged = 'G:1-10'",
    "SET GLOBAL gtid_purged = '+G:1-5'",
    "SET GLOBAL gtid_purged = '+bbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-5'",
    "SELECT source_uuid, interval_start, interval_end, gtid_tag FROM mysql.gtid_executed WHERE source_uuid LIKE 'bbbb%'",
    "SELECT @@GLOBAL.gtid_purged",
    "SET GLOBAL gtid_purged = 'cbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-5'",
    "SET GLOBAL gtid_purged = 'bbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-7'",
    "SELECT @@GLOBAL.gtid_purged",
    "SELECT WAIT_FOR_EXECUTED_GTID_SET('bbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:3', 1), WAIT_FOR_EXECUTED_GTID_SET('G:30', 0.1)",
    // The modes: all steps, and what stands in their way.
    "SHOW BINARY LOGS",
    "SET GLOBAL gtid_mode = ON",
    "SET GLOBAL enforce_gtid_consistency = OFF",
    "SET GLOBAL enforce_gtid_consistency = WARN",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE",
    "SET GLOBAL gtid_mode = OFF",
    "SET gtid_next = ANONYMOUS",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE",
    "SET gtid_next = 'AUTOMATIC:tag'",
    "SELECT @@gtid_owned",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE",
    "SET gtid_next = ANONYMOUS",
    "SELECT @@gtid_owned, @@GLOBAL.gtid_owned, @@gtid_next",
    "SHOW STATUS LIKE 'Ongoing_anonymous_transaction_count'",
    "SET gtid_next = ANONYMOUS",
    "SHOW STATUS LIKE 'Ongoing_anonymous_transaction_count'",
    "SET gtid_next = ANONYMOUS",
    "SET GLOBAL gtid_mode = ON",
    "SHOW STATUS LIKE 'Ongoing_anonymous_transaction_count'",
    "BEGIN",
    "SELECT @@gtid_owned",
    "INSERT INTO d.t VALUES (100, 'anonymous')",
    "COMMIT",
    "SELECT @@gtid_owned, @@gtid_next",
    "INSERT INTO d.t VALUES (101, 'anonymous again')",
    "SHOW STATUS LIKE 'Ongoing_anonymous_transaction_count'",
    "SET GLOBAL enforce_gtid_consistency = OFF",
    "SET GLOBAL gtid_mode = ON",
    "SET GLOBAL enforce_gtid_consistency = WARN",
    "SELECT @@GLOBAL.enforce_gtid_consistency",
    "SET GLOBAL gtid_mode = ON",
    "SET GLOBAL enforce_gtid_consistency = ON",
    "SET GLOBAL gtid_mode = ON",
    "INSERT INTO d.t VALUES (102, 'anonymous once more')",
    "SET gtid_next = AUTOMATIC",
    "INSERT INTO d.t VALUES (103, 'automatic')",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE",
    "SET gtid_next = 'AUTOMATIC:tag'",
    "SET gtid_next = 'G:100'",
    "ROLLBACK",
    "SET gtid_next = AUTOMATIC",
    "SET GLOBAL gtid_mode = OFF",
    "SELECT WAIT_FOR_EXECUTED_GTID_SET('G:5', 1)",
    "SET gtid_next = 'G:101'",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE",
    "SET GLOBAL gtid_mode = ON",
    "SET gtid_next = 'ANONYMOUS'",
    "SHOW BINARY LOGS",
    "SELECT COUNT(*) FROM d.t",
];

fn outcome(session: &mut Client, sql: &str) -> String {
    match session.query(&sql.replace("G:", &format!("{G}:"))) {
        Err(ClientError::Server(error)) => format!("{sql}: {} {}", error.code, error.message),
        Err(error) => panic!("{sql}: {error}"),
        Ok(set) => {
            let text = |cell: &Option<Vec<u8>>| {
                String::from_utf8_lossy(cell.as_deref().unwrap_or(b"NULL")).into_owned()
            };
            let rows: Vec<String> =
                set.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect();
            // Of the binary log's files only the number is the same.
            if sql == "SHOW BINARY LOGS" {
                format!("{} files", rows.len())
            } else {
                format!("{sql}: {rows:?}")
            }
        }
    }
}

#[test]
fn a_session_is_told_what_mysql_tells_it() {
    if !available("gtids::a_session_is_told_what_mysql_tells_it", &[Flavor::MySql]) {
        return;
    }
    let [theirs, ours] = [Flavor::MySql, Flavor::Slipstream].map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        let mut session = server.connect();
        STATEMENTS.iter().map(|sql| outcome(&mut session, sql)).collect::<Vec<_>>()
    });
    let differing: Vec<_> = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Who asks for a GTID that another owns waits for its end: it then owns it, or passes its transaction over.
#[test]
fn a_gtid_has_one_owner() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut owner = server.connect();
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"] {
        owner.query(sql).expect("DDL");
    }
    for (end, rows) in [("ROLLBACK", "2"), ("COMMIT", "1")] {
        let number = if end == "COMMIT" { 2 } else { 1 };
        let set = format!("SET gtid_next = '{G}:{number}'");
        for sql in [set.as_str(), "BEGIN", &format!("INSERT INTO d.t VALUES ({number})")] {
            owner.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let has_it = Arc::new(AtomicBool::new(false));
        let (options, seen) = (server.connect_options(), Arc::clone(&has_it));
        let waiter = os::thread::spawn("waiter", move || {
            let mut session = Client::connect(&options).expect("connects");
            session.query(&set).expect("is set");
            seen.store(true, Ordering::Release);
            session
                .query(&format!("INSERT INTO d.t VALUES (1{number}), (2{number})"))
                .expect("is run or passed over");
        });
        os::clock::sleep(Duration::from_millis(100));
        assert!(!has_it.load(Ordering::Acquire), "two sessions own one GTID");
        owner.query(end).expect("ends");
        waiter.join().expect("the waiter gets on");
        let found = server.rows(&format!("SELECT COUNT(*) FROM d.t WHERE id % 10 = {number}"));
        assert_eq!(found, [rows], "after {end}");
    }
    owner.query("SET gtid_next = 'AUTOMATIC'").expect("is set");
    owner.query(&format!("SET gtid_next = '{G}:7'")).expect("is set");
    let purged = server.connect().query(&format!("SET GLOBAL gtid_purged = '+{G}:5-9'"));
    assert!(matches!(purged, Err(ClientError::Server(error)) if error.code == 3546), "G:7 is owned");
    // The owner that goes away owns nothing any more.
    drop(owner);
    server.connect().query(&format!("SET gtid_next = '{G}:7'")).expect("nobody owns it");
}

/// From OFF to ON and back, a step at a time, under load with a replica attached.
fn the_online_way(replica: Flavor) {
    let settings = Settings { gtid: false, ..Settings::default() };
    let pair = Pair::start_with(Flavor::Slipstream, replica, &settings, By::Position);
    pair.source.fill(SIZE, 1);
    let (stop, options) = (Arc::new(AtomicBool::new(false)), pair.source.connect_options());
    let stopped = Arc::clone(&stop);
    // Slower than any replica applies.
    let load = os::thread::spawn("load", move || {
        let mut session = Client::connect(&options).expect("connects");
        for id in (1..=SIZE.rows).cycle() {
            session.query(&format!("UPDATE sbtest.sbtest1 SET k = k + 1 WHERE id = {id}")).expect("updates");
            if stopped.load(Ordering::Acquire) {
                break;
            }
            os::clock::sleep(Duration::from_millis(3));
        }
    });
    let set = |server: &Server, mode: &str| drop(server.run(&format!("SET GLOBAL gtid_mode = {mode}")));
    for server in [&pair.source, &pair.replica.server] {
        server.run("SET GLOBAL enforce_gtid_consistency = ON");
    }
    // A replica takes either kind of transaction before a source makes the other.
    for mode in ["OFF_PERMISSIVE", "ON_PERMISSIVE"] {
        set(&pair.replica, mode);
        set(&pair.source, mode);
    }
    pair.replica.catch_up(&pair.source);
    for mode in ["ON", "ON_PERMISSIVE"] {
        set(&pair.source, mode);
        pair.replica.catch_up(&pair.source);
        set(&pair.replica, mode);
        pair.replica.catch_up(&pair.source);
    }
    for server in [&pair.replica.server, &pair.source] {
        set(server, "OFF_PERMISSIVE");
    }
    pair.replica.catch_up(&pair.source);
    set(&pair.source, "OFF");
    stop.store(true, Ordering::Release);
    load.join().expect("the load does not fail");
    pair.is_equal();
    let executed = |server: &Server| server.rows("SELECT @@GLOBAL.gtid_executed");
    assert_ne!(executed(&pair.source), [""]);
    assert_eq!(executed(&pair.source), executed(&pair.replica));
}

#[test]
fn the_online_way_with_mysql_behind() {
    if available("gtids::the_online_way_with_mysql_behind", &[Flavor::MySql]) {
        the_online_way(Flavor::MySql);
    }
}

#[test]
fn the_online_way_with_slipstream_behind() {
    the_online_way(Flavor::Slipstream);
}

/// A receiver takes no transaction that the replica's mode forbids, and goes on where it was when the mode allows it. Here these are old transactions of a
/// source whose mode has changed: one whose mode makes such transactions is refused at once.
fn the_mode_forbids(replica: Flavor) {
    let (anonymous, with_gtid) = (
        "Cannot replicate anonymous transaction when @@GLOBAL.GTID_MODE = ON, at file ",
        "Cannot replicate GTID-transaction when @@GLOBAL.GTID_MODE = OFF, at file ",
    );
    let on_to_off = ["ON_PERMISSIVE", "OFF_PERMISSIVE"];
    let off_to_on = ["OFF_PERMISSIVE", "ON_PERMISSIVE"];
    for (gtid, modes, message) in [(false, off_to_on, anonymous), (true, on_to_off, with_gtid)] {
        let settings = Settings { gtid, ..Settings::default() };
        let source = Server::start(Flavor::Slipstream, &settings);
        source.run("CREATE DATABASE d");
        let replica = Replica::start(replica, &Settings { server_id: 2, gtid: !gtid, ..settings });
        replica.follow(source.flavor(), source.port(), &beginning(&source));
        let refused = |number: u32, message: &str| {
            let status = replica.wait_until("refused", |status| status.io_errno == number);
            assert_eq!(status.io_running, "No", "{status:?}");
            assert!(status.io_error.contains(message), "{}", status.io_error);
            assert!(replica.rows("SHOW DATABASES LIKE 'd'").is_empty(), "it was applied");
        };
        let cannot_start = "The replication receiver thread cannot start because the source has GTID_MODE = ";
        refused(13117, cannot_start);
        source.run(&format!("SET GLOBAL gtid_mode = {}", modes[0]));
        replica.start_thread(Thread::Io);
        refused(13117, &format!("{cannot_start}{}", modes[0]));
        source.run(&format!("SET GLOBAL gtid_mode = {}", modes[1]));
        replica.start_thread(Thread::Io);
        // MySQL says in its error log only which transaction it is about.
        let message = if replica.flavor() == Flavor::MySql { "could not queue event" } else { message };
        refused(13122, message);
        // One step towards the source.
        replica.run(&format!("SET GLOBAL gtid_mode = {}", modes[1]));
        replica.start_thread(Thread::Io);
        replica.catch_up(&source);
        assert_eq!(replica.rows("SHOW DATABASES LIKE 'd'"), ["d"]);
    }
}

#[test]
fn the_mode_forbids_slipstream() {
    the_mode_forbids(Flavor::Slipstream);
}

/// A transaction that a session is about to commit is not applied beside it: the applier waits for the session, and passes the transaction over if
/// that one has committed it.
#[test]
fn an_applier_waits_for_the_owner() {
    let pair = Pair::start_with(Flavor::Slipstream, Flavor::Slipstream, &Settings::default(), By::Gtid);
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"] {
        pair.source.run(sql);
    }
    let uuid = pair.source.rows("SELECT @@server_uuid").remove(0);
    for (end, number) in [("ROLLBACK", 3), ("COMMIT", 4)] {
        pair.replica.catch_up(&pair.source);
        let mut owner = pair.replica.connect();
        for sql in [&format!("SET gtid_next = '{uuid}:{number}'"), "BEGIN", "INSERT INTO d.t VALUES (100)"] {
            owner.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        pair.source.run(&format!("INSERT INTO d.t VALUES ({number})"));
        let received = pair.source.position();
        pair.replica.wait_until("received", |status| {
            status.received.as_ref().is_some_and(|position| *position >= received)
        });
        let seen = pair.replica.rows(&format!("SELECT COUNT(*) FROM d.t WHERE id = {number}"));
        assert_eq!(seen, ["0"], "applied beside the GTID's owner");
        owner.query(end).expect("ends");
        pair.replica.catch_up(&pair.source);
    }
    assert_eq!(pair.replica.rows("SELECT id FROM d.t ORDER BY id"), ["3", "100"]);
    let executed = pair.replica.rows("SELECT @@GLOBAL.gtid_executed");
    assert_eq!(executed, pair.source.rows("SELECT @@GLOBAL.gtid_executed"));
}
