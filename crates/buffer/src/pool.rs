//! The pool: finding pages, reading them in, and finding frames for them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use os::account::{State, enter};
use os::disk::Disk;
use parking_lot::{Condvar, Mutex, RwLock};
use redo::{Log, Lsn};

use crate::cleaner::Cleaner;
use crate::doublewrite::{self, WriteAreas};
use crate::error::{BufferError, Result};
use crate::flush_list::FlushLists;
use crate::frame::{Frame, Memory, NO_PAGE};
use crate::guard::{PageRead, PageWrite};
use crate::lru::Lists;
use crate::page::{self, PAGE_SIZES, PageId, PageType, SpaceId};
use crate::space::{Space, StructureLock};
use crate::status::{Counters, PoolStatus, count};
use crate::table::PageTable;

/// How a pool is made.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// Memory for pages, in bytes (`innodb_buffer_pool_size`).
    pub capacity_bytes: usize,
    /// Size of a page in bytes (`innodb_page_size`): 4096, 8192, 16384, 32768 or 65536.
    pub page_size: usize,
    /// The data directory, where the doublewrite file is.
    pub datadir: PathBuf,
    /// Whether pages go through the doublewrite file first (`innodb_doublewrite`).
    pub doublewrite: bool,
    /// Pages a second that background flushing may write when there is no hurry (`innodb_io_capacity`).
    pub io_capacity: u32,
    /// Pages a second when there is (`innodb_io_capacity_max`).
    pub io_capacity_max: u32,
    /// Frames that the cleaner keeps free, at most; a small pool keeps fewer (`innodb_lru_scan_depth`).
    pub lru_scan_depth: usize,
    /// Whether a thread that finds no free frame writes a page itself, rather than only wait for the cleaner.
    pub single_page_flush: bool,
    /// Log capacity in bytes (`innodb_redo_log_capacity`): changes older than most of it are flushed.
    pub redo_capacity_bytes: u64,
}

impl PoolConfig {
    /// MySQL's defaults for a data directory, with a pool of `capacity_bytes`.
    pub fn new(datadir: &Path, capacity_bytes: usize) -> PoolConfig {
        PoolConfig {
            capacity_bytes,
            page_size: 16384,
            datadir: datadir.to_owned(),
            doublewrite: true,
            io_capacity: 10_000,
            io_capacity_max: 20_000,
            lru_scan_depth: 1024,
            single_page_flush: true,
            redo_capacity_bytes: 100 << 20,
        }
    }
}

/// The smallest pool, in frames: enough for every thread of a small server to hold the pages of a structure change.
const MIN_FRAMES: usize = 64;
/// How long a thread waits for the cleaner before it looks for itself again.
const FREE_WAIT: Duration = Duration::from_millis(10);
/// Candidates looked at in one search for a clean page.
const EVICT_SCAN: usize = 100;

/// The buffer pool. See the crate's head.
#[derive(Debug)]
pub struct Pool {
    disk: Arc<dyn Disk>,
    log: Arc<Log>,
    config: PoolConfig,
    memory: Memory,
    frames: Box<[Frame]>,
    table: PageTable,
    /// Leaf in the lock order.
    pub(crate) lists: Mutex<Lists>,
    /// Signalled under `lists` when frames become free.
    free_event: Condvar,
    /// Leaf in the lock order.
    pub(crate) flush_lists: Mutex<FlushLists>,
    /// Signalled under `flush_lists` when writes have been synced.
    pub(crate) write_event: Condvar,
    /// Lock order: leaf, but for a space's own locks, which come after it only in `drop_space`.
    spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
    pub(crate) areas: WriteAreas,
    pub(crate) counters: Counters,
    pub(crate) cleaner: Arc<Cleaner>,
    /// Set once frames have run short: only then is it worth keeping the LRU list in order.
    evicting: AtomicBool,
    /// Advances with every move to the young head.
    lru_clock: AtomicU32,
    /// Advances about ten times a second while a cleaner runs.
    tick: AtomicU32,
}

impl Pool {
    /// Makes a pool and repairs, from the doublewrite file, pages that a crash left half written.
    ///
    /// # Errors
    /// An impossible configuration; an I/O error.
    pub fn open(disk: Arc<dyn Disk>, log: Arc<Log>, config: PoolConfig) -> Result<Arc<Pool>> {
        if !PAGE_SIZES.contains(&config.page_size) {
            let message = format!("innodb_page_size {} is none of {PAGE_SIZES:?}", config.page_size);
            return Err(BufferError::Config(message));
        }
        let frames = config.capacity_bytes / config.page_size;
        if frames < MIN_FRAMES || frames >= u32::MAX as usize / 4 {
            let least = MIN_FRAMES * config.page_size;
            let message =
                format!("innodb_buffer_pool_size {} is below {least} or too large", config.capacity_bytes);
            return Err(BufferError::Config(message));
        }
        let last_batch = doublewrite::repair(&*disk, &config)?;
        let areas = WriteAreas::open(&*disk, &config, last_batch)?;
        Ok(Arc::new(Pool {
            disk,
            log,
            memory: Memory::new(frames, config.page_size),
            frames: (0..frames).map(|_| Frame::new()).collect(),
            table: PageTable::new(frames),
            lists: Mutex::new(Lists::new(frames as u32)),
            free_event: Condvar::new(),
            flush_lists: Mutex::new(FlushLists::default()),
            write_event: Condvar::new(),
            spaces: RwLock::new(HashMap::new()),
            areas,
            counters: Counters::default(),
            cleaner: Arc::new(Cleaner::default()),
            evicting: AtomicBool::new(false),
            lru_clock: AtomicU32::new(0),
            tick: AtomicU32::new(0),
            config,
        }))
    }

    /// Size of a page in bytes.
    #[inline]
    pub fn page_size(&self) -> usize {
        self.memory.page_size()
    }

    /// How many pages one mini-transaction may allocate or free at once. They stay latched, hence in the pool, until its record is in the log: threads
    /// that each held a good part of a small pool would wait for one another's frames for ever.
    pub fn pages_at_once(&self) -> usize {
        (self.frames.len() / 64).clamp(1, 32)
    }

    /// The log that structure changes go to.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub(crate) fn config(&self) -> &PoolConfig {
        &self.config
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    #[inline]
    pub(crate) fn frame(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    #[inline]
    pub(crate) fn hinted(&self, packed: u64) -> Option<u32> {
        self.table.hinted(packed)
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Whether frames have run short since the pool was opened.
    pub(crate) fn is_evicting(&self) -> bool {
        self.evicting.load(Ordering::Relaxed)
    }

    /// Wakes all who wait for a free frame.
    pub(crate) fn announce_free(&self) {
        self.free_event.notify_all();
    }

    pub(crate) fn advance_tick(&self) {
        self.tick.fetch_add(1, Ordering::Relaxed);
    }

    /// The pool's figures now.
    pub fn status(&self) -> PoolStatus {
        let (free, data) = {
            let lists = self.lists.lock();
            (lists.free_len() as u64, (lists.young_len() + lists.old_len()) as u64)
        };
        PoolStatus {
            pages_total: self.frames.len() as u64,
            pages_free: free,
            pages_data: data,
            pages_dirty: self.flush_lists.lock().dirty_len() as u64,
            page_size: self.page_size() as u64,
            ..self.counters.snapshot()
        }
    }

    /// The start LSN of the oldest change that may not be on disk. A checkpoint uses [`Pool::checkpoint_lsn`], which asks in the right order.
    pub fn oldest_dirty_lsn(&self) -> Option<Lsn> {
        self.flush_lists.lock().oldest()
    }

    /// An LSN from which recovery would find everything that pages on disk lack. `oldest_unapplied` answers with the start (or an LSN before it)
    /// of the oldest commit that reserved log space and is not wholly applied to pages; a commit counts from before it reserves until
    /// after it is applied. It is asked at the one right moment, which is why this takes a function.
    pub fn checkpoint_lsn(&self, oldest_unapplied: impl FnOnce() -> Option<Lsn>) -> Lsn {
        // The log's end first: who reserves after this moment is past it. Who reserved before is either unapplied when asked next, or
        // has dirtied its pages by then and is in the lists, which are asked last. The same goes for mini-transactions.
        let end = self.log.current_lsn();
        let unapplied = oldest_unapplied().unwrap_or(end);
        let dirty = self.oldest_dirty_lsn().unwrap_or(end);
        end.min(unapplied).min(dirty)
    }

    /// Announces a record that will dirty pages, before its log space is reserved.
    pub(crate) fn begin_logging(&self) -> (Lsn, u64) {
        let mut lists = self.flush_lists.lock();
        // Read under the lock: no checkpoint has been computed past it then.
        let floor = self.log.current_lsn();
        lists.begin_logging(floor)
    }

    // ---- spaces ----

    /// Makes a tablespace file with its header page, durably.
    ///
    /// # Errors
    /// When the number or the file exists already; an I/O error.
    pub fn create_space(&self, id: SpaceId, path: &Path) -> Result<()> {
        if self.spaces.read().contains_key(&id) || id == u32::MAX {
            return Err(BufferError::SpaceInUse(id));
        }
        let space = Space::create(&*self.disk, path, id, self.page_size())?;
        self.spaces.write().insert(id, Arc::new(space));
        Ok(())
    }

    /// Opens a tablespace file; returns the number that it says it has. Opening one that is open already does nothing.
    ///
    /// # Errors
    /// When the file is no tablespace, or one of another page size, or of a number that another file has; an I/O error.
    pub fn open_space(&self, path: &Path) -> Result<SpaceId> {
        let space = Space::open(&*self.disk, path, self.page_size())?;
        let id = space.id;
        let mut spaces = self.spaces.write();
        match spaces.get(&id) {
            Some(open) if *open.path.read() == path => Ok(id),
            Some(_) => Err(BufferError::SpaceInUse(id)),
            None => {
                spaces.insert(id, Arc::new(space));
                Ok(id)
            }
        }
    }

    /// Whether the space is open.
    pub fn has_space(&self, id: SpaceId) -> bool {
        self.spaces.read().contains_key(&id)
    }

    /// Where the space's file is.
    pub fn space_path(&self, id: SpaceId) -> Option<PathBuf> {
        self.spaces.read().get(&id).map(|space| space.path.read().clone())
    }

    /// Length of the space's file in bytes, as far as it was made ready for pages.
    pub fn space_bytes(&self, id: SpaceId) -> Option<u64> {
        self.spaces.read().get(&id).map(|space| space.offset_of(space.file_pages()))
    }

    pub(crate) fn space(&self, id: SpaceId) -> Result<Arc<Space>> {
        self.spaces.read().get(&id).cloned().ok_or(BufferError::NoSuchSpace(id))
    }

    /// Takes the space's structure lock. No page latch may be held.
    ///
    /// # Errors
    /// When the space is not open.
    pub fn lock_structure(&self, id: SpaceId) -> Result<StructureLock> {
        Ok(StructureLock::new(self.space(id)?))
    }

    /// Forgets the space's pages and removes its file. The caller makes sure that nobody uses the space any more.
    ///
    /// # Errors
    /// When there is no such space; when the file cannot be removed.
    pub fn drop_space(&self, id: SpaceId) -> Result<()> {
        let space = self.spaces.write().remove(&id).ok_or(BufferError::NoSuchSpace(id))?;
        self.forget_pages(id);
        let path = space.path.write();
        self.disk.remove(&path)?;
        if let Some(dir) = path.parent() {
            self.disk.sync_dir(dir)?;
        }
        Ok(())
    }

    /// Renames the space's file, durably. No page write of the space is under way meanwhile.
    ///
    /// # Errors
    /// When there is no such space; when the file cannot be renamed.
    pub fn rename_space(&self, id: SpaceId, to: &Path) -> Result<()> {
        let space = self.space(id)?;
        let mut path = space.path.write();
        self.disk.rename(&path, to)?;
        for dir in [path.parent(), to.parent()].into_iter().flatten() {
            self.disk.sync_dir(dir)?;
        }
        to.clone_into(&mut path);
        Ok(())
    }

    fn forget_pages(&self, id: SpaceId) {
        for number in 0..self.frames.len() as u32 {
            let frame = self.frame(number);
            let packed = frame.page_id.load(Ordering::Relaxed);
            if packed == NO_PAGE || packed >> 32 != id as u64 {
                continue;
            }
            frame.latch.exclusive();
            while frame.holds(packed) && frame.writing.load(Ordering::Acquire) {
                frame.latch.release_exclusive();
                os::clock::sleep(Duration::from_millis(1));
                frame.latch.exclusive();
            }
            if !frame.holds(packed) {
                frame.latch.release_exclusive();
                continue;
            }
            {
                let mut lists = self.flush_lists.lock();
                lists.forget(number, frame.oldest());
                frame.oldest_lsn.store(0, Ordering::Relaxed);
            }
            self.discard(number);
        }
    }

    // ---- pages ----

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
        Some(number)
    }

    /// A page that is about to be made anew, latched exclusively: as it is if it is here, else without reading it, empty. Thrown away again
    /// unless [`PageWrite::changed`] is called.
    pub(crate) fn create(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.space(id.space)?.ensure(id.no)?;
        let (number, fresh) = self.find(id, Mode::Exclusive, Fill::Blank)?;
        Ok(PageWrite::new(self, number, fresh))
    }

    /// A page that recovery is about to bring up to date: as [`Pool::write`], but one that is damaged or missing comes as blank, LSN 0. It is thrown
    /// away again unless [`PageWrite::changed`] is called.
    ///
    /// # Errors
    /// When its space is not open or cannot grow; an I/O error.
    pub fn write_or_blank(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.space(id.space)?.ensure(id.no)?;
        let (number, fresh) = self.find(id, Mode::Exclusive, Fill::ReadOrBlank)?;
        Ok(PageWrite::new(self, number, fresh))
    }

    /// Finds the page or brings it in; returns its frame latched, and whether it was brought in blank.
    #[cold]
    fn find(&self, id: PageId, mode: Mode, fill: Fill) -> Result<(u32, bool)> {
        let packed = id.packed();
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
        let number = self.take_free()?;
        let frame = self.frame(number);
        {
            let mut shard = self.table.shard(packed);
            if shard.contains_key(&packed) {
                drop(shard);
                frame.latch.release_exclusive();
                self.give_free(number);
                return Ok(None);
            }
            shard.insert(packed, number);
            frame.page_id.store(packed, Ordering::Relaxed);
        }
        frame.read_tick.store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        // SAFETY: the frame's latch is held exclusively, by `take_free`.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.memory.page_ptr(number), self.page_size()) };
        let fresh = match self.fill(&space, id, fill, bytes) {
            Ok(fresh) => fresh,
            Err(error) => {
                self.discard(number);
                return Err(error);
            }
        };
        {
            let mut lists = self.lists.lock();
            lists.insert(&self.frames, number);
            // Inner nodes are used by every descent, also those of a scan that reads each leaf once.
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
        match page::verify(bytes, id) {
            Ok(()) => Ok(false),
            Err(_) if fill == Fill::ReadOrBlank => blank(bytes),
            Err(reason) => Err(space.corrupt(id.no, reason)),
        }
    }

    /// Removes the page from its frame, which is latched exclusively and clean, and frees the frame.
    pub(crate) fn discard(&self, number: u32) {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        assert!(!frame.is_dirty(), "a dirty page is not thrown away");
        self.table.shard(packed).remove(&packed);
        self.empty_frame(number);
    }

    /// The rest of removing a page: its entry in the table is gone, the latch is held exclusively.
    fn empty_frame(&self, number: u32) {
        let frame = self.frame(number);
        frame.page_id.store(NO_PAGE, Ordering::Relaxed);
        self.lists.lock().remove(&self.frames, number);
        frame.latch.release_exclusive();
        self.give_free(number);
    }

    fn give_free(&self, number: u32) {
        self.lists.lock().push_free(number);
        self.free_event.notify_one();
    }

    /// Keeps the LRU list roughly in order: cheap unless the page's place is well out of date.
    #[inline]
    pub(crate) fn touch(&self, number: u32, frame: &Frame) {
        if self.evicting.load(Ordering::Relaxed) {
            self.touch_listed(number, frame);
        }
    }

    fn touch_listed(&self, number: u32, frame: &Frame) {
        let clock = self.lru_clock.load(Ordering::Relaxed);
        let stale = if frame.young.load(Ordering::Relaxed) {
            clock.wrapping_sub(frame.young_stamp.load(Ordering::Relaxed)) as usize > self.frames.len() / 4
        } else {
            // InnoDB's innodb_old_blocks_time: the accesses right after a read are usually one scan's.
            let age = self.tick.load(Ordering::Relaxed).wrapping_sub(frame.read_tick.load(Ordering::Relaxed));
            age >= 10
        };
        if stale && let Some(mut lists) = self.lists.try_lock() {
            lists.make_young(&self.frames, number);
            let stamp = self.lru_clock.fetch_add(1, Ordering::Relaxed);
            frame.young_stamp.store(stamp, Ordering::Relaxed);
            count(&self.counters.pages_made_young, 1);
        }
    }

    /// Enters the frame, latched exclusively, into the flush list, or moves it to an older place there.
    #[inline]
    pub(crate) fn mark_dirty(&self, number: u32, start: Lsn) {
        let frame = self.frame(number);
        let oldest = frame.oldest();
        if oldest == 0 || start < oldest {
            let mut lists = self.flush_lists.lock();
            let oldest = frame.oldest();
            lists.add(number, oldest, if oldest == 0 { start } else { start.min(oldest) });
            frame.oldest_lsn.store(if oldest == 0 { start } else { start.min(oldest) }, Ordering::Relaxed);
        }
    }

    // ---- free frames ----

    /// A free frame, latched exclusively. Waits until there is one.
    fn take_free(&self) -> Result<u32> {
        let mut rounds = 0u32;
        loop {
            let (free, left) = {
                let mut lists = self.lists.lock();
                (lists.pop_free(), lists.free_len())
            };
            if let Some(number) = free {
                if left < self.free_target() / 2 {
                    self.evicting.store(true, Ordering::Relaxed);
                    self.cleaner.wake();
                }
                self.frame(number).latch.exclusive();
                return Ok(number);
            }
            self.evicting.store(true, Ordering::Relaxed);
            if self.evict(1, EVICT_SCAN << rounds.min(12)) > 0 {
                continue;
            }
            if rounds == 0 {
                count(&self.counters.wait_free, 1);
            }
            rounds += 1;
            // The cleaner writes a batch for the price of one page. Only when that does not help does this thread write one itself.
            let cleaner_helps = self.cleaner.wake();
            if (rounds > 1 && self.config.single_page_flush || !cleaner_helps) && self.flush_single_page()? {
                continue;
            }
            let _waiting = enter(State::FreePageWait);
            let mut lists = self.lists.lock();
            if lists.free_len() == 0 {
                self.free_event.wait_for(&mut lists, FREE_WAIT);
            }
        }
    }

    /// How many frames the cleaner keeps free.
    pub(crate) fn free_target(&self) -> usize {
        self.config.lru_scan_depth.min(self.frames.len() / 8).max(4)
    }

    /// Frees up to `wanted` frames with clean pages among the `scan` coldest.
    pub(crate) fn evict(&self, wanted: usize, scan: usize) -> usize {
        let candidates: Vec<u32> = {
            let lists = self.lists.lock();
            let cold = lists.coldest_first().take(scan);
            cold.filter(|&number| self.frame(number).is_replaceable()).take(wanted * 2 + 6).collect()
        };
        let mut freed = 0;
        for number in candidates {
            if freed == wanted {
                break;
            }
            freed += self.evict_frame(number) as usize;
        }
        count(&self.counters.pages_evicted, freed as u64);
        freed
    }

    fn evict_frame(&self, number: u32) -> bool {
        let frame = self.frame(number);
        let packed = frame.page_id.load(Ordering::Relaxed);
        if packed == NO_PAGE {
            return false;
        }
        {
            let mut shard = self.table.shard(packed);
            // Pins are taken under the shard's lock, so none can come between this check and the removal; a thread that latches by a
            // hint instead fails against the exclusive latch, or is seen by the try for it.
            if shard.get(&packed) != Some(&number) || !frame.latch.try_exclusive() {
                return false;
            }
            if !frame.is_replaceable() {
                drop(shard);
                frame.latch.release_exclusive();
                return false;
            }
            shard.remove(&packed);
        }
        self.empty_frame(number);
        true
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
