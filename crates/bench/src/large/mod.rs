//! `slipstream bench large`: what one large transaction does to the commits of other clients, and
//! how much memory it takes, on several servers side by side.
//!
//! One client runs a transaction of many rows. Another client changes single rows meanwhile, each
//! in a transaction of its own. It changes rows of another table and rows of the same table that
//! the large transaction does not touch, in turn. The response time of each change is counted in
//! every phase that the change was part of: before the large transaction, while its statements ran,
//! while it committed, and for a few seconds after, when pages are written and the binary log
//! receives it.

mod outcome;
mod report;
mod writer;

use os::clock::{Stopwatch, sleep};
use protocol::client::Client;
use std::time::Duration;

use crate::error::MeasureError;
use crate::instance::Settings;
use crate::progress::{Progress, grouped};
use crate::server::Server;
use outcome::WIDE_BYTES;
use writer::{SCHEMA, Writer};

pub use outcome::{Outcome, PHASES, Plan, Sample, Shape};
pub use report::{json, text};

/// How long the single-row commits run alone before the large transaction and after it.
const BEFORE: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(3);
/// The approximate size of the rows of an INSERT statement in bytes.
const STATEMENT_BYTES: usize = 512 << 10;

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome =
        Outcome { plan: plan.clone(), servers: Vec::new(), missing: Vec::new(), samples: Vec::new() };
    let settings = Settings {
        pool_bytes: plan.pool_bytes,
        redo_bytes: plan.redo_bytes,
        log_bin: plan.log_bin,
        durable: plan.durable,
        row_image: plan.image,
        ..Settings::default()
    };
    for round in 1..=plan.rounds {
        for flavor in &plan.flavors {
            for &shape in &plan.shapes {
                let started = Server::start_if_there(*flavor, &settings, &mut outcome.missing, progress)?;
                let Some(mut server) = started else { continue };
                let at = server.describe()?.enter(&mut outcome.servers);
                let sample = measure(plan, shape, &mut server, progress)?;
                outcome.samples.push(Sample { round, server: at, ..sample });
            }
        }
    }
    Ok(outcome)
}

/// Makes the tables, and measures one large transaction.
fn measure(
    plan: &Plan,
    shape: Shape,
    server: &mut Server,
    progress: &mut Progress,
) -> Result<Sample, MeasureError> {
    let rows = plan.rows_of(shape);
    progress.step(format!("{}: tables", server.name()));
    make_tables(server)?;
    let mut client = Client::connect(server.options()).map_err(server.refused("connecting"))?;
    if shape == Shape::Update {
        insert(server, &mut client, shape, rows, progress)?;
    }
    progress.done("made");
    if let Some(instance) = server.instance() {
        instance.forget_peak_rss();
    }
    let peak = |server: &Server| server.usage().unwrap_or_default().peak_rss_bytes;
    let rss_before_bytes = peak(server);
    progress.step(format!("{}: {} of {} rows", server.name(), shape.name(), grouped(rows)));
    let writer = Writer::start(server.options())?;
    sleep(BEFORE);

    writer.enter_phase(1);
    let clock = Stopwatch::start();
    run_on(server, &mut client, "BEGIN")?;
    match shape {
        Shape::Insert | Shape::Wide => insert(server, &mut client, shape, rows, progress)?,
        Shape::Update => {
            let sql =
                format!("UPDATE {SCHEMA}.large SET n = n + 1, c = REVERSE(c) WHERE id BETWEEN 1 AND {rows}");
            run_on(server, &mut client, &sql)?;
        }
    }
    let statements_s = clock.elapsed().as_secs_f64();
    let rss_statements_bytes = peak(server);
    writer.enter_phase(2);
    let clock = Stopwatch::start();
    run_on(server, &mut client, "COMMIT")?;
    let commit_s = clock.elapsed().as_secs_f64();
    writer.enter_phase(3);
    sleep(AFTER);
    let waits = writer.end()?;
    progress
        .done(format!("longest wait of others while it committed: {:.1} ms", waits[2].percentiles().max_ms));
    let rss_peak_bytes = peak(server);
    Ok(Sample {
        round: 0,
        server: 0,
        shape,
        statements_s,
        commit_s,
        waits,
        rss_before_bytes,
        rss_statements_bytes,
        rss_peak_bytes,
    })
}

fn run_on(server: &Server, client: &mut Client, sql: &str) -> Result<(), MeasureError> {
    client.query_discard(sql).map(|_| ()).map_err(server.refused(sql.get(..80).unwrap_or(sql)))
}

fn make_tables(server: &mut Server) -> Result<(), MeasureError> {
    server.run(&format!("CREATE DATABASE {SCHEMA}"))?;
    for table in ["large", "small"] {
        server.run(&format!(
            "CREATE TABLE {SCHEMA}.{table} (id BIGINT PRIMARY KEY, n INT NOT NULL, c VARCHAR({WIDE_BYTES}) NOT NULL) \
             CHARSET latin1"
        ))?;
        let row = |id| format!("({id}, 0, '')");
        let rows: Vec<String> = writer::ids(table).map(row).collect();
        server.run(&format!("INSERT INTO {SCHEMA}.{table} VALUES {}", rows.join(",")))?;
    }
    Ok(())
}

/// Inserts the rows with statements of moderate length.
fn insert(
    server: &Server,
    client: &mut Client,
    shape: Shape,
    rows: u64,
    progress: &mut Progress,
) -> Result<(), MeasureError> {
    let value = "0123456789".repeat(shape.value_bytes() / 10);
    let step = (STATEMENT_BYTES / value.len()) as u64;
    for from in (1..=rows).step_by(step as usize) {
        let row = |id: u64| format!("({id},{},'{value}')", id % 1000);
        let values: Vec<String> = (from..(from + step).min(rows + 1)).map(row).collect();
        run_on(server, client, &format!("INSERT INTO {SCHEMA}.large VALUES {}", values.join(",")))?;
        progress.tell(|| format!("{} of {} rows", grouped(from), grouped(rows)));
    }
    Ok(())
}
