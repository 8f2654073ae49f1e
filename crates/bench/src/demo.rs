//! `slipstream bench demo`: replication between two Slipstream servers, with no other software.
//!
//! A source and a replica hold sysbench's tables and a load runs on the source. The demo tells how
//! fast the source committed, how fast the replica applied what it had received before, how far it
//! lagged when it applied along, and whether both hold the same rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::error::MeasureError;
use crate::instance::{Flavor, RowImage, Settings};
use crate::measure::Node;
use crate::progress::{Progress, grouped};
use crate::replication::{self, Thread};
use crate::sbtest::{Load, RandType, Size, Workload};
use crate::table::{Align, Table};

/// The pause between two probes of the lag.
const PROBE_EVERY: Duration = Duration::from_millis(50);
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
    /// Whether source and replica hold the same rows.
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
    let durability = if plan.durable { "durable" } else { "relaxed" };
    let head = format!(
        "{} tables of {} rows, {} transactions of update_non_index from {} clients, {durability}\n\n",
        plan.size.tables,
        grouped(plan.size.rows),
        grouped(plan.transactions),
        plan.clients,
    );
    Ok(Outcome { report: head + &table.to_string(), equal })
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
