//! Free frames for pages that come in: they are taken from the free list, made by evicting clean
//! pages, or waited for until dirty pages are written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::account::{State, enter};

use crate::bell::Bell;
use crate::error::Result;
use crate::flush::Flusher;
use crate::frames::{EVICT_SCAN, Frames};
use crate::instance::Instance;
use crate::lru::Lists;
use crate::options::{OptionsInForce, PoolOptions};
use crate::status::count;

/// How long a thread waits for the cleaner before it looks for a frame itself again.
const FREE_WAIT: Duration = Duration::from_millis(10);
/// How many times a thread that brings in many pages waits for `FREE_WAIT` before it goes on
/// anyway.
const MOST_WAITS_IN_BULK: u32 = 100;

/// The source of free frames.
#[derive(Debug)]
pub(crate) struct FreeFrames {
    frames: Arc<Frames>,
    flusher: Arc<Flusher>,
    options: Arc<OptionsInForce>,
    /// Whether LRU flushers make frames free (`PoolOptions::lru_flushers`). Relaxed, since it is
    /// only an option.
    lru_flushers: AtomicBool,
    /// Wakes the page cleaners, which make frames free when no LRU flusher does.
    cleaners: Arc<Bell>,
}

impl FreeFrames {
    pub fn new(
        frames: Arc<Frames>,
        flusher: Arc<Flusher>,
        options: Arc<OptionsInForce>,
        cleaners: Arc<Bell>,
    ) -> FreeFrames {
        let lru_flushers = AtomicBool::new(options.get().lru_flushers);
        FreeFrames { frames, flusher, options, lru_flushers, cleaners }
    }

    /// Takes over the changed option about LRU flushers.
    pub fn set_options(&self, options: &PoolOptions) {
        self.lru_flushers.store(options.lru_flushers, Ordering::Relaxed);
    }

    /// Returns a free frame of the instance, latched exclusively. Waits until there is one.
    pub fn take(&self, instance: &Instance) -> Result<u32> {
        let (mut rounds, mut waited_in_vain) = (0u32, false);
        loop {
            let (free, left) = {
                let mut lists = instance.lists.lock();
                (lists.pop_free(), lists.free_len())
            };
            if let Some(number) = free {
                if left < self.free_low_water(instance) {
                    self.ask_for_frames(instance);
                }
                self.frames.frame(number).latch.exclusive();
                return Ok(number);
            }
            self.frames.order().begin_evicting();
            if self.frames.evict(instance, 1, EVICT_SCAN << rounds.min(12)) > 0 {
                continue;
            }
            if rounds == 0 {
                count(&self.frames.counters.wait_free, 1);
            }
            rounds += 1;
            // The cleaner writes a batch for the price of one page. So this thread writes a page
            // itself only when waiting for the cleaner did not help, and not when frames became
            // free and others were faster. It also writes one, whatever the option says, when the
            // flusher's writes fail: then it gets the error.
            let cleaner_helps = self.ask_for_frames(instance);
            let writes_itself =
                self.options.get().single_page_flush || instance.cannot_flush.load(Ordering::Relaxed);
            if (waited_in_vain && writes_itself || !cleaner_helps)
                && self.flusher.flush_single_page(instance)?
            {
                continue;
            }
            let _waiting = enter(State::FreePageWait);
            let mut lists = instance.lists.lock();
            waited_in_vain =
                lists.free_len() == 0 && instance.free_event.wait_for(&mut lists, FREE_WAIT).timed_out();
        }
    }

    /// Does the work of [`crate::Pool::free_check_in_bulk`].
    pub fn check_in_bulk(&self) {
        if !self.frames.order().is_evicting() {
            return;
        }
        for instance in self.frames.instances() {
            let spare = self.frames.free_target(instance) / 4;
            let has_spare = |lists: &Lists| lists.free_len() >= spare;
            if has_spare(&instance.lists.lock()) || !self.ask_for_frames(instance) {
                continue;
            }
            let _waiting = enter(State::FreePageWait);
            let mut lists = instance.lists.lock();
            // The wait is bounded: pages may be pinned, or writes may fail, and then the thread
            // that needs a frame finds out.
            for _ in 0..MOST_WAITS_IN_BULK {
                if has_spare(&lists) {
                    break;
                }
                instance.free_event.wait_for(&mut lists, FREE_WAIT);
            }
        }
    }

    /// Wakes the thread that makes frames free. Returns false when no such thread runs.
    fn ask_for_frames(&self, instance: &Instance) -> bool {
        self.frames.order().begin_evicting();
        (self.lru_flushers.load(Ordering::Relaxed) && instance.lru_bell.ring()) || self.cleaners.ring()
    }

    /// Returns the number of free frames below which more are asked for. It is high, since writing
    /// a batch takes as long as using up many frames.
    fn free_low_water(&self, instance: &Instance) -> usize {
        self.frames.free_target(instance) * 7 / 8
    }

    /// Brings the instance's free list up to its target: evicts clean pages from the end of the LRU
    /// list, and first writes dirty ones there if it must.
    pub fn make_frames_free(&self, instance: &Instance) -> Result<()> {
        // A pool that never ran short of frames is left to fill up.
        if !self.frames.order().is_evicting() || instance.freeing.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let outcome = self.fill_free_list(instance);
        instance.cannot_flush.store(outcome.is_err(), Ordering::Relaxed);
        instance.freeing.store(false, Ordering::Relaxed);
        outcome
    }

    fn fill_free_list(&self, instance: &Instance) -> Result<()> {
        let scan = self.options.get().lru_scan_depth.max(64);
        let target = self.frames.free_target(instance);
        for _ in 0..64 {
            let free = instance.lists.lock().free_len();
            if free >= target {
                return Ok(());
            }
            if self.frames.evict(instance, target - free, scan) == 0
                && self.flusher.flush_lru(instance, target.max(64), scan)? == 0
            {
                return Ok(());
            }
            instance.announce_free();
        }
        Ok(())
    }
}
