//! `slipstream bench apply`: how fast a replica applies what it has received (the method of MySQL's
//! bug 71130).
//!
//! Source and replica hold the same tables. The replica's receiver runs, its applier does not. A
//! load runs on the source. When all of it is received, the applier is started and timed until it
//! has applied the last transaction. Every pair of the run is measured in turn on the same load, so
//! that the machine's moods are shared; figures compare within one run only.
//!
//! What is varied is a matrix ([`case`]): loads and how the source logs them, and for each of these
//! how the replicas are set.

mod case;
mod cell;
mod report;

use std::io;
use std::path::{Path, PathBuf};

use crate::instance::{Flavor, Settings};
use crate::measure::{Applied, MeasureError, Node};
use crate::progress::Progress;
use crate::sbtest::{Loaded, Size, Workload};
use crate::server::Mode;

pub use case::{Case, Dimension, Format, Repository, Setting, Stream};
use cell::{Attached, Group};
pub use report::{json, page, text};

/// Redo log of every server: no run waits for a checkpoint.
const REDO_BYTES: u64 = 2 << 30;

/// What is measured: every combination of the lists, each in turn.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The tables.
    pub size: Size,
    /// Transactions of each load.
    pub transactions: u64,
    /// Clients of each load.
    pub clients: u32,
    /// The transactions.
    pub workloads: Vec<Workload>,
    /// How the sources log them.
    pub formats: Vec<Format>,
    /// For how long the sources gather commits.
    pub delays_us: Vec<u32>,
    /// The replicas' durability.
    pub modes: Vec<Mode>,
    /// The replicas' worker threads, 0 for one applier alone.
    pub workers: Vec<u32>,
    /// Where the replicas keep their position.
    pub repositories: Vec<Repository>,
    /// Whether the replicas log what they apply; a server each.
    pub logged: Vec<bool>,
    /// Buffer pool of every server.
    pub pool_bytes: u64,
    /// Source of the Slipstream replica; MySQL, or else MariaDB, or else Slipstream when none is
    /// given.
    pub source: Option<Flavor>,
    /// The replicas; those whose server is not on the machine are left out.
    pub replicas: Vec<Flavor>,
    /// How often everything is measured.
    pub rounds: u32,
    /// Makes the data and the loads.
    pub seed: u64,
    /// Where the sources' binary logs go in the end, a directory for each source; the servers leave
    /// nothing behind.
    pub keep_logs: Option<PathBuf>,
}

impl Plan {
    /// The loads, and what the sources make of them.
    pub fn streams(&self) -> Vec<Stream> {
        let mut all = Vec::new();
        for &workload in &self.workloads {
            for &format in &self.formats {
                all.extend(self.delays_us.iter().map(|&delay_us| Stream { workload, format, delay_us }));
            }
        }
        all
    }

    /// What is set on a running replica.
    pub fn settings(&self) -> Vec<Setting> {
        let mut all = Vec::new();
        for &mode in &self.modes {
            for &workers in &self.workers {
                all.extend(self.repositories.iter().map(|&repository| Setting { mode, workers, repository }));
            }
        }
        all
    }
}

/// One timed apply.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// Which cell of the matrix.
    pub case: Case,
    /// Which of [`Outcome::pairs`].
    pub pair: usize,
    /// The load that was applied.
    pub loaded: Loaded,
    /// The replica's figures.
    pub applied: Applied,
    /// Whether all tables' checksums were the same at both ends afterwards.
    pub equal: bool,
}

/// A source and a replica.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The source's flavor and version.
    pub source: String,
    /// The replica's flavor.
    pub flavor: Flavor,
    /// The replica's flavor and version.
    pub replica: String,
    /// Whether the replica logs what it applies.
    pub logged: bool,
    /// The replica's options.
    pub options: Vec<String>,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was asked for.
    pub plan: Plan,
    /// The pairs that were there.
    pub pairs: Vec<Pair>,
    /// Peers that were not on the machine, and why.
    pub missing: Vec<String>,
    /// The figures.
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// Whether every replica held the same rows as its source after every apply.
    pub fn all_equal(&self) -> bool {
        self.samples.iter().all(|sample| sample.equal)
    }
}

/// Runs the plan.
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

/// Copies a source's binary logs, for `slipstream analyze` and its like.
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

/// The flavor that feeds a replica, if both are on the machine; what is missing is noted.
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

/// Which flavor feeds which: a peer feeds its like, Slipstream is fed by what is wanted.
fn source_of(wanted: Option<Flavor>, replica: Flavor) -> Flavor {
    if replica != Flavor::Slipstream {
        return replica;
    }
    let found = [Flavor::MySql, Flavor::MariaDb].into_iter().find(|flavor| flavor.unavailable().is_none());
    wanted.or(found).unwrap_or(Flavor::Slipstream)
}

/// Starts, fills and attaches every server.
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

/// Starts and fills a replica of this source.
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
