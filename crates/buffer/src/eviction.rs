//! Frames for pages that come in: the free list, evicting clean pages, and waiting for dirty ones to be written; and the LRU list's order.

use std::sync::atomic::Ordering;
use std::time::Duration;

use os::account::{State, enter};

use crate::error::Result;
use crate::frame::{Frame, NO_PAGE};
use crate::pool::Pool;
use crate::status::count;

/// How long a thread waits for the cleaner before it looks for itself again.
const FREE_WAIT: Duration = Duration::from_millis(10);
/// Candidates looked at in one search for a clean page.
const EVICT_SCAN: usize = 100;

impl Pool {
    /// A free frame, latched exclusively. Waits until there is one.
    pub(crate) fn take_free(&self) -> Result<u32> {
        let mut rounds = 0u32;
        loop {
            let (free, left) = {
                let mut lists = self.lists.lock();
                (lists.pop_free(), lists.free_len())
            };
            if let Some(number) = free {
                if left < self.free_target() / 2 {
                    self.evicting.store(true, Ordering::Relaxed);
                    self.cleaner.wake();
                }
                self.frame(number).latch.exclusive();
                return Ok(number);
            }
            self.evicting.store(true, Ordering::Relaxed);
            if self.evict(1, EVICT_SCAN << rounds.min(12)) > 0 {
                continue;
            }
            if rounds == 0 {
                count(&self.counters.wait_free, 1);
            }
            rounds += 1;
            // The cleaner writes a batch for the price of one page. Only when that does not help does this thread write one itself.
            let cleaner_helps = self.cleaner.wake();
            if (rounds > 1 && self.options().single_page_flush || !cleaner_helps)
                && self.flush_single_page()?
            {
                continue;
            }
            let _waiting = enter(State::FreePageWait);
            let mut lists = self.lists.lock();
            if lists.free_len() == 0 {
                self.free_event.wait_for(&mut lists, FREE_WAIT);
            }
        }
    }

    /// How many frames the cleaner keeps free.
    pub(crate) fn free_target(&self) -> usize {
        self.options().lru_scan_depth.min(self.frames.len() / 8).max(4)
    }

    /// Frees up to `wanted` frames with clean pages among the `scan` coldest.
    pub(crate) fn evict(&self, wanted: usize, scan: usize) -> usize {
        let candidates: Vec<u32> = {
            let lists = self.lists.lock();
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

    fn evict_frame(&self, number: u32) -> bool {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        if packed == NO_PAGE {
            return false;
        }
        {
            let mut shard = self.table.shard(packed);
            // Pins are taken under the shard's lock, so none can come between this check and the removal; a thread that latches by a
            // hint instead fails against the exclusive latch, or is seen by the try for it.
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
        self.empty_frame(number);
        true
    }

    /// Removes the page from its frame, which is latched exclusively and clean, and frees the frame.
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
        self.lists.lock().remove(&self.frames, number);
        frame.latch.release_exclusive();
        self.give_free(number);
    }

    pub(crate) fn give_free(&self, number: u32) {
        self.lists.lock().push_free(number);
        self.free_event.notify_one();
    }

    /// Keeps the LRU list roughly in order: cheap unless the page's place is well out of date.
    #[inline]
    pub(crate) fn touch(&self, number: u32, frame: &Frame) {
        if self.evicting.load(Ordering::Relaxed) {
            self.touch_listed(number, frame);
        }
    }

    fn touch_listed(&self, number: u32, frame: &Frame) {
        let clock = self.lru_clock.load(Ordering::Relaxed);
        let stale = if frame.young.load(Ordering::Relaxed) {
            clock.wrapping_sub(frame.young_stamp.load(Ordering::Relaxed)) as usize > self.frames.len() / 4
        } else {
            // InnoDB's innodb_old_blocks_time: the accesses right after a read are usually one scan's.
            let age = self.tick.load(Ordering::Relaxed).wrapping_sub(frame.read_tick.load(Ordering::Relaxed));
            age >= 10
        };
        if stale && let Some(mut lists) = self.lists.try_lock() {
            lists.make_young(&self.frames, number);
            let stamp = self.lru_clock.fetch_add(1, Ordering::Relaxed);
            frame.young_stamp.store(stamp, Ordering::Relaxed);
            count(&self.counters.pages_made_young, 1);
        }
    }
}
