//! The mini-transaction: a structure change, from latching its pages to its one record in the log.
//!
//! **Latch, then reserve, then release.** All pages are latched exclusively first. Everything that
//! can fail (reading, finding frames, growing the file) happens meanwhile and changes nothing, so
//! dropping an uncommitted mini-transaction undoes it. Then the pages are changed, which cannot
//! fail. [`Mtr::commit`] builds the record and reserves its log space, and only after that the
//! pages get the record's LSN and their latches are released. Therefore:
//! - A page's LSN is at or past a structure record's end exactly if that record's change is in the
//!   page. Rows applied later carry later LSNs only if they were reserved later, and rows with
//!   smaller LSNs leave the page's LSN alone (it is a maximum). So replay may go by the page's LSN.
//! - An image in the record holds only row changes whose commits reserved before it. When the
//!   record is durable, so are they.
//! - Nobody sees, and nothing writes out, a page between its change and its LSN.
//!
//! **What is logged** is as little as replay needs. Inner nodes and page 0 change by structure
//! records only, so their state at an LSN is known and small deltas replay exactly. Leaves also
//! change by rows, which replay later, by key. So what is logged about a leaf must be right on
//! *any* older state of it: a whole image, or "drop every entry from key K on".
//!
//! **Freed pages.** Freeing raises the page's LSN, and so does its next use. If replay meets the
//! page after a later use, it finds a later LSN and leaves the page alone. If it meets the page as
//! it was before, it comes to the freeing and to the new image in turn.
//!
//! **Latch order**: index pages as `btree` orders them, then page 0 of the space, then the pages
//! being allocated or freed. The space's structure lock is held throughout, so threads never
//! compete for page 0 and the free pages.

use std::sync::Arc;

use crate::error::{BufferError, Result};
use crate::guard::PageWrite;
use crate::page::{self, PageId, PageNo, PageType, RecordLsn};
use crate::pool::Pool;
use crate::record::RecordWriter;
use crate::slotted;
use crate::space::{self, Space, SpaceHeader, StructureLock};

/// The number of a page that a mini-transaction holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held(usize);

#[derive(Debug)]
struct HeldPage<'p> {
    guard: PageWrite<'p>,
    ops: RecordWriter,
    image: bool,
}

/// A structure change in the making. See the module's head.
#[derive(Debug)]
pub struct Mtr<'p> {
    pool: &'p Pool,
    space: &'p Arc<Space>,
    pages: Vec<HeldPage<'p>>,
    /// Page 0 with the state that it is going to have. `None` until pages are allocated or freed.
    header: Option<(Held, SpaceHeader)>,
    changing: bool,
}

impl<'p> Mtr<'p> {
    /// Begins a structure change in the space whose structure lock is `lock`.
    pub fn begin(pool: &'p Pool, lock: &'p StructureLock) -> Mtr<'p> {
        Mtr { pool, space: &lock.space, pages: Vec::new(), header: None, changing: false }
    }

    /// Latches a page of the space.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::write`].
    pub fn latch(&mut self, no: PageNo) -> Result<Held> {
        let guard = self.pool.write(PageId::new(self.space.id, no))?;
        Ok(self.hold(guard))
    }

    fn hold(&mut self, guard: PageWrite<'p>) -> Held {
        assert!(!self.changing, "all pages are latched before the first is changed");
        self.pages.push(HeldPage { guard, ops: RecordWriter::default(), image: false });
        Held(self.pages.len() - 1)
    }

    /// Lets go of all pages latched before `held`, none of which may have been changed. Returns the
    /// new numbers of the others.
    pub fn release_before(&mut self, held: Held) -> Vec<Held> {
        assert!(!self.changing && self.header.is_none(), "only unchanged index pages are let go of");
        self.pages.drain(..held.0);
        (0..self.pages.len()).map(Held).collect()
    }

    /// Returns the page's bytes.
    pub fn page(&self, held: Held) -> &[u8] {
        &self.pages[held.0].guard
    }

    /// Returns the page's number.
    pub fn no(&self, held: Held) -> PageNo {
        self.pages[held.0].guard.id().no
    }

    pub(crate) fn space_header(&mut self) -> Result<SpaceHeader> {
        if let Some((_, header)) = self.header {
            return Ok(header);
        }
        let held = self.latch(0)?;
        let header = SpaceHeader::of(self.page(held));
        self.header = Some((held, header));
        Ok(header)
    }

    fn set_space_header(&mut self, header: SpaceHeader) {
        self.header.as_mut().expect("page 0 is latched before its state changes").1 = header;
    }

    /// Takes a page from the free list, or a new one at the end. Its content is arbitrary until the
    /// caller calls [`Mtr::format`].
    ///
    /// # Errors
    /// Returns an error when the file cannot grow or has no page numbers left, and I/O errors.
    pub fn alloc(&mut self) -> Result<Held> {
        let mut header = self.space_header()?;
        let held = if header.free_head != 0 {
            let held = self.latch(header.free_head)?;
            if page::page_type(self.page(held)) != Some(PageType::Free) {
                let reason = "it is on the free list but not free";
                return Err(self.space.corrupt(header.free_head, reason));
            }
            header.free_head = space::next_free(self.page(held));
            header.free_count = header.free_count.saturating_sub(1);
            held
        } else {
            let no = header.allocated;
            if no >= u32::MAX - 1 {
                return Err(BufferError::SpaceFull(self.space.path.read().clone()));
            }
            let guard = self.pool.fetcher.create(PageId::new(self.space.id, no))?;
            header.allocated += 1;
            self.hold(guard)
        };
        self.set_space_header(header);
        Ok(held)
    }

    /// Makes sure that `pages` pages can be allocated without growing the file. The caller does
    /// this before it allocates the first one, so that a full disk refuses all or none.
    ///
    /// # Errors
    /// Returns I/O errors, such as that of a full disk.
    pub fn make_room(&mut self, pages: u32) -> Result<()> {
        let header = self.space_header()?;
        match pages.saturating_sub(header.free_count) {
            0 => Ok(()),
            more => self
                .pool
                .spaces
                .make_room(PageId::new(self.space.id, header.allocated.saturating_add(more - 1))),
        }
    }

    /// Takes page numbers at the space's end, without frames. The caller writes the pages itself
    /// ([`Pool::write_fresh`]).
    ///
    /// # Errors
    /// Returns an error when the space has no page numbers left, and I/O errors.
    pub(crate) fn take_fresh(&mut self, count: u32) -> Result<std::ops::Range<PageNo>> {
        let mut header = self.space_header()?;
        let first = header.allocated;
        let end = first.checked_add(count).filter(|&end| end < u32::MAX);
        header.allocated = end.ok_or_else(|| BufferError::SpaceFull(self.space.path.read().clone()))?;
        self.set_space_header(header);
        Ok(first..header.allocated)
    }

    /// Latches a page in order to free it, without reading it.
    ///
    /// # Errors
    /// Returns an error when no frame can be had.
    pub fn latch_unread(&mut self, no: PageNo) -> Result<Held> {
        let guard = self.pool.fetcher.create(PageId::new(self.space.id, no))?;
        Ok(self.hold(guard))
    }

    /// Latches page 0, so that [`Mtr::free`] cannot fail later.
    ///
    /// # Errors
    /// Returns the errors of [`Mtr::latch`].
    pub fn prepare_free(&mut self) -> Result<()> {
        self.space_header().map(|_| ())
    }

    // ---- changes: from here on nothing fails ----

    /// Returns the page's bytes, to be changed. The caller logs the page by its image, or not at
    /// all if the page is made durable before anything names it.
    pub fn page_mut(&mut self, held: Held) -> &mut [u8] {
        self.changing = true;
        self.pages[held.0].guard.bytes_mut()
    }

    /// Makes a page an empty one of this type, which commit logs by its image.
    pub fn format(&mut self, held: Held, page_type: PageType, level: u8) -> &mut [u8] {
        self.pages[held.0].image = true;
        let bytes = self.page_mut(held);
        page::reformat(bytes, page_type, level);
        if page_type == PageType::Index {
            slotted::init(bytes);
        }
        bytes
    }

    /// Makes commit log the whole page, as it is then.
    pub fn log_image(&mut self, held: Held) {
        self.pages[held.0].image = true;
    }

    /// Drops every entry from `key` on.
    pub fn truncate_from(&mut self, held: Held, key: &[u8]) {
        slotted::truncate_from(self.page_mut(held), key);
        self.pages[held.0].ops.truncate_from(key);
    }

    /// Inserts a child into an inner node that has room for it.
    pub fn insert_child(&mut self, held: Held, key: &[u8], child: PageNo) {
        let bytes = self.page_mut(held);
        let (Ok(index) | Err(index)) = slotted::search(bytes, key);
        slotted::insert(bytes, index, key, &child.to_le_bytes());
        self.pages[held.0].ops.insert_child(key, child);
    }

    /// Removes entry `index` of an inner node.
    pub fn remove_child(&mut self, held: Held, index: usize) {
        slotted::remove_child(self.page_mut(held), index);
        self.pages[held.0].ops.remove_child(index);
    }

    /// Puts the page on the free list. The caller has called [`Mtr::prepare_free`] before.
    pub fn free(&mut self, held: Held) {
        let (_, mut header) = self.header.expect("prepare_free comes first");
        let (no, next) = (self.no(held), header.free_head);
        let bytes = self.page_mut(held);
        page::reformat(bytes, PageType::Free, 0);
        space::put_next_free(bytes, next);
        let page = &mut self.pages[held.0];
        page.image = false;
        page.ops.free(next);
        header.free_head = no;
        header.free_count += 1;
        self.set_space_header(header);
    }

    /// Changes where the list of claims begins, and returns where it began before. Page 0 is
    /// latched.
    pub(crate) fn swap_claim_head(&mut self, head: PageNo) -> PageNo {
        let (_, mut header) = self.header.expect("page 0 is latched before its state changes");
        self.changing = true;
        let before = std::mem::replace(&mut header.claim_head, head);
        self.set_space_header(header);
        before
    }

    /// Logs the change (unless the space is not logged), and lets go of the pages. Returns where
    /// the record is.
    pub fn commit(mut self) -> RecordLsn {
        self.changing = true;
        if let Some((held, header)) = self.header {
            header.put(self.pages[held.0].guard.bytes_mut());
            self.space.note_header(header);
            self.pages[held.0].ops.space_header(header);
        }
        if !self.space.is_logged {
            self.pages.iter_mut().for_each(|page| page.guard.changed(RecordLsn::UNLOGGED));
            return RecordLsn::UNLOGGED;
        }
        let mut payload = Vec::new();
        for page in &mut self.pages {
            if page.image {
                page.ops.clear();
                page.ops.image(&page.guard);
            }
            page.ops.append_to(&mut payload, page.guard.id());
        }
        let token = self.pool.frames.begin_logging();
        let reservation = self
            .pool
            .log()
            .reserve(payload.len() as u64)
            .expect("a structure record is a few pages long, a log holds megabytes");
        let lsn = RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
        reservation.fill(redo::kind::STRUCTURE, &[&payload]);
        for page in &mut self.pages {
            if !page.ops.is_empty() {
                page.guard.changed(lsn);
            }
        }
        self.pool.frames.end_logging(token);
        lsn
    }

    /// Commits as [`Mtr::commit`] does, and also marks the pages `unlogged` as changed, which the
    /// record does not mention. Their writer has them on disk before anything durable names them,
    /// and no older record may be replayed on them.
    pub fn commit_marking(mut self, unlogged: &[Held]) -> RecordLsn {
        let mut marked: Vec<HeldPage<'p>> = Vec::new();
        let mut kept = Vec::new();
        for (index, page) in std::mem::take(&mut self.pages).into_iter().enumerate() {
            if unlogged.contains(&Held(index)) { marked.push(page) } else { kept.push(page) }
        }
        // Page 0 has moved within the list.
        if let Some((held, _)) = &mut self.header {
            held.0 -= unlogged.iter().filter(|other| other.0 < held.0).count();
        }
        self.pages = kept;
        let lsn = self.commit();
        marked.iter_mut().for_each(|page| page.guard.changed(lsn));
        lsn
    }
}
