//! What LOCK TABLES and FLUSH TABLES WITH READ LOCK leave in a session.

use super::ServerHandles;
use crate::bind::LockedNames;
use crate::error::{Result, SqlError};
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

    /// Whether the session may write: neither `read_only` nor its own global read lock keeps it
    /// from that.
    ///
    /// # Errors
    /// 1223, 1290.
    pub fn check_writable(&self, server: &ServerHandles) -> Result<()> {
        if self.has_read_lock() {
            let text = "Can't execute the query because you have a conflicting read lock";
            return Err(SqlError::new(1223, text));
        }
        server.check_writable()
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
