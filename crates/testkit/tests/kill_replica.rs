//! Tests with `kill -9` of a replica under load, after a random delay, with durable and with
//! relaxed settings: after each restart the replica continues by itself from exactly the last
//! transaction that it applied, and at the end its tables are the source's.

use std::time::Duration;

use bench::instance::{Flavor, RowImage, Settings};
use bench::sbtest::Workload;
use os::clock::sleep;
use os::random::{Rng, test_seed};
use testkit::background::Background;
use testkit::following::{By, Pair, SIZE};
use testkit::kills;
use testkit::server::flavor_under_test;

fn goes_on_after_every_kill(test: &str, source: Flavor, durable: bool, by: By, replica_workers: u32) {
    let mut rng = Rng::new(test_seed(test));
    let settings = Settings { durable, row_image: RowImage::Minimal, replica_workers, ..Settings::default() };
    let mut pair = Pair::start_with(source, flavor_under_test(), &settings, by);
    pair.source.fill(SIZE, 1);
    pair.is_equal();
    let load = Background::start(pair.source.connect_options(), Workload::ReadWrite, SIZE, 2, 7);
    let kills = kills();
    for _ in 1..=kills {
        sleep(Duration::from_millis(rng.between(1, 300)));
        pair.replica.server.kill();
        if rng.one_in(5) {
            // The replica is killed a second time while it recovers.
            pair.replica.server.launch().unwrap_or_else(|error| panic!("{error}"));
            sleep(Duration::from_millis(rng.between(1, 100)));
            pair.replica.server.kill();
        }
        let source_was_at = pair.source.position();
        pair.replica.server.come_back();
        if rng.one_in(4) {
            // The replica must get past what it had at the kill without any command.
            pair.replica.reach(&source_was_at);
        }
    }
    let committed = load.stop();
    println!("{test}: {kills} kills, {committed} transactions");
    assert!(committed > 0, "the load did nothing");
    pair.is_equal();
}

#[test]
fn durable_behind_mysql() {
    if testkit::available("kill_replica::durable_behind_mysql", &[Flavor::MySql]) {
        goes_on_after_every_kill("durable_behind_mysql", Flavor::MySql, true, By::Gtid, 4);
    }
}

#[test]
fn relaxed_behind_mariadb() {
    if testkit::available("kill_replica::relaxed_behind_mariadb", &[Flavor::MariaDb]) {
        goes_on_after_every_kill("relaxed_behind_mariadb", Flavor::MariaDb, false, By::Gtid, 0);
    }
}

#[test]
fn durable_behind_slipstream_by_position() {
    let slipstream = Flavor::Slipstream;
    goes_on_after_every_kill("durable_behind_slipstream_by_position", slipstream, true, By::Position, 0);
}

#[test]
fn relaxed_behind_slipstream() {
    goes_on_after_every_kill("relaxed_behind_slipstream", Flavor::Slipstream, false, By::Gtid, 3);
}
