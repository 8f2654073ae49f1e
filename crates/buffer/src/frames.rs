//! The frames of a pool and the pages in them: finding, entering and removing pages, and choosing
//! the pages that leave. Nothing here reads or writes a file, and nobody waits here for anything
//! but a lock.
//!
//! The modules that bring pages in (`fetch`, `read_ahead`) and write them out (`flush`) are built
//! on these frames. Which pages are dirty is in `dirty`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use redo::Log;

use crate::flush_list::Logging;
use crate::frame::{Frame, Memory, NO_PAGE};
use crate::instance::{self, EXTENT_PAGES, Instance};
use crate::lru::Lists;
use crate::lru_order::{LruOrder, Place};
use crate::notes::Notes;
use crate::options::PoolOptions;
use crate::page::PageId;
use crate::status::{Counters, count};
use crate::table::{PageTable, spread};

/// The number of frames that one search for a clean page looks at.
pub(crate) const EVICT_SCAN: usize = 100;

/// All frames of a pool, with the structures that find, order and count their pages.
#[derive(Debug)]
pub(crate) struct Frames {
    memory: Memory,
    frames: Box<[Frame]>,
    table: PageTable,
    instances: Box<[Instance]>,
    order: LruOrder,
    notes: Notes,
    pub(crate) counters: Counters,
    /// The log that the pages' changes are in.
    pub(crate) log: Arc<Log>,
    /// The mini-transactions about to log. The mutex is a leaf in the lock order.
    pub(crate) logging: Mutex<Logging>,
}

impl Frames {
    /// Makes `frames` empty frames, divided into `instances` instances.
    pub fn new(
        frames: usize,
        instances: usize,
        page_size: usize,
        options: &PoolOptions,
        log: Arc<Log>,
    ) -> Frames {
        let frames = Frames {
            memory: Memory::new(frames, page_size),
            frames: (0..frames).map(|_| Frame::new()).collect(),
            table: PageTable::new(frames),
            instances: instance::divide(frames, instances),
            order: LruOrder::new(options),
            notes: Notes::new(options),
            counters: Counters::default(),
            log,
            logging: Mutex::new(Logging::default()),
        };
        frames.set_old_percent(options.old_blocks_percent);
        frames
    }

    /// Takes over the changed options about ages and read-ahead.
    pub fn set_options(&self, options: &PoolOptions) {
        self.order.set_options(options);
        self.notes.set_options(options);
    }

    /// Changes how much of each LRU list is its old part, in percent.
    pub fn set_old_percent(&self, old_percent: usize) {
        for instance in &self.instances {
            instance.lists.lock().set_old_percent(&self.frames, old_percent);
        }
    }

    /// Returns the size of a page in bytes.
    #[inline]
    pub fn page_size(&self) -> usize {
        self.memory.page_size()
    }

    /// Returns how many frames there are. Their numbers begin at 0.
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    #[inline]
    pub fn frame(&self, number: u32) -> &Frame {
        &self.frames[number as usize]
    }

    /// Returns the address of the frame's bytes. The head of `frame` says which thread may touch
    /// them when.
    #[inline]
    pub fn page_ptr(&self, number: u32) -> *mut u8 {
        self.memory.page_ptr(number)
    }

    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Returns the instance that a page belongs to.
    pub fn instance_of_page(&self, packed: u64) -> &Instance {
        match &*self.instances {
            [only] => only,
            several => &several[spread(packed / u64::from(EXTENT_PAGES)) as usize % several.len()],
        }
    }

    /// Returns the instance that a frame belongs to.
    pub fn instance_of_frame(&self, number: u32) -> &Instance {
        let each = self.frames.len() / self.instances.len();
        &self.instances[(number as usize / each).min(self.instances.len() - 1)]
    }

    /// Returns the order in which pages leave, with the clocks that it follows.
    pub fn order(&self) -> &LruOrder {
        &self.order
    }

    /// Returns the notes for the read-ahead thread.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Returns the frame that may hold the page, without taking a lock.
    #[inline]
    pub fn hinted(&self, packed: u64) -> Option<u32> {
        self.table.hinted(packed)
    }

    /// Leaves a hint that the frame holds the page.
    pub fn set_hint(&self, packed: u64, number: u32) {
        self.table.set_hint(packed, number);
    }

    /// Returns the frame that holds the page at this moment.
    pub fn holder_of(&self, packed: u64) -> Option<u32> {
        self.table.shard(packed).get(&packed).copied()
    }

    /// Returns the frame that holds the page, pinned for a thread that is going to wait for its
    /// latch.
    pub fn pin(&self, packed: u64) -> Option<u32> {
        let shard = self.table.shard(packed);
        let number = shard.get(&packed).copied()?;
        // The pin is taken under the shard's lock, since `evict_frame` looks at the pins under it.
        self.frame(number).pins.fetch_add(1, Ordering::AcqRel);
        Some(number)
    }

    /// Enters the page into the table with this frame, which is latched exclusively. Returns false
    /// when the page has a frame already; this one is then free again.
    pub fn enter(&self, number: u32, packed: u64) -> bool {
        let frame = self.frame(number);
        let mut shard = self.table.shard(packed);
        if shard.contains_key(&packed) {
            drop(shard);
            frame.latch.release_exclusive();
            self.give_free(number);
            return false;
        }
        shard.insert(packed, number);
        frame.page_id.store(packed, Ordering::Relaxed);
        true
    }

    /// Puts the frame, which has been filled, on its instance's LRU list: at the young head if
    /// `is_young`, otherwise at the head of the old part.
    pub fn list(&self, number: u32, is_young: bool) {
        let mut lists = self.instance_of_frame(number).lists.lock();
        lists.insert(&self.frames, number);
        if is_young {
            lists.make_young(&self.frames, number);
        }
    }

    /// Removes the page from its frame, which is latched exclusively and clean, and frees the
    /// frame.
    pub fn discard(&self, number: u32) {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        assert!(!frame.is_dirty(), "a dirty page is not thrown away");
        self.table.shard(packed).remove(&packed);
        self.empty_frame(number);
    }

    /// Evicts the frame's page if it is clean and nobody has or wants it. Returns false if the page
    /// stays.
    pub fn evict_frame(&self, number: u32) -> bool {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        if packed == NO_PAGE {
            return false;
        }
        {
            let mut shard = self.table.shard(packed);
            // Pins are taken under the shard's lock, so none can come between this check and the
            // removal. A thread that latches by a hint instead either fails because of the
            // exclusive latch, or makes this attempt to take it fail.
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

    /// Frees the frame of a page that is being removed: the page's entry in the table is gone, and
    /// the latch is held exclusively.
    fn empty_frame(&self, number: u32) {
        let frame = self.frame(number);
        frame.page_id.store(NO_PAGE, Ordering::Relaxed);
        self.instance_of_frame(number).lists.lock().remove(&self.frames, number);
        frame.latch.release_exclusive();
        self.give_free(number);
    }

    fn give_free(&self, number: u32) {
        let instance = self.instance_of_frame(number);
        instance.lists.lock().push_free(number);
        // All waiting threads are woken: a thread that brings in many pages may wait for more than
        // one frame.
        instance.free_event.notify_all();
    }

    /// Frees up to `wanted` frames with clean pages out of the `scan` coldest of the instance, and
    /// returns how many it freed.
    pub fn evict(&self, instance: &Instance, wanted: usize, scan: usize) -> usize {
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

    /// Returns a free frame of the instance, latched exclusively, if the instance has more than
    /// half as many free frames as it keeps. Evicts a clean page if it must.
    pub fn take_spare(&self, instance: &Instance) -> Option<u32> {
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

    /// Returns how many frames are kept free in an instance.
    pub fn free_target(&self, instance: &Instance) -> usize {
        self.order.free_target().min(instance.frames / 8).max(4)
    }

    /// Keeps the LRU list roughly in order. This is cheap unless the page's place is well out of
    /// date.
    #[inline]
    pub fn touch(&self, number: u32, frame: &Frame) {
        if self.order.is_kept() {
            self.touch_listed(number, frame);
        }
    }

    fn touch_listed(&self, number: u32, frame: &Frame) {
        match self.order.place_of(frame, self.frames.len()) {
            Place::Right => {}
            Place::FirstUse => self.first_use(frame),
            Place::OutOfDate => {
                if let Some(mut lists) = self.instance_of_frame(number).lists.try_lock() {
                    lists.make_young(&self.frames, number);
                    self.order.stamp(frame);
                    count(&self.counters.pages_made_young, 1);
                }
            }
        }
    }

    /// Notes the first use of a page that was read ahead.
    #[cold]
    fn first_use(&self, frame: &Frame) {
        self.order.note_use(frame);
        let packed = frame.page_id.load(Ordering::Relaxed);
        self.notes.consider(PageId::new((packed >> 32) as u32, packed as u32));
    }

    /// Returns the tick at which the page was first used. `None` when the page is not in the pool,
    /// or was read ahead and not used yet.
    pub fn used_at(&self, id: PageId) -> Option<u32> {
        let number = self.holder_of(id.packed())?;
        let tick = self.frame(number).used_tick.load(Ordering::Relaxed);
        (tick != 0).then_some(tick)
    }
}
