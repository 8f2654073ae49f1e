//! Finding a page in the pool, or bringing it in.
//!
//! The fast way is a hint of the page table and a try for the frame's latch. The sure way looks the
//! page up under its shard's lock and pins the frame until the latch is had. A page that is not
//! here gets a free frame, which is latched exclusively while it is entered into the table and
//! filled, so that others who want the page wait for the latch and then find it.

use std::sync::atomic::Ordering;

use crate::error::Result;
use crate::frame::Frame;
use crate::guard::{PageRead, PageWrite};
use crate::options::FlushMethod;
use crate::page::{self, PageId, PageType};
use crate::pool::Pool;
use crate::space::Space;
use crate::status::count;
use crate::verify::verify;

impl Pool {
    /// The page, latched shared; read in if it is not here.
    ///
    /// # Errors
    /// When the page is damaged or its space is not open; an I/O error.
    #[inline]
    pub fn read(&self, id: PageId) -> Result<PageRead<'_>> {
        match self.try_hinted(id.packed(), Mode::Shared) {
            Some(number) => Ok(PageRead::new(self, number)),
            None => self.find(id, Mode::Shared, Fill::Read).map(|(number, _)| PageRead::new(self, number)),
        }
    }

    /// The page, latched exclusively; read in if it is not here.
    ///
    /// # Errors
    /// As [`Pool::read`].
    #[inline]
    pub fn write(&self, id: PageId) -> Result<PageWrite<'_>> {
        match self.try_hinted(id.packed(), Mode::Exclusive) {
            Some(number) => Ok(PageWrite::new(self, number, false)),
            None => self
                .find(id, Mode::Exclusive, Fill::Read)
                .map(|(number, _)| PageWrite::new(self, number, false)),
        }
    }

    /// The fast way to a page: by the table's hint, and only if the latch is had at once.
    #[inline]
    fn try_hinted(&self, packed: u64, mode: Mode) -> Option<u32> {
        let number = self.table.hinted(packed)?;
        let frame = self.frame(number);
        if !frame.holds(packed) || !mode.try_latch(frame) {
            return None;
        }
        if !frame.holds(packed) {
            mode.release(frame);
            return None;
        }
        self.touch(number, frame);
        os::account::count_page_requests(1);
        Some(number)
    }

    /// A page that is about to be made anew, latched exclusively: as it is if it is here, else
    /// without reading it, empty. Thrown away again unless [`PageWrite::changed`] is called.
    pub(crate) fn create(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.make_room(id)?;
        let (number, fresh) = self.find(id, Mode::Exclusive, Fill::Blank)?;
        Ok(PageWrite::new(self, number, fresh))
    }

    /// Makes the page's file long enough for it.
    pub(crate) fn make_room(&self, id: PageId) -> Result<()> {
        self.space(id.space)?.ensure(id.no, &*self.disk, self.syncs_length())
    }

    /// Who syncs no page writes must sync a file's length at least.
    pub(crate) fn syncs_length(&self) -> bool {
        self.config.options.flush_method == FlushMethod::DirectNoSync
    }

    /// A page that recovery is about to bring up to date: as [`Pool::write`], but one that is
    /// damaged or missing comes as blank, LSN 0. It is thrown away again unless
    /// [`PageWrite::changed`] is called.
    ///
    /// # Errors
    /// When its space is not open or cannot grow; an I/O error.
    pub fn write_or_blank(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.make_room(id)?;
        let (number, fresh) = self.find(id, Mode::Exclusive, Fill::ReadOrBlank)?;
        Ok(PageWrite::new(self, number, fresh))
    }

    /// Finds the page or brings it in; returns its frame latched, and whether it was brought in
    /// blank.
    #[cold]
    fn find(&self, id: PageId, mode: Mode, fill: Fill) -> Result<(u32, bool)> {
        let packed = id.packed();
        os::account::count_page_requests(1);
        loop {
            let present = {
                let shard = self.table.shard(packed);
                let present = shard.get(&packed).copied();
                if let Some(number) = present {
                    self.frame(number).pins.fetch_add(1, Ordering::AcqRel);
                }
                present
            };
            if let Some(number) = present {
                let frame = self.frame(number);
                mode.latch(frame);
                frame.pins.fetch_sub(1, Ordering::AcqRel);
                if frame.holds(packed) {
                    self.table.set_hint(packed, number);
                    self.touch(number, frame);
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

    /// Takes a free frame, enters the page and fills it. `None` when another thread was faster.
    fn bring_in(&self, id: PageId, mode: Mode, fill: Fill) -> Result<Option<(u32, bool)>> {
        let (packed, space) = (id.packed(), self.space(id.space)?);
        let instance = self.instance_of_page(packed);
        let number = self.take_free(instance)?;
        if !self.enter(number, packed) {
            return Ok(None);
        }
        let frame = self.frame(number);
        frame.used_tick.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        // SAFETY: the frame's latch is held exclusively, by `take_free`.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.memory.page_ptr(number), self.page_size()) };
        let fresh = match self.fill(&space, id, fill, bytes) {
            Ok(fresh) => {
                if fill == Fill::Read {
                    self.consider_read_ahead(id);
                }
                fresh
            }
            Err(error) => {
                self.discard(number);
                return Err(error);
            }
        };
        {
            let mut lists = instance.lists.lock();
            lists.insert(&self.frames, number);
            // Inner nodes are used by every descent, also those of a scan that reads each leaf
            // once.
            if page::page_type(bytes) == Some(PageType::Index) && page::level(bytes) > 0 {
                lists.make_young(&self.frames, number);
            }
        }
        self.table.set_hint(packed, number);
        if let Mode::Shared = mode {
            frame.latch.downgrade();
        }
        Ok(Some((number, fresh)))
    }

    fn fill(&self, space: &Space, id: PageId, fill: Fill, bytes: &mut [u8]) -> Result<bool> {
        let blank = |bytes: &mut [u8]| {
            page::format(bytes, id, PageType::Free, 0);
            count(&self.counters.pages_created, 1);
            Ok(true)
        };
        if let Fill::Blank = fill {
            return blank(bytes);
        }
        space.read_raw(id.no, bytes)?;
        count(&self.counters.pages_read, 1);
        match verify(bytes, id) {
            Ok(()) => Ok(false),
            Err(_) if fill == Fill::ReadOrBlank => blank(bytes),
            Err(reason) => Err(space.corrupt(id.no, reason)),
        }
    }
}

/// How a page is wanted.
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

/// Where a missing page's content comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// From disk; what does not verify is an error.
    Read,
    /// From disk; what does not verify is taken as blank.
    ReadOrBlank,
    /// From nowhere.
    Blank,
}
