//! What commits leave to purge, in the order of the commits, give or take some that were applied at
//! the same time.
//!
//! A commit puts its batch in when its rows are on their pages; purge takes the oldest one out once
//! no snapshot can need what it names.

use crate::bytes::KeyBuf;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;

/// What one commit leaves to purge.
#[derive(Debug, Default)]
pub(crate) struct PurgeBatch {
    pub seq: u64,
    /// Versions superseded: table, clustered key, the version's own sequence number.
    pub versions: Vec<(u64, KeyBuf, u64)>,
    /// Entries delete-marked: table, index ([`crate::lock::CLUSTERED`] or the index's id), key.
    pub marks: Vec<(u64, u32, KeyBuf)>,
    /// Overflow chains that the commit's rows no longer point to: table, first page, length.
    pub overflow: Vec<(u64, u32, u32)>,
}

impl PurgeBatch {
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.marks.is_empty() && self.overflow.is_empty()
    }
}

/// Batches that wait.
#[derive(Default)]
pub(crate) struct PurgeQueue {
    batches: Mutex<VecDeque<PurgeBatch>>,
    /// Entries removed since the engine was opened.
    pub removed: AtomicU64,
}

impl PurgeQueue {
    pub fn push(&self, batch: PurgeBatch) {
        if !batch.is_empty() {
            self.batches.lock().push_back(batch);
        }
    }

    /// Commits that wait for purge (`History list length`).
    pub fn len(&self) -> usize {
        self.batches.lock().len()
    }

    /// Sequence number of the commit whose leftovers go next.
    pub fn front(&self) -> Option<u64> {
        self.batches.lock().front().map(|batch| batch.seq)
    }

    pub fn take(&self, limit: u64) -> Option<PurgeBatch> {
        self.batches.lock().pop_front_if(|batch| batch.seq <= limit)
    }
}
