//! Index builds: several at once, beside writers, refused, killed and cut off. No page may be lost
//! by any of it.

mod support;

use engine::{AlterStage, Engine, EngineConfig, EngineError, IndexColumn, StageHook, Table};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::*;

/// The (k, c) of each row by id. In some tests k is unique.
type Model = BTreeMap<i64, (i64, String)>;

fn plain(name: &str) -> engine::TableDef {
    let mut def = keyed(name);
    def.indexes.clear();
    def
}

/// Adds indexes, each (name, unique, columns), in one statement.
fn add_indexes(
    engine: &Arc<Engine>,
    indexes: &[(&str, bool, &[usize])],
    change: impl Fn(AlterStage) + Sync,
) -> Result<(), EngineError> {
    let mut def = table(engine, "test", "t").def.clone();
    for (name, unique, columns) in indexes {
        let mut index = index(name, *unique, columns);
        // The index takes a prefix of the text, which it needs of long values outside their rows,
        // too.
        index.columns.iter_mut().filter(|part| part.column == 2).for_each(|part| part.prefix = Some(20));
        def.indexes.push(index);
    }
    ddl("ALTER TABLE t ADD INDEX", |context| {
        let context = engine::DdlContext { on_stage: Some(StageHook(&change)), ..context.clone() };
        engine.alter_table("test", "t", def, &mut |row| Ok(Some(row.to_vec())), &context)
    })
    .map(|_| ())
}

fn drop_indexes(engine: &Arc<Engine>) -> Result<(), EngineError> {
    let mut def = table(engine, "test", "t").def.clone();
    def.indexes.clear();
    ddl("ALTER TABLE t DROP INDEX", |context| {
        engine.alter_table("test", "t", def, &mut |row| Ok(Some(row.to_vec())), context)
    })
    .map(|_| ())
}

fn fill(engine: &Arc<Engine>, t: &Arc<Table>, ids: std::ops::Range<i64>, k: impl Fn(i64) -> i64) {
    for chunk in ids.collect::<Vec<_>>().chunks(100) {
        let mut txn = begin(engine);
        chunk.iter().for_each(|&id| insert(&mut txn, t, id, k(id), "some text").unwrap());
        commit(txn);
    }
}

/// Checks that no page of the table's file is unnamed and that no claim is left.
fn account(engine: &Arc<Engine>) {
    let pages = engine.space_pages(&table(engine, "test", "t")).unwrap();
    assert_eq!((pages.unaccounted(), pages.claims), (0, 0), "{pages:?}");
}

#[test]
fn several_indexes_are_built_from_one_scan_in_bounded_memory() {
    let disk = SimDisk::new(1);
    let engine = {
        let config = EngineConfig { sort_buffer_bytes: 64 << 10, ..config(&disk) };
        Engine::open(config).unwrap()
    };
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    let t = create(&engine, plain("t"));
    fill(&engine, &t, 0..20_000, |id| id * 7919 % 20_011);
    add_indexes(&engine, &[("a", true, &[1]), ("b", false, &[2, 1]), ("c", false, &[1, 0, 2])], |_| {})
        .unwrap();
    let t = table(&engine, "test", "t");
    check(&engine, &t);
    account(&engine);
    let mut txn = begin(&engine);
    let by_k = rows(&mut txn, &t, engine::IndexRef::Secondary(0), engine::KeyRange::all());
    assert!(ints(&t, &by_k, 1).is_sorted());
    assert_eq!(by_k.len(), 20_000);
    drop(txn);
    // The next builds use the freed pages.
    let before = engine.space_pages(&t).unwrap().allocated;
    for _ in 0..3 {
        drop_indexes(&engine).unwrap();
        account(&engine);
        add_indexes(&engine, &[("a", true, &[1]), ("b", false, &[2, 1]), ("c", false, &[1, 0, 2])], |_| {})
            .unwrap();
        account(&engine);
    }
    let after = engine.space_pages(&table(&engine, "test", "t")).unwrap().allocated;
    assert!(after < before + 32, "{before} pages, then {after}");
}

#[test]
fn the_fill_factor_leaves_room() {
    let (_disk, engine) = fresh(2);
    let t = create(&engine, plain("t"));
    fill(&engine, &t, 0..5_000, |id| id);
    let mut pages = Vec::new();
    for percent in [100, 50, 10] {
        engine.set_fill_factor(percent);
        add_indexes(&engine, &[("a", false, &[1])], |_| {}).unwrap();
        pages.push(engine.space_pages(&table(&engine, "test", "t")).unwrap().trees);
        check(&engine, &table(&engine, "test", "t"));
        drop_indexes(&engine).unwrap();
    }
    let clustered = engine.space_pages(&table(&engine, "test", "t")).unwrap().trees;
    let index = |at: usize| pages[at] - clustered;
    assert!(index(1) * 10 > index(0) * 17, "{pages:?} of which {clustered} are the table's");
    assert!(index(2) > index(1) * 4, "{pages:?} of which {clustered} are the table's");
}

#[test]
fn a_duplicate_key_ends_the_statement_with_nothing_left_behind() {
    let (_disk, engine) = fresh(3);
    let t = create(&engine, plain("t"));
    fill(&engine, &t, 0..3_000, |id| if id == 2_999 { 17 } else { id });
    let error = add_indexes(&engine, &[("a", false, &[0]), ("u", true, &[1])], |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "Duplicate entry '17' for key 't.u'");
    account(&engine);
    assert!(table(&engine, "test", "t").def.indexes.is_empty());
    let t = table(&engine, "test", "t");
    fill(&engine, &t, 3_000..3_010, |_| 17);
    check(&engine, &t);
    // NULLs are no duplicates.
    let mut txn = begin(&engine);
    for id in 5_000..5_010 {
        let row = image(&t, &[types::Value::Int(id), types::Value::Int(id), types::Value::Null]);
        txn.insert(&t, &row).unwrap();
    }
    commit(txn);
    let error = add_indexes(&engine, &[("u", true, &[2])], |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "Duplicate entry 'some text' for key 't.u'");
    let mut txn = begin(&engine);
    for id in 0..3_010 {
        delete(&mut txn, &t, id).unwrap();
    }
    commit(txn);
    add_indexes(&engine, &[("u", true, &[2])], |_| {}).unwrap();
    check(&engine, &table(&engine, "test", "t"));
    account(&engine);
}

/// Changes rows at random. k stays unique, because it is made of the id and a random number below
/// 1000.
fn change_rows(engine: &Arc<Engine>, rng: &mut Rng, model: &mut Model, ids: std::ops::Range<i64>) {
    let t = table(engine, "test", "t");
    let mut txn = begin(engine);
    for _ in 0..rng.between(1, 8) {
        let id = rng.between(ids.start as u64, ids.end as u64 - 1) as i64;
        let k = id * 1000 + rng.below(1000) as i64;
        let c = "x".repeat(if rng.one_in(20) { 1999 } else { rng.below(30) as usize });
        match (model.contains_key(&id), rng.below(3)) {
            (false, _) => {
                insert(&mut txn, &t, id, k, &c).unwrap();
                model.insert(id, (k, c));
            }
            (true, 0) => {
                assert!(delete(&mut txn, &t, id).unwrap());
                model.remove(&id);
            }
            (true, 1) => {
                assert!(update(&mut txn, &t, id, k, &c).unwrap());
                model.insert(id, (k, c));
            }
            (true, _) => {
                // The row moves to another key.
                let to = rng.between(ids.start as u64, ids.end as u64 - 1) as i64;
                if model.contains_key(&to) {
                    continue;
                }
                let old = txn.get(&t, &key(&t, id), engine::LockMode::Update).unwrap().unwrap();
                txn.update(&t, &old, &row(&t, to, to * 1000, &c)).unwrap();
                model.remove(&id);
                model.insert(to, (to * 1000, c));
            }
        }
    }
    if rng.one_in(8) {
        // A transaction that is rolled back leaves the rows as they were.
        let before = content(engine);
        txn.rollback();
        *model = before.into_iter().filter(|(id, _)| ids.contains(id)).collect();
    } else {
        commit(txn);
    }
}

fn content(engine: &Arc<Engine>) -> Model {
    let t = table(engine, "test", "t");
    let rows = rows(&mut begin(engine), &t, engine::IndexRef::Primary, engine::KeyRange::all());
    let values = |row: &engine::Row| {
        let c = match t.layout.decode(&row.image, 2).unwrap() {
            types::Value::Bytes(c) => String::from_utf8(c).unwrap(),
            other => panic!("{other:?}"),
        };
        (ints(&t, std::slice::from_ref(row), 0)[0], (ints(&t, std::slice::from_ref(row), 1)[0], c))
    };
    rows.iter().map(values).collect()
}

#[test]
fn changes_between_all_stages_get_into_the_indexes() {
    let mut rng = Rng::new(test_seed("index_build changes_between_all_stages"));
    for round in 0..6 {
        let (_disk, engine) = fresh(10 + round);
        create(&engine, plain("t"));
        let model = std::cell::RefCell::new((Model::new(), rng));
        (0..200).for_each(|_| {
            let (model, rng) = &mut *model.borrow_mut();
            change_rows(&engine, rng, model, 0..800);
        });
        let (state, stages) =
            (parking_lot::Mutex::new(model.into_inner()), parking_lot::Mutex::new(Vec::new()));
        let indexes: [(&str, bool, &[usize]); 3] =
            [("k", true, &[1]), ("c", false, &[2]), ("ck", false, &[2, 1])];
        add_indexes(&engine, &indexes, |stage| {
            stages.lock().push(stage);
            // The table is locked in the last stage.
            if stage != AlterStage::End {
                let (model, rng) = &mut *state.lock();
                (0..60).for_each(|_| change_rows(&engine, rng, model, 0..800));
            }
        })
        .unwrap();
        let stages = stages.into_inner();
        let all = [
            AlterStage::ReadPk,
            AlterStage::MergeSort,
            AlterStage::Flush,
            AlterStage::LogApplyIndex,
            AlterStage::End,
        ];
        assert_eq!(stages, all);
        let (model, next) = state.into_inner();
        assert!(content(&engine) == model);
        check(&engine, &table(&engine, "test", "t"));
        while engine.purge().unwrap() > 0 {}
        account(&engine);
        rng = next;
    }
}

#[test]
fn rows_that_only_seem_to_share_a_key_are_no_duplicates() {
    let (_disk, engine) = fresh(4);
    let t = create(&engine, plain("t"));
    fill(&engine, &t, 0..1_000, |id| id);
    // The keys go round among the rows. So the build meets each key with two rows, one of which no
    // longer has it.
    let rotate = |from: i64| {
        let t = table(&engine, "test", "t");
        let mut txn = begin(&engine);
        for id in 0..1_000 {
            assert!(update(&mut txn, &t, id, 5_000 + id, "moving").unwrap());
        }
        for id in 0..1_000 {
            assert!(update(&mut txn, &t, id, (id + from) % 1_000, "moved").unwrap());
        }
        commit(txn);
    };
    add_indexes(&engine, &[("u", true, &[1])], |stage| match stage {
        AlterStage::MergeSort => rotate(1),
        AlterStage::Flush => rotate(2),
        AlterStage::LogApplyIndex => rotate(3),
        _ => {}
    })
    .unwrap();
    check(&engine, &table(&engine, "test", "t"));
    drop_indexes(&engine).unwrap();
    // A key that a row gets while the index is built counts as a duplicate.
    for bad in [AlterStage::ReadPk, AlterStage::MergeSort, AlterStage::Flush, AlterStage::LogApplyIndex] {
        let error = add_indexes(&engine, &[("u", true, &[1])], |stage| {
            if stage == bad {
                let t = table(&engine, "test", "t");
                let mut txn = begin(&engine);
                insert(&mut txn, &t, 7_000, 500, "second").unwrap();
                commit(txn);
            }
        })
        .unwrap_err();
        assert_eq!(error.to_string(), "Duplicate entry '500' for key 't.u'", "{bad:?}");
        let t = table(&engine, "test", "t");
        let mut txn = begin(&engine);
        assert!(delete(&mut txn, &t, 7_000).unwrap());
        commit(txn);
        account(&engine);
    }
}

#[test]
fn too_many_changes_end_the_statement() {
    let (_disk, engine) = fresh(5);
    let t = create(&engine, plain("t"));
    fill(&engine, &t, 0..100, |id| id);
    engine.set_online_alter_log_max_bytes(10_000);
    let error = add_indexes(&engine, &[("a", false, &[1])], |stage| {
        if stage == AlterStage::MergeSort {
            fill(&engine, &table(&engine, "test", "t"), 1_000..2_000, |id| id);
        }
    });
    let expected = "Creating index 'a' required more than 'innodb_online_alter_log_max_size' bytes of modification log. \
                    Please try again.";
    assert_eq!(error.unwrap_err().to_string(), expected);
    account(&engine);
    add_indexes(&engine, &[("a", false, &[1])], |_| {}).unwrap();
    check(&engine, &table(&engine, "test", "t"));
}

#[test]
fn a_killed_statement_leaves_nothing_behind() {
    let (_disk, engine) = fresh(6);
    let t = create(&engine, plain("t"));
    fill(&engine, &t, 0..3_000, |id| id);
    for at in [AlterStage::ReadPk, AlterStage::MergeSort, AlterStage::LogApplyIndex] {
        let killed = Arc::new(AtomicBool::new(false));
        let mut def = table(&engine, "test", "t").def.clone();
        def.indexes.push(index("a", false, &[1]));
        let kill = |stage| {
            if stage == at {
                killed.store(true, Ordering::Relaxed);
                fill(&engine, &table(&engine, "test", "t"), 10_000..10_001, |id| id);
                let mut txn = begin(&engine);
                delete(&mut txn, &table(&engine, "test", "t"), 10_000).unwrap();
                commit(txn);
            }
        };
        let result = ddl("ALTER TABLE", |context| {
            let interrupt = Some(killed.clone());
            let context =
                engine::DdlContext { interrupt, on_stage: Some(StageHook(&kill)), ..context.clone() };
            engine.alter_table("test", "t", def, &mut |row| Ok(Some(row.to_vec())), &context)
        });
        assert!(matches!(result, Err(EngineError::Interrupted)), "{at:?}: {result:?}");
        account(&engine);
    }
}

#[test]
fn writers_go_on_while_indexes_come_and_go() {
    let seed = test_seed("index_build writers_go_on");
    let disk = SimDisk::new(seed);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let engine = Engine::open(EngineConfig {
        page_size: 4096,
        pool_bytes: 4 << 20,
        sort_buffer_bytes: 32 << 10,
        ..EngineConfig::new(shared, "/data")
    })
    .unwrap();
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    create(&engine, plain("t"));
    let stop = Arc::new(AtomicBool::new(false));
    let commits = Arc::new(AtomicU64::new(0));
    let writers: Vec<_> = (0..3i64)
        .map(|worker| {
            let (engine, stop, commits) = (engine.clone(), stop.clone(), commits.clone());
            os::thread::spawn("writer", move || {
                let (mut rng, mut model) = (Rng::new(seed ^ worker as u64), Model::new());
                while !stop.load(Ordering::Relaxed) {
                    // A writer whose definition was just replaced looks it up again in its next
                    // transaction.
                    let ids = worker * 2_000..(worker + 1) * 2_000;
                    change_rows_or_retry(&engine, &mut rng, &mut model, ids);
                    commits.fetch_add(1, Ordering::Relaxed);
                }
                model
            })
        })
        .collect();
    let mut rng = Rng::new(seed);
    for round in 0..12 {
        // The round waits until there is something to build, and something new since the last
        // round.
        let enough = commits.load(Ordering::Relaxed) + 300;
        while commits.load(Ordering::Relaxed) < enough {
            os::thread::yield_now();
        }
        let indexes: [(&str, bool, &[usize]); 3] =
            [("k", true, &[1]), ("c", false, &[2]), ("ck", false, &[2, 1])];
        add_indexes(&engine, &indexes[..rng.between(1, 3) as usize], |_| {}).unwrap();
        check(&engine, &table(&engine, "test", "t"));
        if round < 11 {
            drop_indexes(&engine).unwrap();
        }
    }
    stop.store(true, Ordering::Relaxed);
    let mut expected = Model::new();
    writers.into_iter().for_each(|writer| expected.extend(writer.join().unwrap()));
    assert!(content(&engine) == expected);
    check(&engine, &table(&engine, "test", "t"));
    while engine.purge().unwrap() > 0 {}
    account(&engine);
    engine.close().unwrap();
}

fn change_rows_or_retry(engine: &Arc<Engine>, rng: &mut Rng, model: &mut Model, ids: std::ops::Range<i64>) {
    let id = rng.between(ids.start as u64, ids.end as u64 - 1) as i64;
    let (k, c) = (id * 1000 + rng.below(1000) as i64, "y".repeat(rng.below(40) as usize));
    loop {
        let t = table(engine, "test", "t");
        let mut txn = begin(engine);
        let exists = model.contains_key(&id);
        let remove = exists && k % 3 == 0;
        let done = match (exists, remove) {
            (false, _) => insert(&mut txn, &t, id, k, &c),
            (true, true) => delete(&mut txn, &t, id).map(|found| assert!(found)),
            (true, false) => update(&mut txn, &t, id, k, &c).map(|found| assert!(found)),
        };
        match done {
            Err(EngineError::TableChanged(_)) => continue,
            done => done.unwrap(),
        }
        commit(txn);
        if remove {
            model.remove(&id);
        } else {
            model.insert(id, (k, c));
        }
        return;
    }
}

#[test]
fn no_power_cut_loses_a_page_or_half_an_index() {
    let mut rng = Rng::new(test_seed("index_build no_power_cut"));
    for round in 0..10 {
        let (mut disk, mut engine) = fresh(rng.u64());
        let mut def = plain("t");
        def.primary = Some(vec![IndexColumn::whole(0)]);
        let t = create(&engine, def);
        fill(&engine, &t, 0..rng.between(100, 3_000) as i64, |id| id * 7919 % 3001);
        let mut next = 10_000;
        for _ in 0..5 {
            disk.cut_power_after(rng.below(600));
            let result = (|| -> Result<(), EngineError> {
                loop {
                    let indexes: [(&str, bool, &[usize]); 2] = [("k", false, &[1]), ("ck", false, &[2, 1])];
                    add_indexes(&engine, &indexes, |stage| {
                        if stage == AlterStage::LogApplyIndex || stage == AlterStage::ReadPk {
                            let t = table(&engine, "test", "t");
                            let mut txn = begin(&engine);
                            // The inserts fail when the power is off already.
                            for id in next..next + 50 {
                                let _ = insert(&mut txn, &t, id, id, "while it is built");
                            }
                            let _ = txn.commit(&engine::CommitOptions::default());
                        }
                    })?;
                    next += 50;
                    drop_indexes(&engine)?;
                }
            })();
            assert!(disk.is_off(), "round {round}: {result:?}");
            next += 50;
            disk = disk.power_cut();
            if rng.one_in(2) {
                // The power fails again while the pages are being freed.
                disk.cut_power_after(rng.below(200));
                let opened = Engine::open(config(&disk));
                let after = disk.power_cut();
                drop(opened);
                disk = after;
            }
            engine = open(&disk);
            let t = table(&engine, "test", "t");
            assert!(matches!(t.def.indexes.len(), 0 | 2), "all indexes or none");
            check(&engine, &t);
            account(&engine);
            if !t.def.indexes.is_empty() {
                drop_indexes(&engine).unwrap();
            }
        }
    }
}
