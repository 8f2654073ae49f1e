//! One lock: who holds it and who waits for it, in order.
//!
//! Nearly every lock has one holder and nobody who waits, and a transaction may hold millions of them: such a lock takes no more than its
//! holder's number.

use super::wait::Waiter;
use super::{LockType, OwnerId};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// A granted request.
#[derive(Clone, Copy)]
pub(super) struct Grant {
    pub owner: OwnerId,
    pub mode: LockType,
}

/// What became of a request.
pub(super) enum Request {
    /// Held already, in this mode or a stronger one.
    Held,
    /// Held in S, now held in X.
    Upgraded,
    Granted,
    /// Somebody stands against it.
    Blocked,
}

/// A lock.
#[derive(Default)]
pub(super) enum Lock {
    #[default]
    Unused,
    /// One holder, and nobody waits.
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

    /// Enters a blocked request into the queue: an upgrade in front.
    pub fn enqueue(&mut self, owner: OwnerId, mode: LockType) -> Arc<Waiter> {
        self.queue().enqueue(owner, mode)
    }

    /// Grants S beside somebody who has it, whoever waits; false where the owner has it already.
    pub fn join(&mut self, owner: OwnerId) -> bool {
        self.queue().join(owner)
    }

    /// The lock as one that others share or wait for.
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

    /// Grants the waiters at the front of the queue that nothing stands against any more.
    pub fn grant_waiters(&mut self) {
        if let Lock::Queue(queue) = self {
            queue.grant_waiters();
        }
    }

    pub fn is_unused(&self) -> bool {
        match self {
            Lock::Unused => true,
            Lock::Held(_) => false,
            Lock::Queue(queue) => queue.granted.is_empty() && queue.waiters.is_empty(),
        }
    }

    /// The owners that must let go before this owner's waiting request is granted; none when it does not wait here.
    pub fn blockers(&self, owner: OwnerId, out: &mut Vec<OwnerId>) {
        if let Lock::Queue(queue) = self {
            queue.blockers(owner, out);
        }
    }
}

impl Grant {
    /// The holder asks again; nobody else holds the lock.
    fn strengthen(&mut self, mode: LockType) -> Request {
        if mode == LockType::Shared || self.mode == LockType::Exclusive {
            return Request::Held;
        }
        self.mode = LockType::Exclusive;
        Request::Upgraded
    }
}

/// Holders and waiters.
#[derive(Default)]
pub(super) struct Queue {
    granted: SmallVec<[Grant; 2]>,
    waiters: VecDeque<Arc<Waiter>>,
}

impl Queue {
    fn request(&mut self, owner: OwnerId, mode: LockType) -> Request {
        if let Some(at) = self.granted.iter().position(|grant| grant.owner == owner) {
            if mode == LockType::Shared || self.granted[at].mode == LockType::Exclusive {
                return Request::Held;
            }
            return if self.granted.len() == 1 {
                self.granted[at].strengthen(mode)
            } else {
                Request::Blocked
            };
        }
        if self.waiters.is_empty() && !self.granted.iter().any(|grant| grant.mode.conflicts(mode)) {
            self.granted.push(Grant { owner, mode });
            return Request::Granted;
        }
        Request::Blocked
    }

    fn join(&mut self, owner: OwnerId) -> bool {
        let is_new = !self.granted.iter().any(|grant| grant.owner == owner);
        if is_new {
            let shared = |grant: &Grant| grant.mode == LockType::Shared;
            assert!(!self.granted.is_empty() && self.granted.iter().all(shared), "somebody has it in S");
            self.granted.push(Grant { owner, mode: LockType::Shared });
        }
        is_new
    }

    fn enqueue(&mut self, owner: OwnerId, mode: LockType) -> Arc<Waiter> {
        let upgrade = self.granted.iter().any(|grant| grant.owner == owner);
        let waiter = Arc::new(Waiter::new(owner, mode, upgrade));
        if upgrade {
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
        while let Some(waiter) = self.waiters.front() {
            let blocked = self
                .granted
                .iter()
                .any(|grant| grant.owner != waiter.owner && grant.mode.conflicts(waiter.mode));
            if blocked {
                return;
            }
            let waiter = self.waiters.pop_front().expect("front exists");
            match self.granted.iter_mut().find(|grant| grant.owner == waiter.owner) {
                Some(grant) => grant.mode = waiter.mode,
                None => self.granted.push(Grant { owner: waiter.owner, mode: waiter.mode }),
            }
            waiter.grant();
        }
    }

    fn blockers(&self, owner: OwnerId, out: &mut Vec<OwnerId>) {
        let Some(at) = self.waiters.iter().position(|waiter| waiter.owner == owner) else { return };
        let mode = self.waiters[at].mode;
        let ahead = self.waiters.iter().take(at).map(|waiter| (waiter.owner, waiter.mode));
        let holders = self.granted.iter().map(|grant| (grant.owner, grant.mode));
        out.extend(
            holders
                .chain(ahead)
                .filter(|(other, held)| *other != owner && held.conflicts(mode))
                .map(|(o, _)| o),
        );
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
