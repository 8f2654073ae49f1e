//! The schedules: the time that each policy would take with each number of workers, and what it
//! waits for.
//!
//! In the model a transaction costs [`Costs::transaction`] units and each of its rows
//! [`Costs::row`]. Nothing else takes time, and workers share nothing. So the figures are upper
//! bounds of what a server reaches, and can be compared with one another.
//!
//! - DATABASE, LOGICAL_CLOCK and WRITESET hand out whole transactions in the order of the log: the
//!   coordinator does not hand out the next one before it may give away the present one (MySQL's
//!   `Slave_worker` and `Mts_submode_logical_clock`).
//! - ROW hands out rows: a change runs when the earlier changes of the same row are done, in
//!   whatever transaction. Transactions become visible in the order of the log.

mod model;
mod path;
mod rows;
mod transactions;

use crate::history::History;
pub use model::{Costs, Model, Policy};
pub use path::{Holdup, Path};

/// The numbers of workers that are simulated.
pub const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The result of one simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The number of workers.
    pub workers: usize,
    /// The time of the last commit, in units.
    pub time: u64,
    /// The time of one worker divided by this time.
    pub speedup: f64,
}

impl Point {
    /// Returns the speed-up divided by the number of workers.
    pub fn efficiency(&self) -> f64 {
        self.speedup / self.workers as f64
    }
}

/// The results of a policy with this log.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The policy that was simulated.
    pub policy: Policy,
    /// The results for each of [`WORKERS`].
    pub points: Vec<Point>,
    /// The critical path, which is what the last commit waits for with any number of workers.
    pub path: Path,
    /// The speed-up with an unlimited number of workers.
    pub limit: f64,
}

/// Simulates a policy on a history, with each of the numbers of workers.
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
