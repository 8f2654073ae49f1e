//! Tablespaces: each is one file, whose page 0 says what the other pages are. docs/formats/page.md
//! has the layout byte by byte.
//!
//! Page 0 changes only inside mini-transactions, under its page latch, and is logged with them. The
//! file grows ahead of use, with written zeros, so that a page write never needs space or metadata
//! that the file system might refuse.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use os::disk::{Access, Disk, File, OpenMode};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::error::{BufferError, Result};
use crate::page::{self, PAGE_SIZES, PageId, PageNo, PageType, SpaceId, put_u32, u32_at};
use crate::verify::verify;

const MAGIC_AT: usize = 24;
const MAGIC: &[u8; 8] = b"SLIPSPC1";
const PAGE_SIZE_AT: usize = 32;
const ALLOCATED_AT: usize = 36;
const FREE_HEAD_AT: usize = 40;
const FREE_COUNT_AT: usize = 44;
const CLAIM_HEAD_AT: usize = 48;
/// The byte at which a page on the free list names the next one.
const NEXT_FREE_AT: usize = 24;

/// The number of bytes by which a file grows once it is that large. A smaller file doubles.
const EXTENT_BYTES: usize = 1 << 20;
const FIRST_PAGES: u32 = 4;

/// The part of page 0 that changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpaceHeader {
    /// The number of pages that have been handed out at some time. They are the pages below this
    /// number.
    pub allocated: PageNo,
    /// The first page of the free list, 0 for none.
    pub free_head: PageNo,
    /// The number of pages on the free list.
    pub free_count: u32,
    /// The first claim page, 0 for none; see [`crate::claim`].
    pub claim_head: PageNo,
}

impl SpaceHeader {
    pub fn of(page: &[u8]) -> SpaceHeader {
        SpaceHeader {
            allocated: u32_at(page, ALLOCATED_AT),
            free_head: u32_at(page, FREE_HEAD_AT),
            free_count: u32_at(page, FREE_COUNT_AT),
            claim_head: u32_at(page, CLAIM_HEAD_AT),
        }
    }

    /// Returns the number of pages that have been handed out and are not free.
    pub fn in_use(self) -> u32 {
        self.allocated.saturating_sub(self.free_count)
    }

    pub fn put(self, page: &mut [u8]) {
        put_u32(page, ALLOCATED_AT, self.allocated);
        put_u32(page, FREE_HEAD_AT, self.free_head);
        put_u32(page, FREE_COUNT_AT, self.free_count);
        put_u32(page, CLAIM_HEAD_AT, self.claim_head);
    }
}

pub(crate) fn next_free(page: &[u8]) -> PageNo {
    u32_at(page, NEXT_FREE_AT)
}

pub(crate) fn put_next_free(page: &mut [u8], next: PageNo) {
    put_u32(page, NEXT_FREE_AT, next);
}

/// An open tablespace.
#[derive(Debug)]
pub(crate) struct Space {
    pub id: SpaceId,
    pub file: Arc<dyn File>,
    page_size: usize,
    /// The path of the file. It is held shared while a batch is doublewritten, which names the
    /// file, until the batch is counted in `unsynced`. Lock order: after the doublewrite strategy.
    pub path: RwLock<PathBuf>,
    /// The number of batches that are doublewritten under the name in `path` and not finished. A
    /// rename waits for them. It is raised under `path`; `AcqRel` with the rename's load, which
    /// comes after the batches' syncs.
    pub unsynced: AtomicU32,
    /// Held through a structure change of any tree in this space: inner nodes change under it only.
    /// Lock order: before all latches.
    pub structure: Mutex<()>,
    /// Whether changes of the space's structure are logged. Nothing of a space without logging is
    /// wanted after a crash, so nothing of it is synced either.
    pub is_logged: bool,
    /// The length of the file in pages. It changes under `grow`.
    file_pages: AtomicU32,
    /// The number of pages that are not free, as of the last structure change that changed it.
    /// Relaxed: see [`SpaceRoom`].
    in_use: AtomicU32,
    grow: Mutex<()>,
}

impl Space {
    /// Makes the file with its page 0, durably if the space is logged.
    pub fn create(
        disk: &dyn Disk,
        path: &Path,
        access: Access,
        (id, is_logged): (SpaceId, bool),
        page_size: usize,
    ) -> Result<Space> {
        let file = disk.open_with(path, OpenMode::CreateNew, access)?;
        let mut first = vec![0; page_size * FIRST_PAGES as usize];
        let page = &mut first[..page_size];
        page::format(page, PageId::new(id, 0), PageType::SpaceHeader, 0);
        page[MAGIC_AT..MAGIC_AT + MAGIC.len()].copy_from_slice(MAGIC);
        put_u32(page, PAGE_SIZE_AT, page_size as u32);
        SpaceHeader { allocated: 1, free_head: 0, free_count: 0, claim_head: 0 }.put(page);
        page::seal(page);
        file.write_all_at(&first, 0)?;
        if is_logged {
            sync_or_stop(disk, &*file)?;
            if let Some(dir) = path.parent() {
                disk.sync_dir(dir)?;
            }
        }
        Ok(Space { is_logged, ..Space::new(id, file, path, page_size, (FIRST_PAGES, 1)) })
    }

    /// Opens the file and reads from page 0 which space it is. The file is synced first: what a
    /// killed server wrote may be in the kernel's page cache only, and a page that is found up to
    /// date is not written again before a checkpoint passes it.
    pub fn open(disk: &dyn Disk, path: &Path, access: Access, page_size: usize) -> Result<Space> {
        let file = disk.open_with(path, OpenMode::ReadWrite, access)?;
        sync_or_stop(disk, &*file)?;
        let mut page = vec![0; page_size];
        let got = file.read_at(&mut page, 0)?;
        let not_a_space =
            |reason: &str| BufferError::NotASpace { path: path.to_owned(), reason: reason.to_owned() };
        if got < PAGE_SIZES[0] {
            return Err(not_a_space("it is too short"));
        }
        if &page[MAGIC_AT..MAGIC_AT + MAGIC.len()] != MAGIC {
            return Err(not_a_space("its first page has no tablespace header"));
        }
        let found = u32_at(&page, PAGE_SIZE_AT);
        if found as usize != page_size {
            return Err(BufferError::PageSize { path: path.to_owned(), found, expected: page_size as u32 });
        }
        let id = page::id(&page).space;
        verify(&page, PageId::new(id, 0)).map_err(|reason| BufferError::corrupt(path, 0, reason))?;
        let file_pages = (file.len_bytes()? / page_size as u64).min(u32::MAX as u64) as u32;
        let in_use = SpaceHeader::of(&page).in_use();
        Ok(Space::new(id, file, path, page_size, (file_pages, in_use)))
    }

    fn new(
        id: SpaceId,
        file: Arc<dyn File>,
        path: &Path,
        page_size: usize,
        (file_pages, in_use): (u32, u32),
    ) -> Space {
        Space {
            id,
            file,
            page_size,
            path: RwLock::new(path.to_owned()),
            unsynced: AtomicU32::new(0),
            structure: Mutex::new(()),
            is_logged: true,
            file_pages: AtomicU32::new(file_pages),
            in_use: AtomicU32::new(in_use),
            grow: Mutex::new(()),
        }
    }

    pub fn offset_of(&self, no: PageNo) -> u64 {
        no as u64 * self.page_size as u64
    }

    /// Reports whether the storage guarantees that a page written by [`File::write_untorn_at`] is
    /// written whole or not at all.
    pub fn writes_untorn(&self, page_size: usize) -> bool {
        self.file.untorn_bytes() >= page_size
    }

    /// Returns the length of the file in pages.
    pub fn file_pages(&self) -> u32 {
        self.file_pages.load(Ordering::Acquire)
    }

    /// Reads a page as it is on disk, unverified. Pages beyond the file's end read as zeros.
    pub fn read_raw(&self, no: PageNo, page: &mut [u8]) -> Result<()> {
        let _reading = os::account::enter(os::account::State::PageRead);
        let got = self.file.read_at(page, self.offset_of(no))?;
        page[got..].fill(0);
        Ok(())
    }

    /// Reads runs of pages as they are on disk, unverified: each piece is the number of its first
    /// page and the memory for the run. `done` is called with the piece's number when its bytes
    /// have come, which are fewer than wanted where the file ends before. Several reads are in
    /// flight at the same time where the system can do that.
    pub fn read_raw_batch(
        &self,
        pieces: Vec<(PageNo, &mut [u8])>,
        done: &mut dyn FnMut(usize, std::io::Result<&[u8]>),
    ) {
        let mut pieces: Vec<(u64, &mut [u8])> =
            pieces.into_iter().map(|(no, bytes)| (self.offset_of(no), bytes)).collect();
        self.file.read_batch(&mut pieces, done);
    }

    /// Makes the file long enough to hold page `no`. The new length is durable if `sync` is true.
    pub fn ensure(&self, no: PageNo, disk: &dyn Disk, sync: bool) -> Result<()> {
        if no < self.file_pages() {
            return Ok(());
        }
        self.grow(self.grow.lock(), no, disk, sync)
    }

    /// Does the same as [`Space::ensure`], unless another thread is making the file longer.
    fn ensure_unless_growing(&self, no: PageNo, disk: &dyn Disk, sync: bool) -> Result<()> {
        match self.grow.try_lock() {
            Some(growing) => self.grow(growing, no, disk, sync),
            None => Ok(()),
        }
    }

    fn grow(&self, _growing: MutexGuard<'_, ()>, no: PageNo, disk: &dyn Disk, sync: bool) -> Result<()> {
        let have = self.file_pages();
        if no < have {
            return Ok(());
        }
        let _writing = os::account::enter(os::account::State::PageWrite);
        let extent = (EXTENT_BYTES / self.page_size) as u32;
        let target = have.saturating_add(have.clamp(1, extent)).max(no.saturating_add(1));
        let zeros = vec![0; extent as usize * self.page_size];
        let mut at = have;
        while at < target {
            let pages = extent.min(target - at);
            let written =
                self.file.write_all_at(&zeros[..pages as usize * self.page_size], self.offset_of(at));
            match written {
                // Growing ahead is a convenience: on a full disk it is enough to grow as far as is
                // needed now.
                Err(_) if at > no => break,
                Err(_) if pages > 1 && no - at < pages - 1 => {
                    let needed = (no - at + 1) as usize;
                    self.file.write_all_at(&zeros[..needed * self.page_size], self.offset_of(at))?;
                    at = no + 1;
                    break;
                }
                written => written?,
            }
            at += pages;
        }
        if sync {
            sync_or_stop(disk, &*self.file)?;
        }
        self.file_pages.store(at, Ordering::Release);
        Ok(())
    }

    /// Notes the new content of page 0.
    pub fn note_header(&self, header: SpaceHeader) {
        self.in_use.store(header.in_use(), Ordering::Relaxed);
    }

    /// Writes pages that were handed out for the first time, without writing zeros in their place
    /// before. The new length is durable if `sync` is true.
    pub fn write_fresh(&self, first: PageNo, pages: &[u8], disk: &dyn Disk, sync: bool) -> Result<()> {
        let end = first + (pages.len() / self.page_size) as u32;
        if end > self.file_pages() {
            if first > 0 {
                self.ensure(first - 1, disk, sync)?;
            }
            // The pages are written under the lock, so that nobody fills them with zeros
            // afterwards.
            let _growing = self.grow.lock();
            self.file.write_all_at(pages, self.offset_of(first))?;
            if sync {
                sync_or_stop(disk, &*self.file)?;
            }
            self.file_pages.fetch_max(end, Ordering::AcqRel);
            return Ok(());
        }
        Ok(self.file.write_all_at(pages, self.offset_of(first))?)
    }

    pub fn corrupt(&self, no: PageNo, reason: impl Into<String>) -> BufferError {
        BufferError::corrupt(&self.path.read(), no, reason)
    }
}

/// The most pages that are kept in reserve for other threads that change the space at the same
/// time.
const MOST_SLACK_PAGES: u32 = 256;

/// Tells whether a space has room for changes. A commit that is in the log cannot fail any more,
/// and its rows may split pages. So it asks here before it logs, and a full disk is the statement's
/// error. Changes that run at the same time are covered by some slack, not counted, and room for
/// unlikely numbers of splits is not asked for. A commit that meets a full disk all the same waits
/// for space ([`crate::Mtr::make_room`] refuses a split before it changes anything).
#[derive(Debug, Clone)]
pub struct SpaceRoom {
    space: Arc<Space>,
    disk: Arc<dyn Disk>,
    /// Whether a file's new length is made durable at once.
    sync: bool,
}

impl SpaceRoom {
    pub(crate) fn new(space: Arc<Space>, disk: Arc<dyn Disk>, sync: bool) -> SpaceRoom {
        SpaceRoom { space, disk, sync }
    }

    /// Makes sure that there are pages for `entries` more entries of `bytes` bytes together, and
    /// grows the file if it must.
    ///
    /// # Errors
    /// Returns an error when the file cannot grow.
    #[inline]
    pub fn reserve(&self, entries: usize, bytes: usize) -> Result<()> {
        let in_use = self.space.in_use.load(Ordering::Relaxed);
        let (needed, slack) = (self.pages_for(in_use, entries, bytes), (in_use / 4).min(MOST_SLACK_PAGES));
        let file_pages = self.space.file_pages();
        if in_use + needed + slack <= file_pages {
            return Ok(());
        }
        let last = in_use + needed + slack - 1;
        if in_use + needed + slack / 2 <= file_pages {
            // There is enough for this change: the file is made longer ahead of use, by one thread,
            // and nobody waits for it. Whether the disk has the room is asked again by the first
            // change that needs it.
            if let Err(error) = self.space.ensure_unless_growing(last, &*self.disk, self.sync) {
                log::debug!("{}: it cannot be made longer yet: {error}", self.space.file.path().display());
            }
            return Ok(());
        }
        self.space.ensure(last, &*self.disk, self.sync)
    }

    /// Returns how many pages so many entries may need. At worst every entry splits a leaf of its
    /// own. But a leaf that was split has room again, so many entries split no more leaves than
    /// there are and than they fill. Each split may go on upward.
    fn pages_for(&self, in_use: u32, entries: usize, bytes: usize) -> u32 {
        let filled = (4 * bytes / self.space.page_size) as u32;
        let splits = (entries.min(u32::MAX as usize / 2) as u32).min(in_use.saturating_add(filled) + 1);
        // A table is not made an eighth larger for an unlikely number of splits.
        (splits + splits / 16 + 4).min(64 + in_use / 8 + filled)
    }
}

/// Syncs a file. A failure stops the process, since the kernel may have dropped the writes and
/// would not report it again.
pub(crate) fn sync_or_stop(disk: &dyn Disk, file: &dyn File) -> Result<()> {
    let _syncing = os::account::enter(os::account::State::PageSync);
    file.sync_data().map_err(|error| {
        disk.fail_stop(&format!("a sync of {} failed: {error}", file.path().display()));
        BufferError::Io(error)
    })
}

/// A hold of a space's structure lock, which lasts until it is dropped. Inner nodes, page 0 and
/// free pages of the space change only under this lock.
#[derive(Debug)]
pub struct StructureLock {
    pub(crate) space: Arc<Space>,
    /// Makes the type not `Send`: a mutex is released by the thread that took it.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl StructureLock {
    pub(crate) fn new(space: Arc<Space>) -> StructureLock {
        std::mem::forget(space.structure.lock());
        StructureLock { space, _not_send: std::marker::PhantomData }
    }
}

impl Drop for StructureLock {
    fn drop(&mut self) {
        // SAFETY: `new` took the mutex and forgot its guard; this value is the only one that stands
        // for the guard.
        unsafe { self.space.structure.force_unlock() }
    }
}
