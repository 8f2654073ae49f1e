//! LRU flushers: one thread an instance, woken when its free frames run low, that evicts clean
//! pages from the LRU list's end and writes dirty ones there. They depend on nobody: neither on the
//! page cleaners, which may be busy with a checkpoint's pages, nor on each other.

use std::sync::Weak;
use std::time::Duration;

use os::account::{State, enter};

use crate::bell::Bell;
use crate::pool::Pool;

/// How often one looks around unasked.
const PATIENCE: Duration = Duration::from_secs(1);

/// The thread of instance `number`. It does not keep the pool while it waits: that may be gone
/// without [`Pool::stop`], in a test that has had a power cut.
pub(crate) fn run(pool: &Weak<Pool>, bell: &Bell, number: usize) {
    let mut failing = false;
    while bell.wait(PATIENCE) {
        let Some(pool) = pool.upgrade() else { return };
        let instance = &pool.instances[number];
        let outcome = {
            let _flushing = enter(State::LruFlush);
            pool.make_frames_free(instance)
        };
        if let (Err(error), false) = (&outcome, failing) {
            log::error!("the LRU flusher of instance {number} cannot write: {error}");
        }
        failing = outcome.is_err();
    }
}
