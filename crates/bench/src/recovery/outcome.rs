//! The plan of a run of `bench recovery`, and what the run has measured.

use crate::described::Described;
use crate::instance::{Flavor, RowImage};
use crate::sbtest::Size;

/// What a run of `bench recovery` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of tables and of their rows.
    pub size: Size,
    /// The number of bytes of log behind the last checkpoint at which the process is killed.
    pub redo_bytes: u64,
    /// The number of clients whose load writes the log.
    pub clients: u32,
    /// `log_bin`.
    pub log_bin: bool,
    /// `innodb_buffer_pool_size`, in bytes.
    pub pool_bytes: u64,
    /// `binlog_row_image`.
    pub image: RowImage,
    /// The flavors of the servers. Those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// The name of the server that ratios are relative to. `None` means the first server.
    pub base: Option<String>,
    /// How often everything is measured, each time with fresh data.
    pub rounds: u32,
    /// The seed of the data and of the load.
    pub seed: u64,
}

/// The figures of one recovery.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The number of the round, from 1.
    pub round: u32,
    /// The index of the server in [`Outcome::servers`].
    pub server: usize,
    /// The number of bytes of log behind the checkpoint, at the last look before the kill.
    pub redo_bytes: u64,
    /// The number of transactions that sysbench had counted by then.
    pub transactions: u64,
    /// The seconds from the start of the process until `SELECT 1` was answered.
    pub first_query_s: f64,
    /// The seconds from the start of the process until a row was read by its key.
    pub first_row_s: f64,
    /// The CPU time of the process until then, in seconds.
    pub cpu_s: f64,
    /// The peak of the process's resident memory until then, in bytes.
    pub peak_rss_bytes: u64,
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
    /// The figures, one sample for each recovery.
    pub samples: Vec<Sample>,
}
