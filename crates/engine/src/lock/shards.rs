//! All row and metadata locks, spread over shards by their fingerprints.
//!
//! A request is granted here, or it is left in the lock's queue with a [`Waiter`]. Waiting for the
//! grant is up to the caller. No shard is locked while another is.
//!
//! Invariants:
//! - A lock that is waited for or held is in exactly one shard's map. A lock that is neither is in
//!   none.
//! - A lock that an owner's `held` names is granted to that owner here.

use super::id::{FingerprintMap, LockId};
use super::mode::{Acquired, LockType, OwnerId};
use super::owner::LockOwner;
use super::queue::{Grant, Lock, Request};
use super::wait::Waiter;
use os::sync::Mutex;
use std::collections::hash_map::Entry;
use std::sync::Arc;

const SHARDS: usize = 128;

/// A lock that an owner holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLock {
    pub id: LockId,
    pub owner: OwnerId,
    pub mode: LockType,
}

/// The locks of one shard.
#[derive(Default)]
struct Shard {
    locks: FingerprintMap<Lock>,
    /// The newest commit whose row locks were released in this shard; see the header of [`super`].
    released_seq: u64,
}

impl Shard {
    /// Returns the newest commit that an owner which is granted this lock has to see. It is 0 for
    /// metadata locks: every plain read takes them, and they bring no dependency.
    fn released_before(&self, id: LockId) -> u64 {
        if id.is_row() { self.released_seq } else { 0 }
    }

    /// Releases the lock of an owner that has committed under `seq`. 0 means that the owner has not
    /// committed.
    fn release(&mut self, owner: OwnerId, id: LockId, seq: u64) {
        if id.is_row() {
            self.released_seq = self.released_seq.max(seq);
        }
        let Entry::Occupied(mut entry) = self.locks.entry(id.0) else { panic!("a held lock is in the map") };
        let lock = entry.get_mut();
        lock.release(owner);
        lock.grant_waiters();
        if lock.is_unused() {
            entry.remove();
        }
    }
}

/// All row and metadata locks of an engine.
pub(super) struct Shards(Box<[Mutex<Shard>]>);

impl Shards {
    pub fn new() -> Shards {
        Shards((0..SHARDS).map(|_| Mutex::default()).collect())
    }

    /// Returns the number of the shard that a lock is in.
    pub fn place_of(&self, id: LockId) -> usize {
        (id.0 >> 32) as usize % SHARDS
    }

    fn shard(&self, id: LockId) -> &Mutex<Shard> {
        &self.0[self.place_of(id)]
    }

    /// Notes a commit whose rows were not locked and might be in any shard.
    pub fn note_released(&self, seq: u64) {
        for shard in &self.0 {
            let mut shard = shard.lock();
            shard.released_seq = shard.released_seq.max(seq);
        }
    }

    /// Takes a lock. If another owner is in the way, enters the request into the lock's queue and
    /// returns the waiting request as the error.
    pub fn acquire(
        &self,
        owner: &mut LockOwner,
        id: LockId,
        mode: LockType,
    ) -> Result<Acquired, Arc<Waiter>> {
        let mut guard = self.shard(id).lock();
        let shard = &mut *guard;
        let lock = shard.locks.entry(id.0).or_default();
        let acquired = match lock.request(owner.id, mode) {
            Request::Held => return Ok(Acquired::Held),
            Request::Upgraded => Acquired::Upgraded,
            Request::Granted => {
                owner.held.push(id);
                Acquired::New
            }
            Request::Blocked => return Err(lock.enqueue(owner.id, mode)),
        };
        owner.depend_on(shard.released_before(id));
        Ok(acquired)
    }

    /// Notes that a request which waited has been granted.
    pub fn note_granted(&self, owner: &mut LockOwner, id: LockId, waiter: &Waiter) -> Acquired {
        assert!(waiter.is_granted(), "a wait that succeeds has been granted");
        owner.depend_on(self.shard(id).lock().released_before(id));
        if waiter.upgrade {
            return Acquired::Upgraded;
        }
        owner.held.push(id);
        Acquired::New
    }

    /// Takes a lock if no other owner is in the way.
    pub fn try_acquire(&self, owner: &mut LockOwner, id: LockId, mode: LockType) -> Option<Acquired> {
        let mut shard = self.shard(id).lock();
        let acquired = match shard.locks.entry(id.0).or_default().request(owner.id, mode) {
            Request::Held => return Some(Acquired::Held),
            Request::Upgraded => Acquired::Upgraded,
            Request::Granted => {
                owner.held.push(id);
                Acquired::New
            }
            // The owner in the way keeps the entry in use, so it need not be removed.
            Request::Blocked => return None,
        };
        owner.depend_on(shard.released_before(id));
        Some(acquired)
    }

    /// Takes a lock in the mode in which another owner has it. The mode must be one that owners
    /// share, and the other owner must hold the lock until this function returns. Waiting owners
    /// are passed.
    pub fn share(&self, owner: &mut LockOwner, id: LockId, mode: LockType) {
        let mut shard = self.shard(id).lock();
        let lock = shard.locks.get_mut(&id.0).expect("a lock that is held is in the map");
        if lock.join(owner.id, mode) {
            owner.held.push(id);
        }
    }

    /// Takes a waiter out of its queue. Returns false when its request has been granted already.
    pub fn withdraw(&self, id: LockId, waiter: &Arc<Waiter>) -> bool {
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

    /// Releases a lock of an owner that has committed under `seq`. 0 means that the owner has not
    /// committed. The caller has taken the lock out of the owner's list.
    pub fn release(&self, owner: OwnerId, id: LockId, seq: u64) {
        self.shard(id).lock().release(owner, id, seq);
    }

    /// Appends the owners that must release their locks before this owner's waiting request is
    /// granted.
    pub fn blockers(&self, owner: OwnerId, id: LockId, out: &mut Vec<OwnerId>) {
        if let Some(lock) = self.shard(id).lock().locks.get(&id.0) {
            lock.blockers(owner, out);
        }
    }

    /// Returns every lock that is held, including metadata locks. Shards are read one after the
    /// other, so that nothing is stopped for the report, and it may or may not show changes that
    /// happen meanwhile.
    pub fn held_locks(&self) -> Vec<HeldLock> {
        let mut held = Vec::new();
        for shard in &self.0 {
            for (id, lock) in &shard.lock().locks {
                let id = LockId(*id);
                lock.for_each_grant(|grant| {
                    held.push(HeldLock { id, owner: grant.owner, mode: grant.mode });
                });
            }
        }
        held
    }

    /// Returns every metadata lock that is held or waited for, and whether it is waited for.
    pub fn metadata_locks(&self) -> Vec<(HeldLock, bool)> {
        let mut all = Vec::new();
        for shard in &self.0 {
            for (id, lock) in &shard.lock().locks {
                let id = LockId(*id);
                if id.is_row() {
                    continue;
                }
                let held = |grant: Grant| HeldLock { id, owner: grant.owner, mode: grant.mode };
                lock.for_each_grant(|grant| all.push((held(grant), false)));
                lock.for_each_waiter(|waiter| all.push((held(waiter), true)));
            }
        }
        all
    }

    /// Returns the number of locks that are held or waited for.
    pub fn len(&self) -> usize {
        self.0.iter().map(|shard| shard.lock().locks.len()).sum()
    }
}
