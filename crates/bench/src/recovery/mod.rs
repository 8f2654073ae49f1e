//! `slipstream bench recovery`: how long a server that was killed takes until it answers again, on
//! several servers side by side.
//!
//! Every server is started with a redo log and a buffer pool that never fill up, and with page
//! cleaners that are held back as far as the server's options allow. The tables are filled, and the
//! server is stopped and started, so that all of them are on disk. sysbench updates rows until a
//! given number of bytes of log lies behind the last checkpoint. Then the process is killed and
//! started again on the same data. Two times are taken from that start: until `SELECT 1` is
//! answered, and until a row of a table is read.
//!
//! The log that a killed process wrote is still in the system's page cache, on every server, so the
//! disk's reading speed is not measured. The same holds for data pages, unless the server bypasses
//! the page cache.

mod outcome;
mod report;

use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ClientError};

use crate::error::MeasureError;
use crate::instance::Settings;
use crate::oltp::sysbench::{self, Run};
use crate::progress::{Progress, grouped};
use crate::sbtest::SCHEMA;
use crate::server::Server;

pub use outcome::{Outcome, Plan, Sample};
pub use report::{json, text};

/// The capacity of the log as a multiple of what is to be recovered, large enough that no server
/// flushes pages for want of log space.
const CAPACITY_FACTOR: u64 = 4;
/// How long a server may take to answer again.
const BACK_WITHIN: Duration = Duration::from_secs(1800);
/// The most seconds that the load may take to write the log.
const LOADED_WITHIN_S: u64 = 3600;
const POLL: Duration = Duration::from_millis(5);

/// The options that keep a server from writing pages while there is room. All servers know them.
const HOLD_BACK: [&str; 4] = [
    "--innodb-adaptive-flushing=OFF",
    "--innodb-max-dirty-pages-pct=99",
    "--innodb-max-dirty-pages-pct-lwm=98",
    "--innodb-io-capacity=100",
];

/// The status variables with the end of the log and with the last checkpoint: first those of MySQL
/// and Slipstream, then those of MariaDB.
const LSN_STATUS: [(&str, &str); 2] = [
    ("Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn"),
    ("Innodb_lsn_current", "Innodb_lsn_last_checkpoint"),
];

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    if let Some(error) = sysbench::unavailable() {
        return Err(error);
    }
    let mut outcome =
        Outcome { plan: plan.clone(), servers: Vec::new(), missing: Vec::new(), samples: Vec::new() };
    for round in 1..=plan.rounds {
        for flavor in &plan.flavors {
            let settings = settings(plan);
            let started = Server::start_if_there(*flavor, &settings, &mut outcome.missing, progress)?;
            let Some(mut server) = started else { continue };
            let at = server.describe()?.enter(&mut outcome.servers);
            server.fill(plan.size, plan.seed, progress)?;
            server.start_anew(progress)?;
            let (redo_bytes, transactions) = load(plan, round, &mut server, progress)?;
            let mut sample = recover(&mut server, progress)?;
            (sample.round, sample.server) = (round, at);
            (sample.redo_bytes, sample.transactions) = (redo_bytes, transactions);
            outcome.samples.push(sample);
        }
    }
    Ok(outcome)
}

fn settings(plan: &Plan) -> Settings {
    Settings {
        pool_bytes: plan.pool_bytes,
        redo_bytes: plan.redo_bytes * CAPACITY_FACTOR,
        log_bin: plan.log_bin,
        durable: false,
        row_image: plan.image,
        extra: HOLD_BACK.map(str::to_string).into(),
        ..Settings::default()
    }
}

/// Updates rows until the log is long enough, and kills the server while the updates go on. It
/// returns the number of bytes of log behind the checkpoint at the last look, and the number of
/// transactions counted by then.
fn load(
    plan: &Plan,
    round: u32,
    server: &mut Server,
    progress: &mut Progress,
) -> Result<(u64, u64), MeasureError> {
    let mb = plan.redo_bytes >> 20;
    progress.step(format!("{}: {mb} MB of log from {} clients", server.name(), plan.clients));
    let options = server.options().clone();
    let run = Run {
        script: "update_non_index",
        size: plan.size,
        clients: plan.clients,
        seconds: LOADED_WITHIN_S,
        seed: plan.seed.wrapping_add(u64::from(round)),
    };
    let (mut transactions, mut redo_bytes, mut looked) = (0.0, 0, Ok(()));
    let loaded = sysbench::run(&options, &run, &mut |_, second| {
        if looked.is_err() || redo_bytes >= plan.redo_bytes {
            return;
        }
        transactions += second.transactions;
        match checkpoint_age(server) {
            Ok(age) => redo_bytes = age,
            Err(error) => looked = Err(error),
        }
        progress.tell(|| format!("{} MB, {}/s", redo_bytes >> 20, grouped(second.transactions as u64)));
        if looked.is_err() || redo_bytes >= plan.redo_bytes {
            server.kill();
        }
    });
    looked?;
    if redo_bytes < plan.redo_bytes {
        // sysbench has to fail, but only because its server is gone.
        loaded?;
        let said = format!("{} MB of log after {LOADED_WITHIN_S} s", redo_bytes >> 20);
        return Err(MeasureError::Stalled(server.name().to_string(), said));
    }
    progress.done(format!("killed at {} MB", redo_bytes >> 20));
    Ok((redo_bytes, transactions as u64))
}

/// Returns the number of bytes of log that recovery would have to read.
fn checkpoint_age(server: &mut Server) -> Result<u64, MeasureError> {
    for (end, checkpoint) in LSN_STATUS {
        let values = (server.status(end)?, server.status(checkpoint)?);
        if let (Some(end), Some(checkpoint)) = values {
            let number = |text: &str| text.parse::<u64>().unwrap_or(0);
            // The two values are read one after the other, so the checkpoint may be past the end of
            // the log that was read first.
            return Ok(number(&end).saturating_sub(number(&checkpoint)));
        }
    }
    let name = server.name().to_string();
    Err(MeasureError::Program(name, "it does not tell where its log ends and its checkpoint is".into()))
}

/// Starts the killed server again, and takes the times.
fn recover(server: &mut Server, progress: &mut Progress) -> Result<Sample, MeasureError> {
    progress.step(format!("{}: recovery", server.name()));
    let clock = Stopwatch::start();
    server.launch()?;
    let mut client = answer(server, &clock, progress)?;
    let first_query_s = clock.elapsed().as_secs_f64();
    let sql = format!("SELECT c FROM {SCHEMA}.sbtest1 WHERE id = 1");
    let row = client.query(&sql).map_err(server.refused(&sql))?;
    let first_row_s = clock.elapsed().as_secs_f64();
    if row.cell(0, 0).is_none_or(|c| c.is_empty()) {
        return Err(MeasureError::Program(server.name().to_string(), format!("{sql}: no row")));
    }
    let usage = server.usage().unwrap_or_default();
    progress.done(format!("{first_query_s:.2} s"));
    Ok(Sample {
        round: 0,
        server: 0,
        redo_bytes: 0,
        transactions: 0,
        first_query_s,
        first_row_s,
        cpu_s: usage.cpu_ms as f64 / 1000.0,
        peak_rss_bytes: usage.peak_rss_bytes,
    })
}

/// Sends `SELECT 1` again and again until it is answered.
fn answer(server: &mut Server, clock: &Stopwatch, progress: &mut Progress) -> Result<Client, MeasureError> {
    loop {
        let asked = Client::connect(server.options()).and_then(|mut client| {
            client.query("SELECT 1")?;
            Ok::<_, ClientError>(client)
        });
        let error = match asked {
            Ok(client) => return Ok(client),
            Err(error) => error,
        };
        if !server.is_running() || clock.elapsed() > BACK_WITHIN {
            let tail = server.instance().map(|instance| instance.log_tail()).unwrap_or_default();
            return Err(MeasureError::Program(server.name().to_string(), format!("{error}\n{tail}")));
        }
        progress.tell(|| format!("{} s", clock.elapsed().as_secs()));
        sleep(POLL);
    }
}
