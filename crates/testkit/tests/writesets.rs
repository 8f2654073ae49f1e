//! Tests of `last_committed` from writesets, compared with MySQL's: both servers run the same
//! statements, one after the other. A transaction may depend on fewer transactions than MySQL says,
//! but must depend on every one that has written one of its keys.

use std::collections::HashMap;

use bench::instance::{Flavor, Settings};
use binlog::event::Event;
use os::random::{Rng, test_seed};
use protocol::client::{Client, ClientError};
use testkit::{Server, available, binlog_events};

const TABLES: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.a (id INT PRIMARY KEY, u INT UNIQUE, v INT)",
    "CREATE TABLE d.b (x INT, s VARCHAR(10), v INT, PRIMARY KEY (x, s))",
    "CREATE TABLE d.c (v INT)",
    "FLUSH BINARY LOGS",
];

/// Returns `(last_committed, sequence_number)` of each transaction in the newest file.
fn numbers(server: &Server) -> Vec<(i64, i64)> {
    let mut numbers = Vec::new();
    for event in binlog_events::of(server) {
        match event.decode().1 {
            Event::FormatDescription(_) => numbers.clear(),
            Event::Gtid(gtid) => numbers.push((gtid.last_committed, gtid.sequence_number)),
            _ => {}
        }
    }
    numbers
}

/// What the tables hold, and which transaction wrote each key last.
#[derive(Default)]
struct Model {
    a: HashMap<i64, Option<i64>>,
    last_writer: HashMap<String, usize>,
    /// The newest transaction that each transaction must come after. 0 means that there is none.
    needed: Vec<usize>,
}

impl Model {
    /// Records a transaction that wrote these keys, and the newest earlier transaction that wrote
    /// one of them.
    fn committed(&mut self, keys: &[String]) {
        let number = self.needed.len() + 1;
        let last = keys.iter().filter_map(|key| self.last_writer.insert(key.clone(), number));
        self.needed.push(last.filter(|last| *last != number).max().unwrap_or(0));
    }
}

fn unique(u: Option<i64>) -> Option<String> {
    u.map(|u| format!("a.u {u}"))
}

/// Returns a statement about rows, and adds the keys that it writes.
fn statement(rng: &mut Rng, a: &mut HashMap<i64, Option<i64>>, keys: &mut Vec<String>) -> String {
    let (id, other) = (rng.between(1, 40) as i64, rng.between(1, 40) as i64);
    let u = Some(rng.between(1, 30) as i64).filter(|_| rng.between(0, 3) > 0);
    let taken = |a: &HashMap<i64, Option<i64>>, but: i64| {
        u.is_some() && a.iter().any(|(id, held)| *id != but && *held == u)
    };
    let sql_u = u.map_or("NULL".to_string(), |u| u.to_string());
    match rng.between(0, 7) {
        0 | 1 if !a.contains_key(&id) && !taken(a, id) => {
            a.insert(id, u);
            keys.extend([Some(format!("a {id}")), unique(u)].into_iter().flatten());
            format!("INSERT INTO d.a VALUES ({id}, {sql_u}, 0)")
        }
        2 if a.contains_key(&id) && !taken(a, id) => {
            let before = a.insert(id, u).flatten();
            keys.extend([Some(format!("a {id}")), unique(before), unique(u)].into_iter().flatten());
            format!("UPDATE d.a SET u = {sql_u}, v = v + 1 WHERE id = {id}")
        }
        3 if a.contains_key(&id) && !a.contains_key(&other) => {
            let held = a.remove(&id).flatten();
            a.insert(other, held);
            keys.extend(
                [Some(format!("a {id}")), Some(format!("a {other}")), unique(held)].into_iter().flatten(),
            );
            format!("UPDATE d.a SET id = {other} WHERE id = {id}")
        }
        4 if a.contains_key(&id) => {
            let held = a.remove(&id).flatten();
            keys.extend([Some(format!("a {id}")), unique(held)].into_iter().flatten());
            format!("DELETE FROM d.a WHERE id = {id}")
        }
        5 if a.contains_key(&id) => {
            keys.push(format!("a {id}"));
            format!("UPDATE d.a SET v = v + 1 WHERE id = {id}")
        }
        _ => {
            // Some of these keys are the same in the column's collation.
            let s = ["x", "X", "y", "ÿ"][rng.between(0, 3) as usize];
            let folded = if matches!(s, "x" | "X") { "x" } else { "y" };
            keys.push(format!("b {} {folded}", id % 9));
            format!("INSERT INTO d.b VALUES ({}, '{s}', 1) ON DUPLICATE KEY UPDATE v = v + 1", id % 9)
        }
    }
}

/// Returns the statements of a history and records its transactions in the model. `with_sizes`
/// makes the number of remembered keys change in between.
fn history(rng: &mut Rng, model: &mut Model, with_sizes: bool) -> Vec<String> {
    let mut statements = Vec::new();
    for at in 0..400 {
        let image = ["FULL", "MINIMAL", "NOBLOB"][rng.between(0, 2) as usize];
        statements.push(format!("SET binlog_row_image = '{image}'"));
        let mut keys = Vec::new();
        match rng.between(0, 60) {
            0 => statements.push(format!("CREATE TABLE d.t{at} (id INT PRIMARY KEY)")),
            1 => statements.push(format!("INSERT INTO d.c VALUES ({at})")),
            2 | 3 if with_sizes => {
                let size = rng.between(1, 60);
                statements.push(format!("SET GLOBAL binlog_transaction_dependency_history_size = {size}"));
                continue;
            }
            _ => {
                statements.push("BEGIN".to_string());
                for _ in 0..rng.between(1, 3) {
                    statements.push(statement(rng, &mut model.a, &mut keys));
                }
                statements.push("COMMIT".to_string());
            }
        }
        model.committed(&keys);
    }
    statements
}

fn run(session: &mut Client, statements: &[String]) {
    for sql in statements {
        match session.query(sql) {
            Ok(_) => {}
            Err(ClientError::Server(error)) => panic!("{sql}: {} {}", error.code, error.message),
            Err(error) => panic!("{sql}: {error}"),
        }
    }
}

fn written_by(flavor: Flavor, statements: &[String]) -> Vec<(i64, i64)> {
    let server = Server::start(flavor, &Settings::default());
    TABLES.iter().for_each(|sql| drop(server.run(sql)));
    run(&mut server.connect(), statements);
    numbers(&server)
}

/// Runs the statements on Slipstream and returns the numbers. Checks that every transaction comes
/// after those that it must come after.
fn written_by_ours(statements: &[String], model: &Model) -> Vec<(i64, i64)> {
    let ours = written_by(Flavor::Slipstream, statements);
    assert_eq!(ours.len(), model.needed.len(), "the model does not know every transaction");
    for (at, ((last_committed, number), needed)) in ours.iter().zip(&model.needed).enumerate() {
        assert_eq!(*number, at as i64 + 1);
        let range = *needed as i64..*number;
        assert!(range.contains(last_committed), "{number} depends on {needed}, not on {last_committed}");
    }
    ours
}

#[test]
fn no_dependency_is_missed_whatever_is_forgotten() {
    let mut rng = Rng::new(test_seed("no_dependency_is_missed_whatever_is_forgotten"));
    let mut model = Model::default();
    let statements = history(&mut rng, &mut model, true);
    written_by_ours(&statements, &model);
}

/// The numbers are compared while all keys are remembered. MySQL also counts the keys of a row that
/// did not change, and forgets at other times.
#[test]
fn dependencies_are_those_of_mysql_or_fewer() {
    let mut rng = Rng::new(test_seed("dependencies_are_those_of_mysql_or_fewer"));
    let mut model = Model::default();
    let statements = history(&mut rng, &mut model, false);
    let ours = written_by_ours(&statements, &model);
    let independent = ours.iter().filter(|(last, number)| last + 1 < *number).count();
    assert!(independent > ours.len() / 2, "only {independent} of {} are independent", ours.len());
    if !available("writesets::dependencies_are_those_of_mysql_or_fewer", &[Flavor::MySql]) {
        return;
    }
    let theirs = written_by(Flavor::MySql, &statements);
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(ours.0 <= theirs.0, "{ours:?}, MySQL: {theirs:?}");
    }
}

/// The log's writer caches the tables' definitions, and must not go on with an old one.
#[test]
fn a_new_unique_index_counts_at_once() {
    let statements = [
        "INSERT INTO d.a VALUES (1, NULL, 7)",
        "FLUSH BINARY LOGS",
        "ALTER TABLE d.a ADD UNIQUE (v)",
        "UPDATE d.a SET v = 9 WHERE id = 1",
        "INSERT INTO d.a VALUES (3, NULL, 10)",
        "INSERT INTO d.a VALUES (4, NULL, 7)",
    ];
    let numbers = written_by(Flavor::Slipstream, &statements.map(str::to_string));
    assert_eq!(numbers, [(0, 1), (1, 2), (1, 3), (2, 4)], "the last one needs what the update left");
}

/// A row that a transaction inserts and then updates has had unique keys that only the update
/// shows.
#[test]
fn a_unique_key_that_an_inserted_row_is_given_later_counts() {
    let statements = [
        "INSERT INTO d.a VALUES (1, 5, 0)",
        "DELETE FROM d.a WHERE id = 1",
        "BEGIN",
        "INSERT INTO d.a VALUES (2, 7, 0)",
        "UPDATE d.a SET u = 5 WHERE id = 2",
        "COMMIT",
        "INSERT INTO d.a VALUES (3, 9, 0)",
        "DELETE FROM d.a WHERE id = 3",
        "BEGIN",
        "INSERT INTO d.a VALUES (4, NULL, 0)",
        "UPDATE d.a SET u = 9 WHERE id = 4",
        "UPDATE d.a SET u = 11 WHERE id = 4",
        "DELETE FROM d.a WHERE id = 4",
        "COMMIT",
    ];
    for image in ["FULL", "MINIMAL"] {
        let mut all = vec![format!("SET binlog_row_image = '{image}'")];
        all.extend(statements.map(str::to_string));
        let numbers = written_by(Flavor::Slipstream, &all);
        assert_eq!(numbers, [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6)], "{image}");
    }
}
