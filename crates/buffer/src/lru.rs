//! The free list and the LRU list of an instance. The LRU list has two parts: a young one, and an
//! old one where pages enter and leave.
//!
//! A page that is read in goes to the head of the old part (InnoDB's midpoint) and moves to the
//! young head when it is used again some time later. So one scan of a large table cannot drive out
//! the pages that are used all the time. The old part is held at `innodb_old_blocks_pct` percent of
//! the list.

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

/// Both lists of an instance. Their mutex is a leaf in the lock order.
#[derive(Debug)]
pub(crate) struct Lists {
    /// The number of the instance's first frame.
    first: u32,
    /// The share of the listed pages that is old, in percent.
    old_percent: usize,
    free: Vec<u32>,
    links: Vec<Link>,
    young: Ends,
    old: Ends,
}

impl Lists {
    pub fn new(first: u32, frames: u32) -> Lists {
        Lists {
            first,
            old_percent: 37,
            free: (first..first + frames).rev().collect(),
            links: vec![Link { previous: NONE, next: NONE, listed: false }; frames as usize],
            young: EMPTY,
            old: EMPTY,
        }
    }

    /// Changes the share of the listed pages that is old, in percent.
    pub fn set_old_percent(&mut self, frames: &[Frame], old_percent: usize) {
        self.old_percent = old_percent;
        self.rebalance(frames);
    }

    fn link(&self, frame: u32) -> Link {
        self.links[(frame - self.first) as usize]
    }

    fn link_mut(&mut self, frame: u32) -> &mut Link {
        &mut self.links[(frame - self.first) as usize]
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
        let frame = self.free.pop()?;
        debug_assert!(!self.link(frame).listed, "a frame that was free is on no other list");
        Some(frame)
    }

    pub fn push_free(&mut self, frame: u32) {
        debug_assert!(!self.link(frame).listed, "a free frame is on no other list");
        self.free.push(frame);
        assert!(self.free.len() <= self.links.len(), "a frame is free once");
    }

    /// Puts a page that was just read in at the head of the old part.
    pub fn insert(&mut self, frames: &[Frame], frame: u32) {
        self.push_head(frames, frame, false);
        self.rebalance(frames);
    }

    /// Moves a page to the young head, if it is (still) listed.
    pub fn make_young(&mut self, frames: &[Frame], frame: u32) {
        if self.link(frame).listed {
            self.remove(frames, frame);
            self.push_head(frames, frame, true);
            self.rebalance(frames);
        }
    }

    /// Takes a page off the LRU list, if it is listed.
    pub fn remove(&mut self, frames: &[Frame], frame: u32) {
        let link = self.link(frame);
        if !link.listed {
            return;
        }
        let young = frames[frame as usize].young.load(Ordering::Relaxed);
        match link.previous {
            NONE => self.part(young).head = link.next,
            previous => self.link_mut(previous).next = link.next,
        }
        match link.next {
            NONE => self.part(young).tail = link.previous,
            next => self.link_mut(next).previous = link.previous,
        }
        assert!(self.part(young).len > 0, "a frame that is listed is counted");
        self.part(young).len -= 1;
        self.link_mut(frame).listed = false;
        debug_assert_eq!(
            self.part(young).len == 0,
            self.part(young).head == NONE,
            "an empty list has no head"
        );
    }

    fn part(&mut self, young: bool) -> &mut Ends {
        if young { &mut self.young } else { &mut self.old }
    }

    fn push_head(&mut self, frames: &[Frame], frame: u32, young: bool) {
        assert!(!self.link(frame).listed, "a frame is on one list");
        let head = self.part(young).head;
        *self.link_mut(frame) = Link { previous: NONE, next: head, listed: true };
        match head {
            NONE => self.part(young).tail = frame,
            head => self.link_mut(head).previous = frame,
        }
        let part = self.part(young);
        part.head = frame;
        part.len += 1;
        frames[frame as usize].young.store(young, Ordering::Relaxed);
    }

    fn rebalance(&mut self, frames: &[Frame]) {
        while self.young.len * 100 > (self.young.len + self.old.len) * (100 - self.old_percent) {
            let frame = self.young.tail;
            self.remove(frames, frame);
            self.push_head(frames, frame, false);
        }
    }

    /// Returns the frames of the old part, coldest first. These may have to leave. Young pages
    /// stay, even when they are clean and all old ones are dirty.
    pub fn coldest_first(&self) -> impl Iterator<Item = u32> + '_ {
        let first = (self.old.tail != NONE).then_some(self.old.tail);
        std::iter::successors(first, |&frame| {
            let previous = self.link(frame).previous;
            (previous != NONE).then_some(previous)
        })
    }

    /// Returns the listed frames, hottest first: the young part, then the old one.
    pub fn hottest_first(&self) -> impl Iterator<Item = u32> + '_ {
        let from = move |head: u32| {
            std::iter::successors((head != NONE).then_some(head), |&frame| {
                let next = self.link(frame).next;
                (next != NONE).then_some(next)
            })
        };
        from(self.young.head).chain(from(self.old.head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_enter_at_the_midpoint_and_the_young_part_is_bounded() {
        let frames: Vec<Frame> = (0..16).map(|_| Frame::new()).collect();
        let mut lists = Lists::new(0, 16);
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
        // All sixteen pages were used in order, so the six used first fell back into the old part.
        assert_eq!(lists.coldest_first().take(6).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let hottest: Vec<u32> = lists.hottest_first().collect();
        assert_eq!(hottest, (0..16).rev().collect::<Vec<_>>());
        lists.remove(&frames, 0);
        lists.push_free(0);
        assert_eq!((lists.free_len(), lists.old_len()), (1, 5));
        lists.set_old_percent(&frames, 80);
        assert_eq!((lists.young_len(), lists.old_len()), (3, 12));
    }

    #[test]
    fn an_instance_that_does_not_begin_at_frame_0_has_its_own_frames() {
        let frames: Vec<Frame> = (0..8).map(|_| Frame::new()).collect();
        let mut lists = Lists::new(5, 3);
        let taken: Vec<u32> = std::iter::from_fn(|| lists.pop_free()).collect();
        assert_eq!(taken, [5, 6, 7]);
        taken.iter().for_each(|&frame| lists.insert(&frames, frame));
        assert_eq!(lists.coldest_first().collect::<Vec<_>>(), [5, 6, 7]);
    }
}
