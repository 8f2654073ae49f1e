//! Tests of the log under the model checker: reservation, ring, writing, and which threads sync and
//! which are woken. [`os::sync`] says how to run them and what they find. `SHUTTLE_ITERATIONS`
//! plays another number of schedules than the ordinary one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::Disk;
use os::sim::SimDisk;
use os::sync::Mutex;
use os::sync::atomic::{AtomicU64, Ordering};
use os::thread::{JoinHandle, spawn};

use crate::ring::Ring;
use crate::rings::Rings;
use crate::{Log, LogConfig, Lsn};

fn schedules(ordinary: usize) -> usize {
    std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(ordinary)
}

/// Runs `model` with random schedules, and with schedules that change threads rarely (which finds
/// other faults).
fn check(iterations: usize, model: fn()) {
    let iterations = schedules(iterations);
    shuttle::check_random(model, iterations);
    shuttle::check_pct(model, iterations, 3);
}

fn config() -> LogConfig {
    LogConfig {
        capacity_bytes: LogConfig::MIN_CAPACITY_BYTES,
        buffer_bytes: LogConfig::MIN_BUFFER_BYTES,
        ..LogConfig::new("/log")
    }
}

fn new_log() -> (SimDisk, Arc<Log>) {
    let disk = SimDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    disk.create_dir_all(Path::new("/log")).expect("an empty disk");
    disk.sync_dir(Path::new("/")).expect("an empty disk");
    (disk, Log::create(shared, config()).expect("an empty disk"))
}

fn append(log: &Log, payload: &[u8]) -> Lsn {
    log.reserve(payload.len() as u64).expect("it is short").fill(1, &[payload])
}

/// Whatever was acknowledged is in the log that is opened after a power cut.
#[test]
fn what_is_acknowledged_survives() {
    check(40, || {
        let (disk, log) = new_log();
        let acknowledged = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<JoinHandle<()>> = (0..3u8)
            .map(|number| {
                let (log, acknowledged) = (Arc::clone(&log), Arc::clone(&acknowledged));
                spawn("client", move || {
                    for round in 0..2u8 {
                        let payload = [number, round];
                        let lsn = append(&log, &payload);
                        log.wait_durable(lsn).expect("the disk works");
                        assert!(log.durable_lsn() >= lsn);
                        acknowledged.lock().push(payload);
                    }
                })
            })
            .collect();
        // Somewhere in the middle of all this the power goes, for a copy of the machine.
        os::thread::yield_now();
        let promised = acknowledged.lock().clone();
        let left = disk.if_power_went();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
        log.close().expect("the disk works");
        let left: Arc<dyn Disk> = Arc::new(left);
        let (after, checkpoint) = Log::open(left, config()).expect("it recovers");
        let mut reader = after.read_from(checkpoint.lsn);
        let mut found = Vec::new();
        while reader.lsn() < after.current_lsn() {
            found.push(reader.next(None).expect("it can be read").expect("before the end").payload);
        }
        for payload in promised {
            assert!(found.iter().any(|record| record[..] == payload), "{payload:?} is lost");
        }
        after.close().expect("the disk works");
    });
}

/// Relaxed commits: one thread writes for all whose records are published, those that came too late
/// are woken to write themselves, and nobody sleeps for ever while another is between reserving and
/// publishing.
#[test]
fn written_commits_are_in_the_file_and_nobody_is_left_asleep() {
    check(60, || {
        let (disk, log) = new_log();
        let threads: Vec<JoinHandle<()>> = (0..4u8)
            .map(|number| {
                let (log, disk) = (Arc::clone(&log), disk.clone());
                spawn("client", move || {
                    let payload = [number; 24];
                    let lsn = append(&log, &payload);
                    log.wait_written(lsn).expect("the disk works");
                    let files = disk.list(Path::new("/log/#innodb_redo")).expect("there are files");
                    let holds = |path: &PathBuf| {
                        disk.read(path).expect("a file").windows(payload.len()).any(|bytes| bytes == payload)
                    };
                    assert!(files.iter().any(holds), "{number} was not written");
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
        log.close().expect("the disk works");
    });
}

/// Requests that nobody waits for are carried out, whoever else syncs meanwhile, and nobody sleeps
/// for ever.
#[test]
fn no_request_and_no_wake_up_is_lost() {
    check(100, || {
        let (_, log) = new_log();
        let waits = {
            let log = Arc::clone(&log);
            spawn("client", move || {
                for _ in 0..2 {
                    let lsn = append(&log, b"waited for");
                    log.wait_durable(lsn).expect("the disk works");
                }
            })
        };
        let requests = {
            let log = Arc::clone(&log);
            spawn("applier", move || {
                let first = append(&log, b"requested");
                log.request_durable(first);
                let lsn = append(&log, b"requested");
                log.request_durable(lsn);
                // Only the flusher can bring this about.
                while log.durable_lsn() < lsn {
                    os::thread::yield_now();
                }
            })
        };
        waits.join().expect("it ends well");
        requests.join().expect("it ends well");
        log.close().expect("the disk works");
    });
}

/// With records longer than a chunk and a full ring, every byte arrives where it belongs.
#[test]
fn a_full_ring_loses_nothing() {
    check(20, || {
        let (_, log) = new_log();
        let start = log.current_lsn();
        let threads: Vec<JoinHandle<()>> = (0..2u8)
            .map(|number| {
                let log = Arc::clone(&log);
                spawn("client", move || {
                    let lsn = append(&log, &vec![number; 40_000]);
                    append(&log, &[number; 20]);
                    log.wait_written(lsn).expect("the disk works");
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
        log.wait_durable(log.current_lsn()).expect("the disk works");
        let mut reader = log.read_from(start);
        let mut lens = Vec::new();
        while reader.lsn() < log.current_lsn() {
            let record = reader.next(None).expect("it can be read").expect("before the end");
            let first = record.payload[0];
            assert!(record.payload.iter().all(|&byte| byte == first), "records are mixed");
            lens.push(record.payload.len());
        }
        lens.sort_unstable();
        assert_eq!(lens, [20, 20, 40_000, 40_000]);
        log.close().expect("the disk works");
    });
}

/// Rings of other sizes take over while threads fill them: every byte arrives where it belongs, and
/// nobody waits for ever.
#[test]
fn the_ring_is_replaced_under_its_fillers() {
    check(20, || {
        let (_, log) = new_log();
        let start = log.current_lsn();
        let mut threads: Vec<JoinHandle<()>> = (0..2u8)
            .map(|number| {
                let log = Arc::clone(&log);
                spawn("client", move || {
                    for len in [30_000, 50_000, 20, 50_000] {
                        let lsn = append(&log, &vec![number; len]);
                        log.wait_written(lsn).expect("the disk works");
                    }
                })
            })
            .collect();
        let setter = Arc::clone(&log);
        threads.push(spawn("setter", move || {
            for bytes in [256 << 10, LogConfig::MIN_BUFFER_BYTES, 128 << 10] {
                setter.set_buffer_bytes(bytes);
                os::thread::yield_now();
            }
        }));
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
        let mut reader = log.read_from(start);
        let mut lens = Vec::new();
        while reader.lsn() < log.current_lsn() {
            let record = reader.next(None).expect("it can be read").expect("before the end");
            let first = record.payload[0];
            assert!(record.payload.iter().all(|&byte| byte == first), "records are mixed");
            lens.push(record.payload.len());
        }
        lens.sort_unstable();
        assert_eq!(lens, [20, 20, 30_000, 30_000, 50_000, 50_000, 50_000, 50_000]);
        log.close().expect("the disk works");
    });
}

/// The rings by themselves, with chunks so large that each meets the change of rings at another
/// place.
#[test]
fn rings_are_consumed_in_order() {
    check(2000, || {
        let rings = Arc::new(Rings::new(4096));
        let written = Arc::new(AtomicU64::new(0));
        let write = Arc::new(Mutex::new(0));
        // Each of the two threads has every other chunk.
        let (chunk, chunks) = (1000u64, 12);
        let mut threads: Vec<JoinHandle<()>> = (0..2u64)
            .map(|number| {
                let (rings, written) = (Arc::clone(&rings), Arc::clone(&written));
                spawn("filler", move || {
                    for start in (0..chunks).filter(|at| at % 2 == number).map(|at| at * chunk) {
                        let (ring, len) = loop {
                            match rings.room(start, chunk, || written.load(Ordering::Acquire)) {
                                Some(room) => break room,
                                None => os::thread::yield_now(),
                            }
                        };
                        assert_eq!(len, chunk);
                        // SAFETY: each thread has its own chunks, and there is room.
                        unsafe { ring.copy_in(start, &vec![(start / chunk) as u8 + 1; chunk as usize]) };
                        ring.publish(start, chunk);
                    }
                })
            })
            .collect();
        let (replaced, at) = (Arc::clone(&rings), Arc::clone(&write));
        threads.push(spawn("setter", move || {
            for bytes in [8192, 4096] {
                let written = at.lock();
                replaced.replace(Ring::new(bytes), *written);
                drop(written);
                os::thread::yield_now();
            }
        }));
        let mut tail = 0;
        while tail < chunks * chunk {
            let mut locked = write.lock();
            let (ring, end_lsn) = rings.until(tail);
            let (new_tail, _) = ring.advance(tail, end_lsn.min(chunks * chunk));
            while tail < new_tail {
                // SAFETY: the bytes are published, and are counted as written only after this.
                let bytes = unsafe { ring.contiguous(tail, new_tail) };
                for (at, byte) in (tail..).zip(bytes) {
                    assert_eq!(*byte, (at / chunk) as u8 + 1, "byte {at}");
                }
                tail += bytes.len() as u64;
            }
            written.store(tail, Ordering::Release);
            *locked = tail;
            if tail >= end_lsn {
                ring.release();
            }
            drop(locked);
            os::thread::yield_now();
        }
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
    });
}

/// A failed sync ends every wait with an error, and acknowledges nothing.
#[test]
fn a_failed_sync_reaches_everybody() {
    check(60, || {
        let (disk, log) = new_log();
        // The sync of the file in use fails. A failed sync of a file that is being made ahead may
        // do no harm.
        disk.fail_sync("#ib_redo0");
        let threads: Vec<JoinHandle<bool>> = (0..3u8)
            .map(|number| {
                let log = Arc::clone(&log);
                spawn("client", move || {
                    let lsn = append(&log, &[number]);
                    log.wait_durable(lsn).is_err()
                })
            })
            .collect();
        for thread in threads {
            assert!(thread.join().expect("no panic"), "a commit was acknowledged that the disk has lost");
        }
        assert!(log.close().is_err() && disk.is_off());
    });
}

/// The ring by itself: in whatever order chunks are published, the writer takes them in the order
/// of the log, each once.
#[test]
fn the_ring_is_consumed_in_order() {
    check(3000, || {
        let ring = Arc::new(Ring::new(4096));
        let threads: Vec<JoinHandle<()>> = [(0u64, 16u64), (16, 40), (56, 16)]
            .into_iter()
            .map(|(start, len)| {
                let ring = Arc::clone(&ring);
                spawn("filler", move || {
                    // SAFETY: each thread has its own range, and the ring is larger than all of
                    // them.
                    unsafe { ring.copy_in(start, &vec![start as u8 + 1; len as usize]) };
                    ring.publish(start, len);
                })
            })
            .collect();
        let (mut tail, mut chunks) = (0, 0);
        while tail < 72 {
            let (new_tail, more) = ring.advance(tail, 72);
            // SAFETY: the bytes are published, and nothing is written here again.
            let bytes = unsafe { ring.contiguous(tail, new_tail) };
            for (at, byte) in (tail..).zip(bytes) {
                let start = [56, 16, 0].into_iter().find(|&start| at >= start).expect("0 is");
                assert_eq!(*byte, start as u8 + 1, "byte {at}");
            }
            (tail, chunks) = (new_tail, chunks + more);
            os::thread::yield_now();
        }
        assert_eq!(chunks, 3);
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
    });
}
