//! What a run is asked for, and what it has measured.

use std::path::PathBuf;

use super::case::{Case, Format, Repository, Setting, Stream};
use crate::instance::Flavor;
use crate::measure::Applied;
use crate::sbtest::{Loaded, Size, Workload};
use crate::server::Mode;

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
