//! The plan of a run of `bench apply`, and what the run has measured.

use std::path::PathBuf;

use super::case::{Case, Format, Repository, Setting, Stream};
use crate::instance::Flavor;
use crate::measure::Applied;
use crate::sbtest::{Loaded, RandType, Size, Workload};
use crate::server::Mode;

/// What is measured: every combination of the lists, one after the other.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of tables and of their rows.
    pub size: Size,
    /// The number of transactions of each load.
    pub transactions: u64,
    /// The number of clients of each load.
    pub clients: u32,
    /// The distribution of the rows that they change.
    pub rand_type: RandType,
    /// Whether the replicas are started anew before they receive a load, so that their buffer pools
    /// hold what a start loads.
    pub restarts: bool,
    /// The kinds of transactions.
    pub workloads: Vec<Workload>,
    /// How the sources log them.
    pub formats: Vec<Format>,
    /// For how many microseconds the sources gather commits.
    pub delays_us: Vec<u32>,
    /// The durability of the replicas' commits.
    pub modes: Vec<Mode>,
    /// The number of worker threads of the replicas; 0 means that one applier does all the work.
    pub workers: Vec<u32>,
    /// Where the replicas keep their position.
    pub repositories: Vec<Repository>,
    /// Whether the replicas log what they apply. Each value has a server of its own.
    pub logged: Vec<bool>,
    /// The size of every server's buffer pool in bytes.
    pub pool_bytes: u64,
    /// The flavor of the source of the Slipstream replica. `None` means MySQL, or else MariaDB, or
    /// else Slipstream, whichever is on the machine.
    pub source: Option<Flavor>,
    /// The flavors of the replicas. Those whose server is not on the machine are left out.
    pub replicas: Vec<Flavor>,
    /// How often everything is measured.
    pub rounds: u32,
    /// The seed of the data and of the loads.
    pub seed: u64,
    /// The directory that the sources' binary logs are copied to in the end, one directory below it
    /// for each source. `None` means that nothing is copied; the servers' own directories are
    /// removed.
    pub keep_logs: Option<PathBuf>,
}

impl Plan {
    /// Returns the loads, each with every way in which the sources log it.
    pub fn streams(&self) -> Vec<Stream> {
        let mut all = Vec::new();
        for &workload in &self.workloads {
            for &format in &self.formats {
                all.extend(self.delays_us.iter().map(|&delay_us| Stream { workload, format, delay_us }));
            }
        }
        all
    }

    /// Returns all combinations of what is set on running replicas.
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
    /// The number of the round, from 1.
    pub round: u32,
    /// The cell of the matrix.
    pub case: Case,
    /// The index of the pair in [`Outcome::pairs`].
    pub pair: usize,
    /// The load that was applied.
    pub loaded: Loaded,
    /// What the replica needed to apply it.
    pub applied: Applied,
    /// Whether the checksums of all tables were the same on source and replica afterwards.
    pub equal: bool,
}

/// A source and a replica.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The flavor and version of the source.
    pub source: String,
    /// The flavor of the replica.
    pub flavor: Flavor,
    /// The flavor and version of the replica.
    pub replica: String,
    /// Whether the replica logs what it applies.
    pub logged: bool,
    /// The options on the replica's command line.
    pub options: Vec<String>,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan of the run.
    pub plan: Plan,
    /// The pairs that took part.
    pub pairs: Vec<Pair>,
    /// The peers that were not on the machine, each with the reason.
    pub missing: Vec<String>,
    /// The figures, one sample for each timed apply.
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// Reports whether every replica held the same rows as its source after every apply.
    pub fn all_equal(&self) -> bool {
        self.samples.iter().all(|sample| sample.equal)
    }
}
