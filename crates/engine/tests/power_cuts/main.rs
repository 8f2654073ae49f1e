//! A crash test of the whole engine. Workers change rows, indexes, long values and definitions on a
//! simulated disk whose power fails, or whose process is killed, at a random write. The engine
//! recovers, and what it finds is compared with a model. One database lives through many such
//! lives.
//!
//! After each life this must hold: every commit that was acknowledged as durable is there; the
//! transactions found of each worker are a prefix, and so are all commits together; no transaction
//! is there in half; every index agrees with its table.
//!
//! `SEED=n` plays one seed. The order of threads is not part of the seed, so a failure may take
//! several runs to come again.

mod check;
mod every_write;
mod moments;
mod state;
mod tables;
mod worker;

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use buffer::Doublewrite;
use engine::{DdlContext, Engine, EngineConfig, RowImage, SchemaDef, SessionContext};
use os::clock::Stopwatch;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use parking_lot::Mutex;

use state::{Histories, History, Step, WorkerState};
use tables::SCHEMA;
use worker::{BinlogFormat, Worker};

/// How long each test of this file goes on.
const BUDGET: Duration = Duration::from_secs(20);
/// How long a worker may be stuck on a dead disk, where a real process would have ended.
const STUCK: Duration = Duration::from_millis(300);
/// How long a worker may be stuck on a disk that works, on a machine that is busy with other
/// things.
const HANGING: Duration = Duration::from_secs(120);

/// The page sizes that the tests draw from.
const PAGE_BYTES: [u32; 2] = [4096, 16384];

fn config(disk: &SimDisk, page_bytes: u32, rng: &mut Rng) -> EngineConfig {
    let mut config = EngineConfig::new(Arc::new(disk.clone()), "/data");
    config.page_size = page_bytes;
    // The pool is small also because engines on a dead disk are left to themselves, with their
    // pools.
    config.pool_bytes = u64::from(page_bytes) * *rng.pick(&[100, 300, 500]);
    config.redo_capacity_bytes = *rng.pick(&[4 << 20, 8 << 20]);
    config.log_buffer_bytes = 64 << 10;
    config.binlog_row_image = *rng.pick(&[RowImage::Full, RowImage::Minimal, RowImage::Noblob]);
    config.innodb_lock_wait_timeout_ms = 500;
    config.lock_wait_timeout_ms = 2000;
    // With the smaller size transactions go through files.
    config.spill_bytes = *rng.pick(&[2 << 10, 8 << 20]);
    config.pool.doublewrite = *rng.pick(&[Doublewrite::Parallel, Doublewrite::Legacy]);
    config.pool.instances = *rng.pick(&[1, 4]);
    config.pool.lru_flushers = rng.one_in(2);
    config.pool.single_page_flush = rng.one_in(2);
    config
}

/// Makes an empty, durable database.
fn create(disk: &SimDisk, page_bytes: u32, rng: &mut Rng) {
    let engine = Engine::open(config(disk, page_bytes, rng)).expect("an empty disk");
    let session = SessionContext::default();
    let context = DdlContext::new("CREATE", SCHEMA, &session);
    engine
        .create_schema(SchemaDef { name: SCHEMA.to_owned(), collation: 255 }, &context)
        .expect("no schema yet");
    for def in [tables::keyed(), tables::keyless()] {
        engine.create_table(def, &context).expect("no table yet");
    }
    engine.close().expect("the disk works");
}

/// Runs the workers until they are done or the disk is dead. An engine on a dead disk is left to
/// itself: its threads may wait for ever, where a real process would have ended.
fn work(engine: Arc<Engine>, disk: &SimDisk, histories: &Histories, rng: &mut Rng) {
    let (done, finished) = mpsc::channel();
    for (number, history) in histories.iter().enumerate() {
        let worker = Worker {
            engine: Arc::clone(&engine),
            disk: disk.clone(),
            number: number as i64,
            workers: histories.len() as i64,
            format: BinlogFormat::Row,
            rng: Rng::new(rng.u64()),
            history: Arc::clone(history),
        };
        let done = done.clone();
        os::thread::spawn("worker", move || {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker.run(150)));
            let _ = done.send(outcome.is_ok());
        });
    }
    let (mut left, mut stuck, since) = (histories.len(), None, Stopwatch::start());
    while left > 0 {
        match finished.recv_timeout(Duration::from_millis(20)) {
            Ok(sound) => {
                assert!(sound, "a worker found something wrong, see above");
                left -= 1;
            }
            Err(_) if disk.is_off() => {
                let since = stuck.get_or_insert_with(Stopwatch::start);
                if since.elapsed() > STUCK {
                    break;
                }
            }
            Err(_) => assert!(since.elapsed() < HANGING, "{left} workers hang"),
        }
    }
    if !disk.is_off() && rng.one_in(3) {
        match engine.close() {
            Ok(()) => histories.iter().for_each(|history| history.lock().acknowledged()),
            Err(error) => assert!(disk.is_off(), "closing failed: {error}"),
        }
    }
    // The engine's threads end, as far as they can on a dead disk.
    os::thread::spawn("closer", move || engine.close());
}

/// Returns the steps that each worker may be at now that the disk is dead.
fn possible(histories: &Histories) -> Vec<Vec<Step>> {
    let possible = |history: &Arc<Mutex<History>>| {
        let history = history.lock();
        history.possible(history.promised())
    };
    histories.iter().map(possible).collect()
}

/// Runs one database through some lives.
fn lives_of_one_database(seed: u64, workers: i64, lives: u64, since: &Stopwatch) {
    let mut rng = Rng::new(seed);
    let mut disk = SimDisk::new(seed);
    let page_bytes = *rng.pick(&PAGE_BYTES);
    create(&disk, page_bytes, &mut rng);
    let mut states = vec![WorkerState::default(); workers as usize];
    for life in 0..lives {
        // Some crashes come during the recovery from the crash before.
        let mut attempts = 0;
        let engine = loop {
            disk = if rng.one_in(4) { disk.kill() } else { disk.power_cut() };
            if rng.one_in(3) && attempts < 3 {
                disk.cut_power_after(rng.below(60));
                attempts += 1;
            }
            match Engine::open(config(&disk, page_bytes, &mut rng)) {
                Ok(engine) => break engine,
                Err(error) => assert!(disk.is_off(), "seed {seed} life {life}: recovery failed: {error}"),
            }
        };
        let histories: Histories =
            states.iter().map(|state| Arc::new(Mutex::new(History::new(state.clone())))).collect();
        disk.cut_power_after(rng.below(3000));
        work(engine, &disk, &histories, &mut rng);
        disk = if rng.one_in(4) { disk.kill() } else { disk.power_cut() };
        let engine = Engine::open(config(&disk, page_bytes, &mut rng))
            .unwrap_or_else(|error| panic!("seed {seed} life {life}: recovery failed: {error}"));
        let found = check::read_all(&engine, workers);
        let possible = possible(&histories);
        check::compare(&found, &possible, &format!("seed {seed} life {life}"));
        states = found;
        drop(engine);
        if since.elapsed() > BUDGET {
            return;
        }
    }
}

fn run(name: &str, workers: i64) {
    let (seed, since) = (test_seed(name), Stopwatch::start());
    let mut databases = 0;
    while databases == 0 || since.elapsed() < BUDGET {
        lives_of_one_database(seed.wrapping_add(databases), workers, 6, &since);
        databases += 1;
    }
    println!("{name}: {databases} databases");
}

#[test]
fn one_worker_and_a_crash() {
    run("one_worker_and_a_crash", 1);
}

#[test]
fn many_workers_and_a_crash() {
    run("many_workers_and_a_crash", 4);
}
