//! How a transaction reads and locks: its isolation level, the mode of a read, and the row that a
//! read gives out.

use crate::bytes::KeyBuf;
use crate::entry::Externs;
use buffer::FoundLeaf;

/// The isolation level of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Behaves as READ COMMITTED.
    ReadUncommitted,
    /// Each statement has a snapshot of its own.
    ReadCommitted,
    /// The whole transaction has one snapshot.
    #[default]
    RepeatableRead,
    /// Plain reads take locks.
    Serializable,
}

impl Isolation {
    /// Reports whether locking reads lock gaps, so that they find the same rows again.
    pub(super) fn locks_gaps(self) -> bool {
        matches!(self, Isolation::RepeatableRead | Isolation::Serializable)
    }
}

/// What the engine does about foreign keys when a row is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForeignKeys {
    /// Violations are refused, and the changes of child rows that follow are made.
    Enforced,
    /// The changes of child rows that follow are made. The source has checked the rest.
    Followed,
    /// Nothing is done (`foreign_key_checks=0`).
    Off,
}

/// The mode in which a row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// The row as the snapshot sees it, without a lock (but see [`Isolation::Serializable`]).
    Snapshot,
    /// The newest committed row, locked against change (`FOR SHARE`).
    Share,
    /// The newest committed row, locked against everyone (`FOR UPDATE`, UPDATE, DELETE).
    Update,
}

/// A row as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The row's key in the clustered index.
    pub key: Vec<u8>,
    /// The full row image.
    pub image: Vec<u8>,
}

/// The facts about a row that was locked for update and read, besides the row itself. They stay
/// true as long as the transaction keeps the lock and does not change the row.
pub(super) struct LastRead {
    pub table_id: u64,
    pub key: KeyBuf,
    pub seq: u64,
    pub externs: Externs,
    pub leaf: Option<FoundLeaf>,
}
