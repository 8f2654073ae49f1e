//! Physical copies of a working engine: each is opened, is sound, and has exactly the commits up to
//! its end.

mod support;

use binlog::gtid::{Gtid, Tag, Tsid, Uuid};
use engine::{
    CommitOptions, CopyEnd, CopyStage, CopyWatch, Engine, EngineConfig, EngineError, GtidNext, Table,
    Transaction,
};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use os::sync::{Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::{
    begin, check, config, create, ddl, delete, ids, index, insert, ints, keyed, rows, table, update,
};

const COPY: &str = "/copy";
const TABLES: u64 = 4;

/// A watch that lets the copy run, and does something when a stage begins.
struct Watch<'w> {
    looks: AtomicU64,
    interrupt_after: u64,
    at: CopyStage,
    act: Box<dyn Fn() + Sync + 'w>,
}

impl<'w> Watch<'w> {
    fn new() -> Watch<'w> {
        Watch::acting(CopyStage::Files, || ())
    }

    fn acting(at: CopyStage, act: impl Fn() + Sync + 'w) -> Watch<'w> {
        Watch { looks: AtomicU64::new(0), interrupt_after: u64::MAX, at, act: Box::new(act) }
    }
}

impl CopyWatch for Watch<'_> {
    fn begins(&self, stage: CopyStage, _estimate: u64) {
        if stage == self.at {
            (self.act)();
        }
    }
    fn copied(&self, _stage: CopyStage, _bytes: u64) {}
    fn is_interrupted(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) >= self.interrupt_after
    }
}

fn busy(disk: &SimDisk, datadir: &str) -> EngineConfig {
    EngineConfig {
        datadir: datadir.into(),
        tmpdir: datadir.into(),
        background: true,
        spill_bytes: 32 << 10,
        redo_capacity_bytes: 4 << 20,
        pool_bytes: 512 << 10,
        gtid_mode: true,
        ..config(disk)
    }
}

/// What a commit did to the rows of table `t0`: the id and its new k, or `None` if it was deleted.
type Changes = Vec<(i64, Option<i64>)>;

/// What each commit did, by its sequence number.
#[derive(Default)]
struct Ledger {
    commits: Mutex<BTreeMap<u64, Changes>>,
    /// Held shared by a writer from before a commit until it is in the ledger.
    committing: RwLock<()>,
}

/// Changes random rows of `t0` in transactions of random sizes, and notes what each commit did.
fn write(engine: &Arc<Engine>, seed: u64, part: i64, ledger: &Ledger, stop: &AtomicBool) {
    let mut rng = Rng::new(seed);
    let mut held = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        let size = if rng.below(40) == 0 { 400 } else { 1 + rng.below(6) };
        let (mut after, mut changes) = (held.clone(), Changes::new());
        let mut txn = begin(engine);
        let t = table(engine, "test", "t0");
        let done = (0..size).try_for_each(|_| {
            let id = part * 10_000 + rng.below(800) as i64;
            let k = change(&mut txn, &t, id, &mut after, &mut rng)?;
            changes.push((id, k));
            Ok::<(), EngineError>(())
        });
        // An index was built or dropped since the transaction began.
        let Ok(()) = done else { continue };
        let _committing = ledger.committing.read();
        let seq = commit(txn);
        ledger.commits.lock().insert(seq, changes);
        held = after;
    }
}

/// Inserts, updates or deletes a row. Returns the k that it has then.
fn change(
    txn: &mut Transaction,
    t: &Arc<Table>,
    id: i64,
    held: &mut BTreeSet<i64>,
    rng: &mut Rng,
) -> Result<Option<i64>, EngineError> {
    let (k, text) = (rng.below(1000) as i64, "x".repeat(rng.below(1900) as usize));
    if held.insert(id) {
        insert(txn, t, id, k, &text)?;
    } else if rng.below(3) == 0 {
        assert!(delete(txn, t, id)?);
        held.remove(&id);
        return Ok(None);
    } else {
        assert!(update(txn, t, id, k, &text)?);
    }
    Ok(Some(k))
}

/// Makes, fills, truncates, renames and drops tables, and builds and drops an index of `t0`.
fn define(engine: &Arc<Engine>, seed: u64, stop: &AtomicBool) {
    let mut rng = Rng::new(seed);
    let mut has_index = false;
    while !stop.load(Ordering::Relaxed) {
        let name = format!("t{}", 1 + rng.below(TABLES));
        match engine.catalog().table("test", &name) {
            None => {
                let made = create(engine, keyed(&name));
                let mut txn = begin(engine);
                (0..200).for_each(|id| insert(&mut txn, &made, id, id, "some text").unwrap());
                commit(txn);
            }
            Some(there) => match rng.below(4) {
                0 => drop(ddl("DROP TABLE", |context| {
                    engine.drop_tables(&[("test", &name)], context).unwrap()
                })),
                1 => drop(ddl("TRUNCATE TABLE", |context| {
                    engine.truncate_table("test", &name, context).unwrap()
                })),
                2 => {
                    let to = format!("t{}", 1 + rng.below(TABLES));
                    let renames = [(("test", name.as_str()), ("test", to.as_str()))];
                    let _taken =
                        ddl("RENAME TABLE", |context| engine.rename_tables(&renames, Vec::new(), context));
                }
                _ => {
                    let mut def = there.def.clone();
                    def.comment = format!("rebuilt {}", rng.below(1000));
                    def.columns[2].nullable = !def.columns[2].nullable;
                    let _failed = alter(engine, &name, def);
                }
            },
        }
        let mut def = table(engine, "test", "t0").def.clone();
        match has_index {
            true => drop(def.indexes.pop()),
            false => def.indexes.push(index("more", false, &[1, 0])),
        }
        alter(engine, "t0", def).unwrap();
        has_index = !has_index;
    }
}

fn alter(engine: &Arc<Engine>, name: &str, def: engine::TableDef) -> Result<(), EngineError> {
    ddl("ALTER TABLE", |context| {
        engine.alter_table("test", name, def, &mut |row| Ok(Some(row.to_vec())), context).map(|_| ())
    })
}

/// Opens the copy, checks it, and compares the rows of `t0` with the commits up to the copy's end.
fn check_copy(disk: &SimDisk, end: &CopyEnd, commits: &BTreeMap<u64, Changes>) {
    let copy = Engine::open(busy(disk, COPY)).unwrap();
    assert_eq!(copy.gtid_executed(), end.gtid_executed);
    assert!(end.gtid_executed.count() as usize >= commits.range(..=end.lsn).count());
    let mut expected: BTreeMap<i64, i64> = BTreeMap::new();
    for (id, k) in commits.range(..=end.lsn).flat_map(|(_, changes)| changes) {
        match k {
            Some(k) => drop(expected.insert(*id, *k)),
            None => drop(expected.remove(id)),
        }
    }
    for name in (0..=TABLES).map(|at| format!("t{at}")) {
        let Some(there) = copy.catalog().table("test", &name) else { continue };
        check(&copy, &there);
    }
    assert_eq!(pairs(&copy, &table(&copy, "test", "t0")), expected);
    copy.close().unwrap();
}

fn pairs(engine: &Arc<Engine>, t: &Arc<Table>) -> BTreeMap<i64, i64> {
    let mut txn = begin(engine);
    let rows = rows(&mut txn, t, engine::IndexRef::Primary, engine::KeyRange::all());
    ints(t, &rows, 0).into_iter().zip(ints(t, &rows, 1)).collect()
}

fn schema(engine: &Arc<Engine>) {
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
}

#[test]
fn each_copy_of_a_busy_engine_has_exactly_the_commits_up_to_its_end() {
    let seed = test_seed("each_copy_of_a_busy_engine_has_exactly_the_commits_up_to_its_end");
    let disk = SimDisk::new(seed);
    let engine = Engine::open(busy(&disk, "/data")).unwrap();
    schema(&engine);
    create(&engine, keyed("t0"));
    let (ledger, stop) = (Arc::new(Ledger::default()), Arc::new(AtomicBool::new(false)));
    let mut threads = Vec::new();
    for part in 0..3 {
        let (engine, ledger, stop) = (engine.clone(), ledger.clone(), stop.clone());
        let write = move || write(&engine, seed ^ part as u64, part, &ledger, &stop);
        threads.push(os::thread::spawn("writer", write));
    }
    let (definer, ended) = (engine.clone(), stop.clone());
    threads.push(os::thread::spawn("definer", move || define(&definer, seed, &ended)));
    for round in 0..25 {
        let end = engine.copy_to(Path::new(COPY), &[], &Watch::new()).unwrap();
        // Every commit before the end has begun, so it is in the ledger now.
        drop(ledger.committing.write());
        let commits = ledger.commits.lock().clone();
        println!("round {round}: {} commits up to {}", commits.range(..=end.lsn).count(), end.lsn);
        check_copy(&disk, &end, &commits);
        disk.remove_dir_all(Path::new(COPY)).unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    engine.close().unwrap();
}

/// Opens an engine with one table of 500 rows.
fn quiet(seed: u64) -> (SimDisk, Arc<Engine>, Arc<Table>) {
    let disk = SimDisk::new(seed);
    let engine = Engine::open(EngineConfig { background: false, ..busy(&disk, "/data") }).unwrap();
    schema(&engine);
    let t = create(&engine, keyed("t0"));
    fill(&engine, &t, 0..500);
    (disk, engine, t)
}

fn fill(engine: &Arc<Engine>, t: &Arc<Table>, ids: std::ops::Range<i64>) {
    let mut txn = begin(engine);
    ids.for_each(|id| insert(&mut txn, t, id, id, &"x".repeat(800)).unwrap());
    commit(txn);
}

/// Commits with a GTID of its own, as a replica does: an engine without a binary log gives none.
fn commit(txn: Transaction) -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let tsid = Tsid { uuid: Uuid([7; 16]), tag: Tag::NONE };
    let gtid = Gtid { tsid, gno: NUMBER.fetch_add(1, Ordering::Relaxed) };
    let options = CommitOptions { gtid: GtidNext::Given(gtid), ..CommitOptions::default() };
    txn.commit(&options).unwrap().seq
}

/// Makes so many checkpoints that none needs what was there before.
fn checkpoints(engine: &Engine) {
    (0..3).for_each(|_| assert!(engine.sharp_checkpoint().unwrap() > 0));
}

/// The spill file of a commit whose checkpoint has come before the copier is kept for the copy, and
/// removed afterwards.
#[test]
fn a_spilled_commit_during_the_copy_is_in_it() {
    let (disk, engine, t) = quiet(11);
    let spilled = || disk.list(Path::new("/data/#innodb_spill")).unwrap().len();
    let watch = Watch::acting(CopyStage::Pages, || {
        fill(&engine, &t, 1000..1800);
        let mut txn = begin(&engine);
        assert!(delete(&mut txn, &t, 1000).unwrap());
        commit(txn);
        checkpoints(&engine);
        assert!(spilled() > 0, "the file waits for the copy");
    });
    engine.copy_to(Path::new(COPY), &[], &watch).unwrap();
    checkpoints(&engine);
    assert_eq!(spilled(), 0, "nobody needs the file any more");
    let copy = Engine::open(busy(&disk, COPY)).unwrap();
    let there = table(&copy, "test", "t0");
    check(&copy, &there);
    assert_eq!(ids(&copy, &there), (0..500).chain(1001..1800).collect::<Vec<_>>());
}

/// The log of the copy may be longer than the log's capacity.
#[test]
fn a_log_that_outgrows_its_capacity_meanwhile_is_copied() {
    let (disk, engine, t) = quiet(12);
    let watch = Watch::acting(CopyStage::Pages, || {
        for round in 0..400 {
            let mut txn = begin(&engine);
            (0..20).for_each(|id| assert!(update(&mut txn, &t, id, round, &"y".repeat(1900)).unwrap()));
            commit(txn);
            engine.sharp_checkpoint().unwrap();
        }
    });
    let end = engine.copy_to(Path::new(COPY), &[], &watch).unwrap();
    let copy = Engine::open(busy(&disk, COPY)).unwrap();
    let there = table(&copy, "test", "t0");
    check(&copy, &there);
    assert_eq!(pairs(&copy, &there), pairs(&engine, &t));
    fill(&copy, &there, 1000..2000);
    assert_eq!(copy.gtid_executed().count(), end.gtid_executed.count() + 1);
    copy.close().unwrap();
}

/// A copy that fails leaves nothing, and the engine works on and can be copied.
#[test]
fn a_copy_that_fails_is_removed() {
    let (disk, engine, t) = quiet(13);
    let fails = |watch: &Watch<'_>| {
        let error = engine.copy_to(Path::new(COPY), &[], watch).unwrap_err();
        assert!(!disk.exists(Path::new(COPY)).unwrap(), "{error}");
        error
    };
    for interrupt_after in 0..3 {
        let error = fails(&Watch { interrupt_after, ..Watch::new() });
        assert!(matches!(error, EngineError::Interrupted), "{error}");
    }
    for stage in [CopyStage::Files, CopyStage::Pages, CopyStage::Log, CopyStage::Sync] {
        let broken = Watch::acting(stage, || {
            fill(&engine, &t, 5000..5200);
            disk.fail_writes(Some(COPY));
        });
        let error = fails(&broken);
        disk.fail_writes(None);
        let mut txn = begin(&engine);
        (5000..5200).for_each(|id| assert!(delete(&mut txn, &t, id).unwrap()));
        commit(txn);
        println!("{stage:?}: {error}");
    }
    let full = Watch::acting(CopyStage::Files, || disk.limit_space(Some(100_000)));
    let error = fails(&full);
    disk.limit_space(None);
    assert!(error.to_string().contains("the simulated disk is full"), "{error}");
    assert!(disk.stopped_with().is_none(), "{:?}", disk.stopped_with());
    let running = Watch::acting(CopyStage::Log, || {
        let second = engine.copy_to(Path::new("/second"), &[], &Watch::new());
        assert!(matches!(second, Err(EngineError::CopyRunning)), "{second:?}");
    });
    engine.copy_to(Path::new(COPY), &[], &running).unwrap();
    let exists = engine.copy_to(Path::new(COPY), &[], &Watch::new());
    assert!(matches!(exists, Err(EngineError::Io(..))), "{exists:?}");
    let copy = Engine::open(busy(&disk, COPY)).unwrap();
    assert_eq!(ids(&copy, &table(&copy, "test", "t0")).len(), 500);
}

/// At no moment of a copy is there a directory that a server would take for one of its own and that
/// is not whole.
#[test]
fn an_unfinished_copy_is_no_data_directory() {
    let (disk, engine, _t) = quiet(14);
    let (seen, whole) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counts = (seen.clone(), whole.clone());
    disk.before_each_change(move |disk| {
        counts.0.fetch_add(1, Ordering::Relaxed);
        if disk.exists(Path::new("/copy/mysql.ibd")).unwrap() {
            counts.1.fetch_add(1, Ordering::Relaxed);
            assert!(disk.exists(Path::new("/copy/#innodb_redo/#ib_checkpoint1")).unwrap());
        }
    });
    engine.copy_to(Path::new(COPY), &[], &Watch::new()).unwrap();
    let (seen, whole) = (seen.load(Ordering::Relaxed), whole.load(Ordering::Relaxed));
    assert!(whole > 0 && whole < 10 && seen > 20, "{whole} of {seen} changes came after it was there");
}
