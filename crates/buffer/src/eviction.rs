//! Frames for pages that come in: the free list, evicting clean pages, and waiting for dirty ones
//! to be written; and the LRU list's order.

use std::sync::atomic::Ordering;
use std::time::Duration;

use os::account::{State, enter};

use crate::error::Result;
use crate::frame::{Frame, NO_PAGE};
use crate::instance::Instance;
use crate::lru::Lists;
use crate::page::PageId;
use crate::pool::Pool;
use crate::status::count;

/// How long a thread waits for the cleaner before it looks for itself again.
const FREE_WAIT: Duration = Duration::from_millis(10);
/// How often one who brings in many pages waits so before it goes on anyway.
const MOST_WAITS_IN_BULK: u32 = 100;
/// Candidates looked at in one search for a clean page.
const EVICT_SCAN: usize = 100;

impl Pool {
    /// A free frame of the instance, latched exclusively. Waits until there is one.
    pub(crate) fn take_free(&self, instance: &Instance) -> Result<u32> {
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
                self.frame(number).latch.exclusive();
                return Ok(number);
            }
            self.begin_evicting();
            if self.evict(instance, 1, EVICT_SCAN << rounds.min(12)) > 0 {
                continue;
            }
            if rounds == 0 {
                count(&self.counters.wait_free, 1);
            }
            rounds += 1;
            // The cleaner writes a batch for the price of one page. Only when that does not help
            // does this thread write one itself: not when frames became free and others were
            // faster. It also does, whatever the option says, when the flusher's writes fail: then
            // it gets the error.
            let cleaner_helps = self.ask_for_frames(instance);
            let writes_itself =
                self.options().single_page_flush || instance.cannot_flush.load(Ordering::Relaxed);
            if (waited_in_vain && writes_itself || !cleaner_helps) && self.flush_single_page(instance)? {
                continue;
            }
            let _waiting = enter(State::FreePageWait);
            let mut lists = instance.lists.lock();
            waited_in_vain =
                lists.free_len() == 0 && instance.free_event.wait_for(&mut lists, FREE_WAIT).timed_out();
        }
    }

    /// To be called with no latch held by one who brings in many pages: waits, for a while, until
    /// every instance has frames to spare, so that neither it nor anybody else has to wait for one
    /// with latches held.
    pub fn free_check_in_bulk(&self) {
        if !self.is_evicting() {
            return;
        }
        for instance in &self.instances {
            let spare = self.free_target(instance) / 4;
            let has_spare = |lists: &Lists| lists.free_len() >= spare;
            if has_spare(&instance.lists.lock()) || !self.ask_for_frames(instance) {
                continue;
            }
            let _waiting = enter(State::FreePageWait);
            let mut lists = instance.lists.lock();
            // Not for ever: pages may be pinned, or writes fail, and then whoever needs a frame
            // finds out.
            for _ in 0..MOST_WAITS_IN_BULK {
                if has_spare(&lists) {
                    break;
                }
                instance.free_event.wait_for(&mut lists, FREE_WAIT);
            }
        }
    }

    /// A page that was read ahead is used for the first time.
    #[cold]
    fn first_use(&self, frame: &Frame) {
        frame.used_tick.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        let packed = frame.page_id.load(Ordering::Relaxed);
        self.consider_read_ahead(PageId::new((packed >> 32) as u32, packed as u32));
    }

    /// Frames are short: from here on it is worth keeping the LRU list in order.
    fn begin_evicting(&self) {
        self.evicting.store(true, Ordering::Relaxed);
        self.ordering.store(true, Ordering::Relaxed);
    }

    /// A free frame of the instance, latched exclusively, if there is one that nobody will miss.
    pub(crate) fn take_spare(&self, instance: &Instance) -> Option<u32> {
        let spare = |lists: &mut Lists| {
            (lists.free_len() > self.free_target(instance) / 2).then(|| lists.pop_free()).flatten()
        };
        let taken = spare(&mut instance.lists.lock());
        let number = taken.or_else(|| {
            self.evict(instance, 1, EVICT_SCAN);
            spare(&mut instance.lists.lock())
        })?;
        self.frame(number).latch.exclusive();
        Some(number)
    }

    /// Wakes whoever makes frames free; false when no such thread runs.
    fn ask_for_frames(&self, instance: &Instance) -> bool {
        self.begin_evicting();
        (self.lru_flushers.load(Ordering::Relaxed) && instance.lru_bell.ring()) || self.cleaners.wake()
    }

    /// How many frames are kept free in an instance.
    pub(crate) fn free_target(&self, instance: &Instance) -> usize {
        self.free_target.load(Ordering::Relaxed).min(instance.frames / 8).max(4)
    }

    /// Free frames below which more are asked for: early, since writing a batch takes as long as
    /// using up many of them.
    fn free_low_water(&self, instance: &Instance) -> usize {
        self.free_target(instance) * 7 / 8
    }

    /// Brings the instance's free list up to its target: evicts clean pages from the LRU list's
    /// end, writes dirty ones there first if it must.
    pub(crate) fn make_frames_free(&self, instance: &Instance) -> Result<()> {
        // A pool that never ran short is left to fill up.
        if !self.is_evicting() || instance.freeing.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let outcome = self.fill_free_list(instance);
        instance.cannot_flush.store(outcome.is_err(), Ordering::Relaxed);
        instance.freeing.store(false, Ordering::Relaxed);
        outcome
    }

    fn fill_free_list(&self, instance: &Instance) -> Result<()> {
        let scan = self.options().lru_scan_depth.max(64);
        let target = self.free_target(instance);
        for _ in 0..64 {
            let free = instance.lists.lock().free_len();
            if free >= target {
                return Ok(());
            }
            if self.evict(instance, target - free, scan) == 0
                && self.flush_lru(instance, target.max(64), scan)? == 0
            {
                return Ok(());
            }
            instance.announce_free();
        }
        Ok(())
    }

    /// Frees up to `wanted` frames with clean pages among the `scan` coldest of the instance.
    pub(crate) fn evict(&self, instance: &Instance, wanted: usize, scan: usize) -> usize {
        let candidates: Vec<u32> = {
            let lists = instance.lists.lock();
            let cold = lists.coldest_first().take(scan);
            cold.filter(|&number| self.frame(number).is_replaceable()).take(wanted * 2 + 6).collect()
        };
        let mut freed = 0;
        for number in candidates {
            if freed == wanted {
                break;
            }
            freed += self.evict_frame(number) as usize;
        }
        count(&self.counters.pages_evicted, freed as u64);
        freed
    }

    pub(crate) fn evict_frame(&self, number: u32) -> bool {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        if packed == NO_PAGE {
            return false;
        }
        {
            let mut shard = self.table.shard(packed);
            // Pins are taken under the shard's lock, so none can come between this check and the
            // removal; a thread that latches by a hint instead fails against the exclusive latch,
            // or is seen by the try for it.
            if shard.get(&packed) != Some(&number) || !frame.latch.try_exclusive() {
                return false;
            }
            if !frame.is_replaceable() {
                drop(shard);
                frame.latch.release_exclusive();
                return false;
            }
            shard.remove(&packed);
        }
        if frame.used_tick.load(Ordering::Relaxed) == 0 {
            count(&self.counters.read_ahead_evicted, 1);
        }
        self.empty_frame(number);
        true
    }

    /// Removes the page from its frame, which is latched exclusively and clean, and frees the
    /// frame.
    pub(crate) fn discard(&self, number: u32) {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        assert!(!frame.is_dirty(), "a dirty page is not thrown away");
        self.table.shard(packed).remove(&packed);
        self.empty_frame(number);
    }

    /// The rest of removing a page: its entry in the table is gone, the latch is held exclusively.
    fn empty_frame(&self, number: u32) {
        let frame = self.frame(number);
        frame.page_id.store(NO_PAGE, Ordering::Relaxed);
        self.instance_of_frame(number).lists.lock().remove(&self.frames, number);
        frame.latch.release_exclusive();
        self.give_free(number);
    }

    pub(crate) fn give_free(&self, number: u32) {
        let instance = self.instance_of_frame(number);
        instance.lists.lock().push_free(number);
        // All of them: who brings in many pages may wait for more than one frame.
        instance.free_event.notify_all();
    }

    /// Keeps the LRU list roughly in order: cheap unless the page's place is well out of date.
    #[inline]
    pub(crate) fn touch(&self, number: u32, frame: &Frame) {
        if self.ordering.load(Ordering::Relaxed) {
            self.touch_listed(number, frame);
        }
    }

    fn touch_listed(&self, number: u32, frame: &Frame) {
        let clock = self.lru_clock.load(Ordering::Relaxed);
        let stale = if frame.young.load(Ordering::Relaxed) {
            clock.wrapping_sub(frame.young_stamp.load(Ordering::Relaxed)) as usize > self.frames.len() / 4
        } else {
            let used = frame.used_tick.load(Ordering::Relaxed);
            if used == 0 {
                return self.first_use(frame);
            }
            // InnoDB's innodb_old_blocks_time: the accesses right after the first are usually one
            // scan's.
            let age = self.tick.load(Ordering::Relaxed).wrapping_sub(used);
            age >= self.old_ticks.load(Ordering::Relaxed)
        };
        if stale && let Some(mut lists) = self.instance_of_frame(number).lists.try_lock() {
            lists.make_young(&self.frames, number);
            let stamp = self.lru_clock.fetch_add(1, Ordering::Relaxed);
            frame.young_stamp.store(stamp, Ordering::Relaxed);
            count(&self.counters.pages_made_young, 1);
        }
    }
}
