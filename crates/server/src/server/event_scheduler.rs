//! The state of the event scheduler: the daemon that SHOW PROCESSLIST lists while events are run,
//! and the way in which the scheduler's thread hears of changes.

use crate::server::sessions::{SessionEntry, Sessions};
use os::account::{State, enter};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of the event scheduler, and the means to wake its thread.
#[derive(Default)]
pub struct EventScheduler {
    /// The present daemon. Lock order: before the lock of the sessions.
    present: Mutex<Present>,
    /// Notified when a daemon begins, and at the end of the server.
    begins: Condvar,
    /// The number of changes of events by clients. `SeqCst`, as the wait for it requires.
    changes: AtomicU64,
}

#[derive(Default)]
struct Present {
    /// The daemon. `None` means that the scheduler is stopped.
    daemon: Option<Arc<SessionEntry>>,
    /// True at the end of the server, when no daemon may begin any more.
    is_closed: bool,
}

impl Present {
    fn is(&self, entry: &SessionEntry) -> bool {
        self.daemon.as_ref().is_some_and(|daemon| daemon.id == entry.id)
    }
}

impl EventScheduler {
    /// Starts the daemon, so that events are run from now on.
    pub fn start(&self, sessions: &Sessions) {
        let mut present = self.present.lock();
        if present.daemon.is_some() || present.is_closed {
            return;
        }
        let entry = sessions.add_daemon("event_scheduler");
        log::info!("Event Scheduler: scheduler thread started with id {}", entry.id);
        present.daemon = Some(entry);
        self.begins.notify_one();
    }

    /// Stops the daemon, so that no event begins to run any more. Running events go on.
    pub fn stop(&self, sessions: &Sessions) {
        let Some(entry) = self.present.lock().daemon.take() else { return };
        entry.kill(false);
        sessions.remove(entry.id);
        log::info!("Event Scheduler: Stopped");
    }

    /// Stops the scheduler for ever, at the end of the server.
    pub fn close(&self, sessions: &Sessions) {
        self.present.lock().is_closed = true;
        self.stop(sessions);
        self.begins.notify_one();
    }

    /// Notes that a client has made, altered or dropped an event.
    pub fn events_changed(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        if let Some(daemon) = &self.present.lock().daemon {
            daemon.wake();
        }
    }

    /// Returns the number of changes of events by clients.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// Waits until there is a daemon. `None` means that the server ends.
    pub fn daemon(&self) -> Option<Arc<SessionEntry>> {
        let _waiting = enter(State::Idle);
        let mut present = self.present.lock();
        while present.daemon.is_none() && !present.is_closed {
            self.begins.wait(&mut present);
        }
        present.daemon.clone()
    }

    /// Notes that the daemon has ended by itself.
    pub fn ended(&self, sessions: &Sessions, entry: &SessionEntry) {
        let mut present = self.present.lock();
        if present.is(entry) {
            present.daemon = None;
            sessions.remove(entry.id);
        }
    }

    /// Calls `act` while the daemon cannot be stopped, unless it has been stopped before.
    pub fn unless_stopped(&self, entry: &SessionEntry, act: impl FnOnce()) {
        let present = self.present.lock();
        if present.is(entry) && !entry.is_killed() {
            act();
        }
    }
}
