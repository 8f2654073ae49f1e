//! The log's capacity: checkpoints free it, `free_check` waits for it.
//!
//! Capacity is a limit on what may begin, not on what is under way: a thread asks
//! [`crate::Log::free_check`] before it latches anything, and then reserves what it needs. Beyond
//! the limit there is a reserve of an eighth of the capacity for those under way, and when a huge
//! record exceeds even that, the files grow past the capacity for as long as it takes and the
//! surplus is removed afterwards. So nothing that holds a latch ever waits for a checkpoint, which
//! may need that latch.
//!
//! A thread that writes a lot and that nobody waits for, such as one that commits a million rows,
//! asks [`crate::Log::free_check_in_bulk`] and waits earlier: so there is always room for short
//! commits, which do not wait for the room that it has filled.
//!
//! The capacity can be changed at any time. More is in force at once. Less is asked of the
//! checkpointer at once, and what limits others follows what checkpoints leave, with some room for
//! what comes meanwhile: nobody stands still until the log has become small.

use os::sync::atomic::Ordering;
use std::time::Duration;

use os::account::{self, State};

use crate::checkpoint::{Checkpoint, Slot};
use crate::core::{Core, Counters};
use crate::{Lsn, RedoError};

/// How often a thread that waits for space asks for it again.
const ASK_AGAIN: Duration = Duration::from_millis(50);

impl Core {
    /// Bytes between the checkpoint and the end beyond which nothing new begins.
    fn hard_limit_bytes(&self) -> u64 {
        self.resized() / 8 * 7
    }

    /// Bytes beyond which those who write a lot wait.
    fn bulk_limit_bytes(&self) -> u64 {
        self.resized() / 16 * 11
    }

    /// Bytes beyond which the checkpointer is poked.
    fn soft_limit_bytes(&self) -> u64 {
        self.capacity() / 8 * 5
    }

    /// `innodb_redo_log_capacity`, as it is to be.
    pub fn capacity(&self) -> u64 {
        self.capacity_bytes.load(Ordering::Relaxed)
    }

    /// The capacity in force.
    pub fn resized(&self) -> u64 {
        self.resized_bytes.load(Ordering::Relaxed)
    }

    fn used_bytes(&self) -> u64 {
        self.reserved().saturating_sub(self.checkpoint_lsn())
    }

    /// See [`crate::Log::set_capacity`].
    pub fn set_capacity(&self, bytes: u64) {
        // Checkpoints bring the capacity in force down, too.
        let _checkpoint = self.checkpoint.lock();
        let bytes = bytes.max(crate::LogConfig::MIN_CAPACITY_BYTES);
        let before = self.resized();
        self.capacity_bytes.store(bytes, Ordering::Relaxed);
        self.resized_bytes.store(bytes.max(before), Ordering::Relaxed);
        self.shrink();
        self.files.set_capacity(bytes);
        self.governor.notify_all();
        self.space.notify_all();
        if self.used_bytes() > self.soft_limit_bytes() {
            self.ask_for_space();
        }
    }

    /// Brings the capacity in force down to what is wanted, as far as what the log holds leaves
    /// room for others. Under `checkpoint`.
    fn shrink(&self) {
        let (wanted, in_force) = (self.capacity(), self.resized());
        if in_force > wanted {
            let held = self.used_bytes() / 7 * 8 + wanted / 4;
            self.resized_bytes.store(held.clamp(wanted, in_force), Ordering::Relaxed);
        }
    }

    pub fn checkpoint_lsn(&self) -> Lsn {
        self.checkpoint_lsn.load(Ordering::Acquire)
    }

    /// See [`crate::Log::free_check`].
    pub fn free_check(&self) {
        self.wait_below(Core::hard_limit_bytes);
    }

    /// See [`crate::Log::free_check_in_bulk`].
    pub fn free_check_in_bulk(&self) {
        self.wait_below(Core::bulk_limit_bytes);
    }

    /// Pokes the checkpointer when the log is filling, and waits while it holds more than `limit`
    /// says.
    #[inline]
    fn wait_below(&self, limit: fn(&Core) -> u64) {
        let end = self.reserved();
        let used_bytes = end.saturating_sub(self.checkpoint_lsn());
        if used_bytes <= self.soft_limit_bytes() {
            return;
        }
        let poked = self.poked_lsn.load(Ordering::Relaxed);
        let step = self.capacity() / 32;
        if end >= poked + step
            && self.poked_lsn.compare_exchange(poked, end, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.ask_for_space();
        }
        if used_bytes > limit(self) {
            self.wait_for_space(limit);
        }
    }

    #[cold]
    fn wait_for_space(&self, limit: fn(&Core) -> u64) {
        let _waiting = account::enter(State::LogSpaceWait);
        Counters::count(&self.counters.space_waits, 1);
        loop {
            let waiter = self.space.prepare();
            let is_full = self.used_bytes() > limit(self);
            if !is_full || self.is_stopped() || self.is_closing() {
                return;
            }
            self.ask_for_space();
            waiter.wait(Some(ASK_AGAIN));
        }
    }

    fn ask_for_space(&self) {
        if let Some(hook) = self.space_hook.read().as_ref() {
            hook();
        }
    }

    /// See [`crate::Log::write_checkpoint`].
    pub fn write_checkpoint(&self, lsn: Lsn, state: &[u8]) -> Result<(), RedoError> {
        let _making = account::enter(State::Checkpoint);
        let mut checkpoint = self.checkpoint.lock();
        let (oldest, end) = (self.checkpoint_lsn(), self.reserved());
        assert!(lsn >= oldest && lsn <= end, "checkpoint at {lsn}, the log is {oldest}..{end}");
        // The state may speak of anything that has happened by now.
        self.wait_durable(end)?;
        let mut lives = self.lives.clone();
        lives.forget_before(lsn);
        let slot = Slot {
            sequence: checkpoint.sequence + 1,
            log_id: self.log_id,
            lives,
            checkpoint: Checkpoint { lsn, state: state.to_vec() },
        };
        // A failed write of a slot leaves the one before whole; a failed sync leaves in doubt which
        // of the two a crash would find, and the files between them must not be recycled: both end
        // it here.
        self.slots.write(&slot).map_err(|error| self.fail(&error.to_string()))?;
        checkpoint.sequence += 1;
        self.checkpoint_lsn.store(lsn, Ordering::Release);
        self.shrink();
        if self.files.retire_before(lsn) {
            self.governor.notify_all();
        }
        self.space.notify_all();
        Ok(())
    }
}
