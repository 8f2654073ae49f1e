//! Holding commits back (`FLUSH TABLES WITH READ LOCK`). While somebody holds commits back, the
//! committed state does not change, so that a client can take a snapshot and the end of the binary
//! log that belongs to it.
//!
//! A commit is held back before it has its place in the log, with its row locks held. It goes on
//! when the last hold is released. A statement that changes definitions is held back before it
//! begins, because readers would wait for its metadata locks.
//!
//! Lock order: the gate's mutex before the sequencer's. A thread that holds commits back must not
//! commit itself.

use super::sequencer::{ReadOnly, Sequencer};
use crate::error::{EngineError, Result};
use os::clock::Stopwatch;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The interval at which a waiting statement looks whether it has been killed.
const INTERRUPT_POLL: Duration = Duration::from_millis(20);

#[derive(Default)]
struct State {
    holds: usize,
    /// Whether the sequencer lets no commit in.
    closed: bool,
    /// The number of running statements that change definitions.
    ddl_running: usize,
}

/// The holds on commits, and the wait until the last of them is released.
pub(crate) struct Gate {
    sequencer: Arc<Sequencer>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    pub fn new(sequencer: Arc<Sequencer>) -> Gate {
        Gate { sequencer, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Holds back all commits. Returns when the commits that are under way are visible.
    pub fn hold(self: &Arc<Gate>) -> CommitHold {
        let mut state = self.state.lock();
        state.holds += 1;
        // Such a statement may wait for a transaction to end, so that transaction must still be
        // able to commit.
        while state.ddl_running > 0 {
            self.changed.wait(&mut state);
        }
        self.sequencer.close();
        state.closed = true;
        CommitHold { gate: self.clone() }
    }

    fn let_go(&self) {
        let mut state = self.state.lock();
        assert!(state.holds > 0, "a hold is let go once");
        state.holds -= 1;
        if state.holds == 0 {
            self.sequencer.open();
            state.closed = false;
            self.changed.notify_all();
        }
    }

    /// Sets which commits of sessions are refused, to what `now` answers. When it returns, nothing
    /// that it refuses is under way any more: what was let in before is visible.
    pub fn set_read_only(self: &Arc<Gate>, now: impl FnOnce() -> ReadOnly) {
        let hold = self.hold();
        self.sequencer.set_read_only(now);
        drop(hold);
    }

    /// Announces a statement that changes definitions. While commits are held back it waits as for
    /// a lock: for `timeout_ms` milliseconds at most, and until `interrupt` becomes true, because
    /// the session that holds commits back may itself wait for this session's locks.
    pub fn enter_ddl(&self, timeout_ms: u64, interrupt: Option<&AtomicBool>) -> Result<DdlPass<'_>> {
        let limit = Duration::from_millis(timeout_ms);
        let waited = Stopwatch::start();
        let mut state = self.state.lock();
        while state.holds > 0 {
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                return Err(EngineError::Interrupted);
            }
            let rest = waited.remaining(limit);
            if rest.is_zero() {
                return Err(EngineError::LockWaitTimeout);
            }
            // An interrupt wakes nobody, so the wait ends now and then to look for one.
            let _woken = self.changed.wait_for(&mut state, rest.min(INTERRUPT_POLL));
        }
        state.ddl_running += 1;
        Ok(DdlPass { gate: self })
    }

    /// Waits while commits are held back.
    pub fn wait_open(&self) {
        let _state = os::account::enter(os::account::State::CommitOrderWait);
        let mut state = self.state.lock();
        while state.closed {
            self.changed.wait(&mut state);
        }
    }
}

/// A hold on commits: nothing is committed until it is dropped.
pub struct CommitHold {
    gate: Arc<Gate>,
}

impl Drop for CommitHold {
    fn drop(&mut self) {
        self.gate.let_go();
    }
}

/// The pass of a running statement that changes definitions. Dropping it says that the statement
/// has ended.
pub struct DdlPass<'e> {
    gate: &'e Gate,
}

impl Drop for DdlPass<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state.lock();
        assert!(state.ddl_running > 0, "a statement that ends was announced");
        state.ddl_running -= 1;
        drop(state);
        self.gate.changed.notify_all();
    }
}
