//! What a report holds.

use crate::facts::{self, Facts};
use crate::history::History;
use crate::schedule::{Model, Policy, Schedule, simulate};

/// Everything that came of a log.
#[derive(Debug)]
pub struct Report {
    /// What was read.
    pub history: History,
    /// In figures.
    pub facts: Facts,
    /// What the schedules assume.
    pub model: Model,
    /// One for each policy.
    pub schedules: Vec<Schedule>,
}

/// Counts and simulates.
pub fn report(history: History, model: Model) -> Report {
    let schedules = Policy::ALL.into_iter().map(|policy| simulate(&history, policy, &model)).collect();
    Report { facts: facts::of(&history), history, model, schedules }
}
