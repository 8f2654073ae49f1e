//! Descending through inner nodes without writing shared memory.
//!
//! An inner node changes rarely and is read by every descent. Here it is read without its latch:
//! the reader notes the latch's version, reads, and asks whether the version still holds. What was
//! read from a page that was being changed is garbage and is thrown away; until then it must do no
//! harm:
//! - Every read is a relaxed atomic load, so it is one load of one value, and no assumption that
//!   two loads agree is made.
//! - Every offset is checked against the page's size before it is used; nothing here panics or
//!   loops on garbage.
//! - A frame's memory stays mapped for the pool's life, so stale frame numbers lead to readable
//!   memory.
//!
//! Writers write the same bytes with plain stores under the exclusive latch. Between those and the
//! loads here lies the latch's seqlock protocol (release fence after taking the bit, release on
//! letting go, acquire fence before validating), so a validated read saw no such store. An
//! unvalidated one may have raced with one, which the language does not define for plain stores;
//! what is relied upon is that machine loads and stores of these sizes yield some mix of old and
//! new bytes, as all processors that this runs on do.
//!
//! **Coupling.** A child's version is taken *before* its parent is validated. The child's number
//! thus was in the parent at a moment when the child was in its frame at that version; a split or
//! merge of the child changes the parent as well, so whoever validates the parent last, after it
//! has the leaf's latch, has the right leaf.

use std::cmp::Ordering as Order;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::frames::Frames;
use crate::page::{PageId, PageNo, PageType, SpaceId};
use crate::slotted::{self, SLOT_BYTES, SLOTS};

/// Levels of the highest tree; a longer way down is garbage.
const MAX_LEVELS: usize = 32;

/// Cache lines at a leaf's start that are loaded ahead.
const PREFETCHED_LINES: usize = 10;

/// A page in a frame at a version.
#[derive(Debug, Clone, Copy)]
struct Seen {
    frame: u32,
    version: u64,
}

/// Cache lines of an entry that are loaded ahead.
const PREFETCHED_ENTRY_LINES: usize = 4;

/// Where a key's leaf was, and the parent that said so. It is the key's leaf as long as the parent
/// is as it was, whatever changes in the leaf: [`crate::Pool::read_found`] and
/// [`crate::Pool::write_found`] ask.
#[derive(Debug, Clone, Copy)]
pub struct FoundLeaf {
    no: PageNo,
    space: SpaceId,
    parent: Seen,
    is_last: bool,
}

impl FoundLeaf {
    /// The tree's last leaf: the leaf of every greater key too, with the same proviso. A node only
    /// stops being the last of its level by being split, which changes it.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    #[inline]
    pub(crate) fn id(self) -> PageId {
        PageId::new(self.space, self.no)
    }

    /// Whether the leaf, which is latched, is the key's leaf.
    #[inline]
    pub(crate) fn is_still(self, frames: &Frames) -> bool {
        self.parent.is_still(frames)
    }

    /// See [`crate::Pool::prefetch_found`].
    #[inline]
    pub(crate) fn prefetch(self, frames: &Frames) {
        prefetch_leaf(frames, self.id());
    }

    /// See [`crate::Pool::prefetch_entry`].
    #[inline]
    pub(crate) fn prefetch_entry(self, frames: &Frames, key: &[u8]) {
        if let Some(number) = frames.hinted(self.id().packed()) {
            let start = frames.page_ptr(number);
            let page = RacyPage { start, size: frames.page_size() };
            if let Some(offset) = page.cell_of(key) {
                (0..PREFETCHED_ENTRY_LINES)
                    .for_each(|line| os::memory::prefetch(start.wrapping_add(offset + line * 64)));
            }
        }
    }
}

/// Racy access to one page.
#[derive(Clone, Copy)]
struct RacyPage {
    start: *const u8,
    size: usize,
}

impl RacyPage {
    #[inline]
    fn u8(self, at: usize) -> Option<u8> {
        if at >= self.size {
            return None;
        }
        // SAFETY: within the frame, which stays mapped; any byte is a valid u8. Races are the
        // module head's subject.
        Some(unsafe { AtomicU8::from_ptr(self.start.add(at).cast_mut()) }.load(Ordering::Relaxed))
    }

    #[inline]
    fn u16(self, at: usize) -> u16 {
        assert!(at.is_multiple_of(2) && at + 2 <= SLOTS);
        // SAFETY: within the page header and aligned, since frames are aligned to pages.
        u16::from_le(
            unsafe { AtomicU16::from_ptr(self.start.add(at).cast_mut().cast()) }.load(Ordering::Relaxed),
        )
    }

    /// A slot: offset, key length, head.
    #[inline]
    fn slot(self, index: usize) -> Option<(usize, usize, u32)> {
        let at = SLOTS + index * SLOT_BYTES;
        if at + SLOT_BYTES > self.size {
            return None;
        }
        // SAFETY: within the frame and aligned: slots begin at a multiple of 8 and frames are
        // aligned to pages.
        let word = u64::from_le(
            unsafe { AtomicU64::from_ptr(self.start.add(at).cast_mut().cast()) }.load(Ordering::Relaxed),
        );
        Some((word as u16 as usize, (word >> 16) as u16 as usize, (word >> 32) as u32))
    }

    /// The head of a slot that is within the page.
    #[inline]
    fn head(self, index: usize) -> u32 {
        let at = SLOTS + index * SLOT_BYTES + 4;
        assert!(at + 4 <= self.size);
        // SAFETY: as in `slot`.
        u32::from_le(
            unsafe { AtomicU32::from_ptr(self.start.add(at).cast_mut().cast()) }.load(Ordering::Relaxed),
        )
    }

    /// About where the cell of `key` is on a leaf: right if its head is like no other's.
    fn cell_of(self, key: &[u8]) -> Option<usize> {
        let (entries, skip) = (self.u16(slotted::COUNT) as usize, self.u16(slotted::SKIP) as usize);
        self.slot(entries.checked_sub(1)?)?;
        let head = slotted::head_of(key, skip);
        let index = slotted::partition(0, entries, |index| self.head(index) < head);
        self.slot(index.min(entries - 1)).map(|(offset, _, _)| offset)
    }

    /// Compares `len` key bytes at `at` with `key`.
    fn compare(self, at: usize, len: usize, key: &[u8]) -> Option<Order> {
        for (index, byte) in key.iter().enumerate().take(len) {
            match self.u8(at + index)?.cmp(byte) {
                Order::Equal => {}
                other => return Some(other),
            }
        }
        Some(len.cmp(&key.len()))
    }

    /// The child to follow for `key`, and whether it is the last. `None` is garbage.
    fn child_of(self, key: &[u8]) -> Option<(PageNo, bool)> {
        let (entries, skip) = (self.u16(slotted::COUNT) as usize, self.u16(slotted::SKIP) as usize);
        if entries == 0 {
            return None;
        }
        let index = if entries == 1 || key.is_empty() { 0 } else { self.child_index(entries, skip, key)? };
        let (offset, key_len, _) = self.slot(index)?;
        let at = offset + slotted::CELL_HEADER_BYTES + key_len;
        let bytes = [self.u8(at)?, self.u8(at + 1)?, self.u8(at + 2)?, self.u8(at + 3)?];
        Some((u32::from_le_bytes(bytes), index + 1 == entries))
    }

    /// As [`slotted::child_index`].
    fn child_index(self, entries: usize, skip: usize, key: &[u8]) -> Option<usize> {
        let head = slotted::head_of(key, skip);
        // From here to the end of the slots every index is within the page.
        self.slot(entries - 1)?;
        let mut low = slotted::partition(1, entries, |index| self.head(index) < head);
        if low < entries && self.head(low) == head {
            let mut high = slotted::partition(low, entries, |index| self.head(index) <= head);
            while low < high {
                let middle = (low + high) / 2;
                let (offset, key_len, _) = self.slot(middle)?;
                match self.compare(offset + slotted::CELL_HEADER_BYTES, key_len, key)? {
                    Order::Less => low = middle + 1,
                    Order::Greater => high = middle,
                    Order::Equal => return Some(middle),
                }
            }
        }
        let (offset, key_len, _) = self.slot(1)?;
        let shared = skip.min(key_len);
        Some(
            match self.compare(offset + slotted::CELL_HEADER_BYTES, shared, &key[..key.len().min(shared)])? {
                // The prefix is above the key: the key is below all that is compared.
                Order::Greater => 0,
                Order::Less => entries - 1,
                Order::Equal => low - 1,
            },
        )
    }
}

impl Seen {
    #[inline]
    fn of(frames: &Frames, id: PageId) -> Option<Seen> {
        let packed = id.packed();
        let number = frames.hinted(packed)?;
        let frame = frames.frame(number);
        let version = frame.latch.version()?;
        if !frame.holds(packed) {
            return None;
        }
        frames.touch(number, frame);
        Some(Seen { frame: number, version })
    }

    /// Whether the page is still as it was seen.
    #[inline]
    fn is_still(self, frames: &Frames) -> bool {
        frames.frame(self.frame).latch.validate(self.version)
    }
}

/// Starts loading what a search of the page will touch first: the frame's latch, the header, and
/// the slots of a page of average rows. They would otherwise be waited for one after the other.
#[inline]
fn prefetch_leaf(frames: &Frames, id: PageId) {
    if let Some(number) = frames.hinted(id.packed()) {
        os::memory::prefetch(std::ptr::from_ref(frames.frame(number)).cast());
        let page = frames.page_ptr(number);
        (0..PREFETCHED_LINES).for_each(|line| os::memory::prefetch(page.wrapping_add(line * 64)));
    }
}

/// See [`crate::Pool::find_leaf`].
pub(crate) fn find_leaf(frames: &Frames, root: PageId, key: &[u8]) -> Option<FoundLeaf> {
    let mut node = Seen::of(frames, root)?;
    let (mut expected, mut is_last) = (None, true);
    for nodes in 1..=MAX_LEVELS as u64 {
        let page = RacyPage { start: frames.page_ptr(node.frame), size: frames.page_size() };
        let (page_type, level) = (page.u8(12)?, page.u8(13)?);
        let sound = page_type == PageType::Index as u8
            && level > 0
            && expected.is_none_or(|expected| expected == level);
        if !sound {
            return None;
        }
        let (child, is_last_child) = page.child_of(key)?;
        is_last &= is_last_child;
        if level == 1 {
            os::account::count_page_requests(nodes);
            prefetch_leaf(frames, PageId::new(root.space, child));
            let found = FoundLeaf { no: child, space: root.space, parent: node, is_last };
            return node.is_still(frames).then_some(found);
        }
        let next = Seen::of(frames, PageId::new(root.space, child))?;
        if !node.is_still(frames) {
            return None;
        }
        (node, expected) = (next, Some(level - 1));
    }
    None
}
