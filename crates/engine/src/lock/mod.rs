//! Row locks, gap locks and metadata locks.
//!
//! Row and metadata locks are one sharded table of shared/exclusive locks with first-in-first-out
//! waiters; metadata locks have two types in between. A lock is named by a 64-bit fingerprint of
//! (table id, index id, key bytes), or of (schema, table) for metadata locks. Two names with the
//! same fingerprint would share a lock, which costs a needless wait once in 2^64 pairs and is never
//! wrong; in return no key is copied and no key compared. Gaps need the keys' order and are kept
//! for each table ([`gap`]).
//!
//! Invariants:
//! - A lock that is waited for or held is in exactly one shard's map; one that is neither is in
//!   none.
//! - Waiters are granted in order, one before another only where the two do not conflict (or as
//!   [`LockType::is_before`] says); the holder who wants more goes to the front.
//! - Whoever is about to wait has searched the graph of waits, under the detector's mutex, after it
//!   became visible in the queue. A cycle gets its last edge from somebody who begins to wait: an
//!   edge that a gap lock, or a lock that passes a waiter, adds to one who waits already leads to a
//!   running owner. So the last of a cycle's members to wait finds it, and no cycle outlives the
//!   search.
//!
//! **Who gets a lock sees what its earlier holders committed.** Locks are released when a commit is
//! on its pages, which may be before it is visible: an earlier commit may not be on its pages yet.
//! So a released row lock leaves the commit's sequence number with its shard, and a gap with its
//! table ([`gap`]), and whoever is granted one there takes the number along
//! ([`LockOwner::depends_on`]); a snapshot that he opens waits until it is visible. A shard has
//! many rows, so that the number may be a later one than need be, which costs at most a wait.
//!
//! Lock order: detector mutex, then one shard mutex or one table's gaps, then a waiter's own mutex.
//! No shard is locked while another is.

pub(crate) mod census;
mod deadlock;
pub(crate) mod gap;
mod id;
mod owner;
mod queue;
mod wait;

use crate::concurrency::ThreadConcurrency;
use crate::error::EngineError;
use btree::Direction;
use census::RowName;
use deadlock::{Detector, WaitsFor};
use gap::{GapId, TableLocks};
use os::sync::Mutex;
use queue::{Lock, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wait::Waiter;

pub use deadlock::{DeadlockMember, DeadlockReport};
pub(crate) use id::{CLUSTERED, FingerprintMap, LockId, fingerprint};
pub(crate) use owner::LockOwner;

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
    fn conflicts(self, other: LockType) -> bool {
        use LockType::{Exclusive, SharedReadOnly, SharedWrite};
        matches!(
            (self, other),
            (Exclusive, _) | (_, Exclusive) | (SharedWrite, SharedReadOnly) | (SharedReadOnly, SharedWrite)
        )
    }

    /// Whether a new request waits behind one of this type that waits. As in MySQL, who changes
    /// rows does not wait behind one who wants them unchanged.
    fn is_before(self, new: LockType) -> bool {
        self.conflicts(new) && (self, new) != (LockType::SharedReadOnly, LockType::SharedWrite)
    }

    /// The weakest that keeps out what either does.
    fn join(self, other: LockType) -> LockType {
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
    /// Fail with [`EngineError::LockNotAvailable`] (`NOWAIT`).
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

const SHARDS: usize = 128;

/// Some of the locks.
#[derive(Default)]
struct Shard {
    locks: FingerprintMap<Lock>,
    /// The newest commit whose row locks were released here; see the module's header.
    released_seq: u64,
}

impl Shard {
    /// The newest commit that whoever is granted this lock has to see. Metadata locks, which every
    /// plain read takes, stand beside row locks and have no part in this.
    fn released_before(&self, id: LockId) -> u64 {
        if id.is_row() { self.released_seq } else { 0 }
    }

    /// Gives up a lock of an owner who has committed under this number, 0 if he has not.
    fn release(&mut self, owner: OwnerId, id: LockId, seq: u64) {
        if id.is_row() {
            self.released_seq = self.released_seq.max(seq);
        }
        let lock = self.locks.get_mut(&id.0).expect("a held lock is in the map");
        lock.release(owner);
        lock.grant_waiters();
        if lock.is_unused() {
            self.locks.remove(&id.0);
        }
    }
}

/// Number of a lock owner, which is a transaction or a DDL operation.
pub(crate) type OwnerId = u64;

/// How a wait may end.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// The longest wait, in milliseconds.
    pub timeout_ms: u64,
    /// Names what is waited for, in reports.
    pub describe: &'a dyn Fn() -> String,
    /// The row that is waited for, or that is to be inserted; `None`: metadata.
    pub row: Option<&'a dyn Fn() -> RowName>,
}

/// The lock table of an engine.
pub(crate) struct LockTable {
    shards: Box<[Mutex<Shard>]>,
    /// Who waits for what; see the module header.
    detector: Mutex<Detector>,
    next_owner: AtomicU64,
    /// `innodb_thread_concurrency`: who waits for a lock is outside.
    pub concurrency: ThreadConcurrency,
    /// `innodb_deadlock_detect`
    pub deadlock_detect: AtomicBool,
    /// `innodb_print_all_deadlocks`
    pub print_all_deadlocks: AtomicBool,
    /// Waits begun (`Innodb_row_lock_waits`).
    pub waits: AtomicU64,
    /// Time spent waiting, in microseconds (`Innodb_row_lock_time` is in milliseconds).
    pub wait_us: AtomicU64,
    /// The longest wait, in microseconds (`Innodb_row_lock_time_max`).
    pub longest_wait_us: AtomicU64,
    /// Waits that ended in a deadlock error (`Innodb_deadlocks`).
    pub deadlocks: AtomicU64,
    /// Waits that ended in a timeout (`Innodb_row_lock_timeouts` of
    /// information_schema.INNODB_METRICS).
    pub timeouts: AtomicU64,
    /// Waits going on (`Innodb_row_lock_current_waits`).
    pub current_waits: AtomicU64,
}

impl LockTable {
    pub fn new() -> LockTable {
        LockTable {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            detector: Mutex::default(),
            next_owner: AtomicU64::new(1),
            concurrency: ThreadConcurrency::default(),
            deadlock_detect: AtomicBool::new(true),
            print_all_deadlocks: AtomicBool::new(false),
            waits: AtomicU64::new(0),
            wait_us: AtomicU64::new(0),
            longest_wait_us: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            current_waits: AtomicU64::new(0),
        }
    }

    /// A new owner that holds nothing.
    pub fn owner(&self) -> LockOwner {
        LockOwner::new(self.next_owner.fetch_add(1, Ordering::Relaxed))
    }

    fn shard(&self, id: LockId) -> &Mutex<Shard> {
        &self.shards[(id.0 >> 32) as usize % SHARDS]
    }

    /// Takes a lock, waiting for it if need be. On an error the owner holds what it held before.
    pub fn acquire(
        &self,
        owner: &mut LockOwner,
        id: LockId,
        mode: LockType,
        patience: Patience<'_>,
    ) -> Result<Acquired, EngineError> {
        let waiter = {
            let mut guard = self.shard(id).lock();
            let shard = &mut *guard;
            let lock = shard.locks.entry(id.0).or_default();
            match lock.request(owner.id, mode) {
                Request::Held => return Ok(Acquired::Held),
                Request::Upgraded => {
                    owner.depend_on(shard.released_before(id));
                    return Ok(Acquired::Upgraded);
                }
                Request::Granted => {
                    owner.held.push(id);
                    owner.depend_on(shard.released_before(id));
                    return Ok(Acquired::New);
                }
                Request::Blocked => lock.enqueue(owner.id, mode),
            }
        };
        self.wait(owner, WaitsFor::Lock(id), &waiter, patience, || self.withdraw(id, &waiter))?;
        let released_seq = self.shard(id).lock().released_before(id);
        owner.depend_on(released_seq);
        if waiter.upgrade {
            return Ok(Acquired::Upgraded);
        }
        owner.held.push(id);
        Ok(Acquired::New)
    }

    /// Takes a lock if nobody stands against it.
    pub fn try_acquire(&self, owner: &mut LockOwner, id: LockId, mode: LockType) -> Option<Acquired> {
        let mut shard = self.shard(id).lock();
        let acquired = match shard.locks.entry(id.0).or_default().request(owner.id, mode) {
            Request::Held => return Some(Acquired::Held),
            Request::Upgraded => Acquired::Upgraded,
            Request::Granted => {
                owner.held.push(id);
                Acquired::New
            }
            // Whoever stands against it keeps the entry in use.
            Request::Blocked => return None,
        };
        owner.depend_on(shard.released_before(id));
        Some(acquired)
    }

    /// Takes a lock that another owner has in this mode, which it shares, and is to have until this
    /// returns: nobody who waits stands against it.
    pub fn share(&self, owner: &mut LockOwner, id: LockId, mode: LockType) {
        let mut shard = self.shard(id).lock();
        let lock = shard.locks.get_mut(&id.0).expect("a lock that is held is in the map");
        if lock.join(owner.id, mode) {
            owner.held.push(id);
        }
    }

    /// Waits until granted or told otherwise; `withdraw` takes the request back and says whether it
    /// was still waiting.
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
        let result = if self.begin_wait(owner, waits_for, waiter, patience) {
            let _state = os::account::enter(os::account::State::RowLockWait);
            let interrupt = owner.interrupt.as_deref();
            self.concurrency.outside(|| waiter.wait(started_ns, patience.timeout_ms, interrupt))
        } else {
            Err(EngineError::Deadlock)
        };
        self.end_wait(owner);
        let waited_us = os::clock::monotonic_ns().saturating_sub(started_ns) / 1000;
        self.wait_us.fetch_add(waited_us, Ordering::Relaxed);
        self.longest_wait_us.fetch_max(waited_us, Ordering::Relaxed);
        self.current_waits.fetch_sub(1, Ordering::Relaxed);
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

    /// Takes a waiter out of its queue; false when it has been granted already.
    fn withdraw(&self, id: LockId, waiter: &Arc<Waiter>) -> bool {
        let mut shard = self.shard(id).lock();
        if waiter.is_granted() {
            return false;
        }
        let lock = shard.locks.get_mut(&id.0).expect("a lock with a waiter is in the map");
        lock.remove_waiter(waiter);
        lock.grant_waiters();
        if lock.is_unused() {
            shard.locks.remove(&id.0);
        }
        true
    }

    /// Releases one lock, the last ones taken being found first.
    pub fn release(&self, owner: &mut LockOwner, id: LockId) {
        let at = owner.held.iter().rposition(|held| *held == id).expect("an owner releases what it holds");
        owner.held.swap_remove(at);
        self.shard(id).lock().release(owner.id, id, 0);
    }

    /// Releases the record locks that the owner took since it held `count` of them.
    pub fn release_since(&self, owner: &mut LockOwner, count: usize) {
        while owner.held.len() > count {
            let id = owner.held.pop().expect("longer than the count");
            self.shard(id).lock().release(owner.id, id, 0);
        }
    }

    /// Releases everything that the owner has.
    pub fn release_all(&self, owner: &mut LockOwner) {
        for at in owner.tables.drain(..) {
            if let Some(inserter) = &at.inserter {
                at.locks.forget_inserter(inserter);
            }
            at.locks.release_gaps(&at.gaps, owner.committed_seq);
        }
        owner.announced = 0;
        for id in owner.held.drain(..) {
            self.shard(id).lock().release(owner.id, id, owner.committed_seq);
        }
    }

    /// Locks the gap between two keys of an index, `None` being beyond them all. Returns the
    /// interval, unless the owner has one that contains it.
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

    /// Moves the end of an interval that a scan in this direction has.
    pub fn extend_gap(&self, table: &TableLocks, gap: GapId, direction: Direction, to: Option<&[u8]>) {
        table.extend_gap(gap, direction, to);
    }

    /// Makes keys known that the owner is about to insert: index, key, length of the part before
    /// the clustered key. Returns the number of the first, for [`LockTable::withdraw_announced`].
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

    /// Takes back what was announced since.
    pub fn withdraw_announced(&self, owner: &mut LockOwner, from_number: u64) {
        for inserter in owner.tables.iter().filter_map(|at| at.inserter.as_ref()) {
            inserter.withdraw(from_number);
        }
    }

    /// Whether somebody else has locked a gap of the table.
    pub fn has_others_gaps(&self, owner: &mut LockOwner, table: &Arc<TableLocks>) -> bool {
        let count = table.gap_count();
        count > 0 && count > owner.at_table(table).gaps.len()
    }

    /// Waits until no other owner's interval covers the key. The caller looks again: another may
    /// have come meanwhile.
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

    /// Locks held or waited for, for `SHOW ENGINE INNODB STATUS`.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().locks.len()).sum()
    }
}

#[cfg(all(test, feature = "model"))]
mod model;
#[cfg(test)]
mod tests;
