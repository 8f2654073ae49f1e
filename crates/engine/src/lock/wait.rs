//! One wait of one owner, which ends when it is granted, chosen as a deadlock's victim, timed out
//! or interrupted.

use super::id::RowName;
use super::mode::{LockType, OwnerId};
use crate::error::EngineError;
use os::sync::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The interval at which a waiting owner looks at its interrupt flag.
const INTERRUPT_POLL: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Granted,
    /// The wait was chosen to be ended, to break a cycle of waits.
    Victim,
}

/// The conditions under which a wait ends, and its description for reports.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// The longest wait, in milliseconds.
    pub timeout_ms: u64,
    /// Returns a text for reports that names what is waited for.
    pub describe: &'a dyn Fn() -> String,
    /// Returns the row that is waited for or that is to be inserted. `None` means a wait for
    /// metadata.
    pub row: Option<&'a dyn Fn() -> RowName>,
}

/// A request that waits. Its mutex is a leaf.
pub(super) struct Waiter {
    pub owner: OwnerId,
    pub mode: LockType,
    /// Whether the owner holds the lock already, in a weaker mode.
    pub upgrade: bool,
    state: Mutex<State>,
    changed: Condvar,
}

impl Waiter {
    pub fn new(owner: OwnerId, mode: LockType, upgrade: bool) -> Waiter {
        Waiter { owner, mode, upgrade, state: Mutex::new(State::Waiting), changed: Condvar::new() }
    }

    /// Waits until the request is granted. The timeout counts from `started_ns`, nanoseconds of the
    /// monotonic clock.
    pub fn wait(
        &self,
        started_ns: u64,
        timeout_ms: u64,
        interrupt: Option<&AtomicBool>,
    ) -> Result<(), EngineError> {
        let mut state = self.state.lock();
        loop {
            match *state {
                State::Granted => return Ok(()),
                State::Victim => return Err(EngineError::Deadlock),
                State::Waiting => {}
            }
            if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(EngineError::Interrupted);
            }
            let waited = Duration::from_nanos(os::clock::monotonic_ns().saturating_sub(started_ns));
            let left = Duration::from_millis(timeout_ms).saturating_sub(waited);
            if left.is_zero() {
                return Err(EngineError::LockWaitTimeout);
            }
            let step = if interrupt.is_some() { left.min(INTERRUPT_POLL) } else { left };
            self.changed.wait_for(&mut state, step);
        }
    }

    pub fn is_waiting(&self) -> bool {
        *self.state.lock() == State::Waiting
    }

    pub fn is_granted(&self) -> bool {
        *self.state.lock() == State::Granted
    }

    /// Grants the request. A victim that has not left its queue yet may still be granted. Then it
    /// holds the lock and goes on.
    pub fn grant(&self) {
        *self.state.lock() = State::Granted;
        self.changed.notify_one();
    }

    /// Ends the wait as that of a deadlock's victim. Returns false when the request was no longer
    /// waiting.
    pub fn give_up(&self) -> bool {
        let mut state = self.state.lock();
        if *state != State::Waiting {
            return false;
        }
        *state = State::Victim;
        self.changed.notify_one();
        true
    }
}
