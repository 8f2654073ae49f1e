//! Tests with faults of replication, over and over: the source is killed, the replica is killed,
//! their connection is cut in the middle of an event. Meanwhile clients commit, and readers look at
//! both ends. After each fault the replica's position belongs to exactly the transactions that it
//! has, and its GTIDs and rows are the source's; no reader ever sees a state that the source has
//! not had.

use std::time::Duration;

use bench::instance::{Flavor, RowImage, Settings};
use os::clock::{Stopwatch, sleep};
use os::random::{Rng, test_seed};
use testkit::following::{By, Pair};
use testkit::ledger::Ledger;
use testkit::server::{SOON, Server};
use testkit::witness::Witnesses;

const CLIENTS: u32 = 4;

/// The queries whose rows must be the same at both ends.
const TABLES: [&str; 4] = [
    "SELECT client, COUNT(*), MAX(number), SUM(CRC32(CONCAT_WS('#', client, number))) FROM ledger.entry GROUP BY client",
    "SELECT client, n FROM ledger.total ORDER BY client",
    "SELECT account, n FROM ledger.debit ORDER BY account",
    "SELECT account, n FROM ledger.credit ORDER BY account",
];

/// A fault, which strikes once in each round.
#[derive(Clone, Copy, Debug)]
enum Fault {
    SourceKilled,
    ReplicaKilled,
    ConnectionCut,
}

/// A source and its replica, while clients are at both.
struct Round<'a> {
    pair: &'a mut Pair,
    ledger: &'a Ledger,
    /// The number of transactions of the source before the ledger's first.
    before: u64,
}

/// Returns the number of the last transaction in a GTID set that has one server's transactions from
/// 1 on.
fn last_transaction(gtids: &str) -> u64 {
    let last = gtids.trim().split_once(":1-").and_then(|(_, last)| last.parse().ok());
    last.unwrap_or_else(|| panic!("'{gtids}' is not all of one server's transactions"))
}

fn executed(server: &Server) -> String {
    server.rows("SELECT @@global.gtid_executed")[0].clone()
}

/// Checks that the position and the GTIDs of a replica that came back and applies nothing yet are
/// those of the rows that it has.
fn position_is_exact(round: &Round<'_>) {
    let status = round.pair.replica.status();
    let has = last_transaction(&status.executed_gtid_set);
    let commits: u64 = round.pair.replica.rows("SELECT SUM(n) FROM ledger.total")[0].parse().expect("a sum");
    assert_eq!(has, round.before + commits, "the GTIDs are not those of the rows: {status:?}");
    let at = status.applied.as_ref().expect("it has applied something");
    assert_shown_where_it_is_kept(round, &at.file, at.offset);
    let next = format!("SHOW BINLOG EVENTS IN '{}' FROM {} LIMIT 1", at.file, at.offset);
    for event in round.pair.source.rows(&next) {
        let is_transaction = event.split('\t').nth(2) == Some("Gtid");
        let is_next = event.contains(&format!(":{}'", has + 1));
        assert!(!is_transaction || is_next, "transaction {has} was the last, and at {at} there is {event}");
    }
}

/// Checks that the position of a replica that applies nothing is in the table or in the file, as
/// `relay_log_info_repository` says.
fn assert_shown_where_it_is_kept(round: &Round<'_>, file: &str, offset: u64) {
    let replica = &round.pair.replica;
    let in_table = replica.rows("SELECT Master_log_name, Master_log_pos FROM mysql.slave_relay_log_info");
    if replica.rows("SELECT @@relay_log_info_repository") == ["TABLE"] {
        assert_eq!(in_table, [format!("{file}\t{offset}")]);
        return;
    }
    let wanted = [file.to_string(), offset.to_string()];
    let clock = Stopwatch::start();
    loop {
        let text =
            std::fs::read_to_string(replica.datadir().join("relay-log.info")).expect("the file is there");
        let lines: Vec<&str> = text.lines().collect();
        if lines[3..=4] == wanted {
            break;
        }
        let applies = replica.status().sql_running == "Yes";
        assert!(applies && clock.elapsed() < SOON, "at {file}:{offset} the file says {lines:?}");
        sleep(Duration::from_millis(10));
    }
}

fn cut_in_the_middle(round: &Round<'_>, rng: &mut Rng) {
    let after = rng.between(1, 30_000);
    let until = round.pair.proxy.passed_bytes() + after;
    round.pair.proxy.cut_after(after);
    let clock = Stopwatch::start();
    while round.pair.proxy.passed_bytes() < until {
        assert!(clock.elapsed() < SOON, "nothing passes\n{}", round.pair.replica.log_tail());
        sleep(Duration::from_millis(1));
    }
}

fn strike(round: &mut Round<'_>, fault: Fault, rng: &mut Rng) {
    let working = round.ledger.work(&round.pair.source);
    sleep(Duration::from_millis(rng.between(10, 250)));
    match fault {
        Fault::SourceKilled => {
            round.pair.source.kill();
            working.end();
            round.pair.source.come_back();
        }
        Fault::ReplicaKilled => {
            round.pair.replica.server.kill();
            working.end();
            let settings = round.pair.replica.settings().clone();
            let stopped = Settings { start_replica: false, ..settings.clone() };
            round.pair.replica.server.start_again_with(&stopped).unwrap_or_else(|error| panic!("{error}"));
            position_is_exact(round);
            for thread in [bench::replication::Thread::Io, bench::replication::Thread::Sql] {
                round.pair.replica.start_thread(thread);
            }
        }
        Fault::ConnectionCut => {
            cut_in_the_middle(round, rng);
            working.end();
        }
    }
}

/// Checks that the replica has everything that the source has, and reports so.
fn is_equal(round: &Round<'_>) {
    let (source, replica) = (&round.pair.source, &round.pair.replica);
    replica.catch_up(source);
    let end = source.position();
    let status = replica.status();
    assert_eq!(status.applied.as_ref(), Some(&end), "{status:?}");
    assert_shown_where_it_is_kept(round, &end.file, end.offset);
    assert_eq!(executed(replica), executed(source), "the GTIDs differ");
    TABLES.iter().for_each(|sql| replica.equals_by(source, sql));
}

fn survives(test: &str, (source, fault): (Flavor, Fault), settings: &Settings, by: By) {
    let mut rng = Rng::new(test_seed(test));
    let settings = Settings { row_image: RowImage::Minimal, ..settings.clone() };
    let mut pair = Pair::start_with(source, Flavor::Slipstream, &settings, by);
    let ledger = Ledger::create(&pair.source, CLIENTS);
    pair.replica.catch_up(&pair.source);
    let before = last_transaction(&executed(&pair.source));
    let witnesses = Witnesses::watch([&pair.source, &pair.replica.server, &pair.replica.server]);
    let times = testkit::times("SLIPSTREAM_FAULTS", 3);
    for _ in 0..times {
        let mut round = Round { pair: &mut pair, ledger: &ledger, before };
        strike(&mut round, fault, &mut rng);
        ledger.check(&round.pair.source);
        is_equal(&round);
    }
    let snapshots = witnesses.end();
    let commits = ledger.acknowledged();
    println!("{test}: {times} times, {commits} commits, snapshots of source and replica {snapshots:?}");
    assert!(commits > times, "the clients did next to nothing");
    assert!(snapshots.iter().all(|count| *count > times), "the readers saw next to nothing: {snapshots:?}");
}

#[test]
fn source_killed() {
    let settings = Settings { replica_workers: 4, ..Settings::default() };
    survives("fault_loops::source_killed", (Flavor::Slipstream, Fault::SourceKilled), &settings, By::Gtid);
}

#[test]
fn replica_killed() {
    let settings = Settings { replica_workers: 4, ..Settings::default() };
    survives(
        "fault_loops::replica_killed",
        (Flavor::Slipstream, Fault::ReplicaKilled),
        &settings,
        By::Position,
    );
}

/// Tests a replica with the position in a file, which the server writes anew when it has recovered.
#[test]
fn replica_killed_that_has_files() {
    let files = ["--relay-log-info-repository=FILE", "--master-info-repository=FILE"];
    let settings = Settings { extra: files.map(str::to_string).to_vec(), ..Settings::default() };
    survives(
        "fault_loops::replica_killed_that_has_files",
        (Flavor::Slipstream, Fault::ReplicaKilled),
        &settings,
        By::Gtid,
    );
}

#[test]
fn connection_cut() {
    let settings = Settings { replica_workers: 4, ..Settings::default() };
    survives("fault_loops::connection_cut", (Flavor::Slipstream, Fault::ConnectionCut), &settings, By::Gtid);
}

#[test]
fn replica_killed_behind_mysql() {
    let test = "fault_loops::replica_killed_behind_mysql";
    if testkit::available(test, &[Flavor::MySql]) {
        let settings = Settings { durable: false, ..Settings::default() };
        survives(test, (Flavor::MySql, Fault::ReplicaKilled), &settings, By::Gtid);
    }
}

#[test]
fn connection_to_mysql_cut() {
    let test = "fault_loops::connection_to_mysql_cut";
    if testkit::available(test, &[Flavor::MySql]) {
        let settings = Settings { log_replica_updates: false, ..Settings::default() };
        survives(test, (Flavor::MySql, Fault::ConnectionCut), &settings, By::Position);
    }
}
