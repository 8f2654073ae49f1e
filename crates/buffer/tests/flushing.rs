//! Tests of what writes pages and frees frames: instances, page cleaners, LRU flushers, the flush
//! of a single page by a foreground thread, and the flushing of neighbours.

mod support;

use std::sync::Arc;
use std::time::Duration;

use buffer::page::{PAGE_HEADER_BYTES, PageNo};
use buffer::{Doublewrite, FlushMethod, FlushNeighbors, PageId, Pool, PoolConfig, RecordLsn};
use os::clock::Stopwatch;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use support::{SPACE, filled_with, make_page, path, pool_with, refill};

/// A time far longer than anything here takes. Only a hanging operation reaches it.
const HANGING: Duration = Duration::from_secs(120);

fn wait_until(what: &str, pool: &Pool, reached: impl Fn(&Pool) -> bool) {
    let watch = Stopwatch::start();
    while !reached(pool) {
        assert!(watch.elapsed() < HANGING, "{what} never happens: {:?}", pool.status());
        os::clock::sleep(Duration::from_millis(2));
    }
}

/// Returns a clean pool with a space of `pages` pages, each filled with the last byte of its
/// number.
fn filled_pool(frames: usize, pages: u32, set: impl FnOnce(&mut PoolConfig)) -> (Arc<Pool>, Vec<PageNo>) {
    let pool = pool_with(&SimDisk::new(1), 4096, frames, set);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let made = (0..pages).map(|number| make_page(&pool, number as u8)).collect();
    pool.flush_all().expect("written");
    (pool, made)
}

/// Runs threads that read and rewrite pages at random, each thread its own pages, in a pool that is
/// far too small for them.
fn churn(pool: &Arc<Pool>, pages: &[PageNo], threads: usize, steps: usize, rng: &mut Rng) {
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            let own: Vec<(usize, PageNo)> =
                pages.iter().copied().enumerate().skip(worker).step_by(threads).collect();
            let (pool, mut rng) = (Arc::clone(pool), Rng::new(rng.u64()));
            os::thread::spawn("churn", move || {
                for _ in 0..steps {
                    let &(number, no) = rng.pick(&own);
                    assert_eq!(filled_with(&pool, no).expect("readable"), number as u8);
                    refill(&pool, no, number as u8);
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().expect("its assertions hold"));
    for (number, &no) in pages.iter().enumerate() {
        assert_eq!(filled_with(pool, no).expect("readable"), number as u8);
    }
}

#[test]
fn every_arrangement_of_actors_keeps_pages_and_finds_frames() {
    let mut rng = Rng::new(test_seed("every_arrangement_of_actors"));
    for (instances, page_cleaners, lru_flushers, single_page_flush) in [
        (1, 1, true, false),
        (1, 4, false, false),
        (3, 2, true, true),
        (4, 4, false, true),
        (4, 3, true, false),
    ] {
        for doublewrite in [Doublewrite::Parallel, Doublewrite::Legacy, Doublewrite::Off] {
            let (pool, pages) = filled_pool(280, 1500, |config| {
                let options = &mut config.options;
                options.instances = instances;
                options.page_cleaners = page_cleaners;
                options.lru_flushers = lru_flushers;
                options.single_page_flush = single_page_flush;
                options.doublewrite = doublewrite;
            });
            assert_eq!(pool.actors(), (instances, page_cleaners.min(instances)));
            let before = pool.status();
            pool.start_cleaners();
            churn(&pool, &pages, 3, 1500, &mut rng);
            let status = pool.status();
            assert!(status.pages_evicted > before.pages_evicted + 1000, "{status:?}");
            if !single_page_flush {
                assert_eq!(status.single_page_flushes, before.single_page_flushes);
            }
            wait_until("a clean pool", &pool, |pool| pool.oldest_dirty_lsn().is_none());
            assert_eq!(pool.status().pages_dirty, 0);
            pool.stop();
        }
    }
}

#[test]
fn a_pool_that_nobody_uses_any_more_goes_away_with_its_threads() {
    let (pool, _) = filled_pool(600, 100, |config| {
        config.options.instances = 4;
        config.options.page_cleaners = 4;
    });
    pool.start_cleaners();
    let log = Arc::clone(pool.log());
    drop(pool);
    assert_eq!(Arc::strong_count(&log), 1, "a thread of the pool keeps a part of it, and the log");
}

#[test]
fn without_background_threads_the_foreground_writes_single_pages() {
    let (pool, pages) = filled_pool(64, 300, |config| config.options.single_page_flush = false);
    churn(&pool, &pages, 1, 500, &mut Rng::new(1));
    assert!(pool.status().single_page_flushes > 0);
}

/// Whichever thread is to write pages, nobody waits for ever for a frame that cannot become free
/// because the disk is dead.
#[test]
fn who_waits_for_a_frame_gets_the_error_of_a_dead_disk() {
    for lru_flushers in [true, false] {
        let disk = SimDisk::new(1);
        let pool = pool_with(&disk, 4096, 64, |config| {
            config.options.single_page_flush = false;
            config.options.lru_flushers = lru_flushers;
        });
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        // Without cleaners the making of a page has another one written, and in the end every frame
        // holds a dirty page.
        let pages: Vec<PageNo> = (0..300).map(|number| make_page(&pool, number as u8)).collect();
        disk.power_cut();
        pool.start_cleaners();
        let (done, ended) = std::sync::mpsc::channel();
        os::thread::spawn("user", move || {
            let outcome = filled_with(&pool, pages[0]);
            done.send(outcome.is_err()).expect("waited for");
        });
        assert_eq!(ended.recv_timeout(HANGING), Ok(true), "it waits for ever");
    }
}

/// Pages whose changes are durable in the log are written first, so that a thread that needs a
/// frame does not also wait for a sync of the log.
#[test]
fn for_a_frame_no_page_is_written_that_waits_for_the_log() {
    let byte_on_disk = |disk: &SimDisk, no: PageNo| {
        let bytes = os::disk::Disk::read(disk, &path("t.ibd")).expect("there");
        bytes[no as usize * 4096 + PAGE_HEADER_BYTES]
    };
    let record = |pool: &Pool| {
        let reservation = pool.log().reserve(8).expect("it is short");
        let lsn = RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
        reservation.fill(redo::kind::COMMIT, &[&[0; 8]]);
        lsn
    };
    let change = |pool: &Pool, no: PageNo, lsn: RecordLsn| {
        let mut guard = pool.write(PageId::new(SPACE, no)).expect("readable");
        guard.bytes_mut()[PAGE_HEADER_BYTES..].fill(200);
        guard.changed(lsn);
    };
    // The log syncs by itself once a second and may do so during an attempt: hence several
    // attempts.
    let written_first = |attempt: u64| {
        let disk = SimDisk::new(attempt);
        let pool = pool_with(&disk, 4096, 64, |config| config.options.flush_method = FlushMethod::Fsync);
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let pages: Vec<PageNo> = (0..120).map(|number| make_page(&pool, number)).collect();
        pool.flush_all().expect("written");
        let (later, earlier) = pages.split_at(60);
        let synced = record(&pool);
        pool.log().wait_durable(synced.end).expect("synced");
        earlier.iter().for_each(|&no| change(&pool, no, synced));
        let before = pool.status().pages_written;
        let unsynced = record(&pool);
        for &no in later {
            change(&pool, no, unsynced);
            if pool.status().pages_written > before {
                break;
            }
        }
        let is_written = |pages: &[PageNo]| pages.iter().any(|&no| byte_on_disk(&disk, no) == 200);
        (is_written(earlier), is_written(later))
    };
    assert!((1..=5).any(|attempt| written_first(attempt) == (true, false)));
}

#[test]
fn instances_have_room_for_a_structure_change_each() {
    let (pool, _) = filled_pool(200, 1, |config| config.options.instances = 64);
    assert_eq!(pool.actors().0, 3);
    let (pool, _) = filled_pool(100, 1, |config| config.options.instances = 0);
    assert_eq!(pool.actors(), (1, 1));
}

#[test]
fn dirty_neighbours_are_written_with_a_page() {
    for (which, dirty, together) in [
        (FlushNeighbors::Off, [64, 65, 66, 80], 1),
        (FlushNeighbors::Contiguous, [64, 65, 66, 80], 3),
        (FlushNeighbors::Extent, [64, 65, 66, 80], 4),
    ] {
        let (pool, _) = filled_pool(256, 130, |config| {
            config.options.flush_neighbors = which;
            // The cleaner writes one page every tenth of a second.
            config.options.io_capacity = 10;
        });
        for no in dirty {
            refill(&pool, no, 9);
        }
        assert_eq!(pool.status().pages_dirty, 4);
        pool.start_cleaners();
        wait_until("a write", &pool, |pool| pool.status().pages_dirty < 4);
        let written = 4 - pool.status().pages_dirty;
        // A second round may have written more since.
        assert!(written >= together, "{which:?}: {written}");
        wait_until("a clean pool", &pool, |pool| pool.status().pages_dirty == 0);
        pool.stop();
    }
}

#[test]
fn a_scan_does_not_drive_out_what_is_used_all_the_time() {
    // The hot pages are young by the time of the scan, because they were used again and again. The
    // scan uses each of its pages a few times in a row.
    let (pool, pages) = filled_pool(256, 1200, |_| ());
    pool.start_cleaners();
    let hot = &pages[..100];
    let use_page = |no: PageNo| drop(pool.read(PageId::new(SPACE, no)).expect("readable"));
    wait_until("hot pages made young", &pool, |pool| {
        hot.iter().for_each(|&no| use_page(no));
        pool.status().pages_made_young >= 100
    });
    let before = pool.status();
    for &no in &pages[100..] {
        (0..3).for_each(|_| use_page(no));
    }
    let scanned = pool.status();
    assert!(scanned.pages_evicted - before.pages_evicted > 800, "{scanned:?}");
    hot.iter().for_each(|&no| use_page(no));
    let reread = pool.status().pages_read - scanned.pages_read;
    assert!(reread < 50, "{reread} of 100 hot pages were driven out by one scan");
    pool.stop();
}

#[test]
fn pages_are_read_ahead_of_a_scan_in_both_directions() {
    for ascending in [true, false] {
        let disk = SimDisk::new(2);
        let pool = pool_with(&disk, 4096, 900, |_| ());
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let mut pages: Vec<PageNo> = (0..640).map(|number| make_page(&pool, number as u8)).collect();
        pool.flush_all().expect("written");
        drop(pool);
        // The new pool holds none of these pages.
        let pool = pool_with(&disk, 4096, 900, |_| ());
        pool.open_space(&path("t.ibd")).expect("opens");
        pool.start_cleaners();
        if !ascending {
            pages.reverse();
        }
        for (at, &no) in pages.iter().enumerate() {
            filled_with(&pool, no).expect("readable");
            if at == 200 {
                // The read-ahead thread may have come late to some extents, and found pages there
                // that this thread had read already.
                wait_until("read-ahead", &pool, |pool| pool.status().read_ahead >= 40);
            }
        }
        // The pages of a read-ahead may be used before they are counted.
        wait_until("counts of all pages", &pool, |pool| {
            let status = pool.status();
            status.pages_read + status.read_ahead >= 640
        });
        let status = pool.status();
        assert!(status.pages_read <= 600, "a page read ahead is not read again: {status:?}");
        pool.change_options(|options| options.read_ahead_threshold = 0);
        pool.stop();
    }
}

#[test]
fn the_rest_of_64_neighbours_is_read_when_13_of_them_were_used() {
    let disk = SimDisk::new(7);
    let pool = pool_with(&disk, 4096, 900, |_| ());
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    (0..260).for_each(|number| assert_eq!(make_page(&pool, number as u8), number + 1));
    pool.flush_all().expect("written");
    drop(pool);
    let pool = pool_with(&disk, 4096, 900, |config| config.options.read_ahead_threshold = 0);
    pool.open_space(&path("t.ibd")).expect("opens");
    pool.start_cleaners();
    let use_some = |extent: PageNo, count: PageNo| {
        (0..count).for_each(|at| {
            filled_with(&pool, extent * 64 + at * 17 % 64).expect("readable");
        });
    };
    use_some(2, 20);
    pool.change_options(|options| options.random_read_ahead = true);
    use_some(1, 12);
    use_some(3, 13);
    wait_until("random read-ahead", &pool, |pool| pool.status().read_ahead_random > 0);
    use_some(1, 13);
    wait_until("random read-ahead", &pool, |pool| pool.status().read_ahead_random >= 2 * 51);
    use_some(1, 64);
    use_some(3, 64);
    let status = pool.status();
    // Page 0 was read when the space was opened, but not into the pool.
    assert_eq!((status.pages_read, status.read_ahead_random, status.read_ahead), (46, 102, 0), "{status:?}");
    pool.stop();
}

#[test]
fn the_pool_is_as_warm_after_a_restart_as_the_list_says() {
    let disk = SimDisk::new(3);
    let open = |set: fn(&mut PoolConfig)| pool_with(&disk, 4096, 512, set);
    let pool = open(|config| {
        config.options.dump_at_shutdown = true;
        config.options.dump_percent = 50;
        config.options.instances = 2;
    });
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let pages: Vec<PageNo> = (0..300).map(|number| make_page(&pool, number as u8)).collect();
    assert!(pool.warm_up_status().0.contains("not started"));
    pool.start_cleaners();
    pool.stop();
    assert!(pool.warm_up_status().0.starts_with("Buffer pool(s) dump completed at "));
    pool.flush_all().expect("written");
    drop(pool);
    let pool = open(|config| config.options.load_at_startup = true);
    pool.open_space(&path("t.ibd")).expect("opens");
    pool.start_cleaners();
    wait_until("the load's end", &pool, |pool| pool.warm_up_status().1.contains("load completed"));
    let status = pool.status();
    assert!((140..=160).contains(&status.read_ahead), "{status:?}");
    for (number, &no) in pages.iter().enumerate() {
        assert_eq!(filled_with(&pool, no).expect("readable"), number as u8);
    }
    assert!(pool.status().pages_read < 180, "what was loaded is not read again");
    pool.stop();
    // A file that is no list is an error, and pages that do not exist are passed over.
    os::disk::Disk::write_atomically(&disk, &path("ib_buffer_pool"), b"3,1\nnonsense\n").expect("written");
    let error = pool.load_pages().expect_err("no list").to_string();
    assert!(error.contains("ib_buffer_pool', line 2"), "{error}");
    os::disk::Disk::write_atomically(&disk, &path("ib_buffer_pool"), b"9,1\n3,4000000\n").expect("written");
    assert_eq!(pool.load_pages().expect("a list"), 0);
    assert!(pool.status().read_requests > 0);
}

/// No checkpoint passes a change that is not on disk, even if pages are evicted and written again
/// before their first write is synced.
#[test]
fn changes_count_as_not_on_disk_until_their_own_write_is_synced() {
    let mut rng = Rng::new(test_seed("changes_count_as_not_on_disk"));
    for _ in 0..20 {
        let disk = SimDisk::new(rng.u64());
        let pool = pool_with(&disk, 4096, 130, |config| config.options.instances = 2);
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let pages: Vec<PageNo> = (0..200).map(|_| make_page(&pool, 0)).collect();
        pool.flush_all().expect("written");
        pool.start_cleaners();
        disk.cut_power_after(rng.below(500));
        // What each page held when a checkpoint last counted it as on disk, and what it holds now.
        let mut versions = vec![(0u8, 0u8); pages.len()];
        let mut version = 0u8;
        'life: while version < 250 {
            version += 1;
            let log = pool.log();
            let reservation = log.reserve(8).expect("it is short");
            let lsn = RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
            reservation.fill(redo::kind::COMMIT, &[&[0; 8]]);
            for _ in 0..20 {
                let at = rng.below(pages.len() as u64) as usize;
                let Ok(mut guard) = pool.write(PageId::new(SPACE, pages[at])) else { break 'life };
                guard.bytes_mut()[PAGE_HEADER_BYTES..].fill(version);
                guard.changed(lsn);
                versions[at].1 = version;
            }
            if rng.one_in(3) && pool.flush_until(lsn.start + 1).is_err() {
                break;
            }
            if pool.checkpoint_lsn(|| None) > lsn.start && !disk.is_off() {
                versions.iter_mut().for_each(|page| page.0 = page.1);
            }
        }
        pool.stop();
        drop(pool);
        let disk = disk.power_cut();
        let pool = pool_with(&disk, 4096, 300, |_| ());
        pool.open_space(&path("t.ibd")).expect("page 0 is whole");
        for (&no, &(safe, last)) in pages.iter().zip(&versions) {
            let found = filled_with(&pool, no).expect("whole");
            assert!((safe..=last).contains(&found), "page {no}: {found} of {safe}..={last}");
        }
    }
}
