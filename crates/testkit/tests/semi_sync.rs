//! Tests of semi-synchronous replication, with Slipstream on each side and real servers on the
//! other.

use std::time::Duration;

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::Thread;
use bench::sbtest::Workload;
use os::clock::{Stopwatch, sleep};
use testkit::Server;
use testkit::following::{By, Pair, SIZE};
use testkit::server::{SOON, same_as_mysql};

/// The time that is given to what must not happen.
const A_WHILE: Duration = Duration::from_millis(200);

/// Returns the server's words for source and replica in the names of variables.
fn words(server: &Server) -> (&'static str, &'static str) {
    if server.flavor() == Flavor::MariaDb { ("master", "slave") } else { ("source", "replica") }
}

fn set(server: &Server, name: &str, value: &str) {
    server.run(&format!("SET GLOBAL rpl_semi_sync_{name} = {value}"));
}

fn status(server: &Server, name: &str) -> String {
    let rows = server.rows(&format!("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{name}'"));
    rows.first().and_then(|row| row.split('\t').nth(1)).unwrap_or("none").to_string()
}

fn wait_for_status(server: &Server, name: &str, wanted: &str) {
    let clock = Stopwatch::start();
    while status(server, name) != wanted {
        assert!(
            clock.elapsed() < SOON,
            "{name} is {}, not {wanted}\n{}",
            status(server, name),
            server.log_tail()
        );
        sleep(Duration::from_millis(10));
    }
}

/// Starts a pair that replicates semi-synchronously, with a timeout that no test waits for.
fn pair(source: Flavor, replica: Flavor, by: By) -> Pair {
    let pair = Pair::start(source, replica, RowImage::Full, by);
    pair.source.fill(SIZE, 1);
    pair.is_equal();
    for (server, side) in [(&pair.source, "source"), (&pair.replica.server, "replica")] {
        if server.flavor() == Flavor::MySql {
            server.run(&format!("INSTALL PLUGIN rpl_semi_sync_{side} SONAME 'semisync_{side}.so'"));
        }
    }
    let ((source_word, _), (_, replica_word)) = (words(&pair.source), words(&pair.replica));
    set(&pair.source, &format!("{source_word}_timeout"), "600000");
    set(&pair.replica, &format!("{replica_word}_enabled"), "ON");
    pair.replica.stop_thread(Thread::Io);
    pair.replica.start_thread(Thread::Io);
    wait_for_status(&pair.replica, &format!("{replica_word}_status"), "ON");
    wait_for_status(&pair.source, &format!("{source_word}_clients"), "1");
    set(&pair.source, &format!("{source_word}_enabled"), "ON");
    wait_for_status(&pair.source, &format!("{source_word}_status"), "ON");
    pair
}

/// Tests that every commit is acknowledged, and that a commit waits as long as the replica does not
/// receive.
fn waits_for_the_replica(source: Flavor, replica: Flavor, by: By) {
    let pair = pair(source, replica, by);
    let (side, _) = words(&pair.source);
    pair.load(Workload::ReadWrite, 300, 5);
    pair.source.run("FLUSH BINARY LOGS");
    pair.load(Workload::UpdateNonIndex, 300, 6);
    let acknowledged: u64 = status(&pair.source, &format!("{side}_yes_tx")).parse().expect("a number");
    // MySQL counts commits of one group as one.
    let wanted = if source == Flavor::MySql { 1 } else { 600 };
    assert!(acknowledged >= wanted, "{acknowledged} commits were acknowledged");
    assert_eq!(status(&pair.source, &format!("{side}_no_tx")), "0");
    pair.is_equal();

    pair.source.run("CREATE TABLE sbtest.waited (id INT PRIMARY KEY)");
    pair.replica.stop_thread(Thread::Io);
    let mut session = pair.source.connect();
    let waiting = os::thread::spawn("waits_for_the_replica", move || {
        session.query("INSERT INTO sbtest.waited VALUES (1)").expect("is acknowledged in the end");
    });
    sleep(A_WHILE);
    assert!(!waiting.is_finished(), "a commit was answered that no replica has");
    if source == Flavor::Slipstream {
        // With AFTER_SYNC no session has seen what could be lost; with AFTER_COMMIT every session
        // sees it.
        assert!(pair.source.rows("SELECT id FROM sbtest.waited").is_empty());
        set(&pair.source, "source_wait_point", "AFTER_COMMIT");
        assert_eq!(pair.source.rows("SELECT id FROM sbtest.waited"), ["1"]);
        assert!(!waiting.is_finished(), "a commit was answered that no replica has");
    }
    pair.replica.start_thread(Thread::Io);
    waiting.join().expect("is answered when the replica has it");
    pair.is_equal();
}

/// Tests that a replica may come anew that has a transaction already whose commit still waits: its
/// acknowledgement was lost with the old connection.
fn takes_a_replica_that_has_what_waits(source: Flavor) {
    let pair = pair(source, Flavor::Slipstream, By::Gtid);
    pair.source.run("CREATE TABLE sbtest.waited (id INT PRIMARY KEY)");
    pair.is_equal();
    pair.replica.stop_thread(Thread::Io);
    let last = pair.source.rows("SELECT SUBSTRING_INDEX(@@gtid_executed, '-', -1)").concat();
    let next = last.parse::<u64>().expect("the number of a transaction") + 1;
    let mut session = pair.source.connect();
    let waiting = os::thread::spawn("has_what_waits", move || {
        session.query("INSERT INTO sbtest.waited VALUES (1)").expect("is acknowledged in the end");
    });
    let wait_sessions = || status(&pair.source, "source_wait_sessions");
    let clock = Stopwatch::start();
    while wait_sessions() != "1" {
        assert!(clock.elapsed() < SOON, "{} sessions wait", wait_sessions());
        sleep(Duration::from_millis(10));
    }
    let uuid = pair.source.rows("SELECT @@server_uuid").concat();
    let mut received = pair.replica.server.connect();
    for sql in [
        &format!("SET gtid_next = '{uuid}:{next}'"),
        "INSERT INTO sbtest.waited VALUES (1)",
        "SET gtid_next = 'AUTOMATIC'",
    ] {
        received.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    pair.replica.start_thread(Thread::Io);
    wait_for_status(&pair.replica, "replica_status", "ON");
    // The acknowledgement of a later transaction is one of all before it.
    pair.source.run("INSERT INTO sbtest.waited VALUES (2)");
    waiting.join().expect("is answered when the replica has it");
    pair.is_equal();
}

#[test]
fn a_replica_with_a_transaction_that_waits_may_come_anew() {
    takes_a_replica_that_has_what_waits(Flavor::Slipstream);
    let name = "a_replica_with_a_transaction_that_waits_may_come_anew";
    if testkit::available(name, &[Flavor::MySql]) {
        takes_a_replica_that_has_what_waits(Flavor::MySql);
    }
}

#[test]
fn slipstream_for_slipstream() {
    waits_for_the_replica(Flavor::Slipstream, Flavor::Slipstream, By::Gtid);
}

#[test]
fn slipstream_for_mysql() {
    if testkit::available("semi_sync::slipstream_for_mysql", &[Flavor::MySql]) {
        waits_for_the_replica(Flavor::Slipstream, Flavor::MySql, By::Gtid);
    }
}

#[test]
fn slipstream_for_mariadb() {
    if testkit::available("semi_sync::slipstream_for_mariadb", &[Flavor::MariaDb]) {
        waits_for_the_replica(Flavor::Slipstream, Flavor::MariaDb, By::Position);
    }
}

#[test]
fn slipstream_for_mariadb_by_gtid() {
    if testkit::available("semi_sync::slipstream_for_mariadb_by_gtid", &[Flavor::MariaDb]) {
        waits_for_the_replica(Flavor::Slipstream, Flavor::MariaDb, By::Gtid);
    }
}

#[test]
fn mysql_for_slipstream() {
    if testkit::available("semi_sync::mysql_for_slipstream", &[Flavor::MySql]) {
        waits_for_the_replica(Flavor::MySql, Flavor::Slipstream, By::Gtid);
    }
}

#[test]
fn mariadb_for_slipstream() {
    if testkit::available("semi_sync::mariadb_for_slipstream", &[Flavor::MariaDb]) {
        waits_for_the_replica(Flavor::MariaDb, Flavor::Slipstream, By::Gtid);
    }
}

#[test]
fn after_the_timeout_it_goes_on_without_until_the_replica_is_back() {
    let pair = pair(Flavor::Slipstream, Flavor::Slipstream, By::Gtid);
    pair.replica.stop_thread(Thread::Io);
    set(&pair.source, "source_timeout", "50");
    pair.load(Workload::UpdateNonIndex, 50, 7);
    assert_eq!(status(&pair.source, "source_status"), "OFF");
    assert_eq!(status(&pair.source, "source_no_times"), "1");
    set(&pair.source, "source_timeout", "600000");
    pair.replica.start_thread(Thread::Io);
    pair.load(Workload::UpdateNonIndex, 50, 8);
    wait_for_status(&pair.source, "source_status", "ON");
    pair.is_equal();
}

#[test]
fn its_plugins_are_there_already() {
    let server = Server::under_test();
    if server.flavor() == Flavor::Slipstream {
        let (code, _) = server.refuses("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'");
        assert_eq!(code, 1125);
        assert!(
            server.rows("SHOW PLUGINS").iter().any(|row| row.starts_with("rpl_semi_sync_replica\tACTIVE"))
        );
        assert_eq!(server.rows("SELECT @@rpl_semi_sync_master_timeout"), ["10000"]);
    }
}

#[test]
fn its_variables_are_those_of_mysql() {
    let names = same_as_mysql("semi_sync_status", &Settings::default(), |server| {
        for side in ["source", "replica"].iter().filter(|_| server.flavor() == Flavor::MySql) {
            server.run(&format!("INSTALL PLUGIN rpl_semi_sync_{side} SONAME 'semisync_{side}.so'"));
        }
        // MySQL's threads measure their waits for the network and the clock too.
        let mut lines = server.rows(
            "SELECT * FROM performance_schema.global_status WHERE variable_name LIKE 'Rpl_semi_sync%' \
             AND variable_name NOT REGEXP '_(net_|timefunc_|wait_pos_)' ORDER BY variable_name",
        );
        lines.extend(server.rows("SHOW VARIABLES LIKE 'rpl_semi_sync_%_enabled'"));
        lines
    });
    assert!(!names.is_empty());
}

#[test]
fn an_old_name_of_a_variable_is_shown_to_those_who_ask_for_it_alone() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let enabled = |pattern: &str| server.rows(&format!("SHOW GLOBAL VARIABLES LIKE '{pattern}'"));
    assert_eq!(enabled("RPL_semi_sync_master_enabled"), ["rpl_semi_sync_master_enabled\tOFF"]);
    assert_eq!(enabled("rpl_semi_sync_master%"), [""; 0]);
}
