//! The log buffer: a ring, and how a ring of a different size takes its place while threads fill
//! it.
//!
//! A chunk lies, whole, in the ring of the position at which it begins: the newest ring that begins
//! at or before that position. A ring that takes over begins at `written + capacity`, the position
//! up to which the ring before it could be filled at most while `written` does not change (which
//! the write lock prevents). So a thread that looked at the rings before the change, and at
//! `written` before that, either fills bytes in front of that position, which belong to the older
//! ring, or finds no room and looks again. So the change stops nobody, and is complete when the log
//! has advanced by the older ring's size.
//!
//! A ring that is not in use any more stays, since a thread may still hold it to ask for its size.
//! Its memory is given back to the system.

use std::ptr;

use os::sync::atomic::{AtomicPtr, Ordering};

use crate::Lsn;
use crate::ring::Ring;

/// A ring, with a pointer to the ring before it.
struct Link {
    ring: Ring,
    /// The position from which on chunks begin in this ring.
    first_lsn: Lsn,
    /// The ring before this one. Null when there was none.
    older: *mut Link,
}

pub(crate) struct Rings {
    /// The newest ring, never null. `Release` when it is replaced, under the write lock and hence
    /// before any later advance of `written`, `Acquire` by all others.
    newest: AtomicPtr<Link>,
}

// SAFETY: the links are only ever added to, are read through shared references, and go with the
// list; a ring is for many threads.
unsafe impl Send for Rings {}
// SAFETY: the links are only ever added to, are read through shared references, and go with the
// list; a ring is for many threads.
unsafe impl Sync for Rings {}

impl Rings {
    /// Makes one ring of `capacity` bytes, a power of two, for the whole log.
    pub fn new(capacity: u64) -> Rings {
        let first = Link { ring: Ring::new(capacity), first_lsn: 0, older: ptr::null_mut() };
        Rings { newest: AtomicPtr::new(Box::into_raw(Box::new(first))) }
    }

    fn links(&self) -> impl Iterator<Item = &Link> {
        let mut next = self.newest.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: the pointer is null, or points to a link, which lives as long as the list.
            let link = unsafe { next.as_ref() }?;
            next = link.older;
            Some(link)
        })
    }

    /// Returns the newest ring.
    pub fn newest(&self) -> &Ring {
        &self.links().next().expect("there is one").ring
    }

    /// Returns the ring of a chunk that begins at `lsn`.
    #[inline]
    pub fn of(&self, lsn: Lsn) -> &Ring {
        self.until(lsn).0
    }

    /// Returns the ring of a chunk that begins at `lsn`, and the position from which on chunks are
    /// in the next ring.
    #[inline]
    pub fn until(&self, lsn: Lsn) -> (&Ring, Lsn) {
        let mut end_lsn = Lsn::MAX;
        for link in self.links() {
            if link.first_lsn <= lsn {
                return (&link.ring, end_lsn);
            }
            end_lsn = link.first_lsn;
        }
        unreachable!("the first ring begins with the log")
    }

    /// Returns the ring for the next chunk of `left` bytes from `start`, and the chunk's length.
    /// `None` means that there is no room until more is written. `written` returns the end of what
    /// is written.
    #[inline]
    pub fn room(&self, start: Lsn, left: u64, written: impl Fn() -> Lsn) -> Option<(&Ring, u64)> {
        // The order of these two steps matters: see the module's head.
        let written = written();
        let ring = self.of(start);
        let chunk = ring.chunk_of(left);
        (written + ring.capacity() >= start + chunk).then_some((ring, chunk))
    }

    /// Makes a new ring take over as soon as possible. The caller holds the write lock, and
    /// `written` is the end of what is written.
    pub fn replace(&self, ring: Ring, written: Lsn) {
        let older = self.newest.load(Ordering::Acquire);
        // SAFETY: the pointer is never null, and the link lives as long as the list.
        let last = unsafe { &*older };
        let first_lsn = last.first_lsn.max(written + last.ring.capacity());
        let link = Link { ring, first_lsn, older };
        self.newest.store(Box::into_raw(Box::new(link)), Ordering::Release);
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        let mut next = self.newest.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: the link was made by `Box::into_raw`, and nobody has the list any more.
            next = unsafe { Box::from_raw(next) }.older;
        }
    }
}
