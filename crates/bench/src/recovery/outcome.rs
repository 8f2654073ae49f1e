//! What a run is asked for, and what it has measured.

use crate::described::Described;
use crate::instance::{Flavor, RowImage};
use crate::sbtest::Size;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The tables.
    pub size: Size,
    /// Bytes of log behind the last checkpoint when the process is killed.
    pub redo_bytes: u64,
    /// Clients that make them.
    pub clients: u32,
    /// `log_bin`.
    pub log_bin: bool,
    /// `innodb_buffer_pool_size`.
    pub pool_bytes: u64,
    /// `binlog_row_image`.
    pub image: RowImage,
    /// The servers; those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// The server that ratios are relative to, by its name; the first one when none is given.
    pub base: Option<String>,
    /// How often everything is measured, from fresh data on.
    pub rounds: u32,
    /// Makes the data and the load.
    pub seed: u64,
}

/// One recovery.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// Which of [`Outcome::servers`].
    pub server: usize,
    /// Bytes of log behind the checkpoint shortly before the kill.
    pub redo_bytes: u64,
    /// Transactions that sysbench had counted by then.
    pub transactions: u64,
    /// From the start of the process until `SELECT 1` was answered.
    pub first_query_s: f64,
    /// Until a row was read by its key.
    pub first_row_s: f64,
    /// CPU time of the process by then.
    pub cpu_s: f64,
    /// Most memory resident by then.
    pub peak_rss_bytes: u64,
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
}
