//! The plan of a run of `bench insert`, and what the run has measured.

use super::statement::Lookup;
use super::step::{Done, Step};
use crate::described::Described;
use crate::instance::{Flavor, RowImage};
use crate::server::{ByAddress, Mode};
use crate::usage::PerOperation;

/// What a run of `bench insert` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of rows that `l.i0` loads, over all clients.
    pub rows: u64,
    /// The number of rows that `l.i1` inserts and deletes, over all clients.
    pub l1_rows: u64,
    /// The number of rows that `l.i2` inserts and deletes, over all clients.
    pub l2_rows: u64,
    /// The number of clients. Each has a table and up to three connections of its own.
    pub clients: u32,
    /// The steps, in the order of the benchmark.
    pub steps: Vec<Step>,
    /// The duration of each query step in seconds.
    pub query_seconds: u64,
    /// What the queries look up.
    pub lookup: Lookup,
    /// The length of the column `data` in bytes.
    pub data_bytes: usize,
    /// The durability of the servers' commits. The whole sequence of steps is run for each.
    pub modes: Vec<Mode>,
    /// `log_bin` of every started server.
    pub log_bin: bool,
    /// The size of the buffer pool of every started server in bytes.
    pub pool_bytes: u64,
    /// The size of the redo log of every started server in bytes.
    pub redo_bytes: u64,
    /// `binlog_row_image` of every started server.
    pub image: RowImage,
    /// The flavors of the servers to start. Those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// The servers that run already.
    pub addresses: Vec<ByAddress>,
    /// The name of the server that ratios are relative to. `None` means the first server.
    pub base: Option<String>,
    /// How often everything is measured, each time with empty tables at the start.
    pub rounds: u32,
    /// The seed of the values.
    pub seed: u64,
}

/// The figures of one step on one server.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The number of the round, from 1.
    pub round: u32,
    /// The durability of the server's commits.
    pub mode: Mode,
    /// The step.
    pub step: Step,
    /// The index of the server in [`Outcome::servers`].
    pub server: usize,
    /// What was done.
    pub done: Done,
    /// What an operation cost the server. `None` means that its process cannot be seen.
    pub cost: Option<PerOperation>,
    /// What an operation cost the kit's own process.
    pub kit_cost: Option<PerOperation>,
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
    /// The figures, one sample for each step of each server.
    pub samples: Vec<Sample>,
    /// A message for each server whose tables did not hold as many rows as were inserted and not
    /// deleted.
    pub wrong: Vec<String>,
}
