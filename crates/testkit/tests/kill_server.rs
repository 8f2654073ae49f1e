//! Tests with `kill -9` of a server that clients write to. With durable settings no acknowledged
//! commit is missing, and with any settings no transaction is there in part.

use std::time::Duration;

use bench::instance::Settings;
use bench::sbtest::{Size, Workload};
use os::clock::sleep;
use os::random::{Rng, test_seed};
use testkit::Server;
use testkit::background::Background;
use testkit::kills;
use testkit::ledger::Ledger;
use testkit::server::flavor_under_test;

const CLIENTS: u32 = 4;
const SIZE: Size = Size { tables: 2, rows: 1_000 };

/// Kills a server under the load of ledger clients and sysbench, and checks the ledger each time
/// the server has come back.
fn no_commit_is_lost(test: &str, settings: &Settings) {
    let mut rng = Rng::new(test_seed(test));
    let mut server = Server::start(flavor_under_test(), settings);
    server.fill(SIZE, 1);
    let ledger = Ledger::create(&server, CLIENTS);
    let kills = kills();
    for kill in 1..=kills {
        let load = Background::start(server.connect_options(), Workload::ReadWrite, SIZE, 2, kill);
        let working = ledger.work(&server);
        sleep(Duration::from_millis(rng.between(1, 400)));
        server.kill();
        working.end();
        drop(load);
        if rng.one_in(5) {
            // The server is killed a second time while it recovers.
            server.launch().unwrap_or_else(|error| panic!("{error}"));
            sleep(Duration::from_millis(rng.between(1, 100)));
            server.kill();
        }
        server.come_back();
        ledger.check(&server);
    }
    let committed = ledger.check(&server);
    println!("{test}: {kills} kills, {committed} commits");
    assert!(committed > kills, "the clients did next to nothing: {committed} commits");
    let rows: u64 = server.checksums(SIZE.tables).iter().map(|checksum| checksum.rows).sum();
    assert_eq!(
        rows,
        u64::from(SIZE.tables) * SIZE.rows,
        "a DELETE without its INSERT, or the other way round"
    );
    // The server must be whole after the last kill: it shuts down in order and comes back with the
    // same rows.
    let before = server.checksums(SIZE.tables);
    server.shut_down();
    server.come_back();
    assert_eq!(server.checksums(SIZE.tables), before);
}

#[test]
fn durable_with_the_binary_log() {
    no_commit_is_lost("durable_with_the_binary_log", &Settings { durable: true, ..Settings::default() });
}

#[test]
fn durable_without_a_binary_log() {
    let settings = Settings { durable: true, log_bin: false, ..Settings::default() };
    no_commit_is_lost("durable_without_a_binary_log", &settings);
}

/// innodb_flush_log_at_trx_commit=2 hands every commit to the operating system, which survives the
/// end of the process.
#[test]
fn relaxed_survives_the_process() {
    let settings = Settings { durable: false, log_bin: false, ..Settings::default() };
    no_commit_is_lost("relaxed_survives_the_process", &settings);
}
