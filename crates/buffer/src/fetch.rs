//! Finding a page in the pool, or bringing it in.
//!
//! The fast way takes a hint of the page table and tries for the frame's latch. The sure way looks
//! the page up under its shard's lock and pins the frame until it has the latch. A page that is not
//! in the pool gets a free frame, which stays latched exclusively while it is entered into the
//! table and filled. So other threads that want the page wait for the latch and then find the page.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::error::Result;
use crate::frame::Frame;
use crate::frames::Frames;
use crate::free_frames::FreeFrames;
use crate::guard::{PageRead, PageWrite};
use crate::page::{self, PageId, PageType};
use crate::space::Space;
use crate::spaces::Spaces;
use crate::status::count;
use crate::verify::verify;

/// Finds pages and brings them in. It has no state of its own.
#[derive(Debug)]
pub(crate) struct Fetcher {
    frames: Arc<Frames>,
    spaces: Arc<Spaces>,
    free_frames: Arc<FreeFrames>,
}

impl Fetcher {
    pub fn new(frames: Arc<Frames>, spaces: Arc<Spaces>, free_frames: Arc<FreeFrames>) -> Fetcher {
        Fetcher { frames, spaces, free_frames }
    }

    /// Does the work of [`crate::Pool::read`].
    #[inline]
    pub fn read(&self, id: PageId) -> Result<PageRead<'_>> {
        match self.try_hinted(id.packed(), Mode::Shared) {
            Some(number) => Ok(PageRead::new(&self.frames, number)),
            None => {
                self.find(id, Mode::Shared, Fill::Read).map(|(number, _)| PageRead::new(&self.frames, number))
            }
        }
    }

    /// Does the work of [`crate::Pool::write`].
    #[inline]
    pub fn write(&self, id: PageId) -> Result<PageWrite<'_>> {
        match self.try_hinted(id.packed(), Mode::Exclusive) {
            Some(number) => Ok(PageWrite::new(&self.frames, number, false)),
            None => self
                .find(id, Mode::Exclusive, Fill::Read)
                .map(|(number, _)| PageWrite::new(&self.frames, number, false)),
        }
    }

    /// Finds a page the fast way: by the table's hint, and only if the latch is free at once.
    #[inline]
    fn try_hinted(&self, packed: u64, mode: Mode) -> Option<u32> {
        let number = self.frames.hinted(packed)?;
        let frame = self.frames.frame(number);
        if !frame.holds(packed) || !mode.try_latch(frame) {
            return None;
        }
        if !frame.holds(packed) {
            mode.release(frame);
            return None;
        }
        self.frames.touch(number, frame);
        os::account::count_page_requests(1);
        Some(number)
    }

    /// Returns a page that is about to be made anew, latched exclusively. If the pool has the page,
    /// its bytes are as they were. Otherwise they are blank, and nothing is read; the page is then
    /// thrown away again unless [`PageWrite::changed`] is called.
    pub fn create(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.spaces.make_room(id)?;
        let (number, fresh) = self.find(id, Mode::Exclusive, Fill::Blank)?;
        Ok(PageWrite::new(&self.frames, number, fresh))
    }

    /// Does the work of [`crate::Pool::write_or_blank`].
    pub fn write_or_blank(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.spaces.make_room(id)?;
        let (number, fresh) = self.find(id, Mode::Exclusive, Fill::ReadOrBlank)?;
        Ok(PageWrite::new(&self.frames, number, fresh))
    }

    /// Finds the page or brings it in. Returns its frame, latched, and whether the page was brought
    /// in blank.
    #[cold]
    fn find(&self, id: PageId, mode: Mode, fill: Fill) -> Result<(u32, bool)> {
        let packed = id.packed();
        os::account::count_page_requests(1);
        loop {
            if let Some(number) = self.frames.pin(packed) {
                let frame = self.frames.frame(number);
                mode.latch(frame);
                let pins = frame.pins.fetch_sub(1, Ordering::AcqRel);
                debug_assert!(pins > 0, "a pin that is given back was taken");
                if frame.holds(packed) {
                    self.frames.set_hint(packed, number);
                    self.frames.touch(number, frame);
                    return Ok((number, false));
                }
                mode.release(frame);
                continue;
            }
            if let Some(found) = self.bring_in(id, mode, fill)? {
                return Ok(found);
            }
        }
    }

    /// Takes a free frame, enters the page and fills the frame. Returns `None` when another thread
    /// entered the page first.
    fn bring_in(&self, id: PageId, mode: Mode, fill: Fill) -> Result<Option<(u32, bool)>> {
        let (packed, space) = (id.packed(), self.spaces.get(id.space)?);
        let number = self.free_frames.take(self.frames.instance_of_page(packed))?;
        if !self.frames.enter(number, packed) {
            return Ok(None);
        }
        let frame = self.frames.frame(number);
        self.frames.order().note_use(frame);
        // SAFETY: `FreeFrames::take` has latched the frame exclusively.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(self.frames.page_ptr(number), self.frames.page_size()) };
        let fresh = match self.fill(&space, id, fill, bytes) {
            Ok(fresh) => {
                if fill == Fill::Read {
                    self.frames.notes().consider(id);
                }
                fresh
            }
            Err(error) => {
                self.frames.discard(number);
                return Err(error);
            }
        };
        // Inner nodes start in the young part: every descent uses them, also those of a scan that
        // reads each leaf once.
        let is_inner_node = page::page_type(bytes) == Some(PageType::Index) && page::level(bytes) > 0;
        self.frames.list(number, is_inner_node);
        self.frames.set_hint(packed, number);
        if let Mode::Shared = mode {
            frame.latch.downgrade();
        }
        Ok(Some((number, fresh)))
    }

    fn fill(&self, space: &Space, id: PageId, fill: Fill, bytes: &mut [u8]) -> Result<bool> {
        let blank = |bytes: &mut [u8]| {
            page::format(bytes, id, PageType::Free, 0);
            count(&self.frames.counters.pages_created, 1);
            Ok(true)
        };
        if let Fill::Blank = fill {
            return blank(bytes);
        }
        space.read_raw(id.no, bytes)?;
        count(&self.frames.counters.pages_read, 1);
        match verify(bytes, id) {
            Ok(()) => Ok(false),
            Err(_) if fill == Fill::ReadOrBlank => blank(bytes),
            Err(reason) => Err(space.corrupt(id.no, reason)),
        }
    }
}

/// The mode in which a page is to be latched.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Shared,
    Exclusive,
}

impl Mode {
    #[inline]
    fn try_latch(self, frame: &Frame) -> bool {
        match self {
            Mode::Shared => frame.latch.try_shared(),
            Mode::Exclusive => frame.latch.try_exclusive(),
        }
    }

    fn latch(self, frame: &Frame) {
        match self {
            Mode::Shared => frame.latch.shared(),
            Mode::Exclusive => frame.latch.exclusive(),
        }
    }

    fn release(self, frame: &Frame) {
        match self {
            Mode::Shared => frame.latch.release_shared(),
            Mode::Exclusive => frame.latch.release_exclusive(),
        }
    }
}

/// The source of the content of a page that is not in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// The page is read from disk. A page that does not verify is an error.
    Read,
    /// The page is read from disk. A page that does not verify is taken as blank.
    ReadOrBlank,
    /// The page is blank, and nothing is read.
    Blank,
}
