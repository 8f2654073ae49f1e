//! Bound plans of text statements, by their text.
//!
//! A text is kept from the second time on that it is seen, so that statements which differ in their
//! literals do not push out those that come again and again.

use super::bound::Bound;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Texts longer than this are not kept.
const MOST_TEXT_BYTES: usize = 4096;
const MOST_PLANS: usize = 256;
const MOST_SEEN: usize = 4096;

/// The cache of one session.
#[derive(Default)]
pub(crate) struct StatementCache {
    /// A plan that was bound in another generation means nothing any more.
    generation: u64,
    plans: HashMap<Box<[u8]>, Arc<Bound>>,
    /// Hashes of texts that were seen once.
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl StatementCache {
    /// An empty cache, for a session whose plans mean what those of this generation do.
    pub fn of_generation(generation: u64) -> StatementCache {
        StatementCache { generation, ..StatementCache::default() }
    }

    /// Changes whenever bound plans may mean something else: settings, the current schema.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn get(&self, text: &[u8]) -> Option<Arc<Bound>> {
        if text.len() > MOST_TEXT_BYTES || self.plans.is_empty() {
            return None;
        }
        self.plans.get(text).cloned()
    }

    /// Keeps the plan if its text has been seen before.
    pub fn offer(&mut self, text: &[u8], bound: &Arc<Bound>) {
        if text.len() > MOST_TEXT_BYTES {
            return;
        }
        let hash = self.hasher.hash_one(text);
        if !self.seen.remove(&hash) {
            if self.seen.len() >= MOST_SEEN {
                self.seen.clear();
            }
            self.seen.insert(hash);
            return;
        }
        if self.plans.len() >= MOST_PLANS {
            self.plans.clear();
        }
        self.plans.insert(text.into(), bound.clone());
    }

    pub fn forget(&mut self, text: &[u8]) {
        self.plans.remove(text);
    }

    /// Plans that were bound before mean nothing any more, here and elsewhere.
    pub fn invalidate(&mut self) {
        self.generation += 1;
        self.plans.clear();
    }
}
