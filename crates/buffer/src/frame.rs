//! Frames: the pool's memory, cut into pages, and what is known of each.
//!
//! **Which thread may touch a frame's bytes.** A shared holder of its latch may read them, the
//! exclusive holder may read and write them. An optimistic reader reads word by word through
//! atomics, and uses nothing of it before the latch's version is validated (`optimistic`).
//!
//! **Which page a frame holds** is in `page_id`. It changes only under the frame's exclusive latch;
//! so whoever holds the latch in any mode and finds the right id there has the page, and it stays.
//! A frame is given to another page only when it has no pins, and pins are taken under the page
//! table's lock: a waiter for the latch thus waits on its own page and never on a stranger's, which
//! would break the latch order.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use redo::Lsn;

use crate::latch::Latch;

/// `page_id` of a frame that holds none. No page has it: space numbers stay below `u32::MAX`.
pub(crate) const NO_PAGE: u64 = u64::MAX;

/// What is known of a frame. One cache line, so that latching one page does not slow its
/// neighbours.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Frame {
    pub latch: Latch,
    /// The page held, packed; see the module's head.
    pub page_id: AtomicU64,
    /// Start LSN of the oldest change not on disk, 0 when clean. Changes under the flush lists'
    /// mutex; a change from 0 or to 0 also needs the latch (exclusive to dirty, shared to capture).
    pub oldest_lsn: AtomicU64,
    /// Threads waiting for the latch. Raised under the page table's lock.
    pub pins: AtomicU32,
    /// The LRU clock when the page was last moved to the young head.
    pub young_stamp: AtomicU32,
    /// The pool's tick when the page was first used, 0 when it was read ahead and has not been; a
    /// page is made young only by an access well after that.
    pub used_tick: AtomicU32,
    /// Whether it is in the young part of the LRU list. Changes under the lists' mutex.
    pub young: AtomicBool,
    /// A write of the page is under way: it must not be written again, nor leave the pool.
    pub writing: AtomicBool,
}

impl Frame {
    pub fn new() -> Frame {
        Frame {
            latch: Latch::new(),
            page_id: AtomicU64::new(NO_PAGE),
            oldest_lsn: AtomicU64::new(0),
            pins: AtomicU32::new(0),
            young_stamp: AtomicU32::new(0),
            used_tick: AtomicU32::new(0),
            young: AtomicBool::new(false),
            writing: AtomicBool::new(false),
        }
    }

    #[inline]
    pub fn holds(&self, packed: u64) -> bool {
        self.page_id.load(Ordering::Relaxed) == packed
    }

    pub fn oldest(&self) -> Lsn {
        self.oldest_lsn.load(Ordering::Relaxed)
    }

    pub fn is_dirty(&self) -> bool {
        self.oldest() != 0
    }

    /// Clean, not being written, nobody waiting: may leave the pool once its latch is had.
    pub fn is_replaceable(&self) -> bool {
        // In this order: a write that fails makes the page dirty again before it says that it is
        // over.
        !self.writing.load(Ordering::Acquire) && !self.is_dirty() && self.pins.load(Ordering::Acquire) == 0
    }
}

/// The memory of all frames: one allocation, which the system hands out page by page as frames are
/// first used.
#[derive(Debug)]
pub(crate) struct Memory {
    start: *mut u8,
    layout: Layout,
    page_size: usize,
}

// SAFETY: the memory is plain; the frames' latches settle which thread may access which part when.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn new(frames: usize, page_size: usize) -> Memory {
        // Aligned to huge pages; the system keeps back what is not used yet.
        let layout =
            Layout::from_size_align(frames * page_size, 2 << 20).expect("the pool's size was checked");
        // SAFETY: the layout's size is not zero: a pool has at least one frame.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        os::memory::prefer_huge_pages(start, layout.size());
        Memory { start, layout, page_size }
    }

    #[inline]
    pub fn page_ptr(&self, frame: u32) -> *mut u8 {
        let offset = frame as usize * self.page_size;
        debug_assert!(offset < self.layout.size());
        // SAFETY: frame numbers come from the pool's own tables and are below its number of frames.
        unsafe { self.start.add(offset) }
    }

    #[inline]
    pub fn page_size(&self) -> usize {
        self.page_size
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout; guards borrow the pool, so none is left.
        unsafe { dealloc(self.start, self.layout) }
    }
}
