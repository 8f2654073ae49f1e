//! Tests of settings that change while the log is written: capacity, buffer and log writer threads.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use os::account::State;
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Log, LogConfig, Lsn, RedoError, START_LSN, kind};

const MB: u64 = 1 << 20;

fn config(capacity_bytes: u64) -> LogConfig {
    LogConfig { capacity_bytes, buffer_bytes: 64 << 10, ..LogConfig::new(PathBuf::from("/data")) }
}

fn append(log: &Log, payload: &[u8]) -> Lsn {
    log.free_check();
    log.reserve(payload.len() as u64).expect("it fits").fill(kind::COMMIT, &[payload])
}

/// Waits until the log's own threads have done something in the background.
fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        os::thread::yield_now();
    }
}

#[test]
fn capacity_grows_and_shrinks_while_the_log_is_written() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
    let log = Log::create(Arc::clone(&disk), config(8 * MB)).unwrap();
    let payload = vec![7; 100_000];
    // No checkpoint is made here, so with the old capacity the writer would soon wait for ever.
    log.set_capacity(64 * MB);
    while log.current_lsn() < START_LSN + 40 * MB {
        append(&log, &payload);
    }
    assert_eq!(log.status().space_waits, 0);
    log.wait_durable(log.current_lsn()).unwrap();
    assert!(log.status().physical_bytes > 40 * MB);

    log.set_capacity(8 * MB);
    let status = log.status();
    assert!(status.resizing_down && status.capacity_bytes == 8 * MB && status.resized_bytes > 40 * MB);
    // The log holds more than the new capacity, but nobody waits for it to become smaller.
    for _ in 0..10 {
        append(&log, &payload);
    }
    assert_eq!(log.status().space_waits, 0);
    let begin = log.current_lsn();
    log.write_checkpoint(begin, b"state").unwrap();
    assert_eq!(log.status().resized_bytes, 8 * MB);
    // Files of the old size are removed once the log no longer needs them.
    while log.status().resizing_down {
        let end = append(&log, &payload);
        log.wait_durable(end).unwrap();
        if end - log.checkpoint_lsn() > 2 * MB {
            log.write_checkpoint(end, b"state").unwrap();
        }
        assert!(end < begin + 64 * MB, "{:?}", log.status());
    }
    until(|| log.status().physical_bytes <= 8 * MB);
    let checkpoint = log.checkpoint_lsn();
    let mut expected = Vec::new();
    for number in 0..20u8 {
        expected.push(append(&log, &[number; 1000]));
    }
    log.wait_durable(log.current_lsn()).unwrap();
    drop(log);
    let (log, found) = Log::open(disk, config(8 * MB)).unwrap();
    assert_eq!(found.lsn, checkpoint);
    let mut reader = log.read_from(checkpoint);
    let mut ends = Vec::new();
    while let Some(record) = reader.next(None).unwrap() {
        ends.push(record.lsn);
    }
    assert!(ends.ends_with(&expected));
}

#[test]
fn one_who_waits_for_space_goes_on_when_there_is_more() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(2));
    let log = Log::create(disk, config(4 * MB)).unwrap();
    let writer = Arc::clone(&log);
    let filled = os::thread::spawn("space waiter", move || {
        while writer.current_lsn() < START_LSN + 6 * MB {
            append(&writer, &[1; 50_000]);
        }
    });
    until(|| log.status().space_waits > 0);
    log.set_capacity(16 * MB);
    filled.join().unwrap();
}

/// Returns how often threads of this name that have ended wrote and synced the log.
fn written_and_synced(name: &str) -> (u64, u64) {
    let threads = os::account::snapshot();
    let states = threads.iter().filter(|thread| thread.name == name).flat_map(|thread| &thread.states);
    let entered =
        |state: State| states.clone().filter(|time| time.state == state).map(|time| time.entered).sum();
    (entered(State::LogWrite), entered(State::LogFlush))
}

fn commit_on_a_thread(log: &Arc<Log>, name: &str, commits: u64) {
    let log = Arc::clone(log);
    let work = move || (0..commits).for_each(|_| log.commit_wait(append(&log, b"commit")).unwrap());
    os::thread::spawn(name, work).join().unwrap();
}

#[test]
fn with_writer_threads_nobody_else_writes_or_syncs() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(3));
    let log = Log::create(disk, config(16 * MB)).unwrap();
    assert!(!log.writer_threads());
    commit_on_a_thread(&log, "off committer", 20);
    let (_, synced) = written_and_synced("off committer");
    assert!(synced > 0, "a lone committer syncs itself");
    log.set_writer_threads(true);
    commit_on_a_thread(&log, "on committer", 20);
    assert_eq!(written_and_synced("on committer"), (0, 0));
    log.set_flush_at_trx_commit(2);
    commit_on_a_thread(&log, "on writer", 20);
    assert_eq!(written_and_synced("on writer"), (0, 0));
    assert_eq!(log.written_lsn(), log.current_lsn());
    log.set_writer_threads(false);
    commit_on_a_thread(&log, "off writer", 20);
    assert!(written_and_synced("off writer").0 > 0, "a lone committer writes itself");
}

#[test]
fn threads_are_switched_under_load_and_the_log_is_closed_in_either_state() {
    let mut rng = Rng::new(test_seed("redo threads_are_switched_under_load"));
    for round in 0..4 {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(rng.u64()));
        let log = Log::create(Arc::clone(&disk), config(64 * MB)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let committers: Vec<_> = (0..4u8)
            .map(|number| {
                let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
                os::thread::spawn("switched committer", move || {
                    let mut commits = 0;
                    while !stop.load(Ordering::Relaxed) || commits < 50 {
                        let end = append(&log, &[number; 100]);
                        log.commit_wait(end).unwrap();
                        assert!(log.durable_lsn() >= end);
                        commits += 1;
                    }
                    commits
                })
            })
            .collect();
        for on in [true, false, true, false, round % 2 == 0] {
            log.set_writer_threads(on);
            let from = log.durable_lsn();
            until(|| log.durable_lsn() > from + 2_000);
        }
        stop.store(true, Ordering::Relaxed);
        let commits: u64 = committers.into_iter().map(|committer| committer.join().unwrap()).sum();
        log.close().unwrap();
        drop(log);
        let (log, _) = Log::open(disk, config(64 * MB)).unwrap();
        let mut reader = log.read_from(START_LSN);
        let mut found = 0;
        while reader.next(None).unwrap().is_some() {
            found += 1;
        }
        assert_eq!(found, commits);
    }
}

#[test]
fn the_buffer_is_made_larger_and_smaller_under_load() {
    const RECORDS: u64 = 2000;
    let mut rng = Rng::new(test_seed("redo the_buffer_is_made_larger_and_smaller_under_load"));
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(rng.u64()));
    let log = Log::create(disk, config(64 * MB)).unwrap();
    let working = Arc::new(AtomicUsize::new(4));
    let writers: Vec<_> = (0..4u8)
        .map(|number| {
            let (log, working, mut rng) = (Arc::clone(&log), Arc::clone(&working), Rng::new(rng.u64()));
            os::thread::spawn("writer", move || {
                for at in 0..RECORDS {
                    // Now and then a record is longer than a small buffer.
                    let most = if rng.one_in(50) { 200_000 } else { 2_000 };
                    let mut payload = vec![number; 9 + rng.below(most) as usize];
                    payload[1..9].copy_from_slice(&at.to_le_bytes());
                    let end = append(&log, &payload);
                    if rng.one_in(4) {
                        log.wait_written(end).unwrap();
                    }
                }
                working.fetch_sub(1, Ordering::Release);
            })
        })
        .collect();
    while working.load(Ordering::Acquire) > 0 {
        log.set_buffer_bytes(64 << (10 + rng.below(5)));
        // Some buffers are replaced before they were used at all.
        let (from, far) = (log.written_lsn(), rng.below(MB));
        until(|| log.written_lsn() > from + far || working.load(Ordering::Acquire) == 0);
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    log.wait_written(log.current_lsn()).unwrap();
    let (mut reader, mut found) = (log.read_from(START_LSN), vec![0u64; 4]);
    while let Some(record) = reader.next(None).unwrap() {
        let number = record.payload[0];
        let next = &mut found[usize::from(number)];
        assert_eq!(record.payload[1..9], next.to_le_bytes());
        assert!(record.payload[9..].iter().all(|&byte| byte == number), "records are mixed");
        *next += 1;
    }
    assert_eq!(found, [RECORDS; 4]);
}

#[test]
fn a_full_disk_makes_those_who_write_wait_and_nothing_fail() {
    let disk = SimDisk::new(7);
    let log = Log::create(Arc::new(disk.clone()), config(8 * MB)).unwrap();
    disk.limit_space(Some(0));
    let writing = {
        let log = Arc::clone(&log);
        os::thread::spawn("full_disk_writer", move || {
            for _ in 0..40 {
                let end = log.reserve(100_000).unwrap().fill(kind::COMMIT, &[&[1; 100_000]]);
                log.wait_durable(end)?;
            }
            Ok::<_, RedoError>(())
        })
    };
    until(|| has_waited_for_space("full_disk_writer"));
    assert_eq!((disk.stopped_with(), log.failure()), (None, None));
    disk.limit_space(None);
    writing.join().unwrap().unwrap();
}

fn has_waited_for_space(thread: &str) -> bool {
    let is_waiting = |state: &os::account::StateTime| state.state == State::DiskFullWait;
    let threads = os::account::snapshot();
    threads.iter().any(|held| held.name == thread && held.states.iter().any(is_waiting))
}

#[test]
fn a_wait_for_space_ends_when_the_server_does_and_what_was_durable_is_there() {
    let disk = SimDisk::new(8);
    let log = Log::create(Arc::new(disk.clone()), config(8 * MB)).unwrap();
    disk.limit_space(Some(0));
    let writing = {
        let log = Arc::clone(&log);
        os::thread::spawn("ending_writer", move || {
            let mut durable = 0;
            loop {
                let end = log.reserve(100_000).unwrap().fill(kind::COMMIT, &[&[1; 100_000]]);
                match log.wait_durable(end) {
                    Ok(()) => durable = end,
                    Err(_) => return durable,
                }
            }
        })
    };
    until(|| has_waited_for_space("ending_writer"));
    assert_eq!(disk.stopped_with(), None);
    log.give_up_on_full_disk();
    let durable = writing.join().unwrap();
    assert!(disk.stopped_with().is_some_and(|cause| cause.contains("full")), "{:?}", disk.stopped_with());
    drop(log);
    let (log, _) = Log::open(Arc::new(disk.power_cut()), config(8 * MB)).unwrap();
    assert!(log.current_lsn() >= durable, "{} < {durable}", log.current_lsn());
}
