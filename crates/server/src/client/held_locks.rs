//! The user-level locks that a session holds, and how often it has taken each.

use crate::server::Server;
use crate::server::sessions::SessionEntry;
use crate::server::user_locks::Taking;
use parking_lot::Mutex;
use sql::memory::{Budget, Charge};
use sql::{SqlError, UserLocks};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The memory of one lock in bytes, besides its name, which is stored here and in the server's
/// table.
const LOCK_BYTES: usize = 256;

/// The session's user-level locks, which are released when this value is dropped.
pub struct HeldLocks {
    server: Arc<Server>,
    entry: Arc<SessionEntry>,
    /// The locks, which only the connection's own thread uses. Lock order: before the lock of the
    /// server's table, and never held while the session waits.
    held: Mutex<Held>,
}

struct Held {
    times: BTreeMap<String, u64>,
    charge: Charge,
}

impl HeldLocks {
    /// Builds an empty list. The memory of the locks is charged to the session.
    pub fn new(server: Arc<Server>, entry: Arc<SessionEntry>, memory: &Arc<Budget>) -> HeldLocks {
        let held = Held { times: BTreeMap::new(), charge: Charge::new(memory) };
        HeldLocks { server, entry, held: Mutex::new(held) }
    }
}

impl UserLocks for HeldLocks {
    fn take(&self, name: &str, timeout: Option<Duration>) -> sql::Result<bool> {
        {
            let mut held = self.held.lock();
            if let Some(times) = held.times.get_mut(name) {
                *times += 1;
                return Ok(true);
            }
            held.charge.add(charged_bytes(name))?;
        }
        let taking = self.server.user_locks.take(name, &self.entry, timeout);
        let mut held = self.held.lock();
        if taking == Taking::Taken {
            let before = held.times.insert(name.to_owned(), 1);
            assert!(before.is_none(), "a session that waits takes no other locks");
            return Ok(true);
        }
        held.charge.take_away(charged_bytes(name));
        match taking {
            Taking::Deadlock => Err(deadlock()),
            Taking::Killed => Err(SqlError::interrupted()),
            Taking::Taken | Taking::TimedOut => Ok(false),
        }
    }

    fn release(&self, name: &str) -> Option<bool> {
        let mut held = self.held.lock();
        let Some(times) = held.times.get_mut(name) else {
            return self.owner(name).map(|_| false);
        };
        assert!(*times > 0, "a lock that is held was taken at least once");
        *times -= 1;
        if *times == 0 {
            held.times.remove(name);
            held.charge.take_away(charged_bytes(name));
            self.server.user_locks.release(name, self.entry.id);
        }
        Some(true)
    }

    fn release_all(&self) -> u64 {
        let mut held = self.held.lock();
        let all = std::mem::take(&mut held.times);
        held.charge.clear();
        all.keys().for_each(|name| self.server.user_locks.release(name, self.entry.id));
        all.values().sum()
    }

    fn owner(&self, name: &str) -> Option<u32> {
        self.server.user_locks.owner(name)
    }
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        self.release_all();
    }
}

fn charged_bytes(name: &str) -> usize {
    LOCK_BYTES + 2 * name.len()
}

/// Builds error 3058, which reports a deadlock of user-level locks.
fn deadlock() -> SqlError {
    SqlError::new(
        3058,
        "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks \
         and restarting lock acquisition.",
    )
}
