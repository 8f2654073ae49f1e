//! Tests of copies of a tablespace's file that are taken while its pages change.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buffer::page;
use buffer::{BufferError, Pool};
use os::disk::{Disk, OpenMode};
use os::sim::SimDisk;
use support::{SPACE, make_page, path, pool_on, refill};

const PAGE: usize = 4096;

fn copy(disk: &SimDisk, pool: &Pool) -> buffer::Result<Vec<u8>> {
    let name = path("copy");
    let file = disk.open(&name, OpenMode::OpenOrCreate).expect("made");
    let mut copy = pool.copy_space(SPACE, file)?;
    while copy.step()?.is_some() {}
    Ok(disk.read(&name).expect("there"))
}

/// Checks that every page of the copy is whole and filled with one byte.
fn check_pages(bytes: &[u8]) {
    for (no, page) in bytes.chunks(PAGE).enumerate().skip(1) {
        let fill = page[page::PAGE_HEADER_BYTES];
        assert!(page[page::PAGE_HEADER_BYTES..].iter().all(|&byte| byte == fill), "page {no} is torn");
        let mut sealed = page.to_vec();
        page::seal(&mut sealed);
        assert!(sealed == page || page.iter().all(|&byte| byte == 0), "page {no} has no checksum");
    }
}

#[test]
fn every_page_of_a_copy_is_whole_while_pages_are_written() {
    let disk = SimDisk::new(3);
    let pool = pool_on(&disk, PAGE, 600);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let pages: Vec<u32> = (0..400).map(|no| make_page(&pool, no as u8)).collect();
    pool.flush_all().expect("written");
    let ended = Arc::new(AtomicBool::new(false));
    let writer = {
        let (pool, pages, ended) = (pool.clone(), pages.clone(), ended.clone());
        os::thread::spawn("writer", move || {
            for round in 0.. {
                pages.iter().for_each(|&no| refill(&pool, no, (no + round) as u8));
                pool.flush_all().expect("written");
                if ended.load(Ordering::Relaxed) {
                    return;
                }
            }
        })
    };
    for _ in 0..20 {
        let bytes = copy(&disk, &pool).expect("copied");
        assert!(bytes.len() >= (pages.len() + 1) * PAGE);
        check_pages(&bytes);
    }
    ended.store(true, Ordering::Relaxed);
    writer.join().expect("it ends well");
}

/// A page that is damaged on disk comes from the pool; without it there the copy fails.
#[test]
fn a_damaged_page_comes_from_the_pool_or_fails_the_copy() {
    let disk = SimDisk::new(4);
    let pool = pool_on(&disk, PAGE, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    let no = make_page(&pool, 9);
    pool.flush_all().expect("written");
    let file = disk.open(&path("t.ibd"), OpenMode::ReadWrite).expect("there");
    file.write_all_at(&[1; 512], u64::from(no) * PAGE as u64 + 1024).expect("written");
    let bytes = copy(&disk, &pool).expect("copied");
    check_pages(&bytes);
    assert_eq!(bytes[no as usize * PAGE + 1024], 9);
    let others: Vec<u32> = (0..200).map(|no| make_page(&pool, no as u8)).collect();
    pool.flush_all().expect("written");
    file.write_all_at(&[1; 512], u64::from(no) * PAGE as u64 + 1024).expect("written");
    others.iter().for_each(|&no| drop(support::filled_with(&pool, no)));
    match copy(&disk, &pool) {
        Err(BufferError::Corrupt { page_no, .. }) => assert_eq!(page_no, no),
        other => panic!("{:?}", other.map(|bytes| bytes.len())),
    }
}

#[test]
fn flushed_spaces_are_noted_for_one_at_a_time() {
    let disk = SimDisk::new(5);
    let pool = pool_on(&disk, PAGE, 64);
    pool.create_space(SPACE, &path("t.ibd")).expect("made");
    pool.flush_space(SPACE).expect("written");
    let notes = pool.note_flushes().expect("nobody else");
    assert!(pool.note_flushes().is_none());
    assert_eq!(notes.take(), BTreeSet::new(), "what was before does not count");
    pool.flush_space(SPACE).expect("written");
    assert_eq!(notes.take(), BTreeSet::from([SPACE]));
    assert_eq!(notes.take(), BTreeSet::new());
    drop(notes);
    assert!(pool.note_flushes().is_some());
}
