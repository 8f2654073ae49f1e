//! Tests of the pool on a simulated disk: spaces, damage, eviction, checkpoints, renames.

mod support;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use buffer::page::{self, PageType};
use buffer::{BufferError, Mtr, PageId, PageNo, Pool, PoolConfig, RecordLsn};
use os::disk::Disk;
use os::sim::SimDisk;
use os::sync::Mutex;
use support::{SPACE, filled_with, log_of, make_page, path, pool_on};

/// A change that has room enough does not wait while the file is made longer ahead of its use.
#[test]
fn a_change_that_has_room_does_not_wait_for_a_file_that_grows() {
    let disk = SimDisk::new(8);
    let pool = pool_on(&disk, 4096, 600);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    // The pages are filled until a reservation no longer leaves the whole slack free, but still
    // leaves half of it: it asks for a longer file and does not wait for it.
    let file_bytes = || pool.space_bytes(SPACE).expect("open");
    let room = pool.room(SPACE).expect("open");
    while file_bytes() < 256 * 4096 {
        make_page(&pool, 1);
    }
    let at_last = file_bytes();
    while pool.space_usage(SPACE).expect("open").0 < 210 {
        make_page(&pool, 1);
    }
    assert_eq!(file_bytes(), at_last, "the file is long enough so far");
    let (growing, grow) = (mpsc::channel(), mpsc::channel::<()>());
    let (began, waits) = (Mutex::new(growing.0), Mutex::new(grow.1));
    disk.before_each_change(move |_| {
        if std::thread::current().name() == Some("slow") && began.lock().send(()).is_ok() {
            // The time is far longer than anything here takes.
            let _ = waits.lock().recv_timeout(Duration::from_secs(20));
        }
    });
    let slow = {
        let room = room.clone();
        os::thread::spawn("slow", move || room.reserve(1, 100).expect("there is room"))
    };
    growing.1.recv().expect("the file grows");
    room.reserve(1, 100).expect("there is room");
    assert_eq!(file_bytes(), at_last, "nobody was waited for");
    drop((growing.1, grow.0));
    slow.join().expect("it ends well");
    assert!(file_bytes() > at_last, "the file is longer now");
}

#[test]
fn pages_survive_eviction_and_a_clean_restart_at_every_page_size() {
    for page_size in page::PAGE_SIZES {
        let disk = SimDisk::new(1);
        let pool = pool_on(&disk, page_size, 64);
        pool.create_space(SPACE, &path("t.ibd")).expect("made");
        let pages: Vec<PageNo> = (0..300u32).map(|number| make_page(&pool, number as u8)).collect();
        for (number, &no) in pages.iter().enumerate() {
            assert_eq!(filled_with(&pool, no).expect("readable"), number as u8);
        }
        let status = pool.status();
        assert!(
            status.pages_evicted >= 200 && status.pages_read >= 200 && status.wait_free > 0,
            "{status:?}"
        );
        pool.flush_all().expect("written");
        assert_eq!((pool.oldest_dirty_lsn(), pool.status().pages_dirty), (None, 0));
        assert_eq!(pool.checkpoint_lsn(|| None), pool.log().current_lsn());
        drop(pool);
        let pool = pool_on(&disk, page_size, 64);
        assert_eq!(pool.open_space(&path("t.ibd")).expect("opens"), SPACE);
        for (number, &no) in pages.iter().enumerate() {
            assert_eq!(filled_with(&pool, no).expect("readable"), number as u8);
        }
    }
}

#[test]
fn a_checkpoint_never_passes_what_is_not_on_disk() {
    let pool = pool_on(&SimDisk::new(2), 4096, 200);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let before = pool.log().current_lsn();
    let no = make_page(&pool, 1);
    assert_eq!(pool.checkpoint_lsn(|| None), before);
    pool.flush_all().expect("written");
    let middle = pool.log().current_lsn();
    assert_eq!(pool.checkpoint_lsn(|| None), middle);
    assert_eq!(pool.checkpoint_lsn(|| Some(before)), before);
    // A later commit is applied first, then a slow earlier one: the page counts as dirty since the
    // earlier one.
    for _ in 0..2 {
        make_page(&pool, 2);
    }
    let mut guard = pool.write(PageId::new(SPACE, no)).expect("readable");
    guard.changed(RecordLsn::new(middle + 30, middle + 40));
    guard.changed(RecordLsn::new(middle, middle + 20));
    assert_eq!(page::lsn(&guard), middle + 40);
    drop(guard);
    assert_eq!(pool.oldest_dirty_lsn(), Some(middle));
    pool.flush_until(middle + 1).expect("written");
    assert!(pool.oldest_dirty_lsn().is_none_or(|oldest| oldest > middle));
}

#[test]
fn damage_is_reported_with_its_place() {
    let disk = SimDisk::new(3);
    let pool = pool_on(&disk, 4096, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let (first, second) = (make_page(&pool, 1), make_page(&pool, 2));
    pool.flush_all().expect("written");
    drop(pool);
    // The doublewrite file still has the pages. Without it nothing can repair them.
    disk.remove(&path("#ib_4096_16.dblwr")).expect("it is there");
    disk.flip_bit(&path("t.ibd"), (u64::from(first) * 4096 + 1000) * 8 + 3);
    let pool = pool_on(&disk, 4096, 64);
    pool.open_space(&path("t.ibd")).expect("page 0 is whole");
    let error = filled_with(&pool, first).expect_err("a bit is wrong").to_string();
    assert!(error.contains("/data/t.ibd: page 1 is damaged: its checksum is"), "{error}");
    let error = filled_with(&pool, first).expect_err("still wrong").to_string();
    assert!(error.contains("page 1"), "{error}");
    assert_eq!(filled_with(&pool, second).expect("whole"), 2);
    let error = filled_with(&pool, 7).expect_err("never written").to_string();
    assert!(error.contains("page 7 is damaged: it was never written"), "{error}");
}

#[test]
fn a_damaged_page_is_repaired_from_the_doublewrite_file() {
    let disk = SimDisk::new(4);
    let pool = pool_on(&disk, 4096, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let no = make_page(&pool, 5);
    pool.flush_all().expect("written");
    drop(pool);
    disk.flip_bit(&path("t.ibd"), (u64::from(no) * 4096 + 2000) * 8);
    let pool = pool_on(&disk, 4096, 64);
    pool.open_space(&path("t.ibd")).expect("opens");
    assert_eq!(filled_with(&pool, no).expect("repaired"), 5);
}

#[test]
fn spaces_of_another_page_size_and_other_files_are_refused() {
    let disk = SimDisk::new(5);
    let pool = pool_on(&disk, 16384, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    assert!(matches!(pool.create_space(SPACE, &path("u.ibd")), Err(BufferError::SpaceInUse(SPACE))));
    assert!(pool.create_space(SPACE + 1, &path("t.ibd")).is_err(), "the file exists");
    disk.write_atomically(&path("other"), &[7; 20_000]).expect("written");
    assert!(matches!(pool.open_space(&path("other")), Err(BufferError::NotASpace { .. })));
    disk.write_atomically(&path("empty"), &[]).expect("written");
    assert!(matches!(pool.open_space(&path("empty")), Err(BufferError::NotASpace { .. })));
    drop(pool);
    for page_size in [4096, 32768] {
        let pool = pool_on(&disk, page_size, 64);
        let error = pool.open_space(&path("t.ibd")).expect_err("another page size").to_string();
        assert!(error.contains("16384") && error.contains(&page_size.to_string()), "{error}");
    }
    let disk: Arc<dyn Disk> = Arc::new(disk);
    for (page_size, capacity) in [(5000, 5 << 20), (16384, 16384 * 8)] {
        let mut config = PoolConfig::new(Path::new("/data"), capacity);
        config.page_size = page_size;
        let opened = Pool::open(Arc::clone(&disk), log_of(&disk), config);
        assert!(matches!(opened, Err(BufferError::Config(_))));
    }
}

#[test]
fn a_space_is_renamed_and_dropped_with_its_pages() {
    let disk = SimDisk::new(6);
    let pool = pool_on(&disk, 4096, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let pages: Vec<PageNo> = (0..100).map(|number| make_page(&pool, number)).collect();
    pool.rename_space(SPACE, &path("u.ibd")).expect("renamed");
    assert!(!disk.exists(&path("t.ibd")).expect("the disk is on"));
    assert_eq!(pool.space_path(SPACE), Some(path("u.ibd")));
    for (number, &no) in pages.iter().enumerate() {
        assert_eq!(filled_with(&pool, no).expect("readable"), number as u8);
    }
    pool.flush_space(SPACE).expect("written");
    make_page(&pool, 9);
    pool.drop_space(SPACE).expect("dropped");
    assert!(!disk.exists(&path("u.ibd")).expect("the disk is on"));
    assert_eq!((pool.oldest_dirty_lsn(), pool.status().pages_data), (None, 0));
    assert!(matches!(pool.read(PageId::new(SPACE, 1)), Err(BufferError::NoSuchSpace(SPACE))));
    // A structure record of a dropped space is passed over.
    pool.replay(10, 20, &[SPACE.to_le_bytes(), 1u32.to_le_bytes(), 0u32.to_le_bytes()].concat())
        .expect("passed over");
}

#[test]
fn structure_records_that_make_no_sense_are_errors() {
    let pool = pool_on(&SimDisk::new(7), 4096, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    make_page(&pool, 1);
    let section = |no: u32, ops: &[u8]| {
        let mut payload = [SPACE.to_le_bytes(), no.to_le_bytes(), (ops.len() as u32).to_le_bytes()].concat();
        payload.extend_from_slice(ops);
        payload
    };
    let end = pool.log().current_lsn() + 1000;
    for payload in [
        section(1, &[9, 0, 0, 0, 0]),
        section(1, &[4, 1, 0, 0, 0, 7]),
        section(1, &[1, 4, 0, 0, 0, 255, 255, 0, 0]),
        section(1, &[3, 200, 0, 0, 0]),
        section(40, &[4, 0, 0, 0, 0]),
        section(1, &[])[..11].to_vec(),
    ] {
        let error = pool.replay(end - 10, end, &payload).expect_err("nonsense").to_string();
        assert!(error.contains(&format!("structure record at LSN {}", end - 10)), "{error}");
    }
}

#[test]
fn a_failed_sync_stops_the_machine() {
    let disk = SimDisk::new(8);
    let pool = pool_on(&disk, 4096, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    make_page(&pool, 1);
    disk.fail_sync("t.ibd");
    assert!(pool.flush_all().is_err());
    assert!(disk.stopped_with().expect("stopped").contains("t.ibd"));
}

#[test]
fn a_full_disk_is_an_error_and_changes_nothing() {
    let disk = SimDisk::new(9);
    let pool = pool_on(&disk, 4096, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    disk.limit_space(Some(0));
    let lock = pool.lock_structure(SPACE).expect("open");
    // No mini-transaction is committed here, so each one gets the same page and the file does not
    // fill up.
    let taken = (0..1000).find_map(|_| Mtr::begin(&pool, &lock).alloc().err());
    drop(lock);
    assert!(taken.is_none(), "{taken:?}");
    let mut made = 0;
    let error = loop {
        let lock = pool.lock_structure(SPACE).expect("open");
        let mut mtr = Mtr::begin(&pool, &lock);
        match mtr.alloc() {
            Ok(held) => {
                mtr.format(held, PageType::Overflow, 0);
                mtr.commit();
                made += 1;
            }
            Err(error) => break error,
        }
    };
    assert!(matches!(error, BufferError::Io(_)), "{error}");
    assert_eq!(made, 3, "what the file had room for");
    disk.limit_space(None);
    make_page(&pool, 1);
}

#[test]
fn the_cleaner_frees_frames_and_writes_old_pages() {
    let pool = pool_on(&SimDisk::new(10), 4096, 256);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    pool.start_cleaners();
    for number in 0..2000u32 {
        make_page(&pool, number as u8);
    }
    let watch = os::clock::Stopwatch::start();
    while pool.status().pages_dirty > 0 || pool.status().pages_free < 16 {
        assert!(watch.elapsed_ms() < 60_000, "an idle server's pages are never written: {:?}", pool.status());
        os::clock::sleep(std::time::Duration::from_millis(5));
    }
    pool.stop();
    assert!(pool.status().list_flushed + pool.status().lru_flushed > 0);
}

/// The list of pages says what each one is and whether it is on disk. A page that another thread is
/// changing is listed without its content, and listing waits for nobody.
#[test]
fn the_pages_in_the_pool_are_listed() {
    let disk = SimDisk::new(5);
    let pool = pool_on(&disk, 4096, 64);
    pool.create_space(SPACE, &path("s.ibd")).unwrap();
    let made = [make_page(&pool, 1), make_page(&pool, 2)];
    let of = |no: u32| pool.resident_pages().into_iter().find(|page| page.id == PageId::new(SPACE, no));
    for no in made {
        let page = of(no).expect("a page that was just made is in the pool");
        let content = page.content.as_ref().expect("nobody changes the page");
        assert_eq!(content.page_type, Some(PageType::Overflow));
        assert_eq!(content.entries, 0);
        assert!(content.newest_change > 0 && page.oldest_change > 0, "{page:?}");
    }
    pool.flush_all().unwrap();
    assert_eq!(of(made[0]).unwrap().oldest_change, 0);
    let held = pool.write(PageId::new(SPACE, made[0])).unwrap();
    assert_eq!(of(made[0]).unwrap().content, None);
    drop(held);
    assert!(of(made[0]).unwrap().content.is_some());
}
