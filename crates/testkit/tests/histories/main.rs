//! Tests with random transactions at each isolation level, on Slipstream and on a real MySQL:
//! nothing in their history may be what InnoDB cannot show ([`testkit::history`],
//! `docs/isolation.md`).
//!
//! `SLIPSTREAM_HISTORIES` is the number of transactions for each level, `SEED` a seed that was
//! printed. The seed decides what the sessions do, but not how they meet.

mod load;

use std::collections::BTreeMap;

use bench::instance::{Flavor, Settings};
use binlog::event::event_type;
use load::{Heavy, Load, Session, list_of};
use testkit::following::beginning;
use testkit::history::{Anomaly, Element, Findings, History, Key, Level};
use testkit::{Replica, Server, binlog_events};

/// The number of sessions that write.
const WRITERS: usize = 8;
/// The table that is changed as a whole all the time.
const HEAVY: &str = "lists.heavy";
const HEAVY_ROWS: u32 = 400;
/// The number of transactions whose history is checked at once.
const ROUND: u64 = 20_000;

fn transactions() -> u64 {
    match std::env::var("SLIPSTREAM_HISTORIES") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("SLIPSTREAM_HISTORIES={text} is no number")),
        Err(_) => 2_500,
    }
}

fn relaxed(server_id: u32, replica_workers: u32) -> Settings {
    Settings { server_id, replica_workers, durable: false, ..Settings::default() }
}

/// Returns the first element that each transaction in the newest file of the binary log appended to
/// the table.
fn commits_of(source: &Server, table: &str) -> Vec<Element> {
    let newest = source.position().file;
    let (mut commits, mut has_begun) = (Vec::new(), false);
    let statement = format!("UPDATE {table} SET v = CONCAT(v, ',', ");
    for event in binlog_events::of_file(source, &newest) {
        match event.kind() {
            event_type::GTID | event_type::ANONYMOUS_GTID => has_begun = true,
            event_type::ROWS_QUERY if has_begun => {
                // The first byte says nothing: it holds the text's length, but the text may be
                // longer than it can say.
                let text = String::from_utf8_lossy(&event.body()[1..]).into_owned();
                if let Some((_, rest)) = text.split_once(&statement) {
                    let number = rest.split(')').next().expect("a closing parenthesis");
                    commits.push(number.parse().expect("an element"));
                    has_begun = false;
                }
            }
            _ => {}
        }
    }
    commits
}

/// Runs the load at one level and returns what its history shows.
fn round(source: &Server, replicas: &[&Replica], level: Level, (count, seed): (u64, u64)) -> Findings {
    let table = format!("lists.t{}_{}", level.sql().replace(' ', "_").to_lowercase(), seed % 1_000_000);
    source.run(&format!(
        "CREATE TABLE {table} (k INT PRIMARY KEY, g INT NOT NULL, v VARCHAR(4000) NOT NULL, KEY g (g))"
    ));
    let load = Load::new(&table, level, count);
    let rows: Vec<String> =
        (0..load.keys()).map(|key| format!("({key}, {}, '')", load::group_of(key))).collect();
    for rows in rows.chunks(500) {
        source.run(&format!("INSERT INTO {table} VALUES {}", rows.join(",")));
    }
    source.run(&format!("ANALYZE TABLE {table}"));
    source.run("FLUSH BINARY LOGS");
    replicas.iter().for_each(|replica| replica.catch_up(source));
    let writers: Vec<_> =
        (0..WRITERS).map(|session| Session::start(source, (0, session), level, &load, seed)).collect();
    let readers: Vec<_> = replicas
        .iter()
        .enumerate()
        .flat_map(|(at, replica)| {
            Level::ALL.into_iter().enumerate().map(move |reader| (at + 1, replica, reader))
        })
        .map(|(server, replica, (session, level))| {
            Session::start(&replica.server, (server, session), level, &load, seed)
        })
        .collect();
    let heavy = Heavy::start(source, HEAVY, &load);
    let mut history = History::default();
    for writer in writers {
        history.transactions.extend(writer.end());
    }
    load.stop();
    heavy.end();
    for reader in readers {
        history.transactions.extend(reader.end());
    }
    history.commits = commits_of(source, &table);
    let all = format!("SELECT k, v FROM {table}");
    let lists = |server: &Server| -> BTreeMap<Key, Vec<Element>> {
        let rows = server.run(&all).rows;
        rows.iter().map(|row| list_of(row)).collect()
    };
    history.lists = lists(source);
    for replica in replicas {
        replica.catch_up(source);
        assert_eq!(lists(replica), history.lists, "the replica has other lists");
    }
    source.run(&format!("DROP TABLE {table}"));
    let newest = source.position().file;
    source.run(&format!("PURGE BINARY LOGS TO '{newest}'"));
    history.check(level)
}

/// Runs the load at every level, on a source and its replicas.
fn at_every_level(source: &Server, replicas: &[&Replica], seed: u64) {
    source.run("CREATE DATABASE lists");
    source.run(&format!("CREATE TABLE {HEAVY} (id INT PRIMARY KEY, v INT NOT NULL, filler VARCHAR(200))"));
    let rows: Vec<String> = (0..HEAVY_ROWS).map(|id| format!("({id}, 0, REPEAT('x', 150))")).collect();
    source.run(&format!("INSERT INTO {HEAVY} VALUES {}", rows.join(",")));
    for level in Level::ALL {
        let mut seen: BTreeMap<Anomaly, usize> = BTreeMap::new();
        let mut rest = transactions();
        for number in 0.. {
            let count = rest.min(ROUND);
            let findings = round(source, replicas, level, (count, seed.wrapping_add(number)));
            let forbidden = findings.forbidden(level);
            assert!(forbidden.is_empty(), "{}, {}: {}", source.flavor(), level.sql(), forbidden.join("\n"));
            for anomaly in findings.anomalies() {
                *seen.entry(anomaly).or_default() += findings.count(anomaly);
            }
            rest -= count;
            if rest == 0 {
                break;
            }
        }
        println!("{}, {}: {} transactions, {seen:?}", source.flavor(), level.sql(), transactions());
        // If the sessions never met, the history would show nothing.
        assert_eq!(seen.contains_key(&Anomaly::GSingle), level != Level::Serializable);
    }
}

#[test]
fn slipstream_and_its_replicas_show_what_innodb_can() {
    let seed = os::random::test_seed("slipstream_and_its_replicas_show_what_innodb_can");
    let source = Server::start(Flavor::Slipstream, &relaxed(1, 0));
    let replicas = [0, 4].map(|workers| {
        let replica = Replica::start(Flavor::Slipstream, &relaxed(2 + workers, workers));
        replica.follow(source.flavor(), source.port(), &beginning(&source));
        replica
    });
    at_every_level(&source, &replicas.each_ref(), seed);
}

#[test]
fn mysql_shows_the_same() {
    if testkit::available("histories::mysql_shows_the_same", &[Flavor::MySql]) {
        let seed = os::random::test_seed("mysql_shows_the_same");
        at_every_level(&Server::start(Flavor::MySql, &relaxed(1, 0)), &[], seed);
    }
}
