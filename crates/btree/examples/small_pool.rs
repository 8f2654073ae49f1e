//! Measures random changes to a table much larger than the pool, on a real disk: `cargo run
//! --release -p btree --example small_pool -- DIR [rows] [pool MB] [threads] [changes]`. DIR must
//! not exist; it is removed at the end. The program prints changes per second, the pool's counters,
//! and where each kind of thread spent its time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use btree::{BuildOptions, Change, Tree, build_sorted, validate};
use buffer::{Pool, PoolConfig, RecordLsn};
use os::clock::Stopwatch;
use os::random::Rng;
use redo::{Log, LogConfig};

const SPACE: u32 = 1;
const VALUE_BYTES: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = PathBuf::from(args.first().ok_or("name a directory to be made")?);
    let number = |at: usize, default: u64| args.get(at).map_or(Ok(default), |text| text.parse());
    let (rows, pool_mb, threads, changes) =
        (number(1, 500_000)?, number(2, 5)?, number(3, 4)?, number(4, 200_000)?);
    let disk = os::disk::real();
    if disk.exists(&dir)? {
        return Err(format!("{} exists", dir.display()).into());
    }
    disk.create_dir_all(&dir)?;
    let tree = filled_tree(&dir, rows, pool_mb as usize)?;
    let before = tree.pool().status();
    let watch = Stopwatch::start();
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            let tree = tree.clone();
            os::thread::spawn("changer", move || change(&tree, worker, rows, changes / threads))
        })
        .collect();
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    println!("{:.0} changes a second", changes as f64 / watch.elapsed().as_secs_f64());
    tree.pool().stop();
    let after = tree.pool().status();
    for ((name, before), (_, after)) in before.variables().into_iter().zip(after.variables()) {
        println!("{name}: {before} -> {after}");
    }
    for thread in os::account::snapshot() {
        let states = thread.states.iter().filter(|time| time.wall_ns > 10_000_000);
        let texts: Vec<String> = states
            .map(|time| {
                format!(
                    "{} {} ms ({} cpu)",
                    time.state.name(),
                    time.wall_ns / 1_000_000,
                    time.cpu_ns / 1_000_000
                )
            })
            .collect();
        println!("{}: {}", thread.name, texts.join(", "));
    }
    println!("{:?}", validate(&tree)?);
    Ok(disk.remove_dir_all(&dir)?)
}

fn filled_tree(dir: &Path, rows: u64, pool_mb: usize) -> Result<Tree, Box<dyn std::error::Error>> {
    let disk = os::disk::real();
    // The log has room for the whole run, because only the engine makes checkpoints.
    let mut config = LogConfig::new(dir);
    config.capacity_bytes = 8 << 30;
    let log = Log::create(Arc::clone(&disk), config)?;
    let pool = Pool::open(disk, log, PoolConfig::new(dir, pool_mb << 20))?;
    pool.start_cleaners();
    pool.create_space(SPACE, &dir.join("t.ibd"))?;
    let tree = Tree::create(&pool, SPACE)?;
    build_sorted(&tree, BuildOptions::default(), (0..rows).map(|row| (row.to_be_bytes(), [1; VALUE_BYTES])))?;
    Ok(tree)
}

fn change(tree: &Tree, worker: u64, rows: u64, changes: u64) -> btree::Result<()> {
    let mut rng = Rng::new(worker);
    let log = tree.pool().log();
    for number in 0..changes {
        let key = rng.below(rows).to_be_bytes();
        let value = [number as u8; VALUE_BYTES];
        log.free_check();
        let reservation = log.reserve(VALUE_BYTES as u64).expect("it is short");
        let lsn = RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
        reservation.fill(redo::kind::COMMIT, &[&value]);
        tree.modify(&key, lsn, |_| Change::Put((&value[..]).into()))?;
    }
    Ok(())
}
