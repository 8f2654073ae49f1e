//! One sync of a file for all threads that have written to it before the sync began.

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::error::Result;

/// See the module's head. The mutex is a leaf in the lock order.
#[derive(Debug, Default)]
pub(super) struct SharedSync {
    turn: Mutex<Turn>,
    /// Signalled under `turn` when a sync is over.
    over: Condvar,
}

#[derive(Debug, Default)]
struct Turn {
    /// Writes that have come to their sync.
    written: u64,
    /// As many of them, the first ones, are synced.
    synced: u64,
    syncing: bool,
}

impl SharedSync {
    /// Returns when the caller's write, which is done, is synced: by its own `sync`, or by
    /// another's that began after the write.
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
