//! `slipstream bench large`: what one large transaction does to the commits of others, and how much
//! memory it takes, side by side.
//!
//! One client runs a transaction of many rows; another one changes single rows all the while, each
//! in a transaction of its own, in turn of another table and of rows of the same table that the
//! large one does not touch. Each of these has a response time, which is counted in every phase
//! that it lay in: before the large transaction, while its statements ran, while it committed, and
//! for a few seconds after, when pages are written and the binary log gets it.

mod report;
mod writer;

use os::clock::{Stopwatch, sleep};
use protocol::client::Client;
use std::time::Duration;

use crate::described::Described;
use crate::histogram::Histogram;
use crate::instance::{Flavor, RowImage, Settings};
use crate::measure::MeasureError;
use crate::progress::{Progress, grouped};
use crate::server::Server;
use writer::Writer;

pub use report::{json, text};

/// The schema, made anew for each transaction.
const SCHEMA: &str = "kit_large";
/// How long others are watched alone, before and after.
const BEFORE: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(3);
/// Bytes of a row's value where rows are many.
const NARROW_BYTES: usize = 100;
/// Bytes of a row's value where bytes are many.
const WIDE_BYTES: usize = 4000;
/// About so many bytes of rows a statement.
const STATEMENT_BYTES: usize = 512 << 10;

/// What the large transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Inserts many small rows.
    Insert,
    /// Changes many small rows, by one statement.
    Update,
    /// Inserts many bytes.
    Wide,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 3] = [Shape::Insert, Shape::Update, Shape::Wide];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Insert => "insert",
            Shape::Update => "update",
            Shape::Wide => "wide",
        }
    }

    fn value_bytes(self) -> usize {
        if self == Shape::Wide { WIDE_BYTES } else { NARROW_BYTES }
    }
}

/// The phases in which single-row commits are counted.
pub const PHASES: [&str; 4] = ["before", "statements", "commit", "after"];

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The transactions, in this order.
    pub shapes: Vec<Shape>,
    /// Rows of those of many rows.
    pub rows: u64,
    /// Bytes of the one of many bytes.
    pub wide_bytes: u64,
    /// `log_bin`.
    pub log_bin: bool,
    /// `sync_binlog` and `innodb_flush_log_at_trx_commit`.
    pub durable: bool,
    /// `innodb_buffer_pool_size`.
    pub pool_bytes: u64,
    /// `innodb_redo_log_capacity`.
    pub redo_bytes: u64,
    /// `binlog_row_image`.
    pub image: RowImage,
    /// The servers; those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// How often everything is measured, from fresh data on.
    pub rounds: u32,
}

impl Plan {
    fn rows_of(&self, shape: Shape) -> u64 {
        if shape == Shape::Wide { self.wide_bytes / WIDE_BYTES as u64 } else { self.rows }
    }
}

/// One large transaction.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// Which of [`Outcome::servers`].
    pub server: usize,
    /// What it did.
    pub shape: Shape,
    /// How long its statements took.
    pub statements_s: f64,
    /// How long its commit took.
    pub commit_s: f64,
    /// Response times of single-row commits in each of [`PHASES`].
    pub waits: [Histogram; PHASES.len()],
    /// Memory resident before it.
    pub rss_before_bytes: u64,
    /// The most resident until its commit began.
    pub rss_statements_bytes: u64,
    /// The most resident until the end.
    pub rss_peak_bytes: u64,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was asked for.
    pub plan: Plan,
    /// The servers.
    pub servers: Vec<Described>,
    /// Peers that were not on the machine, and why.
    pub missing: Vec<String>,
    /// The figures.
    pub samples: Vec<Sample>,
}

/// Runs the plan.
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

/// Makes the tables, and measures one transaction.
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

/// Inserts the rows, with statements of moderate length.
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
