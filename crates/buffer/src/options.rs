//! What users can set about the pool.

use parking_lot::RwLock;

/// Options of a pool, named as MySQL names them where it has them. All can be changed while the
/// pool is open ([`crate::Pool::change_options`]), unless said otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolOptions {
    /// `innodb_doublewrite`; changed by [`crate::Pool::set_doublewrite`].
    pub doublewrite: Doublewrite,
    /// Pages a second that background flushing may write when there is no hurry
    /// (`innodb_io_capacity`).
    pub io_capacity: u32,
    /// Pages a second when there is (`innodb_io_capacity_max`).
    pub io_capacity_max: u32,
    /// Frames that the cleaner keeps free, at most; a small pool keeps fewer
    /// (`innodb_lru_scan_depth`).
    pub lru_scan_depth: usize,
    /// Whether a thread that finds no free frame writes a page itself, rather than only wait for
    /// the cleaner (`innodb_single_page_flush`).
    pub single_page_flush: bool,
    /// How many instances the pool is divided into (`innodb_buffer_pool_instances`); 0: by its
    /// size. Not changeable.
    pub instances: usize,
    /// How tablespaces and the doublewrite file are accessed and synced (`innodb_flush_method`).
    /// Not changeable.
    pub flush_method: FlushMethod,
    /// Whether a batch's writes are in flight at once, where pages are not cached by the system and
    /// the kernel has io_uring (`innodb_use_native_aio`). Not changeable.
    pub native_aio: bool,
    /// Threads that write dirty pages by age, the coordinator being one (`innodb_page_cleaners`);
    /// at most one an instance. Not changeable.
    pub page_cleaners: usize,
    /// Whether each instance has a thread that makes frames free as they are asked for
    /// (`innodb_lru_flushers`). If not, the page cleaners do.
    pub lru_flushers: bool,
    /// Whether the pace of flushing follows the log's age (`innodb_adaptive_flushing`).
    pub adaptive_flushing: bool,
    /// Percent of the log's capacity below which it does not (`innodb_adaptive_flushing_lwm`).
    pub adaptive_flushing_lwm_percent: f64,
    /// Percent of dirty pages at which all of `io_capacity` is used (`innodb_max_dirty_pages_pct`).
    pub max_dirty_percent: f64,
    /// Percent of dirty pages from which on some of it is (`innodb_max_dirty_pages_pct_lwm`); 0:
    /// none below `max_dirty_percent`.
    pub max_dirty_lwm_percent: f64,
    /// Rounds of the page cleaner over which rates are averaged (`innodb_flushing_avg_loops`).
    pub flushing_avg_loops: u32,
    /// Whether a checkpoint in need may exceed `io_capacity_max` (`innodb_flush_sync`).
    pub flush_sync: bool,
    /// Percent of the LRU list that is its old part (`innodb_old_blocks_pct`).
    pub old_blocks_percent: usize,
    /// How long after its first use a page stays old however often it is used
    /// (`innodb_old_blocks_time`).
    pub old_blocks_time_ms: u32,
    /// How many of 64 neighbours must have been read for the next 64 to be read ahead
    /// (`innodb_read_ahead_threshold`); 0: never.
    pub read_ahead_threshold: u32,
    /// Whether a page that is read in brings the rest of its 64 along once 13 of them were used
    /// (`innodb_random_read_ahead`). Changeable.
    pub random_read_ahead: bool,
    /// Which neighbours are written with a page (`innodb_flush_neighbors`).
    pub flush_neighbors: FlushNeighbors,
    /// Whether [`crate::Pool::stop`] leaves a list of the pool's pages
    /// (`innodb_buffer_pool_dump_at_shutdown`).
    pub dump_at_shutdown: bool,
    /// Whether [`crate::Pool::start_cleaners`] begins to read those pages
    /// (`innodb_buffer_pool_load_at_startup`). Not changeable.
    pub load_at_startup: bool,
    /// Percent of each instance's pages that are listed, the hottest
    /// (`innodb_buffer_pool_dump_pct`).
    pub dump_percent: u32,
    /// The list's file, in the data directory unless absolute (`innodb_buffer_pool_filename`).
    pub dump_file: String,
}

/// How pages are protected against being torn (`innodb_doublewrite`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doublewrite {
    /// Not at all (`OFF`).
    Off,
    /// Each batch has an area of its own (`ON`, `DETECT_AND_RECOVER`, `PARALLEL`).
    Parallel,
    /// One batch at a time, from the first copy to the tablespaces' sync, as InnoDB had it before
    /// 8.0.20 (`LEGACY`).
    Legacy,
    /// Only which pages are written goes to the file: torn ones are found, not repaired
    /// (`DETECT_ONLY`).
    DetectOnly,
    /// As `Off` for tablespaces whose storage guarantees that a page is written whole or not at
    /// all, as `Parallel` for others (`AUTO`).
    Auto,
}

impl Doublewrite {
    /// The strategy of a value of `innodb_doublewrite`.
    pub fn named(name: &str) -> Option<Doublewrite> {
        Some(match name.to_ascii_uppercase().as_str() {
            "OFF" => Doublewrite::Off,
            "ON" | "DETECT_AND_RECOVER" | "PARALLEL" => Doublewrite::Parallel,
            "LEGACY" => Doublewrite::Legacy,
            "DETECT_ONLY" => Doublewrite::DetectOnly,
            "AUTO" => Doublewrite::Auto,
            _ => return None,
        })
    }

    /// Whether every page that may be torn has a copy.
    pub(crate) fn keeps_copies(self) -> bool {
        matches!(self, Doublewrite::Parallel | Doublewrite::Legacy | Doublewrite::Auto)
    }
}

/// How pages get to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMethod {
    /// Through the system's page cache, synced (`fsync`; `O_DSYNC` and `littlesync`, which are
    /// about other files or do less, mean the same).
    Fsync,
    /// As `Fsync` without syncs, for tests of speed: a power cut loses data (`nosync`).
    NoSync,
    /// Past the page cache, synced (`O_DIRECT`).
    Direct,
    /// Past the page cache, synced only when a file has grown (`O_DIRECT_NO_FSYNC`): for devices
    /// whose cache survives a power cut.
    DirectNoSync,
}

impl FlushMethod {
    /// The method of a value of `innodb_flush_method`.
    pub fn named(name: &str) -> Option<FlushMethod> {
        Some(match name.to_ascii_uppercase().as_str() {
            "FSYNC" | "O_DSYNC" | "LITTLESYNC" => FlushMethod::Fsync,
            "NOSYNC" => FlushMethod::NoSync,
            "O_DIRECT" => FlushMethod::Direct,
            "O_DIRECT_NO_FSYNC" => FlushMethod::DirectNoSync,
            _ => return None,
        })
    }

    pub(crate) fn is_direct(self) -> bool {
        matches!(self, FlushMethod::Direct | FlushMethod::DirectNoSync)
    }

    /// Whether page writes are followed by a sync.
    pub(crate) fn syncs(self) -> bool {
        matches!(self, FlushMethod::Fsync | FlushMethod::Direct)
    }
}

/// What is written with a page although nobody asked for it: for disks that seek.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushNeighbors {
    /// Nothing (0).
    Off,
    /// Dirty pages of the same 64 next to it (1).
    Contiguous,
    /// All dirty pages of the same 64 (2).
    Extent,
}

impl Default for PoolOptions {
    fn default() -> PoolOptions {
        PoolOptions {
            doublewrite: Doublewrite::Parallel,
            io_capacity: 10_000,
            io_capacity_max: 20_000,
            lru_scan_depth: 1024,
            single_page_flush: true,
            instances: 0,
            flush_method: FlushMethod::Fsync,
            native_aio: true,
            page_cleaners: 4,
            lru_flushers: true,
            adaptive_flushing: true,
            adaptive_flushing_lwm_percent: 10.0,
            max_dirty_percent: 90.0,
            max_dirty_lwm_percent: 10.0,
            flushing_avg_loops: 30,
            flush_sync: true,
            old_blocks_percent: 37,
            old_blocks_time_ms: 1000,
            read_ahead_threshold: 56,
            random_read_ahead: false,
            flush_neighbors: FlushNeighbors::Off,
            dump_at_shutdown: false,
            load_at_startup: false,
            dump_percent: 25,
            dump_file: "ib_buffer_pool".to_owned(),
        }
    }
}

/// The options in force, which the parts of a pool share.
#[derive(Debug)]
pub(crate) struct OptionsInForce {
    /// Leaf in the lock order.
    options: RwLock<PoolOptions>,
}

impl OptionsInForce {
    pub fn new(options: PoolOptions) -> OptionsInForce {
        OptionsInForce { options: RwLock::new(options) }
    }

    /// The options now.
    pub fn get(&self) -> PoolOptions {
        self.options.read().clone()
    }

    /// Changes options, and tells `publish` what they are then before anybody changes them again.
    pub fn change(&self, change: impl FnOnce(&mut PoolOptions), publish: impl FnOnce(&PoolOptions)) {
        let mut options = self.options.write();
        change(&mut options);
        publish(&options);
    }
}
