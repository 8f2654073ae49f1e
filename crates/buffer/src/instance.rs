//! Instances of the pool. Each has a part of the frames, with free, LRU and flush lists of its own,
//! so that threads that bring in, dirty and write different pages do not compete for one lock
//! (`innodb_buffer_pool_instances`).
//!
//! A page belongs to one instance by its number. 64 neighbouring pages always belong to the same
//! one, so that neighbours are written together.

use std::sync::atomic::AtomicBool;

use parking_lot::{Condvar, Mutex};

use crate::bell::Bell;
use crate::flush_list::FlushLists;
use crate::lru::Lists;

/// The number of neighbouring pages that belong to one instance. Read-ahead and flushing of
/// neighbours also work on this many pages.
pub(crate) const EXTENT_PAGES: u32 = 64;

/// One instance of the pool.
#[derive(Debug)]
pub(crate) struct Instance {
    /// The free list and the LRU list. The mutex is a leaf in the lock order.
    pub lists: Mutex<Lists>,
    /// Signalled under `lists` when frames become free: the event that threads without a free frame
    /// wait for.
    pub free_event: Condvar,
    /// The dirty pages and the writes under way. The mutex is a leaf in the lock order.
    pub flush_lists: Mutex<FlushLists>,
    /// Signalled under `flush_lists` when writes have been synced.
    pub write_event: Condvar,
    /// Whether a thread is making frames free. A second one would only do the same work. Relaxed:
    /// nothing is published by it but the lists, which have their lock.
    pub freeing: AtomicBool,
    /// Whether the thread that last made frames free could not write. Relaxed: it is a hint to
    /// threads that wait for a frame.
    pub cannot_flush: AtomicBool,
    /// Whether a foreground thread is writing a single page. Relaxed, as `freeing`.
    pub single_page_flushing: AtomicBool,
    /// Wakes the instance's LRU flusher.
    pub lru_bell: Bell,
    /// The number of frames of the instance.
    pub frames: usize,
}

impl Instance {
    fn new(first: u32, frames: usize) -> Instance {
        Instance {
            lists: Mutex::new(Lists::new(first, frames as u32)),
            free_event: Condvar::new(),
            flush_lists: Mutex::new(FlushLists::default()),
            write_event: Condvar::new(),
            freeing: AtomicBool::new(false),
            cannot_flush: AtomicBool::new(false),
            single_page_flushing: AtomicBool::new(false),
            lru_bell: Bell::default(),
            frames,
        }
    }

    /// Wakes all threads that wait for a free frame.
    pub fn announce_free(&self) {
        self.free_event.notify_all();
    }
}

/// Divides `frames` frames into `count` instances. The last one also has the frames that are left
/// over.
pub(crate) fn divide(frames: usize, count: usize) -> Box<[Instance]> {
    let each = frames / count;
    let of = |number: usize| {
        let first = number * each;
        Instance::new(first as u32, if number + 1 == count { frames - first } else { each })
    };
    (0..count).map(of).collect()
}
