//! `slipstream bench load`: how fast several servers take the rows of a dump, side by side.
//!
//! The rows are those of one table of sysbench, in the order of their primary key, as a dump has
//! them. They come in two ways: as INSERT statements of many rows, as mysqldump writes them, and as
//! a file that LOAD DATA LOCAL reads. Each way begins with an empty table. The kit makes statements
//! and file before the clock starts, so that it takes little of the processors meanwhile.

mod outcome;
mod report;
mod rows;

use os::clock::Stopwatch;
use protocol::client::{Client, ConnectOptions};

use crate::error::MeasureError;
use crate::instance::Settings;
use crate::progress::{Progress, grouped};
use crate::sbtest::{Checksum, SCHEMA, checksum};
use crate::server::Server;
use crate::usage::PerOperation;
use rows::{Load, TABLE, create_table};

pub use outcome::{Outcome, Plan, Sample, Way};
pub use report::{json, text};

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome = Outcome {
        plan: plan.clone(),
        servers: Vec::new(),
        missing: Vec::new(),
        samples: Vec::new(),
        wrong: Vec::new(),
    };
    let mut servers = Vec::new();
    for flavor in &plan.flavors {
        let settings = Settings {
            server_id: 1 + servers.len() as u32,
            pool_bytes: plan.pool_bytes,
            redo_bytes: plan.redo_bytes,
            log_bin: plan.log_bin,
            durable: plan.durable,
            extra: vec!["--local-infile=1".into()],
            ..Settings::default()
        };
        servers.extend(Server::start_if_there(*flavor, &settings, &mut outcome.missing, progress)?);
    }
    for server in &mut servers {
        outcome.servers.push(server.describe()?);
        server.run(&format!("create database {SCHEMA}"))?;
    }
    let mut first = None;
    for way in Way::ALL.into_iter().filter(|way| plan.ways.contains(way)) {
        let load = Load::new(way, plan);
        for round in 1..=plan.rounds {
            for (at, server) in servers.iter_mut().enumerate() {
                let (seconds, cost, sum) = measure(plan, &load, server, progress)?;
                outcome.samples.push(Sample { way, server: at, round, seconds, cost });
                let wanted = *first.get_or_insert(sum);
                if sum != wanted || sum.rows != plan.rows {
                    let name = server.name();
                    outcome.wrong.push(format!("{name} has {sum}, not {wanted}, by {}", way.name()));
                }
            }
        }
    }
    Ok(outcome)
}

/// Fills an empty table, and returns the seconds that it took, what a row cost the server, and the
/// table's checksum.
fn measure(
    plan: &Plan,
    load: &Load,
    server: &mut Server,
    progress: &mut Progress,
) -> Result<(f64, Option<PerOperation>, Checksum), MeasureError> {
    progress.step(format!("{}: {}", server.name(), load.way().name()));
    server.run(&format!("drop table if exists {SCHEMA}.{TABLE}"))?;
    server.run(&create_table(&format!("{SCHEMA}.{TABLE}"), plan.indexes))?;
    let options = ConnectOptions { local_files: true, ..server.options().clone().schema(SCHEMA) };
    let mut client = Client::connect(&options).map_err(server.refused("connecting"))?;
    let before = server.usage();
    let clock = Stopwatch::start();
    load.run(&mut client).map_err(server.refused(load.way().name()))?;
    let seconds = clock.elapsed().as_secs_f64();
    let cost = before.zip(server.usage());
    let cost = cost.and_then(|(before, after)| PerOperation::between(&before, &after, plan.rows as f64));
    client.quit();
    progress.done(format!("{} rows/s", grouped((plan.rows as f64 / seconds) as u64)));
    let sum = checksum(server.client(), TABLE, "id, k, c, pad").map_err(MeasureError::from)?;
    Ok((seconds, cost, sum))
}
