//! `slipstream bench tpch`: the 22 queries of TPC-H on several servers side by side.
//!
//! The kit makes the rows itself ([`generate`]) and loads the same rows into every server by LOAD
//! DATA. Then each query runs on each server in turn. All answers are compared with those of the
//! first server.

mod answers;
mod generate;
mod outcome;
mod queries;
mod report;
mod schema;
mod words;

use os::clock::Stopwatch;
use protocol::client::{Client, ClientError, ConnectOptions};

use crate::error::MeasureError;
use crate::instance::Settings;
use crate::progress::Progress;
use crate::server::Server;
pub use answers::{Row, difference};
pub use generate::Generator;
pub use outcome::{Outcome, Plan, Sample};
pub use queries::{Query, queries};
pub use report::{json, text};

/// The schema of the tables. A run drops it and makes it anew.
pub const SCHEMA: &str = "tpch";

/// The errors of a statement that took too long: `ER_QUERY_TIMEOUT` of MySQL, and
/// `ER_STATEMENT_TIMEOUT` of MariaDB.
const TIMEOUTS: [u16; 2] = [3024, 1969];

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome = Outcome {
        plan: plan.clone(),
        servers: Vec::new(),
        missing: Vec::new(),
        load_seconds: Vec::new(),
        samples: Vec::new(),
        wrong: Vec::new(),
    };
    let mut servers = Vec::new();
    for flavor in &plan.flavors {
        let settings = Settings {
            server_id: 1 + servers.len() as u32,
            pool_bytes: plan.pool_bytes,
            log_bin: false,
            durable: false,
            extra: vec!["--local-infile=1".into()],
            ..Settings::default()
        };
        servers.extend(Server::start_if_there(*flavor, &settings, &mut outcome.missing, progress)?);
    }
    for server in &mut servers {
        outcome.servers.push(server.describe()?);
        progress.step(format!("{}: loading", server.name()));
        let clock = Stopwatch::start();
        let refused = server.refused("loading");
        let options = ConnectOptions { local_files: true, ..server.options().clone() };
        Client::connect(&options)
            .and_then(|mut client| load(&mut client, plan.scale, plan.seed))
            .map_err(refused)?;
        server.run(&format!("use {SCHEMA}"))?;
        outcome.load_seconds.push(clock.elapsed().as_secs_f64());
        prepare(plan, server)?;
        progress.done(String::new());
    }
    for query in queries(plan.scale).iter().filter(|query| plan.queries.contains(&query.number)) {
        for round in 1..=plan.rounds {
            progress.step(format!("query {}, round {round}", query.number));
            ask(query, round, &mut servers, &mut outcome)?;
            progress.done(String::new());
        }
    }
    Ok(outcome)
}

/// Makes the tables and loads the rows of a scale. The client has to offer local files.
///
/// # Errors
/// Returns the server's refusal of a statement, and errors of the connection.
pub fn load(client: &mut Client, scale: f64, seed: u64) -> Result<(), ClientError> {
    client.query(&format!("drop database if exists {SCHEMA}"))?;
    client.query(&format!("create database {SCHEMA}"))?;
    client.query(&format!("use {SCHEMA}"))?;
    for table in schema::create_tables() {
        client.query(table)?;
    }
    Generator::new(scale, seed).run::<ClientError>(&mut |table, lines| {
        client.query_with_file(
            &format!("load data local infile 'piece' into table {table}"),
            lines.as_bytes(),
        )?;
        Ok(())
    })?;
    client.query(&format!("analyze table {}", schema::TABLES.join(", ")))?;
    Ok(())
}

/// Sets the limits of the session.
fn prepare(plan: &Plan, server: &mut Server) -> Result<(), MeasureError> {
    let seconds = plan.most_seconds;
    match server.variable("max_statement_time")? {
        Some(_) => server.run(&format!("set max_statement_time = {seconds}"))?,
        None => server.run(&format!("set max_execution_time = {}", seconds * 1000))?,
    }
    if let Some(bytes) = plan.memory_bytes {
        for variable in ["join_buffer_size", "sort_buffer_size", "tmp_table_size"] {
            server.run(&format!("set {variable} = {bytes}"))?;
        }
    }
    Ok(())
}

/// Runs a query on each server, and compares the answers.
fn ask(query: &Query, round: u32, servers: &mut [Server], outcome: &mut Outcome) -> Result<(), MeasureError> {
    let mut first: Option<Vec<Row>> = None;
    for (at, server) in servers.iter_mut().enumerate() {
        let clock = Stopwatch::start();
        let answered = server.client().query(&query.sql);
        let seconds = clock.elapsed().as_secs_f64();
        let sample = |seconds| Sample { query: query.number, server: at, round, seconds };
        let rows = match answered {
            Ok(result) => result.rows,
            Err(error) if error.server_code().is_some_and(|code| TIMEOUTS.contains(&code)) => {
                outcome.samples.push(sample(None));
                continue;
            }
            Err(error) => return Err(server.refused(&format!("query {}", query.number))(error)),
        };
        outcome.samples.push(sample(Some(seconds)));
        match &first {
            None => first = Some(rows),
            Some(first) => {
                if let Some(differs) = difference(first.clone(), rows, query.is_ordered) {
                    outcome.wrong.push(format!("query {} on {}: {differs}", query.number, server.name()));
                }
            }
        }
    }
    Ok(())
}
