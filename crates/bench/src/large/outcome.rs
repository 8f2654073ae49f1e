//! What a run is asked for, and what it has measured.

use crate::described::Described;
use crate::histogram::Histogram;
use crate::instance::{Flavor, RowImage};

/// Bytes of a row's value where rows are many.
const NARROW_BYTES: usize = 100;
/// Bytes of a row's value where bytes are many.
pub(super) const WIDE_BYTES: usize = 4000;
/// What the large transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Inserts many small rows.
    Insert,
    /// Changes many small rows, by one statement.
    Update,
    /// Inserts many bytes.
    Wide,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 3] = [Shape::Insert, Shape::Update, Shape::Wide];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Insert => "insert",
            Shape::Update => "update",
            Shape::Wide => "wide",
        }
    }

    /// Bytes of a row's value.
    pub(super) fn value_bytes(self) -> usize {
        if self == Shape::Wide { WIDE_BYTES } else { NARROW_BYTES }
    }
}

/// The phases in which single-row commits are counted.
pub const PHASES: [&str; 4] = ["before", "statements", "commit", "after"];

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The transactions, in this order.
    pub shapes: Vec<Shape>,
    /// Rows of those of many rows.
    pub rows: u64,
    /// Bytes of the one of many bytes.
    pub wide_bytes: u64,
    /// `log_bin`.
    pub log_bin: bool,
    /// `sync_binlog` and `innodb_flush_log_at_trx_commit`.
    pub durable: bool,
    /// `innodb_buffer_pool_size`.
    pub pool_bytes: u64,
    /// `innodb_redo_log_capacity`.
    pub redo_bytes: u64,
    /// `binlog_row_image`.
    pub image: RowImage,
    /// The servers; those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// How often everything is measured, from fresh data on.
    pub rounds: u32,
}

impl Plan {
    /// Rows of a transaction of this shape.
    pub(super) fn rows_of(&self, shape: Shape) -> u64 {
        if shape == Shape::Wide { self.wide_bytes / WIDE_BYTES as u64 } else { self.rows }
    }
}

/// One large transaction.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// Which of [`Outcome::servers`].
    pub server: usize,
    /// What it did.
    pub shape: Shape,
    /// How long its statements took.
    pub statements_s: f64,
    /// How long its commit took.
    pub commit_s: f64,
    /// Response times of single-row commits in each of [`PHASES`].
    pub waits: [Histogram; PHASES.len()],
    /// Memory resident before it.
    pub rss_before_bytes: u64,
    /// The most resident until its commit began.
    pub rss_statements_bytes: u64,
    /// The most resident until the end.
    pub rss_peak_bytes: u64,
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
