//! The pool: its parts and its figures. What it does with pages is in `fetch`
//! (finding them and reading them in), `eviction` (frames for them), `flush` (writing them out) and
//! `spaces` (their files).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use os::disk::{Access, Disk};
use parking_lot::{Mutex, RwLock};
use redo::{Log, Lsn};

use crate::batch::Batch;
use crate::cleaner::Cleaners;
use crate::config::PoolConfig;
use crate::doublewrite::{self, WriteAreas};
use crate::error::Result;
use crate::flush_list::Logging;
use crate::frame::{Frame, Memory};
use crate::instance::{self, Instance};
use crate::options::{Doublewrite, PoolOptions};
use crate::page::SpaceId;
use crate::read_ahead::ReadAhead;
use crate::space::Space;
use crate::status::{Counters, PoolStatus};
use crate::table::PageTable;
use crate::warm_up::WarmUp;

/// The buffer pool. See the crate's head.
#[derive(Debug)]
pub struct Pool {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) log: Arc<Log>,
    pub(crate) config: PoolConfig,
    /// The options in force. Lock order: leaf.
    options: RwLock<PoolOptions>,
    /// How tablespaces are opened.
    pub(crate) access: Access,
    pub(crate) memory: Memory,
    pub(crate) frames: Box<[Frame]>,
    pub(crate) table: PageTable,
    pub(crate) instances: Box<[Instance]>,
    /// Leaf in the lock order.
    pub(crate) logging: Mutex<Logging>,
    /// Lock order: leaf, but for a space's path, which `open_space` reads under it.
    pub(crate) spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
    pub(crate) areas: WriteAreas,
    /// Leaf in the lock order.
    pub(crate) unfinished: Mutex<Vec<Batch>>,
    pub(crate) counters: Counters,
    pub(crate) cleaners: Arc<Cleaners>,
    /// Set once frames have run short.
    pub(crate) evicting: AtomicBool,
    /// Set once frames have run short or pages are read ahead: only then is it worth looking at a
    /// page's place in the LRU list.
    pub(crate) ordering: AtomicBool,
    pub(crate) read_ahead: Arc<ReadAhead>,
    pub(crate) warm_up: WarmUp,
    /// Advances with every move to the young head.
    pub(crate) lru_clock: AtomicU32,
    /// `PoolOptions::lru_scan_depth`.
    pub(crate) free_target: AtomicUsize,
    /// `PoolOptions::lru_flushers`.
    pub(crate) lru_flushers: AtomicBool,
    /// Ticks since a page's first use before a further use makes it young
    /// (`innodb_old_blocks_time`).
    pub(crate) old_ticks: AtomicU32,
    /// Advances about ten times a second while a cleaner runs. Never 0: that is a page not used
    /// since it was read ahead.
    pub(crate) tick: AtomicU32,
}

/// Time between two ticks, in milliseconds.
pub(crate) const TICK_MS: u32 = 100;

fn old_ticks(options: &PoolOptions) -> u32 {
    options.old_blocks_time_ms.div_ceil(TICK_MS)
}

impl Pool {
    /// Makes a pool and repairs, from the doublewrite file, pages that a crash left half written.
    ///
    /// # Errors
    /// An impossible configuration; an I/O error.
    pub fn open(disk: Arc<dyn Disk>, log: Arc<Log>, config: PoolConfig) -> Result<Arc<Pool>> {
        let frames = config.frames()?;
        let instances = config.instances(frames);
        let cleaners = config.options.page_cleaners.clamp(1, instances);
        let last_batch = doublewrite::repair(&*disk, &config)?;
        let access = config.access(&*disk)?;
        let actors = instances + cleaners;
        let areas = WriteAreas::open(&*disk, &config, access, actors, last_batch)?;
        let pool = Arc::new(Pool {
            disk,
            log,
            access,
            memory: Memory::new(frames, config.page_size),
            frames: (0..frames).map(|_| Frame::new()).collect(),
            table: PageTable::new(frames),
            instances: instance::divide(frames, instances),
            logging: Mutex::new(Logging::default()),
            spaces: RwLock::new(HashMap::new()),
            areas,
            unfinished: Mutex::new(Vec::new()),
            counters: Counters::default(),
            cleaners: Arc::new(Cleaners::new(cleaners)),
            evicting: AtomicBool::new(false),
            ordering: AtomicBool::new(false),
            read_ahead: Arc::new(ReadAhead::new(&config.options)),
            warm_up: WarmUp::default(),
            lru_clock: AtomicU32::new(0),
            tick: AtomicU32::new(1),
            lru_flushers: AtomicBool::new(config.options.lru_flushers),
            free_target: AtomicUsize::new(config.options.lru_scan_depth),
            old_ticks: AtomicU32::new(old_ticks(&config.options)),
            options: RwLock::new(config.options.clone()),
            config,
        });
        pool.change_options(|_| ());
        Ok(pool)
    }

    /// Size of a page in bytes.
    #[inline]
    pub fn page_size(&self) -> usize {
        self.memory.page_size()
    }

    /// How many pages one mini-transaction may allocate or free at once. They stay latched, hence
    /// in the pool, until its record is in the log: threads that each held a good part of a small
    /// pool would wait for one another's frames for ever.
    pub fn pages_at_once(&self) -> usize {
        // All of them may belong to one instance.
        (self.frames.len() / self.instances.len() / 64).clamp(1, 32)
    }

    /// How many instances the pool is divided into, and how many page cleaners it has: what the
    /// options asked for, as far as that makes sense.
    pub fn actors(&self) -> (usize, usize) {
        (self.instances.len(), self.cleaners.count())
    }

    /// The log that structure changes go to.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The options in force.
    pub fn options(&self) -> PoolOptions {
        self.options.read().clone()
    }

    /// Changes options that [`PoolOptions`] calls changeable; it is not for `doublewrite`, see
    /// [`Pool::set_doublewrite`].
    pub fn change_options(&self, change: impl FnOnce(&mut PoolOptions)) {
        let mut options = self.options.write();
        let doublewrite = options.doublewrite;
        change(&mut options);
        options.doublewrite = doublewrite;
        let old_percent = options.old_blocks_percent;
        self.old_ticks.store(old_ticks(&options), Ordering::Relaxed);
        self.free_target.store(options.lru_scan_depth, Ordering::Relaxed);
        self.read_ahead.set_options(&options);
        self.lru_flushers.store(options.lru_flushers, Ordering::Relaxed);
        drop(options);
        for instance in &self.instances {
            instance.lists.lock().set_old_percent(&self.frames, old_percent);
        }
    }

    /// Changes how pages are protected against being torn, once the batches under way are written.
    ///
    /// # Errors
    /// An I/O error of the doublewrite file; the strategy is then what it was.
    pub fn set_doublewrite(&self, kind: Doublewrite) -> Result<()> {
        self.areas.set_strategy(&*self.disk, kind, || self.finish_unfinished().map(|_| ()))?;
        self.options.write().doublewrite = kind;
        Ok(())
    }

    /// The log's capacity, in bytes.
    pub(crate) fn redo_capacity_bytes(&self) -> u64 {
        self.log.capacity_bytes()
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
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

    pub(crate) fn advance_tick(&self) {
        if self.tick.fetch_add(1, Ordering::Relaxed) == u32::MAX {
            self.tick.store(1, Ordering::Relaxed);
        }
    }

    /// The pool's figures now.
    pub fn status(&self) -> PoolStatus {
        let (mut free, mut data, mut old, mut dirty) = (0, 0, 0, 0);
        for instance in &self.instances {
            let lists = instance.lists.lock();
            free += lists.free_len() as u64;
            old += lists.old_len() as u64;
            data += (lists.young_len() + lists.old_len()) as u64;
            drop(lists);
            dirty += instance.flush_lists.lock().dirty_len() as u64;
        }
        PoolStatus {
            pages_total: self.frames.len() as u64,
            pages_free: free,
            pages_data: data,
            pages_old: old,
            read_requests: os::account::page_requests(),
            pages_dirty: dirty,
            page_size: self.page_size() as u64,
            ..self.counters.snapshot()
        }
    }

    /// The start LSN of the oldest change that may not be on disk. A checkpoint uses
    /// [`Pool::checkpoint_lsn`], which asks in the right order.
    pub fn oldest_dirty_lsn(&self) -> Option<Lsn> {
        // Mini-transactions first: one that has ended since has its pages in the lists.
        let logging = self.logging.lock().oldest();
        let pages = self.instances.iter().filter_map(|instance| instance.flush_lists.lock().oldest());
        pages.chain(logging).min()
    }

    /// An LSN from which recovery would find everything that pages on disk lack. `oldest_unapplied`
    /// answers with the start (or an LSN before it) of the oldest commit that reserved log space
    /// and is not wholly applied to pages; a commit counts from before it reserves until after it
    /// is applied. It is asked at the one right moment, which is why this takes a function.
    pub fn checkpoint_lsn(&self, oldest_unapplied: impl FnOnce() -> Option<Lsn>) -> Lsn {
        // The log's end first: who reserves after this moment is past it. Who reserved before is
        // either unapplied when asked next, or has dirtied its pages by then and is in the lists,
        // which are asked last. The same goes for mini-transactions.
        let end = self.log.current_lsn();
        let unapplied = oldest_unapplied().unwrap_or(end);
        let dirty = self.oldest_dirty_lsn().unwrap_or(end);
        end.min(unapplied).min(dirty)
    }

    /// Announces a record that will dirty pages, before its log space is reserved.
    pub(crate) fn begin_logging(&self) -> (Lsn, u64) {
        let mut logging = self.logging.lock();
        // Read under the lock: no checkpoint has been computed past it then.
        let floor = self.log.current_lsn();
        logging.begin(floor)
    }

    /// Enters the frame, latched exclusively, into the flush list, or moves it to an older place
    /// there.
    #[inline]
    pub(crate) fn mark_dirty(&self, number: u32, start: Lsn) {
        let frame = self.frame(number);
        let oldest = frame.oldest();
        if oldest == 0 || start < oldest {
            let mut lists = self.instance_of_frame(number).flush_lists.lock();
            let oldest = frame.oldest();
            lists.add(number, oldest, if oldest == 0 { start } else { start.min(oldest) });
            frame.oldest_lsn.store(if oldest == 0 { start } else { start.min(oldest) }, Ordering::Relaxed);
        }
    }
}
