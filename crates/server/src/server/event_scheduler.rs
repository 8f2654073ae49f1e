//! Whether events are run: the daemon that SHOW PROCESSLIST has as long as they are, and how the
//! scheduler's thread hears of changes.

use crate::server::sessions::{SessionEntry, Sessions};
use os::account::{State, enter};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether events are run, and how the scheduler's thread is woken.
#[derive(Default)]
pub struct EventScheduler {
    /// Lock order: before that of the sessions.
    present: Mutex<Present>,
    /// Notified when a daemon begins, and at the end.
    begins: Condvar,
    /// How often clients have changed events. `SeqCst`, as the wait for it asks for.
    changes: AtomicU64,
}

#[derive(Default)]
struct Present {
    /// `None`: the scheduler is stopped.
    daemon: Option<Arc<SessionEntry>>,
    /// The server ends: no daemon begins any more.
    is_closed: bool,
}

impl Present {
    fn is(&self, entry: &SessionEntry) -> bool {
        self.daemon.as_ref().is_some_and(|daemon| daemon.id == entry.id)
    }
}

impl EventScheduler {
    /// Events are run from now on.
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

    /// No event begins to run any more. Those that run go on.
    pub fn stop(&self, sessions: &Sessions) {
        let Some(entry) = self.present.lock().daemon.take() else { return };
        entry.kill(false);
        sessions.remove(entry.id);
        log::info!("Event Scheduler: Stopped");
    }

    /// The server ends.
    pub fn close(&self, sessions: &Sessions) {
        self.present.lock().is_closed = true;
        self.stop(sessions);
        self.begins.notify_one();
    }

    /// A client has made, altered or dropped an event.
    pub fn events_changed(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        if let Some(daemon) = &self.present.lock().daemon {
            daemon.wake();
        }
    }

    /// How often clients have changed events.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// Waits until there is a daemon; `None` at the end of the server.
    pub fn daemon(&self) -> Option<Arc<SessionEntry>> {
        let _waiting = enter(State::Idle);
        let mut present = self.present.lock();
        while present.daemon.is_none() && !present.is_closed {
            self.begins.wait(&mut present);
        }
        present.daemon.clone()
    }

    /// The daemon has ended by itself.
    pub fn ended(&self, sessions: &Sessions, entry: &SessionEntry) {
        let mut present = self.present.lock();
        if present.is(entry) {
            present.daemon = None;
            sessions.remove(entry.id);
        }
    }

    /// Does something while the daemon cannot be stopped, unless it has been.
    pub fn unless_stopped(&self, entry: &SessionEntry, act: impl FnOnce()) {
        let present = self.present.lock();
        if present.is(entry) && !entry.is_killed() {
            act();
        }
    }
}
