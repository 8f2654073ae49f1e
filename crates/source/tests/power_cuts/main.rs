//! Tests with a power cut at every write of an engine with a binary log. After recovery the engine
//! and the binary log must have the same transactions in the same order, none missing and none
//! extra, with GTIDs that leave no number out. Some of the transactions are compressed. The workers
//! and the comparison of rows are those of the engine's own test.
//!
//! `SEED=n` plays one seed, `SLIPSTREAM_CUTS=n` asks for another number of cuts.

#[path = "../../../engine/tests/power_cuts/check.rs"]
mod check;
mod files;
#[path = "../../../engine/tests/power_cuts/moments.rs"]
mod moments;
#[path = "../../../engine/tests/power_cuts/state.rs"]
mod state;
#[path = "../../../engine/tests/power_cuts/tables.rs"]
mod tables;
#[path = "../../../engine/tests/power_cuts/worker.rs"]
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use engine::{DdlContext, Engine, EngineConfig, RowImage, SchemaDef, SessionContext};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use parking_lot::Mutex;
use source::error::BinlogError;
use source::{Binlog, BinlogConfig};

use moments::{Checkers, Moment, Watch};
use state::{Histories, History, WorkerState};

const UUID: &str = "11111111-2222-3333-4444-555555555555";
const DATADIR: &str = "/data";
/// The number of cuts in the ordinary run. The engine's own test, without a binary log, makes more.
const CUTS: u64 = 500;

fn config(disk: &SimDisk, rng: &mut Rng) -> EngineConfig {
    let mut config = EngineConfig::new(Arc::new(disk.clone()), DATADIR);
    config.page_size = 4096;
    config.pool_bytes = 4096 * *rng.pick(&[300, 2000]);
    config.redo_capacity_bytes = 4 << 20;
    config.log_buffer_bytes = 64 << 10;
    config.binlog_row_image = *rng.pick(&[RowImage::Full, RowImage::Minimal, RowImage::Noblob]);
    config.innodb_lock_wait_timeout_ms = 500;
    config.lock_wait_timeout_ms = 2000;
    // With the smaller size, transactions go through spill files.
    config.spill_bytes = *rng.pick(&[2 << 10, 8 << 20]);
    config.log_bin = true;
    config.gtid_mode = true;
    config.server_uuid = UUID.parse().expect("a UUID");
    config
}

fn open_binlog(disk: &SimDisk, engine: &Arc<Engine>) -> Result<Arc<Binlog>, BinlogError> {
    let config = BinlogConfig {
        datadir: PathBuf::from(DATADIR),
        basename: "binlog".to_owned(),
        index: None,
        // The files are small, so that rotations are frequent.
        max_file_bytes: 30_000,
        expire_after_s: 0,
        dependency_history_size: 10_000,
        checksum: binlog::Checksum::Crc32,
        server_id: 1,
        server_uuid: UUID.to_owned(),
        server_version: "8.4.0-slipstream".to_owned(),
    };
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Binlog::open(disk, Arc::clone(engine), config)
}

/// Makes an empty database whose schema and shared tables are in the binary log. Returns the number
/// of its last GTID.
fn create(disk: &SimDisk, rng: &mut Rng) -> u64 {
    let engine = Engine::open(config(disk, rng)).expect("an empty disk");
    let binlog = open_binlog(disk, &engine).expect("a disk that works");
    let session = SessionContext::default();
    let context = DdlContext::new("CREATE", tables::SCHEMA, &session);
    engine
        .create_schema(SchemaDef { name: tables::SCHEMA.to_owned(), collation: 255 }, &context)
        .expect("no schema yet");
    for def in [tables::keyed(), tables::keyless()] {
        engine.create_table(def, &context).expect("no table yet");
    }
    binlog.close();
    engine.close().expect("the disk works");
    let executed = engine.gtid_executed();
    executed.last_gno(UUID.parse::<binlog::gtid::Uuid>().expect("a UUID"))
}

/// Recovers the engine and the binary log from what a power cut left, and checks that both are in a
/// possible state.
fn check_moment(moment: Moment, workers: i64, rng: &mut Rng, place: &str) {
    let mut disk = moment.disk;
    // Some cuts come while the binary log is being brought up to the end of the redo log.
    if rng.one_in(4) {
        disk.cut_power_after(rng.below(80));
        if let Ok(engine) = Engine::open(config(&disk, rng)) {
            match open_binlog(&disk, &engine) {
                Ok(binlog) => binlog.close(),
                Err(error) => assert!(disk.is_off(), "{place}: the binary log does not open: {error}"),
            }
        } else {
            assert!(disk.is_off(), "{place}: recovery failed");
        }
        disk = disk.power_cut();
    }
    let config = EngineConfig { background: false, ..config(&disk, rng) };
    let engine = Engine::open(config).unwrap_or_else(|error| panic!("{place}: recovery failed: {error}"));
    let binlog = open_binlog(&disk, &engine).unwrap_or_else(|error| panic!("{place}: {error}"));
    let recovered = check::compare(&check::read_all(&engine, workers), &moment.possible, place);
    binlog.close();
    files::compare(&disk, &engine, &recovered, place);
}

fn moments_of_one_database(seed: u64, workers: usize, steps: u64, one_in: u64) -> u64 {
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new(seed);
    create(&disk, &mut rng);
    let new_history = |_| Arc::new(Mutex::new(History::new(WorkerState::default())));
    let histories: Histories = (0..workers).map(new_history).collect();
    let (watch, moments) = Watch::start(&disk, &histories, one_in, rng.u64());
    let checkers = Checkers::start(moments, seed, move |moment, rng, place| {
        check_moment(moment, workers as i64, rng, place);
    });
    let engine = Engine::open(config(&disk, &mut rng)).expect("the disk works");
    let binlog = open_binlog(&disk, &engine).expect("a disk that works");
    moments::run_workers(&engine, &disk, &histories, steps, &mut rng);
    binlog.close();
    engine.close().expect("the disk works");
    histories.iter().for_each(|history| history.lock().acknowledged());
    watch.end();
    checkers.end()
}

#[test]
fn the_binary_log_is_what_was_recovered_wherever_the_power_goes() {
    let seed = test_seed("the_binary_log_is_what_was_recovered");
    let (mut cuts, mut databases) = (0, 0);
    while cuts < moments::cuts_wanted(CUTS) {
        let seed = seed.wrapping_add(databases);
        cuts += match databases % 2 {
            0 => moments_of_one_database(seed, 1, 40, 1),
            _ => moments_of_one_database(seed, 4, 60, 4),
        };
        databases += 1;
        println!("{cuts} cuts in {databases} databases");
    }
    let compressed = files::COMPRESSED.load(std::sync::atomic::Ordering::Relaxed);
    println!("{compressed} compressed transactions read");
}
