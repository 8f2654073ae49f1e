//! The holder of locks: a transaction or a DDL operation.

use super::gap::{GapId, Inserter, TableLocks};
use super::id::LockId;
use super::mode::OwnerId;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an owner has at one table besides record locks.
pub(super) struct AtTable {
    pub locks: Arc<TableLocks>,
    pub inserter: Option<Arc<Inserter>>,
    pub gaps: SmallVec<[GapId; 2]>,
}

/// One holder of locks.
pub(crate) struct LockOwner {
    pub(super) id: OwnerId,
    pub(super) held: SmallVec<[LockId; 4]>,
    pub(super) interrupt: Option<Arc<AtomicBool>>,
    pub(super) tables: SmallVec<[AtTable; 1]>,
    /// Number of keys announced.
    pub(super) announced: u64,
    /// Rows changed: what a rollback would throw away.
    pub(super) changes: u64,
    /// DDL: never a deadlock's victim when somebody else can be.
    pub(super) important: bool,
    /// The session's connection, for reports; 0: none.
    pub(super) connection_id: u64,
    /// The owner of the tables that this one works on: whoever waits for that owner waits for this
    /// one.
    pub(super) works_under: Option<OwnerId>,
    /// The newest commit that it depends on: one whose locks it got, or whose rows it has read.
    depends_on: u64,
    /// The number of its commit, once it has committed, which stays with the locks that it
    /// releases.
    pub(super) committed_seq: u64,
}

impl LockOwner {
    pub(super) fn new(id: OwnerId) -> LockOwner {
        LockOwner {
            id,
            held: SmallVec::new(),
            interrupt: None,
            tables: SmallVec::new(),
            announced: 0,
            changes: 0,
            important: false,
            connection_id: 0,
            works_under: None,
            depends_on: 0,
            committed_seq: 0,
        }
    }

    /// Number of the owner, which is the transaction's in reports.
    pub fn id(&self) -> OwnerId {
        self.id
    }

    /// Sets the flag that ends this owner's waits with [`crate::EngineError::Interrupted`] when it
    /// becomes true.
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.interrupt = Some(interrupt);
    }

    /// Whether that flag is set.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Says that another owner, which never waits while it holds anything, has locks for this one.
    pub fn set_works_under(&mut self, holder: OwnerId) {
        self.works_under = Some(holder);
    }

    /// As [`LockOwner::set_works_under`]; what ends the holder's waits ends this one's, too.
    pub fn set_works_for(&mut self, holder: &LockOwner) {
        self.works_under = Some(holder.id);
        self.interrupt.clone_from(&holder.interrupt);
    }

    /// Says that this one has all its locks itself, and nobody waits for it any more (`KILL`).
    pub fn set_works_alone(&mut self) {
        self.works_under = None;
        self.interrupt = None;
    }

    /// Sequence number of the newest commit that the owner has to see from here on; 0: none.
    #[inline]
    pub fn depends_on(&self) -> u64 {
        self.depends_on
    }

    /// Says that the owner has got a lock that a commit had, or has read what it changed.
    #[inline]
    pub fn depend_on(&mut self, seq: u64) {
        self.depends_on = self.depends_on.max(seq);
    }

    /// Says that the owner's changes are committed, which is what releases its locks.
    pub fn set_committed(&mut self, seq: u64) {
        self.committed_seq = seq;
    }

    /// The connection that the owner works for.
    pub fn set_connection_id(&mut self, connection_id: u64) {
        self.connection_id = connection_id;
    }

    /// Spares the owner when a deadlock's victim is chosen, as far as possible.
    pub fn set_important(&mut self) {
        self.important = true;
    }

    /// How much has been changed, for the choice of a deadlock's victim.
    pub fn set_changes(&mut self, changes: u64) {
        self.changes = changes;
    }

    /// Number of locks held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Keys announced so far; see [`super::LockTable::withdraw_announced`].
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// What rolling the owner back would cost: its changes and its locks, as InnoDB's `TRX_WEIGHT`.
    pub(super) fn weight(&self) -> u64 {
        if self.important { u64::MAX } else { self.changes + self.held.len() as u64 }
    }

    pub(super) fn at_table(&mut self, locks: &Arc<TableLocks>) -> &mut AtTable {
        let at = match self.tables.iter().position(|at| Arc::ptr_eq(&at.locks, locks)) {
            Some(at) => at,
            None => {
                self.tables.push(AtTable { locks: locks.clone(), inserter: None, gaps: SmallVec::new() });
                self.tables.len() - 1
            }
        };
        &mut self.tables[at]
    }
}
