//! Which changes are not on disk yet: pages become dirty, and a checkpoint asks for the oldest
//! change.

use std::sync::atomic::Ordering;

use redo::Lsn;

use crate::frames::Frames;

impl Frames {
    /// Enters the frame, latched exclusively, into the flush list, or moves it to an older place
    /// there.
    #[inline]
    pub fn mark_dirty(&self, number: u32, start: Lsn) {
        let frame = self.frame(number);
        let oldest = frame.oldest();
        if oldest == 0 || start < oldest {
            let mut lists = self.instance_of_frame(number).flush_lists.lock();
            let oldest = frame.oldest();
            lists.add(number, oldest, if oldest == 0 { start } else { start.min(oldest) });
            frame.oldest_lsn.store(if oldest == 0 { start } else { start.min(oldest) }, Ordering::Relaxed);
        }
    }

    /// Takes the frame's page off the flush list: its space is dropped, durably.
    pub fn forget_changes(&self, number: u32) {
        let frame = self.frame(number);
        let mut lists = self.instance_of_frame(number).flush_lists.lock();
        lists.forget(number, frame.oldest());
        frame.oldest_lsn.store(0, Ordering::Relaxed);
    }

    /// Announces a record that will dirty pages, before its log space is reserved.
    pub fn begin_logging(&self) -> (Lsn, u64) {
        let mut logging = self.logging.lock();
        // Read under the lock: no checkpoint has been computed past it then.
        let floor = self.log.current_lsn();
        logging.begin(floor)
    }

    /// The pages of an announced record are marked dirty.
    pub fn end_logging(&self, token: (Lsn, u64)) {
        self.logging.lock().end(token);
    }

    /// The start LSN of the oldest change that may not be on disk.
    pub fn oldest_dirty_lsn(&self) -> Option<Lsn> {
        // Mini-transactions first: one that has ended since has its pages in the lists.
        let logging = self.logging.lock().oldest();
        let pages = self.instances().iter().filter_map(|instance| instance.flush_lists.lock().oldest());
        pages.chain(logging).min()
    }

    /// See [`crate::Pool::checkpoint_lsn`].
    pub fn checkpoint_lsn(&self, oldest_unapplied: impl FnOnce() -> Option<Lsn>) -> Lsn {
        // The log's end is read first: a record that is reserved after this moment lies past it. A
        // record that was reserved before is either unapplied when that is asked next, or its pages
        // are dirty by then and in the lists, which are asked last. The same goes for
        // mini-transactions.
        let end = self.log.current_lsn();
        let unapplied = oldest_unapplied().unwrap_or(end);
        let dirty = self.oldest_dirty_lsn().unwrap_or(end);
        end.min(unapplied).min(dirty)
    }
}
