//! A pool on a simulated disk, for the tests of trees.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use btree::Tree;
use buffer::{Pool, PoolConfig};
use os::disk::Disk;
use os::sim::SimDisk;
use redo::{Log, LogConfig};

pub const SPACE: u32 = 5;

pub fn datadir() -> PathBuf {
    PathBuf::from("/data")
}

pub fn space_path() -> PathBuf {
    datadir().join("t.ibd")
}

pub fn log_config() -> LogConfig {
    let mut config = LogConfig::new(datadir());
    config.capacity_bytes = 64 << 20;
    config.buffer_bytes = 1 << 20;
    config
}

pub fn pool_config(page_size: usize, frames: usize) -> PoolConfig {
    let mut config = PoolConfig::new(Path::new("/data"), page_size * frames);
    config.page_size = page_size;
    config
}

/// Returns an empty tree in a new space, on a new pool.
#[allow(dead_code, reason = "not every test file begins this way")]
pub fn empty_tree(disk: &SimDisk, page_size: usize, frames: usize) -> Tree {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    disk.create_dir_all(&datadir()).expect("the disk takes a directory");
    let log = Log::create(Arc::clone(&disk), log_config()).expect("the log is made");
    let pool = Pool::open(disk, log, pool_config(page_size, frames)).expect("the pool opens");
    pool.create_space(SPACE, &space_path()).expect("the space is made");
    Tree::create(&pool, SPACE).expect("the tree is made")
}

#[allow(dead_code, reason = "not every test file logs this way")]
/// Reserves and fills the next commit's place in the log, and returns the place as the engine would
/// get it.
pub fn log_commit(pool: &Pool, payload: &[u8]) -> buffer::RecordLsn {
    let reservation = pool.log().reserve(payload.len() as u64).expect("it is short");
    let lsn = buffer::RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
    reservation.fill(redo::kind::COMMIT, &[payload]);
    lsn
}
