//! The pool: its parts put together, and the functions that other crates call.
//!
//! The parts from the bottom up: `frames` has the pages, `spaces` their files; `batch` and `flush`
//! write pages out, `free_frames` has free frames for pages that come in, `fetch` and `read_ahead`
//! bring pages in; `background` has the threads that do so unasked. Each part owns its state and is
//! given the parts below it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::{Disk, File};
use redo::{Log, Lsn};

use crate::background::Background;
use crate::batch::Batches;
use crate::bell::Bell;
use crate::cached;
use crate::cleaner::Cleaners;
use crate::config::PoolConfig;
use crate::copy::SpaceCopy;
use crate::doublewrite::{self, WriteAreas};
use crate::error::Result;
use crate::fetch::Fetcher;
use crate::flush::Flusher;
use crate::flushed::{FlushNotes, Flushed};
use crate::frames::Frames;
use crate::free_frames::FreeFrames;
use crate::guard::{PageRead, PageWrite};
use crate::optimistic::{self, FoundLeaf};
use crate::options::{Doublewrite, OptionsInForce, PoolOptions};
use crate::page::{PageId, PageNo, SpaceId};
use crate::read_ahead::ReadAhead;
use crate::resident::{self, ResidentPage};
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
    flushed: Flushed,
}

impl Pool {
    /// Makes a pool and repairs, from the doublewrite file, pages that a crash left half written.
    ///
    /// # Errors
    /// Returns an error for a configuration that cannot work, and I/O errors.
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
            flushed: Flushed::default(),
        }))
    }

    /// Returns the size of a page in bytes.
    #[inline]
    pub fn page_size(&self) -> usize {
        self.frames.page_size()
    }

    /// Returns how many pages one mini-transaction may allocate or free at once. They stay latched,
    /// and so in the pool, until its record is in the log. If threads each held a good part of a
    /// small pool, they would wait for one another's frames for ever.
    pub fn pages_at_once(&self) -> usize {
        // All of these pages may belong to one instance.
        (self.frames.count() / self.frames.instances().len() / 64).clamp(1, 32)
    }

    /// Returns how many pages the pool has room for.
    pub fn pages(&self) -> usize {
        self.frames.count()
    }

    /// Returns how many instances the pool is divided into, and how many page cleaners it has: what
    /// the options asked for, as far as that makes sense.
    pub fn actors(&self) -> (usize, usize) {
        (self.frames.instances().len(), self.background.cleaners())
    }

    /// Returns the log that structure changes go to.
    pub fn log(&self) -> &Arc<Log> {
        &self.frames.log
    }

    /// Returns a copy of the options in force.
    pub fn options(&self) -> PoolOptions {
        self.options.get()
    }

    /// Changes options that [`PoolOptions`] calls changeable. A change of `doublewrite` is ignored:
    /// [`Pool::set_doublewrite`] makes it.
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
    /// Returns an I/O error of the doublewrite file. The strategy then stays as it was.
    pub fn set_doublewrite(&self, kind: Doublewrite) -> Result<()> {
        self.batches.set_strategy(kind)?;
        self.options.change(|options| options.doublewrite = kind, |_| ());
        Ok(())
    }

    /// Returns the pool's figures at this moment.
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

    /// Returns the pages that are in the pool, one instance after the other, each from the page
    /// that is to leave first to the hottest one.
    pub fn resident_pages(&self) -> Vec<ResidentPage> {
        resident::pages(&self.frames)
    }

    // ---- pages ----

    /// Returns the page, latched shared. It is read in if the pool does not have it.
    ///
    /// # Errors
    /// Returns an error when the page is damaged or its space is not open, and I/O errors.
    #[inline]
    pub fn read(&self, id: PageId) -> Result<PageRead<'_>> {
        self.fetcher.read(id)
    }

    /// Returns the page, latched exclusively. It is read in if the pool does not have it.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::read`].
    #[inline]
    pub fn write(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.fetcher.write(id)
    }

    /// Returns a page that recovery is about to bring up to date, as [`Pool::write`] does, except
    /// that a damaged or missing page comes as blank, with LSN 0. A blank page is thrown away again
    /// unless [`PageWrite::changed`] is called.
    ///
    /// # Errors
    /// Returns an error when the page's space is not open or cannot grow, and I/O errors.
    pub fn write_or_blank(&self, id: PageId) -> Result<PageWrite<'_>> {
        self.fetcher.write_or_blank(id)
    }

    /// Finds the leaf of the tree at `root` that holds `key` without latching anything, and starts
    /// loading it into the processor's cache. Returns `None` when a change came in between, an
    /// inner node is not in the pool, or the root is a leaf: then the caller has to descend with
    /// latches.
    pub fn find_leaf(&self, root: PageId, key: &[u8]) -> Option<FoundLeaf> {
        optimistic::find_leaf(&self.frames, root, key)
    }

    /// Starts loading a leaf that [`Pool::find_leaf`] found on another processor into this one's
    /// cache.
    #[inline]
    pub fn prefetch_found(&self, found: FoundLeaf) {
        found.prefetch(&self.frames);
    }

    /// Starts loading the entry of `key` in a leaf that [`Pool::find_leaf`] found some time ago, so
    /// that the leaf's slots are in the processor's cache by now.
    #[inline]
    pub fn prefetch_entry(&self, found: &mut FoundLeaf, key: &[u8]) {
        found.prefetch_entry(&self.frames, key);
    }

    /// Returns the leaf, latched shared, or `None` if it is no longer its key's leaf. It stays its
    /// key's leaf while it is latched. The caller checks that the page is a leaf.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::read`].
    #[inline]
    pub fn read_found(&self, found: FoundLeaf) -> Result<Option<PageRead<'_>>> {
        let leaf = self.read(found.id())?;
        Ok(found.is_still(&self.frames).then_some(leaf))
    }

    /// Returns the leaf as [`Pool::read_found`] does, but latched exclusively.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::read`].
    #[inline]
    pub fn write_found(&self, found: FoundLeaf) -> Result<Option<PageWrite<'_>>> {
        let leaf = self.write(found.id())?;
        Ok(found.is_still(&self.frames).then_some(leaf))
    }

    /// Calls `visit` with each index leaf of the wanted tablespaces that is in the pool, latched
    /// shared meanwhile, until `visit` breaks. A leaf that somebody is changing at the moment is
    /// passed over, and a leaf that is brought in meanwhile may be.
    pub fn visit_cached_leaves(
        &self,
        is_wanted: impl Fn(SpaceId) -> bool,
        visit: impl FnMut(SpaceId, &[u8]) -> ControlFlow<()>,
    ) {
        cached::visit_leaves(&self.frames, is_wanted, visit);
    }

    /// Reads pages of one space that will be wanted soon and that are not in the pool, as far as
    /// there are spare frames. Returns how many of the pages were not in the pool.
    ///
    /// # Errors
    /// Returns I/O errors. Whoever wants the page meets the error again.
    pub fn read_ahead_of(&self, space: SpaceId, pages: Vec<PageNo>) -> Result<usize> {
        self.read_ahead.read_listed(space, pages)
    }

    /// Returns the first page on the way from the tree's root to the leaf of `key` that is not in
    /// the pool, without latching anything. `None` means that all are, or that a change came in
    /// between.
    pub fn missing_page(&self, root: PageId, key: &[u8]) -> Option<PageNo> {
        optimistic::missing_page(&self.frames, root, key)
    }

    /// Reads those of the pages of one space, in ascending order, that are not in the pool, many at
    /// the same time, as far as there are spare frames. Returns how many were read, and whether
    /// there were enough frames.
    ///
    /// # Errors
    /// Returns I/O errors. Whoever wants the page meets the error again.
    pub fn read_unasked(&self, space: SpaceId, pages: Vec<PageNo>) -> Result<(usize, bool)> {
        self.read_ahead.read_unasked(space, pages)
    }

    /// Returns how many pages threads have read because they wanted them at once.
    pub fn pages_waited_for(&self) -> u64 {
        self.frames.counters.pages_read.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Waits for a while, until every instance has frames to spare. A thread that brings in many
    /// pages calls this with no latch held, so that neither it nor anybody else has to wait for a
    /// frame with latches held.
    pub fn free_check_in_bulk(&self) {
        self.free_frames.check_in_bulk();
    }

    // ---- tablespaces ----

    /// Makes a tablespace file with its header page, durably.
    ///
    /// # Errors
    /// Returns an error when the number or the file exists already, and I/O errors.
    pub fn create_space(&self, id: SpaceId, path: &Path) -> Result<()> {
        self.spaces.create(id, true, path)
    }

    /// Makes a tablespace file of which nothing is wanted after a crash: changes of its structure
    /// are not logged. Its owner changes its pages by `RecordLsn::UNLOGGED`, and removes what a
    /// crash left of the file.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::create_space`].
    pub fn create_unlogged_space(&self, id: SpaceId, path: &Path) -> Result<()> {
        self.spaces.create(id, false, path)
    }

    /// Opens a tablespace file, and returns the space number that the file says it has. Opening a
    /// file that is open already does nothing more.
    ///
    /// # Errors
    /// Returns an error when the file is no tablespace, has another page size, or has a number that
    /// another file has, and I/O errors.
    pub fn open_space(&self, path: &Path) -> Result<SpaceId> {
        self.spaces.open(path)
    }

    /// Returns the number of spaces that are open.
    pub fn open_spaces(&self) -> usize {
        self.spaces.count()
    }

    /// Returns the open spaces whose changes are logged, with the paths of their files.
    pub fn logged_spaces(&self) -> Vec<(SpaceId, PathBuf)> {
        self.spaces.logged()
    }

    /// Begins to copy a space's file over `to`.
    ///
    /// # Errors
    /// Returns an error when the space is not open.
    pub fn copy_space(&self, id: SpaceId, to: Arc<dyn File>) -> Result<SpaceCopy<'_>> {
        Ok(SpaceCopy::begin(&self.fetcher, self.spaces.get(id)?, to, self.page_size()))
    }

    /// Reports whether the space is open.
    pub fn has_space(&self, id: SpaceId) -> bool {
        self.spaces.has(id)
    }

    /// Returns the path of the space's file. `None` when the space is not open.
    pub fn space_path(&self, id: SpaceId) -> Option<PathBuf> {
        self.spaces.path(id)
    }

    /// Returns the length of the space's file in bytes, as far as it was made ready for pages.
    /// `None` when the space is not open.
    pub fn space_bytes(&self, id: SpaceId) -> Option<u64> {
        self.spaces.bytes(id)
    }

    /// Returns the [`SpaceRoom`] that tells whether the space has room. `None` when the space is
    /// not open.
    pub fn room(&self, id: SpaceId) -> Option<SpaceRoom> {
        self.spaces.room(id)
    }

    /// Takes the space's structure lock. The caller holds no page latch.
    ///
    /// # Errors
    /// Returns an error when the space is not open.
    pub fn lock_structure(&self, id: SpaceId) -> Result<StructureLock> {
        self.spaces.lock_structure(id)
    }

    /// Removes the space's file, and then forgets its pages. The caller makes sure that nobody uses
    /// the space any more.
    ///
    /// The order matters: until the removal is durable, a crash finds the file again, and needs the
    /// log of the pages that are not written to it. So these pages hold up the checkpoint until
    /// then. Pages that are written meanwhile go to a file that has no name any more.
    ///
    /// # Errors
    /// Returns an error when there is no such space, or when the file cannot be removed. The space
    /// then stays.
    pub fn drop_space(&self, id: SpaceId) -> Result<()> {
        self.spaces.remove(id)?;
        self.flusher.forget_pages(id);
        Ok(())
    }

    /// Renames the space's file, durably. No page write of the space is under way meanwhile.
    ///
    /// # Errors
    /// Returns an error when there is no such space, or when the file cannot be renamed.
    pub fn rename_space(&self, id: SpaceId, to: &Path) -> Result<()> {
        self.spaces.rename(id, to, || self.batches.finish())
    }

    // ---- what is dirty ----

    /// Returns the start LSN of the oldest change that may not be on disk. A checkpoint calls
    /// [`Pool::checkpoint_lsn`] instead, which asks in the right order.
    pub fn oldest_dirty_lsn(&self) -> Option<Lsn> {
        self.frames.oldest_dirty_lsn()
    }

    /// Returns an LSN from which recovery would find everything that pages on disk lack.
    /// `oldest_unapplied` returns the start (or an LSN before it) of the oldest commit that
    /// reserved log space and is not wholly applied to pages. A commit counts from before it
    /// reserves until after it is applied. This takes a function because it must be called at the
    /// one right moment.
    pub fn checkpoint_lsn(&self, oldest_unapplied: impl FnOnce() -> Option<Lsn>) -> Lsn {
        self.frames.checkpoint_lsn(oldest_unapplied)
    }

    /// Writes every page whose oldest change starts before `lsn`, and returns when those changes
    /// are durable in their places.
    ///
    /// # Errors
    /// Returns I/O errors. What was written stays written.
    pub fn flush_until(&self, lsn: Lsn) -> Result<()> {
        self.flusher.flush_until(lsn)
    }

    /// Writes every page that is dirty when this is called, and returns when those changes are
    /// durable.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::flush_until`].
    pub fn flush_all(&self) -> Result<()> {
        self.flush_until(self.log().current_lsn() + 1)
    }

    /// Writes every page of one space that is dirty when this is called, and returns when those
    /// changes are durable in their places. Changes that come meanwhile are not waited for.
    ///
    /// # Errors
    /// Returns the errors of [`Pool::flush_until`].
    pub fn flush_space(&self, id: SpaceId) -> Result<()> {
        self.flusher.flush_space(id)?;
        self.flushed.note(id);
        Ok(())
    }

    /// Begins to note the spaces that [`Pool::flush_space`] has flushed. Returns `None` when
    /// somebody else has them noted.
    pub fn note_flushes(&self) -> Option<FlushNotes> {
        self.flushed.begin()
    }

    // ---- threads and warm-up ----

    /// Starts the page cleaners, the LRU flushers and the read-ahead thread, and the warm-up if the
    /// options ask for it. Does nothing when the threads run already.
    pub fn start_cleaners(&self) {
        if self.background.start() && self.options().load_at_startup {
            self.start_load();
        }
    }

    /// Stops the background threads and the warm-up, and waits for their end. Writes the list of
    /// pages if the options ask for it. Dirty pages stay dirty: a clean shutdown calls
    /// [`Pool::flush_all`] next.
    pub fn stop(&self) {
        self.warm_up.stop_load();
        self.background.stop();
        if self.options().dump_at_shutdown
            && let Err(error) = self.dump_pages()
        {
            log::error!("Buffer pool(s) dump: {error}");
        }
    }

    /// Returns the texts of `Innodb_buffer_pool_dump_status` and `Innodb_buffer_pool_load_status`.
    pub fn warm_up_status(&self) -> (String, String) {
        self.warm_up.status()
    }

    /// Writes the list of the hottest pages (`innodb_buffer_pool_dump_now`), and returns how many
    /// pages it names.
    ///
    /// # Errors
    /// Returns I/O errors. The status text also tells them.
    pub fn dump_pages(&self) -> Result<usize> {
        self.warm_up.dump()
    }

    /// Begins to read the listed pages in a thread of its own (`innodb_buffer_pool_load_now`),
    /// unless that is under way.
    pub fn start_load(&self) {
        self.warm_up.start_load();
    }

    /// Aborts the load of the listed pages (`innodb_buffer_pool_load_abort`).
    pub fn abort_load(&self) {
        self.warm_up.abort_load();
    }

    /// Reads the listed pages, as far as there are spare frames, and returns how many were read.
    ///
    /// # Errors
    /// Returns an error when the list's file cannot be parsed, and I/O errors.
    pub fn load_pages(&self) -> Result<usize> {
        self.warm_up.load()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // In a test that has had a power cut nobody has stopped the threads, and each thread keeps
        // its parts of the pool alive.
        self.warm_up.stop_load();
        self.background.stop();
    }
}
