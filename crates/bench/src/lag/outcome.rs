//! The plan of a run of `bench lag`, and what the run has measured.

use crate::histogram::Histogram;
use crate::instance::Flavor;
use crate::server::Mode;

/// What the source does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// At first each transaction changes one row of many, and in the second half of the time all
    /// transactions change the same row.
    HotRow,
    /// Each transaction changes one row of many, and one large transaction runs beside them.
    LargeTransaction,
}

impl Scenario {
    /// Both scenarios.
    pub const ALL: [Scenario; 2] = [Scenario::HotRow, Scenario::LargeTransaction];

    /// Returns the name of the scenario, as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::HotRow => "hot-row",
            Scenario::LargeTransaction => "large-transaction",
        }
    }
}

/// What a run of `bench lag` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenarios. Each is measured with each number of workers.
    pub scenarios: Vec<Scenario>,
    /// The numbers of worker threads of the replicas.
    pub workers: Vec<u32>,
    /// The durability of commits on source and replica.
    pub mode: Mode,
    /// The duration of the load in seconds.
    pub seconds: u64,
    /// The rate of the load in transactions a second, over all clients.
    pub rate: u64,
    /// The number of clients of the load.
    pub clients: u32,
    /// The number of rows that the small transactions change.
    pub rows: u64,
    /// The number of rows that the large transaction changes.
    pub large_rows: u64,
    /// The size of every server's buffer pool in bytes.
    pub pool_bytes: u64,
    /// The flavor of the source of the Slipstream replica. `None` means MySQL, or else MariaDB, or
    /// else Slipstream, whichever is on the machine.
    pub source: Option<Flavor>,
    /// The flavors of the replicas. Those whose server is not on the machine are left out.
    pub replicas: Vec<Flavor>,
    /// The seed of the load.
    pub seed: u64,
}

/// The figures of one scenario with one pair.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the source did.
    pub scenario: Scenario,
    /// The number of the replica's worker threads.
    pub workers: u32,
    /// The index of the pair in [`Outcome::pairs`].
    pub pair: usize,
    /// The lag at every 100 ms, in milliseconds: the age of the source's oldest commit that readers
    /// of the replica did not see, or 0 when they saw all. `None` means that the look before took
    /// so long that this one was left out.
    pub lag_ms: Vec<Option<f64>>,
    /// Commits of the source a second.
    pub rate: f64,
    /// The seconds that the large transaction took on the source; `None` in a scenario without one.
    pub large_seconds: Option<f64>,
    /// The seconds from the end of the load until the replica had applied all of it.
    pub catch_up_seconds: f64,
    /// The response times of reads on the replica.
    pub reads: Histogram,
    /// Whether the tables were the same on source and replica afterwards.
    pub equal: bool,
}

/// A source and a replica.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The flavor and version of the source.
    pub source: String,
    /// The flavor and version of the replica.
    pub replica: String,
    /// The options on the replica's command line.
    pub options: Vec<String>,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan of the run.
    pub plan: Plan,
    /// The pairs that took part.
    pub pairs: Vec<Pair>,
    /// The peers that were not on the machine, each with the reason.
    pub missing: Vec<String>,
    /// The figures, one entry for each scenario and number of workers of each pair.
    pub runs: Vec<Run>,
}

impl Outcome {
    /// Reports whether every replica held the same rows as its source after every run.
    pub fn all_equal(&self) -> bool {
        self.runs.iter().all(|run| run.equal)
    }
}
