//! What LOCK TABLES leaves in a session.

use crate::bind::LockedNames;
use engine::LockedTables;
use std::sync::Arc;

/// What a session has locked.
pub(crate) struct SessionLocks {
    /// The locks. The session's transactions use the tables under them.
    pub tables: Arc<LockedTables>,
    /// The names that statements may use the tables by.
    pub names: LockedNames,
}
