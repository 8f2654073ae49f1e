//! Waking and stopping the engine's own threads.

use os::thread::JoinHandle;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the engine's threads look for work when nobody wakes them.
pub(crate) const CHECKPOINT_PERIOD: Duration = Duration::from_secs(1);
pub(crate) const PURGE_PERIOD: Duration = Duration::from_millis(10);
pub(crate) const EMPTYING_PERIOD: Duration = Duration::from_millis(100);

/// The state by which the engine's threads are woken and stopped.
#[derive(Default)]
pub(crate) struct Background {
    pub stop: AtomicBool,
    /// Whether the log has asked for space.
    pub space_needed: Mutex<bool>,
    pub wake: Condvar,
    pub threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Background {
    /// Waits until a checkpoint is due. Returns true when the log asked for space.
    pub fn wait_for_checkpoint(&self) -> bool {
        let mut needed = self.space_needed.lock();
        if !*needed && !self.stop.load(Ordering::Acquire) {
            let _state = os::account::enter(os::account::State::Idle);
            self.wake.wait_for(&mut needed, CHECKPOINT_PERIOD);
        }
        std::mem::take(&mut *needed)
    }

    /// Reports whether the engine's threads are to end.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Ends the threads, and waits until they have ended.
    pub fn stop_threads(&self) {
        self.stop.store(true, Ordering::Release);
        *self.space_needed.lock() = true;
        self.wake.notify_all();
        for thread in self.threads.lock().drain(..) {
            // One of the threads may itself drop the last reference to the engine, and cannot join
            // itself.
            if !os::thread::is_current(&thread) && thread.join().is_err() {
                log::error!("InnoDB: A background thread panicked");
            }
        }
    }
}
