//! Statements about rows between the events of a group.

use binlog::event::{Event, Header, QueryEvent};

use super::Applier;
use crate::applier::{report, statement};
use crate::error::ThreadError;

impl Applier<'_> {
    /// What the next statement depends on beside its text.
    pub(super) fn before_statement(&mut self, event: &Event<'_>) -> Result<bool, ThreadError> {
        const LAST_INSERT_ID: u8 = 1;
        match event {
            Event::Intvar(number) if number.kind == LAST_INSERT_ID => {
                self.logged.last_insert_id = Some(number.value);
            }
            Event::Intvar(number) => self.logged.insert_id = Some(number.value),
            Event::Rand(first, second) => self.logged.rand_seeds = Some((*first, *second)),
            Event::UserVar(variable) => {
                let variable = statement::user_variable(variable).map_err(|error| error.at(self.place()))?;
                self.logged.user_variables.push(variable);
            }
            _ => {}
        }
        Ok(false)
    }

    /// A statement about rows: what it changed is in the group as rows.
    pub(super) fn statement(&mut self, header: &Header, query: &QueryEvent<'_>) -> Result<bool, ThreadError> {
        let logged = std::mem::take(&mut self.logged);
        let mut transaction = self.open.take_for_statements();
        // The rows that it changes come behind what has come of the group.
        transaction.set_server_id(header.server_id);
        let received = transaction.receive(&self.open.events);
        self.open.events.clear();
        let done = statement::change(&mut transaction, query, header.timestamp, &logged);
        transaction.end_statement();
        self.open.transaction = Some(transaction);
        received.map_err(|error| report::commit(&error, self.place()))?;
        done.map_err(|error| error.at(self.place())).map(|()| false)
    }
}
