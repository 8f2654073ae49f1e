//! Tests of how many syncs a commit costs: one of the redo log, and none of the binary log,
//! whatever the value of `sync_binlog`.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use os::clock::Stopwatch;
use testkit::Server;

const COMMITS: u64 = 200;
/// The time between two syncs of the binary log's file is at least this, if no file ends and little
/// is written.
const BINLOG_SYNC_INTERVAL: Duration = Duration::from_millis(500);

/// Returns the numbers of syncs of the redo log and of the binary log so far, as the server counts
/// them.
fn syncs(server: &Server) -> (u64, u64) {
    let number =
        |rows: Vec<String>| rows[0].rsplit('\t').next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let log = number(server.rows("SHOW GLOBAL STATUS LIKE 'Innodb_os_log_fsyncs'"));
    let binlog =
        number(server.rows(
            "SELECT SUM(COUNT_ENTERED) FROM performance_schema.thread_times WHERE STATE = 'binlog_sync'",
        ));
    (log, binlog)
}

#[test]
fn a_commit_syncs_the_redo_log_once_and_nothing_else() {
    for log_bin in [true, false] {
        let settings = Settings { durable: true, log_bin, ..Settings::default() };
        let server = Server::start(Flavor::Slipstream, &settings);
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
        server.run("INSERT INTO d.t VALUES (1, 0)");
        for sync_binlog in [0, 1] {
            server.run(&format!("SET GLOBAL sync_binlog = {sync_binlog}"));
            let mut session = server.connect();
            let (before, clock) = (syncs(&server), Stopwatch::start());
            for _ in 0..COMMITS {
                session.query("UPDATE d.t SET v = v + 1").unwrap_or_else(|error| panic!("{error}"));
            }
            let (after, elapsed) = (syncs(&server), clock.elapsed());
            let (log, binlog) = (after.0 - before.0, after.1 - before.1);
            println!(
                "log_bin {log_bin}, sync_binlog {sync_binlog}: {COMMITS} commits, {log} syncs of the redo log, {binlog} of the binary log"
            );
            assert!(log >= COMMITS, "{log} syncs of the redo log for {COMMITS} commits, one after the other");
            // The log is also synced in the background: for checkpoints, and for commits that
            // nobody waits for.
            let background = 5 + (elapsed.as_millis() / 100) as u64;
            assert!(log <= COMMITS + background, "{log} syncs of the redo log in {elapsed:?}");
            let rare = 3 + (elapsed.as_millis() / BINLOG_SYNC_INTERVAL.as_millis()) as u64;
            assert!(binlog <= rare, "{binlog} syncs of the binary log in {elapsed:?}");
        }
    }
}
