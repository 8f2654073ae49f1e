//! Recovery from a log that is long enough for several threads and several stretches, and from one
//! whose table is being dropped.

mod support;

use engine::{Engine, EngineConfig, IndexRef, KeyRange, LockMode};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;
use types::Value;

/// The (k, c) of each row by id.
type Model = BTreeMap<i64, (i64, String)>;

/// Runs one transaction of inserts, deletes, updates and moves to other keys.
fn change(engine: &Arc<Engine>, rng: &mut Rng, model: &mut Model) {
    let t = table(engine, "test", "t");
    let mut txn = begin(engine);
    if rng.one_in(2) {
        txn.set_row_image(engine::RowImage::Minimal);
    }
    let mut last = 0;
    for _ in 0..rng.between(1, 6) {
        // The row is often the one that the transaction has just changed.
        let id = if rng.one_in(3) { last } else { rng.below(1500) as i64 };
        let k = rng.below(300) as i64;
        last = id;
        let c = "z".repeat(if rng.one_in(10) { 5000 } else { rng.between(200, 1500) as usize });
        match (model.contains_key(&id), rng.below(4)) {
            (false, _) => {
                txn.insert(&t, &blob(&t, id, k, &c)).unwrap();
                model.insert(id, (k, c));
            }
            (true, 0) => {
                assert!(delete(&mut txn, &t, id).unwrap());
                model.remove(&id);
            }
            (true, 1) => {
                let to = rng.below(1500) as i64;
                if !model.contains_key(&to) {
                    let old = txn.get(&t, &key(&t, id), LockMode::Update).unwrap().unwrap();
                    let (_, c) = model.remove(&id).unwrap();
                    txn.update(&t, &old, &blob(&t, to, k, &c)).unwrap();
                    model.insert(to, (k, c));
                    last = to;
                }
            }
            (true, 2) => {
                // The text stays, even if it is not in its row.
                let old = txn.get(&t, &key(&t, id), LockMode::Update).unwrap().unwrap();
                let row = model.get_mut(&id).unwrap();
                row.0 = k;
                txn.update(&t, &old, &blob(&t, id, k, &row.1)).unwrap();
            }
            (true, _) => {
                let old = txn.get(&t, &key(&t, id), LockMode::Update).unwrap().unwrap();
                txn.update(&t, &old, &blob(&t, id, k, &c)).unwrap();
                model.insert(id, (k, c));
            }
        }
    }
    commit(txn);
}

fn blob(table: &engine::Table, id: i64, k: i64, c: &str) -> Vec<u8> {
    image(table, &[Value::Int(id), Value::Int(k), Value::Bytes(c.as_bytes().to_vec())])
}

fn content(engine: &Arc<Engine>) -> Model {
    let t = table(engine, "test", "t");
    let mut txn = begin(engine);
    let mut found = Model::new();
    for row in rows(&mut txn, &t, IndexRef::Primary, KeyRange::all()) {
        let values = t.layout.decode_all(&row.image).unwrap();
        let [Value::Int(id), Value::Int(k), Value::Bytes(c)] = &values[..] else { panic!("{values:?}") };
        found.insert(*id, (*k, String::from_utf8(c.clone()).unwrap()));
    }
    found
}

/// Makes random changes, kills the process and recovers, several times over. With `background`
/// recovery leaves its pages dirty and its checkpoint where it was, so the next recovery replays
/// what this one replayed, and what came after.
fn change_and_recover(seed: u64, background: bool, pool_bytes: u64) {
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new(rng.u64());
    let open = |disk: &SimDisk| {
        let mut config =
            EngineConfig { redo_capacity_bytes: 256 << 20, pool_bytes, background, ..config(disk) };
        // Pages are not written because they are old, only when frames run short.
        config.pool.adaptive_flushing = false;
        config.pool.max_dirty_lwm_percent = 99.0;
        Engine::open(config).unwrap()
    };
    let mut engine = open(&disk);
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    let mut def = keyed("t");
    def.columns[2].ty = types::ColumnType::blob();
    def.indexes.push(index("kid", false, &[1, 0]));
    create(&engine, def);
    let (mut model, mut disk) = (Model::new(), disk);
    for round in 0..4 {
        let begin = engine.log().current_lsn();
        // In the last round only what was recovered before is to be recovered again.
        let more = if round == 3 { 0 } else { 5 << 20 };
        while engine.log().current_lsn() < begin + more {
            change(&engine, &mut rng, &mut model);
            if rng.one_in(40) {
                engine.purge().unwrap();
            }
        }
        disk = disk.kill();
        engine = open(&disk);
        let found = content(&engine);
        assert!(found == model, "{} rows are there, {} were committed", found.len(), model.len());
        check(&engine, &table(&engine, "test", "t"));
    }
}

#[test]
fn several_threads_replay_a_long_log() {
    let seed = test_seed("recovery several_threads_replay_a_long_log");
    change_and_recover(seed, false, 16 << 20);
}

#[test]
fn a_long_log_is_replayed_through_a_small_pool() {
    let seed = test_seed("recovery a_long_log_is_replayed_through_a_small_pool");
    change_and_recover(seed, false, 512 << 10);
}

#[test]
fn what_was_recovered_and_not_flushed_is_recovered_again() {
    let seed = test_seed("recovery what_was_recovered_and_not_flushed_is_recovered_again");
    change_and_recover(seed, true, 16 << 20);
}

/// Inserts these rows, which fill leaves.
fn fill(engine: &Arc<Engine>, table: &Arc<engine::Table>, ids: impl Iterator<Item = i64>) {
    let mut txn = begin(engine);
    ids.for_each(|id| insert(&mut txn, table, id, id, &"x".repeat(300)).unwrap());
    commit(txn);
}

#[test]
fn a_checkpoint_while_a_table_is_dropped_leaves_the_log_that_its_file_needs() {
    let seed = test_seed("recovery a_checkpoint_while_a_table_is_dropped");
    let (disk, engine) = fresh(seed);
    let (dropped, other) = (create(&engine, keyed("dropped")), create(&engine, keyed("other")));
    engine.sharp_checkpoint().unwrap();
    // Leaves are made and then split: the first records hold whole pages, the later ones only
    // changes. In between, another table gets the change at which a checkpoint stops if it does not
    // count the dropped table's changes.
    fill(&engine, &dropped, (0..600).step_by(10));
    fill(&engine, &other, 0..1);
    fill(&engine, &dropped, (0..600).filter(|id| id % 10 != 0));

    let (weak, is_busy, left) =
        (Arc::downgrade(&engine), AtomicBool::new(false), Arc::new(Mutex::new(Vec::new())));
    let moments = left.clone();
    disk.before_each_change(move |disk| {
        let Some(engine) = weak.upgrade() else { return };
        // The checkpoint comes as soon as the statement is durable, but not at the changes that the
        // checkpoint itself makes.
        let is_dropped = engine.catalog().table("test", "dropped").is_none()
            && engine.log().durable_lsn() == engine.log().current_lsn();
        if !is_dropped || is_busy.swap(true, Ordering::Relaxed) {
            return;
        }
        engine.checkpoint().unwrap();
        moments.lock().extend((0..4).map(|_| disk.if_power_went()));
        is_busy.store(false, Ordering::Relaxed);
    });
    ddl("DROP TABLE", |context| engine.drop_table("test", "dropped", context)).unwrap();
    drop(engine);
    let left = std::mem::take(&mut *left.lock());
    assert!(left.iter().any(|disk| disk.exists(Path::new("/data/test/dropped.ibd")).unwrap()));
    for disk in left {
        let engine = open(&disk);
        assert!(engine.catalog().table("test", "dropped").is_none());
        assert_eq!(ids(&engine, &table(&engine, "test", "other")), [0]);
        assert!(!disk.exists(Path::new("/data/test/dropped.ibd")).unwrap());
    }
}
