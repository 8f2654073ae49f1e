//! The counters that the engine's parts bump.
//!
//! [`crate::Engine::status`] reads them, under MySQL's status variable names where MySQL has them.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters that transactions bump. Relaxed ordering is enough, because no counter is compared
/// with another.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub rows_read: AtomicU64,
    pub rows_inserted: AtomicU64,
    pub rows_updated: AtomicU64,
    pub rows_deleted: AtomicU64,
    pub commits: AtomicU64,
    /// The changes of rows that commits have put on pages.
    pub changes_on_pages: AtomicU64,
    pub rollbacks: AtomicU64,
    pub checkpoints: AtomicU64,
    pub unversioned_commits: AtomicU64,
    pub spilled_commits: AtomicU64,
}

pub(crate) fn bump(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}
