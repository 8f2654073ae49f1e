//! Whether the LRU lists are kept in order, and the clocks by which they are.
//!
//! As long as every page finds a free frame, nothing has to leave and no order is kept. From then
//! on each use of a page looks at the page's place in the list. A young page moves to the head
//! again once a quarter of all pages has passed it, an old one becomes young if it is used well
//! after its first use.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::frame::Frame;
use crate::options::PoolOptions;

/// The time between two ticks, in milliseconds.
pub(crate) const TICK_MS: u32 = 100;

/// What a use finds out about the page's place in the LRU list.
pub(crate) enum Place {
    /// The page is about where it should be.
    Right,
    /// The page belongs at the young head.
    OutOfDate,
    /// The page was read ahead, and nobody has used it before.
    FirstUse,
}

/// The clocks, and whether they are followed. All accesses are relaxed: a page that moves to its
/// place a little too late, or too early, is still the same page.
#[derive(Debug)]
pub(crate) struct LruOrder {
    /// Whether frames have run short since the pool was opened.
    evicting: AtomicBool,
    /// Whether frames have run short or pages were read ahead. Before that it is not worth looking
    /// at a page's place in the LRU list.
    ordering: AtomicBool,
    /// The clock, which advances with every move to the young head.
    clock: AtomicU32,
    /// The tick, which advances about ten times a second while a cleaner runs. It is never 0, which
    /// stands for a page not used since it was read ahead.
    tick: AtomicU32,
    /// The number of ticks that must pass after a page's first use before a further use makes it
    /// young (`innodb_old_blocks_time`).
    old_ticks: AtomicU32,
    /// The most frames that an instance keeps free (`PoolOptions::lru_scan_depth`).
    free_target: AtomicUsize,
}

fn old_ticks(options: &PoolOptions) -> u32 {
    options.old_blocks_time_ms.div_ceil(TICK_MS)
}

impl LruOrder {
    pub fn new(options: &PoolOptions) -> LruOrder {
        LruOrder {
            evicting: AtomicBool::new(false),
            ordering: AtomicBool::new(false),
            clock: AtomicU32::new(0),
            tick: AtomicU32::new(1),
            old_ticks: AtomicU32::new(old_ticks(options)),
            free_target: AtomicUsize::new(options.lru_scan_depth),
        }
    }

    pub fn set_options(&self, options: &PoolOptions) {
        self.old_ticks.store(old_ticks(options), Ordering::Relaxed);
        self.free_target.store(options.lru_scan_depth, Ordering::Relaxed);
    }

    /// Returns the most frames that an instance keeps free.
    pub fn free_target(&self) -> usize {
        self.free_target.load(Ordering::Relaxed)
    }

    /// Reports whether the LRU lists are kept in order at all.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.ordering.load(Ordering::Relaxed)
    }

    /// Begins to keep the order, because pages are read ahead.
    pub fn begin(&self) {
        self.ordering.store(true, Ordering::Relaxed);
    }

    /// Reports whether frames have run short since the pool was opened.
    pub fn is_evicting(&self) -> bool {
        self.evicting.load(Ordering::Relaxed)
    }

    /// Notes that frames are short. From now on it is worth keeping the LRU list in order.
    pub fn begin_evicting(&self) {
        self.evicting.store(true, Ordering::Relaxed);
        self.ordering.store(true, Ordering::Relaxed);
    }

    pub fn advance_tick(&self) {
        if self.tick.fetch_add(1, Ordering::Relaxed) == u32::MAX {
            self.tick.store(1, Ordering::Relaxed);
        }
    }

    /// Compares where the page in use is in the LRU list with where it should be. `frames` is the
    /// number of frames of the pool.
    pub fn place_of(&self, frame: &Frame, frames: usize) -> Place {
        let is_stale = if frame.young.load(Ordering::Relaxed) {
            let clock = self.clock.load(Ordering::Relaxed);
            clock.wrapping_sub(frame.young_stamp.load(Ordering::Relaxed)) as usize > frames / 4
        } else {
            let used = frame.used_tick.load(Ordering::Relaxed);
            if used == 0 {
                return Place::FirstUse;
            }
            // This is InnoDB's `innodb_old_blocks_time`: accesses right after the first one usually
            // belong to the same scan.
            let age = self.tick.load(Ordering::Relaxed).wrapping_sub(used);
            age >= self.old_ticks.load(Ordering::Relaxed)
        };
        if is_stale { Place::OutOfDate } else { Place::Right }
    }

    /// Notes that the frame's page has been moved to the young head.
    pub fn stamp(&self, frame: &Frame) {
        let stamp = self.clock.fetch_add(1, Ordering::Relaxed);
        frame.young_stamp.store(stamp, Ordering::Relaxed);
    }

    /// Notes that the frame's page is used for the first time.
    pub fn note_use(&self, frame: &Frame) {
        frame.used_tick.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
