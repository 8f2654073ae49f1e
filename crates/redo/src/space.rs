//! The log's capacity: how much of it is used, how much is wanted, and the limits that follow from
//! it. [`crate::make_space`] frees space and lets threads wait for it.
//!
//! The capacity limits what may begin, not what is under way: a thread asks
//! [`crate::Log::free_check`] before it latches anything, and then reserves what it needs. Beyond
//! the limit there is a reserve of an eighth of the capacity for threads under way. When a huge
//! record exceeds even that, the files grow past the capacity for as long as it takes and the
//! surplus is removed afterwards. So no thread that holds a latch ever waits for a checkpoint,
//! which may need that latch.
//!
//! A thread that writes a lot and that nobody waits for, such as one that commits a million rows,
//! asks [`crate::Log::free_check_in_bulk`] and waits earlier. So there is always room for short
//! commits, and they do not wait for the space that such a thread has filled.
//!
//! The capacity can be changed at any time. A larger one is in force at once. A smaller one is
//! asked of the checkpointer at once, and the limits follow what checkpoints leave, with some room
//! for what comes meanwhile. So nobody stands still until the log has become small.

use os::sync::RwLock;
use os::sync::atomic::{AtomicU64, Ordering};

use os::event::Event;

use crate::{LogConfig, Lsn};

/// The function that [`Space::ask`] calls to have a checkpoint made.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

/// The position at which the log begins, the length that it may have, and the function that asks
/// for a checkpoint.
///
/// Invariant: the capacity in force is at least the one that is wanted.
pub(crate) struct Space {
    /// The capacity in bytes that is wanted (`innodb_redo_log_capacity`). Relaxed, as the next
    /// field: it is a limit that may be seen a moment late.
    wanted_bytes: AtomicU64,
    /// The capacity in bytes that is in force. It is larger while the log is being made smaller and
    /// still holds more.
    in_force_bytes: AtomicU64,
    /// The start of the newest durable checkpoint. `Release` after it is synced, `Acquire`; only a
    /// later one is ever stored.
    checkpoint_lsn: AtomicU64,
    /// The log's end when the checkpointer was poked last, so that it is poked once a stretch and
    /// not by every commit. Relaxed: it is a hint.
    poked_lsn: AtomicU64,
    /// Signalled when the checkpoint has advanced, the capacity has grown, or the log was stopped.
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

    /// Returns the capacity in bytes that is wanted (`innodb_redo_log_capacity`).
    pub fn wanted_bytes(&self) -> u64 {
        self.wanted_bytes.load(Ordering::Relaxed)
    }

    /// Returns the capacity in bytes that is in force.
    pub fn in_force_bytes(&self) -> u64 {
        self.in_force_bytes.load(Ordering::Relaxed)
    }

    pub fn checkpoint_lsn(&self) -> Lsn {
        self.checkpoint_lsn.load(Ordering::Acquire)
    }

    /// Returns the number of bytes between the checkpoint and the log's end.
    pub fn used_bytes(&self, end: Lsn) -> u64 {
        end.saturating_sub(self.checkpoint_lsn())
    }

    /// Returns the number of bytes in the log beyond which nothing new begins.
    pub fn hard_limit_bytes(&self) -> u64 {
        self.in_force_bytes() / 8 * 7
    }

    /// Returns the number of bytes in the log beyond which threads that write a lot wait.
    pub fn bulk_limit_bytes(&self) -> u64 {
        self.in_force_bytes() / 16 * 11
    }

    /// Returns the number of bytes in the log beyond which the checkpointer is poked.
    pub fn soft_limit_bytes(&self) -> u64 {
        self.wanted_bytes() / 8 * 5
    }

    /// Sets the capacity that is wanted. A larger one is in force at once, a smaller one by
    /// [`Space::shrink`].
    pub fn set_wanted(&self, bytes: u64) {
        let bytes = bytes.max(LogConfig::MIN_CAPACITY_BYTES);
        let before = self.in_force_bytes();
        self.wanted_bytes.store(bytes, Ordering::Relaxed);
        self.in_force_bytes.store(bytes.max(before), Ordering::Relaxed);
    }

    /// Lowers the capacity in force to the wanted one, as far as the log's content leaves room for
    /// others. Neither this nor [`Space::set_wanted`] runs in two threads at once.
    pub fn shrink(&self, end: Lsn) {
        let (wanted, in_force) = (self.wanted_bytes(), self.in_force_bytes());
        assert!(wanted <= in_force, "{wanted} bytes are wanted, only {in_force} are in force");
        if in_force > wanted {
            let held = self.used_bytes(end) / 7 * 8 + wanted / 4;
            self.in_force_bytes.store(held.clamp(wanted, in_force), Ordering::Relaxed);
        }
    }

    /// Notes that the log begins at `lsn` from now on: the checkpoint there is durable.
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

    /// Sets the function that is called to have a checkpoint made.
    pub fn set_hook(&self, hook: Hook) {
        *self.hook.write() = Some(hook);
    }
}
