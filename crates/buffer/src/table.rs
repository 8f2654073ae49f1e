//! The page table, which says what frame holds a page.
//!
//! The table itself is a hash map in shards, each under a mutex. In front of it is an array of
//! hints, which is read without a lock. A hint may be stale or missing, which does no harm, since a
//! frame itself says which page it holds once its latch is taken.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{Mutex, MutexGuard};

const SHARDS: usize = 64;
const NO_HINT: u32 = u32::MAX;

/// Spreads a packed page id over 64 bits.
#[inline]
pub(crate) fn spread(packed: u64) -> u64 {
    let mixed = (packed ^ packed >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 32
}

#[derive(Debug, Default)]
pub(crate) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = spread(self.0 ^ byte as u64);
        }
    }

    fn write_u64(&mut self, packed: u64) {
        self.0 = spread(packed);
    }
}

pub(crate) type Shard = HashMap<u64, u32, BuildHasherDefault<PageHasher>>;

/// The page table. Lock order: a shard's mutex comes after latches that the thread already holds;
/// under it a thread may only try for a latch.
#[derive(Debug)]
pub(crate) struct PageTable {
    hints: Box<[AtomicU32]>,
    shards: Box<[Mutex<Shard>]>,
}

impl PageTable {
    pub fn new(frames: usize) -> PageTable {
        let hints = (frames * 4).next_power_of_two();
        PageTable {
            hints: (0..hints).map(|_| AtomicU32::new(NO_HINT)).collect(),
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::default())).collect(),
        }
    }

    #[inline]
    fn hint(&self, packed: u64) -> &AtomicU32 {
        &self.hints[spread(packed) as usize & (self.hints.len() - 1)]
    }

    /// Returns the frame that may hold the page.
    #[inline]
    pub fn hinted(&self, packed: u64) -> Option<u32> {
        let frame = self.hint(packed).load(Ordering::Relaxed);
        (frame != NO_HINT).then_some(frame)
    }

    #[inline]
    pub fn set_hint(&self, packed: u64, frame: u32) {
        self.hint(packed).store(frame, Ordering::Relaxed);
    }

    pub fn shard(&self, packed: u64) -> MutexGuard<'_, Shard> {
        // The shard is chosen by other bits than those that the map uses: the low ones for its
        // buckets and the top seven for its tags.
        self.shards[(spread(packed) >> 40) as usize % SHARDS].lock()
    }
}
