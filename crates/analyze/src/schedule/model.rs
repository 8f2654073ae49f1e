//! What the simulations assume, and what one of them ends with.

use crate::history::{Nature, Transaction};

/// What work costs, in units of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A transaction, whatever it has in it.
    pub transaction: u64,
    /// A row change.
    pub row: u64,
}

impl Costs {
    /// A transaction's cost; what is not rows counts as one.
    pub fn of(&self, transaction: &Transaction) -> u64 {
        let rows = u64::from(transaction.changes);
        let rows = if transaction.nature == Nature::Rows { rows } else { rows.max(1) };
        self.transaction + self.row * rows
    }
}

/// How transactions are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `replica_parallel_type=DATABASE`.
    Database,
    /// `replica_parallel_type=LOGICAL_CLOCK` by the order of commits on the source; with MariaDB
    /// `slave_parallel_mode=conservative`.
    CommitOrder,
    /// LOGICAL_CLOCK with `binlog_transaction_dependency_tracking=WRITESET`, as computed here.
    Writeset,
    /// By row.
    Row,
}

impl Policy {
    /// All of them, the narrowest first.
    pub const ALL: [Policy; 4] = [Policy::Database, Policy::CommitOrder, Policy::Writeset, Policy::Row];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Database => "DATABASE",
            Policy::CommitOrder => "LOGICAL_CLOCK",
            Policy::Writeset => "WRITESET",
            Policy::Row => "ROW",
        }
    }
}

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What work costs.
    pub costs: Costs,
    /// `replica_preserve_commit_order`: a worker waits with its commit for those before. The row
    /// policy always does, without a worker's time.
    pub preserve_commit_order: bool,
    /// Row policy: so many transactions are looked ahead.
    pub window: usize,
}

/// What a simulation ends with.
pub(super) struct Simulated {
    /// Units until the last commit.
    pub(super) time: u64,
    /// What ended last, as `causes` counts.
    pub(super) last: Option<u32>,
    /// For every transaction (for ROW: every change, then every transaction) what it waited for;
    /// [`NOTHING`] for none.
    pub(super) causes: Vec<u32>,
}

/// It waited for nothing.
pub(super) const NOTHING: u32 = u32::MAX;
