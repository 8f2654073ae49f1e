//! Tests with random work on a simulated disk: at a random write the power goes or the process is
//! killed, and many lives of one log follow each other.
//!
//! After every cut the log that is found must be a prefix of what was appended, and hold everything
//! that a wait had returned for. Nothing of a tail that was cut off may ever come back, in this
//! life or in a later one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use parking_lot::Mutex;
use redo::{Checkpoint, Log, LogConfig, Lsn, RedoError, START_LSN, kind};

/// Capacities for which the log has files of three sizes.
const CAPACITIES: [u64; 4] = [4 << 20, 6 << 20, 40 << 20, 64 << 20];

fn config(rng: &mut Rng) -> LogConfig {
    LogConfig {
        dir: PathBuf::from("/data"),
        capacity_bytes: *rng.pick(&CAPACITIES),
        buffer_bytes: 64 << 10,
        flush_at_trx_commit: 1,
        writer_threads: rng.one_in(3),
    }
}

/// What was appended, and what was promised about it.
#[derive(Default)]
struct Model {
    /// The end LSN and the payload of each record, by the LSN at which it starts.
    records: BTreeMap<Lsn, (Lsn, Vec<u8>)>,
    durable_lsn: Lsn,
    /// The newest checkpoint that was acknowledged.
    checkpoint: Checkpoint,
    /// The checkpoint that was being written when the life ended.
    attempt: Option<Checkpoint>,
}

/// Returns a random payload. There are few lengths, so that a record of one life often ends exactly
/// where a record of a cut-off tail began.
fn payload(rng: &mut Rng) -> Vec<u8> {
    let len = *rng.pick(&[1, 40, 40, 40, 400, 400, 5000, 150_000]);
    let mut bytes = vec![rng.u64() as u8; len];
    let head = len.min(8);
    rng.fill(&mut bytes[..head]);
    bytes
}

/// Appends, waits and makes checkpoints until the disk dies or the steps are done.
fn work(log: &Log, model: &Mutex<Model>, mut rng: Rng, steps: u64) -> Result<(), RedoError> {
    for _ in 0..steps {
        if log.current_lsn() - log.checkpoint_lsn() < 3 << 20 {
            let bytes = payload(&mut rng);
            let reservation = log.reserve(bytes.len() as u64)?;
            let (start, end) = (reservation.start_lsn(), reservation.end_lsn());
            model.lock().records.insert(start, (end, bytes.clone()));
            reservation.fill(kind::COMMIT, &[&bytes]);
            match rng.below(6) {
                0 | 1 => {
                    log.wait_durable(end)?;
                    let mut model = model.lock();
                    model.durable_lsn = model.durable_lsn.max(end);
                }
                2 => log.wait_written(end)?,
                3 => log.request_durable(end),
                _ => {}
            }
        }
        if rng.one_in(40) {
            checkpoint(log, model, &mut rng)?;
        }
        if rng.one_in(30) {
            log.set_capacity(*rng.pick(&CAPACITIES));
        }
        if rng.one_in(60) {
            log.set_writer_threads(rng.one_in(2));
        }
    }
    Ok(())
}

fn checkpoint(log: &Log, model: &Mutex<Model>, rng: &mut Rng) -> Result<(), RedoError> {
    let chosen = {
        let mut model = model.lock();
        if model.attempt.is_some() {
            return Ok(()); // Another thread makes a checkpoint.
        }
        let after = model.checkpoint.lsn;
        let starts: Vec<Lsn> = model.records.range(after..).map(|(&start, _)| start).collect();
        if starts.is_empty() {
            return Ok(());
        }
        let len = rng.below(3000) as usize;
        let chosen = Checkpoint { lsn: *rng.pick(&starts), state: rng.bytes(len) };
        model.attempt = Some(chosen.clone());
        chosen
    };
    log.write_checkpoint(chosen.lsn, &chosen.state)?;
    let mut model = model.lock();
    model.checkpoint = chosen;
    model.attempt = None;
    Ok(())
}

/// Opens the log that is left and compares it with the model, which is then cut to what was found.
fn recover(disk: &SimDisk, config: LogConfig, model: &mut Model) -> Result<Arc<Log>, RedoError> {
    let (log, found) = Log::open(Arc::new(disk.clone()), config)?;
    assert!(found == model.checkpoint || Some(&found) == model.attempt.as_ref(), "an unknown checkpoint");
    model.checkpoint = found;
    model.attempt = None;
    let mut lsn = model.checkpoint.lsn;
    let mut reader = log.read_from(lsn);
    while let Some(record) = reader.next(None)? {
        assert_eq!(record.start_lsn, lsn);
        let (end, bytes) = model.records.get(&lsn).unwrap_or_else(|| panic!("nothing was appended at {lsn}"));
        assert!(record.lsn == *end && record.payload == *bytes, "another record was appended at {lsn}");
        lsn = record.lsn;
    }
    assert_eq!(lsn, log.current_lsn());
    assert!(lsn >= model.durable_lsn, "durable up to {}, found up to {lsn}", model.durable_lsn);
    // What was found is synced by now, so it counts as promised from here on.
    assert_eq!(log.durable_lsn(), lsn);
    model.durable_lsn = lsn;
    model.records.retain(|&start, _| start < lsn);
    Ok(log)
}

/// Returns the disk as the end of a life leaves it.
fn end_life(disk: &SimDisk, rng: &mut Rng) -> SimDisk {
    if rng.one_in(4) { disk.kill() } else { disk.power_cut() }
}

fn many_lives_of_one_log(seed: u64, threads: u64) {
    let mut rng = Rng::new(seed);
    let mut disk = SimDisk::new(seed);
    let checkpoint = Checkpoint { lsn: START_LSN, state: Vec::new() };
    let model = Arc::new(Mutex::new(Model { checkpoint, durable_lsn: START_LSN, ..Model::default() }));
    drop(Log::create(Arc::new(disk.clone()), config(&mut rng)).expect("an empty disk"));
    for _ in 0..12 {
        // Some lives end while the log is being opened.
        disk.cut_power_after(if rng.one_in(4) { rng.below(20) } else { rng.below(600) });
        if rng.one_in(8) {
            disk.fail_sync("#ib_redo");
        }
        let opened = recover(&disk, config(&mut rng), &mut model.lock());
        if let Ok(log) = opened {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    let (log, model, rng) = (Arc::clone(&log), Arc::clone(&model), Rng::new(rng.u64()));
                    os::thread::spawn("worker", move || work(&log, &model, rng, 400))
                })
                .collect();
            for worker in workers {
                let ended = worker.join().expect("no panic");
                assert!(ended.is_ok() || disk.is_off(), "{ended:?}");
            }
            drop(log);
        } else {
            let error = opened.expect_err("it is no log");
            assert!(disk.is_off() || error.to_string().contains("simulated sync failed"), "{error}");
        }
        disk = end_life(&disk, &mut rng);
    }
    recover(&disk, config(&mut rng), &mut model.lock()).expect("nothing fails any more");
}

#[test]
fn a_single_threads_log_survives_every_cut() {
    let seed = test_seed("a_single_threads_log_survives_every_cut");
    for round in 0..10 {
        many_lives_of_one_log(seed.wrapping_add(round), 1);
    }
}

#[test]
fn a_shared_log_survives_every_cut() {
    let seed = test_seed("a_shared_log_survives_every_cut");
    for round in 0..10 {
        many_lives_of_one_log(seed.wrapping_add(round), 3);
    }
}

#[test]
fn a_creation_that_a_cut_interrupts_is_done_again() {
    let seed = test_seed("a_creation_that_a_cut_interrupts_is_done_again");
    for round in 0..40 {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let config = config(&mut rng);
        let disk = SimDisk::new(seed.wrapping_add(round));
        disk.cut_power_after(round / 2);
        let created = Log::create(Arc::new(disk.clone()), config.clone()).is_ok();
        let disk = end_life(&disk, &mut rng);
        match Log::open(Arc::new(disk.clone()), config.clone()) {
            Ok((log, _)) => assert_eq!(log.current_lsn(), START_LSN),
            Err(RedoError::Missing(_) | RedoError::Corrupt(_)) if !created => {
                Log::create(Arc::new(disk), config).expect("nothing is in the way");
            }
            Err(error) => panic!("created {created}: {error}"),
        }
    }
}

#[test]
fn a_tail_cut_off_by_a_crash_never_comes_back() {
    // Record 1 is lost and record 2 of the same life is on disk. A new record 1 of the same length
    // ends where record 2 begins.
    let seed = test_seed("a_tail_cut_off_by_a_crash_never_comes_back");
    for round in 0..30 {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let config = LogConfig { capacity_bytes: 4 << 20, ..config(&mut rng) };
        let disk = SimDisk::new(seed.wrapping_add(round));
        let log = Log::create(Arc::new(disk.clone()), config.clone()).unwrap();
        let append = |log: &Log, byte: u8| log.reserve(600).unwrap().fill(kind::COMMIT, &[&[byte; 600]]);
        let ends: Vec<Lsn> = (0..20).map(|number| append(&log, number)).collect();
        log.wait_durable(ends[19]).unwrap();
        let torn = rng.below(19);
        let file = PathBuf::from("/data/#innodb_redo/#ib_redo0");
        disk.flip_bit(&file, (4096 + ends[torn as usize] - START_LSN + 300) * 8);
        drop(log);
        let disk = end_life(&disk, &mut rng);
        let (log, _) = Log::open(Arc::new(disk.clone()), config.clone()).unwrap();
        assert_eq!(log.current_lsn(), ends[torn as usize]);
        let new_end = append(&log, 200);
        log.wait_durable(new_end).unwrap();
        let (log_again, _) = Log::open(Arc::new(disk.power_cut()), config).unwrap();
        assert_eq!(log_again.current_lsn(), new_end, "the old successor came back");
    }
}

/// A process is killed while it makes a checkpoint, and the power goes while the next process opens
/// the log. That process must not write over the older checkpoint while the newer one is not
/// durable. The state is longer than a sector, so that a slot can be there in part.
#[test]
fn an_acknowledged_checkpoint_survives_a_kill_and_then_a_cut() {
    let seed = test_seed("an_acknowledged_checkpoint_survives_a_kill_and_then_a_cut");
    for round in 0..600 {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let config = LogConfig { capacity_bytes: 4 << 20, ..config(&mut rng) };
        let disk = SimDisk::new(seed.wrapping_add(round));
        let log = Log::create(Arc::new(disk.clone()), config.clone()).unwrap();
        let append = || log.reserve(100).unwrap().fill(kind::COMMIT, &[&[1; 100]]);
        let (first, second) = (append(), append());
        log.write_checkpoint(first, &[1; 3000]).unwrap();
        disk.cut_power_after(round % 3);
        let made_second = log.write_checkpoint(second, &[2; 3000]).is_ok();
        let disk = disk.kill();
        drop(log);
        disk.cut_power_after(rng.below(6));
        let _ = Log::open(Arc::new(disk.clone()), config.clone()).is_ok();
        let (_, found) = Log::open(Arc::new(disk.power_cut()), config).unwrap();
        assert!(found.lsn == second || (found.lsn == first && !made_second), "round {round}: {found:?}");
    }
}
