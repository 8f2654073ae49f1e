//! Tests of what recovery needs of the log: records in batches, and an opening that costs no more
//! than it must.

use std::path::PathBuf;
use std::sync::Arc;

use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Batch, Log, LogConfig, Lsn, Opened, Record, START_LSN, kind};

const MB: u64 = 1 << 20;

fn config() -> LogConfig {
    LogConfig { capacity_bytes: 32 * MB, buffer_bytes: 64 << 10, ..LogConfig::new(PathBuf::from("/data")) }
}

fn append(log: &Log, payload: &[u8]) -> Lsn {
    log.reserve(payload.len() as u64).expect("it fits").fill(kind::COMMIT, &[payload])
}

#[test]
fn batches_hold_what_single_reads_do() {
    let mut rng = Rng::new(test_seed("redo batches_hold_what_single_reads_do"));
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(rng.u64()));
    let log = Log::create(disk, config()).unwrap();
    // Now and then a record is longer than a file of the log.
    let lens: Vec<u64> =
        (0..600).map(|_| if rng.one_in(100) { rng.below(2 * MB) } else { rng.below(3000) }).collect();
    let ends: Vec<Lsn> = lens.iter().map(|&len| append(&log, &rng.bytes(len as usize))).collect();
    log.wait_written(log.current_lsn()).unwrap();
    let mut reader = log.read_from(START_LSN);
    let singles: Vec<Record> = std::iter::from_fn(|| reader.next(None).unwrap()).collect();
    assert_eq!(singles.len(), ends.len());
    for bytes in [1, 100, 5_000, 1 << 20, 64 << 20] {
        let (mut reader, mut batch, mut found) = (log.read_from(START_LSN), Batch::default(), 0);
        // The log may have grown after a reader noted its end, so the batches end before the last
        // records.
        let end = ends[ends.len() - 10];
        while reader.next_batch(end, bytes, &mut batch).unwrap() {
            for record in batch.records(0..batch.len()) {
                let single = &singles[found];
                assert_eq!(
                    (record.kind, record.start_lsn, record.lsn),
                    (single.kind, single.start_lsn, single.lsn)
                );
                assert!(record.payload == single.payload && record.lsn <= end);
                found += 1;
            }
        }
        assert_eq!((found, reader.lsn()), (ends.len() - 9, end), "in batches of {bytes}");
        assert!(batch.is_empty());
    }
}

#[test]
fn opening_notes_the_records_that_are_wanted() {
    let mut rng = Rng::new(test_seed("redo opening_notes_the_records_that_are_wanted"));
    let sim = SimDisk::new(rng.u64());
    let log = Log::create(Arc::new(sim.clone()), config()).unwrap();
    let mut wanted = Vec::new();
    for at in 0..600 {
        // Now and then a record is longer than one read. The wanted records are far apart or side
        // by side.
        let len = if rng.one_in(100) { rng.below(2 * MB) } else { rng.below(3000) } as usize;
        let mut payload = vec![0; if at % 200 == 100 { 100_000 } else { len }];
        payload.iter_mut().take(1).for_each(|first| *first = u8::from(at % 200 != 100 && rng.one_in(10)));
        let start_lsn = log.current_lsn();
        let lsn = append(&log, &payload);
        if payload.first() == Some(&1) {
            wanted.push((start_lsn, lsn));
        }
    }
    log.wait_written(log.current_lsn()).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(sim.kill());
    let is_wanted = &mut |kind, head: &[u8]| kind == kind::COMMIT && head.first() == Some(&1);
    let Opened { log, noted, .. } = Log::open_noting(disk, config(), is_wanted).unwrap();
    assert!(noted.len() > 1 && noted.is_sorted_by(|one, next| one.end < next.start));
    // Each stretch begins and ends with a wanted record.
    assert!(noted.iter().all(|stretch| wanted.iter().any(|(start_lsn, _)| *start_lsn == stretch.start)));
    assert!(noted.iter().all(|stretch| wanted.iter().any(|(_, lsn)| *lsn == stretch.end)));
    let (mut found, mut batch) = (Vec::new(), Batch::default());
    for stretch in noted {
        let mut reader = log.read_from(stretch.start);
        while reader.next_batch(stretch.end, 10_000, &mut batch).unwrap() {
            let records = batch.records(0..batch.len()).filter(|record| record.payload.first() == Some(&1));
            found.extend(records.map(|record| (record.start_lsn, record.lsn)));
        }
        assert_eq!(reader.lsn(), stretch.end);
    }
    assert_eq!(found, wanted);
}

#[test]
fn opening_writes_anew_only_what_may_not_be_durable() {
    let sim = SimDisk::new(4);
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let log = Log::create(Arc::clone(&disk), config()).unwrap();
    while log.current_lsn() < START_LSN + 12 * MB {
        log.wait_durable(append(&log, &[3; 50_000])).unwrap();
    }
    log.wait_written(append(&log, &[4; 50_000])).unwrap();
    let end = log.current_lsn();
    let sim = sim.kill();
    drop(log);
    // With this few changes of the disk, the opening cannot write and sync twelve files of a
    // megabyte.
    sim.cut_power_after(10);
    let (log, checkpoint) = Log::open(Arc::new(sim.clone()), config()).unwrap();
    assert_eq!((checkpoint.lsn, log.current_lsn(), log.durable_lsn()), (START_LSN, end, end));
    sim.cut_power_after(u64::MAX);
    // The opening did write and sync what was not durable.
    let (log, _) = Log::open(Arc::new(sim.if_power_went()), config()).unwrap();
    assert_eq!(log.current_lsn(), end);
}
