//! The pool: its parts put together, and what others ask of it.
//!
//! From the bottom up: `frames` has the pages, `spaces` their files; `batch` and `flush` write
//! pages out, `free_frames` has frames for others, `fetch` and `read_ahead` bring pages in;
//! `background` has the threads that do so unasked. Each part owns its state and is given the parts
//! below it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::Disk;
use redo::{Log, Lsn};

use crate::background::Background;
use crate::batch::Batches;
use crate::bell::Bell;
use crate::cached;
use crate::cleaner::Cleaners;
use crate::config::PoolConfig;
use crate::doublewrite::{self, WriteAreas};
use crate::error::Result;
use crate::fetch::Fetcher;
use crate::flush::Flusher;
use crate::frames::Frames;
use crate::free_frames::FreeFrames;
use crate::guard::{PageRead, PageWrite};
use crate::optimistic::{self, FoundLeaf};
use crate::options::{Doublewrite, OptionsInForce, PoolOptions};
use crate::page::{PageId, PageNo, SpaceId};
use crate::read_ahead::ReadAhead;
use crate::space::{SpaceRoom, StructureLock};
use crate::spaces::Spaces;
use crate::status::PoolStatus;
use crate::warm_up::WarmUp;

/// The buffer pool. See the crate's head.
#[derive(Debug)]
pub struct Pool {
    pub(crate) frames: Arc<Frames>,
    pub(crate) spaces: Arc<Spaces>,
    batches: Arc<Batches>,
    flusher: Arc<Flusher>,
    free_frames: Arc<FreeFrames>,
    pub(crate) fetcher: Fetcher,
    read_ahead: Arc<ReadAhead>,
    warm_up: Arc<WarmUp>,
    background: Background,
    options: Arc<OptionsInForce>,
}

impl Pool {
    /// Makes a pool and repairs, from the doublewrite file, pages that a crash left half written.
    ///
    /// # Errors
    /// An impossible configuration; an I/O error.
    pub fn open(disk: Arc<dyn Disk>, log: Arc<Log>, config: PoolConfig) -> Result<Arc<Pool>> {
        let count = config.frames()?;
        let instances = config.instances(count);
        let cleaners = config.options.page_cleaners.clamp(1, instances);
        let last_batch = doublewrite::repair(&*disk, &config)?;
        let access = config.access(&*disk)?;
        let areas = WriteAreas::open(&*disk, &config, access, instances + cleaners, last_batch)?;
        let syncs = config.options.flush_method.syncs();

        let options = Arc::new(OptionsInForce::new(config.options.clone()));
        let frames = Arc::new(Frames::new(count, instances, config.page_size, &config.options, log));
        let spaces = Arc::new(Spaces::new(Arc::clone(&disk), &config, access));
        let batches = Arc::new(Batches::new(frames.clone(), spaces.clone(), Arc::clone(&disk), areas, syncs));
        let flusher =
            Arc::new(Flusher::new(frames.clone(), spaces.clone(), batches.clone(), options.clone()));
        let bell = Arc::new(Bell::default());
        let free_frames =
            Arc::new(FreeFrames::new(frames.clone(), flusher.clone(), options.clone(), bell.clone()));
        let read_ahead = Arc::new(ReadAhead::new(frames.clone(), spaces.clone()));
        let cleaners = Arc::new(Cleaners::new(
            frames.clone(),
            batches.clone(),
            flusher.clone(),
            free_frames.clone(),
            options.clone(),
            cleaners,
            bell,
        ));
        let warm_up = WarmUp::new(frames.clone(), read_ahead.clone(), disk, config.datadir, options.clone());
        Ok(Arc::new(Pool {
            fetcher: Fetcher::new(frames.clone(), spaces.clone(), free_frames.clone()),
            background: Background::new(frames.clone(), free_frames.clone(), cleaners, read_ahead.clone()),
            frames,
            spaces,
            batches,
            flusher,
            free_frames,
            read_ahead,
            warm_up: Arc::new(warm_up),
            options,
        }))
    }

    /// Size of a page in bytes.
    #[inline]
    pub fn page_size(&self) -> usize {
        self.frames.page_size()
    }

    /// How many pages one mini-transaction may allocate or free at once. They stay latched, hence
    /// in the pool, until its record is in the log: threads that each held a good part of a small
    /// pool would wait for one another's frames for ever.
    pub fn pages_at_once(&self) -> usize {
        // All of them may belong to one instance.
        (self.frames.count() / self.frames.instances().len() / 64).clamp(1, 32)
    }

    /// How many instances the pool is divided into, and how many page cleaners it has: what the
    /// options asked for, as far as that makes sense.
    pub fn actors(&self) -> (usize, usize) {
        (self.frames.instances().len(), self.background.cleaners())
    }

    /// The log that structure changes go to.
    pub fn log(&self) -> &Arc<Log> {
        &self.frames.log
    }

    /// The options in force.
    pub fn options(&self) -> PoolOptions {
        self.options.get()
    }

    /// Changes options that [`PoolOptions`] calls changeable; it is not for `doublewrite`, see
    /// [`Pool::set_doublewrite`].
    pub fn change_options(&self, change: impl FnOnce(&mut PoolOptions)) {
        let mut old_percent = 0;
        let change = |options: &mut PoolOptions| {
            let doublewrite = options.doublewrite;
            change(options);
            options.doublewrite = doublewrite;
            old_percent = options.old_blocks_percent;
        };
        self.options.change(change, |options| {
            self.frames.set_options(options);
            self.free_frames.set_options(options);
        });
        self.frames.set_old_percent(old_percent);
    }

    /// Changes how pages are protected against being torn, once the batches under way are written.
    ///
    /// # Errors
    /// An I/O error of the doublewrite file; the strategy is then what it was.
    pub fn set_doublewrite(&self, kind: Doublewrite) -> Result<()> {
        self.batches.set_strategy(kind)?;
        self.options.change(|options| options.doublewrite = kind, |_| ());
        Ok(())
    }

    /// The pool's figures now.
    pub fn status(&self) -> PoolStatus {
        let (mut free, mut data, mut old, mut dirty) = (0, 0, 0, 0);
        for instance in self.frames.instances() {
            let lists = instance.lists.lock();
            free += lists.free_len() as u64;
            old += lists.old_len() as u64;
            data += (lists.young_len() + lists.old_len()) as u64;
            drop(lists);
            dirty += instance.flush_lists.lock().dirty_len() as u64;
        }
        PoolStatus {
            pages_total: self.frames.count() as u64,
            pages_free: free,
            pages_data: data,
            pages_old: old,
            read_requests: os::account::page_requests(),
            pages_dirty: dirty,
            page_size: self.page_size() as u64,
            ..self.frames.counters.snapshot()
        }
    }

    // ---- pages ----

    /// The page, latched shared; read in if it is not here.
    ///
    /// # Errors
    /// When the page is damaged or its space is not open; an I/O error.
    #[inline]
    pub fn read(&self, id: PageId) -> Result<PageRead<'_>> {
        self.fetcher.read(id)
    }

    /// The page, latched exclusively; read in if it is not here.
    ///
    /// # Errors
    /// As [`Pool::read`].
    #[inline]
    pub fn write(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.fetcher.write(id)
    }

    /// A page that recovery is about to bring up to date: as [`Pool::write`], but one that is
    /// damaged or missing comes as blank, LSN 0. It is thrown away again unless
    /// [`PageWrite::changed`] is called.
    ///
    /// # Errors
    /// When its space is not open or cannot grow; an I/O error.
    pub fn write_or_blank(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.fetcher.write_or_blank(id)
    }

    /// Finds the leaf of the tree at `root` that holds `key` without latching anything, and starts
    /// loading it into the processor's cache. `None` when anything came in between, an inner node
    /// is not in the pool, or the root is a leaf: then the way down is with latches.
    pub fn find_leaf(&self, root: PageId, key: &[u8]) -> Option<FoundLeaf> {
        optimistic::find_leaf(&self.frames, root, key)
    }

    /// Starts loading a leaf that [`Pool::find_leaf`] found on another processor.
    #[inline]
    pub fn prefetch_found(&self, found: FoundLeaf) {
        found.prefetch(&self.frames);
    }

    /// Starts loading the entry of `key` in a leaf that [`Pool::find_leaf`] found some time ago, so
    /// that its slots are in the processor's cache by now.
    #[inline]
    pub fn prefetch_entry(&self, found: FoundLeaf, key: &[u8]) {
        found.prefetch_entry(&self.frames, key);
    }

    /// The leaf, latched shared, if it is still its key's; it stays that while it is held. The
    /// caller checks that the page is a leaf.
    ///
    /// # Errors
    /// As [`Pool::read`].
    #[inline]
    pub fn read_found(&self, found: FoundLeaf) -> Result<Option<PageRead<'_>>> {
        let leaf = self.read(found.id())?;
        Ok(found.is_still(&self.frames).then_some(leaf))
    }

    /// As [`Pool::read_found`], latched exclusively.
    ///
    /// # Errors
    /// As [`Pool::read`].
    #[inline]
    pub fn write_found(&self, found: FoundLeaf) -> Result<Option<PageWrite<'_>>> {
        let leaf = self.write(found.id())?;
        Ok(found.is_still(&self.frames).then_some(leaf))
    }

    /// Shows `visit` the leaves of indexes in the wanted tablespaces that are in the pool, each
    /// latched shared meanwhile, until it breaks. One that somebody changes at the moment is passed
    /// over, and so may be one that is brought in meanwhile.
    pub fn visit_cached_leaves(
        &self,
        is_wanted: impl Fn(SpaceId) -> bool,
        visit: impl FnMut(SpaceId, &[u8]) -> ControlFlow<()>,
    ) {
        cached::visit_leaves(&self.frames, is_wanted, visit);
    }

    /// Reads pages of one space that will be wanted soon, those that are not here, as far as there
    /// are spare frames. Returns how many were not.
    ///
    /// # Errors
    /// An I/O error; whoever wants the page meets it again.
    pub fn read_ahead_of(&self, space: SpaceId, pages: Vec<PageNo>) -> Result<usize> {
        self.read_ahead.read_listed(space, pages)
    }

    /// A thread that brings in many pages calls it with no latch held: it waits, for a while, until
    /// every instance has frames to spare, so that neither it nor anybody else has to wait for one
    /// with latches held.
    pub fn free_check_in_bulk(&self) {
        self.free_frames.check_in_bulk();
    }

    // ---- tablespaces ----

    /// Makes a tablespace file with its header page, durably.
    ///
    /// # Errors
    /// When the number or the file exists already; an I/O error.
    pub fn create_space(&self, id: SpaceId, path: &Path) -> Result<()> {
        self.spaces.create(id, true, path)
    }

    /// Makes a tablespace file of which nothing is wanted after a crash: changes of its structure
    /// are not logged. Its owner changes its pages by [`RecordLsn::UNLOGGED`], and removes what a
    /// crash left of the file.
    ///
    /// # Errors
    /// As [`Pool::create_space`].
    pub fn create_unlogged_space(&self, id: SpaceId, path: &Path) -> Result<()> {
        self.spaces.create(id, false, path)
    }

    /// Opens a tablespace file; returns the number that it says it has. Opening one that is open
    /// already does nothing.
    ///
    /// # Errors
    /// When the file is no tablespace, or one of another page size, or of a number that another
    /// file has; an I/O error.
    pub fn open_space(&self, path: &Path) -> Result<SpaceId> {
        self.spaces.open(path)
    }

    /// Whether the space is open.
    pub fn has_space(&self, id: SpaceId) -> bool {
        self.spaces.has(id)
    }

    /// Where the space's file is.
    pub fn space_path(&self, id: SpaceId) -> Option<PathBuf> {
        self.spaces.path(id)
    }

    /// Length of the space's file in bytes, as far as it was made ready for pages.
    pub fn space_bytes(&self, id: SpaceId) -> Option<u64> {
        self.spaces.bytes(id)
    }

    /// What tells whether the space has room, see [`SpaceRoom`]; `None` when it is not open.
    pub fn room(&self, id: SpaceId) -> Option<SpaceRoom> {
        self.spaces.room(id)
    }

    /// Takes the space's structure lock. No page latch may be held.
    ///
    /// # Errors
    /// When the space is not open.
    pub fn lock_structure(&self, id: SpaceId) -> Result<StructureLock> {
        self.spaces.lock_structure(id)
    }

    /// Removes the space's file, and then forgets its pages. The caller makes sure that nobody uses
    /// the space any more.
    ///
    /// In this order: until the removal is durable a crash finds the file again, and has to find
    /// the log of the pages that are not written to it. So they hold up the checkpoint until then.
    /// Those that are written meanwhile go to a file that has no name any more.
    ///
    /// # Errors
    /// When there is no such space; when the file cannot be removed, and the space stays.
    pub fn drop_space(&self, id: SpaceId) -> Result<()> {
        self.spaces.remove(id)?;
        self.flusher.forget_pages(id);
        Ok(())
    }

    /// Renames the space's file, durably. No page write of the space is under way meanwhile.
    ///
    /// # Errors
    /// When there is no such space; when the file cannot be renamed.
    pub fn rename_space(&self, id: SpaceId, to: &Path) -> Result<()> {
        self.spaces.rename(id, to, || self.batches.finish())
    }

    // ---- what is dirty ----

    /// The start LSN of the oldest change that may not be on disk. A checkpoint uses
    /// [`Pool::checkpoint_lsn`], which asks in the right order.
    pub fn oldest_dirty_lsn(&self) -> Option<Lsn> {
        self.frames.oldest_dirty_lsn()
    }

    /// An LSN from which recovery would find everything that pages on disk lack. `oldest_unapplied`
    /// answers with the start (or an LSN before it) of the oldest commit that reserved log space
    /// and is not wholly applied to pages; a commit counts from before it reserves until after it
    /// is applied. It is asked at the one right moment, which is why this takes a function.
    pub fn checkpoint_lsn(&self, oldest_unapplied: impl FnOnce() -> Option<Lsn>) -> Lsn {
        self.frames.checkpoint_lsn(oldest_unapplied)
    }

    /// Writes every page whose oldest change starts before `lsn`, and returns when those changes
    /// are durable in their places.
    ///
    /// # Errors
    /// An I/O error; what was written stays written.
    pub fn flush_until(&self, lsn: Lsn) -> Result<()> {
        self.flusher.flush_until(lsn)
    }

    /// Writes every page that is dirty when this is called.
    ///
    /// # Errors
    /// As [`Pool::flush_until`].
    pub fn flush_all(&self) -> Result<()> {
        self.flush_until(self.log().current_lsn() + 1)
    }

    /// Writes every page of one space that is dirty when this is called, and returns when those
    /// changes are durable in their places. Changes that come meanwhile are not waited for.
    ///
    /// # Errors
    /// As [`Pool::flush_until`].
    pub fn flush_space(&self, id: SpaceId) -> Result<()> {
        self.flusher.flush_space(id)
    }

    // ---- threads and warm-up ----

    /// Starts the page cleaners, the LRU flushers and the read-ahead thread, and the warm-up if
    /// that is asked for. Does nothing when they run.
    pub fn start_cleaners(&self) {
        if self.background.start() && self.options().load_at_startup {
            self.start_load();
        }
    }

    /// Stops the page cleaners and LRU flushers and waits for their end. What is dirty stays so:
    /// [`Pool::flush_all`] comes next in a clean shutdown.
    pub fn stop(&self) {
        self.warm_up.stop_load();
        self.background.stop();
        if self.options().dump_at_shutdown
            && let Err(error) = self.dump_pages()
        {
            log::error!("Buffer pool(s) dump: {error}");
        }
    }

    /// The texts of `Innodb_buffer_pool_dump_status` and `Innodb_buffer_pool_load_status`.
    pub fn warm_up_status(&self) -> (String, String) {
        self.warm_up.status()
    }

    /// Writes the list of the hottest pages (`innodb_buffer_pool_dump_now`); returns how many it
    /// names.
    ///
    /// # Errors
    /// An I/O error; the status says so too.
    pub fn dump_pages(&self) -> Result<usize> {
        self.warm_up.dump()
    }

    /// Begins to read the listed pages in a thread of its own (`innodb_buffer_pool_load_now`),
    /// unless it is under way.
    pub fn start_load(&self) {
        self.warm_up.start_load();
    }

    /// Ends a load before its end (`innodb_buffer_pool_load_abort`).
    pub fn abort_load(&self) {
        self.warm_up.abort_load();
    }

    /// Reads the listed pages, as far as there are spare frames; returns how many were read.
    ///
    /// # Errors
    /// A list that is none; an I/O error.
    pub fn load_pages(&self) -> Result<usize> {
        self.warm_up.load()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // In a test that has had a power cut nobody has stopped the threads, and each keeps its
        // parts of the pool.
        self.warm_up.stop_load();
        self.background.stop();
    }
}
