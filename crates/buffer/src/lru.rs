//! The free list and the LRU list, which is two: young pages, and old ones where pages enter and leave.
//!
//! A page read in goes to the head of the old part (InnoDB's midpoint) and moves to the young head when it is used again a while later, so
//! one scan of a large table cannot drive out what is used all the time. The young part is held at 5/8.

use crate::frame::Frame;

use std::sync::atomic::Ordering;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
    listed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Ends {
    head: u32,
    tail: u32,
    len: usize,
}

const EMPTY: Ends = Ends { head: NONE, tail: NONE, len: 0 };

/// Both lists. Under one mutex of the pool, which is a leaf in the lock order.
#[derive(Debug)]
pub(crate) struct Lists {
    free: Vec<u32>,
    links: Vec<Link>,
    young: Ends,
    old: Ends,
}

impl Lists {
    pub fn new(frames: u32) -> Lists {
        Lists {
            free: (0..frames).rev().collect(),
            links: vec![Link { previous: NONE, next: NONE, listed: false }; frames as usize],
            young: EMPTY,
            old: EMPTY,
        }
    }

    pub fn free_len(&self) -> usize {
        self.free.len()
    }

    pub fn young_len(&self) -> usize {
        self.young.len
    }

    pub fn old_len(&self) -> usize {
        self.old.len
    }

    pub fn pop_free(&mut self) -> Option<u32> {
        self.free.pop()
    }

    pub fn push_free(&mut self, frame: u32) {
        debug_assert!(!self.links[frame as usize].listed, "a free frame is on no other list");
        self.free.push(frame);
    }

    /// Puts a page just read in at the head of the old part.
    pub fn insert(&mut self, frames: &[Frame], frame: u32) {
        self.push_head(frames, frame, false);
        self.rebalance(frames);
    }

    /// Moves a page to the young head, if it is (still) listed.
    pub fn make_young(&mut self, frames: &[Frame], frame: u32) {
        if self.links[frame as usize].listed {
            self.remove(frames, frame);
            self.push_head(frames, frame, true);
            self.rebalance(frames);
        }
    }

    /// Takes a page off the list.
    pub fn remove(&mut self, frames: &[Frame], frame: u32) {
        let link = self.links[frame as usize];
        if !link.listed {
            return;
        }
        let young = frames[frame as usize].young.load(Ordering::Relaxed);
        let ends = if young { &mut self.young } else { &mut self.old };
        match link.previous {
            NONE => ends.head = link.next,
            previous => self.links[previous as usize].next = link.next,
        }
        match link.next {
            NONE => ends.tail = link.previous,
            next => self.links[next as usize].previous = link.previous,
        }
        ends.len -= 1;
        self.links[frame as usize].listed = false;
    }

    fn push_head(&mut self, frames: &[Frame], frame: u32, young: bool) {
        let ends = if young { &mut self.young } else { &mut self.old };
        self.links[frame as usize] = Link { previous: NONE, next: ends.head, listed: true };
        match ends.head {
            NONE => ends.tail = frame,
            head => self.links[head as usize].previous = frame,
        }
        ends.head = frame;
        ends.len += 1;
        frames[frame as usize].young.store(young, Ordering::Relaxed);
    }

    fn rebalance(&mut self, frames: &[Frame]) {
        while self.young.len * 8 > (self.young.len + self.old.len) * 5 {
            let frame = self.young.tail;
            self.remove(frames, frame);
            self.push_head(frames, frame, false);
        }
    }

    /// Frames of the old part, coldest first: those that may have to leave. The old part is at least 3/8 of all, and what is young stays even when it
    /// is clean and all that is old is dirty.
    pub fn coldest_first(&self) -> impl Iterator<Item = u32> + '_ {
        let first = (self.old.tail != NONE).then_some(self.old.tail);
        std::iter::successors(first, |&frame| {
            let previous = self.links[frame as usize].previous;
            (previous != NONE).then_some(previous)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_enter_at_the_midpoint_and_the_young_part_is_bounded() {
        let frames: Vec<Frame> = (0..16).map(|_| Frame::new()).collect();
        let mut lists = Lists::new(16);
        for expected in 0..16 {
            assert_eq!(lists.pop_free(), Some(expected));
            lists.insert(&frames, expected);
        }
        assert_eq!(lists.pop_free(), None);
        for frame in [3, 4, 5] {
            lists.make_young(&frames, frame);
        }
        assert_eq!((lists.young_len(), lists.old_len()), (3, 13));
        assert_eq!(lists.coldest_first().collect::<Vec<_>>(), [0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        for frame in 0..16 {
            lists.make_young(&frames, frame);
        }
        assert_eq!((lists.young_len(), lists.old_len()), (10, 6));
        // The sixteen were used in order, so the oldest six fell back into the old part.
        assert_eq!(lists.coldest_first().take(6).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        lists.remove(&frames, 0);
        lists.push_free(0);
        assert_eq!((lists.free_len(), lists.old_len()), (1, 5));
    }
}
