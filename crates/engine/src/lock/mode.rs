//! What a lock keeps out, and what becomes of somebody who asks for it.

/// Number of a lock owner, which is a transaction or a DDL operation.
pub(crate) type OwnerId = u64;

/// What a lock keeps out. Rows know the first and the last; metadata of tables all four (MySQL's
/// `MDL_SHARED_READ`, `MDL_SHARED_WRITE`, `MDL_SHARED_READ_ONLY` and `MDL_EXCLUSIVE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockType {
    Shared,
    /// Of a table whose rows are changed.
    SharedWrite,
    /// Of a table whose rows nobody may change (`LOCK TABLES ... READ`).
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

    /// Whether a new request waits behind one of this type that waits. As in MySQL, a transaction
    /// that changes rows does not wait behind one that wants them unchanged.
    pub(super) fn is_before(self, new: LockType) -> bool {
        self.conflicts(new) && (self, new) != (LockType::SharedReadOnly, LockType::SharedWrite)
    }

    /// The weakest that keeps out what either does.
    pub(super) fn join(self, other: LockType) -> LockType {
        match (self, other) {
            (LockType::Shared, stronger) | (stronger, LockType::Shared) => stronger,
            (one, other) if one == other => one,
            _ => LockType::Exclusive,
        }
    }
}

/// What to do about a row that somebody else has locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLocked {
    /// Wait for it.
    #[default]
    Wait,
    /// Fail with [`crate::EngineError::LockNotAvailable`] (`NOWAIT`).
    Fail,
    /// Leave the row out (`SKIP LOCKED`).
    Skip,
}

/// What became of a request that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acquired {
    /// Held before, in this mode or a stronger one.
    Held,
    /// Held before in a weaker mode.
    Upgraded,
    /// Not held before.
    New,
}
