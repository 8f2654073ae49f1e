//! The pool: its configuration, its parts, and its figures. What it does with pages is in `fetch` (finding them and reading them in), `eviction`
//! (frames for them), `flush` (writing them out) and `spaces` (their files).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use os::disk::Disk;
use parking_lot::{Condvar, Mutex, RwLock};
use redo::{Log, Lsn};

use crate::cleaner::Cleaner;
use crate::doublewrite::{self, Doublewrite, WriteAreas};
use crate::error::{BufferError, Result};
use crate::flush_list::FlushLists;
use crate::frame::{Frame, Memory};
use crate::lru::Lists;
use crate::options::PoolOptions;
use crate::page::{PAGE_SIZES, SpaceId};
use crate::space::Space;
use crate::status::{Counters, PoolStatus};
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
    /// Log capacity in bytes (`innodb_redo_log_capacity`): changes older than most of it are flushed.
    pub redo_capacity_bytes: u64,
    /// The rest.
    pub options: PoolOptions,
}

impl PoolConfig {
    /// MySQL's defaults for a data directory, with a pool of `capacity_bytes`.
    pub fn new(datadir: &Path, capacity_bytes: usize) -> PoolConfig {
        PoolConfig {
            capacity_bytes,
            page_size: 16384,
            datadir: datadir.to_owned(),
            redo_capacity_bytes: 100 << 20,
            options: PoolOptions::default(),
        }
    }
}

/// The smallest pool, in frames: enough for every thread of a small server to hold the pages of a structure change.
const MIN_FRAMES: usize = 64;

/// The buffer pool. See the crate's head.
#[derive(Debug)]
pub struct Pool {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) log: Arc<Log>,
    pub(crate) config: PoolConfig,
    /// The options in force. Lock order: leaf.
    options: RwLock<PoolOptions>,
    pub(crate) memory: Memory,
    pub(crate) frames: Box<[Frame]>,
    pub(crate) table: PageTable,
    /// Leaf in the lock order.
    pub(crate) lists: Mutex<Lists>,
    /// Signalled under `lists` when frames become free.
    pub(crate) free_event: Condvar,
    /// Leaf in the lock order.
    pub(crate) flush_lists: Mutex<FlushLists>,
    /// Signalled under `flush_lists` when writes have been synced.
    pub(crate) write_event: Condvar,
    /// Lock order: leaf, but for a space's own locks, which come after it only in `drop_space`.
    pub(crate) spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
    pub(crate) areas: WriteAreas,
    pub(crate) counters: Counters,
    pub(crate) cleaner: Arc<Cleaner>,
    /// Set once frames have run short: only then is it worth keeping the LRU list in order.
    pub(crate) evicting: AtomicBool,
    /// Advances with every move to the young head.
    pub(crate) lru_clock: AtomicU32,
    /// Advances about ten times a second while a cleaner runs.
    pub(crate) tick: AtomicU32,
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
            options: RwLock::new(config.options.clone()),
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

    /// The options in force.
    pub fn options(&self) -> PoolOptions {
        self.options.read().clone()
    }

    /// Changes options that [`PoolOptions`] calls changeable; it is not for `doublewrite`, see [`Pool::set_doublewrite`].
    pub fn change_options(&self, change: impl FnOnce(&mut PoolOptions)) {
        let mut options = self.options.write();
        let doublewrite = options.doublewrite;
        change(&mut options);
        options.doublewrite = doublewrite;
    }

    /// Changes how pages are protected against being torn, once the batches under way are written.
    ///
    /// # Errors
    /// An I/O error of the doublewrite file; the strategy is then what it was.
    pub fn set_doublewrite(&self, kind: Doublewrite) -> Result<()> {
        self.areas.set_strategy(&*self.disk, kind, false)?;
        self.options.write().doublewrite = kind;
        Ok(())
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
}
