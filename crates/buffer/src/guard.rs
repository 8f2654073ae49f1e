//! Guards of latched pages. A guard keeps its page in the pool and the page's latch held until it
//! is dropped.

use std::ops::Deref;

use crate::frames::Frames;
use crate::page::{self, PageId, RecordLsn};

/// A page that is latched shared.
#[derive(Debug)]
pub struct PageRead<'p> {
    frames: &'p Frames,
    number: u32,
}

/// A page that is latched exclusively.
#[derive(Debug)]
pub struct PageWrite<'p> {
    frames: &'p Frames,
    number: u32,
    /// Whether the page came to be without a read and holds nothing yet. It is thrown away unless
    /// it is changed.
    pub(crate) fresh: bool,
    /// Whether the bytes have been lent to be changed, and [`PageWrite::changed`] has not been
    /// called since.
    is_changing: bool,
}

impl<'p> PageRead<'p> {
    /// Takes over a shared hold of the frame's latch.
    pub(crate) fn new(frames: &'p Frames, number: u32) -> PageRead<'p> {
        PageRead { frames, number }
    }
}

impl Deref for PageRead<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the latch is held shared while the guard lives, so nobody writes these bytes;
        // they were filled when the page came in.
        unsafe { std::slice::from_raw_parts(self.frames.page_ptr(self.number), self.frames.page_size()) }
    }
}

impl Drop for PageRead<'_> {
    #[inline]
    fn drop(&mut self) {
        self.frames.frame(self.number).latch.release_shared();
    }
}

impl<'p> PageWrite<'p> {
    /// Takes over the exclusive hold of the frame's latch.
    pub(crate) fn new(frames: &'p Frames, number: u32, fresh: bool) -> PageWrite<'p> {
        PageWrite { frames, number, fresh, is_changing: false }
    }

    /// Returns the page's bytes. Whoever changes them calls [`PageWrite::changed`] before the guard
    /// is dropped.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.is_changing = true;
        // SAFETY: the latch is held exclusively while the guard lives, and `&mut self` makes this
        // the only reference through it.
        unsafe { std::slice::from_raw_parts_mut(self.frames.page_ptr(self.number), self.frames.page_size()) }
    }

    /// Notes that the page was changed by the record at `lsn` (or by no record): raises the page's
    /// LSN, and enters the page into the flush list.
    #[inline]
    pub fn changed(&mut self, lsn: RecordLsn) {
        let start =
            if lsn == RecordLsn::UNLOGGED { self.frames.log.current_lsn().max(1) } else { lsn.start.max(1) };
        page::raise_lsn(self.bytes_mut(), lsn.end);
        (self.fresh, self.is_changing) = (false, false);
        self.frames.mark_dirty(self.number, start);
    }

    /// Returns the page's identity.
    pub fn id(&self) -> PageId {
        page::id(self)
    }
}

impl Deref for PageWrite<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the latch is held exclusively while the guard lives; a mutable reference would
        // borrow the guard mutably.
        unsafe { std::slice::from_raw_parts(self.frames.page_ptr(self.number), self.frames.page_size()) }
    }
}

impl Drop for PageWrite<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_changing {
            // The page is half changed, so nobody may read it.
            os::panic::end_process_if_panicking("the change of a page");
        }
        if self.fresh {
            self.frames.discard(self.number);
        } else {
            self.frames.frame(self.number).latch.release_exclusive();
        }
    }
}
