//! Instances of the pool: each has a part of the frames, with free, LRU and flush lists of its own,
//! so that threads that bring in, dirty and write different pages do not meet
//! (`innodb_buffer_pool_instances`).
//!
//! A page belongs to one instance by its number: 64 neighbours at a time, so that neighbours are
//! written together.

use std::sync::atomic::AtomicBool;

use parking_lot::{Condvar, Mutex};

use crate::bell::Bell;
use crate::flush_list::FlushLists;
use crate::lru::Lists;

/// Pages whose numbers differ only in their last bits stay together; also the unit of read-ahead
/// and of flushed neighbours.
pub(crate) const EXTENT_PAGES: u32 = 64;

/// One instance.
#[derive(Debug)]
pub(crate) struct Instance {
    /// Leaf in the lock order.
    pub lists: Mutex<Lists>,
    /// Signalled under `lists` when frames become free: the free-page event.
    pub free_event: Condvar,
    /// Leaf in the lock order.
    pub flush_lists: Mutex<FlushLists>,
    /// Signalled under `flush_lists` when writes have been synced.
    pub write_event: Condvar,
    /// Somebody is making frames free: a second one would only do the same work. Relaxed: nothing
    /// is published by it but the lists, which have their lock.
    pub freeing: AtomicBool,
    /// The thread that made frames free last could not write. Relaxed: a hint to threads that wait
    /// for a frame.
    pub cannot_flush: AtomicBool,
    /// A foreground thread is writing a single page. Relaxed, as `freeing`.
    pub single_page_flushing: AtomicBool,
    /// Wakes the instance's LRU flusher.
    pub lru_bell: Bell,
    /// How many frames it has.
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

/// Cuts `frames` into `count` instances; the last has what is left over.
pub(crate) fn divide(frames: usize, count: usize) -> Box<[Instance]> {
    let each = frames / count;
    let of = |number: usize| {
        let first = number * each;
        Instance::new(first as u32, if number + 1 == count { frames - first } else { each })
    };
    (0..count).map(of).collect()
}
