//! Notes that the uses of pages leave for the read-ahead thread.
//!
//! A thread that comes to the last or first page of 64 neighbours for the first time leaves a note;
//! with random read-ahead every page that is read in leaves one. `read_ahead` acts on the notes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::bell::Bell;
use crate::instance::EXTENT_PAGES;
use crate::options::PoolOptions;
use crate::page::PageId;

/// Notes that wait at most; more are dropped: what is read ahead too late is no help.
const NOTES: usize = 64;

/// Notes for the read-ahead thread.
#[derive(Debug)]
pub(crate) struct Notes {
    /// `PoolOptions::read_ahead_threshold`. Relaxed: an option.
    threshold: AtomicU32,
    /// `PoolOptions::random_read_ahead`. Relaxed: an option.
    random: AtomicBool,
    /// Leaf in the lock order.
    notes: Mutex<VecDeque<PageId>>,
    /// Wakes the thread.
    pub bell: Bell,
}

/// Whether the page is the last or first of its 64.
pub(crate) fn is_at_edge(id: PageId) -> bool {
    let place = id.no % EXTENT_PAGES;
    place == 0 || place == EXTENT_PAGES - 1
}

impl Notes {
    pub fn new(options: &PoolOptions) -> Notes {
        Notes {
            threshold: AtomicU32::new(options.read_ahead_threshold),
            random: AtomicBool::new(options.random_read_ahead),
            notes: Mutex::new(VecDeque::new()),
            bell: Bell::default(),
        }
    }

    pub fn set_options(&self, options: &PoolOptions) {
        self.threshold.store(options.read_ahead_threshold, Ordering::Relaxed);
        self.random.store(options.random_read_ahead, Ordering::Relaxed);
    }

    /// How many of 64 neighbours must have been read in order; 0: pages are not read ahead by
    /// their order.
    pub fn threshold(&self) -> usize {
        self.threshold.load(Ordering::Relaxed) as usize
    }

    /// Whether random read-ahead is on.
    pub fn is_random(&self) -> bool {
        self.random.load(Ordering::Relaxed)
    }

    /// Leaves a note if the page, used for the first time, is the last or first of its 64, or if
    /// any page may be worth one.
    #[inline]
    pub fn consider(&self, id: PageId) {
        let linear = is_at_edge(id) && self.threshold() != 0;
        if !linear && !self.is_random() {
            return;
        }
        let mut notes = self.notes.lock();
        if notes.len() < NOTES {
            notes.push_back(id);
            drop(notes);
            self.bell.ring();
        }
    }

    /// The oldest note.
    pub fn take(&self) -> Option<PageId> {
        self.notes.lock().pop_front()
    }
}
