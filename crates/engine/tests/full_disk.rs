//! A disk that fills up is an error of the statement that needed more space, and of nobody else.

mod support;

use std::sync::Arc;

use engine::{
    AddedColumn, ColumnDef, Engine, EngineConfig, EngineError, IndexRef, InstantColumns, KeyRange, LockMode,
    Table,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use support::{begin, check, commit, config, create, delete, insert, keyed, rows, table, update};
use types::{ColumnType, Value};

fn small(disk: &SimDisk) -> EngineConfig {
    EngineConfig {
        redo_capacity_bytes: 4 << 20,
        log_buffer_bytes: 64 << 10,
        pool_bytes: 2 << 20,
        ..config(disk)
    }
}

/// Commits one row, and returns how that ended.
fn insert_one(engine: &Arc<Engine>, id: i64, k: i64, content: &str) -> Result<(), EngineError> {
    let rows = table(engine, "test", "t");
    let mut txn = begin(engine);
    insert(&mut txn, &rows, id, k, content)?;
    txn.commit(&engine::CommitOptions::default()).map(|_| ())
}

#[test]
fn a_full_disk_refuses_statements_and_ends_nothing() {
    let seed = test_seed("a_full_disk_refuses_statements_and_ends_nothing");
    for round in 0..12 {
        let mut rng = Rng::new(seed.wrapping_add(round));
        let disk = SimDisk::new(rng.u64());
        let engine = Engine::open(small(&disk)).expect("an empty disk");
        support::ddl("CREATE SCHEMA test", |context| {
            engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
        })
        .expect("no schema yet");
        let t = create(&engine, keyed("t"));
        let other = create(&engine, keyed("other"));
        // The log gets all the files that it will ever use.
        for id in 0..2000 {
            let mut txn = begin(&engine);
            insert(&mut txn, &other, id, 0, &"x".repeat(1800)).expect("no such row yet");
            commit(txn);
            if id % 100 == 0 {
                engine.sharp_checkpoint().expect("the disk works");
            }
        }
        disk.limit_space(Some(rng.below(100_000)));
        let (mut made, mut refused) = (Vec::new(), 0);
        for number in 0.. {
            let id = rng.below(1 << 30) as i64;
            let len = *rng.pick(&[10, 200, 1900]);
            match insert_one(&engine, id, rng.below(100) as i64, &"y".repeat(len)) {
                Ok(()) => made.push(id),
                Err(EngineError::Duplicate { .. }) => {}
                Err(EngineError::TableFull(name)) => {
                    assert_eq!(name, "t");
                    refused += 1;
                }
                Err(error) => panic!("after {number} rows: {error}"),
            }
            assert_eq!(disk.stopped_with(), None);
            if refused == 20 {
                break;
            }
            if number % 50 == 0 {
                engine.sharp_checkpoint().expect("nothing of this needs space");
            }
        }
        // The existing rows can be read, changed and removed.
        check(&engine, &t);
        assert_eq!(rows(&mut begin(&engine), &t, IndexRef::Primary, KeyRange::all()).len(), made.len());
        for id in made.drain(..made.len() / 2) {
            let mut txn = begin(&engine);
            assert!(delete(&mut txn, &t, id).expect("it works"));
            commit(txn);
        }
        engine.purge().expect("it works");
        disk.limit_space(None);
        insert_one(&engine, -1, 0, &"z".repeat(1900)).expect("there is room again");
        check(&engine, &t);
        let disk = disk.power_cut();
        let engine = Engine::open(small(&disk)).expect("it recovers");
        check(&engine, &table(&engine, "test", "t"));
        let found =
            rows(&mut begin(&engine), &table(&engine, "test", "t"), IndexRef::Primary, KeyRange::all());
        assert_eq!(found.len(), made.len() + 1);
    }
}

#[test]
fn a_row_that_grows_because_columns_were_added_is_refused_on_a_full_disk() {
    const ROWS: i64 = 400;
    let disk = SimDisk::new(3);
    let engine = Engine::open(small(&disk)).expect("an empty disk");
    support::ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .expect("no schema yet");
    let t = create(&engine, keyed("t"));
    let other = create(&engine, keyed("other"));
    for id in 0..2000 {
        let mut txn = begin(&engine);
        insert(&mut txn, &other, id, 0, &"x".repeat(1800)).expect("no such row yet");
        if id < ROWS {
            insert(&mut txn, &t, id, 0, "short").expect("no such row yet");
        }
        commit(txn);
        if id % 100 == 0 {
            engine.sharp_checkpoint().expect("the disk works");
        }
    }
    let added = ColumnDef::new("added", ColumnType::varchar(1000, 46));
    let mut packed = Vec::new();
    let value = Value::text(&"a".repeat(900));
    types::packed::encode(&added.ty, &value, &mut packed).expect("it is of the column's type");
    let mut def = t.def.clone();
    def.columns.push(added);
    let column = AddedColumn { position: 3, value: Some(packed) };
    let instant = InstantColumns { added: vec![column], dropped: Vec::new() };
    support::ddl("ALTER TABLE t", |context| {
        let context = engine::DdlContext { instant, ..context.clone() };
        engine.alter_table("test", "t", def, &mut |_| panic!("no row is converted"), &context)
    })
    .expect("there is room");
    disk.limit_space(Some(0));
    let (name, changing) = ("changing", engine.clone());
    // As it is read, each row is as long before its change as after it.
    let changes = os::thread::spawn(name, move || {
        let t = table(&changing, "test", "t");
        (0..ROWS).find_map(|id| {
            let mut txn = begin(&changing);
            let key = support::key(&t, id);
            let old = txn.get(&t, &key, LockMode::Update).expect("it works").expect("it is there");
            let values = [Value::Int(id), Value::Int(0), Value::text("other"), value.clone()];
            txn.update(&t, &old, &support::image(&t, &values)).expect("it works");
            txn.commit(&engine::CommitOptions::default()).err()
        })
    });
    while !changes.is_finished() {
        assert!(!waits_for_space(name), "a commit is in the log and has no room");
        os::thread::yield_now();
    }
    let refused = changes.join().expect("no panic");
    assert!(matches!(refused, Some(EngineError::TableFull(_))), "{refused:?}");
    disk.limit_space(None);
    check(&engine, &table(&engine, "test", "t"));
}

fn waits_for_space(thread: &str) -> bool {
    let threads = os::account::snapshot();
    let current = threads.iter().filter(|held| held.name == thread).filter_map(|held| held.current);
    current.into_iter().any(|state| state == os::account::State::DiskFullWait)
}

/// The approximate number of leaves, each full of small rows.
const LEAVES: i64 = 5000;
const ROWS: i64 = 40;
const REDO_BYTES: u64 = 64 << 20;

fn large(disk: &SimDisk) -> EngineConfig {
    EngineConfig { pool_bytes: 32 << 20, redo_capacity_bytes: REDO_BYTES, ..small(disk) }
}

type Committing = os::thread::JoinHandle<Result<engine::CommitOutcome, EngineError>>;

/// Returns a commit that is in the log and waits for space. Its keys are all over a table whose
/// leaves are full, so more leaves split than pages are reserved for.
fn commit_that_waits(disk: &SimDisk, thread: &str) -> (Arc<Engine>, Arc<Table>, Committing) {
    let engine = Engine::open(large(disk)).expect("an empty disk");
    support::ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .expect("no schema yet");
    let mut def = keyed("t");
    def.indexes.clear();
    let t = create(&engine, def);
    for leaf in 0..LEAVES {
        let mut txn = begin(&engine);
        for row in 0..ROWS {
            insert(&mut txn, &t, leaf * 100 + row, 0, &"x".repeat(60)).expect("no such row yet");
        }
        commit(txn);
        if leaf % 300 == 0 {
            engine.sharp_checkpoint().expect("the disk works");
        }
    }
    // The log gets all the files that it will ever use.
    let mut round = 0;
    while engine.log().current_lsn() < 2 * REDO_BYTES {
        let mut txn = begin(&engine);
        for row in 0..40 {
            assert!(
                update(&mut txn, &t, row / 4 * 100 + row % 4, round, &"z".repeat(960)).expect("it works")
            );
        }
        commit(txn);
        round += 1;
        if round % 20 == 0 {
            engine.sharp_checkpoint().expect("the disk works");
        }
    }
    engine.sharp_checkpoint().expect("the disk works");
    // The free space grows until the commit is let in, so that it is as little as possible. A
    // refused attempt leaves the file longer.
    let committing = (0..40).find_map(|step| {
        let mut txn = begin(&engine);
        for leaf in 0..LEAVES {
            insert(&mut txn, &t, leaf * 100 + 50, 0, &"y".repeat(450)).expect("no such row yet");
        }
        disk.limit_space(Some(300 * 4096));
        let committing = os::thread::spawn(thread, move || txn.commit(&engine::CommitOptions::default()));
        while !committing.is_finished() {
            assert_eq!(disk.stopped_with(), None);
            if waits_for_space(thread) {
                return Some(committing);
            }
            os::thread::yield_now();
        }
        let refused = committing.join().expect("no panic");
        assert!(matches!(refused, Err(EngineError::TableFull(_))), "step {step}: {refused:?}");
        None
    });
    (engine, t, committing.expect("some room is enough"))
}

#[test]
fn a_commit_that_splits_more_than_was_reserved_waits_for_space() {
    let disk = SimDisk::new(1);
    let (engine, t, committing) = commit_that_waits(&disk, "committing");
    // Others can read meanwhile.
    assert_eq!(support::ids(&engine, &t).len(), (ROWS * LEAVES) as usize);
    disk.limit_space(None);
    committing.join().expect("no panic").expect("there is room again");
    assert_eq!(support::ids(&engine, &t).len(), ((ROWS + 1) * LEAVES) as usize);
    check(&engine, &t);
}

#[test]
fn a_commit_that_waits_for_space_ends_with_the_server_and_is_there_after_the_next_start() {
    let disk = SimDisk::new(2);
    let (engine, t, committing) = commit_that_waits(&disk, "never committed");
    // A server that is told to stop does this.
    engine.log().give_up_on_full_disk();
    committing.join().expect("no panic").expect_err("nobody frees space");
    assert!(disk.stopped_with().is_some());
    drop((engine, t));
    let disk = disk.power_cut();
    disk.limit_space(None);
    let engine = Engine::open(large(&disk)).expect("it recovers");
    let t = table(&engine, "test", "t");
    let found = support::ids(&engine, &t).len();
    assert!(found == (ROWS * LEAVES) as usize || found == ((ROWS + 1) * LEAVES) as usize, "{found} rows");
    check(&engine, &t);
}
