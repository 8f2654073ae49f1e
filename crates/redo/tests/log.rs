//! Tests of the log through its public interface: order, contents, large records, wrapping,
//! checkpoints, refusals.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Checkpoint, Log, LogConfig, LogReader, Lsn, Record, RedoError, START_LSN, kind};

fn config() -> LogConfig {
    LogConfig {
        dir: PathBuf::from("/data"),
        capacity_bytes: 4 << 20,
        buffer_bytes: 64 << 10,
        flush_at_trx_commit: 1,
        writer_threads: false,
    }
}

fn sim(seed: u64) -> (SimDisk, Arc<dyn Disk>) {
    let disk = SimDisk::new(seed);
    (disk.clone(), Arc::new(disk))
}

fn append(log: &Log, payload: &[u8]) -> Lsn {
    log.reserve(payload.len() as u64).expect("it fits").fill(kind::COMMIT, &[payload])
}

/// Returns all records that are written by now.
fn rest(reader: &mut LogReader) -> Vec<Record> {
    std::iter::from_fn(|| reader.next(None).expect("the log is sound")).collect()
}

#[test]
fn what_is_filled_is_read_back_in_order_and_after_opening() {
    let (_, disk) = sim(1);
    let log = Log::create(Arc::clone(&disk), config()).unwrap();
    assert_eq!(log.current_lsn(), START_LSN);
    let first = append(&log, b"one");
    let reservation = log.reserve(6).unwrap();
    assert_eq!(reservation.start_lsn(), first);
    let end = reservation.fill(kind::STRUCTURE, &[b"tw", b"", b"o..."]);
    log.wait_durable(end).unwrap();
    assert!(log.durable_lsn() == end && log.written_lsn() == end && log.current_lsn() == end);
    let expected = vec![
        Record { kind: kind::COMMIT, start_lsn: START_LSN, lsn: first, payload: b"one".to_vec() },
        Record { kind: kind::STRUCTURE, start_lsn: first, lsn: end, payload: b"two...".to_vec() },
    ];
    assert_eq!(rest(&mut log.read_from(START_LSN)), expected);
    drop(log);
    let (log, checkpoint) = Log::open(disk, config()).unwrap();
    assert_eq!(checkpoint, Checkpoint { lsn: START_LSN, state: Vec::new() });
    assert_eq!(rest(&mut log.read_from(START_LSN)), expected);
    assert_eq!(log.durable_lsn(), end);
}

#[test]
fn one_who_follows_the_log_returns_when_it_is_durable_or_has_failed() {
    let (sim, disk) = sim(2);
    let log = Log::create(disk, config()).unwrap();
    let end = append(&log, b"a commit");
    log.follow_durable(end, true).unwrap();
    assert!(log.durable_lsn() >= end);
    sim.fail_sync("#ib_redo0");
    let lost = append(&log, b"another");
    assert!(matches!(log.follow_durable(lost, true), Err(RedoError::Poisoned(_))));
}

#[test]
fn a_log_is_made_once_and_opened_only_where_there_is_one() {
    let (_, disk) = sim(2);
    assert!(matches!(Log::open(Arc::clone(&disk), config()), Err(RedoError::Missing(_))));
    drop(Log::create(Arc::clone(&disk), config()).unwrap());
    assert!(matches!(Log::create(disk, config()), Err(RedoError::Exists(_))));
}

#[test]
fn a_record_far_larger_than_the_buffer_streams_through_it() {
    let (_, disk) = sim(3);
    let log = Log::create(Arc::clone(&disk), config()).unwrap();
    let mut rng = Rng::new(test_seed("a_record_far_larger_than_the_buffer_streams_through_it"));
    let payloads: Vec<Vec<u8>> =
        [100, 3_000_000, 64 << 10, (64 << 10) - 16, 16 << 10, 0, 1].map(|len| rng.bytes(len)).into();
    for payload in &payloads {
        let (one, other) = payload.split_at(payload.len() / 3);
        log.reserve(payload.len() as u64).unwrap().fill(kind::COMMIT, &[one, other]);
    }
    log.wait_durable(log.current_lsn()).unwrap();
    let read: Vec<Vec<u8>> =
        rest(&mut log.read_from(START_LSN)).into_iter().map(|record| record.payload).collect();
    assert!(read == payloads);
    drop(log);
    let (log, _) = Log::open(disk, config()).unwrap();
    assert_eq!(rest(&mut log.read_from(START_LSN)).len(), payloads.len());
}

#[test]
fn a_record_beyond_the_capacity_is_refused_and_takes_nothing() {
    let (_, disk) = sim(4);
    let log = Log::create(disk, config()).unwrap();
    let max = log.max_payload_bytes();
    assert!(matches!(log.reserve(max + 1), Err(RedoError::RecordTooLarge { .. })));
    assert!(matches!(log.reserve(u64::MAX), Err(RedoError::RecordTooLarge { .. })));
    assert_eq!(log.current_lsn(), START_LSN);
    let end = log.reserve(max).unwrap().fill(kind::COMMIT, &[&vec![3; max as usize]]);
    log.wait_durable(end).unwrap();
    assert_eq!(rest(&mut log.read_from(START_LSN)).len(), 1);
}

#[test]
fn files_are_recycled_after_checkpoints_and_the_log_wraps_many_times() {
    let (sim, disk) = sim(5);
    let log = Log::create(Arc::clone(&disk), config()).unwrap();
    let mut last = START_LSN;
    for round in 0..200u64 {
        log.free_check();
        let end = append(&log, &vec![round as u8; 200_000]);
        if round % 7 == 6 {
            log.write_checkpoint(end, &round.to_le_bytes()).unwrap();
            last = end;
        }
    }
    assert!(last > START_LSN + 20 * config().capacity_bytes / 4);
    let end = log.current_lsn();
    log.close().unwrap();
    let size: u64 = disk.list(Path::new("/data/#innodb_redo")).unwrap().len() as u64;
    assert!(size <= 4 + 2 + 1, "{size} files are too many");
    let early = log.read_from(START_LSN).next(None);
    assert!(matches!(early, Err(RedoError::Gone { .. })), "{early:?}");
    drop(log);
    let (log, checkpoint) = Log::open(Arc::new(sim.power_cut()), config()).unwrap();
    assert_eq!(checkpoint, Checkpoint { lsn: last, state: 195u64.to_le_bytes().to_vec() });
    let records = rest(&mut log.read_from(last));
    assert_eq!(records.iter().map(|record| record.payload[0]).collect::<Vec<_>>(), [196, 197, 198, 199]);
    assert_eq!(log.current_lsn(), end);
}

#[test]
fn who_writes_a_lot_waits_before_the_others_do() {
    let (_, disk) = sim(7);
    let log = Log::create(disk, config()).unwrap();
    let capacity = config().capacity_bytes;
    while log.current_lsn() - log.checkpoint_lsn() < capacity / 4 * 3 {
        append(&log, &[7; 10_000]);
    }
    let bulk = {
        let log = Arc::clone(&log);
        os::thread::spawn("bulk", move || log.free_check_in_bulk())
    };
    while log.status().space_waits == 0 {
        os::thread::yield_now();
    }
    // Short records still find room where bulk writers already wait.
    for _ in 0..10 {
        log.free_check();
        append(&log, &[8; 10_000]);
    }
    assert_eq!(log.status().space_waits, 1);
    assert!(!bulk.is_finished());
    log.write_checkpoint(log.current_lsn(), b"").unwrap();
    bulk.join().unwrap();
}

#[test]
fn a_full_log_waits_for_a_checkpoint_and_asks_for_it() {
    let (_, disk) = sim(6);
    let log = Log::create(disk, config()).unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    let (counted, weak) = (Arc::clone(&asked), Arc::downgrade(&log));
    let (poke, poked) = std::sync::mpsc::channel::<()>();
    log.on_space_needed(Box::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        let _ = poke.send(());
    }));
    let checkpointer = os::thread::spawn("checkpointer", move || {
        while poked.recv().is_ok() {
            let Some(log) = weak.upgrade() else { return };
            log.write_checkpoint(log.current_lsn(), b"").unwrap();
        }
    });
    for round in 0..100u8 {
        log.free_check();
        append(&log, &vec![round; 300_000]);
        let used = log.current_lsn() - log.checkpoint_lsn();
        assert!(used <= config().capacity_bytes, "{used} bytes without a checkpoint");
    }
    assert!(asked.load(Ordering::SeqCst) > 0);
    log.on_space_needed(Box::new(|| {}));
    drop(log);
    checkpointer.join().unwrap();
}

#[test]
fn a_reader_follows_the_live_end_and_ends_with_the_log() {
    let (_, disk) = sim(7);
    let log = Log::create(disk, config()).unwrap();
    let mut reader = log.read_from(START_LSN);
    let follower = os::thread::spawn("follower", move || {
        let mut seen = Vec::new();
        while seen.len() < 500 {
            if let Some(record) = reader.next(Some(Duration::from_secs(30))).unwrap() {
                seen.push(u64::from_le_bytes(record.payload[..8].try_into().unwrap()));
            }
        }
        assert!(reader.next(Some(Duration::from_secs(60))).unwrap().is_none(), "the log is closed");
        seen
    });
    for number in 0..500u64 {
        let end = append(&log, &[number.to_le_bytes(), [0; 8]].concat());
        match number % 3 {
            0 => log.request_durable(end),
            1 => log.wait_written(end).unwrap(),
            _ => {}
        }
    }
    log.request_written(log.current_lsn());
    while log.written_lsn() < log.current_lsn() {
        os::thread::yield_now();
    }
    os::clock::sleep(Duration::from_millis(5));
    log.close().unwrap();
    assert_eq!(follower.join().unwrap(), (0..500).collect::<Vec<u64>>());
}

#[test]
fn many_threads_fill_one_log_and_every_record_is_there_once_in_its_threads_order() {
    const THREADS: u64 = 4;
    const EACH: u64 = 3000;
    let seed = test_seed("many_threads_fill_one_log");
    let (_, disk) = sim(seed);
    let log = Log::create(disk, LogConfig { capacity_bytes: 64 << 20, ..config() }).unwrap();
    let mut reader = log.read_from(START_LSN);
    let writers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (log, mut rng) = (Arc::clone(&log), Rng::new(seed ^ thread));
            os::thread::spawn("filler", move || {
                for number in 0..EACH {
                    let len = if rng.one_in(500) { rng.below(200_000) } else { rng.below(600) };
                    let head = [thread.to_le_bytes(), number.to_le_bytes()].concat();
                    let body = vec![thread as u8; len as usize];
                    let reserved = log.reserve(head.len() as u64 + len).unwrap();
                    let end = reserved.fill(kind::COMMIT, &[&head, &body]);
                    match rng.below(20) {
                        0 => log.wait_durable(end).unwrap(),
                        1 => log.wait_written(end).unwrap(),
                        2 => log.request_durable(end),
                        _ => {}
                    }
                }
            })
        })
        .collect();
    let mut next = [0; THREADS as usize];
    for _ in 0..THREADS * EACH {
        let record = reader.next(Some(Duration::from_secs(60))).unwrap().expect("all records come");
        let thread = u64::from_le_bytes(record.payload[..8].try_into().unwrap());
        let number = u64::from_le_bytes(record.payload[8..16].try_into().unwrap());
        assert_eq!(number, next[thread as usize], "thread {thread}");
        assert!(record.payload[16..].iter().all(|&byte| u64::from(byte) == thread));
        next[thread as usize] += 1;
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    log.close().unwrap();
    assert_eq!(log.durable_lsn(), log.current_lsn());
}

#[test]
fn a_failed_sync_poisons_the_log_and_stops_the_machine() {
    let (sim, disk) = sim(8);
    let log = Log::create(disk, config()).unwrap();
    let safe = append(&log, b"safe");
    log.wait_durable(safe).unwrap();
    sim.fail_sync("#ib_redo0");
    let lost = append(&log, b"lost");
    assert!(matches!(log.wait_durable(lost), Err(RedoError::Poisoned(_))));
    assert!(sim.stopped_with().is_some_and(|message| message.contains("#ib_redo0")));
    assert!(log.wait_durable(append(&log, b"later")).is_err() && log.durable_lsn() == safe);
    assert!(log.write_checkpoint(safe, b"").is_err() && log.close().is_err());
    let (log, _) = Log::open(Arc::new(sim.power_cut()), config()).unwrap();
    let records = rest(&mut log.read_from(START_LSN));
    assert_eq!(records.iter().map(|record| record.payload.as_slice()).collect::<Vec<_>>(), [b"safe"]);
}

#[test]
fn a_damaged_record_ends_the_log_and_is_not_read() {
    let (sim, disk) = sim(9);
    let log = Log::create(Arc::clone(&disk), config()).unwrap();
    let ends: Vec<Lsn> = (0..5u8).map(|number| append(&log, &[number; 100])).collect();
    log.wait_durable(ends[4]).unwrap();
    drop(log);
    let file = Path::new("/data/#innodb_redo/#ib_redo0");
    sim.flip_bit(file, (4096 + (ends[2] - START_LSN) + 50) * 8);
    let (log, _) = Log::open(disk, config()).unwrap();
    assert_eq!(log.current_lsn(), ends[2]);
    assert_eq!(rest(&mut log.read_from(START_LSN)).len(), 3);
}

/// Makes a log of records that became durable one after the other. Returns the LSNs at which they
/// begin and at which the last one ends.
fn log_of_durable_records(disk: &Arc<dyn Disk>, records: u64) -> Vec<Lsn> {
    let log = Log::create(Arc::clone(disk), config()).unwrap();
    let mut starts = vec![START_LSN];
    for number in 0..records {
        let lsn = append(&log, &vec![number as u8; 1 + number as usize * 97 % 3000]);
        log.wait_durable(lsn).unwrap();
        starts.push(lsn);
    }
    starts
}

#[test]
fn damage_in_the_middle_of_the_log_is_reported_with_its_place() {
    const RECORDS: u64 = 40;
    let mut rng = Rng::new(test_seed("damage_in_the_middle_of_the_log_is_reported"));
    let (mut refused, mut shortened) = (0, 0);
    for round in 0..400 {
        let (disk, shared) = sim(round);
        let starts = log_of_durable_records(&shared, RECORDS);
        let (first, end) = (starts[0], starts[RECORDS as usize]);
        let lsn = rng.between(first, end - 1);
        let disk = disk.kill();
        // The first file's data begins after its header of 4 KB.
        let offset = 4096 + lsn - START_LSN;
        disk.flip_bit(Path::new("/data/#innodb_redo/#ib_redo0"), offset * 8 + rng.below(8));
        let damaged = starts.partition_point(|&start| start <= lsn) - 1;
        match Log::open(Arc::new(disk), config()) {
            Err(RedoError::Corrupt(message)) => {
                assert!(
                    message.contains(&format!("the record at LSN {} is damaged", starts[damaged])),
                    "{message}"
                );
                assert!(message.starts_with("/data/#innodb_redo/#ib_redo0: offset "), "{message}");
                refused += 1;
            }
            Err(error) => panic!("flipped at LSN {lsn}: {error}"),
            Ok((log, _)) => {
                assert_eq!(log.current_lsn(), starts[damaged], "flipped at LSN {lsn}");
                // Damage so close to the end cannot be told from the log's end.
                assert!(end - lsn < 8192 + 2 * 3000, "flipped at LSN {lsn} of {end}, and nobody noticed");
                shortened += 1;
            }
        }
    }
    assert!(refused > 300 && shortened > 0, "{refused} refused, {shortened} taken for the end");
}
