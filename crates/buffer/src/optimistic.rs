//! The descent through inner nodes without writing shared memory.
//!
//! An inner node changes rarely and is read by every descent. Here it is read without taking its
//! latch: the reader notes the latch's version, reads, and asks whether the version still holds.
//! What was read from a page that was being changed is garbage and is thrown away. Until then it
//! must do no harm:
//! - Every read is a relaxed atomic load, so it is one load of one value, and the code does not
//!   assume that two loads agree.
//! - Every offset is checked against the page's size before it is used. Nothing here panics or
//!   loops on garbage.
//! - A frame's memory stays mapped for the pool's life, so stale frame numbers lead to readable
//!   memory.
//!
//! Writers write the same bytes with plain stores under the exclusive latch. Between those stores
//! and the loads here lies the latch's seqlock protocol (release fence after taking the bit,
//! release on letting go, acquire fence before validating), so a validated read saw no such store.
//! An unvalidated read may have raced with a store, which the language does not define for plain
//! stores. The code relies on machine loads and stores of these sizes to yield some mix of old and
//! new bytes, as they do on all processors that this runs on.
//!
//! **Coupling.** A child's version is taken *before* its parent is validated. So the child's number
//! was in the parent at a moment when the child was in its frame at that version. A split or merge
//! of the child changes the parent as well. So a thread that validates the parent last, after it
//! has the leaf's latch, has the right leaf.

use std::cmp::Ordering as Order;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::frames::Frames;
use crate::page::{PageId, PageNo, PageType, SpaceId};
use crate::slotted::{self, SLOT_BYTES, SLOTS};

/// The most levels of a tree. A longer way down is garbage.
const MAX_LEVELS: usize = 32;

/// The number of cache lines at a leaf's start that are prefetched.
const PREFETCHED_LINES: usize = 10;

/// A page in a frame, with the version at which it was seen.
#[derive(Debug, Clone, Copy)]
struct Seen {
    frame: u32,
    version: u64,
}

/// The number of cache lines of an entry that are prefetched.
const PREFETCHED_ENTRY_LINES: usize = 4;

/// The place of a key's leaf, and the parent that named it. The leaf stays the key's leaf as long
/// as the parent does not change, whatever changes in the leaf. [`crate::Pool::read_found`] and
/// [`crate::Pool::write_found`] check that.
#[derive(Debug, Clone, Copy)]
pub struct FoundLeaf {
    no: PageNo,
    space: SpaceId,
    parent: Seen,
    is_last: bool,
    /// About where the key's entry is on the leaf, or [`NO_ENTRY`].
    entry: u16,
}

/// The place of an entry that was not looked for. No page has so many entries.
const NO_ENTRY: u16 = u16::MAX;

impl FoundLeaf {
    /// Returns about where the key's entry is on the leaf, for [`slotted::search_near`]. It is
    /// known once the entry has been prefetched.
    #[inline]
    pub fn entry(&self) -> usize {
        usize::from(self.entry)
    }

    /// Reports whether this is the tree's last leaf, which is also the leaf of every greater key,
    /// as long as the parent does not change. The parent stops being the last node of its level
    /// only by being split, which changes it.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    #[inline]
    pub(crate) fn id(self) -> PageId {
        PageId::new(self.space, self.no)
    }

    /// Reports whether the leaf, which is latched, is still the key's leaf.
    #[inline]
    pub(crate) fn is_still(self, frames: &Frames) -> bool {
        self.parent.is_still(frames)
    }

    /// Does the work of [`crate::Pool::prefetch_found`].
    #[inline]
    pub(crate) fn prefetch(self, frames: &Frames) {
        prefetch_leaf(frames, self.id());
    }

    /// Does the work of [`crate::Pool::prefetch_entry`].
    #[inline]
    pub(crate) fn prefetch_entry(&mut self, frames: &Frames, key: &[u8]) {
        if let Some(number) = frames.hinted(self.id().packed()) {
            let start = frames.page_ptr(number);
            let page = RacyPage { start, size: frames.page_size() };
            if let Some((index, offset)) = page.cell_of(key) {
                self.entry = u16::try_from(index).unwrap_or(NO_ENTRY);
                (0..PREFETCHED_ENTRY_LINES)
                    .for_each(|line| os::memory::prefetch(start.wrapping_add(offset + line * 64)));
            }
        }
    }
}

/// Access to one page without its latch. Others may change the page meanwhile.
#[derive(Clone, Copy)]
struct RacyPage {
    start: *const u8,
    size: usize,
}

/// The heads of slots that are within a page. A search reads many of them, and so compares an index
/// with their number only.
#[derive(Clone, Copy)]
struct Heads {
    /// The page's first byte.
    start: *const u8,
    len: usize,
}

impl Heads {
    /// Returns the head of a slot.
    #[inline]
    fn of(self, index: usize) -> u32 {
        assert!(index < self.len);
        let at = SLOTS + index * SLOT_BYTES + 4;
        // SAFETY: `RacyPage::heads` has found all `len` slots to be within the frame, and the index
        // is below `len`. The bytes are aligned, as in `RacyPage::slot`.
        u32::from_le(
            unsafe { AtomicU32::from_ptr(self.start.add(at).cast_mut().cast()) }.load(Ordering::Relaxed),
        )
    }
}

impl RacyPage {
    #[inline]
    fn u8(self, at: usize) -> Option<u8> {
        if at >= self.size {
            return None;
        }
        // SAFETY: the byte is within the frame, which stays mapped, and any byte is a valid u8. The
        // module's head is about races.
        Some(unsafe { AtomicU8::from_ptr(self.start.add(at).cast_mut()) }.load(Ordering::Relaxed))
    }

    #[inline]
    fn u16(self, at: usize) -> u16 {
        assert!(at.is_multiple_of(2) && at + 2 <= SLOTS);
        // SAFETY: the bytes are within the page header and aligned, since frames are aligned to
        // pages.
        u16::from_le(
            unsafe { AtomicU16::from_ptr(self.start.add(at).cast_mut().cast()) }.load(Ordering::Relaxed),
        )
    }

    /// Returns a slot's offset, key length and head. `None` when the slot is beyond the page's end.
    #[inline]
    fn slot(self, index: usize) -> Option<(usize, usize, u32)> {
        let at = SLOTS + index * SLOT_BYTES;
        if at + SLOT_BYTES > self.size {
            return None;
        }
        // SAFETY: the slot is within the frame and aligned: slots begin at a multiple of 8 and
        // frames are aligned to pages.
        let word = u64::from_le(
            unsafe { AtomicU64::from_ptr(self.start.add(at).cast_mut().cast()) }.load(Ordering::Relaxed),
        );
        Some((word as u16 as usize, (word >> 16) as u16 as usize, (word >> 32) as u32))
    }

    /// Returns the heads of the page's first `entries` slots. `None` when these go beyond the
    /// page's end.
    #[inline]
    fn heads(self, entries: usize) -> Option<Heads> {
        (SLOTS + entries * SLOT_BYTES <= self.size).then_some(Heads { start: self.start, len: entries })
    }

    /// Returns about where the entry of `key` is on a leaf: its index, and the place of its cell.
    /// They are right if the key is there and no other entry has the same head.
    fn cell_of(self, key: &[u8]) -> Option<(usize, usize)> {
        let (entries, skip) = (self.u16(slotted::COUNT) as usize, self.u16(slotted::SKIP) as usize);
        let last = entries.checked_sub(1)?;
        let heads = self.heads(entries)?;
        let head = slotted::head_of(key, skip);
        let index = slotted::partition(0, entries, |index| heads.of(index) < head).min(last);
        self.slot(index).map(|(offset, _, _)| (index, offset))
    }

    /// Compares the `len` key bytes at `at` with `key`. Returns `None` when they are beyond the
    /// page's end.
    fn compare(self, at: usize, len: usize, key: &[u8]) -> Option<Order> {
        for (index, byte) in key.iter().enumerate().take(len) {
            match self.u8(at + index)?.cmp(byte) {
                Order::Equal => {}
                other => return Some(other),
            }
        }
        Some(len.cmp(&key.len()))
    }

    /// Returns the child to follow for `key`, and whether it is the last one. `None` means that the
    /// page's bytes are garbage.
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

    /// Does the same as [`slotted::child_index`]. Returns `None` when the page's bytes are garbage.
    fn child_index(self, entries: usize, skip: usize, key: &[u8]) -> Option<usize> {
        let head = slotted::head_of(key, skip);
        let heads = self.heads(entries)?;
        let mut low = slotted::partition(1, entries, |index| heads.of(index) < head);
        if low < entries && heads.of(low) == head {
            let mut high = slotted::partition(low, entries, |index| heads.of(index) <= head);
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
                // The prefix is above the key, so the key is below all keys that are compared.
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

    /// Reports whether the page is still as it was seen.
    #[inline]
    fn is_still(self, frames: &Frames) -> bool {
        frames.frame(self.frame).latch.validate(self.version)
    }
}

/// Starts loading what a search of the page will touch first: the frame's latch, the header, and
/// the slots of a page of average rows. Otherwise the search would wait for them one after the
/// other.
#[inline]
fn prefetch_leaf(frames: &Frames, id: PageId) {
    if let Some(number) = frames.hinted(id.packed()) {
        os::memory::prefetch(std::ptr::from_ref(frames.frame(number)).cast());
        let page = frames.page_ptr(number);
        (0..PREFETCHED_LINES).for_each(|line| os::memory::prefetch(page.wrapping_add(line * 64)));
    }
}

/// Does the work of [`crate::Pool::find_leaf`].
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
            let found = FoundLeaf { no: child, space: root.space, parent: node, is_last, entry: NO_ENTRY };
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

/// Does the work of [`crate::Pool::missing_page`].
pub(crate) fn missing_page(frames: &Frames, root: PageId, key: &[u8]) -> Option<PageNo> {
    let is_missing = |id: PageId| frames.holder_of(id.packed()).is_none();
    let mut expected = None;
    let (mut id, mut parent) = (root, None::<Seen>);
    for _ in 1..=MAX_LEVELS {
        let Some(node) = Seen::of(frames, id) else {
            return (is_missing(id) && parent.is_none_or(|parent| parent.is_still(frames))).then_some(id.no);
        };
        let page = RacyPage { start: frames.page_ptr(node.frame), size: frames.page_size() };
        let (page_type, level) = (page.u8(12)?, page.u8(13)?);
        let is_sound =
            page_type == PageType::Index as u8 && expected.is_none_or(|expected| expected == level);
        if !is_sound || level == 0 {
            return None;
        }
        let (child, _) = page.child_of(key)?;
        (id, parent, expected) = (PageId::new(root.space, child), Some(node), Some(level - 1));
        if !node.is_still(frames) {
            return None;
        }
    }
    None
}
