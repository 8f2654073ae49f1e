//! The counters at the time when SHOW ENGINE INNODB STATUS was last asked for, from which rates are
//! computed.

use parking_lot::Mutex;

/// Figures that grow, and the time when they were read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// The time when the figures were read, in microseconds since 1970.
    pub at_us: u64,
    /// The numbers of rows that were inserted, updated, deleted and read.
    pub rows: [u64; 4],
    /// The numbers of pages that were read, created and written.
    pub pages: [u64; 3],
    /// The numbers of pages that were made young, requested, read ahead, and evicted unused.
    pub lru: [u64; 4],
    /// The numbers of reads, writes and syncs.
    pub io: [u64; 3],
    /// The number of bytes that were read.
    pub read_bytes: u64,
    /// The number of writes of the redo log.
    pub log_writes: u64,
}

/// The figures of the last look; `None` before the first one. Its lock is a leaf in the lock order.
#[derive(Debug, Default)]
pub struct LastLook(Mutex<Option<Figures>>);

impl LastLook {
    /// Stores the figures of this look, and returns those of the one before.
    pub fn replace(&self, now: Figures) -> Option<Figures> {
        self.0.lock().replace(now)
    }
}
