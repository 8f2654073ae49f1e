//! Commits held back (`FLUSH TABLES WITH READ LOCK`): while somebody holds them, what is committed
//! does not change, so that a client can take a snapshot and the end of the binary log that belongs
//! to it.
//!
//! A commit is held back before it has its place in the log, with its row locks; it goes on when
//! the last hold is let go. A statement that changes definitions is held back before it begins,
//! because readers would wait for its metadata locks.
//!
//! Lock order: the gate's mutex before the sequencer's. Whoever holds commits must not commit
//! itself.

use super::sequencer::Sequencer;
use crate::error::{EngineError, Result};
use os::clock::Stopwatch;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a statement that waits looks whether it has been killed.
const INTERRUPT_POLL: Duration = Duration::from_millis(20);

#[derive(Default)]
struct State {
    holds: usize,
    /// The sequencer lets nobody in.
    closed: bool,
    /// Statements that change definitions.
    ddl_running: usize,
}

/// The holds on commits, and the wait until the last of them is let go.
pub(crate) struct Gate {
    sequencer: Arc<Sequencer>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    pub fn new(sequencer: Arc<Sequencer>) -> Gate {
        Gate { sequencer, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Holds back all commits. Returns when those under way are visible.
    pub fn hold(self: &Arc<Gate>) -> CommitHold {
        let mut state = self.state.lock();
        state.holds += 1;
        // Such a statement may wait for a transaction to end, which therefore can still commit.
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

    /// Announces a statement that changes definitions; waits while commits are held back, as for a
    /// lock: for `timeout_ms` at most, and until `interrupt` becomes true. Whoever holds commits
    /// back may wait for this session's locks.
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
            // Nobody wakes it for an interrupt.
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

/// Nothing is committed while it lives.
pub struct CommitHold {
    gate: Arc<Gate>,
}

impl Drop for CommitHold {
    fn drop(&mut self) {
        self.gate.let_go();
    }
}

/// A statement that changes definitions is under way.
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
