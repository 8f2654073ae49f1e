//! The plan of a run of `bench tpch`, and what the run has measured.

use crate::described::Described;
use crate::instance::Flavor;

/// What a run of `bench tpch` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scale: 1 has 6 million rows of lineitem.
    pub scale: f64,
    /// The numbers of the queries to run.
    pub queries: Vec<usize>,
    /// How often each query is run on each server.
    pub rounds: u32,
    /// How long a query may take before it is given up, in seconds.
    pub most_seconds: u64,
    /// The size of the buffer pool of every server in bytes.
    pub pool_bytes: u64,
    /// `join_buffer_size`, `sort_buffer_size` and `tmp_table_size` of the session in bytes. `None`
    /// means the servers' defaults.
    pub memory_bytes: Option<u64>,
    /// The flavors of the servers to start. Those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// The seed of the rows.
    pub seed: u64,
}

/// One run of a query on one server.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The query's number.
    pub query: usize,
    /// The index of the server in [`Outcome::servers`].
    pub server: usize,
    /// The number of the round, from 1.
    pub round: u32,
    /// What it took in seconds. `None` means that the query was given up.
    pub seconds: Option<f64>,
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
    /// For each server, what loading took in seconds.
    pub load_seconds: Vec<f64>,
    /// One sample for each run of a query on a server.
    pub samples: Vec<Sample>,
    /// A message for each answer that differs from that of the first server.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Returns the shortest time of a query on a server in seconds. `None` means that it was given
    /// up.
    pub fn seconds(&self, query: usize, server: usize) -> Option<f64> {
        let of = self.samples.iter().filter(|sample| sample.query == query && sample.server == server);
        of.filter_map(|sample| sample.seconds).min_by(f64::total_cmp)
    }
}
