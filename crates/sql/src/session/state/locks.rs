//! What LOCK TABLES and FLUSH TABLES WITH READ LOCK leave in a session.

use crate::bind::LockedNames;
use engine::{CommitHold, LockedTables, Transaction};
use std::sync::Arc;

/// The tables that a session has locked.
pub(crate) struct TableLocks {
    /// The locks. The session's transactions use the tables under them.
    pub tables: Arc<LockedTables>,
    /// The names that statements may use the tables by.
    pub names: LockedNames,
}

/// What a session has locked by statements, until it says otherwise.
#[derive(Default)]
pub(crate) struct SessionLocks {
    /// LOCK TABLES.
    pub tables: Option<TableLocks>,
    /// FLUSH TABLES WITH READ LOCK.
    pub read_lock: Option<CommitHold>,
}

impl SessionLocks {
    /// The names of the tables that are locked, if LOCK TABLES was said.
    pub fn names(&self) -> Option<&LockedNames> {
        self.tables.as_ref().map(|locked| &locked.names)
    }

    pub fn has_tables(&self) -> bool {
        self.tables.is_some()
    }

    pub fn has_read_lock(&self) -> bool {
        self.read_lock.is_some()
    }

    /// Has a new transaction use the tables that the session has locked.
    pub fn put_under(&self, transaction: &mut Transaction) {
        if let Some(locked) = &self.tables {
            transaction.set_locked_tables(locked.tables.clone());
        }
    }

    /// Lets go what LOCK TABLES locked. True: something was.
    pub fn let_tables_go(&mut self) -> bool {
        self.tables.take().is_some()
    }
}
