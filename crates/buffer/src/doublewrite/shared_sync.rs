//! Shared syncs: one sync of a file serves all threads that have written to it before the sync
//! began.

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::error::Result;

/// The syncs of one file. The mutex is a leaf in the lock order.
#[derive(Debug, Default)]
pub(super) struct SharedSync {
    turn: Mutex<Turn>,
    /// Signalled under `turn` when a sync is over.
    over: Condvar,
}

#[derive(Debug, Default)]
struct Turn {
    /// The number of writes whose threads have asked for a sync.
    written: u64,
    /// The number of writes that are synced. They are the first ones of `written`.
    synced: u64,
    syncing: bool,
}

impl SharedSync {
    /// Returns when the caller's write, which is complete, is synced: by the caller's own `sync`,
    /// or by another thread's that began after the write.
    pub fn after_write(&self, sync: impl Fn() -> Result<()>) -> Result<()> {
        let mut turn = self.turn.lock();
        turn.written += 1;
        let own = turn.written;
        while turn.synced < own {
            if turn.syncing {
                self.over.wait(&mut turn);
                continue;
            }
            turn.syncing = true;
            let covered = turn.written;
            let outcome = MutexGuard::unlocked(&mut turn, &sync);
            turn.syncing = false;
            self.over.notify_all();
            outcome?;
            turn.synced = covered;
        }
        Ok(())
    }
}
