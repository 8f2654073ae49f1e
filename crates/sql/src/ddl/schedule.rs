//! When an event runs, in values and in the statement that says it.

use crate::ast::{EventSchedule, ObjectDetails, Statement};

/// The values of an event's schedule, which expressions may say.
#[derive(Debug, Default)]
pub(crate) struct ScheduleValues {
    pub at: Option<String>,
    /// As it is shown: a text in quotes.
    pub amount: Option<String>,
    pub starts: Option<String>,
    pub ends: Option<String>,
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
