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
use crate::Engine;
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

/// Who holds commits back, and who waits for that.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    fn hold(&self, sequencer: &Sequencer) {
        let mut state = self.state.lock();
        state.holds += 1;
        // Such a statement may wait for a transaction to end, which therefore can still commit.
        while state.ddl_running > 0 {
            self.changed.wait(&mut state);
        }
        sequencer.close();
        state.closed = true;
    }

    fn let_go(&self, sequencer: &Sequencer) {
        let mut state = self.state.lock();
        state.holds -= 1;
        if state.holds == 0 {
            sequencer.open();
            state.closed = false;
            self.changed.notify_all();
        }
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
    engine: Arc<Engine>,
}

impl Drop for CommitHold {
    fn drop(&mut self) {
        self.engine.commit_gate.let_go(&self.engine.sequencer);
    }
}

/// A statement that changes definitions is under way.
pub struct DdlPass<'e> {
    gate: &'e Gate,
}

impl Drop for DdlPass<'_> {
    fn drop(&mut self) {
        self.gate.state.lock().ddl_running -= 1;
        self.gate.changed.notify_all();
    }
}

impl Engine {
    /// Holds back all commits. Returns when those under way are visible.
    pub fn hold_commits(self: &Arc<Engine>) -> CommitHold {
        self.commit_gate.hold(&self.sequencer);
        CommitHold { engine: self.clone() }
    }

    /// Announces a statement that changes definitions; waits while commits are held back, as for a
    /// lock: for `timeout_ms` at most (the engine's `lock_wait_timeout` when none is given), and
    /// until `interrupt` becomes true. Whoever holds commits back may wait for this session's
    /// locks.
    pub fn enter_ddl(&self, timeout_ms: Option<u64>, interrupt: Option<&AtomicBool>) -> Result<DdlPass<'_>> {
        let gate = &self.commit_gate;
        let limit = Duration::from_millis(timeout_ms.unwrap_or(self.config.lock_wait_timeout_ms));
        let waited = Stopwatch::start();
        let mut state = gate.state.lock();
        while state.holds > 0 {
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                return Err(EngineError::Interrupted);
            }
            let rest = waited.remaining(limit);
            if rest.is_zero() {
                return Err(EngineError::LockWaitTimeout);
            }
            // Nobody wakes it for an interrupt.
            let _woken = gate.changed.wait_for(&mut state, rest.min(INTERRUPT_POLL));
        }
        state.ddl_running += 1;
        Ok(DdlPass { gate })
    }
}
