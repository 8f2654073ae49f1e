//! Measures what the tree's operations cost on cached pages: `cargo run --release -p btree
//! --example tree_rates [rows]`.
//!
//! The rows are like sysbench's: an 8-byte key and a value of 200 bytes. The program prints
//! nanoseconds per operation and asserts nothing about them.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use btree::{Change, Direction, Tree, validate};
use buffer::{Pool, PoolConfig, RecordLsn};
use os::clock::Stopwatch;
use os::disk::Disk;
use os::random::Rng;
use os::sim::SimDisk;
use redo::{Log, LogConfig};

const SPACE: u32 = 1;
const VALUE_BYTES: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A server's threads have such an account too: requests for pages are counted in it.
    let _account = os::account::enter(os::account::State::Execute);
    let rows: u64 = std::env::args().nth(1).map_or(Ok(250_000), |text| text.parse())?;
    let tree = empty_tree(rows as usize * 260 + (64 << 20))?;
    let start = tree.pool().log().current_lsn();
    let lsn = RecordLsn::new(start, start + 1);
    rate("ascending insert", rows, |number| insert(&tree, number, lsn))?;
    let mut rng = Rng::new(1);
    let keys: Vec<[u8; 8]> = (0..1_000_000).map(|_| rng.below(rows).to_be_bytes()).collect();
    let key = |number: u64| &keys[number as usize];
    let count = keys.len() as u64;
    rate("random get", count, |number| tree.get(key(number), |value| value[0]).map(|_| ()))?;
    let new = [7; VALUE_BYTES];
    rate("random modify, same length", count, |number| {
        tree.modify(key(number), lsn, |_| Change::Put((&new[..]).into()))
    })?;
    rate("random modify, located 16 at a time", count / 16, |number| {
        let keys = &keys[number as usize * 16..][..16];
        let mut spots: Vec<_> = keys.iter().map(|key| tree.locate(key)).collect();
        spots.iter_mut().for_each(|spot| tree.prefetch(spot));
        spots.iter().try_for_each(|spot| tree.modify_at(spot, lsn, |_| Change::Put((&new[..]).into())))
    })?;
    threads(&tree, 2, &keys, lsn);
    let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    rate("scan, per row", rows, |_| scan.next().map(drop))?;
    rate("random 100-row scan", 20_000, |number| {
        let mut scan = tree.scan(Bound::Included(key(number)), Bound::Unbounded, Direction::Forward);
        (0..100).try_for_each(|_| scan.next().map(drop))
    })?;
    let other = Tree::create(tree.pool(), SPACE)?;
    rate("random insert", count / 4, |number| {
        let key = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
        other.modify(&key, lsn, |_| Change::Put((&new[..60]).into()))
    })?;
    println!("{:?}", validate(&tree)?);
    Ok(())
}

fn empty_tree(pool_bytes: usize) -> Result<Tree, Box<dyn std::error::Error>> {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
    let datadir = Path::new("/data");
    disk.create_dir_all(datadir)?;
    let log = Log::create(Arc::clone(&disk), LogConfig::new(datadir))?;
    let pool = Pool::open(disk, log, PoolConfig::new(datadir, pool_bytes))?;
    pool.create_space(SPACE, &datadir.join("t.ibd"))?;
    Ok(Tree::create(&pool, SPACE)?)
}

fn insert(tree: &Tree, number: u64, lsn: RecordLsn) -> btree::Result<()> {
    tree.modify(&number.to_be_bytes(), lsn, |_| Change::put(vec![number as u8; VALUE_BYTES]))
}

fn rate(what: &str, count: u64, mut operation: impl FnMut(u64) -> btree::Result<()>) -> btree::Result<()> {
    // The time is that of this thread's processor, so that other processes distort it less.
    let start_ns = os::clock::thread_cpu_ns();
    (0..count).try_for_each(&mut operation)?;
    println!("{what}: {:.0} ns", (os::clock::thread_cpu_ns() - start_ns) as f64 / count as f64);
    Ok(())
}

/// Measures the same modifications by several threads at once.
fn threads(tree: &Tree, count: usize, keys: &[[u8; 8]], lsn: RecordLsn) {
    let watch = Stopwatch::start();
    let work = |tree: Tree, keys: Vec<[u8; 8]>| {
        move || {
            let new = [8; VALUE_BYTES];
            keys.iter().try_for_each(|key| tree.modify(key, lsn, |_| Change::Put((&new[..]).into())))
        }
    };
    let parts = keys.chunks(keys.len() / count);
    let threads: Vec<_> =
        parts.map(|part| os::thread::spawn("modify", work(tree.clone(), part.to_vec()))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic").expect("no error"));
    println!(
        "random modify, {count} threads: {:.0} ns each",
        watch.elapsed_ns() as f64 * count as f64 / keys.len() as f64
    );
}
