//! Which changes are not on disk yet: how pages become dirty, and how a checkpoint finds the oldest
//! change.

use std::sync::atomic::Ordering;

use redo::Lsn;

use crate::frames::Frames;

impl Frames {
    /// Enters the frame, which is latched exclusively, into the flush list, or moves it there to
    /// the place of an older change.
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

    /// Takes the frame's page off the flush list, because its space is durably dropped.
    pub fn forget_changes(&self, number: u32) {
        let frame = self.frame(number);
        let mut lists = self.instance_of_frame(number).flush_lists.lock();
        lists.forget(number, frame.oldest());
        frame.oldest_lsn.store(0, Ordering::Relaxed);
    }

    /// Announces a record that will dirty pages. The caller has not reserved its log space yet.
    pub fn begin_logging(&self) -> (Lsn, u64) {
        let mut logging = self.logging.lock();
        // The LSN is read under the lock, so no checkpoint past it can have been computed before
        // the record is announced.
        let floor = self.log.current_lsn();
        logging.begin(floor)
    }

    /// Withdraws the announcement of a record whose pages are marked dirty now.
    pub fn end_logging(&self, token: (Lsn, u64)) {
        self.logging.lock().end(token);
    }

    /// Returns the start LSN of the oldest change that may not be on disk.
    pub fn oldest_dirty_lsn(&self) -> Option<Lsn> {
        // Mini-transactions are asked first: one that ends in between has its pages in the lists.
        let logging = self.logging.lock().oldest();
        let pages = self.instances().iter().filter_map(|instance| instance.flush_lists.lock().oldest());
        pages.chain(logging).min()
    }

    /// Does the work of [`crate::Pool::checkpoint_lsn`].
    pub fn checkpoint_lsn(&self, oldest_unapplied: impl FnOnce() -> Option<Lsn>) -> Lsn {
        // The log's end is read first: a record that is reserved after this moment lies past it. A
        // record that was reserved before is either still unapplied when `oldest_unapplied` is
        // asked next, or its pages are dirty by then and in the lists, which are asked last. The
        // same holds for mini-transactions.
        let end = self.log.current_lsn();
        let unapplied = oldest_unapplied().unwrap_or(end);
        let dirty = self.oldest_dirty_lsn().unwrap_or(end);
        end.min(unapplied).min(dirty)
    }
}
