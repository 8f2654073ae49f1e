//! Bound plans of statements, by their texts.
//!
//! A plan is kept when its text comes for the second time, so that statements which differ only in
//! their literals do not displace those that come again and again. INSERTs of literals are kept by
//! the texts in front of their rows ([`LastInserts`]).

use super::bound::Bound;
use super::last_insert::LastInserts;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// The longest text that is kept, in bytes.
const MOST_TEXT_BYTES: usize = 4096;
const MOST_PLANS: usize = 256;
const MOST_SEEN: usize = 4096;

/// The plan cache of one session.
#[derive(Default)]
pub(crate) struct StatementCache {
    /// The current generation. Plans that were bound in another one are invalid.
    generation: u64,
    plans: HashMap<Box<[u8]>, Arc<Bound>>,
    /// The INSERTs of literals that have run. They are not kept by their whole texts.
    pub last_inserts: LastInserts,
    /// The hashes of the texts that have come once.
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl StatementCache {
    /// Creates an empty cache in this generation, for a session that shares the settings of another
    /// one.
    pub fn of_generation(generation: u64) -> StatementCache {
        StatementCache { generation, ..StatementCache::default() }
    }

    /// Returns the generation. It changes whenever bound plans may have become invalid: with the
    /// settings and with the current schema.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn get(&self, text: &[u8]) -> Option<Arc<Bound>> {
        if text.len() > MOST_TEXT_BYTES || self.plans.is_empty() {
            return None;
        }
        self.plans.get(text).cloned()
    }

    /// Keeps a plan if its text has come before.
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
        assert!(self.plans.len() <= MOST_PLANS && self.seen.len() <= MOST_SEEN, "the cache is bounded");
    }

    pub fn forget(&mut self, text: &[u8]) {
        self.plans.remove(text);
    }

    /// Makes all plans that were bound before invalid, here and elsewhere.
    pub fn invalidate(&mut self) {
        self.generation += 1;
        self.plans.clear();
        self.last_inserts.clear();
    }
}
