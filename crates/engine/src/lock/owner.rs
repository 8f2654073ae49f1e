//! The holder of locks: a transaction or a DDL operation.

use super::gap::{GapId, Inserter, TableLocks};
use super::id::LockId;
use super::mode::OwnerId;
use crate::kept_memory::shrink_small_list;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an owner has at one table besides the locks in the shards.
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
    /// The tables that the owner has for itself, by their numbers. It locks nothing in them.
    pub(super) alone: SmallVec<[u64; 1]>,
    /// The number of keys that the owner has announced so far.
    pub(super) announced: u64,
    /// The number of rows that the owner has changed, which a rollback would throw away.
    pub(super) changes: u64,
    /// Whether the owner is never a deadlock's victim when another owner can be. DDL sets this.
    pub(super) important: bool,
    /// The id of the session's connection, for reports. 0 means none.
    pub(super) connection_id: u64,
    /// The owner that has the locks of the tables that this owner works on. An owner that waits for
    /// that one waits for this one.
    pub(super) works_under: Option<OwnerId>,
    /// The newest commit that this owner depends on, because the owner got one of the commit's
    /// locks or read one of its rows.
    depends_on: u64,
    /// The sequence number of the owner's commit, once it has committed. The number stays with the
    /// locks that the owner releases.
    pub(super) committed_seq: u64,
}

impl LockOwner {
    pub(super) fn new(id: OwnerId) -> LockOwner {
        LockOwner {
            id,
            held: SmallVec::new(),
            interrupt: None,
            tables: SmallVec::new(),
            alone: SmallVec::new(),
            announced: 0,
            changes: 0,
            important: false,
            connection_id: 0,
            works_under: None,
            depends_on: 0,
            committed_seq: 0,
        }
    }

    /// Forgets everything but its memory, after all locks were released.
    pub fn spend(&mut self) {
        let LockOwner {
            id: _,
            held,
            interrupt,
            tables,
            alone,
            announced,
            changes,
            important,
            connection_id,
            works_under,
            depends_on,
            committed_seq,
        } = self;
        shrink_small_list(held);
        shrink_small_list(tables);
        shrink_small_list(alone);
        (*interrupt, *works_under, *important) = (None, None, false);
        (*announced, *changes, *connection_id, *depends_on, *committed_seq) = (0, 0, 0, 0, 0);
    }

    /// Becomes another owner after [`LockOwner::spend`].
    pub fn begin(&mut self, id: OwnerId) {
        assert!(self.holds_nothing(), "an owner that begins holds nothing yet");
        self.id = id;
    }

    /// Returns the number of the owner, which reports show as the transaction's.
    pub fn id(&self) -> OwnerId {
        self.id
    }

    /// Sets the flag that ends this owner's waits with [`crate::EngineError::Interrupted`] when it
    /// becomes true.
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.interrupt = Some(interrupt);
    }

    /// Reports whether the interrupt flag is set.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Notes that the owner has a table for itself: it has the exclusive lock on the table's
    /// metadata until it releases all of its locks.
    pub fn set_alone(&mut self, table_id: u64) {
        if !self.is_alone(table_id) {
            self.alone.push(table_id);
        }
    }

    /// Reports whether the owner has the table for itself.
    #[inline]
    pub fn is_alone(&self, table_id: u64) -> bool {
        self.alone.contains(&table_id)
    }

    /// Notes that another owner, which never waits while it holds anything, has locks for this
    /// owner.
    pub fn set_works_under(&mut self, holder: OwnerId) {
        self.works_under = Some(holder);
    }

    /// Does what [`LockOwner::set_works_under`] does, and lets the flag that ends the holder's
    /// waits end this owner's waits too.
    pub fn set_works_for(&mut self, holder: &LockOwner) {
        self.works_under = Some(holder.id);
        self.interrupt.clone_from(&holder.interrupt);
    }

    /// Notes that this owner has all its locks itself and works for no session any more, so that no
    /// interrupt (`KILL`) ends its waits.
    pub fn set_works_alone(&mut self) {
        self.works_under = None;
        self.interrupt = None;
    }

    /// Returns the sequence number of the newest commit that the owner has to see from here on. 0
    /// means none.
    #[inline]
    pub fn depends_on(&self) -> u64 {
        self.depends_on
    }

    /// Notes that the owner has got a lock that the commit had, or has read what the commit
    /// changed.
    #[inline]
    pub fn depend_on(&mut self, seq: u64) {
        self.depends_on = self.depends_on.max(seq);
    }

    /// Notes that the owner's changes are committed, before its locks are released.
    pub fn set_committed(&mut self, seq: u64) {
        let (id, before) = (self.id, self.committed_seq);
        assert!(before == 0, "the owner {id} has committed as {before} and commits again as {seq}");
        self.committed_seq = seq;
    }

    /// Sets the id of the connection that the owner works for.
    pub fn set_connection_id(&mut self, connection_id: u64) {
        self.connection_id = connection_id;
    }

    /// Spares the owner, if possible, when a deadlock's victim is chosen.
    pub fn set_important(&mut self) {
        self.important = true;
    }

    /// Sets the number of changed rows, for the choice of a deadlock's victim.
    pub fn set_changes(&mut self, changes: u64) {
        self.changes = changes;
    }

    /// Returns the number of locks that the owner holds.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Reports whether the owner holds no lock, no gap, and has announced no key.
    pub fn holds_nothing(&self) -> bool {
        self.held.is_empty() && self.tables.is_empty()
    }

    /// Returns the number of keys announced so far; see [`super::LockTable::withdraw_announced`].
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// Returns what a rollback of the owner would cost: its changes plus its locks, as InnoDB's
    /// `TRX_WEIGHT` counts them.
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
