//! The queue of what commits leave to purge. It is in the order of the commits, except that commits
//! which were applied at the same time may have changed places.
//!
//! A commit puts its batch in when its rows are on their pages. Purge takes the oldest batch out
//! once no snapshot can need what the batch names.

use crate::bytes::KeyBuf;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;

/// The leftovers of one commit.
#[derive(Debug, Default)]
pub(crate) struct PurgeBatch {
    pub seq: u64,
    /// The superseded versions: table id, clustered key, the version's own sequence number.
    pub versions: Vec<(u64, KeyBuf, u64)>,
    /// The delete-marked entries: table id, index id ([`crate::lock::CLUSTERED`] for the clustered
    /// index), key.
    pub marks: Vec<(u64, u32, KeyBuf)>,
    /// The overflow chains that the commit's rows no longer point to: table id, first page, length.
    pub overflow: Vec<(u64, u32, u32)>,
}

impl PurgeBatch {
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.marks.is_empty() && self.overflow.is_empty()
    }
}

/// The batches that wait for purge.
#[derive(Default)]
pub(crate) struct PurgeQueue {
    batches: Mutex<VecDeque<PurgeBatch>>,
    /// The number of entries removed since the engine was opened.
    pub removed: AtomicU64,
}

impl PurgeQueue {
    pub fn push(&self, batch: PurgeBatch) {
        if !batch.is_empty() {
            self.batches.lock().push_back(batch);
        }
    }

    /// Returns the number of commits that wait for purge (`History list length`).
    pub fn len(&self) -> usize {
        self.batches.lock().len()
    }

    /// Returns the sequence number of the commit whose leftovers are purged next.
    pub fn front(&self) -> Option<u64> {
        self.batches.lock().front().map(|batch| batch.seq)
    }

    pub fn take(&self, limit: u64) -> Option<PurgeBatch> {
        self.batches.lock().pop_front_if(|batch| batch.seq <= limit)
    }
}
