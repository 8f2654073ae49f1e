//! LRU flushers: each instance has one thread that is woken when its free frames run low, evicts
//! clean pages from the end of the LRU list and writes dirty ones there. The flushers depend on
//! nobody: neither on the page cleaners, which may be busy with a checkpoint's pages, nor on each
//! other.

use std::time::Duration;

use os::account::{State, enter};

use crate::free_frames::FreeFrames;
use crate::instance::Instance;

/// How long a flusher waits before it looks around unasked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs the flusher's thread until the instance's bell is stopped. `number` is the instance's
/// number for messages.
pub(crate) fn run(free_frames: &FreeFrames, instance: &Instance, number: usize) {
    let mut failing = false;
    while instance.lru_bell.wait(PATIENCE) {
        let outcome = {
            let _flushing = enter(State::LruFlush);
            free_frames.make_frames_free(instance)
        };
        if let (Err(error), false) = (&outcome, failing) {
            log::error!("the LRU flusher of instance {number} cannot write: {error}");
        }
        failing = outcome.is_err();
    }
}
