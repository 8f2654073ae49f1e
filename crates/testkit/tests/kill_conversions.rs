//! Tests with `kill -9` of a replica that applies MariaDB's conversions of partitions into tables
//! and of tables into partitions, each of which is a few commits here: after each restart every row
//! is there once, and at the end the tables are the source's.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use os::clock::sleep;
use os::random::{Rng, test_seed};
use testkit::{Replica, Server, kills};

const PARTITIONS: u64 = 4;
const ROWS: u64 = 400;

/// How often each partition becomes a table, and that table a partition again.
const ROUNDS: u64 = 20;

/// One in this many of the kills of the other loops is made here, because the restarts are followed
/// by checks.
const SHARE: u64 = 2;

/// Makes a partitioned table at the source and converts its partitions to and fro.
fn convert(source: &Server) -> u64 {
    let mut session = source.connect();
    let mut run = |sql: &str| session.query(sql).map(|_| ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let of = |at: u64| format!("PARTITION p{at} VALUES IN ({at})");
    let all: Vec<String> = (0..PARTITIONS).map(of).collect();
    run("CREATE DATABASE d");
    run("USE d");
    run(&format!(
        "CREATE TABLE p (a INT, b INT, c VARCHAR(20), KEY (c)) PARTITION BY LIST (b) ({})",
        all.join(", ")
    ));
    run(&format!("INSERT INTO p SELECT seq, seq % {PARTITIONS}, CONCAT('row ', seq) FROM seq_1_to_{ROWS}"));
    for _ in 0..ROUNDS {
        for at in 0..PARTITIONS {
            run(&format!("ALTER TABLE p CONVERT PARTITION p{at} TO TABLE t{at}"));
            run(&format!("UPDATE t{at} SET c = CONCAT('t', a)"));
            run(&format!("ALTER TABLE p CONVERT TABLE t{at} TO {}", of(at)));
        }
    }
    run("ALTER TABLE p CONVERT PARTITION p1 TO TABLE t1");
    PARTITIONS * ROUNDS * 2 + 1
}

/// Checks that each row is in one of the tables. Returns whether a conversion has begun and has not
/// ended.
fn check(replica: &Server) -> bool {
    let tables = replica.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'd'");
    if !tables.iter().any(|table| table == "p") {
        return false;
    }
    let mut rows = Vec::new();
    for table in &tables {
        rows.extend(replica.rows(&format!("SELECT a FROM d.{table}")));
        let by_key = format!("SELECT COUNT(*) FROM d.{table} FORCE INDEX (c) WHERE c > ''");
        assert_eq!(
            replica.rows(&by_key),
            replica.rows(&format!("SELECT COUNT(*) FROM d.{table}")),
            "{table}"
        );
    }
    if rows.is_empty() {
        // The rows of the INSERT are still to come.
        return false;
    }
    rows.sort_by_key(|row| row.parse::<u64>().expect("a is a number"));
    let all: Vec<String> = (1..=ROWS).map(|row| row.to_string()).collect();
    assert_eq!(rows, all, "each row is there once, in {tables:?}");
    let partitions = replica.rows(
        "SELECT SUBSTR(partition_name, 2) FROM information_schema.partitions WHERE table_schema = 'd' AND table_name = 'p'",
    );
    tables.iter().filter_map(|table| table.strip_prefix('t')).any(|at| partitions.iter().any(|p| p == at))
}

#[test]
fn a_conversion_of_mariadb_is_whole_after_every_kill() {
    let test = "a_conversion_of_mariadb_is_whole_after_every_kill";
    if !testkit::available(&format!("kill_conversions::{test}"), &[Flavor::MariaDb]) {
        return;
    }
    let mut rng = Rng::new(test_seed(test));
    let source = Server::start(Flavor::MariaDb, &Settings::default());
    let settings = Settings { server_id: 2, ..Settings::default() };
    let mut replica = Replica::start(Flavor::Slipstream, &settings);
    let stopped = Settings { start_replica: false, ..replica.settings().clone() };
    let begin = source.position();
    let conversions = convert(&source);
    replica.follow(Flavor::MariaDb, source.port(), &StartFrom::Position(begin));
    let kills = kills().div_ceil(SHARE);
    let mut halves = 0;
    for _ in 0..kills {
        sleep(Duration::from_millis(rng.between(1, 60)));
        replica.server.kill();
        replica.server.start_again_with(&stopped).unwrap_or_else(|error| panic!("{error}"));
        halves += u64::from(check(&replica));
        replica.start_thread(Thread::Io);
        replica.start_thread(Thread::Sql);
    }
    replica.catch_up(&source);
    check(&replica);
    println!("{test}: {kills} kills, {halves} of them within one of {conversions} conversions");
    for table in ["p", "t1"] {
        replica.equals_by(&source, &format!("SELECT * FROM d.{table} ORDER BY a"));
    }
    let partitions = "SELECT table_name, partition_name FROM information_schema.partitions \
                      WHERE table_schema = 'd' ORDER BY 1, 2";
    replica.equals_by(&source, partitions);
}
