//! `slipstream bench insert`: the Insert Benchmark, as its author runs it today, against several
//! servers side by side.
//!
//! Its steps: `l.i0` loads, `l.x` makes three secondary indexes, `l.i1` and `l.i2` insert at one
//! end of the table and delete at the other, and `q100`, `q500`, `q1000` query while rows are
//! inserted and deleted at that rate. The clients use the text protocol, autocommit and a Unix
//! socket, and each has one table. The original's client is a Python program that takes more CPU
//! time than the server. This client sends the same statements and takes little.
//!
//! Every server runs a step before any server runs the next one, so that changes of the machine's
//! speed hit all servers.

mod outcome;
mod report;
pub mod statement;
pub mod step;

use crate::error::MeasureError;
use crate::instance::Settings;
use crate::progress::{Progress, grouped};
use crate::server::Server;
use crate::usage::{self, PerOperation};

pub use outcome::{Outcome, Plan, Sample};
pub use report::{json, page, text};
use statement::create_table;
use step::{Clients, Done, Run, Step, table};

/// The schema of the tables. A run drops it and makes it anew.
pub const SCHEMA: &str = "ibench";

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome = Outcome {
        plan: plan.clone(),
        servers: Vec::new(),
        missing: Vec::new(),
        samples: Vec::new(),
        wrong: Vec::new(),
    };
    let mut servers = start(plan, &mut outcome, progress)?;
    for round in 1..=plan.rounds {
        for mode in &plan.modes {
            let first = outcome.samples.len();
            for server in &mut servers {
                server.set_mode(*mode)?;
                make_tables(server, plan.clients)?;
            }
            for step in &plan.steps {
                let seed = plan.seed.wrapping_add(1 + outcome.samples.len() as u64);
                for (at, server) in servers.iter_mut().enumerate() {
                    let (done, cost, kit_cost) = measure(plan, *step, seed, server, progress)?;
                    let (mode, step) = (*mode, *step);
                    outcome.samples.push(Sample { round, mode, step, server: at, done, cost, kit_cost });
                }
            }
            for (at, server) in servers.iter_mut().enumerate() {
                let samples = outcome.samples[first..].iter().filter(|sample| sample.server == at);
                let wrong = check_rows(server, plan.clients, samples)?;
                outcome.wrong.extend(wrong);
            }
        }
    }
    Ok(outcome)
}

fn start(plan: &Plan, outcome: &mut Outcome, progress: &mut Progress) -> Result<Vec<Server>, MeasureError> {
    let mut servers = Vec::new();
    for flavor in &plan.flavors {
        let settings = Settings {
            server_id: 1 + servers.len() as u32,
            pool_bytes: plan.pool_bytes,
            redo_bytes: plan.redo_bytes,
            log_bin: plan.log_bin,
            durable: false,
            row_image: plan.image,
            ..Settings::default()
        };
        servers.extend(Server::start_if_there(*flavor, &settings, &mut outcome.missing, progress)?);
    }
    for address in &plan.addresses {
        servers.push(Server::by_address(address)?);
    }
    for server in &mut servers {
        outcome.servers.push(server.describe()?);
    }
    Ok(servers)
}

fn make_tables(server: &mut Server, clients: u32) -> Result<(), MeasureError> {
    server.run(&format!("drop database if exists {SCHEMA}"))?;
    server.run(&format!("create database {SCHEMA}"))?;
    server.run(&format!("use {SCHEMA}"))?;
    (1..=clients).try_for_each(|client| server.run(&create_table(&table(client))))
}

/// Runs one step, and returns what was done and the cost of an operation to the server and to the
/// kit.
fn measure(
    plan: &Plan,
    step: Step,
    seed: u64,
    server: &Server,
    progress: &mut Progress,
) -> Result<(Done, Option<PerOperation>, Option<PerOperation>), MeasureError> {
    progress.step(format!("{}: {}", server.name(), step.name()));
    let rows = match step {
        Step::L1 => plan.l1_rows,
        Step::L2 => plan.l2_rows,
        Step::L0 | Step::Index | Step::Query(_) => plan.rows,
    };
    let run = Run {
        step,
        clients: plan.clients,
        rows,
        seconds: plan.query_seconds,
        lookup: plan.lookup,
        data_bytes: plan.data_bytes,
        seed,
    };
    let refused = |error| server.refused(&step.name())(error);
    let mut clients = Clients::connect(&server.options().clone().schema(SCHEMA), &run).map_err(refused)?;
    let kit = || usage::of(std::process::id());
    let before = (server.usage(), kit());
    let done = clients
        .run(&mut |last_second| {
            progress.tell(|| format!("{} {}/s", grouped(last_second), step.operations()));
        })
        .map_err(refused)?;
    let operations = done.operations(step) as f64;
    let each = |before: Option<usage::Usage>, after: Option<usage::Usage>| {
        PerOperation::between(&before?, &after?, operations)
    };
    let (cost, kit_cost) = (each(before.0, server.usage()), each(before.1, kit()));
    progress.done(format!("{} {}/s", grouped((operations / done.seconds) as u64), step.operations()));
    Ok((done, cost, kit_cost))
}

/// Compares the number of rows in the tables with the rows that were inserted and not deleted. It
/// returns a message when they differ.
fn check_rows<'a>(
    server: &mut Server,
    clients: u32,
    samples: impl Iterator<Item = &'a Sample>,
) -> Result<Option<String>, MeasureError> {
    let expected = samples.fold(0, |rows, sample| rows + sample.done.inserted - sample.done.deleted);
    let mut found = 0;
    for client in 1..=clients {
        let sql = format!("select count(*) from {}", table(client));
        let refused = server.refused(&sql);
        let result = server.client().query(&sql).map_err(refused)?;
        found += result.cell(0, 0).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    }
    let name = server.name();
    Ok((found != expected)
        .then(|| format!("{name} holds {} rows, not {}", grouped(found), grouped(expected))))
}
