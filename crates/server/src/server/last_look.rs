//! What SHOW ENGINE INNODB STATUS counted when somebody last asked for it, from which rates are
//! computed.

use parking_lot::Mutex;

/// Figures that grow, and the moment at which they were read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// When they were read, in microseconds since 1970.
    pub at_us: u64,
    /// Rows that were inserted, updated, deleted and read.
    pub rows: [u64; 4],
    /// Pages that were read, created and written.
    pub pages: [u64; 3],
    /// Pages that were made young, asked for, read ahead, and evicted unused.
    pub lru: [u64; 4],
    /// Reads, writes and syncs.
    pub io: [u64; 3],
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Writes of the redo log.
    pub log_writes: u64,
}

/// What the last look saw; nothing before the first one. It is a leaf in the lock order.
#[derive(Debug, Default)]
pub struct LastLook(Mutex<Option<Figures>>);

impl LastLook {
    /// Notes what this look sees. The result is what the one before it saw.
    pub fn replace(&self, now: Figures) -> Option<Figures> {
        self.0.lock().replace(now)
    }
}
