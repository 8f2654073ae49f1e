//! When the source committed what is received and applied.

use std::sync::atomic::{AtomicU64, Ordering};

/// Source commit times, in microseconds of the source's clock; 0 is unknown. Written by one thread
/// each, read by anybody: relaxed loads and stores, because a figure that is a moment old is a
/// right figure of that moment.
#[derive(Default)]
pub struct CommitTimes {
    /// Of the first transaction received since the relay log was started.
    pub first_received_us: AtomicU64,
    /// Of the oldest transaction that is being applied, or of one shortly before it; never of a
    /// later one.
    pub applying_us: AtomicU64,
    /// Of the last transaction that readers see.
    pub visible_us: AtomicU64,
    /// Event timestamp (seconds) that Seconds_Behind_Source is counted from.
    pub event_timestamp_s: AtomicU64,
}

impl CommitTimes {
    /// Nothing has been received or applied.
    pub(crate) fn forget(&self) {
        for time in [&self.first_received_us, &self.applying_us, &self.visible_us, &self.event_timestamp_s] {
            time.store(0, Ordering::Relaxed);
        }
    }
}
