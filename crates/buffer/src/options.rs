//! The options of a pool, which users can set.

use parking_lot::RwLock;

/// The options of a pool, named as MySQL names them where MySQL has them. All can be changed while
/// the pool is open ([`crate::Pool::change_options`]), except those called not changeable.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolOptions {
    /// How pages are protected against being torn (`innodb_doublewrite`). Changed by
    /// [`crate::Pool::set_doublewrite`].
    pub doublewrite: Doublewrite,
    /// The most pages a second that background flushing may write when there is no hurry
    /// (`innodb_io_capacity`).
    pub io_capacity: u32,
    /// The most pages a second that background flushing may write when the log gets short
    /// (`innodb_io_capacity_max`).
    pub io_capacity_max: u32,
    /// The most frames of an instance that the cleaner keeps free. A small pool keeps fewer
    /// (`innodb_lru_scan_depth`).
    pub lru_scan_depth: usize,
    /// Whether a thread that finds no free frame writes a page itself, instead of only waiting for
    /// the cleaner (`innodb_single_page_flush`).
    pub single_page_flush: bool,
    /// How many instances the pool is divided into (`innodb_buffer_pool_instances`). 0 means that
    /// the pool's size decides. Not changeable.
    pub instances: usize,
    /// How tablespaces and the doublewrite file are accessed and synced (`innodb_flush_method`).
    /// Not changeable.
    pub flush_method: FlushMethod,
    /// Whether a batch's writes are in flight at the same time, where pages bypass the page cache
    /// and the kernel has io_uring (`innodb_use_native_aio`). Not changeable.
    pub native_aio: bool,
    /// The number of threads that write dirty pages by age, the coordinator included
    /// (`innodb_page_cleaners`). At most one for each instance. Not changeable.
    pub page_cleaners: usize,
    /// Whether each instance has a thread that makes frames free when they run low
    /// (`innodb_lru_flushers`). If not, the page cleaners do it.
    pub lru_flushers: bool,
    /// Whether the pace of flushing follows the log's age (`innodb_adaptive_flushing`).
    pub adaptive_flushing: bool,
    /// The percentage of the log's capacity below which the pace does not follow the log's age
    /// (`innodb_adaptive_flushing_lwm`).
    pub adaptive_flushing_lwm_percent: f64,
    /// The percentage of dirty pages at which background flushing uses all of `io_capacity`
    /// (`innodb_max_dirty_pages_pct`).
    pub max_dirty_percent: f64,
    /// The percentage of dirty pages from which on background flushing uses a part of `io_capacity`
    /// (`innodb_max_dirty_pages_pct_lwm`). 0 means that it uses none below `max_dirty_percent`.
    pub max_dirty_lwm_percent: f64,
    /// The number of the page cleaner's rounds over which rates are averaged
    /// (`innodb_flushing_avg_loops`).
    pub flushing_avg_loops: u32,
    /// Whether flushing may exceed `io_capacity_max` when a checkpoint is urgent
    /// (`innodb_flush_sync`).
    pub flush_sync: bool,
    /// The percentage of the LRU list that is its old part (`innodb_old_blocks_pct`).
    pub old_blocks_percent: usize,
    /// For how many milliseconds after its first use a page stays old however often it is used
    /// (`innodb_old_blocks_time`).
    pub old_blocks_time_ms: u32,
    /// How many of 64 neighbours must have been used in order for the next 64 to be read ahead
    /// (`innodb_read_ahead_threshold`). 0 means never.
    pub read_ahead_threshold: u32,
    /// Whether the rest of 64 neighbouring pages is read when one of them is read in and 13 of them
    /// were used (`innodb_random_read_ahead`).
    pub random_read_ahead: bool,
    /// Which neighbours are written with a page (`innodb_flush_neighbors`).
    pub flush_neighbors: FlushNeighbors,
    /// Whether [`crate::Pool::stop`] writes a list of the pool's pages
    /// (`innodb_buffer_pool_dump_at_shutdown`).
    pub dump_at_shutdown: bool,
    /// Whether [`crate::Pool::start_cleaners`] begins to read the listed pages
    /// (`innodb_buffer_pool_load_at_startup`). Not changeable.
    pub load_at_startup: bool,
    /// The percentage of each instance's pages that the list names, hottest first
    /// (`innodb_buffer_pool_dump_pct`).
    pub dump_percent: u32,
    /// The name of the list's file, relative to the data directory unless it is absolute
    /// (`innodb_buffer_pool_filename`).
    pub dump_file: String,
}

/// How pages are protected against being torn (`innodb_doublewrite`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doublewrite {
    /// Pages are not protected (`OFF`).
    Off,
    /// Each batch goes through an area of its own (`ON`, `DETECT_AND_RECOVER`, `PARALLEL`).
    Parallel,
    /// Only one batch at a time is under way, from the first copy to the tablespaces' sync, as in
    /// InnoDB before 8.0.20 (`LEGACY`).
    Legacy,
    /// The file only gets the list of the pages that are written. Torn pages are found, but not
    /// repaired (`DETECT_ONLY`).
    DetectOnly,
    /// The same as `Off` for tablespaces whose storage guarantees that a page is written whole or
    /// not at all, and as `Parallel` for others (`AUTO`).
    Auto,
}

impl Doublewrite {
    /// Returns the strategy that a value of `innodb_doublewrite` names.
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

    /// Reports whether every page that may be torn has a copy.
    pub(crate) fn keeps_copies(self) -> bool {
        matches!(self, Doublewrite::Parallel | Doublewrite::Legacy | Doublewrite::Auto)
    }
}

/// How pages get to the storage medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMethod {
    /// Through the system's page cache, followed by a sync (`fsync`). `O_DSYNC` and `littlesync`,
    /// which are about other files or do less, mean the same here.
    Fsync,
    /// As `Fsync`, but without syncs, for tests of speed: a power cut loses data (`nosync`).
    NoSync,
    /// Past the page cache, followed by a sync (`O_DIRECT`).
    Direct,
    /// Past the page cache, synced only when a file has grown (`O_DIRECT_NO_FSYNC`). This is for
    /// devices whose cache survives a power cut.
    DirectNoSync,
}

impl FlushMethod {
    /// Returns the method that a value of `innodb_flush_method` names.
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

    /// Reports whether page writes are followed by a sync.
    pub(crate) fn syncs(self) -> bool {
        matches!(self, FlushMethod::Fsync | FlushMethod::Direct)
    }
}

/// Which dirty neighbours are written along with a page. This helps on disks that seek.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushNeighbors {
    /// No neighbours (0).
    Off,
    /// The dirty pages directly next to the page, out of the same 64 (1).
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
    /// The options. The lock is a leaf in the lock order.
    options: RwLock<PoolOptions>,
}

impl OptionsInForce {
    pub fn new(options: PoolOptions) -> OptionsInForce {
        OptionsInForce { options: RwLock::new(options) }
    }

    /// Returns a copy of the options in force.
    pub fn get(&self) -> PoolOptions {
        self.options.read().clone()
    }

    /// Changes the options, and passes the result to `publish` before anybody can change them
    /// again.
    pub fn change(&self, change: impl FnOnce(&mut PoolOptions), publish: impl FnOnce(&PoolOptions)) {
        let mut options = self.options.write();
        change(&mut options);
        publish(&options);
    }
}
