//! GET_LOCK(): locks that are a name, which sessions take and give back as they like.
//!
//! A lock that is given back is handed to the session that has waited longest, so that a lock has
//! an owner as long as somebody wants it. A session waits for one lock, and a lock has one owner:
//! who waits for whom is a chain, and a session that would close it is refused.

use crate::server::sessions::{SessionEntry, Waited};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The locks that sessions have taken.
#[derive(Default)]
pub struct UserLocks {
    /// Lock order: behind a session's own list, for a look-up and never while a session waits.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    locks: BTreeMap<String, Lock>,
    /// The lock that each connection waits for.
    waits: BTreeMap<u32, String>,
}

struct Lock {
    /// The connection's id.
    owner: u32,
    /// Sessions that wait, the first in turn in front.
    queue: VecDeque<Arc<SessionEntry>>,
}

/// What came of taking a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// The session has it.
    Taken,
    /// The time was over.
    TimedOut,
    /// Its owner waits for a lock of the session's.
    Deadlock,
    /// The statement was interrupted.
    Killed,
}

impl UserLocks {
    /// Takes a lock that the session does not have; `None` waits for ever.
    pub fn take(&self, name: &str, entry: &Arc<SessionEntry>, timeout: Option<Duration>) -> Taking {
        if let Some(answer) = self.table.lock().take_or_queue(name, entry, timeout) {
            return answer;
        }
        let _waiting = os::account::enter(os::account::State::Sleep);
        let waited = entry.wait_for(timeout, || self.owner(name) == Some(entry.id));
        let mut table = self.table.lock();
        // It may have been handed over since the wait has ended.
        if !table.leave_queue(name, entry.id) {
            return Taking::Taken;
        }
        match waited {
            Waited::Killed => Taking::Killed,
            Waited::TimedOut => Taking::TimedOut,
            Waited::UntilSo => unreachable!("an owner of a lock is not in its queue"),
        }
    }

    /// Gives a lock of the connection's back.
    pub fn release(&self, name: &str, id: u32) {
        let next = self.table.lock().hand_over(name, id);
        if let Some(next) = next {
            next.wake();
        }
    }

    /// The connection that has the lock.
    pub fn owner(&self, name: &str) -> Option<u32> {
        self.table.lock().locks.get(name).map(|lock| lock.owner)
    }
}

impl Table {
    /// `None`: the session is in the queue.
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

    /// Whether the owners of what is waited for lead from one connection to the other. There is no
    /// circle among those that wait, so the way has an end.
    fn ends_at(&self, from: u32, to: u32) -> bool {
        let mut id = from;
        while id != to {
            match self.waits.get(&id).and_then(|name| self.locks.get(name)) {
                Some(lock) => id = lock.owner,
                None => return false,
            }
        }
        true
    }

    /// False: the connection was not in the queue.
    fn leave_queue(&mut self, name: &str, id: u32) -> bool {
        if self.waits.remove(&id).is_none() {
            return false;
        }
        let lock = self.locks.get_mut(name).expect("a lock that is waited for has an owner");
        lock.queue.retain(|waiting| waiting.id != id);
        true
    }

    /// The session that has the lock now.
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
        // In the queues without a thread: c waits for b's, which waits for a's.
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
