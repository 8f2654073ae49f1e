//! The contents of a report.

use crate::facts::{self, Facts};
use crate::history::History;
use crate::schedule::{Model, Policy, Schedule, simulate};

/// The results of the analysis of a log.
#[derive(Debug)]
pub struct Report {
    /// The history that was read.
    pub history: History,
    /// The figures of the history.
    pub facts: Facts,
    /// The assumptions of the schedules.
    pub model: Model,
    /// One schedule for each policy.
    pub schedules: Vec<Schedule>,
}

/// Computes the figures and the schedules of a history.
pub fn report(history: History, model: Model) -> Report {
    let schedules = Policy::ALL.into_iter().map(|policy| simulate(&history, policy, &model)).collect();
    Report { facts: facts::of(&history), history, model, schedules }
}
