//! The locks of LOCK TABLES and FLUSH TABLES WITH READ LOCK that a session holds.

use super::ServerHandles;
use crate::bind::LockedNames;
use crate::error::{Result, SqlError};
use engine::{CommitHold, LockedTables, Transaction};
use std::sync::Arc;

/// The locks of LOCK TABLES.
pub(crate) struct TableLocks {
    /// The locks. The session's transactions use the tables under them.
    pub tables: Arc<LockedTables>,
    /// The names by which statements may use the tables.
    pub names: LockedNames,
}

/// The locks that a session holds until it releases them.
#[derive(Default)]
pub(crate) struct SessionLocks {
    /// The locks of LOCK TABLES.
    pub tables: Option<TableLocks>,
    /// The lock of FLUSH TABLES WITH READ LOCK.
    pub read_lock: Option<CommitHold>,
}

impl SessionLocks {
    /// Returns the names of the locked tables, or `None` if LOCK TABLES is not in effect.
    pub fn names(&self) -> Option<&LockedNames> {
        self.tables.as_ref().map(|locked| &locked.names)
    }

    pub fn has_tables(&self) -> bool {
        self.tables.is_some()
    }

    pub fn has_read_lock(&self) -> bool {
        self.read_lock.is_some()
    }

    /// Checks that neither `read_only` nor the session's own global read lock keeps it from
    /// writing.
    ///
    /// # Errors
    /// Returns 1223 for the read lock, and 1290 for `read_only`.
    pub fn check_writable(&self, server: &ServerHandles) -> Result<()> {
        if self.has_read_lock() {
            let text = "Can't execute the query because you have a conflicting read lock";
            return Err(SqlError::new(1223, text));
        }
        server.check_writable()
    }

    /// Puts a new transaction under the session's table locks.
    pub fn put_under(&self, transaction: &mut Transaction) {
        if let Some(locked) = &self.tables {
            transaction.set_locked_tables(locked.tables.clone());
        }
    }

    /// Releases the locks of LOCK TABLES. Returns true if there were any.
    pub fn let_tables_go(&mut self) -> bool {
        self.tables.take().is_some()
    }
}
