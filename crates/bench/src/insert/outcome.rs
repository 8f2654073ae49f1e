//! What a run is asked for, and what it has measured.

use super::statement::Lookup;
use super::step::{Done, Step};
use crate::described::Described;
use crate::instance::{Flavor, RowImage};
use crate::server::{ByAddress, Mode};
use crate::usage::PerOperation;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Rows that `l.i0` loads, over all clients.
    pub rows: u64,
    /// Rows that `l.i1` inserts and deletes.
    pub l1_rows: u64,
    /// Rows that `l.i2` inserts and deletes.
    pub l2_rows: u64,
    /// Clients, each with a table and up to three connections of its own.
    pub clients: u32,
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// How long each query step takes.
    pub query_seconds: u64,
    /// What the queries look up.
    pub lookup: Lookup,
    /// Bytes of the column `data`.
    pub data_bytes: usize,
    /// The servers' durability; the whole sequence is run for each.
    pub modes: Vec<Mode>,
    /// `log_bin` of every started server.
    pub log_bin: bool,
    /// Buffer pool of every started server.
    pub pool_bytes: u64,
    /// Redo log of every started server.
    pub redo_bytes: u64,
    /// `binlog_row_image` of every started server.
    pub image: RowImage,
    /// The servers to start; those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// Somebody's own servers.
    pub addresses: Vec<ByAddress>,
    /// The server that ratios are relative to, by its name; the first one when none is given.
    pub base: Option<String>,
    /// How often everything is measured, from empty tables on.
    pub rounds: u32,
    /// Makes the values.
    pub seed: u64,
}

/// One step of one server.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// The server's durability.
    pub mode: Mode,
    /// The step.
    pub step: Step,
    /// Which of [`Outcome::servers`].
    pub server: usize,
    /// What was done.
    pub done: Done,
    /// What an operation cost the server; None when its process cannot be seen.
    pub cost: Option<PerOperation>,
    /// What an operation cost the kit.
    pub kit_cost: Option<PerOperation>,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was asked for.
    pub plan: Plan,
    /// The servers.
    pub servers: Vec<Described>,
    /// Peers that were not on the machine, and why.
    pub missing: Vec<String>,
    /// The figures.
    pub samples: Vec<Sample>,
    /// Tables that did not hold as many rows as were inserted and not deleted: their server, and
    /// the counts.
    pub wrong: Vec<String>,
}
