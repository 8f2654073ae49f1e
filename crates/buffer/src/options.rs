//! What users can set about the pool.

use crate::doublewrite::Doublewrite;

/// Options of a pool, named as MySQL names them where it has them. All can be changed while the pool is open
/// ([`crate::Pool::change_options`]), unless said otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolOptions {
    /// `innodb_doublewrite`; changed by [`crate::Pool::set_doublewrite`].
    pub doublewrite: Doublewrite,
    /// Pages a second that background flushing may write when there is no hurry (`innodb_io_capacity`).
    pub io_capacity: u32,
    /// Pages a second when there is (`innodb_io_capacity_max`).
    pub io_capacity_max: u32,
    /// Frames that the cleaner keeps free, at most; a small pool keeps fewer (`innodb_lru_scan_depth`).
    pub lru_scan_depth: usize,
    /// Whether a thread that finds no free frame writes a page itself, rather than only wait for the cleaner
    /// (`innodb_single_page_flush`).
    pub single_page_flush: bool,
}

impl Default for PoolOptions {
    fn default() -> PoolOptions {
        PoolOptions {
            doublewrite: Doublewrite::Parallel,
            io_capacity: 10_000,
            io_capacity_max: 20_000,
            lru_scan_depth: 1024,
            single_page_flush: true,
        }
    }
}
