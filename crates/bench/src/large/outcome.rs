//! The plan of a run of `bench large`, and what the run has measured.

use crate::described::Described;
use crate::histogram::Histogram;
use crate::instance::{Flavor, RowImage};

/// The length in bytes of a row's value in the transactions of many rows.
const NARROW_BYTES: usize = 100;
/// The length in bytes of a row's value in the transaction of many bytes.
pub(super) const WIDE_BYTES: usize = 4000;
/// What the large transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Inserts many small rows.
    Insert,
    /// Changes many small rows with one statement.
    Update,
    /// Inserts fewer rows that have long values.
    Wide,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 3] = [Shape::Insert, Shape::Update, Shape::Wide];

    /// Returns the name of the shape, as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Insert => "insert",
            Shape::Update => "update",
            Shape::Wide => "wide",
        }
    }

    /// Returns the length of a row's value in bytes.
    pub(super) fn value_bytes(self) -> usize {
        if self == Shape::Wide { WIDE_BYTES } else { NARROW_BYTES }
    }
}

/// The phases in which single-row commits are counted.
pub const PHASES: [&str; 4] = ["before", "statements", "commit", "after"];

/// What a run of `bench large` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the large transactions do, in the order in which they are measured.
    pub shapes: Vec<Shape>,
    /// The number of rows of the shapes `Insert` and `Update`.
    pub rows: u64,
    /// The number of bytes of the shape `Wide`.
    pub wide_bytes: u64,
    /// `log_bin`.
    pub log_bin: bool,
    /// Whether commits are durable: `sync_binlog` and `innodb_flush_log_at_trx_commit` are 1.
    pub durable: bool,
    /// `innodb_buffer_pool_size`, in bytes.
    pub pool_bytes: u64,
    /// `innodb_redo_log_capacity`, in bytes.
    pub redo_bytes: u64,
    /// `binlog_row_image`.
    pub image: RowImage,
    /// The flavors of the servers. Those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// How often everything is measured, each time with fresh data.
    pub rounds: u32,
}

impl Plan {
    /// Returns the number of rows of a transaction of this shape.
    pub(super) fn rows_of(&self, shape: Shape) -> u64 {
        if shape == Shape::Wide { self.wide_bytes / WIDE_BYTES as u64 } else { self.rows }
    }
}

/// The figures of one large transaction.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The number of the round, from 1.
    pub round: u32,
    /// The index of the server in [`Outcome::servers`].
    pub server: usize,
    /// What the transaction did.
    pub shape: Shape,
    /// The seconds that its statements took.
    pub statements_s: f64,
    /// The seconds that its commit took.
    pub commit_s: f64,
    /// The response times of single-row commits in each of [`PHASES`].
    pub waits: [Histogram; PHASES.len()],
    /// The resident memory of the server before the transaction, in bytes.
    pub rss_before_bytes: u64,
    /// The peak of the server's resident memory until the commit began, in bytes.
    pub rss_statements_bytes: u64,
    /// The peak of the server's resident memory until the end of the last phase, in bytes.
    pub rss_peak_bytes: u64,
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
    /// The figures, one sample for each large transaction.
    pub samples: Vec<Sample>,
}
