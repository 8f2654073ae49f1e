//! `slipstream bench lag`: how far a replica is behind, and how long its readers wait, while a
//! source does what makes replicas lag.
//!
//! A replica applies along with its source. Clients of the source send transactions at a set rate,
//! so that every source has the same work. Every 100 ms a reader of the replica looks at what is
//! visible there ([`probe`]). Another reader reads rows all the time, and the report tells its
//! longest read. Each pair is measured while no other one runs.

mod load;
mod outcome;
mod probe;
mod report;

use std::time::Duration;

use os::clock::Stopwatch;

use crate::beat::Beats;
use crate::error::MeasureError;
use crate::instance::{Flavor, RowImage, Settings};
use crate::measure::Node;
use crate::progress::Progress;
use crate::replication::Thread;
use crate::server::Mode;

pub use outcome::{Outcome, Pair, Plan, Run, Scenario};
pub use report::{json, page, text};

/// The size of every server's redo log in bytes, large enough that no run waits for a checkpoint.
const REDO_BYTES: u64 = 2 << 30;

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome =
        Outcome { plan: plan.clone(), pairs: Vec::new(), missing: Vec::new(), runs: Vec::new() };
    for flavor in &plan.replicas {
        let there = crate::apply::source_if_there(plan.source, *flavor, &mut outcome.missing);
        let Some(source) = there else { continue };
        // The servers of a pair run only while the pair is measured.
        let (mut source, mut replica) =
            (start(plan, source, "source", 1, progress)?, start(plan, *flavor, "replica", 2, progress)?);
        replica.attach(&source)?;
        outcome.pairs.push(Pair {
            source: source.version(),
            replica: replica.version(),
            options: replica.instance().options_shown(),
        });
        for (scenario, workers) in
            plan.scenarios.iter().flat_map(|one| plan.workers.iter().map(move |count| (*one, *count)))
        {
            replica.server.set_workers(*flavor, workers)?;
            let run = measure(plan, (scenario, workers), (&mut source, &mut replica), progress)?;
            outcome.runs.push(Run { pair: outcome.pairs.len() - 1, ..run });
        }
    }
    Ok(outcome)
}

fn start(
    plan: &Plan,
    flavor: Flavor,
    role: &'static str,
    server_id: u32,
    progress: &mut Progress,
) -> Result<Node, MeasureError> {
    let settings = Settings {
        server_id,
        pool_bytes: plan.pool_bytes,
        redo_bytes: REDO_BYTES,
        durable: plan.mode == Mode::Durable,
        row_image: RowImage::Minimal,
        ..Settings::default()
    };
    let mut node = Node::start(flavor, role, &settings, progress)?;
    progress.step(format!("{}: tables", node.name()));
    load::fill(node.server.client(), plan)?;
    progress.done("filled");
    Ok(node)
}

fn measure(
    plan: &Plan,
    (scenario, workers): (Scenario, u32),
    (source, replica): (&mut Node, &mut Node),
    progress: &mut Progress,
) -> Result<Run, MeasureError> {
    replica.start_thread(Thread::Sql)?;
    progress.step(format!("{}: {} for {} s", replica.name(), scenario.name(), plan.seconds));
    let beats = Beats::start(source.server.options())?;
    let watch = probe::Watch::start(replica.server.options(), &beats, plan.rows)?;
    let loaded = load::run(source.server.options(), plan, scenario)?;
    let clock = Stopwatch::start();
    beats.stop()?;
    let target = source.position()?;
    replica.catch_up(&target, progress)?;
    let catch_up_seconds = clock.elapsed().as_secs_f64();
    let seen = watch.stop()?;
    replica.stop_thread(Thread::Sql)?;
    let equal = load::checksums(source.server.client())? == load::checksums(replica.server.client())?;
    progress.done(format!("lag at most {:.0} ms", report::most(&seen.lag_ms)));
    Ok(Run {
        scenario,
        workers,
        pair: 0,
        lag_ms: seen.lag_ms,
        rate: loaded.rate(),
        large_seconds: loaded.large.map(|time: Duration| time.as_secs_f64()),
        catch_up_seconds,
        reads: seen.reads,
        equal,
    })
}
