//! The schedule of an event: its values, and the statements that have one.

use crate::ast::{EventSchedule, ObjectDetails, Statement};

/// The values of an event's schedule, which are given by expressions. Moments are in seconds of
/// Unix time.
#[derive(Debug, Default)]
pub(crate) struct ScheduleValues {
    pub at_s: Option<i64>,
    /// The interval of EVERY, in the form in which it is shown.
    pub amount: Option<String>,
    pub starts_s: Option<i64>,
    pub ends_s: Option<i64>,
}

/// Returns the schedule in a statement, whose expressions have to be evaluated.
pub(crate) fn schedule_of(statement: &Statement) -> Option<&EventSchedule> {
    match statement {
        Statement::CreateObject(create) => match &create.details {
            ObjectDetails::Event(clauses) => clauses.schedule.as_ref(),
            _ => None,
        },
        Statement::AlterEvent(alter) => alter.clauses.schedule.as_ref(),
        _ => None,
    }
}
