//! Tests of the states that a connection's thread goes through for each command.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use protocol::scalar::Scalar;
use testkit::Server;

const STATES: [&str; 4] = ["parse", "plan", "execute", "network_send"];

/// Returns how often the connections' threads have entered each of [`STATES`]. The query itself
/// enters each state once more, and its answer is sent after the counting.
fn entered(client: &mut Client, number: u32) -> [u64; 4] {
    // The text differs each time, so that it is parsed.
    let table = client
        .query(&format!(
            "SELECT STATE, SUM(COUNT_ENTERED) FROM performance_schema.thread_times \
             WHERE THREAD_NAME = 'connection' AND {number} = {number} GROUP BY STATE"
        ))
        .unwrap();
    STATES.map(|state| {
        let row = (0..table.rows.len()).find(|row| table.cell(*row, 0).as_deref() == Some(state));
        row.map_or(0, |row| table.cell(row, 1).unwrap().parse().unwrap())
    })
}

fn more(after: [u64; 4], before: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|at| after[at] - before[at])
}

#[test]
fn statements_are_parsed_planned_and_executed() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
    server.run("INSERT INTO d.t VALUES (1, 0)");
    let mut client = server.connect();
    let start = entered(&mut client, 1);
    for at in 0..10 {
        client.query(&format!("SELECT v + {at} FROM d.t WHERE id = 1")).unwrap();
    }
    let texts = entered(&mut client, 2);
    assert_eq!(more(texts, start), [11; 4]);
    let statement = client.prepare("SELECT v + ? FROM d.t WHERE id = 1").unwrap();
    for _ in 0..10 {
        client.execute(&statement, &[Scalar::Int(1)]).unwrap();
    }
    let prepared = entered(&mut client, 3);
    // A statement is planned when it is prepared, and once more when the type of its parameter is
    // known.
    assert_eq!(more(prepared, texts), [2, 3, 11, 12], "{STATES:?}");
}
