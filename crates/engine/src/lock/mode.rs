//! The types of locks, and the outcomes of a request for a lock.

/// The number of a lock owner, which is a transaction or a DDL operation.
pub(crate) type OwnerId = u64;

/// The type of a lock, which says what it keeps out. Rows use the first and the last type, metadata
/// of tables all four (MySQL's `MDL_SHARED_READ`, `MDL_SHARED_WRITE`, `MDL_SHARED_READ_ONLY` and
/// `MDL_EXCLUSIVE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockType {
    Shared,
    /// The lock on a table whose rows the owner changes.
    SharedWrite,
    /// The lock on a table whose rows nobody may change (`LOCK TABLES ... READ`).
    SharedReadOnly,
    Exclusive,
}

impl LockType {
    pub(super) fn conflicts(self, other: LockType) -> bool {
        use LockType::{Exclusive, SharedReadOnly, SharedWrite};
        matches!(
            (self, other),
            (Exclusive, _) | (_, Exclusive) | (SharedWrite, SharedReadOnly) | (SharedReadOnly, SharedWrite)
        )
    }

    /// Reports whether a new request waits behind a waiting request of this type. As in MySQL, a
    /// transaction that changes rows does not wait behind one that wants the rows unchanged.
    pub(super) fn is_before(self, new: LockType) -> bool {
        self.conflicts(new) && (self, new) != (LockType::SharedReadOnly, LockType::SharedWrite)
    }

    /// Returns the weakest type that keeps out everything that either of the two keeps out.
    pub(super) fn join(self, other: LockType) -> LockType {
        match (self, other) {
            (LockType::Shared, stronger) | (stronger, LockType::Shared) => stronger,
            (one, other) if one == other => one,
            _ => LockType::Exclusive,
        }
    }
}

/// The choice of what to do about a row that another owner has locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLocked {
    /// Wait for the row.
    #[default]
    Wait,
    /// Fail with [`crate::EngineError::LockNotAvailable`] (`NOWAIT`).
    Fail,
    /// Leave the row out (`SKIP LOCKED`).
    Skip,
}

/// The outcome of a request that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acquired {
    /// The owner held the lock before, in this mode or a stronger one.
    Held,
    /// The owner held the lock before, in a weaker mode.
    Upgraded,
    /// The owner did not hold the lock before.
    New,
}
