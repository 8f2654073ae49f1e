//! The plan of a run of `bench load`, and what the run has measured.

use crate::described::Described;
use crate::instance::Flavor;
use crate::usage::PerOperation;

/// How the rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By INSERT statements of many rows.
    Insert,
    /// By LOAD DATA LOCAL.
    LoadData,
}

impl Way {
    /// All ways.
    pub const ALL: [Way; 2] = [Way::Insert, Way::LoadData];

    /// Returns the name of the way.
    pub fn name(self) -> &'static str {
        match self {
            Way::Insert => "insert",
            Way::LoadData => "load-data",
        }
    }
}

/// What a run of `bench load` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The ways in which the rows come.
    pub ways: Vec<Way>,
    /// The number of rows.
    pub rows: u64,
    /// The number of secondary indexes, at most 3.
    pub indexes: u32,
    /// The bytes of the rows of an INSERT statement; mysqldump writes 1 MB (`net_buffer_length`).
    pub statement_bytes: u64,
    /// Whether the servers keep a binary log.
    pub log_bin: bool,
    /// Whether commits are durable.
    pub durable: bool,
    /// The size of the buffer pool of every server in bytes.
    pub pool_bytes: u64,
    /// The capacity of the redo log of every server in bytes.
    pub redo_bytes: u64,
    /// The flavors of the servers to start. Those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// How often everything is measured.
    pub rounds: u32,
    /// The seed of the rows.
    pub seed: u64,
}

/// One load of the rows into one server.
#[derive(Clone, Debug)]
pub struct Sample {
    /// How the rows came.
    pub way: Way,
    /// The index of the server in [`Outcome::servers`].
    pub server: usize,
    /// The number of the round, from 1.
    pub round: u32,
    /// What it took in seconds.
    pub seconds: f64,
    /// What a row cost the server. `None` means that this cannot be seen.
    pub cost: Option<PerOperation>,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan of the run.
    pub plan: Plan,
    /// The servers that took part.
    pub servers: Vec<Described>,
    /// The peers that were not on the machine, each with the reason.
    pub missing: Vec<String>,
    /// One sample for each load.
    pub samples: Vec<Sample>,
    /// A message for each load whose rows are not those of the first one.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Returns the samples of a server in one way.
    pub fn of(&self, way: Way, server: usize) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| sample.way == way && sample.server == server)
    }

    /// Returns the median of the times that a server took in one way, in seconds.
    pub fn seconds(&self, way: Way, server: usize) -> f64 {
        let mut all: Vec<f64> = self.of(way, server).map(|sample| sample.seconds).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    }
}
