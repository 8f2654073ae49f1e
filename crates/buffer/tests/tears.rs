//! Tests of every way in which a power cut may tear a page, at every page size: each torn page is
//! repaired from the doublewrite file.

use std::path::Path;
use std::sync::Arc;

use buffer::page::{self, PageType};
use buffer::{Doublewrite, Mtr, PageId, PageNo, Pool, PoolConfig};
use os::disk::{Disk, OpenMode};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Log, LogConfig};

const SPACE: u32 = 3;
const SECTOR_BYTES: usize = 512;
/// The number of pages that are torn at once: less than one batch of any flusher.
const PAGES: usize = 8;

fn open_pool(disk: &SimDisk, page_size: usize, kind: Doublewrite) -> Arc<Pool> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let log_config = LogConfig { buffer_bytes: 64 << 10, capacity_bytes: 4 << 20, ..LogConfig::new("/data") };
    let log = match Log::open(Arc::clone(&disk), log_config.clone()) {
        Ok((log, _)) => log,
        Err(_) => {
            disk.create_dir_all(Path::new("/data")).expect("an empty disk");
            disk.sync_dir(Path::new("/")).expect("the disk works");
            Log::create(Arc::clone(&disk), log_config).expect("an empty disk")
        }
    };
    let mut config = PoolConfig { page_size, ..PoolConfig::new(Path::new("/data"), page_size * 64) };
    config.options.doublewrite = kind;
    Pool::open(disk, log, config).expect("the pool opens")
}

/// Gives the page this content. `None` for `no` makes a new page. Returns the page's number.
fn write_page(pool: &Pool, no: Option<PageNo>, content: &[u8]) -> PageNo {
    let lock = pool.lock_structure(SPACE).expect("open");
    let mut mtr = Mtr::begin(pool, &lock);
    let held = match no {
        Some(no) => mtr.latch(no).expect("it is there"),
        None => mtr.alloc().expect("there is room"),
    };
    let bytes = mtr.format(held, PageType::Overflow, 0);
    bytes[page::PAGE_HEADER_BYTES..].copy_from_slice(&content[page::PAGE_HEADER_BYTES..]);
    let no = mtr.no(held);
    mtr.commit();
    no
}

/// Returns kinds of tears. For each sector of a page, a tear says whether the new version arrived.
fn tears(sectors: usize, rng: &mut Rng) -> Vec<Vec<bool>> {
    let mut tears = Vec::new();
    for boundary in 0..=sectors {
        tears.push((0..sectors).map(|sector| sector < boundary).collect());
        tears.push((0..sectors).map(|sector| sector >= boundary).collect());
        // One sector alone is new, or one alone is old.
        tears.push((0..sectors).map(|sector| sector == boundary).collect());
        tears.push((0..sectors).map(|sector| sector != boundary).collect());
    }
    for _ in 0..8 * PAGES {
        tears.push((0..sectors).map(|_| rng.one_in(2)).collect());
    }
    tears
}

#[test]
fn every_tear_of_a_page_is_repaired() {
    let mut rng = Rng::new(test_seed("every_tear_of_a_page_is_repaired"));
    for page_size in page::PAGE_SIZES {
        let kind = *rng.pick(&[Doublewrite::Parallel, Doublewrite::Legacy]);
        let disk = SimDisk::new(1);
        let pool = open_pool(&disk, page_size, kind);
        let path = Path::new("/data/t.ibd");
        pool.create_space(SPACE, path).expect("made");
        let old: Vec<Vec<u8>> = (0..PAGES).map(|_| rng.bytes(page_size)).collect();
        let pages: Vec<PageNo> = old.iter().map(|content| write_page(&pool, None, content)).collect();
        pool.flush_all().expect("written");
        let before = disk.read(path).expect("it is there");
        let new: Vec<Vec<u8>> = (0..PAGES).map(|_| rng.bytes(page_size)).collect();
        for (&no, content) in pages.iter().zip(&new) {
            write_page(&pool, Some(no), content);
        }
        pool.flush_all().expect("written");
        let after = disk.read(path).expect("it is there");
        drop(pool);
        let all = tears(page_size / SECTOR_BYTES, &mut rng);
        for tears in all.chunks(PAGES) {
            let torn_disk = disk.if_power_went();
            let file = torn_disk.open(path, OpenMode::ReadWrite).expect("it is there");
            for (&no, arrived) in pages.iter().zip(tears) {
                let start = no as usize * page_size;
                for (sector, arrived) in arrived.iter().enumerate() {
                    let at = start + sector * SECTOR_BYTES;
                    let from = if *arrived { &after } else { &before };
                    file.write_all_at(&from[at..at + SECTOR_BYTES], at as u64).expect("the disk works");
                }
            }
            drop(file);
            let pool = open_pool(&torn_disk, page_size, kind);
            pool.open_space(path).expect("page 0 is whole");
            for (index, (&no, arrived)) in pages.iter().zip(tears).enumerate() {
                let guard =
                    pool.read(PageId::new(SPACE, no)).unwrap_or_else(|error| panic!("{arrived:?}: {error}"));
                let is =
                    |content: &[u8]| guard[page::PAGE_HEADER_BYTES..] == content[page::PAGE_HEADER_BYTES..];
                // If no sector arrived, the page is whole as it was, and the log has the change.
                let is_old = arrived.iter().all(|arrived| !arrived) && is(&old[index]);
                assert!(is(&new[index]) || is_old, "page size {page_size}, {arrived:?}");
            }
        }
    }
}
