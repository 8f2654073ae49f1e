//! Tests with `kill -9` of a server whose tables are changed, indexed, renamed and dropped under
//! load: every statement is there whole or not at all, every index agrees with its table, and a
//! replica that reads the binary log from its beginning gets the same rows.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::{Position, StartFrom};
use bench::sbtest::{Size, Workload};
use os::clock::sleep;
use os::random::{Rng, test_seed};
use testkit::background::Background;
use testkit::definitions::Definitions;
use testkit::kills;
use testkit::ledger::Ledger;
use testkit::{Replica, Server};

const CLIENTS: u32 = 2;
const SIZE: Size = Size { tables: 2, rows: 1_000 };

/// One in this many of the kills of the other loops is made here, because each is followed by more
/// checks.
const SHARE: u64 = 5;

#[test]
fn definitions_and_the_binary_log_survive_every_kill() {
    let test = "definitions_and_the_binary_log_survive_every_kill";
    let mut rng = Rng::new(test_seed(test));
    let settings = Settings { durable: true, server_id: 1, ..Settings::default() };
    let mut server = Server::start(Flavor::Slipstream, &settings);
    server.fill(SIZE, 1);
    let (ledger, definitions) = (Ledger::create(&server, CLIENTS), Definitions::create(&server));
    let kills = kills().div_ceil(SHARE);
    for kill in 1..=kills {
        let load = Background::start(server.connect_options(), Workload::ReadWrite, SIZE, 1, kill);
        let (working, changing) = (ledger.work(&server), definitions.work(&server));
        sleep(Duration::from_millis(rng.between(1, 500)));
        server.kill();
        working.end();
        changing.end();
        drop(load);
        server.come_back();
        ledger.check(&server);
        definitions.check(&server);
    }
    let (committed, statements) = (ledger.check(&server), definitions.check(&server));
    println!("{test}: {kills} kills, {committed} commits, {statements} statements");
    assert!(statements > kills / 2, "the client that changes definitions did next to nothing");
    // The tables must agree with the binary log. (A replica reaches a position with a transaction,
    // and the file of the last start has none, so one is added.)
    server.run("INSERT INTO ledger.total VALUES (1000, 0)");
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    let file = server.rows("SHOW BINARY LOGS")[0].split('\t').next().unwrap_or_default().to_string();
    replica.follow(Flavor::Slipstream, server.port(), &StartFrom::Position(Position { file, offset: 4 }));
    replica.equals(&server, SIZE.tables);
    let by = [
        "SELECT * FROM ledger.total ORDER BY client",
        "SELECT client, COUNT(*), SUM(number), MAX(number) FROM ledger.entry GROUP BY client ORDER BY client",
        "SELECT table_schema, table_name, column_name, column_type FROM information_schema.columns \
         WHERE table_schema IN ('shape', 'sbtest', 'ledger') ORDER BY 1, 2, 3",
        "SELECT table_schema, table_name, index_name, column_name FROM information_schema.statistics \
         WHERE table_schema IN ('shape', 'sbtest', 'ledger') ORDER BY 1, 2, 3, 4",
    ];
    by.iter().for_each(|sql| replica.equals_by(&server, sql));
}
