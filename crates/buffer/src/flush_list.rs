//! Which changes are not on disk yet, by LSN: the flush list, the writes under way, and the
//! mini-transactions about to log.
//!
//! A checkpoint at LSN `c` promises that no change of a record that starts before `c` is missing on
//! disk. So a page counts from the *start* of the record of its oldest change until the write that
//! holds the change has been **synced**. A page being written moves from `dirty` to `writing` when
//! its content is captured, and may at the same time be dirty again with newer changes. A
//! mini-transaction counts from before it reserves log space until its pages are marked dirty. So
//! whoever computes a checkpoint asks for the log's current LSN *first*, then for
//! mini-transactions, then for pages ([`crate::Pool::checkpoint_lsn`]).

use std::collections::BTreeSet;

use redo::Lsn;

/// The mini-transactions that are about to log. The pool has one mutex for them, which is a leaf in
/// the lock order (the log's current LSN is read under it).
#[derive(Debug, Default)]
pub(crate) struct Logging {
    begun: BTreeSet<(Lsn, u64)>,
    next_token: u64,
}

impl Logging {
    pub fn begin(&mut self, floor: Lsn) -> (Lsn, u64) {
        self.next_token += 1;
        let token = (floor, self.next_token);
        let is_new = self.begun.insert(token);
        assert!(is_new, "each mini-transaction has a token of its own");
        token
    }

    pub fn end(&mut self, token: (Lsn, u64)) {
        let had_begun = self.begun.remove(&token);
        assert!(had_begun, "a mini-transaction that has logged had announced it");
    }

    pub fn oldest(&self) -> Option<Lsn> {
        self.begun.first().map(|&(lsn, _)| lsn)
    }
}

/// A write of one page: the LSN of the oldest change in it, and a number of its own. The number is
/// needed because a page whose write is not synced yet may be written again, with a change as old.
pub(crate) type WriteTicket = (Lsn, u64);

/// The dirty pages of an instance and the writes under way. Their mutex is a leaf in the lock
/// order.
#[derive(Debug, Default)]
pub(crate) struct FlushLists {
    dirty: BTreeSet<(Lsn, u32)>,
    writing: BTreeSet<WriteTicket>,
    next_ticket: u64,
}

impl FlushLists {
    /// Returns the LSN of the oldest change that may not be on disk.
    pub fn oldest(&self) -> Option<Lsn> {
        let dirty = self.dirty.first().map(|&(lsn, _)| lsn);
        let writing = self.writing.first().map(|&(lsn, _)| lsn);
        [dirty, writing].into_iter().flatten().min()
    }

    pub fn dirty_len(&self) -> usize {
        self.dirty.len()
    }

    /// Enters a page into the flush list, or moves it to an older place. `before` is the LSN by
    /// which it is listed now, 0 when it is not listed.
    pub fn add(&mut self, frame: u32, before: Lsn, oldest: Lsn) {
        if before != 0 {
            let was_listed = self.dirty.remove(&(before, frame));
            assert!(was_listed, "a dirty page is on the flush list by its oldest change");
        }
        assert!(oldest > 0, "LSN 0 stands for a clean page");
        assert!(
            before == 0 || oldest <= before,
            "a page's oldest change only gets older: {oldest}, not {before}"
        );
        let is_new = self.dirty.insert((oldest, frame));
        assert!(is_new, "a page is on the flush list once");
    }

    /// Moves a page from the flush list to the writes under way: its content was captured.
    pub fn begin_write(&mut self, frame: u32, oldest: Lsn) -> WriteTicket {
        let was_dirty = self.dirty.remove(&(oldest, frame));
        assert!(was_dirty, "a captured page is on the flush list");
        self.next_ticket += 1;
        let ticket = (oldest, self.next_ticket);
        let is_new = self.writing.insert(ticket);
        assert!(is_new, "each write has a ticket of its own");
        ticket
    }

    /// Ends a write that is synced, or that failed after which the page is dirty as before.
    pub fn end_write(&mut self, ticket: WriteTicket) {
        let was_writing = self.writing.remove(&ticket);
        assert!(was_writing, "a write under way ends once");
    }

    /// Forgets a page that leaves the pool unwritten because its space is dropped: no crash finds
    /// its file again.
    pub fn forget(&mut self, frame: u32, oldest: Lsn) {
        self.dirty.remove(&(oldest, frame));
    }

    /// Returns up to `limit` dirty frames whose oldest change is older than `below`, oldest first.
    pub fn older_than(&self, below: Lsn, limit: usize) -> Vec<u32> {
        self.dirty.iter().take_while(|&&(lsn, _)| lsn < below).take(limit).map(|&(_, frame)| frame).collect()
    }

    /// Counts the pages whose oldest change is older than `below`, but no further than `limit`.
    pub fn count_older_than(&self, below: Lsn, limit: usize) -> usize {
        self.dirty.iter().take_while(|&&(lsn, _)| lsn < below).take(limit).count()
    }

    /// Reports whether a change older than `below` is being written right now.
    pub fn writes_older_than(&self, below: Lsn) -> bool {
        self.writing.first().is_some_and(|&(lsn, _)| lsn < below)
    }
}
