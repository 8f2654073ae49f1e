//! A pool on a simulated disk for the tests, and pages whose content says which pages they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buffer::page::{self, PageType};
use buffer::{Mtr, PageId, PageNo, Pool, PoolConfig, RecordLsn};
use os::disk::Disk;
use os::sim::SimDisk;
use redo::{Log, LogConfig};

pub const SPACE: u32 = 3;

#[allow(dead_code, reason = "not every test file is on the simulated disk")]
pub fn path(name: &str) -> PathBuf {
    Path::new("/data").join(name)
}

pub fn log_of(disk: &Arc<dyn Disk>) -> Arc<Log> {
    let config = LogConfig::new("/data");
    match Log::open(Arc::clone(disk), config.clone()) {
        Ok((log, _)) => log,
        Err(_) => Log::create(Arc::clone(disk), config).expect("the log is made"),
    }
}

#[allow(dead_code, reason = "not every test file is content with it")]
pub fn pool_on(disk: &SimDisk, page_size: usize, frames: usize) -> Arc<Pool> {
    pool_with(disk, page_size, frames, |_| ())
}

/// Opens a pool like [`pool_on`], after `set` has changed its configuration.
pub fn pool_with(
    disk: &SimDisk,
    page_size: usize,
    frames: usize,
    set: impl FnOnce(&mut PoolConfig),
) -> Arc<Pool> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    disk.create_dir_all(Path::new("/data")).expect("the disk takes a directory");
    disk.sync_dir(Path::new("/")).expect("the disk is on");
    let mut config = PoolConfig::new(Path::new("/data"), page_size * frames);
    config.page_size = page_size;
    set(&mut config);
    let log = log_of(&disk);
    Pool::open(disk, log, config).expect("the pool opens")
}

/// Makes a page of the space, filled with one byte after its header, and returns its number.
pub fn make_page(pool: &Pool, byte: u8) -> PageNo {
    let lock = pool.lock_structure(SPACE).expect("open");
    let mut mtr = Mtr::begin(pool, &lock);
    let held = mtr.alloc().expect("there is room");
    let bytes = mtr.format(held, PageType::Overflow, 0);
    bytes[page::PAGE_HEADER_BYTES..].fill(byte);
    let no = mtr.no(held);
    mtr.commit();
    no
}

pub fn filled_with(pool: &Pool, no: PageNo) -> buffer::Result<u8> {
    let guard = pool.read(PageId::new(SPACE, no))?;
    let byte = guard[page::PAGE_HEADER_BYTES];
    assert!(guard[page::PAGE_HEADER_BYTES..].iter().all(|&other| other == byte), "page {no} is torn");
    Ok(byte)
}

/// Fills a page anew without logging the change, which is on disk once the page was flushed.
#[allow(dead_code, reason = "not every test file changes pages")]
pub fn refill(pool: &Pool, no: PageNo, byte: u8) {
    let mut guard = pool.write(PageId::new(SPACE, no)).expect("readable");
    guard.bytes_mut()[page::PAGE_HEADER_BYTES..].fill(byte);
    guard.changed(RecordLsn::UNLOGGED);
}
