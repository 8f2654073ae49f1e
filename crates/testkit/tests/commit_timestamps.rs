//! Tests of the times that events carry down a chain of replicas: when the transaction was first
//! committed, and when it was committed on the server that wrote the event
//! (`original_commit_timestamp`, `immediate_commit_timestamp`).

use std::collections::HashMap;

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use binlog::event::Event;
use testkit::following::{By, Pair};
use testkit::{Replica, Server, available, binlog_events};

/// Returns for each GTID of the server with this UUID when the transaction was first committed,
/// when it was committed here (both in microseconds), and the version of its first server.
fn commits(server: &Server, uuid: &str) -> HashMap<String, (u64, u64, u32)> {
    let mut commits = HashMap::new();
    for event in binlog_events::of(server) {
        if let Event::Gtid(gtid) = event.decode().1 {
            let times = (gtid.original_commit_us, gtid.immediate_commit_us, gtid.original_server_version);
            commits.insert(gtid.gtid.to_string(), times);
        }
    }
    commits.retain(|gtid, _| gtid.starts_with(uuid));
    commits
}

fn down_a_chain(first: Flavor, last: Flavor) {
    let settings = Settings::default();
    let pair = Pair::start_with(first, Flavor::Slipstream, &settings, By::Gtid);
    let last = Replica::start(last, &Settings { server_id: 3, ..settings });
    last.follow(Flavor::Slipstream, pair.replica.port(), &StartFrom::Gtid);
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"] {
        pair.source.run(sql);
    }
    (0..20).for_each(|id| drop(pair.source.run(&format!("INSERT INTO d.t VALUES ({id})"))));
    pair.replica.catch_up(&pair.source);
    last.catch_up(&pair.replica);
    let uuid = pair.source.rows("SELECT @@server_uuid").remove(0);
    let at_first = commits(&pair.source, &uuid);
    assert!(at_first.len() >= 22, "{} transactions", at_first.len());
    for further in [commits(&pair.replica, &uuid), commits(&last, &uuid)] {
        assert_eq!(further.len(), at_first.len());
        for (gtid, (original, immediate, version)) in &at_first {
            assert_eq!(original, immediate, "{gtid} was first committed there");
            let (original_there, immediate_there, version_there) = further[gtid];
            assert_eq!((original_there, version_there), (*original, *version), "{gtid}");
            assert!(immediate_there > *original, "{gtid}: one clock, and it came later");
        }
    }
}

#[test]
fn from_mysql_through_ours_to_mysql() {
    if available("commit_timestamps::from_mysql_through_ours_to_mysql", &[Flavor::MySql]) {
        down_a_chain(Flavor::MySql, Flavor::MySql);
    }
}

#[test]
fn through_our_own() {
    down_a_chain(Flavor::Slipstream, Flavor::Slipstream);
}
