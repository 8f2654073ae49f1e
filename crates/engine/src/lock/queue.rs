//! One lock: who holds it and who waits for it, in order.

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

#[derive(Default)]
pub(super) struct Lock {
    granted: SmallVec<[Grant; 2]>,
    waiters: VecDeque<Arc<Waiter>>,
}

impl Lock {
    pub fn request(&mut self, owner: OwnerId, mode: LockType) -> Request {
        if let Some(at) = self.granted.iter().position(|grant| grant.owner == owner) {
            if mode == LockType::Shared || self.granted[at].mode == LockType::Exclusive {
                return Request::Held;
            }
            if self.granted.len() == 1 {
                self.granted[at].mode = LockType::Exclusive;
                return Request::Upgraded;
            }
            return Request::Blocked;
        }
        if self.waiters.is_empty() && !self.granted.iter().any(|grant| grant.mode.conflicts(mode)) {
            self.granted.push(Grant { owner, mode });
            return Request::Granted;
        }
        Request::Blocked
    }

    /// Grants S beside somebody who has it, whoever waits.
    pub fn join(&mut self, owner: OwnerId) -> bool {
        let is_new = !self.granted.iter().any(|grant| grant.owner == owner);
        if is_new {
            let shared = |grant: &Grant| grant.mode == LockType::Shared;
            assert!(!self.granted.is_empty() && self.granted.iter().all(shared), "somebody has it in S");
            self.granted.push(Grant { owner, mode: LockType::Shared });
        }
        is_new
    }

    /// Enters a blocked request into the queue: an upgrade in front.
    pub fn enqueue(&mut self, owner: OwnerId, mode: LockType) -> Arc<Waiter> {
        let upgrade = self.granted.iter().any(|grant| grant.owner == owner);
        let waiter = Arc::new(Waiter::new(owner, mode, upgrade));
        if upgrade {
            self.waiters.push_front(waiter.clone());
        } else {
            self.waiters.push_back(waiter.clone());
        }
        waiter
    }

    pub fn release(&mut self, owner: OwnerId) {
        let at = self.granted.iter().position(|grant| grant.owner == owner);
        self.granted.swap_remove(at.expect("an owner releases what it holds"));
    }

    pub fn remove_waiter(&mut self, waiter: &Arc<Waiter>) {
        self.waiters.retain(|other| !Arc::ptr_eq(other, waiter));
    }

    /// Grants the waiters at the front of the queue that nothing stands against any more.
    pub fn grant_waiters(&mut self) {
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

    pub fn is_unused(&self) -> bool {
        self.granted.is_empty() && self.waiters.is_empty()
    }

    /// The owners that must let go before this owner's waiting request is granted; none when it does not wait here.
    pub fn blockers(&self, owner: OwnerId, out: &mut Vec<OwnerId>) {
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
