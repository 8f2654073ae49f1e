//! `slipstream bench apply`: how fast a replica applies what it has received (the method of MySQL's bug 71130).
//!
//! Source and replica hold the same tables. The replica's receiver runs, its applier does not. A load runs on the
//! source. When all of it is received, the applier is started and timed until it has applied the last transaction.
//! Every pair of the run is measured in turn on the same load, so that the machine's moods are shared; figures compare
//! within one run only.

use crate::instance::{Flavor, RowImage, Settings};
use crate::measure::{Applied, MeasureError, Node};
use crate::progress::Progress;
use crate::replication::Position;
use crate::sbtest::{Load, Loaded, Size, Workload};
use crate::server::Mode;

/// Redo log of every server: no run waits for a checkpoint.
const REDO_BYTES: u64 = 2 << 30;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The tables.
    pub size: Size,
    /// Transactions of each load.
    pub transactions: u64,
    /// Clients of each load.
    pub clients: u32,
    /// The transactions.
    pub workload: Workload,
    /// The replicas' durability; each is measured in turn.
    pub modes: Vec<Mode>,
    /// The replicas' worker threads, 0 for one applier alone; each is measured in turn.
    pub workers: Vec<u32>,
    /// `binlog_row_image`.
    pub image: RowImage,
    /// Whether the replicas log what they apply.
    pub logged: bool,
    /// Buffer pool of every server.
    pub pool_bytes: u64,
    /// Source of the Slipstream replica; MySQL, or else MariaDB, or else Slipstream when none is given.
    pub source: Option<Flavor>,
    /// The replicas; those whose server is not on the machine are left out.
    pub replicas: Vec<Flavor>,
    /// How often everything is measured.
    pub rounds: u32,
    /// Makes the data and the loads.
    pub seed: u64,
}

/// One timed apply.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// The replica's durability.
    pub mode: Mode,
    /// Its worker threads.
    pub workers: u32,
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

/// A source and the replicas that hang on it.
struct Group {
    source: Node,
    /// Each with its place in [`Outcome::pairs`].
    replicas: Vec<(usize, Node)>,
}

/// Runs the plan.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    let mut outcome =
        Outcome { plan: plan.clone(), pairs: Vec::new(), missing: Vec::new(), samples: Vec::new() };
    let mut groups = start(plan, &mut outcome, progress)?;
    for round in 1..=plan.rounds {
        for mode in &plan.modes {
            for workers in &plan.workers {
                measure(plan, round, (*mode, *workers), &mut groups, &mut outcome, progress)?;
            }
        }
    }
    Ok(outcome)
}

/// Which flavor feeds which: a peer feeds its like, Slipstream is fed by what the plan says.
fn source_of(plan: &Plan, replica: Flavor) -> Flavor {
    if replica != Flavor::Slipstream {
        return replica;
    }
    let found = [Flavor::MySql, Flavor::MariaDb].into_iter().find(|flavor| flavor.unavailable().is_none());
    plan.source.or(found).unwrap_or(Flavor::Slipstream)
}

/// Starts, fills and attaches every server.
fn start(plan: &Plan, outcome: &mut Outcome, progress: &mut Progress) -> Result<Vec<Group>, MeasureError> {
    let mut groups: Vec<Group> = Vec::new();
    for flavor in &plan.replicas {
        let source_flavor = source_of(plan, *flavor);
        if let Some(why) = [*flavor, source_flavor].iter().find_map(|wanted| wanted.unavailable()) {
            outcome.missing.push(format!("{flavor}: {why}"));
            continue;
        }
        let at = match groups.iter().position(|group| group.source.flavor() == source_flavor) {
            Some(at) => at,
            None => {
                let id = 1 + groups.len() as u32;
                let mut source = start_node(plan, source_flavor, "source", id, progress)?;
                source.server.fill(plan.size, plan.seed, progress)?;
                groups.push(Group { source, replicas: Vec::new() });
                groups.len() - 1
            }
        };
        let pair = outcome.pairs.len();
        let mut replica = start_node(plan, *flavor, "replica", 101 + pair as u32, progress)?;
        replica.server.fill(plan.size, plan.seed, progress)?;
        replica.attach(&groups[at].source)?;
        outcome.pairs.push(Pair {
            source: groups[at].source.version(),
            flavor: *flavor,
            replica: replica.version(),
            options: replica.instance().options_shown(),
        });
        groups[at].replicas.push((pair, replica));
    }
    Ok(groups)
}

fn start_node(
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
        log_bin: role == "source" || plan.logged,
        log_replica_updates: plan.logged,
        durable: false,
        row_image: plan.image,
        ..Settings::default()
    };
    progress.step(format!("{flavor} {role}: starting"));
    let node = Node::start(flavor, role, &settings)?;
    progress.done(node.version());
    Ok(node)
}

/// Loads every source, then times every replica in turn.
fn measure(
    plan: &Plan,
    round: u32,
    (mode, workers): (Mode, u32),
    groups: &mut [Group],
    outcome: &mut Outcome,
    progress: &mut Progress,
) -> Result<(), MeasureError> {
    let load = Load {
        workload: plan.workload,
        size: plan.size,
        transactions: plan.transactions,
        clients: plan.clients,
        seed: plan.seed.wrapping_add(1 + outcome.samples.len() as u64),
    };
    let mut targets: Vec<(Loaded, Position)> = Vec::new();
    for group in groups.iter_mut() {
        let loaded = group.source.load(&load, progress)?;
        let target = group.source.position()?;
        for (pair, replica) in &mut group.replicas {
            replica.server.set_mode(mode)?;
            replica.server.set_workers(outcome.pairs[*pair].flavor, workers)?;
            // The receiver stays: a MariaDB replica by GTID that starts with both threads stopped drops its relay log.
            replica.receive(&target, progress)?;
        }
        targets.push((loaded, target));
    }
    for (group, (loaded, target)) in groups.iter_mut().zip(&targets) {
        for (pair, replica) in &mut group.replicas {
            let applied = replica.apply(target, progress)?;
            let sample = Sample { round, mode, workers, pair: *pair, loaded: *loaded, applied, equal: false };
            outcome.samples.push(sample);
        }
    }
    let of_this_mode = outcome.samples.len() - outcome.pairs.len();
    for group in groups.iter_mut() {
        progress.step("comparing checksums");
        let expected = group.source.checksums(plan.size.tables)?;
        for (pair, replica) in &mut group.replicas {
            let equal = replica.checksums(plan.size.tables)? == expected;
            let sample = outcome.samples[of_this_mode..].iter_mut().find(|sample| sample.pair == *pair);
            sample.expect("every pair was measured").equal = equal;
        }
        progress.done("compared");
    }
    Ok(())
}
