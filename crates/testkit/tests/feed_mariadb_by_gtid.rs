//! Tests with a MariaDB server that replicates from Slipstream by MariaDB's GTIDs.

use bench::instance::{Flavor, RowImage};
use bench::replication::Thread;
use bench::sbtest::{Load, RandType, Workload, run_workload};
use testkit::available;
use testkit::following::{
    By, Pair, SIZE, carries_everything, catches_up_with_workers, survives_interruptions,
    tells_that_logs_are_lost,
};

const SOURCE: Flavor = Flavor::Slipstream;
const REPLICA: Flavor = Flavor::MariaDb;

fn pair() -> Pair {
    Pair::start(SOURCE, REPLICA, RowImage::Full, By::Gtid)
}

/// Returns the only cell of a query's result.
fn cell(server: &testkit::server::Server, sql: &str) -> String {
    server.rows(sql).pop().unwrap_or_default()
}

/// Checks that the replica is where the source's binary log ends, by both ways of counting.
fn is_at_the_end(pair: &Pair) {
    pair.is_equal();
    let (theirs, ours) =
        (cell(&pair.source, "SELECT @@gtid_binlog_pos"), cell(&pair.replica, "SELECT @@gtid_slave_pos"));
    assert_eq!(ours, theirs, "gtid_slave_pos");
    let executed = cell(&pair.source, "SELECT @@gtid_executed");
    let last = executed.rsplit(['-', ':']).next().unwrap_or_default();
    assert_eq!(theirs, format!("0-1-{last}"), "{executed}");
}

#[test]
fn everything_arrives() {
    if available("feed_mariadb_by_gtid::everything_arrives", &[REPLICA]) {
        carries_everything(SOURCE, REPLICA, RowImage::Full, By::Gtid);
    }
}

/// MariaDB's workers are optimistic: they go by the flags of the GTID events.
#[test]
fn with_workers() {
    if available("feed_mariadb_by_gtid::with_workers", &[REPLICA]) {
        catches_up_with_workers(SOURCE, REPLICA, RowImage::Full, By::Gtid, 4);
    }
}

#[test]
fn through_interruptions() {
    if available("feed_mariadb_by_gtid::through_interruptions", &[REPLICA]) {
        survives_interruptions(SOURCE, REPLICA, By::Gtid);
    }
}

#[test]
fn purged_files() {
    if available("feed_mariadb_by_gtid::purged_files", &[REPLICA]) {
        tells_that_logs_are_lost(SOURCE, REPLICA, By::Gtid);
    }
}

/// Both servers are killed under load, with small files of the binary log. Each number must still
/// belong to the same transaction.
#[test]
fn kills_and_rotations() {
    if !available("feed_mariadb_by_gtid::kills_and_rotations", &[REPLICA]) {
        return;
    }
    let mut pair = pair();
    pair.source.run("SET GLOBAL max_binlog_size = 200000");
    pair.source.fill(SIZE, 1);
    for seed in 0..3 {
        let options = pair.source.connect_options();
        let load = Load {
            workload: Workload::ReadWrite,
            size: SIZE,
            transactions: 100_000,
            clients: 2,
            rand_type: RandType::Special,
            seed,
        };
        // The load ends when its server is killed.
        let load = os::thread::spawn("load", move || run_workload(&options, &load, &mut |_| {}).is_err());
        let before = pair.proxy.passed_bytes();
        pair.replica.wait_until("under load", |_| pair.proxy.passed_bytes() > before + 300_000);
        pair.source.kill();
        assert!(load.join().expect("does not panic"), "the load ended before its server");
        pair.source.come_back();
        pair.source.run("SET GLOBAL max_binlog_size = 200000");
        pair.replica.server.kill();
        pair.load(Workload::ReadWrite, 20, seed);
        pair.replica.server.come_back();
        is_at_the_end(&pair);
    }
    let files = pair.source.rows("SHOW BINARY LOGS").len();
    assert!(files > 4, "{files} files");
    // After a purge, the rest of the log is enough for a replica that has everything before it.
    pair.replica.stop_thread(Thread::Io);
    let last = pair.source.position().file;
    pair.source.run(&format!("PURGE BINARY LOGS TO '{last}'"));
    pair.load(Workload::ReadWrite, 20, 9);
    pair.replica.start_thread(Thread::Io);
    is_at_the_end(&pair);
}

/// Compressed transactions are sent event by event. The replica then counts more bytes than the
/// file has, and must go on in spite of heartbeats.
#[test]
fn compressed_transactions_and_heartbeats() {
    if !available("feed_mariadb_by_gtid::compressed_transactions_and_heartbeats", &[REPLICA]) {
        return;
    }
    let pair = pair();
    for thread in [Thread::Io, Thread::Sql] {
        pair.replica.stop_thread(thread);
    }
    pair.replica.run("CHANGE MASTER TO MASTER_HEARTBEAT_PERIOD = 0.05");
    for thread in [Thread::Io, Thread::Sql] {
        pair.replica.start_thread(thread);
    }
    pair.source.run("SET GLOBAL binlog_transaction_compression = ON");
    pair.source.fill(SIZE, 1);
    pair.load(Workload::ReadWrite, 200, 1);
    let payloads = pair.source.rows(&format!("SHOW BINLOG EVENTS IN '{}'", pair.source.position().file));
    assert!(payloads.iter().any(|row| row.contains("Transaction_payload")), "nothing was compressed");
    is_at_the_end(&pair);
    let heartbeats = || -> u64 {
        let row = cell(&pair.replica, "SHOW STATUS LIKE 'Slave_received_heartbeats'");
        row.rsplit('\t').next().and_then(|count| count.parse().ok()).unwrap_or(0)
    };
    let before = heartbeats();
    pair.replica.wait_until("told by heartbeats", |status| {
        assert_eq!(status.io_errno, 0, "{status:?}");
        heartbeats() > before + 3
    });
    pair.load(Workload::ReadWrite, 20, 2);
    is_at_the_end(&pair);
}

/// A replica begins and ends where it is told to, and is refused if it asks for what the log does
/// not have.
#[test]
fn from_one_place_to_another() {
    if !available("feed_mariadb_by_gtid::from_one_place_to_another", &[REPLICA]) {
        return;
    }
    let pair = pair();
    pair.replica.stop_thread(Thread::Io);
    pair.replica.stop_thread(Thread::Sql);
    let run = |sql: &str| drop(pair.source.run(sql));
    run("CREATE DATABASE d");
    run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    let begin = pair.source.position();
    (1..=4).for_each(|id| run(&format!("INSERT INTO d.t VALUES ({id})")));
    run("FLUSH BINARY LOGS");
    (5..=9).for_each(|id| run(&format!("INSERT INTO d.t VALUES ({id})")));
    let at = |file: &str, pos: u64| cell(&pair.source, &format!("SELECT BINLOG_GTID_POS('{file}', {pos})"));
    let gtid = at(&begin.file, begin.offset);
    let number = |gtid: &str| gtid.rsplit('-').next().and_then(|seq| seq.parse::<u64>().ok()).unwrap_or(0);
    assert_eq!(number(&cell(&pair.source, "SELECT @@gtid_binlog_pos")), number(&gtid) + 9);
    assert_eq!(at(&begin.file, 4), at("", 4), "a file without a name is the first one");
    assert_eq!(at(&begin.file, begin.offset - 1), "NULL", "no event begins there");
    assert_eq!(at("other.000001", 4), "NULL");
    pair.replica.run("CREATE DATABASE d");
    pair.replica.run("CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB");
    let begins_at = |gtid: &str| drop(pair.replica.run(&format!("SET GLOBAL gtid_slave_pos = '{gtid}'")));
    begins_at(&gtid);
    // The first end is in the first file of the log, the second one in the second file.
    for (until, rows) in [(number(&gtid) + 3, 3), (number(&gtid) + 6, 6)] {
        pair.replica.run(&format!("START SLAVE UNTIL master_gtid_pos = '0-1-{until}'"));
        pair.replica
            .wait_until("at its end", |status| status.sql_running == "No" && status.io_running == "No");
        assert_eq!(pair.replica.rows("SELECT COUNT(*) FROM d.t"), [rows.to_string()]);
        assert_eq!(cell(&pair.replica, "SELECT @@gtid_slave_pos"), format!("0-1-{until}"));
    }
    // The first number is one that the log does not have yet, the second belongs to another server.
    for wrong in [format!("0-1-{}", number(&gtid) + 100), format!("0-7-{}", number(&gtid) + 1)] {
        begins_at(&wrong);
        // Both threads are started, because the receiver alone would keep the end that it was
        // given.
        pair.replica.run("START SLAVE");
        let status = pair.replica.wait_until("refused", |status| status.io_errno != 0);
        assert_eq!(status.io_errno, 1236);
        let expected = format!("requested to start from GTID {wrong}, which is not in the master's binlog");
        assert!(status.io_error.contains(&expected), "{}", status.io_error);
        pair.replica.run("STOP SLAVE");
    }
}

/// Transactions without GTIDs have no numbers for MariaDB, so a replica is refused.
#[test]
fn anonymous_transactions_are_refused() {
    if !available("feed_mariadb_by_gtid::anonymous_transactions_are_refused", &[REPLICA]) {
        return;
    }
    let pair = pair();
    pair.source.fill(SIZE, 1);
    is_at_the_end(&pair);
    pair.replica.stop_thread(Thread::Io);
    pair.source.run("SET GLOBAL gtid_mode = ON_PERMISSIVE");
    assert_eq!(cell(&pair.source, "SELECT @@gtid_binlog_pos"), "");
    pair.replica.start_thread(Thread::Io);
    let status = pair.replica.wait_until("refused", |status| status.io_errno != 0);
    assert!(status.io_errno == 1236 && status.io_error.contains("GTID_MODE"), "{}", status.io_error);
    pair.replica.stop_thread(Thread::Io);
    pair.source.run("SET GLOBAL gtid_mode = ON");
    pair.replica.start_thread(Thread::Io);
    pair.load(Workload::ReadWrite, 20, 3);
    is_at_the_end(&pair);
}
