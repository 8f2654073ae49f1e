//! What recovery needs of the log: records in batches, and an opening that costs no more than it must.

use std::path::PathBuf;
use std::sync::Arc;

use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Batch, Log, LogConfig, Lsn, Record, START_LSN, kind};

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
    // Longer than a file of the log now and then.
    let lens: Vec<u64> =
        (0..600).map(|_| if rng.one_in(100) { rng.below(2 * MB) } else { rng.below(3000) }).collect();
    let ends: Vec<Lsn> = lens.iter().map(|&len| append(&log, &rng.bytes(len as usize))).collect();
    log.wait_written(log.current_lsn()).unwrap();
    let mut reader = log.read_from(START_LSN);
    let singles: Vec<Record> = std::iter::from_fn(|| reader.next(None).unwrap()).collect();
    assert_eq!(singles.len(), ends.len());
    for bytes in [1, 100, 5_000, 1 << 20, 64 << 20] {
        let (mut reader, mut batch, mut found) = (log.read_from(START_LSN), Batch::default(), 0);
        // The log may have grown since its end was looked at.
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
    // Twelve files of a megabyte and their syncs would not do with this many changes.
    sim.cut_power_after(10);
    let (log, checkpoint) = Log::open(Arc::new(sim.clone()), config()).unwrap();
    assert_eq!((checkpoint.lsn, log.current_lsn(), log.durable_lsn()), (START_LSN, end, end));
    sim.cut_power_after(u64::MAX);
    // And what was not, it did write and sync.
    let (log, _) = Log::open(Arc::new(sim.if_power_went()), config()).unwrap();
    assert_eq!(log.current_lsn(), end);
}
