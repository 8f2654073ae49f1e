//! LRU flushers: one thread an instance, woken when its free frames run low, that evicts clean
//! pages from the LRU list's end and writes dirty ones there. They depend on nobody: neither on the
//! page cleaners, which may be busy with a checkpoint's pages, nor on each other.

use std::time::Duration;

use os::account::{State, enter};

use crate::free_frames::FreeFrames;
use crate::instance::Instance;

/// How often one looks around unasked.
const PATIENCE: Duration = Duration::from_secs(1);

/// The thread of the instance, whose number is for its messages, until its bell is stopped.
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
