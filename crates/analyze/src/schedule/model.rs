//! The assumptions of the simulations, and the result of one.

use crate::history::{Nature, Transaction};

/// The costs of work, in units of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// The cost of a transaction, whatever it contains.
    pub transaction: u64,
    /// The cost of a row change.
    pub row: u64,
}

impl Costs {
    /// Returns a transaction's cost. Contents other than rows count as at least one row change.
    pub fn of(&self, transaction: &Transaction) -> u64 {
        let rows = u64::from(transaction.changes);
        let rows = if transaction.nature == Nature::Rows { rows } else { rows.max(1) };
        self.transaction + self.row * rows
    }
}

/// The way in which transactions are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `replica_parallel_type=DATABASE`.
    Database,
    /// `replica_parallel_type=LOGICAL_CLOCK` by the order of commits on the source, or for MariaDB
    /// `slave_parallel_mode=conservative`.
    CommitOrder,
    /// LOGICAL_CLOCK with `binlog_transaction_dependency_tracking=WRITESET`, as computed here.
    Writeset,
    /// Row by row, as this server's ROW policy does.
    Row,
}

impl Policy {
    /// All policies, the narrowest first.
    pub const ALL: [Policy; 4] = [Policy::Database, Policy::CommitOrder, Policy::Writeset, Policy::Row];

    /// Returns the policy's name.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Database => "DATABASE",
            Policy::CommitOrder => "LOGICAL_CLOCK",
            Policy::Writeset => "WRITESET",
            Policy::Row => "ROW",
        }
    }
}

/// The assumptions of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// The costs of work.
    pub costs: Costs,
    /// `replica_preserve_commit_order`: whether a worker waits with its commit for the earlier
    /// ones. The row policy always preserves the order, without costing a worker's time.
    pub preserve_commit_order: bool,
    /// The number of transactions that the row policy looks ahead.
    pub window: usize,
}

/// The result of a simulation.
pub(super) struct Simulated {
    /// The time of the last commit, in units.
    pub(super) time: u64,
    /// The index in `causes` of the work that ended last.
    pub(super) last: Option<u32>,
    /// For every transaction (for ROW every change, and then every transaction) the index of the
    /// work that it waited for, or [`NOTHING`].
    pub(super) causes: Vec<u32>,
}

/// The entry of `causes` for work that waited for nothing.
pub(super) const NOTHING: u32 = u32::MAX;
