//! `slipstream bench copy`: how long it takes to make a new replica of a source that works.
//!
//! The source is a MySQL or MariaDB server with sysbench's tables. New replicas of it are made by
//! turns, each while no other one runs: by `slipstream attach`, by mydumper and myloader, by
//! MySQL's CLONE INSTANCE or by mariadb-backup, with and without clients that change the source's
//! rows. A replica has caught up when it applies within one second what the source has logged; one
//! that is slower than the load is given up. From the last copied row on the lag is looked at for a
//! while ([`crate::beat`]), and at least until then. At the end the load is stopped and the
//! checksums of both sides are compared.
//!
//! The fresh server of another way runs before the time begins. `slipstream attach` has to make its
//! data directory and to start its server in the time that is measured.

mod attach;
mod backup;
mod clone;
mod copied;
mod dump;
mod load;
mod outcome;
mod program;
mod report;

use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::beat::{self, Beats, Looks};
use crate::error::MeasureError;
use crate::instance::{Flavor, RowImage, Settings};
use crate::measure::Node;
use crate::progress::Progress;
use crate::sbtest::{Checksum, SCHEMA, checksum, checksums};
use crate::server::Mode;
use copied::Copied;
use load::Load;

pub use outcome::{Made, Method, Outcome, Plan, Sample};
pub use report::{json, page, text};

/// The size of every server's redo log in bytes, large enough that no copy waits for a checkpoint.
const REDO_BYTES: u64 = 2 << 30;
/// A replica has caught up when it applies within this time what the source has logged.
const BEHIND: Duration = Duration::from_secs(1);
/// A replica that is slower than the load never catches up. It is given up so long after the last
/// copied row.
const PATIENCE: Duration = Duration::from_secs(300);
/// The pause between two looks at whether a replica has caught up.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut missing = Vec::new();
    let flavor = source_flavor(plan.source, &mut missing)?;
    let methods = methods(plan, flavor, &mut missing);
    let mut source = start_source(plan, flavor, &methods, progress)?;
    let mut outcome = Outcome {
        plan: plan.clone(),
        source: source.version(),
        data_bytes: data_bytes(&mut source, plan)?,
        made: Vec::new(),
        missing,
        samples: Vec::new(),
    };
    for round in 1..=plan.rounds {
        for &changes in &plan.changes_per_second {
            for &method in &methods {
                let (sample, options) = measure(plan, (round, changes, method), &mut source, progress)?;
                if !outcome.made.iter().any(|made| made.method == method) {
                    outcome.made.push(Made { method, options });
                }
                outcome.samples.push(sample);
            }
        }
    }
    Ok(outcome)
}

/// Returns the flavor of the source: the one that is asked for, or the first one that is there.
fn source_flavor(wanted: Option<Flavor>, missing: &mut Vec<String>) -> Result<Flavor, MeasureError> {
    let wanted = wanted.map_or(vec![Flavor::MySql, Flavor::MariaDb], |flavor| vec![flavor]);
    for flavor in wanted {
        match flavor.unavailable() {
            None => return Ok(flavor),
            Some(why) => missing.push(format!("a source that is {flavor}: {why}")),
        }
    }
    Err(MeasureError::Program("the source".into(), missing.join("; ")))
}

/// Returns the ways that are there for this source, and notes which are not.
fn methods(plan: &Plan, source: Flavor, missing: &mut Vec<String>) -> Vec<Method> {
    let mut methods = plan.methods.clone();
    methods.retain(|method| {
        let why = match method {
            _ if !method.is_for(source) => return false,
            Method::Attach => None,
            Method::Dump => dump::unavailable(source),
            Method::Clone => clone::unavailable(source),
            Method::Backup => backup::unavailable(source),
        };
        missing.extend(why.iter().map(|why| format!("{}: {why}", method.shown())));
        why.is_none()
    });
    methods
}

fn settings(plan: &Plan, flavor: Flavor, server_id: u32) -> Settings {
    Settings {
        server_id,
        // Each server's own default.
        replica_workers: if flavor == Flavor::MySql { 4 } else { 0 },
        pool_bytes: plan.pool_bytes,
        redo_bytes: REDO_BYTES,
        durable: plan.mode == Mode::Durable,
        row_image: RowImage::Full,
        ..Settings::default()
    }
}

/// Starts the source, and fills sysbench's tables and the table that lag is measured with.
fn start_source(
    plan: &Plan,
    flavor: Flavor,
    methods: &[Method],
    progress: &mut Progress,
) -> Result<Node, MeasureError> {
    let mut settings = settings(plan, flavor, 1);
    if methods.contains(&Method::Clone) {
        settings.extra.push(clone::PLUGIN.to_string());
    }
    let mut source = Node::start(flavor, "source", &settings, progress)?;
    source.server.fill(plan.size, plan.seed, progress)?;
    let table = format!("{SCHEMA}.{}", beat::TABLE);
    for sql in [
        "SET SESSION sql_log_bin = 0",
        &format!("CREATE TABLE {table} (id INT PRIMARY KEY, n BIGINT NOT NULL) /*! ENGINE = innodb */"),
        &format!("INSERT INTO {table} VALUES (1, 0)"),
        "SET SESSION sql_log_bin = 1",
    ] {
        source.server.run(sql)?;
    }
    Ok(source)
}

/// Returns the bytes of all values in the rows of sysbench's tables.
fn data_bytes(source: &mut Node, plan: &Plan) -> Result<u64, MeasureError> {
    let mut bytes = 0;
    for table in 1..=plan.size.tables {
        let sql = format!(
            "SELECT SUM(LENGTH(id) + LENGTH(k) + LENGTH(c) + LENGTH(pad)) FROM {SCHEMA}.sbtest{table}"
        );
        let refused = source.server.refused(&sql);
        let sum = source.server.client().query(&sql).map_err(refused)?.cell(0, 0);
        bytes += sum.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(bytes)
}

/// Makes one replica, and returns its figures and the options of its server.
fn measure(
    plan: &Plan,
    (round, changes, method): (u32, u64, Method),
    source: &mut Node,
    progress: &mut Progress,
) -> Result<(Sample, Vec<String>), MeasureError> {
    let options = source.server.options().clone();
    let seed = plan.seed.wrapping_add(u64::from(round) << 32);
    let load = match changes {
        0 => None,
        _ => Some((Beats::start(&options)?, Load::start(&options, plan, changes, seed)?)),
    };
    let mut copied = copy(plan, method, source, progress)?;
    let copied_at = Stopwatch::start();
    let looks = match &load {
        Some((beats, _)) => Some(Looks::start(copied.node.server.options(), beats)?),
        None => None,
    };
    progress.step(format!("{}: catching up", copied.node.name()));
    let has_caught_up = catch_up(source, &mut copied.node, progress)?;
    let caught_up_seconds = has_caught_up.then(|| copied.clock.elapsed().as_secs_f64());
    progress.done(if has_caught_up { "caught up" } else { "given up, it falls behind" });
    let (mut rate, mut lag_ms) = (0.0, Vec::new());
    if let (Some((beats, load)), Some(looks)) = (load, looks) {
        progress.step(format!("{}: lag", copied.node.name()));
        sleep(copied_at.remaining(Duration::from_secs(plan.lag_seconds)));
        lag_ms = looks.stop()?;
        rate = load.stop()?;
        beats.stop()?;
        progress.done(format!("lag at most {:.0} ms", lag_ms.iter().flatten().copied().fold(0.0, f64::max)));
    }
    let end = source.position()?;
    copied.node.catch_up(&end, progress)?;
    let peak = copied.node.server.usage().unwrap_or_default().peak_rss_bytes;
    let equal = rows(source, plan)? == rows(&mut copied.node, plan)?;
    let sample = Sample {
        round,
        method,
        changes_per_second: changes,
        rate,
        replica: copied.node.version(),
        copied_seconds: copied.seconds,
        caught_up_seconds,
        lag_ms,
        peak_rss_bytes: peak.max(copied.peak_rss_bytes),
        equal,
    };
    Ok((sample, copied.node.instance().options_shown()))
}

fn copy(
    plan: &Plan,
    method: Method,
    source: &mut Node,
    progress: &mut Progress,
) -> Result<Copied, MeasureError> {
    let flavor = if method == Method::Attach { Flavor::Slipstream } else { source.flavor() };
    let settings = settings(plan, flavor, 2);
    match method {
        Method::Attach => {
            // The table that lag is measured with is copied too.
            let tables = u64::from(plan.size.tables) + 1;
            progress.step(format!("slipstream attach of {}", source.name()));
            let copied = attach::copy(source, &settings, (tables, plan.threads), progress)?;
            progress.done(format!("copied after {:.1} s", copied.seconds));
            Ok(copied)
        }
        Method::Dump => dump::copy(source, &settings, plan.threads, progress),
        Method::Clone => clone::copy(source, &settings, progress),
        Method::Backup => backup::copy(source, &settings, plan.threads, progress),
    }
}

/// Waits until the replica applies within [`BEHIND`] what the source has logged. Returns false when
/// it does not within [`PATIENCE`].
fn catch_up(source: &mut Node, replica: &mut Node, progress: &mut Progress) -> Result<bool, MeasureError> {
    let clock = Stopwatch::start();
    loop {
        let end = source.position()?;
        let asked = Stopwatch::start();
        loop {
            let status = replica.status()?;
            if let Some(error) = status.error() {
                return Err(MeasureError::Broken(replica.name(), error.to_string()));
            }
            if status.applied.is_some_and(|applied| applied >= end) {
                break;
            }
            if clock.elapsed() > PATIENCE {
                return Ok(false);
            }
            progress.tell(|| format!("{} s", clock.elapsed().as_secs()));
            sleep(LOOK_EVERY);
        }
        if asked.elapsed() <= BEHIND {
            return Ok(true);
        }
    }
}

fn rows(node: &mut Node, plan: &Plan) -> Result<Vec<Checksum>, MeasureError> {
    let client = node.server.client();
    let mut all = checksums(client, plan.size.tables)?;
    all.push(checksum(client, beat::TABLE, "id, n")?);
    Ok(all)
}
