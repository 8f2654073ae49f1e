//! Tests with readers, writers and scanners of one tree at once, on a pool that holds the whole
//! tree and on a smaller one.

mod harness;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use btree::{BuildOptions, Change, Direction, Tree, build_sorted, validate};
use buffer::{Pool, RecordLsn};
use harness::{datadir, empty_tree, log_commit};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;

const WRITERS: u64 = 3;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Returns a key of this writer. Its last byte is the writer's number, so writers share leaves but
/// no keys.
fn key_of(writer: u64, number: u64) -> Vec<u8> {
    let mut key = number.to_be_bytes()[4..].to_vec();
    key.push(writer as u8);
    key
}

/// Returns a value that its reader can check: the key, then one byte many times.
fn value_of(key: &[u8], rng: &mut Rng) -> Vec<u8> {
    let (byte, len) = (rng.u64() as u8, rng.below(200) as usize);
    let mut value = key.to_vec();
    value.extend(std::iter::repeat_n(byte, len));
    value
}

fn check_value(key: &[u8], value: &[u8]) {
    let (front, tail) = value.split_at(key.len());
    assert_eq!(front, key, "a value belongs to another key");
    assert!(tail.windows(2).all(|pair| pair[0] == pair[1]), "a value is torn");
}

fn write(tree: &Tree, writer: u64, seed: u64, steps: u64) -> Model {
    let (mut rng, mut model) = (Rng::new(seed), Model::new());
    for step in 0..steps {
        // The tree grows and shrinks in turns, so that pages split and merge all the time.
        let shrinking = step / 1500 % 2 == 1;
        let key = key_of(writer, rng.below(2500));
        let remove = rng.below(100) < if shrinking { 85 } else { 15 };
        let value = value_of(&key, &mut rng);
        let mut spot = tree.locate(&key);
        tree.prefetch(&mut spot);
        let found = tree.get_at(&spot, <[u8]>::to_vec).expect("a page");
        assert_eq!(found.as_ref(), model.get(&key), "another writer touched a key of writer {writer}");
        let lsn = if rng.one_in(4) { RecordLsn::UNLOGGED } else { log_commit(tree.pool(), b"c") };
        tree.modify_at(&spot, lsn, |current| {
            assert_eq!(current, found.as_deref());
            if remove { Change::Remove } else { Change::Put((&value[..]).into()) }
        })
        .expect("the change is done");
        if remove {
            model.remove(&key);
        } else {
            model.insert(key, value);
        }
    }
    model
}

/// Scans all the time, and checks that each scan sees the keys in order, whole values, and all of
/// the `steady` keys that nobody changes.
fn scan(tree: &Tree, seed: u64, steady: u64, done: &AtomicBool) {
    let mut rng = Rng::new(seed);
    while !done.load(Ordering::Relaxed) {
        let direction = if rng.one_in(2) { Direction::Forward } else { Direction::Backward };
        let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, direction);
        let (mut last, mut steady_seen): (Option<Vec<u8>>, u64) = (None, 0);
        while let Some((key, value)) = scan.next().expect("a page") {
            let in_order = last.as_deref().is_none_or(|last| match direction {
                Direction::Forward => last < key,
                Direction::Backward => last > key,
            });
            assert!(in_order, "{last:?} before {key:?}, {direction:?}");
            check_value(key, value);
            steady_seen += u64::from(key.ends_with(b"s"));
            last = Some(key.to_vec());
        }
        assert_eq!(steady_seen, steady, "a scan {direction:?} missed keys that are there");
    }
}

fn look_up(tree: &Tree, seed: u64, steady: u64, done: &AtomicBool, looked: &AtomicU64) {
    let mut rng = Rng::new(seed);
    while !done.load(Ordering::Relaxed) {
        let key = key_of(u64::from(b's'), rng.below(steady) * 7);
        tree.get(&key, |value| check_value(&key, value)).expect("a page").expect("nobody removes it");
        looked.fetch_add(1, Ordering::Relaxed);
    }
}

fn run(name: &str, page_size: usize, frames: usize, steps: u64) {
    let mut rng = Rng::new(test_seed(name));
    let tree = empty_tree(&SimDisk::new(rng.u64()), page_size, frames);
    tree.pool().start_cleaners();
    let (steady, mut model) = (300, Model::new());
    for number in 0..steady {
        let key = key_of(u64::from(b's'), number * 7);
        let value = value_of(&key, &mut rng);
        tree.modify(&key, log_commit(tree.pool(), b"c"), |_| Change::Put((&value[..]).into())).expect("done");
        model.insert(key, value);
    }
    let (done, looked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (scanned, seed) = ((tree.clone(), Arc::clone(&done)), rng.u64());
    let scanner = os::thread::spawn("tree_scanner", move || scan(&scanned.0, seed, steady, &scanned.1));
    let (read, seed) = ((tree.clone(), Arc::clone(&done), Arc::clone(&looked)), rng.u64());
    let reader = os::thread::spawn("tree_reader", move || look_up(&read.0, seed, steady, &read.1, &read.2));
    // Without this wait, the writers might end on a busy machine before the readers have begun.
    while looked.load(Ordering::Relaxed) == 0 && !reader.is_finished() {
        os::thread::yield_now();
    }
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (tree, seed) = (tree.clone(), rng.u64());
            os::thread::spawn("tree_writer", move || write(&tree, writer, seed, steps))
        })
        .collect();
    for writer in writers {
        model.extend(writer.join().expect("a writer's assertions hold"));
    }
    done.store(true, Ordering::Relaxed);
    scanner.join().expect("the scanner's assertions hold");
    reader.join().expect("the reader's assertions hold");
    assert_eq!(validate(&tree).expect("sound").entries, model.len() as u64);
    let mut all = tree.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    for (key, value) in &model {
        assert!(all.next().expect("a page") == Some((&key[..], &value[..])), "{key:?}");
    }
    tree.pool().stop();
}

#[test]
fn all_in_the_pool() {
    run("concurrent all_in_the_pool", 4096, 2000, 9000);
}

#[test]
fn a_pool_that_evicts_all_the_time() {
    run("concurrent a_pool_that_evicts_all_the_time", 4096, 64, 4000);
}

#[test]
fn default_pages() {
    run("concurrent default_pages", 16384, 300, 9000);
}

/// Makes a space with a tree, fills it, reads it back and drops it, again and again.
fn make_and_drop(pool: &Arc<Pool>, worker: u32, seed: u64, rounds: u32) {
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        let space = 100 + round * 10 + worker;
        let path = datadir().join(format!("{space}.ibd"));
        pool.create_space(space, &path).expect("made");
        let tree = Tree::create(pool, space).expect("made");
        let rows = rng.between(1, 600);
        if rng.one_in(3) {
            build_sorted(
                &tree,
                BuildOptions::default(),
                (0..rows).map(|row| (row.to_be_bytes(), [worker as u8; 100])),
            )
            .expect("built");
        }
        for row in 0..rows {
            let put = Change::put(vec![worker as u8; 100]);
            tree.modify(&row.to_be_bytes(), log_commit(pool, b"c"), |_| put.clone()).expect("done");
        }
        match rng.below(3) {
            0 => pool.flush_space(space).expect("written"),
            1 => pool.rename_space(space, &path.with_extension("new")).expect("renamed"),
            _ => {}
        }
        assert_eq!(validate(&tree).expect("sound").entries, rows);
        pool.drop_space(space).expect("dropped");
    }
}

#[test]
fn spaces_come_and_go_while_others_are_flushed() {
    let mut rng = Rng::new(test_seed("concurrent spaces_come_and_go"));
    let tree = empty_tree(&SimDisk::new(rng.u64()), 4096, 200);
    let pool = Arc::clone(tree.pool());
    pool.start_cleaners();
    let makers: Vec<_> = (0..3)
        .map(|worker| {
            let (pool, seed) = (Arc::clone(&pool), rng.u64());
            os::thread::spawn("space_maker", move || make_and_drop(&pool, worker, seed, 12))
        })
        .collect();
    let model = write(&tree, 0, rng.u64(), 3000);
    makers.into_iter().for_each(|maker| maker.join().expect("a maker's assertions hold"));
    pool.flush_all().expect("written");
    assert_eq!((pool.oldest_dirty_lsn(), pool.status().pages_dirty), (None, 0));
    assert_eq!(validate(&tree).expect("sound").entries, model.len() as u64);
    pool.stop();
}
