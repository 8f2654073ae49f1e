//! Row locks and metadata locks: one sharded table of shared/exclusive locks with first-in-first-out waiters.
//!
//! A lock is named by a 64-bit fingerprint of (table id, index id, key bytes), or of (schema, table) for metadata
//! locks. Two names with the same fingerprint would share a lock, which costs a needless wait once in 2^64 pairs and
//! is never wrong; in return no key is copied and no key compared.
//!
//! Invariants:
//! - A lock that is waited for or held is in exactly one shard's map; one that is neither is in none.
//! - Waiters are granted strictly in order, except that the holder of S who wants X goes to the front.
//! - Whoever is about to wait has searched the graph of waits, under the detector's mutex, after it became visible in
//!   the queue. The last of a cycle's members to do so finds the cycle, so no cycle outlives the search.
//!
//! Lock order: detector mutex, then one shard mutex, then a waiter's own mutex. No shard is locked while another is.
//!
//! Gap locks are not here yet: at REPEATABLE READ a locking read locks the rows that it returns and no gap, so that
//! another transaction's insert can appear between two locking reads of one transaction.

mod deadlock;
mod queue;

use crate::error::EngineError;
use parking_lot::Mutex;
use queue::{Lock, Waiter};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Shared or exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockType {
    Shared,
    Exclusive,
}

impl LockType {
    fn conflicts(self, other: LockType) -> bool {
        self == LockType::Exclusive || other == LockType::Exclusive
    }
}

/// Fingerprint of what is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LockId(u64);

/// Index number of a table's clustered index in lock names; secondary indexes use their own ids, which start at 1.
pub(crate) const CLUSTERED: u32 = 0;

impl LockId {
    /// The row or index entry with this key.
    pub fn row(table_id: u64, index_id: u32, key: &[u8]) -> LockId {
        LockId(fingerprint(table_id ^ (u64::from(index_id) << 48), key))
    }

    /// The metadata of a table, or of a schema where `table` is empty.
    pub fn metadata(schema: &str, table: &str) -> LockId {
        let seed = fingerprint(METADATA_SEED, schema.as_bytes());
        LockId(fingerprint(seed, table.as_bytes()))
    }
}

const METADATA_SEED: u64 = 0x6d65_7461_6461_7461;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const INCREMENT: u64 = 0xd1b5_4a32_d192_ed03;

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A 64-bit hash of some bytes by folded multiplication, eight bytes a step.
pub(crate) fn fingerprint(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(seed ^ MULTIPLIER, (bytes.len() as u64) ^ INCREMENT);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("chunks_exact gives eight"));
        state = mix(state ^ word, MULTIPLIER);
    }
    let mut last = [0u8; 8];
    let rest = chunks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    mix(state ^ u64::from_le_bytes(last), INCREMENT)
}

/// A map from fingerprints: they are well mixed already, so they are their own hash.
#[derive(Default)]
pub(crate) struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = fingerprint(self.0, bytes);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

pub(crate) type FingerprintMap<V> = HashMap<u64, V, BuildHasherDefault<FingerprintHasher>>;

const SHARDS: usize = 128;

/// Number of a lock owner, which is a transaction or a DDL operation.
pub(crate) type OwnerId = u64;

/// One holder of locks.
pub(crate) struct LockOwner {
    id: OwnerId,
    held: Vec<LockId>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl LockOwner {
    /// Sets the flag that ends this owner's waits with [`EngineError::Interrupted`] when it becomes true.
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.interrupt = Some(interrupt);
    }

    /// Number of locks held.
    pub fn held(&self) -> usize {
        self.held.len()
    }
}

/// The lock table of an engine.
pub(crate) struct LockTable {
    shards: Box<[Mutex<FingerprintMap<Lock>>]>,
    /// Who waits for what; see the module header.
    detector: Mutex<HashMap<OwnerId, LockId>>,
    next_owner: AtomicU64,
    /// Waits begun (`Innodb_row_lock_waits`).
    pub waits: AtomicU64,
    /// Time spent waiting, in microseconds (`Innodb_row_lock_time` is in milliseconds).
    pub wait_us: AtomicU64,
    /// Waits that ended in a deadlock error (`Innodb_deadlocks`).
    pub deadlocks: AtomicU64,
    /// Waits that ended in a timeout (`Innodb_row_lock_timeouts` of information_schema.INNODB_METRICS).
    pub timeouts: AtomicU64,
    /// Waits going on (`Innodb_row_lock_current_waits`).
    pub current_waits: AtomicU64,
}

/// How often a waiting owner looks at its interrupt flag.
const INTERRUPT_POLL: Duration = Duration::from_millis(100);

impl LockTable {
    pub fn new() -> LockTable {
        LockTable {
            shards: (0..SHARDS).map(|_| Mutex::new(FingerprintMap::default())).collect(),
            detector: Mutex::new(HashMap::new()),
            next_owner: AtomicU64::new(1),
            waits: AtomicU64::new(0),
            wait_us: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            current_waits: AtomicU64::new(0),
        }
    }

    /// A new owner that holds nothing.
    pub fn owner(&self) -> LockOwner {
        let id = self.next_owner.fetch_add(1, Ordering::Relaxed);
        LockOwner { id, held: Vec::new(), interrupt: None }
    }

    fn shard(&self, id: LockId) -> &Mutex<FingerprintMap<Lock>> {
        &self.shards[(id.0 >> 32) as usize % SHARDS]
    }

    /// Takes a lock, waiting for it up to `timeout_ms`. Returns whether the owner did not hold it in this or a
    /// stronger mode before. On an error the owner holds what it held before.
    pub fn acquire(
        &self,
        owner: &mut LockOwner,
        id: LockId,
        mode: LockType,
        timeout_ms: u64,
    ) -> Result<bool, EngineError> {
        let waiter = {
            let mut shard = self.shard(id).lock();
            let lock = shard.entry(id.0).or_default();
            match lock.request(owner.id, mode) {
                queue::Request::Held => return Ok(false),
                queue::Request::Upgraded => return Ok(true),
                queue::Request::Granted => {
                    owner.held.push(id);
                    return Ok(true);
                }
                queue::Request::Wait(waiter) => waiter,
            }
        };
        self.wait(owner, id, &waiter, timeout_ms)?;
        if !waiter.upgrade {
            owner.held.push(id);
        }
        Ok(true)
    }

    fn wait(
        &self,
        owner: &LockOwner,
        id: LockId,
        waiter: &Arc<Waiter>,
        timeout_ms: u64,
    ) -> Result<(), EngineError> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.current_waits.fetch_add(1, Ordering::Relaxed);
        let started_ns = os::clock::monotonic_ns();
        let result = if self.closes_cycle(owner.id, id) {
            Err(EngineError::Deadlock)
        } else {
            let _state = os::account::enter(os::account::State::RowLockWait);
            waiter.wait(started_ns, timeout_ms, owner.interrupt.as_deref())
        };
        self.detector.lock().remove(&owner.id);
        let waited_us = os::clock::monotonic_ns().saturating_sub(started_ns) / 1000;
        self.wait_us.fetch_add(waited_us, Ordering::Relaxed);
        self.current_waits.fetch_sub(1, Ordering::Relaxed);
        let Err(error) = result else { return Ok(()) };
        // The lock may have been granted while the wait was being given up.
        if !self.withdraw(id, waiter) {
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
        let lock = shard.get_mut(&id.0).expect("a lock with a waiter is in the map");
        lock.remove_waiter(waiter);
        lock.grant_waiters();
        if lock.is_unused() {
            shard.remove(&id.0);
        }
        true
    }

    fn release_id(&self, owner: OwnerId, id: LockId) {
        let mut shard = self.shard(id).lock();
        let lock = shard.get_mut(&id.0).expect("a held lock is in the map");
        lock.release(owner);
        lock.grant_waiters();
        if lock.is_unused() {
            shard.remove(&id.0);
        }
    }

    /// Releases everything that the owner holds.
    pub fn release_all(&self, owner: &mut LockOwner) {
        for id in owner.held.drain(..) {
            self.release_id(owner.id, id);
        }
    }

    /// Locks held or waited for, for `SHOW ENGINE INNODB STATUS`.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }
}

#[cfg(test)]
mod tests;
