//! Tests of copies of a log that goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Log, LogConfig, Lsn, Record, RedoError, kind};

fn config(dir: &str) -> LogConfig {
    LogConfig {
        dir: PathBuf::from(dir),
        capacity_bytes: 4 << 20,
        buffer_bytes: 64 << 10,
        flush_at_trx_commit: 1,
        writer_threads: false,
    }
}

fn append(log: &Log, payload: &[u8]) -> Lsn {
    let end = log.reserve(payload.len() as u64).expect("it fits").fill(kind::COMMIT, &[payload]);
    log.wait_written(end).expect("written");
    end
}

fn records(log: &Log, from: Lsn) -> Vec<Record> {
    let mut reader = log.read_from(from);
    std::iter::from_fn(|| reader.next(None).expect("the log is sound")).collect()
}

/// The copy has exactly the records up to its end, although checkpoints recycle the files of the
/// log meanwhile, and goes on as a log of its own.
#[test]
fn a_copy_has_all_records_from_its_checkpoint_to_its_end() {
    let seed = test_seed("a_copy_has_all_records_from_its_checkpoint_to_its_end");
    for round in 0..20 {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(seed.wrapping_add(round)));
        let log = Log::create(Arc::clone(&disk), config("/data")).unwrap();
        let begin = append(&log, b"before");
        log.write_checkpoint(begin, b"old state").unwrap();
        let mut copy = log.copy_to(&disk, Path::new("/copy")).unwrap();
        assert_eq!((copy.checkpoint().lsn, &copy.checkpoint().state[..]), (begin, &b"old state"[..]));
        let (mut end, mut expected) = (begin, Vec::new());
        for _ in 0..rng.below(200) {
            let payload = vec![rng.below(256) as u8; rng.below(120_000) as usize];
            let start_lsn = end;
            end = append(&log, &payload);
            expected.push(Record { kind: kind::COMMIT, start_lsn, lsn: end, payload });
            match rng.below(4) {
                0 => log.write_checkpoint(end, b"new state").unwrap(),
                1 => copy.advance().unwrap(),
                _ => {}
            }
        }
        assert!(matches!(Log::open(disk.clone(), config("/copy")), Err(RedoError::Missing(_))));
        copy.finish(end, b"state of the copy".to_vec()).unwrap();
        append(&log, b"after the copy");
        let (copied, checkpoint) = Log::open(disk.clone(), config("/copy")).unwrap();
        assert_eq!((checkpoint.lsn, &checkpoint.state[..]), (begin, &b"state of the copy"[..]));
        assert_eq!(records(&copied, begin), expected, "round {round}");
        append(&copied, b"its own");
        assert_eq!(records(&copied, end).len(), 1);
    }
}

/// A copy that is not advanced loses its hold, and says so; the log does not grow for ever.
#[test]
fn a_copy_that_falls_behind_ends_with_an_error() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
    let log = Log::create(Arc::clone(&disk), config("/data")).unwrap();
    let mut copy = log.copy_to(&disk, Path::new("/copy")).unwrap();
    let payload = vec![7; 1 << 20];
    for _ in 0..300 {
        let end = append(&log, &payload);
        log.write_checkpoint(end, b"").unwrap();
    }
    assert!(matches!(copy.advance(), Err(RedoError::Gone { .. })), "{:?}", log.status());
}
