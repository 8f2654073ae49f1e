//! What a run is asked for, and what it has measured.

use crate::histogram::Histogram;
use crate::instance::Flavor;
use crate::server::Mode;

/// What the source does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Changes of many rows, each of another one; then all of one row.
    HotRow,
    /// Changes of many rows, and among them one transaction that changes very many.
    LargeTransaction,
}

impl Scenario {
    /// Both.
    pub const ALL: [Scenario; 2] = [Scenario::HotRow, Scenario::LargeTransaction];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::HotRow => "hot-row",
            Scenario::LargeTransaction => "large-transaction",
        }
    }
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Each in turn.
    pub scenarios: Vec<Scenario>,
    /// The replicas' worker threads; each in turn.
    pub workers: Vec<u32>,
    /// Durability of both ends.
    pub mode: Mode,
    /// How long the load runs.
    pub seconds: u64,
    /// Transactions a second.
    pub rate: u64,
    /// Clients that send them.
    pub clients: u32,
    /// Rows that the small transactions change.
    pub rows: u64,
    /// Rows of the large transaction.
    pub large_rows: u64,
    /// Buffer pool of every server.
    pub pool_bytes: u64,
    /// Source of the Slipstream replica; MySQL, or else MariaDB, or else Slipstream when none is
    /// given.
    pub source: Option<Flavor>,
    /// The replicas; those whose server is not on the machine are left out.
    pub replicas: Vec<Flavor>,
    /// Makes the load.
    pub seed: u64,
}

/// One scenario with one pair.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the source did.
    pub scenario: Scenario,
    /// The replica's workers.
    pub workers: u32,
    /// Which of [`Outcome::pairs`].
    pub pair: usize,
    /// Every 100 ms: the age of the oldest commit of the source that readers of the replica did not
    /// see; 0 when they saw all. None where a look took longer than that.
    pub lag_ms: Vec<Option<f64>>,
    /// Commits of the source a second.
    pub rate: f64,
    /// How long the large transaction took on the source.
    pub large_seconds: Option<f64>,
    /// From the end of the load until the replica had all of it.
    pub catch_up_seconds: f64,
    /// Reads on the replica.
    pub reads: Histogram,
    /// Whether the tables were the same at both ends afterwards.
    pub equal: bool,
}

/// A source and a replica.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The source's flavor and version.
    pub source: String,
    /// The replica's flavor and version.
    pub replica: String,
    /// The replica's options.
    pub options: Vec<String>,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was asked for.
    pub plan: Plan,
    /// The pairs that were there.
    pub pairs: Vec<Pair>,
    /// Peers that were not on the machine, and why.
    pub missing: Vec<String>,
    /// The figures.
    pub runs: Vec<Run>,
}

impl Outcome {
    /// Whether every replica held the same rows as its source after every run.
    pub fn all_equal(&self) -> bool {
        self.runs.iter().all(|run| run.equal)
    }
}
