//! The log's capacity: what is used of it, what is wanted, and where it limits others.
//! [`crate::make_space`] has what frees it and who waits for it.
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

use os::sync::RwLock;
use os::sync::atomic::{AtomicU64, Ordering};

use os::event::Event;

use crate::{LogConfig, Lsn};

/// What [`Space::ask`] calls: it has a checkpoint made.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

/// Where the log begins, how long it may be, and who is asked to make it shorter.
///
/// Invariant: the capacity in force is at least the one that is wanted.
pub(crate) struct Space {
    /// `innodb_redo_log_capacity` as it is to be. Relaxed, as the next: a limit that may be seen a
    /// moment late.
    wanted_bytes: AtomicU64,
    /// The capacity in force: more, while the log is being made smaller and still holds more.
    in_force_bytes: AtomicU64,
    /// Start of the newest durable checkpoint. `Release` after it is synced, `Acquire`; only a
    /// later one is ever stored.
    checkpoint_lsn: AtomicU64,
    /// Position up to which the checkpointer was poked last, so that it is poked once a stretch and
    /// not by every commit. Relaxed: a hint.
    poked_lsn: AtomicU64,
    /// The checkpoint has advanced, the capacity has grown, or the log was stopped.
    pub freed: Event,
    hook: RwLock<Option<Hook>>,
}

impl Space {
    pub fn new(capacity_bytes: u64, checkpoint_lsn: Lsn) -> Space {
        Space {
            wanted_bytes: AtomicU64::new(capacity_bytes),
            in_force_bytes: AtomicU64::new(capacity_bytes),
            checkpoint_lsn: AtomicU64::new(checkpoint_lsn),
            poked_lsn: AtomicU64::new(0),
            freed: Event::new(),
            hook: RwLock::new(None),
        }
    }

    /// `innodb_redo_log_capacity`, as it is to be.
    pub fn wanted_bytes(&self) -> u64 {
        self.wanted_bytes.load(Ordering::Relaxed)
    }

    /// The capacity in force.
    pub fn in_force_bytes(&self) -> u64 {
        self.in_force_bytes.load(Ordering::Relaxed)
    }

    pub fn checkpoint_lsn(&self) -> Lsn {
        self.checkpoint_lsn.load(Ordering::Acquire)
    }

    /// Bytes between the checkpoint and the log's end.
    pub fn used_bytes(&self, end: Lsn) -> u64 {
        end.saturating_sub(self.checkpoint_lsn())
    }

    /// Bytes between the checkpoint and the end beyond which nothing new begins.
    pub fn hard_limit_bytes(&self) -> u64 {
        self.in_force_bytes() / 8 * 7
    }

    /// Bytes beyond which those who write a lot wait.
    pub fn bulk_limit_bytes(&self) -> u64 {
        self.in_force_bytes() / 16 * 11
    }

    /// Bytes beyond which the checkpointer is poked.
    pub fn soft_limit_bytes(&self) -> u64 {
        self.wanted_bytes() / 8 * 5
    }

    /// Sets the capacity that is wanted. More is in force at once, less by [`Space::shrink`].
    pub fn set_wanted(&self, bytes: u64) {
        let bytes = bytes.max(LogConfig::MIN_CAPACITY_BYTES);
        let before = self.in_force_bytes();
        self.wanted_bytes.store(bytes, Ordering::Relaxed);
        self.in_force_bytes.store(bytes.max(before), Ordering::Relaxed);
    }

    /// Brings the capacity in force down to what is wanted, as far as what the log holds leaves
    /// room for others. Neither this nor [`Space::set_wanted`] runs in two threads at once.
    pub fn shrink(&self, end: Lsn) {
        let (wanted, in_force) = (self.wanted_bytes(), self.in_force_bytes());
        assert!(wanted <= in_force, "{wanted} bytes are wanted, only {in_force} are in force");
        if in_force > wanted {
            let held = self.used_bytes(end) / 7 * 8 + wanted / 4;
            self.in_force_bytes.store(held.clamp(wanted, in_force), Ordering::Relaxed);
        }
    }

    /// The log begins at `lsn` from now on: the checkpoint there is durable.
    pub fn begin_at(&self, lsn: Lsn) {
        let before = self.checkpoint_lsn.swap(lsn, Ordering::Release);
        assert!(before <= lsn, "the log began at {before} and is to begin at {lsn}");
    }

    /// Pokes the checkpointer when the log, which ends at `end`, has grown by a stretch since it
    /// was poked last.
    pub fn poke(&self, end: Lsn) {
        let poked = self.poked_lsn.load(Ordering::Relaxed);
        let step = self.wanted_bytes() / 32;
        if end >= poked + step
            && self.poked_lsn.compare_exchange(poked, end, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.ask();
        }
    }

    /// Asks for a checkpoint.
    pub fn ask(&self) {
        if let Some(hook) = self.hook.read().as_ref() {
            hook();
        }
    }

    /// Sets what is called to have a checkpoint made.
    pub fn set_hook(&self, hook: Hook) {
        *self.hook.write() = Some(hook);
    }
}
