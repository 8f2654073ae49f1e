//! The times at which the source committed the transactions that are received and applied here.

use std::sync::atomic::{AtomicU64, Ordering};

/// Commit times at the source, in microseconds of the source's clock; 0 means unknown. One thread
/// writes each time, and any thread reads it. Loads and stores are relaxed, because a time that is
/// a moment old was right at that moment.
#[derive(Default)]
pub struct CommitTimes {
    /// The commit time of the first transaction received since the relay log was started.
    pub first_received_us: AtomicU64,
    /// The commit time of the oldest transaction that is being applied, or of one shortly before
    /// it, but never of a later one.
    pub applying_us: AtomicU64,
    /// The commit time of the last transaction that readers see.
    pub visible_us: AtomicU64,
    /// The event timestamp, in seconds, from which Seconds_Behind_Source is counted.
    pub event_timestamp_s: AtomicU64,
}

impl CommitTimes {
    /// Resets all times to unknown.
    pub(crate) fn forget(&self) {
        for time in [&self.first_received_us, &self.applying_us, &self.visible_us, &self.event_timestamp_s] {
            time.store(0, Ordering::Relaxed);
        }
    }
}
