//! Tests that sessions handle GTIDs as in MySQL, with one session or several, statement by
//! statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::{Position, StartFrom, Thread};
use binlog::event::event_type;
use protocol::client::{Client, ClientError};
use testkit::following::{By, Pair, SIZE, beginning};
use testkit::{Replica, Server, available};

const G: &str = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";

/// The statements, in which `G` stands for the UUID [`G`].
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))",
    // The session owns a GTID. A statement that fails gives it up.
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
    // The transaction of the owned GTID.
    "BEGIN",
    "INSERT INTO d.t VALUES (1, 'x')",
    "SET gtid_next = 'G:6'",
    "SELECT @@gtid_owned",
    "COMMIT",
    "SELECT @@gtid_owned, @@GLOBAL.gtid_owned, @@gtid_next",
    "INSERT INTO d.t VALUES (2, 'x')",
    // The GTID was executed before.
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
    // Changes of gtid_purged.
    "SET GLOBAL gtid_purged = 'G:1-10'",
    "SET GLOBAL gtid_purged = '+G:1-5'",
    "SET GLOBAL gtid_purged = '+bbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-5'",
    "SELECT source_uuid, interval_start, interval_end, gtid_tag FROM mysql.gtid_executed WHERE source_uuid LIKE 'bbbb%'",
    "SELECT @@GLOBAL.gtid_purged",
    "SET GLOBAL gtid_purged = 'cbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-5'",
    "SET GLOBAL gtid_purged = 'bbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-7'",
    "SELECT @@GLOBAL.gtid_purged",
    "SELECT WAIT_FOR_EXECUTED_GTID_SET('bbbbbbbb-aaaa-aaaa-aaaa-aaaaaaaaaaaa:3', 1), WAIT_FOR_EXECUTED_GTID_SET('G:30', 0.1)",
    // All steps between the modes, and what stands in their way.
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
            // Only the number of the binary log's files is the same on both servers.
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

/// A session that asks for a GTID that another session owns waits until that one's transaction
/// ends. Then it owns the GTID, or skips its own transaction.
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
    // When the owner goes away, nobody owns the GTID.
    drop(owner);
    server.connect().query(&format!("SET gtid_next = '{G}:7'")).expect("nobody owns it");
}

/// Tests the way from OFF to ON and back, a step at a time, under load with a replica attached.
fn the_online_way(replica: Flavor) {
    let settings = Settings { gtid: false, ..Settings::default() };
    let pair = Pair::start_with(Flavor::Slipstream, replica, &settings, By::Position);
    pair.source.fill(SIZE, 1);
    let (stop, options) = (Arc::new(AtomicBool::new(false)), pair.source.connect_options());
    let stopped = Arc::clone(&stop);
    // The load is slower than any replica applies it.
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
    // A replica accepts either kind of transaction before a source makes the other kind.
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

/// Tests that a receiver accepts no transaction that the replica's mode forbids, and goes on where
/// it was when the mode allows it. The forbidden transactions are old ones of a source whose mode
/// has changed, because a source whose mode still makes such transactions is refused at once.
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
        // MySQL names the transaction only in its error log.
        let message = if replica.flavor() == Flavor::MySql { "could not queue event" } else { message };
        refused(13122, message);
        // The replica's mode goes one step towards the source's.
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

/// A transaction that a session is about to commit is not applied beside it: the applier waits for
/// the session, and skips the transaction if the session has committed it.
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

/// Statements about the numbers that transactions get, and about which numbers there are. `U`
/// stands for the server's own UUID.
const NUMBERS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY)",
    "SET gtid_next = 'U:9223372036854775807'",
    "SET gtid_next = 'U:0'",
    "SET gtid_next = 'U:-1'",
    "SET gtid_next = 'U:18446744073709551616'",
    "SET gtid_next = 'U:tag:9223372036854775807'",
    "SET GLOBAL gtid_purged = '+U:9223372036854775807'",
    "SELECT GTID_SUBSET('U:9223372036854775806', 'U:1-9223372036854775806')",
    "SELECT GTID_SUBTRACT('U:1-9223372036854775806', 'U:3')",
    // The largest number is used, for this server's UUID and for another. The numbers before it are
    // given as before.
    "SET gtid_next = 'U:9223372036854775806'",
    "BEGIN",
    "COMMIT",
    "SET gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:9223372036854775806'",
    "BEGIN",
    "COMMIT",
    "SET gtid_next = AUTOMATIC",
    "INSERT INTO d.t VALUES (1)",
    "SELECT @@GLOBAL.gtid_executed",
    // A gap is filled, an owned number is left out, and a number that was rolled back is given
    // later.
    "SET gtid_next = 'U:6'",
    "BEGIN",
    "COMMIT",
    "SET gtid_next = AUTOMATIC",
    "INSERT INTO d.t VALUES (2), (3)",
    "INSERT INTO d.t VALUES (4)",
    "INSERT INTO d.t VALUES (5)",
    "SELECT @@GLOBAL.gtid_executed",
    "SET gtid_next = 'U:9'",
    "BEGIN",
    "INSERT INTO d.t VALUES (9)",
    "ROLLBACK",
    "SET gtid_next = AUTOMATIC",
    "INSERT INTO d.t VALUES (6)",
    "INSERT INTO d.t VALUES (7)",
    "SELECT @@GLOBAL.gtid_executed",
    "SET gtid_next = 'AUTOMATIC:tag'",
    "INSERT INTO d.t VALUES (8)",
    "SET gtid_next = 'U:tag:9223372036854775806'",
    "INSERT INTO d.t VALUES (9)",
    "SET gtid_next = 'AUTOMATIC:tag'",
    "INSERT INTO d.t VALUES (10)",
    "SET gtid_next = AUTOMATIC",
    "RESET BINARY LOGS AND GTIDS",
    "SET GLOBAL gtid_purged = 'U:2-9223372036854775805'",
    "INSERT INTO d.t VALUES (11)",
    "INSERT INTO d.t VALUES (12)",
    "SELECT @@GLOBAL.gtid_executed",
];

/// Runs a statement in which `U` stands for the server's UUID, and returns its outcome.
fn numbered(server: &Server, session: &mut Client, sql: &str) -> String {
    let uuid = server.rows("SELECT @@server_uuid").remove(0);
    outcome(session, &sql.replace("U:", &format!("{uuid}:"))).replace(&uuid, "U")
}

#[test]
fn numbers_are_given_as_mysql_gives_them() {
    if !available("gtids::numbers_are_given_as_mysql_gives_them", &[Flavor::MySql]) {
        return;
    }
    let [theirs, ours] = [Flavor::MySql, Flavor::Slipstream].map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        let mut session = server.connect();
        NUMBERS.iter().map(|sql| numbered(&server, &mut session, sql)).collect::<Vec<_>>()
    });
    // The UUIDs come in an order that differs between the servers.
    let sorted = |text: &str| {
        // Line feeds in the rows are shown escaped.
        let text = text.replace("\\n", "\n");
        let mut parts: Vec<_> = text.split([',', '"', '\n']).map(|part| part.trim().to_string()).collect();
        parts.sort_unstable();
        parts
    };
    let differing: Vec<_> =
        ours.iter().zip(&theirs).filter(|(ours, theirs)| sorted(ours) != sorted(theirs)).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

/// A server that has given its last number refuses statements that need one, with MySQL's error,
/// and goes on with everything else.
#[test]
fn a_server_without_numbers_goes_on() {
    let mut server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut session = server.connect();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.t VALUES (1, 0), (2, 0)",
        "RESET BINARY LOGS AND GTIDS",
        "SET GLOBAL gtid_purged = 'U:1-9223372036854775805'",
        "UPDATE d.t SET v = 1 WHERE id = 1",
    ] {
        let outcome = numbered(&server, &mut session, sql);
        assert!(outcome.ends_with("[]"), "{outcome}");
    }
    let exhausted = "1775 Impossible to generate GTID: the integer component reached the maximum value. Restart the server with a \
                     new server_uuid.";
    for _ in 0..2 {
        for sql in ["UPDATE d.t SET v = 2", "CREATE TABLE d.u (id INT)", "DROP TABLE d.t"] {
            let refused = outcome(&mut session, sql);
            assert!(refused.contains(exhausted), "{sql}: {refused}");
        }
        let branch = ["XA START 'x'", "UPDATE d.t SET v = 3", "XA END 'x'", "XA PREPARE 'x'"];
        let prepared = branch.map(|sql| outcome(&mut session, sql))[3].clone();
        assert!(prepared.contains("1402 XA_RBROLLBACK"), "{prepared}");
        for (sql, refused) in
            [("BEGIN", false), ("UPDATE d.t SET v = v + 5", false), ("COMMIT", true), ("ROLLBACK", false)]
        {
            let outcome = outcome(&mut session, sql);
            assert_eq!(outcome.contains(exhausted), refused, "{outcome}");
        }
        // Nothing was changed, and no session holds a lock.
        assert_eq!(server.rows("SELECT id, v FROM d.t FOR UPDATE NOWAIT"), ["1\t1", "2\t0"]);
        let set = format!("SET gtid_next = '{G}:1'");
        for sql in [&set, "BEGIN", "COMMIT", "SET gtid_next = AUTOMATIC"] {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        server.shut_down();
        server.come_back();
        session = server.connect();
        assert_eq!(server.rows("SELECT id, v FROM d.t"), ["1\t1", "2\t0"]);
    }
}

/// A source's GTID with a number that no transaction can have stops the replica with an error.
#[test]
fn received_numbers_are_checked() {
    for gno in [0, -1, i64::MAX] {
        let source = Server::start(Flavor::Slipstream, &Settings::default());
        source.run("SET GLOBAL binlog_checksum = 'NONE'");
        let from = StartFrom::Position(Position { offset: 4, ..source.position() });
        source.run("CREATE DATABASE d");
        let file = source.position().file;
        source.run("FLUSH BINARY LOGS");
        let path = source.datadir().join(&file);
        let mut bytes = os::disk::real().read(&path).expect("a file");
        let mut at = 4;
        while bytes[at + 4] != event_type::GTID {
            at += u32::from_le_bytes(bytes[at + 9..at + 13].try_into().expect("4 bytes")) as usize;
        }
        // The number comes after the flags and the UUID.
        let number = at + binlog::event::HEADER_LEN + 17;
        bytes[number..number + 8].copy_from_slice(&i64::to_le_bytes(gno));
        os::disk::real().write_atomically(&path, &bytes).expect("is written");
        let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
        replica.follow(source.flavor(), source.port(), &from);
        let status = replica.wait_until("stopped", |status| status.io_errno + status.sql_errno != 0);
        let errors = format!("{} {}", status.io_error, status.sql_error);
        assert!(errors.contains("the number of a GTID is out of range"), "{gno}: {status:?}");
        assert!(replica.rows("SHOW DATABASES LIKE 'd'").is_empty(), "it was applied");
    }
}
