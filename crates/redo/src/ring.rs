//! A ring of bytes that many threads fill at once, with the links by which the writer sees how far
//! it is filled without a gap.
//!
//! The byte of LSN `l` lives at `l % capacity`. A filler owns the range that it reserved, and may
//! write a part of it once the part's end is at most `written + capacity`: the bytes that lay there
//! a lap ago have then been written to the file. It publishes each part ("chunk") by storing its
//! length into the link of the chunk's start, `links[start / 16 % links]`. Chunks are at least 16
//! bytes long, so no two that can be in the ring together share a link. The writer follows the
//! links from where it stands, and zeroes each one before it lets the ring's bytes be used again.

use os::sync::atomic::{AtomicU32, Ordering};
use std::cell::UnsafeCell;

use crate::Lsn;
use crate::frame::FRAME_BYTES;

/// The length of the smallest chunk, which is also the number of bytes for each link.
const LINK_BYTES: u64 = FRAME_BYTES as u64;

pub(crate) struct Ring {
    bytes: Box<[UnsafeCell<u8>]>,
    /// The length of the published chunk that starts at this link, 0 while there is none. The
    /// filler's store is `Release` after it copied the bytes, the writer's load `Acquire` before it
    /// reads them. The writer's zeroing is relaxed: fillers of the next lap come after it through
    /// `written` (the writer's `Release`, their `Acquire`).
    links: Box<[AtomicU32]>,
}

#[cfg(not(feature = "model"))]
fn new_links(count: usize) -> Box<[AtomicU32]> {
    let links: Box<[u32]> = vec![0; count].into_boxed_slice();
    // SAFETY: AtomicU32 has the layout of what it wraps, and nobody else has the box.
    unsafe { Box::from_raw(Box::into_raw(links) as *mut [AtomicU32]) }
}

#[cfg(feature = "model")]
fn new_links(count: usize) -> Box<[AtomicU32]> {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

// SAFETY: ranges of `bytes` are written only by the thread that reserved them and read only by the
// holder of the write lock after they were published; the orders above make the hand-overs happen
// one after the other.
unsafe impl Sync for Ring {}

impl Ring {
    /// Makes a ring of `capacity` bytes, a power of two.
    pub fn new(capacity: u64) -> Ring {
        assert!(capacity.is_power_of_two() && capacity >= 4096, "{capacity} is no ring's size");
        // Zeroed memory comes from the kernel untouched, so only the used part of a large buffer
        // takes memory.
        let bytes: Box<[u8]> = vec![0; capacity as usize].into_boxed_slice();
        // SAFETY: UnsafeCell<u8> has the layout of what it wraps, and nobody else has the box.
        let bytes = unsafe { Box::from_raw(Box::into_raw(bytes) as *mut [UnsafeCell<u8>]) };
        Ring { bytes, links: new_links((capacity / LINK_BYTES) as usize) }
    }

    pub fn capacity(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the length of the largest chunk that is filled and published at once.
    pub fn max_chunk(&self) -> u64 {
        self.capacity() / 4
    }

    /// Returns the length of the next chunk of `left` bytes: all of them, or as many as leave the
    /// last chunk no shorter than a link's bytes.
    pub fn chunk_of(&self, left: u64) -> u64 {
        let max = self.max_chunk();
        match left <= max {
            true => left,
            false => max.min(left - LINK_BYTES),
        }
    }

    fn offset(&self, lsn: Lsn) -> usize {
        (lsn & (self.capacity() - 1)) as usize
    }

    /// Copies `source` to `lsn`.
    ///
    /// # Safety
    /// The caller has reserved these bytes, has not published them, and has seen `written +
    /// capacity` at or beyond their end.
    pub unsafe fn copy_in(&self, lsn: Lsn, source: &[u8]) {
        debug_assert!(source.len() as u64 <= self.capacity());
        let offset = self.offset(lsn);
        let first = source.len().min(self.bytes.len() - offset);
        let base = self.bytes.as_ptr() as *mut u8;
        // SAFETY: `first` bytes from `offset` and the rest from 0 are inside the box; the caller
        // alone uses them now, and `source` is a shared borrow, hence no part of the cells.
        unsafe {
            std::ptr::copy_nonoverlapping(source.as_ptr(), base.add(offset), first);
            // Only a source that comes to the ring's end goes on at its beginning.
            if first < source.len() {
                std::ptr::copy_nonoverlapping(source[first..].as_ptr(), base, source.len() - first);
            }
        }
    }

    /// Publishes the chunk `start..start + len`, whose bytes are all copied.
    pub fn publish(&self, start: Lsn, len: u64) {
        debug_assert!(len >= LINK_BYTES && len <= self.capacity());
        self.link(start).store(len as u32, Ordering::Release);
    }

    fn link(&self, lsn: Lsn) -> &AtomicU32 {
        &self.links[(lsn / LINK_BYTES) as usize & (self.links.len() - 1)]
    }

    /// Follows the published chunks from `tail` up to `limit` and consumes their links. Returns the
    /// new tail and how many chunks there were. The caller holds the write lock.
    pub fn advance(&self, mut tail: Lsn, limit: Lsn) -> (Lsn, u64) {
        let mut chunks = 0;
        while tail < limit {
            let link = self.link(tail);
            let len = link.load(Ordering::Acquire);
            if len == 0 {
                break;
            }
            link.store(0, Ordering::Relaxed);
            tail += u64::from(len);
            chunks += 1;
        }
        (tail, chunks)
    }

    /// Gives the memory back to the system. Everything is published and written, and nothing more
    /// will be put into this ring.
    pub fn release(&self) {
        // SAFETY: the cells belong to the ring, may be written through a shared reference, and may
        // hold any bytes.
        unsafe { os::memory::release(self.bytes.as_ptr() as *mut u8, self.bytes.len()) };
    }

    /// Returns the published, not yet written bytes from `from` up to `to` or the ring's end,
    /// whichever comes first.
    ///
    /// # Safety
    /// The range is published, and `written` does not pass `from` while the slice lives.
    pub unsafe fn contiguous(&self, from: Lsn, to: Lsn) -> &[u8] {
        let offset = self.offset(from);
        let len = ((to - from) as usize).min(self.bytes.len() - offset);
        // SAFETY: the range is inside the box; nobody writes it until `written` has passed it, as
        // the caller promises.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().add(offset) as *const u8, len) }
    }
}
