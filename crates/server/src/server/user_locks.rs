//! GET_LOCK(): named locks, which sessions take and release as they like.
//!
//! A released lock is handed to the session that has waited longest, so a lock has an owner as long
//! as a session wants it. A session waits for one lock, and a lock has one owner. So the sessions
//! that wait for each other form a chain, and a session that would close a circle is refused.

use crate::server::sessions::{SessionEntry, Waited};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The user-level locks that sessions have taken.
#[derive(Default)]
pub struct UserLocks {
    /// The table of locks. Lock order: behind a session's own list, for a look-up, and never held
    /// while a session waits.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    locks: BTreeMap<String, Lock>,
    /// The lock for which each connection waits, by connection id.
    waits: BTreeMap<u32, String>,
}

struct Lock {
    /// The id of the connection that has the lock.
    owner: u32,
    /// The sessions that wait for the lock, the next one in front.
    queue: VecDeque<Arc<SessionEntry>>,
}

/// The result of an attempt to take a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// The session has the lock.
    Taken,
    /// The time was over before the lock became free.
    TimedOut,
    /// The lock's owner waits, directly or indirectly, for a lock of the session.
    Deadlock,
    /// The waiting statement was interrupted.
    Killed,
}

impl UserLocks {
    /// Takes a lock that the session does not have. Without a timeout it waits for ever.
    pub fn take(&self, name: &str, entry: &Arc<SessionEntry>, timeout: Option<Duration>) -> Taking {
        if let Some(answer) = self.table.lock().take_or_queue(name, entry, timeout) {
            return answer;
        }
        let _waiting = os::account::enter(os::account::State::Sleep);
        let is_owner = || self.owner(name) == Some(entry.id);
        let waited = entry.shown_as("User lock", || entry.wait_for(timeout, is_owner));
        let mut table = self.table.lock();
        // The lock may have been handed over since the wait has ended.
        if !table.leave_queue(name, entry.id) {
            return Taking::Taken;
        }
        match waited {
            Waited::Killed => Taking::Killed,
            Waited::TimedOut => Taking::TimedOut,
            Waited::UntilSo => unreachable!("an owner of a lock is not in its queue"),
        }
    }

    /// Releases a lock of the connection `id`.
    pub fn release(&self, name: &str, id: u32) {
        let next = self.table.lock().hand_over(name, id);
        if let Some(next) = next {
            next.wake();
        }
    }

    /// Returns the id of the connection that has the lock. `None` means that it is free.
    pub fn owner(&self, name: &str) -> Option<u32> {
        self.table.lock().locks.get(name).map(|lock| lock.owner)
    }
}

impl Table {
    /// Takes the lock, or joins its queue, which `None` means.
    fn take_or_queue(
        &mut self,
        name: &str,
        entry: &Arc<SessionEntry>,
        timeout: Option<Duration>,
    ) -> Option<Taking> {
        let Some(lock) = self.locks.get(name) else {
            let lock = Lock { owner: entry.id, queue: VecDeque::new() };
            self.locks.insert(name.to_owned(), lock);
            return Some(Taking::Taken);
        };
        assert_ne!(lock.owner, entry.id, "a session waits for none of its own locks");
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Some(Taking::TimedOut);
        }
        if self.ends_at(lock.owner, entry.id) {
            return Some(Taking::Deadlock);
        }
        self.locks.get_mut(name)?.queue.push_back(entry.clone());
        let before = self.waits.insert(entry.id, name.to_owned());
        assert!(before.is_none(), "a session waits for one lock");
        None
    }

    /// Reports whether the chain of owners that wait leads from connection `from` to connection
    /// `to`. There is no circle among those that wait, so the chain has an end.
    fn ends_at(&self, from: u32, to: u32) -> bool {
        let mut id = from;
        let mut steps = 0;
        while id != to {
            assert!(steps <= self.waits.len(), "there is no circle among those that wait");
            steps += 1;
            match self.waits.get(&id).and_then(|name| self.locks.get(name)) {
                Some(lock) => id = lock.owner,
                None => return false,
            }
        }
        true
    }

    /// Takes the connection out of a lock's queue. Returns false when it was not in the queue.
    fn leave_queue(&mut self, name: &str, id: u32) -> bool {
        if self.waits.remove(&id).is_none() {
            return false;
        }
        let lock = self.locks.get_mut(name).expect("a lock that is waited for has an owner");
        let before = lock.queue.len();
        lock.queue.retain(|waiting| waiting.id != id);
        assert_eq!(lock.queue.len() + 1, before, "a connection that waits is in the queue once");
        true
    }

    /// Releases a lock, and returns the session that has it now.
    fn hand_over(&mut self, name: &str, id: u32) -> Option<Arc<SessionEntry>> {
        let lock = self.locks.get_mut(name).expect("a lock that is given back was taken");
        assert_eq!(lock.owner, id, "a session gives its own locks back");
        let Some(next) = lock.queue.pop_front() else {
            self.locks.remove(name);
            return None;
        };
        lock.owner = next.id;
        let waited = self.waits.remove(&next.id);
        assert_eq!(waited.as_deref(), Some(name), "a session in a queue waits for that lock");
        debug_assert!(
            lock.queue.iter().all(|waiting| waiting.id != lock.owner),
            "the owner of a lock does not wait for it"
        );
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::sessions::Sessions;

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn a_lock_goes_to_the_first_in_its_queue_and_no_circle_is_closed() {
        let (sessions, locks) = (Sessions::default(), UserLocks::default());
        let [a, b, c] = [0; 3].map(|_| sessions.add("localhost".into(), None));
        for (entry, name) in [(&a, "a"), (&b, "b"), (&c, "c")] {
            assert_eq!(locks.take(name, entry, None), Taking::Taken);
        }
        assert_eq!(locks.take("a", &b, AT_ONCE), Taking::TimedOut);
        // The queues are filled without threads: c waits for b's lock, and b for a's.
        assert_eq!(locks.table.lock().take_or_queue("a", &b, None), None);
        assert_eq!(locks.table.lock().take_or_queue("b", &c, None), None);
        assert_eq!(locks.take("c", &a, None), Taking::Deadlock);
        locks.release("a", a.id);
        assert_eq!(locks.owner("a"), Some(b.id));
        // A killed session leaves the queue.
        a.kill(true);
        assert_eq!(locks.take("c", &a, None), Taking::Killed);
        locks.release("b", b.id);
        assert_eq!(locks.owner("b"), Some(c.id));
        for (entry, name) in [(&b, "a"), (&c, "b"), (&c, "c")] {
            locks.release(name, entry.id);
        }
        let table = locks.table.lock();
        assert!(table.locks.is_empty() && table.waits.is_empty());
    }
}
