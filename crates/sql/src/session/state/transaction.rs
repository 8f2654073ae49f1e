//! The transaction of a session, from BEGIN, or its first statement, to its end.

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
    }

    pub fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.savepoints
            .iter()
            .position(|(other, _)| other.eq_ignore_ascii_case(name))
            .ok_or_else(|| SqlError::new(1305, format!("SAVEPOINT {name} does not exist")))
    }
}
