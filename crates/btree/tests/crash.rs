//! Tests with power cuts at any write: the recovered tree has exactly what the log has.
//!
//! The test plays the engine. It logs commits, applies them to the tree, makes checkpoints, and
//! after a power cut replays the log as the engine does: structure records first, then rows by key.
//! Commits set states, as the engine's do. Deletes are marks, which an unlogged purge removes; a
//! mark that a crash brings back counts as no row.

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use btree::{Change, Direction, Tree, validate};
use buffer::{Doublewrite, Pool, RecordLsn};
use harness::{SPACE, datadir, log_config, pool_config, space_path};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use parking_lot::Mutex;
use redo::{Checkpoint, Log, Lsn};

/// The value that stands for a delete mark.
const MARK: &[u8] = b"";

/// The strategies with which lives begin and between which they switch.
const STRATEGIES: [Doublewrite; 2] = [Doublewrite::Parallel, Doublewrite::Legacy];

/// The rows of one commit: keys and values.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Default)]
struct History {
    /// Every commit whose log space was reserved, by the LSN at which its record ends.
    commits: BTreeMap<Lsn, Rows>,
    /// The LSN up to which commits were acknowledged as durable.
    acknowledged: Lsn,
    /// The LSNs at which commits begin that may not be wholly applied, with the workers' tokens.
    unapplied: BTreeSet<(Lsn, u64)>,
}

/// What one life of the machine works on.
struct Machine {
    tree: Tree,
    history: Mutex<History>,
    /// The LSN of the last checkpoint. The lock is held while a checkpoint is made.
    checkpoint: Mutex<Lsn>,
}

fn encode(rows: &Rows) -> Vec<u8> {
    let mut payload = Vec::new();
    for (key, value) in rows {
        payload.extend_from_slice(&(key.len() as u16).to_le_bytes());
        payload.extend_from_slice(&(value.len() as u16).to_le_bytes());
        payload.extend_from_slice(key);
        payload.extend_from_slice(value);
    }
    payload
}

fn decode(mut payload: &[u8]) -> Rows {
    let mut rows = Vec::new();
    while let [a, b, c, d, rest @ ..] = payload {
        let (key_len, value_len) =
            (u16::from_le_bytes([*a, *b]) as usize, u16::from_le_bytes([*c, *d]) as usize);
        let (key, rest) = rest.split_at(key_len);
        let (value, rest) = rest.split_at(value_len);
        rows.push((key.to_vec(), value.to_vec()));
        payload = rest;
    }
    rows
}

/// Returns the rows of one worker's commit. Each worker has keys of its own, as row locks would
/// ensure.
fn random_rows(rng: &mut Rng, worker: u64, round: u64) -> Rows {
    let count = rng.between(1, 4);
    let row = |rng: &mut Rng| {
        // Phases of 200 commits differ: one has the lower keys, one the upper keys with few
        // deletes, one all keys with many deletes.
        let number = match round % 3 {
            0 => rng.below(3000),
            1 => 3000 + rng.below(200) + rng.below(3000),
            _ => rng.below(6000),
        };
        let key = (number * 8 + worker).to_be_bytes().to_vec();
        let len = rng.below(120) as usize + 1;
        let value =
            if rng.below(100) < [20, 10, 80][round as usize % 3] { MARK.to_vec() } else { rng.bytes(len) };
        (key, value)
    };
    let mut rows: Rows = (0..count).map(|_| row(rng)).collect();
    rows.sort();
    rows.dedup_by(|a, b| a.0 == b.0);
    rows
}

impl Machine {
    fn pool(&self) -> &Arc<Pool> {
        self.tree.pool()
    }

    fn commit(&self, rows: Rows, token: u64) -> Result<RecordLsn, Box<dyn std::error::Error>> {
        let log = self.pool().log();
        log.free_check();
        let payload = encode(&rows);
        let floor = (log.current_lsn(), token);
        self.history.lock().unapplied.insert(floor);
        let reservation = log.reserve(payload.len() as u64)?;
        let lsn = RecordLsn::new(reservation.start_lsn(), reservation.end_lsn());
        self.history.lock().commits.insert(lsn.end, rows.clone());
        reservation.fill(redo::kind::COMMIT, &[&payload]);
        apply(&self.tree, &rows, lsn)?;
        self.history.lock().unapplied.remove(&floor);
        Ok(lsn)
    }

    fn checkpoint(&self, flush: bool) -> Result<(), Box<dyn std::error::Error>> {
        let pool = self.pool();
        if flush {
            pool.flush_until(pool.log().current_lsn())?;
        }
        let mut last = self.checkpoint.lock();
        let lsn = pool.checkpoint_lsn(|| self.history.lock().unapplied.first().map(|&(lsn, _)| lsn));
        if lsn > *last {
            pool.log().write_checkpoint(lsn, b"state")?;
            *last = lsn;
        }
        Ok(())
    }

    /// Removes the delete marks that a scan meets, without logging that.
    fn purge(&self, rng: &mut Rng) -> Result<(), Box<dyn std::error::Error>> {
        let from = (rng.below(6000) * 8).to_be_bytes();
        let mut scan = self.tree.scan(Bound::Included(&from), Bound::Unbounded, Direction::Forward);
        let mut marked = Vec::new();
        for _ in 0..200 {
            match scan.next()? {
                Some((key, MARK)) => marked.push(key.to_vec()),
                Some(_) => {}
                None => break,
            }
        }
        for key in marked {
            self.tree.modify(&key, RecordLsn::UNLOGGED, |value| match value {
                Some(MARK) => Change::Remove,
                _ => Change::Keep,
            })?;
        }
        Ok(())
    }

    /// Works until the power goes or `steps` commits are made.
    fn work(&self, worker: u64, seed: u64, steps: u64) -> Result<(), Box<dyn std::error::Error>> {
        let mut rng = Rng::new(seed);
        for step in 0..steps {
            let lsn = self.commit(random_rows(&mut rng, worker, step / 200), worker)?;
            match rng.below(40) {
                0 => {
                    self.pool().log().wait_durable(lsn.end)?;
                    let mut history = self.history.lock();
                    history.acknowledged = history.acknowledged.max(lsn.end);
                }
                1 => self.checkpoint(true)?,
                2 => self.checkpoint(false)?,
                3 => self.purge(&mut rng)?,
                4 if rng.one_in(5) => self.pool().set_doublewrite(*rng.pick(&STRATEGIES))?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn apply(tree: &Tree, rows: &Rows, lsn: RecordLsn) -> btree::Result<()> {
    rows.iter().try_for_each(|(key, value)| tree.modify(key, lsn, |_| Change::Put((&value[..]).into())))
}

/// Opens the machine after a power cut, which is the engine's recovery in small. Commits that the
/// log does not have are taken out of the history even if a second power cut ends the recovery,
/// because other commits will take their place in the log.
fn recover(
    disk: &SimDisk,
    root: u32,
    page_size: usize,
    strategy: Doublewrite,
    history: &mut History,
) -> Result<Tree, Box<dyn std::error::Error>> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let (log, Checkpoint { lsn, .. }) = Log::open(Arc::clone(&disk), log_config())?;
    let end = log.current_lsn();
    assert!(end >= history.acknowledged, "an acknowledged commit is lost");
    history.commits.retain(|&lsn, _| lsn <= end);
    history.unapplied.clear();
    let mut config = pool_config(page_size, 150);
    config.options.doublewrite = strategy;
    // These are as many instances as the frames allow.
    config.options.instances = if strategy == Doublewrite::Legacy { 1 } else { 2 };
    config.options.page_cleaners = 2;
    let pool = Pool::open(disk, Arc::clone(&log), config)?;
    assert_eq!(pool.open_space(&space_path())?, SPACE);
    for kind in [redo::kind::STRUCTURE, redo::kind::COMMIT] {
        let mut reader = log.read_from(lsn);
        while let Some(record) = reader.next(None)?.filter(|record| record.start_lsn < end) {
            let at = RecordLsn::new(record.start_lsn, record.lsn);
            match record.kind {
                found if found != kind => {}
                redo::kind::STRUCTURE => pool.replay(record.start_lsn, record.lsn, &record.payload)?,
                _ => apply(&Tree::open(&pool, SPACE, root), &decode(&record.payload), at)?,
            }
        }
        if kind == redo::kind::STRUCTURE {
            validate(&Tree::open(&pool, SPACE, root))?;
        }
    }
    Ok(Tree::open(&pool, SPACE, root))
}

fn compare(tree: &Tree, history: &History) {
    let mut model = BTreeMap::new();
    history.commits.values().for_each(|rows| model.extend(rows.iter().cloned()));
    model.retain(|_, value| *value != MARK);
    validate(tree).expect("the tree is sound");
    let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    let mut expected = model.iter();
    while let Some((key, value)) = scan.next().expect("a page") {
        if value != MARK {
            assert_eq!(Some((&key.to_vec(), &value.to_vec())), expected.next());
        }
    }
    assert_eq!(expected.next(), None);
}

/// Runs a few machines through several lives, each ended by a power cut, some of them while the
/// machine recovers.
fn lives(name: &str, page_size: usize, workers: u64, rounds: usize) {
    let mut rng = Rng::new(test_seed(name));
    for _ in 0..rounds {
        one_machine(&mut rng, page_size, workers);
    }
}

fn one_machine(rng: &mut Rng, page_size: usize, workers: u64) {
    let mut disk = SimDisk::new(rng.u64());
    let first: Arc<dyn Disk> = Arc::new(disk.clone());
    first.create_dir_all(&datadir()).expect("the disk takes a directory");
    first.sync_dir(Path::new("/")).expect("the disk is on");
    let log = Log::create(Arc::clone(&first), log_config()).expect("the log is made");
    let pool = Pool::open(first, log, pool_config(page_size, 96)).expect("the pool opens");
    pool.create_space(SPACE, &space_path()).expect("the space is made");
    let tree = Tree::create(&pool, SPACE).expect("the tree is made");
    let root = tree.root_page();
    pool.log().wait_durable(pool.log().current_lsn()).expect("the log is synced");
    let mut machine = Machine { tree, history: Mutex::new(History::default()), checkpoint: Mutex::new(0) };
    for _ in 0..4 {
        machine = live_and_die(machine, &mut disk, rng, workers, page_size, root);
    }
    disk.cut_power_after(u64::MAX);
    machine.pool().flush_all().expect("the disk is on");
    let (tree, history) = (machine.tree, machine.history.into_inner());
    compare(&tree, &history);
}

fn live_and_die(
    machine: Machine,
    disk: &mut SimDisk,
    rng: &mut Rng,
    workers: u64,
    page_size: usize,
    root: u32,
) -> Machine {
    disk.cut_power_after(rng.below(400));
    machine.pool().start_cleaners();
    let machine = Arc::new(machine);
    let threads: Vec<_> = (0..workers)
        .map(|worker| {
            let (machine, seed) = (Arc::clone(&machine), rng.u64());
            // An error means that the power is off; anything worse panics.
            os::thread::spawn("crash_worker", move || drop(machine.work(worker, seed, 3000)))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no worker panics"));
    machine.pool().stop();
    let machine = Arc::into_inner(machine).expect("the workers have ended");
    let mut history = machine.history.into_inner();
    drop(machine.tree);
    *disk = disk.power_cut();
    loop {
        if rng.one_in(2) {
            disk.cut_power_after(rng.below(60));
        }
        match recover(disk, root, page_size, *rng.pick(&STRATEGIES), &mut history) {
            Ok(tree) => {
                disk.cut_power_after(u64::MAX);
                if disk.is_off() {
                    *disk = disk.power_cut();
                    continue;
                }
                compare(&tree, &history);
                return Machine { tree, history: Mutex::new(history), checkpoint: Mutex::new(0) };
            }
            Err(error) => {
                assert!(disk.is_off(), "recovery failed: {error}");
                *disk = disk.power_cut();
            }
        }
    }
}

#[test]
fn one_worker_small_pages() {
    lives("crash one_worker_small_pages", 4096, 1, 12);
}

#[test]
fn three_workers_small_pages() {
    lives("crash three_workers_small_pages", 4096, 3, 12);
}

#[test]
fn three_workers_default_pages() {
    lives("crash three_workers_default_pages", 16384, 3, 6);
}
