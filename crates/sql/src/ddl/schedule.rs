//! When an event runs, in values and in the statement that says it.

use crate::ast::{EventSchedule, ObjectDetails, Statement};

/// The values of an event's schedule, which expressions may say. Moments are seconds of Unix time.
#[derive(Debug, Default)]
pub(crate) struct ScheduleValues {
    pub at_s: Option<i64>,
    /// Of EVERY, as it is shown.
    pub amount: Option<String>,
    pub starts_s: Option<i64>,
    pub ends_s: Option<i64>,
}

/// The schedule whose expressions a statement has.
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
