//! `max_execution_time`: the interruption of statements whose time is over.
//!
//! One thread waits for the nearest deadline. The first statement that has a deadline starts it,
//! and it ends with the process.

use crate::server::sessions::SessionEntry;
use os::account::{State, enter};
use os::clock::Stopwatch;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The deadlines of the running statements.
#[derive(Default)]
pub struct TimeLimits(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The deadlines. No other lock is taken under this one, except what an interruption takes.
    pending: Mutex<Pending>,
    /// Notified when a new deadline is the nearest.
    nearer: Condvar,
}

#[derive(Default)]
struct Pending {
    /// The clock that began with the first limit, and from which deadlines count. `None` means that
    /// no thread runs yet.
    since: Option<Stopwatch>,
    /// The connections by deadline.
    by_deadline: BTreeMap<(Duration, u32), Arc<SessionEntry>>,
    /// The deadline of each connection.
    deadlines: BTreeMap<u32, Duration>,
}

impl TimeLimits {
    /// Interrupts the connection's statement when `limit` has passed, unless [`TimeLimits::end`]
    /// comes before.
    pub fn begin(&self, entry: &Arc<SessionEntry>, limit: Duration) {
        let mut pending = self.0.pending.lock();
        if pending.since.is_none() {
            pending.since = Some(Stopwatch::start());
            let shared = self.0.clone();
            os::thread::spawn("time_limits", move || shared.watch());
        }
        let now = pending.since.as_ref().map_or(Duration::ZERO, Stopwatch::elapsed);
        let deadline = now.saturating_add(limit);
        let replaced = pending.deadlines.insert(entry.id, deadline);
        assert!(replaced.is_none(), "a connection runs one statement at a time");
        pending.by_deadline.insert((deadline, entry.id), entry.clone());
        assert!(pending.by_deadline.len() <= pending.deadlines.len(), "each deadline is a connection's");
        if pending.by_deadline.first_key_value().is_some_and(|((_, id), _)| *id == entry.id) {
            self.0.nearer.notify_one();
        }
    }

    /// Notes that the statement has ended. Returns true when its time limit has interrupted it, and
    /// KILL has not.
    pub fn end(&self, entry: &SessionEntry) -> bool {
        let mut pending = self.0.pending.lock();
        let deadline = pending.deadlines.remove(&entry.id);
        let deadline = deadline.expect("a limit that ends has begun");
        let has_passed = pending.by_deadline.remove(&(deadline, entry.id)).is_none();
        assert!(pending.by_deadline.len() <= pending.deadlines.len(), "each deadline is a connection's");
        // This is done under the lock, so that no interruption comes after it.
        has_passed && entry.end_interrupt()
    }
}

impl Shared {
    fn watch(&self) {
        let mut pending = self.pending.lock();
        loop {
            let now = pending.since.as_ref().map_or(Duration::ZERO, Stopwatch::elapsed);
            let _waiting = enter(State::Idle);
            match pending.by_deadline.first_entry() {
                Some(nearest) if nearest.key().0 <= now => nearest.remove().interrupt(),
                Some(nearest) => {
                    let left = nearest.key().0 - now;
                    self.nearer.wait_for(&mut pending, left);
                }
                None => self.nearer.wait(&mut pending),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::sessions::Sessions;

    #[test]
    fn limits_interrupt_in_their_turn_and_leave_no_trace() {
        let (sessions, limits) = (Sessions::default(), TimeLimits::default());
        let [slow, quick, killed] = [0; 3].map(|_| sessions.add("localhost".into(), None));
        limits.begin(&slow, Duration::from_secs(3600));
        limits.begin(&quick, Duration::from_millis(1));
        limits.begin(&killed, Duration::from_millis(1));
        killed.kill(true);
        assert!(quick.sleep(Duration::from_secs(600)));
        assert!(limits.end(&quick) && !quick.is_killed());
        assert!(!limits.end(&slow) && !slow.is_killed());
        // A statement that both KILL and its time limit ended counts as killed.
        assert!(!limits.end(&killed) && killed.is_killed());
        limits.begin(&quick, Duration::from_secs(3600));
        assert!(!limits.end(&quick));
    }
}
