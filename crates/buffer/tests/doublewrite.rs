//! Tests of torn pages and their repair, under every strategy of the doublewrite file.

mod support;

use std::path::Path;

use buffer::page::{PAGE_SIZES, PageNo};
use buffer::{Doublewrite, Pool};
use os::disk::{Disk, OpenMode};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use support::{SPACE, filled_with, make_page, path, pool_with, refill};

const SECTOR: usize = 512;

/// Opens a pool and the space of a test.
fn reopen(disk: &SimDisk, page_size: usize, kind: Doublewrite) -> std::sync::Arc<Pool> {
    let pool = pool_with(disk, page_size, 64, |config| config.options.doublewrite = kind);
    pool.open_space(&path("t.ibd")).expect("page 0 is whole");
    pool
}

fn read_page(disk: &SimDisk, no: PageNo, page_size: usize) -> Vec<u8> {
    let bytes = disk.read(&path("t.ibd")).expect("it is there");
    bytes[no as usize * page_size..(no as usize + 1) * page_size].to_vec()
}

fn write_page(disk: &SimDisk, no: PageNo, page: &[u8]) {
    let file = disk.open(&path("t.ibd"), OpenMode::ReadWrite).expect("it is there");
    file.write_all_at(page, no as u64 * page.len() as u64).expect("the disk is on");
}

/// Returns every way in which one cut at a sector's edge can tear a page: the new version's first
/// sectors with the old one's last, and the other way round.
fn tears<'a>(old: &'a [u8], new: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
    (1..new.len() / SECTOR).flat_map(move |sector| {
        let at = sector * SECTOR;
        [[&new[..at], &old[at..]].concat(), [&old[..at], &new[at..]].concat()]
    })
}

#[test]
fn every_tear_of_a_page_is_repaired_with_its_newest_version() {
    for (kind, page_size) in [Doublewrite::Parallel, Doublewrite::Legacy]
        .into_iter()
        .flat_map(|kind| PAGE_SIZES.into_iter().take(3).map(move |page_size| (kind, page_size)))
    {
        let disk = SimDisk::new(1);
        let pool = pool_with(&disk, page_size, 64, |config| config.options.doublewrite = kind);
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let no = make_page(&pool, 1);
        pool.flush_all().expect("written");
        let old = read_page(&disk, no, page_size);
        refill(&pool, no, 2);
        pool.flush_all().expect("written");
        let new = read_page(&disk, no, page_size);
        assert!(pool.status().dblwr_pages_written > 0);
        drop(pool);
        for torn in tears(&old, &new) {
            write_page(&disk, no, &torn);
            let pool = reopen(&disk, page_size, kind);
            assert_eq!(filled_with(&pool, no).expect("repaired"), 2, "{kind:?} {page_size}");
        }
    }
}

/// A torn page is never replaced by an old copy that the file had of it before the strategy
/// changed.
#[test]
fn copies_from_before_doublewrite_was_off_are_not_used() {
    for at_run_time in [false, true] {
        for later in [Doublewrite::Off, Doublewrite::DetectOnly] {
            let disk = SimDisk::new(2);
            let pool = pool_with(&disk, 4096, 64, |_| ());
            pool.create_space(SPACE, &path("t.ibd")).expect("made");
            let no = make_page(&pool, 1);
            pool.flush_all().expect("written");
            let old = read_page(&disk, no, 4096);
            let pool = if at_run_time {
                pool.set_doublewrite(later).expect("switched");
                pool
            } else {
                drop(pool);
                reopen(&disk, 4096, later)
            };
            refill(&pool, no, 2);
            pool.flush_all().expect("written");
            let new = read_page(&disk, no, 4096);
            drop(pool);
            write_page(&disk, no, &[&new[..2048], &old[2048..]].concat());
            let pool = reopen(&disk, 4096, later);
            let error =
                filled_with(&pool, no).expect_err("torn, and no copy is of its newest version").to_string();
            assert!(error.contains("/data/t.ibd: page 1 is damaged"), "{error}");
        }
    }
}

/// A killed server leaves page writes that nobody has synced, and the next server reads them from
/// the kernel's cache as if they were on disk. When the power goes after that, what the next server
/// saw must still be there.
#[test]
fn what_a_killed_server_wrote_and_did_not_sync_is_made_durable_by_the_next() {
    let seed = test_seed("what_a_killed_server_wrote_and_did_not_sync");
    for kind in [Doublewrite::Parallel, Doublewrite::Off] {
        for round in 0..60 {
            let disk = SimDisk::new(seed.wrapping_add(round));
            let pool = pool_with(&disk, 4096, 64, |config| config.options.doublewrite = kind);
            pool.create_space(SPACE, &path("t.ibd")).expect("made");
            let pages: Vec<PageNo> = (0..8).map(|_| make_page(&pool, 1)).collect();
            pool.flush_all().expect("written");
            pages.iter().for_each(|&no| refill(&pool, no, 2));
            disk.cut_power_after(round % 6);
            let _ = pool.flush_all();
            drop(pool);
            let disk = disk.kill();
            // Under `Off` the copies are void from here on.
            let pool = reopen(&disk, 4096, Doublewrite::Off);
            let fill_of_all = |pool: &Pool| -> Vec<u8> {
                pages.iter().map(|&no| filled_with(pool, no).expect("whole")).collect()
            };
            let seen = fill_of_all(&pool);
            drop(pool);
            let pool = reopen(&disk.power_cut(), 4096, Doublewrite::Off);
            assert_eq!(fill_of_all(&pool), seen, "{kind:?}, seed {seed}, round {round}");
        }
    }
}

/// A page that could be written only in part is torn until it is written again, and its copy must
/// last as long, however much else is flushed. While the tablespace's writes fail every flush of it
/// reports an error; when they succeed again the pages are whole.
#[test]
fn a_page_that_could_not_be_written_in_place_keeps_its_copy() {
    const OTHER: u32 = 4;
    for kind in [Doublewrite::Parallel, Doublewrite::Legacy] {
        let disk = SimDisk::new(5);
        let pool = pool_with(&disk, 4096, 64, |config| config.options.doublewrite = kind);
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let pages: Vec<PageNo> = (0..4).map(|_| make_page(&pool, 1)).collect();
        pool.create_space(OTHER, &path("u.ibd")).expect("made");
        let tree = |byte: u8| {
            let lock = pool.lock_structure(OTHER).expect("open");
            let mut mtr = buffer::Mtr::begin(&pool, &lock);
            let held = mtr.alloc().expect("there is room");
            mtr.format(held, buffer::PageType::Overflow, 0)[100] = byte;
            mtr.commit();
        };
        pool.flush_all().expect("written");
        pages.iter().for_each(|&no| refill(&pool, no, 2));
        disk.fail_writes(Some("t.ibd"));
        let error = pool.flush_all().expect_err("it cannot be written").to_string();
        assert!(error.contains("t.ibd"), "{error}");
        for byte in 0..40 {
            tree(byte);
            // This flush may use any areas but those that hold the copies of the torn pages.
            let _ = pool.flush_space(OTHER);
        }
        assert!(pool.flush_all().is_err(), "{kind:?}: it is as it was");
        let check = |disk: &SimDisk| {
            let pool = reopen(disk, 4096, kind);
            for &no in &pages {
                let byte = filled_with(&pool, no).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
                assert!(byte == 2 || byte == 1, "{byte}");
            }
        };
        (0..20).for_each(|_| check(&disk.if_power_went()));
        disk.fail_writes(None);
        pool.flush_all().expect("written");
        pages.iter().for_each(|&no| refill(&pool, no, 3));
        pool.flush_all().expect("written");
        drop(pool);
        let pool = reopen(&disk.power_cut(), 4096, kind);
        assert!(pages.iter().all(|&no| filled_with(&pool, no).expect("whole") == 3));
    }
}

/// A tablespace that cannot be written any more because its disk fails can still be dropped, and it
/// is not renamed between doublewrite and sync.
#[test]
fn a_tablespace_whose_writes_fail_can_be_dropped() {
    let disk = SimDisk::new(6);
    let pool = pool_with(&disk, 4096, 64, |_| ());
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    make_page(&pool, 1);
    disk.fail_writes(Some("t.ibd"));
    pool.flush_all().expect_err("it cannot be written");
    assert!(pool.rename_space(SPACE, &path("v.ibd")).is_err(), "a copy names it as it is");
    pool.drop_space(SPACE).expect("dropped");
    pool.flush_all().expect("nothing is left that cannot be written");
}

#[test]
fn off_and_a_promise_of_the_storage_write_no_copies() {
    for (kind, promised, copies) in [
        (Doublewrite::Off, 0, false),
        (Doublewrite::Auto, 0, true),
        (Doublewrite::Auto, 4096, true),
        (Doublewrite::Auto, 16384, false),
        (Doublewrite::Auto, 65536, false),
    ] {
        let disk = SimDisk::new(3);
        disk.promise_untorn(promised);
        let pool = pool_with(&disk, 16384, 64, |config| config.options.doublewrite = kind);
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let pages: Vec<PageNo> = (0..40).map(|byte| make_page(&pool, byte)).collect();
        pool.flush_all().expect("written");
        assert_eq!(pool.status().dblwr_pages_written > 0, copies, "{kind:?} {promised}");
        drop(pool);
        let pool = reopen(&disk, 16384, kind);
        for (byte, no) in pages.into_iter().enumerate() {
            assert_eq!(filled_with(&pool, no).expect("whole"), byte as u8);
        }
    }
}

/// Pages are rewritten over and over while the strategy changes, until the power goes. Afterwards
/// each page is whole and at least as new as the last flush.
#[test]
fn no_page_is_torn_while_strategies_change() {
    const KEEPING: [Doublewrite; 3] = [Doublewrite::Parallel, Doublewrite::Legacy, Doublewrite::Auto];
    let mut rng = Rng::new(test_seed("no_page_is_torn_while_strategies_change"));
    for round in 0..60 {
        let page_size = *rng.pick(&[4096, 16384]);
        let promised = *rng.pick(&[0, 65536]);
        let disk = SimDisk::new(rng.u64());
        disk.promise_untorn(promised);
        let pool = pool_with(&disk, page_size, 64, |config| config.options.doublewrite = *rng.pick(&KEEPING));
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let pages: Vec<PageNo> = (0..10).map(|_| make_page(&pool, 0)).collect();
        pool.flush_all().expect("written");
        disk.sync_dir(Path::new("/data")).expect("the disk is on");
        disk.cut_power_after(rng.below(200));
        let (mut flushed, mut version) = (0, 0);
        while !disk.is_off() {
            version += 1;
            for &no in &pages {
                refill(&pool, no, version);
            }
            if rng.one_in(4) {
                // The switch may fail because the power is off; then the old strategy stays.
                let _ = pool.set_doublewrite(*rng.pick(&KEEPING));
            }
            if pool.flush_all().is_ok() {
                flushed = version;
            }
        }
        drop(pool);
        let disk = disk.power_cut();
        let pool = reopen(&disk, page_size, *rng.pick(&KEEPING));
        for &no in &pages {
            let found = filled_with(&pool, no).unwrap_or_else(|error| panic!("round {round}: {error}"));
            assert!((flushed..=version).contains(&found), "round {round}: {found} of {flushed}..={version}");
        }
    }
}
