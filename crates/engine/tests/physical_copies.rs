//! Physical copies of a working engine: each is opened, is sound, and has exactly the commits up to
//! its end.

mod support;

use engine::{
    CommitOptions, CopyEnd, CopyStage, CopyWatch, Engine, EngineConfig, EngineError, Table, Transaction,
};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use os::sync::{Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::*;

const COPY: &str = "/copy";
const TABLES: u64 = 4;

/// A watch that lets the copy run, or interrupts it after some looks.
struct Watch {
    looks: AtomicU64,
    interrupt_after: u64,
}

impl Watch {
    fn new() -> Watch {
        Watch { looks: AtomicU64::new(0), interrupt_after: u64::MAX }
    }
}

impl CopyWatch for Watch {
    fn begins(&self, _stage: CopyStage, _estimate: u64) {}
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
        let seq = txn.commit(&CommitOptions::default()).unwrap().seq;
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
        let end = engine.copy_to(Path::new(COPY), &Watch::new()).unwrap();
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
