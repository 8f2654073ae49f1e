//! The transaction of a session, from BEGIN, or its first statement, to its end.

use crate::ast::Statement;
use crate::error::{Result, SqlError};
use engine::{Isolation, Savepoint, Transaction};

/// The transaction that a session is in, and what the next one begins with.
#[derive(Default)]
pub(crate) struct SessionTransaction {
    /// Started explicitly, or by a statement without autocommit. While a statement runs it has the
    /// transaction, and this is `None`.
    pub open: Option<Box<Transaction>>,
    /// BEGIN was said: autocommit does not end the transaction.
    pub explicit: bool,
    pub read_only: bool,
    pub savepoints: Vec<(String, Savepoint)>,
    /// Temporary tables were made, or dropped, in the transaction: a rollback says that it leaves
    /// that.
    pub made_temporary: bool,
    pub dropped_temporary: bool,
    /// SET TRANSACTION without a scope: for the next transaction only.
    pub next_isolation: Option<Isolation>,
    /// The same of the access mode.
    pub next_read_only: Option<bool>,
}

impl SessionTransaction {
    /// A transaction was begun that has not ended.
    pub fn is_begun(&self) -> bool {
        self.explicit || self.open.is_some()
    }

    /// The transaction is over, whoever ended it; what was said of the next one stands.
    pub fn forget(&mut self) {
        self.open = None;
        self.explicit = false;
        self.read_only = false;
        self.savepoints.clear();
        (self.made_temporary, self.dropped_temporary) = (false, false);
    }

    /// Notes that a statement about temporary tables has succeeded within the transaction.
    pub fn note_temporary(&mut self, statement: &Statement, succeeded: bool) {
        if succeeded && self.is_begun() {
            self.made_temporary |= matches!(statement, Statement::CreateTable(_));
            self.dropped_temporary |= matches!(statement, Statement::DropTable { .. });
        }
    }

    /// What a rollback says of the temporary tables that it leaves as they are.
    pub fn stays_of_temporary(&self) -> Vec<(u16, &'static str)> {
        let made = "The creation of some temporary tables could not be rolled back.";
        let dropped = "Some temporary tables were dropped, but these operations could not be rolled back.";
        let told = [(self.made_temporary, (1751, made)), (self.dropped_temporary, (1752, dropped))];
        told.into_iter().filter_map(|(says, told)| says.then_some(told)).collect()
    }

    /// As [`SessionTransaction::note_temporary`], of CREATE ... SELECT.
    pub fn note_temporary_made(&mut self) {
        self.made_temporary |= self.is_begun();
    }

    pub fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.savepoints
            .iter()
            .position(|(other, _)| other.eq_ignore_ascii_case(name))
            .ok_or_else(|| SqlError::new(1305, format!("SAVEPOINT {name} does not exist")))
    }
}
