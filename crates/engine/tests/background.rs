//! Many sessions at once on a small log and a small pool, with the engine's own threads, and DDL in
//! between.

mod support;

use engine::{CommitOptions, Engine, EngineError, IndexRef, KeyRange, StatementContext, Table};
use os::clock::Stopwatch;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::*;

fn with_threads(disk: &SimDisk) -> Arc<Engine> {
    let mut config = config(disk);
    config.background = true;
    config.redo_capacity_bytes = 4 << 20;
    config.log_buffer_bytes = 256 << 10;
    config.flush_log_at_trx_commit = 2;
    Engine::open(config).unwrap()
}

/// Changes the ids that are `mine` of `of` at random, until `bytes` bytes are written. Returns the
/// rows that are left.
fn work(engine: &Arc<Engine>, t: &Arc<Table>, mine: i64, of: i64, bytes: u64) -> BTreeMap<i64, (i64, usize)> {
    let mut rng = Rng::new(test_seed("background") + mine as u64);
    let mut model: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
    let mut written = 0;
    while written < bytes {
        let mut after = model.clone();
        let mut txn = begin(engine);
        for _ in 0..rng.between(1, 8) {
            let id = rng.below(300) as i64 * of + mine;
            let (k, len) = (rng.below(50) as i64, rng.below(1500) as usize);
            let c = "x".repeat(len);
            written += len as u64;
            let exists = after.contains_key(&id);
            if exists && rng.one_in(4) {
                assert!(delete(&mut txn, t, id).unwrap());
                after.remove(&id);
                continue;
            }
            match exists {
                true => assert!(update(&mut txn, t, id, k, &c).unwrap()),
                false => insert(&mut txn, t, id, k, &c).unwrap(),
            }
            after.insert(id, (k, len));
        }
        if rng.one_in(20) {
            txn.rollback();
        } else {
            commit(txn);
            model = after;
        }
    }
    model
}

fn content(engine: &Arc<Engine>, t: &Arc<Table>) -> BTreeMap<i64, (i64, usize)> {
    let mut txn = begin(engine);
    let all = rows(&mut txn, t, IndexRef::Primary, KeyRange::all());
    let lens = all.iter().map(|row| match t.layout.decode(&row.image, 2).unwrap() {
        types::Value::Bytes(bytes) => bytes.len(),
        other => panic!("{other:?}"),
    });
    let (ids, ks) = (ints(t, &all, 0), ints(t, &all, 1));
    ids.into_iter().zip(ks.into_iter().zip(lens)).collect()
}

fn ids_by_k(txn: &mut engine::Transaction, t: &Arc<Table>) -> Vec<i64> {
    let mut ids = ints(t, &rows(txn, t, IndexRef::Secondary(0), KeyRange::all()), 0);
    ids.sort_unstable();
    ids
}

#[test]
fn a_log_much_smaller_than_the_work_is_used_over_and_over() {
    let disk = SimDisk::new(1);
    let engine = with_threads(&disk);
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    let t = create(&engine, keyed("t"));
    let stop = Arc::new(AtomicBool::new(false));
    let reader = {
        let (engine, t, stop) = (engine.clone(), t.clone(), stop.clone());
        os::thread::spawn("reader", move || {
            while !stop.load(Ordering::Relaxed) {
                let mut txn = begin(&engine);
                let by_id = ids_in(&mut txn, &t);
                let by_k = ids_by_k(&mut txn, &t);
                if by_id != by_k {
                    let missing = |a: &[i64], b: &[i64]| -> Vec<i64> {
                        a.iter().filter(|id| !b.contains(id)).copied().collect()
                    };
                    let again = (ids_in(&mut txn, &t), ids_by_k(&mut txn, &t));
                    let mut new = begin(&engine);
                    let newer = (ids_in(&mut new, &t), ids_by_k(&mut new, &t));
                    panic!(
                        "one snapshot sees other rows by the other index: by id only {:?}, by k only {:?}; again: by id only \
                         {:?}; in a new snapshot: by id only {:?}; check: {:?}",
                        missing(&by_id, &by_k),
                        missing(&by_k, &by_id),
                        missing(&again.0, &again.1),
                        missing(&newer.0, &newer.1),
                        engine.check_table(&t).unwrap()
                    );
                }
            }
        })
    };
    let writers: Vec<_> = (0..3)
        .map(|mine| {
            let (engine, t) = (engine.clone(), t.clone());
            os::thread::spawn("writer", move || work(&engine, &t, mine, 3, 6 << 20))
        })
        .collect();
    let mut expected = BTreeMap::new();
    for writer in writers {
        expected.extend(writer.join().unwrap());
    }
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    assert!(engine.log().current_lsn() > 12 << 20, "the log went round");
    assert!(content(&engine, &t) == expected);
    check(&engine, &t);
    drop((t, engine));
    let engine = with_threads(&disk.kill());
    let t = table(&engine, "test", "t");
    assert!(content(&engine, &t) == expected);
    check(&engine, &t);
    engine.close().unwrap();
}

#[test]
fn ddl_waits_for_those_who_use_the_table_and_holds_up_those_who_want_to() {
    let (_, engine) = fresh(2);
    let t = create(&engine, keyed("t"));
    let mut user = begin(&engine);
    insert(&mut user, &t, 1, 1, "").unwrap();
    let ddl_thread = {
        let engine = engine.clone();
        os::thread::spawn("ddl", move || {
            let mut def = table(&engine, "test", "t").def.clone();
            def.indexes.push(index("by_c", true, &[0, 1]));
            ddl("ALTER TABLE t ADD INDEX", |context| {
                engine.alter_table("test", "t", def, &mut |row| Ok(Some(row.to_vec())), context)
            })
        })
    };
    while engine.status().iter().all(|(name, value)| name != "Innodb_row_lock_current_waits" || *value == 0) {
        os::clock::sleep(std::time::Duration::from_millis(1));
    }
    // A transaction that comes after the waiting DDL waits behind it.
    let mut late = begin(&engine);
    late.set_metadata_lock_timeout_ms(1);
    assert!(matches!(late.open_table("test", "t"), Err(EngineError::LockWaitTimeout)));
    insert(&mut user, &t, 2, 2, "").unwrap();
    commit(user);
    ddl_thread.join().unwrap().unwrap();
    late.set_metadata_lock_timeout_ms(60_000);
    let renewed = late.open_table("test", "t").unwrap();
    assert_eq!(renewed.def.indexes.len(), 2);
    assert!(matches!(insert(&mut late, &t, 3, 3, ""), Err(EngineError::TableChanged(_))));
    insert(&mut late, &renewed, 3, 3, "").unwrap();
    commit(late);
    let by_new = rows(&mut begin(&engine), &renewed, IndexRef::Secondary(1), KeyRange::all());
    assert_eq!(ints(&renewed, &by_new, 0), vec![1, 2, 3]);
    check(&engine, &renewed);
}

#[test]
fn an_old_snapshot_does_not_read_a_table_altered_since() {
    let (_, engine) = fresh(3);
    let t = create(&engine, keyed("t"));
    let mut old = begin(&engine);
    old.open_snapshot().unwrap();
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 1, "").unwrap();
    commit(txn);
    ddl("TRUNCATE TABLE t", |context| engine.truncate_table("test", "t", context)).unwrap();
    assert!(matches!(old.open_table("test", "t"), Err(EngineError::TableChanged(_))));
    assert_eq!(ids(&engine, &table(&engine, "test", "t")), Vec::<i64>::new());
}

#[test]
fn an_index_that_would_not_be_unique_is_refused_and_leaves_nothing() {
    let (_, engine) = fresh(4);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    for id in 0..300 {
        insert(&mut txn, &t, id, id % 299, "").unwrap();
    }
    commit(txn);
    let mut def = t.def.clone();
    def.indexes.push(index("u", true, &[1]));
    let refused = ddl("ALTER TABLE t ADD UNIQUE", |context| {
        engine.alter_table("test", "t", def, &mut |row| Ok(Some(row.to_vec())), context)
    });
    assert_eq!(refused.unwrap_err().to_string(), "Duplicate entry '0' for key 't.u'");
    let t = table(&engine, "test", "t");
    assert_eq!(t.def.indexes.len(), 1);
    check(&engine, &t);
}

#[test]
fn a_transaction_over_its_limit_is_refused_and_can_be_rolled_back() {
    let disk = SimDisk::new(5);
    let mut config = config(&disk);
    config.max_binlog_cache_bytes = 10_000;
    let engine = Engine::open(config).unwrap();
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    let mut id = 0;
    let refused = loop {
        let savepoint = txn.begin_statement(StatementContext::default());
        match txn.insert(&t, &row(&t, id, 0, &"x".repeat(500))) {
            Ok(()) => id += 1,
            Err(error) => {
                txn.rollback_to(savepoint);
                break error;
            }
        }
    };
    assert!(matches!(refused, EngineError::TransactionTooLarge { .. }) && id > 10);
    txn.commit(&CommitOptions::default()).unwrap();
    assert_eq!(ids(&engine, &t).len() as i64, id);
}

#[test]
fn auto_increment_goes_on_after_a_restart_even_where_rows_were_deleted() {
    let (disk, engine) = fresh(6);
    let mut def = keyed("t");
    def.columns[0].auto_increment = true;
    let t = create(&engine, def);
    assert_eq!(t.next_auto_increment(3).unwrap(), 1);
    let mut txn = begin(&engine);
    for id in [1, 2, 3, 40] {
        insert(&mut txn, &t, id, 0, "").unwrap();
    }
    commit(txn);
    let mut txn = begin(&engine);
    delete(&mut txn, &t, 40).unwrap();
    commit(txn);
    assert_eq!(t.next_auto_increment(1).unwrap(), 41);
    drop((t, engine));
    let disk = disk.kill();
    let engine = open(&disk);
    assert!(table(&engine, "test", "t").next_auto_increment(1).unwrap() >= 41);
    engine.close().unwrap();
    drop(engine);
    let engine = open(&disk.kill());
    assert!(table(&engine, "test", "t").next_auto_increment(1).unwrap() >= 42);
}

#[test]
fn an_engine_that_is_let_go_of_ends_with_its_threads() {
    const HANGING: Duration = Duration::from_secs(60);
    let (disk, engine) = fresh(test_seed("an engine that is let go of"));
    drop(engine);
    let engine = Arc::downgrade(&with_threads(&disk));
    let since = Stopwatch::start();
    while engine.strong_count() > 0 {
        assert!(since.elapsed() < HANGING, "its threads keep it alive");
        os::clock::sleep(Duration::from_millis(1));
    }
}
