//! The 22 queries of TPC-H answer as MySQL answers them, with the servers' default memory and with
//! the least memory that the variables allow.

use bench::instance::{Flavor, Settings};
use bench::tpch::{Row, SCHEMA, difference, load, queries};
use os::random::test_seed;
use protocol::client::{Client, ConnectOptions};
use testkit::{Server, available};

const SCALE: f64 = 0.01;

fn answer(client: &mut Client, number: usize, sql: &str) -> Vec<Row> {
    client.query(sql).unwrap_or_else(|error| panic!("query {number}: {error}")).rows
}

#[test]
fn tpch_answers_as_mysql_does() {
    if !available("tpch_answers", &[Flavor::MySql]) {
        return;
    }
    let seed = test_seed("tpch_answers");
    let settings = Settings { extra: vec!["--local-infile=1".into()], ..Settings::default() };
    let servers = [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &settings));
    let [mut ours, mut theirs] = [&servers[0], &servers[1]].map(|server| {
        let options = ConnectOptions { local_files: true, ..server.connect_options() };
        let mut client = Client::connect(&options).expect("the server is ready");
        load(&mut client, SCALE, seed).unwrap_or_else(|error| panic!("loading: {error}"));
        client
    });
    let mut little = servers[0].connect();
    little.query(&format!("USE {SCHEMA}")).expect("it is there");
    little
        .query("SET join_buffer_size = 128, sort_buffer_size = 32768, tmp_table_size = 1024")
        .expect("these are the least values");
    let mut wrong = Vec::new();
    for query in queries(SCALE) {
        let (number, sql) = (query.number, &query.sql);
        let expected = answer(&mut theirs, number, sql);
        for (memory, client) in [("much", &mut ours), ("little", &mut little)] {
            let found = answer(client, number, sql);
            if let Some(differs) = difference(found, expected.clone(), query.is_ordered) {
                wrong.push(format!("query {number} with {memory} memory: {differs}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let counted = little.query("SHOW SESSION STATUS LIKE 'Created_tmp_files'").expect("it may");
    assert_ne!(counted.cell(0, 1).unwrap_or_default(), "0", "some of them had too little memory");
}
