//! The schedules: how long each policy would take with how many workers, and what it waits for.
//!
//! The model: a transaction costs [`Costs::transaction`] units and each of its rows [`Costs::row`];
//! nothing else takes time, and workers share nothing. So the figures are upper bounds of what a
//! server reaches, comparable with one another.
//!
//! - DATABASE, LOGICAL_CLOCK and WRITESET hand out whole transactions, in the order of the log: the
//!   coordinator does not hand out the next one before it may give away this one (MySQL's
//!   `Slave_worker` and `Mts_submode_logical_clock`).
//! - ROW hands out rows: a change runs when the changes before it of the same row are done,
//!   whatever its transaction. Transactions become visible in the order of the log.

mod path;
mod rows;
mod transactions;

use crate::history::{History, Nature, Transaction};
pub use path::{Holdup, Path};

/// The numbers of workers that are simulated.
pub const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

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

/// One simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Workers.
    pub workers: usize,
    /// Units until the last commit.
    pub time: u64,
    /// One worker's time by this one.
    pub speedup: f64,
}

impl Point {
    /// The speed-up by the number of workers.
    pub fn efficiency(&self) -> f64 {
        self.speedup / self.workers as f64
    }
}

/// What a policy can do with this log.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The policy.
    pub policy: Policy,
    /// By the number of workers.
    pub points: Vec<Point>,
    /// With any number of workers: what the last commit waits for.
    pub path: Path,
    /// The speed-up with any number of workers.
    pub limit: f64,
}

/// Simulates a policy.
pub fn simulate(history: &History, policy: Policy, model: &Model) -> Schedule {
    let serial: u64 = history.transactions.iter().map(|transaction| model.costs.of(transaction)).sum();
    let speedup = |time: u64| if time == 0 { 1.0 } else { serial as f64 / time as f64 };
    let run = |workers: Option<usize>| match policy {
        Policy::Database => transactions::by_schema(history, model, workers),
        Policy::CommitOrder => transactions::in_order(history, model, workers, |t| t.commit_parent),
        Policy::Writeset => transactions::in_order(history, model, workers, |t| t.writeset_parent),
        Policy::Row => rows::by_row(history, model, workers),
    };
    let points = WORKERS
        .iter()
        .map(|&workers| {
            let time = run(Some(workers)).time;
            Point { workers, time, speedup: speedup(time) }
        })
        .collect();
    let unlimited = run(None);
    Schedule {
        policy,
        points,
        limit: speedup(unlimited.time),
        path: path::of(history, model, policy, &unlimited),
    }
}

/// What a simulation ends with.
struct Simulated {
    /// Units until the last commit.
    time: u64,
    /// What ended last, as `causes` counts.
    last: Option<u32>,
    /// For every transaction (for ROW: every change, then every transaction) what it waited for;
    /// [`NOTHING`] for none.
    causes: Vec<u32>,
}

/// It waited for nothing.
const NOTHING: u32 = u32::MAX;
