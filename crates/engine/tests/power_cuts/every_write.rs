//! Cutting the power at each moment of one life of a database.

use std::sync::Arc;

use engine::{Engine, EngineConfig};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use parking_lot::Mutex;

use crate::moments::{Checkers, Watch, cuts_wanted, run_workers};
use crate::state::{Histories, History, WorkerState};
use crate::{PAGE_BYTES, check, config, create};

/// The number of cuts that the ordinary run makes. `SLIPSTREAM_CUTS` asks for another number.
const CUTS: u64 = 2000;

/// Recovers, sometimes with a further power cut meanwhile.
pub fn recover(
    mut disk: SimDisk,
    config: impl Fn(&SimDisk) -> EngineConfig,
    rng: &mut Rng,
    place: &str,
) -> Arc<Engine> {
    loop {
        let is_cut = rng.one_in(4);
        if is_cut {
            disk.cut_power_after(rng.below(60));
        }
        match Engine::open(config(&disk)) {
            // If a cut was planned, the disk would still fail after the rest of its changes.
            Ok(engine) if !is_cut => return engine,
            Ok(engine) => drop(engine),
            Err(error) => assert!(is_cut && disk.is_off(), "{place}: recovery failed: {error}"),
        }
        disk = disk.power_cut();
    }
}

/// Cuts one database at each moment of one life. Returns the number of moments.
fn moments_of_one_database(seed: u64, workers: usize, steps: u64, one_in: u64) -> u64 {
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new(seed);
    let page_bytes = *rng.pick(&PAGE_BYTES);
    create(&disk, page_bytes, &mut rng);
    let disk = disk.kill();
    let histories: Histories =
        (0..workers).map(|_| Arc::new(Mutex::new(History::new(WorkerState::default())))).collect();
    let (watch, moments) = Watch::start(&disk, &histories, one_in, rng.u64());
    let checkers = Checkers::start(moments, seed, move |moment, rng, place| {
        let config = |disk: &SimDisk| EngineConfig {
            background: false,
            ..config(disk, page_bytes, &mut Rng::new(seed))
        };
        let engine = recover(moment.disk, config, rng, place);
        check::compare(&check::read_all(&engine, workers as i64), &moment.possible, place);
    });
    let life = config(&disk, page_bytes, &mut rng);
    let (doublewrite, spill_bytes) = (life.pool.doublewrite, life.spill_bytes);
    let engine = Engine::open(life).expect("the disk works");
    run_workers(&engine, &disk, &histories, steps, &mut rng);
    engine.close().expect("the disk works");
    histories.iter().for_each(|history| history.lock().acknowledged());
    watch.end();
    let cuts = checkers.end();
    println!(
        "{cuts} cuts: pages of {page_bytes} bytes, doublewrite {doublewrite:?}, spilling from {spill_bytes} bytes"
    );
    cuts
}

#[test]
fn the_power_goes_at_every_write() {
    let seed = test_seed("the_power_goes_at_every_write");
    let (mut cuts, mut databases) = (0, 0);
    while cuts < cuts_wanted(CUTS) {
        let seed = seed.wrapping_add(databases);
        // Each database is cut at every write of a short run by one worker, or at some writes of a
        // longer run by four workers, whose writes are gathered, or by one.
        cuts += match databases % 3 {
            0 => moments_of_one_database(seed, 1, 30, 1),
            1 => moments_of_one_database(seed, 4, 60, 3),
            _ => moments_of_one_database(seed, 1, 300, 5),
        };
        databases += 1;
    }
    println!("{cuts} cuts in {databases} databases");
}
