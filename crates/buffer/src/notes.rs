//! The notes that uses of pages leave for the read-ahead thread.
//!
//! A thread that uses the last or first page of 64 neighbours for the first time leaves a note.
//! With random read-ahead every page that is read in leaves one. `read_ahead` acts on the notes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::bell::Bell;
use crate::instance::EXTENT_PAGES;
use crate::options::PoolOptions;
use crate::page::PageId;

/// The most notes that wait. Further ones are dropped, since pages that are read ahead too late are
/// no help.
const NOTES: usize = 64;

/// Notes for the read-ahead thread.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The threshold of linear read-ahead (`PoolOptions::read_ahead_threshold`). Relaxed, since it
    /// is only an option.
    threshold: AtomicU32,
    /// Whether random read-ahead is on (`PoolOptions::random_read_ahead`). Relaxed, since it is
    /// only an option.
    random: AtomicBool,
    /// The pages that were noted, oldest first. The mutex is a leaf in the lock order.
    notes: Mutex<VecDeque<PageId>>,
    /// Wakes the read-ahead thread.
    pub bell: Bell,
}

/// Reports whether the page is the last or first of its 64 neighbours.
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

    /// Returns how many of 64 neighbours must have been used in order for the next 64 to be read
    /// ahead. 0 means that pages are not read ahead by their order.
    pub fn threshold(&self) -> usize {
        self.threshold.load(Ordering::Relaxed) as usize
    }

    /// Reports whether random read-ahead is on.
    pub fn is_random(&self) -> bool {
        self.random.load(Ordering::Relaxed)
    }

    /// Leaves a note about a page that is used for the first time, if it is the last or first of
    /// its 64 neighbours, or if random read-ahead is on.
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

    /// Takes the oldest note.
    pub fn take(&self) -> Option<PageId> {
        self.notes.lock().pop_front()
    }
}
