//! `slipstream bench demo`: replication between two Slipstream servers, and new replicas of real
//! ones.
//!
//! A source and a replica hold sysbench's tables and a load runs on the source. The demo tells how
//! fast the source committed, how fast the replica applied what it had received before, how far it
//! lagged when it applied along, and whether both hold the same rows. Then `slipstream attach`
//! makes replicas of a MySQL and of a MariaDB server that work meanwhile, as far as the machine has
//! them, otherwise of a Slipstream server. No other software is needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::copy::{self, Method};
use crate::error::MeasureError;
use crate::instance::{Flavor, RowImage, Settings};
use crate::measure::Node;
use crate::progress::{Progress, grouped};
use crate::replication::{self, Thread};
use crate::sbtest::{Load, RandType, Size, Workload};
use crate::server::Mode;
use crate::table::{Align, Table};

/// The pause between two probes of the lag.
const PROBE_EVERY: Duration = Duration::from_millis(50);
/// The transactions a second that change a source while it is copied.
const CHANGES_PER_SECOND: u64 = 500;
/// How long a new replica's lag is looked at, in seconds.
const LAG_SECONDS: u64 = 3;
/// How long the replica may take to reach a probed position before the demo fails.
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(60);

/// The sizes of the demo.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of tables and of their rows.
    pub size: Size,
    /// The number of transactions of each of the two loads.
    pub transactions: u64,
    /// The number of clients of the loads.
    pub clients: u32,
    /// Whether source and replica sync every commit.
    pub durable: bool,
    /// The seed of the data and of the loads.
    pub seed: u64,
}

/// The result of the demo.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The report as text.
    pub report: String,
    /// Whether all replicas hold the same rows as their sources.
    pub equal: bool,
}

/// Runs the demo.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let settings = |server_id| Settings {
        server_id,
        pool_bytes: 512 << 20,
        redo_bytes: 1 << 30,
        durable: plan.durable,
        row_image: RowImage::Minimal,
        ..Settings::default()
    };
    let mut source = Node::start(Flavor::Slipstream, "source", &settings(1), progress)?;
    let mut replica = Node::start(Flavor::Slipstream, "replica", &settings(2), progress)?;
    source.server.fill(plan.size, plan.seed, progress)?;
    replica.server.fill(plan.size, plan.seed, progress)?;
    replica.attach(&source)?;

    let mut load = Load {
        workload: Workload::UpdateNonIndex,
        size: plan.size,
        transactions: plan.transactions,
        clients: plan.clients,
        rand_type: RandType::default(),
        seed: plan.seed.wrapping_add(1),
    };
    let loaded = source.load(&load, progress)?;
    let target = source.position()?;
    replica.receive(&target, progress)?;
    let applied = replica.apply(&target, progress)?;

    load.seed = load.seed.wrapping_add(1);
    replica.start_thread(Thread::Sql)?;
    let (at_once, lags) = load_with_lag(&mut source, &replica, &load, progress)?;

    progress.step("comparing checksums");
    let (ours, theirs) = (
        source.checksums(load.workload, plan.size.tables)?,
        replica.checksums(load.workload, plan.size.tables)?,
    );
    let equal = ours == theirs;
    progress.done(if equal { "equal" } else { "DIFFERENT" });

    drop((source, replica));
    let (attached, missing) = attach_all(plan, progress)?;

    let mut table = Table::new(&[("measured", Align::Left), ("figure", Align::Right)]);
    let mut row = |what: &str, figure: String| table.row(vec![what.to_string(), figure]);
    row("source, commits/s", grouped(loaded.rate() as u64));
    row(
        "replica, applied/s, relay log received first",
        grouped((applied_rate(&loaded, applied.seconds)) as u64),
    );
    row("source, commits/s, replica applying along", grouped(at_once.rate() as u64));
    row("lag while applying along, median ms", format!("{:.1}", lags.median_ms));
    row("lag while applying along, maximum ms", format!("{:.1}", lags.max_ms));
    row("replica's peak memory, MB (pool 512)", (applied.peak_rss_bytes >> 20).to_string());
    for (number, (source, replica)) in ours.iter().zip(&theirs).enumerate() {
        let verdict = if source == replica { "equal" } else { "DIFFERENT" };
        row(
            &format!("checksum of sbtest{}, both sides", number + 1),
            format!("{verdict}: {source} / {replica}"),
        );
    }
    attached.iter().for_each(|outcome| tell_attached(outcome, &mut row));
    let equal = equal && attached.iter().all(copy::Outcome::all_equal);
    let durability = if plan.durable { "durable" } else { "relaxed" };
    let head = format!(
        "{} tables of {} rows, {} transactions of update_non_index from {} clients, {durability}\n\n",
        plan.size.tables,
        grouped(plan.size.rows),
        grouped(plan.transactions),
        plan.clients,
    );
    let missing: String = missing.iter().map(|why| format!("not attached: {why}\n")).collect();
    Ok(Outcome { report: head + &table.to_string() + &missing, equal })
}

/// Makes new replicas of servers that work. Returns what came of each, and what is not on the
/// machine.
fn attach_all(
    plan: &Plan,
    progress: &mut Progress,
) -> Result<(Vec<copy::Outcome>, Vec<String>), MeasureError> {
    let (mut sources, mut missing) = (Vec::new(), Vec::new());
    for flavor in [Flavor::MySql, Flavor::MariaDb] {
        match flavor.unavailable() {
            None => sources.push(flavor),
            Some(why) => missing.push(format!("{flavor}, because {why}")),
        }
    }
    if sources.is_empty() {
        sources.push(Flavor::Slipstream);
    }
    let plan_for = |source| copy::Plan {
        source: Some(source),
        size: plan.size,
        methods: vec![Method::Attach],
        changes_per_second: vec![CHANGES_PER_SECOND],
        clients: plan.clients,
        threads: None,
        mode: if plan.durable { Mode::Durable } else { Mode::Relaxed },
        pool_bytes: 512 << 20,
        lag_seconds: LAG_SECONDS,
        rounds: 1,
        seed: plan.seed,
    };
    let attached = sources.into_iter().map(|source| copy::run(&plan_for(source), progress));
    Ok((attached.collect::<Result<_, _>>()?, missing))
}

/// Puts the figures of new replicas into the report.
fn tell_attached(outcome: &copy::Outcome, row: &mut impl FnMut(&str, String)) {
    for sample in &outcome.samples {
        let what = format!("attach of {}, {:.0} commits/s", outcome.source, sample.rate);
        let rows = outcome.plan.size.rows * u64::from(outcome.plan.size.tables);
        row(&format!("{what}, rows/s"), grouped((rows as f64 / sample.copied_seconds) as u64));
        let caught_up =
            sample.caught_up_seconds.map_or("never".to_owned(), |seconds| format!("{seconds:.1}"));
        row(&format!("{what}, caught up after s"), caught_up);
        let lag = sample.lag_ms.iter().flatten().copied().fold(0.0, f64::max);
        row(&format!("{what}, lag afterwards, maximum ms"), format!("{lag:.1}"));
        let verdict = if sample.equal { "equal" } else { "DIFFERENT" };
        row(&format!("{what}, checksums of both sides"), verdict.to_owned());
    }
}

fn applied_rate(loaded: &crate::sbtest::Loaded, seconds: f64) -> f64 {
    loaded.transactions as f64 / seconds
}

/// The lag of the replica, as its clients see it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lags {
    median_ms: f64,
    max_ms: f64,
}

impl Lags {
    fn of(mut all_us: Vec<u64>) -> Lags {
        all_us.sort_unstable();
        let ms = |us: Option<&u64>| us.map_or(0.0, |us| *us as f64 / 1000.0);
        Lags { median_ms: ms(all_us.get(all_us.len() / 2)), max_ms: ms(all_us.last()) }
    }
}

/// Runs the load while the replica applies along, and probes the lag. A probe reads the source's
/// position and takes the time until the replica has applied up to it. The time includes the round
/// trips of both questions.
fn load_with_lag(
    source: &mut Node,
    replica: &Node,
    load: &Load,
    progress: &mut Progress,
) -> Result<(crate::sbtest::Loaded, Lags), MeasureError> {
    let refused = |error| MeasureError::Refused("the lag's probe".into(), "connecting".into(), error);
    let mut at_source = replication::connect(source.instance()).map_err(refused)?;
    let mut at_replica = replication::connect(replica.instance()).map_err(refused)?;
    let loading = Arc::new(AtomicBool::new(true));
    let still_loading = Arc::clone(&loading);
    let probe = os::thread::spawn("lag_probe", move || {
        let mut lags_us = Vec::new();
        // One more probe after the load has ended waits until the replica has applied everything.
        let mut last = false;
        while !last {
            last = !still_loading.load(Ordering::Acquire);
            let target = replication::source_position(&mut at_source, Flavor::Slipstream)?;
            let clock = Stopwatch::start();
            loop {
                let status = replication::status(&mut at_replica, Flavor::Slipstream)?;
                if status.applied.is_some_and(|applied| applied >= target) {
                    break;
                }
                if status.sql_errno != 0 || clock.elapsed() > CAUGHT_UP_WITHIN {
                    let why = format!("not caught up to {target}: {}", status.sql_error);
                    return Err(protocol::client::ClientError::Protocol(why));
                }
                sleep(Duration::from_millis(1));
            }
            lags_us.push(clock.elapsed_us());
            sleep(PROBE_EVERY);
        }
        Ok(lags_us)
    });
    let loaded = source.load(load, progress);
    loading.store(false, Ordering::Release);
    let lags = probe.join().expect("the probe does not panic");
    let failed = |error| MeasureError::Refused(replica.name(), "probing its lag".into(), error);
    Ok((loaded?, Lags::of(lags.map_err(failed)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_of_probes() {
        assert_eq!(Lags::of(vec![]), Lags { median_ms: 0.0, max_ms: 0.0 });
        assert_eq!(Lags::of(vec![9_000, 1_000, 2_500]), Lags { median_ms: 2.5, max_ms: 9.0 });
    }
}
