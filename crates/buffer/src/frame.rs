//! Frames: the pool's memory, cut into pages, and what is known of each frame.
//!
//! **Which thread may touch a frame's bytes.** A shared holder of the frame's latch may read them,
//! the exclusive holder may read and write them. An optimistic reader reads word by word through
//! atomics, and uses nothing of what it read before it has validated the latch's version
//! (`optimistic`).
//!
//! **Which page a frame holds** is in `page_id`, which changes only under the frame's exclusive
//! latch. So whoever holds the latch in any mode and finds the right id there has the page, and the
//! page stays. A frame is given to another page only when it has no pins, and pins are taken under
//! the page table's lock. So a thread that waits for the latch waits for its own page and never for
//! another one, which would break the latch order.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use redo::Lsn;

use crate::latch::Latch;

/// The `page_id` of a frame that holds no page. No page has this id, since space numbers stay below
/// `u32::MAX`.
pub(crate) const NO_PAGE: u64 = u64::MAX;

/// What is known of a frame. It has a cache line of its own, so that latching one page does not
/// slow down access to neighbouring frames.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Frame {
    pub latch: Latch,
    /// The packed id of the page that the frame holds; see the module's head.
    pub page_id: AtomicU64,
    /// The start LSN of the oldest change that is not on disk, 0 when the page is clean. It changes
    /// under the flush lists' mutex; a change from 0 or to 0 also needs the latch (exclusive to
    /// dirty, shared to capture).
    pub oldest_lsn: AtomicU64,
    /// The number of threads that wait for the latch. It is raised under the page table's lock.
    pub pins: AtomicU32,
    /// The value of the LRU clock when the page was last moved to the young head.
    pub young_stamp: AtomicU32,
    /// The pool's tick when the page was first used, 0 when it was read ahead and not used yet.
    /// Only an access well after this tick makes the page young.
    pub used_tick: AtomicU32,
    /// Whether the frame is in the young part of the LRU list. It changes under the lists' mutex.
    pub young: AtomicBool,
    /// Whether a write of the page is under way. Meanwhile the page must not be written again, nor
    /// leave the pool.
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

    /// Reports whether the page is clean, not being written, and nobody waits for it. It may then
    /// leave the pool once its latch is taken.
    pub fn is_replaceable(&self) -> bool {
        // `writing` is read first: a write that fails makes the page dirty again before it clears
        // `writing`.
        !self.writing.load(Ordering::Acquire) && !self.is_dirty() && self.pins.load(Ordering::Acquire) == 0
    }
}

/// The memory of all frames: one allocation, which the operating system backs page by page as
/// frames are first used.
#[derive(Debug)]
pub(crate) struct Memory {
    start: *mut u8,
    layout: Layout,
    page_size: usize,
}

// SAFETY: the memory is plain; the frames' latches settle which thread may access which part when.
unsafe impl Send for Memory {}
// SAFETY: the memory is plain, and the frames' latches settle which thread may access which part
// when.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn new(frames: usize, page_size: usize) -> Memory {
        // The memory is aligned to huge pages. The system gives no memory for parts that are not
        // used yet.
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
        // SAFETY: the memory was allocated in `new` with the same layout; guards borrow the pool,
        // so none is left.
        unsafe { dealloc(self.start, self.layout) }
    }
}
