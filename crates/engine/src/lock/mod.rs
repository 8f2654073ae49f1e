//! Row locks, gap locks and metadata locks.
//!
//! Row and metadata locks are in one sharded table of shared and exclusive locks with
//! first-in-first-out waiters; metadata locks have two more types in between. A lock is named by a
//! 64-bit fingerprint of (table id, index id, key bytes), or of (schema, table) for metadata locks.
//! Two names with the same fingerprint would share a lock. That costs a needless wait once in 2^64
//! pairs and is never wrong; in return no key is copied and no key compared. Gaps need the order of
//! keys and are kept for each table ([`gap`]).
//!
//! From the bottom up: [`id`] and [`mode`] name what is locked and how, [`wait`] is one wait,
//! [`queue`] one lock, [`gap`] the gaps of one table, [`owner`] what one transaction holds,
//! [`shards`] all row and metadata locks, [`deadlock`] which owner waits for which. [`LockTable`]
//! puts them together and does the waiting.
//!
//! Invariants:
//! - Waiters are granted in order. A later one goes before an earlier one only where the two do not
//!   conflict (or as [`LockType::is_before`] says). A holder that wants a stronger mode goes to the
//!   front.
//! - An owner that is about to wait has searched the graph of waits, under the detector's mutex,
//!   after its request became visible in the queue. A cycle gets its last edge from an owner that
//!   begins to wait: an edge that a gap lock, or a lock that passes a waiter, adds to an owner that
//!   waits already leads to a running owner. So the last member of a cycle to wait finds the cycle,
//!   and no cycle outlives the search.
//!
//! **The owner that gets a lock sees what the lock's earlier holders committed.** Locks are
//! released when a commit is on its pages. That may be before the commit is visible, because an
//! earlier commit may not be on its pages yet. So a released row lock leaves the commit's sequence
//! number with its shard, and a released gap with its table ([`gap`]). An owner that is granted a
//! lock there takes the number along ([`LockOwner::depends_on`]), and a snapshot that the owner
//! opens waits until that number is visible. A shard has many rows, so the number may be a later
//! one than necessary, which costs at most a wait.
//!
//! Lock order: detector mutex, then one shard mutex or one table's gaps, then a waiter's own mutex.
//! No shard is locked while another is.

mod deadlock;
pub(crate) mod gap;
mod id;
mod mode;
mod owner;
mod queue;
mod shards;
mod wait;

use crate::concurrency::ThreadConcurrency;
use crate::error::EngineError;
use btree::Direction;
use deadlock::{Detector, WaitsFor};
use gap::{GapId, TableLocks};
use parking_lot::Mutex;
use shards::Shards;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wait::Waiter;

pub(crate) use deadlock::LockWait;
pub use deadlock::{DeadlockMember, DeadlockReport};
pub(crate) use id::{CLUSTERED, FingerprintMap, LockId, RowName, fingerprint};
pub use mode::OnLocked;
pub(crate) use mode::{Acquired, LockType, OwnerId};
pub(crate) use owner::LockOwner;
pub(crate) use shards::HeldLock;
pub(crate) use wait::Patience;

/// What an owner is that is no transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerKind {
    /// A statement that changes definitions.
    Statement,
    /// LOCK TABLES.
    LockTables,
}

/// An owner that is no transaction: what it is, and the flag that ends its waits.
type Introduced = (OwnerKind, Option<Arc<AtomicBool>>);

/// The lock table of an engine.
pub(crate) struct LockTable {
    shards: Shards,
    /// The search for deadlocks, which knows which owner waits for what; see the module header.
    detector: Detector,
    next_owner: AtomicU64,
    /// The owners that are no transactions, with the flag that ends their waits. Only statements
    /// about definitions and LOCK TABLES take the mutex, and those that ask for a report.
    introduced: Mutex<HashMap<OwnerId, Introduced>>,
    /// `innodb_thread_concurrency`: a statement that waits for a lock does not count as inside.
    pub concurrency: ThreadConcurrency,
    /// The number of waits that began (`Innodb_row_lock_waits`).
    pub waits: AtomicU64,
    /// The total time of waits, in microseconds (`Innodb_row_lock_time` is in milliseconds).
    pub wait_us: AtomicU64,
    /// The longest wait, in microseconds (`Innodb_row_lock_time_max`).
    pub longest_wait_us: AtomicU64,
    /// The number of waits that ended in a deadlock error (`Innodb_deadlocks`).
    pub deadlocks: AtomicU64,
    /// The number of waits that ended in a timeout (`Innodb_row_lock_timeouts` of
    /// information_schema.INNODB_METRICS).
    pub timeouts: AtomicU64,
    /// The number of waits that are going on (`Innodb_row_lock_current_waits`).
    pub current_waits: AtomicU64,
}

impl LockTable {
    pub fn new() -> LockTable {
        LockTable {
            shards: Shards::new(),
            detector: Detector::new(),
            next_owner: AtomicU64::new(1),
            introduced: Mutex::default(),
            concurrency: ThreadConcurrency::default(),
            waits: AtomicU64::new(0),
            wait_us: AtomicU64::new(0),
            longest_wait_us: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            current_waits: AtomicU64::new(0),
        }
    }

    /// Returns a new owner that holds nothing.
    pub fn owner(&self) -> LockOwner {
        LockOwner::new(self.owner_id())
    }

    /// Returns the number of a new owner.
    pub fn owner_id(&self) -> OwnerId {
        self.next_owner.fetch_add(1, Ordering::Relaxed)
    }

    /// Says what an owner is that is no transaction. [`LockTable::retire`] undoes it.
    pub fn introduce(&self, owner: OwnerId, kind: OwnerKind, interrupt: Option<Arc<AtomicBool>>) {
        self.introduced.lock().insert(owner, (kind, interrupt));
    }

    /// Forgets an owner that was introduced.
    pub fn retire(&self, owner: OwnerId) {
        let known = self.introduced.lock().remove(&owner);
        assert!(known.is_some(), "an owner that retires was introduced");
    }

    /// Returns what an owner is. `None` means a transaction.
    pub fn introduced(&self, owner: OwnerId) -> Option<Introduced> {
        self.introduced.lock().get(&owner).cloned()
    }

    /// Takes a lock, waiting for it if need be. After an error the owner holds what it held before.
    pub fn acquire(
        &self,
        owner: &mut LockOwner,
        id: LockId,
        mode: LockType,
        patience: Patience<'_>,
    ) -> Result<Acquired, EngineError> {
        let waiter = match self.shards.acquire(owner, id, mode) {
            Ok(acquired) => return Ok(acquired),
            Err(waiter) => waiter,
        };
        let withdraw = || self.shards.withdraw(id, &waiter);
        self.wait(owner, WaitsFor::Lock(id), &waiter, patience, withdraw)?;
        Ok(self.shards.note_granted(owner, id, &waiter))
    }

    /// Takes a lock if no other owner is in the way. `None` means that one is.
    pub fn try_acquire(&self, owner: &mut LockOwner, id: LockId, mode: LockType) -> Option<Acquired> {
        self.shards.try_acquire(owner, id, mode)
    }

    /// Takes a lock in the mode in which another owner has it. The mode must be one that owners
    /// share, and the other owner must hold the lock until this function returns. Waiting owners
    /// are passed.
    pub fn share(&self, owner: &mut LockOwner, id: LockId, mode: LockType) {
        self.shards.share(owner, id, mode);
    }

    /// Waits until the request is granted or the wait ends otherwise. `withdraw` takes the request
    /// back and returns whether it was still waiting.
    fn wait(
        &self,
        owner: &LockOwner,
        waits_for: WaitsFor,
        waiter: &Arc<Waiter>,
        patience: Patience<'_>,
        withdraw: impl FnOnce() -> bool,
    ) -> Result<(), EngineError> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.current_waits.fetch_add(1, Ordering::Relaxed);
        let started_ns = os::clock::monotonic_ns();
        let result = if self.detector.begin_wait(&self.shards, owner, waits_for, waiter, patience) {
            let _state = os::account::enter(os::account::State::RowLockWait);
            let interrupt = owner.interrupt.as_deref();
            self.concurrency.outside(|| waiter.wait(started_ns, patience.timeout_ms, interrupt))
        } else {
            Err(EngineError::Deadlock)
        };
        self.detector.end_wait(owner);
        let waited_us = os::clock::monotonic_ns().saturating_sub(started_ns) / 1000;
        self.wait_us.fetch_add(waited_us, Ordering::Relaxed);
        self.longest_wait_us.fetch_max(waited_us, Ordering::Relaxed);
        let waits = self.current_waits.fetch_sub(1, Ordering::Relaxed);
        assert!(waits > 0, "a wait ends that did not begin");
        let Err(error) = result else { return Ok(()) };
        // The lock may have been granted while the wait was being given up.
        if !withdraw() {
            return Ok(());
        }
        match error {
            EngineError::Deadlock => self.deadlocks.fetch_add(1, Ordering::Relaxed),
            EngineError::LockWaitTimeout => self.timeouts.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        Err(error)
    }

    /// Releases one lock of the owner. The search begins at the locks that were taken last.
    pub fn release(&self, owner: &mut LockOwner, id: LockId) {
        let at = owner.held.iter().rposition(|held| *held == id).expect("an owner releases what it holds");
        owner.held.swap_remove(at);
        self.shards.release(owner.id, id, 0);
    }

    /// Releases the row and metadata locks that the owner took since it held `count` of them.
    pub fn release_since(&self, owner: &mut LockOwner, count: usize) {
        let held = owner.held.len();
        assert!(held >= count, "the owner {} lost locks that it was to keep: {held} of {count}", owner.id);
        while owner.held.len() > count {
            let id = owner.held.pop().expect("longer than the count");
            self.shards.release(owner.id, id, 0);
        }
    }

    /// Releases all locks of the owner.
    pub fn release_all(&self, owner: &mut LockOwner) {
        for at in owner.tables.drain(..) {
            if let Some(inserter) = &at.inserter {
                at.locks.forget_inserter(inserter);
            }
            at.locks.release_gaps(&at.gaps, owner.committed_seq);
        }
        owner.announced = 0;
        if !owner.alone.is_empty() {
            // Whoever locks a row of these tables next depends on the commit, as if the row had
            // been locked.
            self.shards.note_released(owner.committed_seq);
            owner.alone.clear();
        }
        for id in owner.held.drain(..) {
            self.shards.release(owner.id, id, owner.committed_seq);
        }
    }

    /// Locks the gap between two keys of an index. `None` as a key means beyond all keys. Returns
    /// the interval, unless the owner has one that contains it.
    pub fn lock_gap(
        &self,
        owner: &mut LockOwner,
        table: &Arc<TableLocks>,
        index_id: u32,
        low: Option<&[u8]>,
        high: Option<&[u8]>,
    ) -> Option<GapId> {
        let gap = table.add_gap(owner.id, index_id, low, high)?;
        owner.at_table(table).gaps.push(gap);
        Some(gap)
    }

    /// Moves the end of an interval outward, as a scan in this direction goes on.
    pub fn extend_gap(&self, table: &TableLocks, gap: GapId, direction: Direction, to: Option<&[u8]>) {
        table.extend_gap(gap, direction, to);
    }

    /// Announces keys that the owner is about to insert. Each is an index id, a key, and the length
    /// of the key's part before the clustered key. Returns the number of the first key, for
    /// [`LockTable::withdraw_announced`].
    pub fn announce<'k>(
        &self,
        owner: &mut LockOwner,
        table: &Arc<TableLocks>,
        keys: impl Iterator<Item = (u32, &'k [u8], usize)>,
    ) -> u64 {
        let (id, first) = (owner.id, owner.announced);
        let inserter = owner.at_table(table).inserter.get_or_insert_with(|| table.inserter(id)).clone();
        for (index_id, key, secondary_len) in keys {
            inserter.announce(owner.announced, index_id, key, secondary_len);
            owner.announced += 1;
        }
        owner.depend_on(table.released_seq());
        first
    }

    /// Takes back the keys that the owner announced with this number or a later one.
    pub fn withdraw_announced(&self, owner: &mut LockOwner, from_number: u64) {
        for inserter in owner.tables.iter().filter_map(|at| at.inserter.as_ref()) {
            inserter.withdraw(from_number);
        }
    }

    /// Reports whether another owner has locked a gap of the table.
    pub fn has_others_gaps(&self, owner: &mut LockOwner, table: &Arc<TableLocks>) -> bool {
        let count = table.gap_count();
        count > 0 && count > owner.at_table(table).gaps.len()
    }

    /// Waits until no other owner's interval covers the key. The caller must look again afterwards,
    /// because another interval may have come meanwhile.
    pub fn wait_for_key(
        &self,
        owner: &LockOwner,
        table: &Arc<TableLocks>,
        index_id: u32,
        key: &[u8],
        patience: Patience<'_>,
    ) -> Result<(), EngineError> {
        let Some(waiter) = table.wait_for_key(owner.id, index_id, key) else { return Ok(()) };
        let waits_for = WaitsFor::Gap(table.clone(), index_id, key.into());
        self.wait(owner, waits_for, &waiter, patience, || table.withdraw_waiter(&waiter))
    }

    /// Returns the number of locks that are held or waited for, for `SHOW ENGINE INNODB STATUS`.
    pub fn len(&self) -> usize {
        self.shards.len()
    }

    /// Returns every lock that is held, including metadata locks.
    pub fn held_locks(&self) -> Vec<HeldLock> {
        self.shards.held_locks()
    }

    /// Returns every metadata lock that is held or waited for, and whether it is waited for.
    pub fn metadata_locks(&self) -> Vec<(HeldLock, bool)> {
        self.shards.metadata_locks()
    }

    /// Returns every wait for a row or a gap.
    pub fn row_waits(&self) -> Vec<LockWait> {
        self.detector.row_waits(&self.shards)
    }

    /// Returns the report of the latest deadlock, if there has been one.
    pub fn latest_deadlock(&self) -> Option<DeadlockReport> {
        self.detector.latest_deadlock()
    }

    /// Sets `innodb_deadlock_detect`.
    pub fn set_deadlock_detect(&self, on: bool) {
        self.detector.is_on.store(on, Ordering::Relaxed);
    }

    /// Sets `innodb_print_all_deadlocks`.
    pub fn set_print_all_deadlocks(&self, on: bool) {
        self.detector.prints_all.store(on, Ordering::Relaxed);
    }
}

#[cfg(all(test, feature = "model"))]
mod model;
#[cfg(test)]
mod tests;
