//! The log buffer: a ring, and how another of a different size takes its place while threads fill
//! it.
//!
//! A chunk lies, whole, in the ring of the position at which it begins: the newest that begins at
//! or before it. A ring that takes over begins where the one before could at most be filled to
//! while `written` stays what it is (which the write lock sees to): `written + capacity`. So
//! whoever looked at the rings before the change, and at `written` before that, either fills
//! something in front of that position, which belongs into the older ring, or finds no room and
//! looks again. The change therefore stops nobody, and is done when the log has gone on by the
//! older ring's size.
//!
//! A ring that is not in use any more stays, for a thread may still hold it to ask for its size;
//! its memory is given back to the system.

use std::ptr;

use os::sync::atomic::{AtomicPtr, Ordering};

use crate::Lsn;
use crate::ring::Ring;

/// A ring, and the one before it.
struct Link {
    ring: Ring,
    /// Chunks that begin here or later are in it.
    first_lsn: Lsn,
    /// Null: there was none.
    older: *mut Link,
}

pub(crate) struct Rings {
    /// The newest; never null. `Release` when it is replaced, under the write lock and hence before
    /// any later advance of `written`, `Acquire` by all others.
    newest: AtomicPtr<Link>,
}

// SAFETY: the links are only ever added to, are read through shared references, and go with the
// list; a ring is for many threads.
unsafe impl Send for Rings {}
// SAFETY: as above.
unsafe impl Sync for Rings {}

impl Rings {
    /// One ring of `capacity` bytes, a power of two, for all of the log.
    pub fn new(capacity: u64) -> Rings {
        let first = Link { ring: Ring::new(capacity), first_lsn: 0, older: ptr::null_mut() };
        Rings { newest: AtomicPtr::new(Box::into_raw(Box::new(first))) }
    }

    fn links(&self) -> impl Iterator<Item = &Link> {
        let mut next = self.newest.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: null, or a link, which lives as long as the list.
            let link = unsafe { next.as_ref() }?;
            next = link.older;
            Some(link)
        })
    }

    /// The ring that takes over last.
    pub fn newest(&self) -> &Ring {
        &self.links().next().expect("there is one").ring
    }

    /// The ring of a chunk that begins at `lsn`.
    #[inline]
    pub fn of(&self, lsn: Lsn) -> &Ring {
        self.until(lsn).0
    }

    /// The ring of a chunk that begins at `lsn`, and the position from which on chunks are in the
    /// next one.
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

    /// The ring for the next chunk of `left` bytes from `start`, and how much of them; `None`:
    /// until more is written there is no room for it. Written by then is what `written` says.
    #[inline]
    pub fn room(&self, start: Lsn, left: u64, written: impl Fn() -> Lsn) -> Option<(&Ring, u64)> {
        // In this order: see the module's header.
        let written = written();
        let ring = self.of(start);
        let chunk = ring.chunk_of(left);
        (written + ring.capacity() >= start + chunk).then_some((ring, chunk))
    }

    /// Has a ring take over as soon as can be. Only under the write lock, with what is written.
    pub fn replace(&self, ring: Ring, written: Lsn) {
        let older = self.newest.load(Ordering::Acquire);
        // SAFETY: never null, and lives as long as the list.
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
            // SAFETY: made by `Box::into_raw`, and nobody has the list any more.
            next = unsafe { Box::from_raw(next) }.older;
        }
    }
}
