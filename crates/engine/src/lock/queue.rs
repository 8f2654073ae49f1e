//! One lock: the owners that hold it and the owners that wait for it, in order.
//!
//! Nearly every lock has one holder and no waiter, and a transaction may hold millions of locks. A
//! lock with one holder therefore takes no more memory than the holder's number and mode.

use super::mode::{LockType, OwnerId};
use super::wait::Waiter;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// A granted request.
#[derive(Clone, Copy)]
pub(super) struct Grant {
    pub owner: OwnerId,
    pub mode: LockType,
}

/// The outcome of a request.
pub(super) enum Request {
    /// The owner holds the lock already, in this mode or a stronger one.
    Held,
    /// The owner held the lock in a weaker mode before.
    Upgraded,
    Granted,
    /// Another owner is in the way.
    Blocked,
}

/// A lock.
#[derive(Default)]
pub(super) enum Lock {
    #[default]
    Unused,
    /// A lock with one holder and no waiter.
    Held(Grant),
    Queue(Box<Queue>),
}

impl Lock {
    pub fn request(&mut self, owner: OwnerId, mode: LockType) -> Request {
        match self {
            Lock::Unused => {
                *self = Lock::Held(Grant { owner, mode });
                Request::Granted
            }
            Lock::Held(grant) if grant.owner == owner => grant.strengthen(mode),
            Lock::Held(grant) if grant.mode.conflicts(mode) => Request::Blocked,
            Lock::Held(_) | Lock::Queue(_) => self.queue().request(owner, mode),
        }
    }

    /// Enters a blocked request into the queue. An upgrade goes to the front.
    pub fn enqueue(&mut self, owner: OwnerId, mode: LockType) -> Arc<Waiter> {
        self.queue().enqueue(owner, mode)
    }

    /// Grants a shared mode beside an owner that has the lock in this mode, no matter who waits.
    /// Returns false when the owner has the lock already.
    pub fn join(&mut self, owner: OwnerId, mode: LockType) -> bool {
        self.queue().join(owner, mode)
    }

    /// Returns the queue of the lock, which the lock gets if it has none.
    fn queue(&mut self) -> &mut Queue {
        if !matches!(self, Lock::Queue(_)) {
            let mut queue = Box::<Queue>::default();
            if let Lock::Held(grant) = self {
                queue.granted.push(*grant);
            }
            *self = Lock::Queue(queue);
        }
        match self {
            Lock::Queue(queue) => queue,
            _ => unreachable!("it has just become one"),
        }
    }

    pub fn release(&mut self, owner: OwnerId) {
        match self {
            Lock::Held(grant) if grant.owner == owner => *self = Lock::Unused,
            Lock::Queue(queue) => queue.release(owner),
            _ => panic!("an owner releases what it holds"),
        }
    }

    pub fn remove_waiter(&mut self, waiter: &Arc<Waiter>) {
        if let Lock::Queue(queue) = self {
            queue.waiters.retain(|other| !Arc::ptr_eq(other, waiter));
        }
    }

    /// Grants the waiting requests that nothing is in the way of any more.
    pub fn grant_waiters(&mut self) {
        if let Lock::Queue(queue) = self {
            queue.grant_waiters();
        }
    }

    pub fn for_each_grant(&self, mut visit: impl FnMut(Grant)) {
        match self {
            Lock::Unused => {}
            Lock::Held(grant) => visit(*grant),
            Lock::Queue(queue) => queue.granted.iter().copied().for_each(visit),
        }
    }

    pub fn for_each_waiter(&self, mut visit: impl FnMut(Grant)) {
        if let Lock::Queue(queue) = self {
            queue.waiters.iter().for_each(|waiter| visit(Grant { owner: waiter.owner, mode: waiter.mode }));
        }
    }

    pub fn is_unused(&self) -> bool {
        match self {
            Lock::Unused => true,
            Lock::Held(_) => false,
            Lock::Queue(queue) => queue.granted.is_empty() && queue.waiters.is_empty(),
        }
    }

    /// Appends the owners that must release their locks before this owner's waiting request is
    /// granted. It appends none when the owner does not wait for this lock.
    pub fn blockers(&self, owner: OwnerId, out: &mut Vec<OwnerId>) {
        if let Lock::Queue(queue) = self {
            queue.blockers(owner, out);
        }
    }
}

impl Grant {
    /// Strengthens the grant when the holder asks again. No other owner may be in the way.
    fn strengthen(&mut self, mode: LockType) -> Request {
        let wanted = self.mode.join(mode);
        if wanted == self.mode {
            return Request::Held;
        }
        self.mode = wanted;
        Request::Upgraded
    }
}

/// The holders and the waiters of a lock.
#[derive(Default)]
pub(super) struct Queue {
    granted: SmallVec<[Grant; 2]>,
    waiters: VecDeque<Arc<Waiter>>,
}

impl Queue {
    fn request(&mut self, owner: OwnerId, mode: LockType) -> Request {
        if let Some(at) = self.granted.iter().position(|grant| grant.owner == owner) {
            let wanted = self.granted[at].mode.join(mode);
            if wanted != self.granted[at].mode && self.is_held_against(owner, wanted) {
                return Request::Blocked;
            }
            return self.granted[at].strengthen(mode);
        }
        let is_waited_against = self.waiters.iter().any(|waiter| waiter.mode.is_before(mode));
        if is_waited_against || self.is_held_against(owner, mode) {
            return Request::Blocked;
        }
        self.granted.push(Grant { owner, mode });
        Request::Granted
    }

    /// Reports whether another owner holds the lock in a mode that conflicts with this one.
    fn is_held_against(&self, owner: OwnerId, mode: LockType) -> bool {
        self.granted.iter().any(|grant| grant.owner != owner && grant.mode.conflicts(mode))
    }

    fn join(&mut self, owner: OwnerId, mode: LockType) -> bool {
        let is_new = !self.granted.iter().any(|grant| grant.owner == owner);
        if is_new {
            let has_it = self.granted.iter().any(|grant| grant.mode == mode);
            assert!(has_it && !mode.conflicts(mode), "somebody shares it in this mode");
            self.granted.push(Grant { owner, mode });
        }
        is_new
    }

    fn enqueue(&mut self, owner: OwnerId, mode: LockType) -> Arc<Waiter> {
        let waits = self.waiters.iter().any(|waiter| waiter.owner == owner);
        assert!(!waits, "the owner {owner} waits in the queue already");
        let held = self.granted.iter().find(|grant| grant.owner == owner);
        let wanted = held.map_or(mode, |grant| grant.mode.join(mode));
        let waiter = Arc::new(Waiter::new(owner, wanted, held.is_some()));
        if waiter.upgrade {
            self.waiters.push_front(waiter.clone());
        } else {
            self.waiters.push_back(waiter.clone());
        }
        waiter
    }

    fn release(&mut self, owner: OwnerId) {
        let at = self.granted.iter().position(|grant| grant.owner == owner);
        self.granted.swap_remove(at.expect("an owner releases what it holds"));
    }

    fn grant_waiters(&mut self) {
        let mut at = 0;
        while let Some(waiter) = self.waiters.get(at) {
            let behind = self.waiters.iter().take(at).any(|ahead| ahead.mode.is_before(waiter.mode));
            if behind || self.is_held_against(waiter.owner, waiter.mode) {
                if waiter.mode == LockType::Exclusive {
                    // No waiter passes one that wants the lock exclusively.
                    return;
                }
                at += 1;
                continue;
            }
            let waiter = self.waiters.remove(at).expect("it has just been looked at");
            assert!(!waiter.is_granted(), "a request that is granted is in no queue");
            match self.granted.iter_mut().find(|grant| grant.owner == waiter.owner) {
                Some(grant) => {
                    assert!(waiter.upgrade, "the owner {} gets a lock anew that it holds", grant.owner);
                    grant.mode = waiter.mode;
                }
                None => self.granted.push(Grant { owner: waiter.owner, mode: waiter.mode }),
            }
            waiter.grant();
        }
    }

    fn blockers(&self, owner: OwnerId, out: &mut Vec<OwnerId>) {
        let Some(at) = self.waiters.iter().position(|waiter| waiter.owner == owner) else { return };
        let mode = self.waiters[at].mode;
        let ahead = self.waiters.iter().take(at).filter(|waiter| waiter.mode.is_before(mode));
        let holders = self.granted.iter().filter(|grant| grant.mode.conflicts(mode));
        let owners = holders.map(|grant| grant.owner).chain(ahead.map(|waiter| waiter.owner));
        out.extend(owners.filter(|other| *other != owner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_one_holder_is_small() {
        assert!(size_of::<Lock>() <= 16, "{} bytes", size_of::<Lock>());
    }
}
