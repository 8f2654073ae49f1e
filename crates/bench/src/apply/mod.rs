//! `slipstream bench apply`: how fast a replica applies what it has received. The method is that of
//! MySQL's bug 71130.
//!
//! Source and replica hold the same tables. The replica's receiver runs, its applier does not. A
//! load runs on the source. When the replica has received all of it, the applier is started and
//! timed until it has applied the last transaction. All pairs of a run are measured in turn on the
//! same load, so that changes of the machine's speed hit all of them. Figures compare within one
//! run only.
//!
//! The run covers a matrix ([`case`]): loads and how the source logs them, and for each of these
//! the settings of the replicas.

mod case;
mod cell;
mod outcome;
mod report;

use std::io;
use std::path::Path;

use crate::error::MeasureError;
use crate::instance::{Flavor, Settings};
use crate::measure::Node;
use crate::progress::Progress;

pub use case::{Case, Dimension, Format, Repository, Setting, Stream};
use cell::{Attached, Group};
pub use outcome::{Outcome, Pair, Plan, Sample};
pub use report::{json, page, text};

/// The size of every server's redo log in bytes, large enough that no run waits for a checkpoint.
const REDO_BYTES: u64 = 2 << 30;

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome =
        Outcome { plan: plan.clone(), pairs: Vec::new(), missing: Vec::new(), samples: Vec::new() };
    let mut groups = start(plan, &mut outcome, progress)?;
    for round in 1..=plan.rounds {
        for stream in plan.streams() {
            cell::measure(plan, (round, &stream), &mut groups, &mut outcome, progress)?;
        }
    }
    if let Some(directory) = &plan.keep_logs {
        groups.iter().try_for_each(|group| keep_logs(&group.source, directory))?;
    }
    Ok(outcome)
}

/// Copies the binary logs of a source, for `slipstream analyze` and similar tools.
fn keep_logs(source: &Node, directory: &Path) -> Result<(), MeasureError> {
    let to = directory.join(source.flavor().to_string().to_lowercase());
    let copied = || -> io::Result<()> {
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(source.instance().datadir())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("binlog.0") {
                std::fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    };
    copied().map_err(|error| MeasureError::NotWritten(to.display().to_string(), error))
}

/// Returns the flavor that feeds a replica of flavor `replica`, if both are on the machine.
/// Otherwise it adds the reason to `missing`.
pub(crate) fn source_if_there(
    wanted: Option<Flavor>,
    replica: Flavor,
    missing: &mut Vec<String>,
) -> Option<Flavor> {
    let source = source_of(wanted, replica);
    let why = [replica, source].iter().find_map(|flavor| flavor.unavailable());
    missing.extend(why.iter().map(|why| format!("{replica}: {why}")));
    why.is_none().then_some(source)
}

/// Returns the flavor of the source of a replica. MySQL and MariaDB are fed by their own kind,
/// Slipstream is fed by the wanted flavor or else by the first peer that is on the machine.
fn source_of(wanted: Option<Flavor>, replica: Flavor) -> Flavor {
    if replica != Flavor::Slipstream {
        return replica;
    }
    let found = [Flavor::MySql, Flavor::MariaDb].into_iter().find(|flavor| flavor.unavailable().is_none());
    wanted.or(found).unwrap_or(Flavor::Slipstream)
}

/// Starts and fills every server, and attaches the replicas.
fn start(plan: &Plan, outcome: &mut Outcome, progress: &mut Progress) -> Result<Vec<Group>, MeasureError> {
    let mut groups: Vec<Group> = Vec::new();
    for flavor in &plan.replicas {
        let there = source_if_there(plan.source, *flavor, &mut outcome.missing);
        let Some(source_flavor) = there else { continue };
        let at = match groups.iter().position(|group| group.source.flavor() == source_flavor) {
            Some(at) => at,
            None => {
                let id = 1 + groups.len() as u32;
                let mut source = start_node(plan, source_flavor, ("source", true), id, progress)?;
                source.server.fill(plan.size, plan.seed, progress)?;
                groups.push(Group { source, replicas: Vec::new() });
                groups.len() - 1
            }
        };
        for &logged in &plan.logged {
            let attached = start_replica(plan, (*flavor, logged), &groups[at].source, outcome, progress)?;
            groups[at].replicas.push(attached);
        }
    }
    Ok(groups)
}

/// Starts and fills a replica, and notes it as a pair with `source`.
fn start_replica(
    plan: &Plan,
    (flavor, logged): (Flavor, bool),
    source: &Node,
    outcome: &mut Outcome,
    progress: &mut Progress,
) -> Result<Attached, MeasureError> {
    let pair = outcome.pairs.len();
    let mut node = start_node(plan, flavor, ("replica", logged), 101 + pair as u32, progress)?;
    node.server.fill(plan.size, plan.seed, progress)?;
    let has_repository = node.server.variable("relay_log_info_repository")?.is_some();
    if !has_repository && plan.repositories.contains(&Repository::File) {
        outcome
            .missing
            .push(format!("positions in a FILE on {}: it has them in a table only", node.version()));
    }
    outcome.pairs.push(Pair {
        source: source.version(),
        flavor,
        replica: node.version(),
        logged,
        options: node.instance().options_shown(),
    });
    Ok(Attached { pair, node, logged, has_repository })
}

fn start_node(
    plan: &Plan,
    flavor: Flavor,
    (role, logged): (&'static str, bool),
    server_id: u32,
    progress: &mut Progress,
) -> Result<Node, MeasureError> {
    let settings = Settings {
        server_id,
        pool_bytes: plan.pool_bytes,
        redo_bytes: REDO_BYTES,
        log_bin: logged,
        log_replica_updates: logged,
        durable: false,
        row_image: crate::instance::RowImage::Minimal,
        ..Settings::default()
    };
    Node::start(flavor, role, &settings, progress)
}
