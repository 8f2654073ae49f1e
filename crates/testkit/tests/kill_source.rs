//! Tests with `kill -9` of a source under load, with a MySQL replica and a Slipstream replica
//! behind it: both continue by themselves and end with the same rows, and everything that the
//! source acknowledged is there.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use os::random::{Rng, test_seed};
use testkit::ledger::Ledger;
use testkit::{Replica, Server};

const COUNTS: &str = "SELECT client, n FROM ledger.total ORDER BY client";
const ENTRIES: &str =
    "SELECT client, COUNT(*), MIN(number), MAX(number) FROM ledger.entry GROUP BY client ORDER BY client";

fn follow(source: &Server, flavor: Flavor, server_id: u32) -> Replica {
    let replica = Replica::start(flavor, &Settings { server_id, ..Settings::default() });
    replica.follow(source.flavor(), source.port(), &StartFrom::Gtid);
    replica
}

#[test]
fn replicas_go_on_by_themselves() {
    let mut rng = Rng::new(test_seed("kill_source"));
    let mut source = Server::start(Flavor::Slipstream, &Settings { server_id: 1, ..Settings::default() });
    let ledger = Ledger::create(&source, 4);
    let mut replicas = vec![follow(&source, Flavor::Slipstream, 2)];
    if testkit::available("kill_source::replicas_go_on_by_themselves (with MySQL)", &[Flavor::MySql]) {
        replicas.push(follow(&source, Flavor::MySql, 3));
    }
    let kills = testkit::times("SLIPSTREAM_SOURCE_KILLS", 2);
    for round in 0..kills {
        let working = ledger.work(&source);
        os::clock::sleep(Duration::from_millis(rng.between(20, 500)));
        source.kill();
        working.end();
        source.come_back();
        let commits = ledger.check(&source);
        // The replicas get something to catch up with, in the file that the source has begun.
        source.run(&format!("CREATE DATABASE after_kill_{round}"));
        for replica in &replicas {
            replica.catch_up(&source);
            for sql in [COUNTS, ENTRIES, "SELECT @@global.gtid_executed"] {
                replica.equals_by(&source, sql);
            }
        }
        println!("kill {round}: {commits} commits");
    }
    assert!(ledger.acknowledged() > kills, "there was no load");
}
