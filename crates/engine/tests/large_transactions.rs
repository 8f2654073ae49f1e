//! Transactions with thousands of changes, whose entries of secondary indexes wait for their places
//! until somebody reads them, and which keep the images of rows in files.

mod support;

use engine::{
    Direction, Engine, EngineConfig, EngineError, IndexRef, KeyRange, LockMode, SchemaDef, Table, Transaction,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use support::*;

/// The values of `k` and `c` of the row of an id.
type Model = BTreeMap<i64, (i64, String)>;

const IDS: u64 = 4_000;

/// Returns the table of [`keyed`] with a second index, a unique one over `(c, k)`.
fn table_of(engine: &Arc<Engine>) -> Arc<Table> {
    let mut def = keyed("t");
    def.indexes.push(index("u", true, &[2, 1]));
    create(engine, def)
}

/// Compares what a transaction reads by an index with the model.
fn compare_by(txn: &mut Transaction, table: &Arc<Table>, model: &Model, index: IndexRef) {
    let mut wanted: Vec<(i64, i64, &str)> = model.iter().map(|(id, (k, c))| (*id, *k, c.as_str())).collect();
    match index {
        IndexRef::Primary => {}
        IndexRef::Secondary(0) => wanted.sort_by_key(|(id, k, _)| (*k, *id)),
        IndexRef::Secondary(_) => wanted.sort_by_key(|(id, k, c)| (*c, *k, *id)),
    }
    let direction = if model.len().is_multiple_of(2) { Direction::Forward } else { Direction::Backward };
    let mut read = rows_in(txn, table, index, KeyRange::all(), direction);
    if direction == Direction::Backward {
        read.reverse();
    }
    let ids: Vec<i64> = wanted.iter().map(|(id, _, _)| *id).collect();
    assert_eq!(ints(table, &read, 0), ids);
    for (row_read, (id, k, c)) in read.iter().zip(wanted) {
        assert_eq!(row_read.image, row(table, id, k, c));
    }
}

/// Makes a change of a random row, whose keys come in random order.
fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>, model: &mut Model) {
    let id = rng.below(IDS) as i64;
    let (k, c) =
        (rng.below(600) as i64, format!("{:03}{}", rng.below(500), "x".repeat(rng.below(90) as usize)));
    let is_taken = |model: &Model, own: Option<i64>| {
        model.iter().any(|(id, held)| Some(*id) != own && *held == (k, c.clone()))
    };
    match model.get(&id) {
        None => match insert(txn, table, id, k, &c) {
            Ok(()) => {
                assert!(!is_taken(model, None));
                model.insert(id, (k, c));
            }
            Err(EngineError::Duplicate { .. }) => assert!(is_taken(model, None)),
            Err(other) => panic!("{other}"),
        },
        Some(_) if rng.one_in(3) => {
            assert!(delete(txn, table, id).unwrap());
            model.remove(&id);
        }
        Some(_) if !is_taken(model, Some(id)) => {
            assert!(update(txn, table, id, k, &c).unwrap());
            model.insert(id, (k, c));
        }
        Some(_) => assert!(matches!(update(txn, table, id, k, &c), Err(EngineError::Duplicate { .. }))),
    }
}

/// Random rows come, change and go in large transactions, of which parts are taken back and whose
/// changes are read in between. The server is killed at the end.
#[test]
fn a_large_transaction_reads_and_leaves_what_a_model_has() {
    let mut rng = Rng::new(test_seed("a_large_transaction_reads_and_leaves_what_a_model_has"));
    let disk = SimDisk::new(rng.u64());
    // The images of rows go to a file soon.
    let configured = |disk: &SimDisk| EngineConfig { spill_bytes: 20 << 10, ..config(disk) };
    let engine = Engine::open(configured(&disk)).unwrap();
    let schema = SchemaDef { name: "test".to_owned(), collation: 255 };
    ddl("CREATE SCHEMA test", |context| engine.create_schema(schema, context)).unwrap();
    let table = table_of(&engine);
    let mut model = Model::new();
    for round in 0..8 {
        let mut txn = begin(&engine);
        let mut own = model.clone();
        for _ in 0..rng.below(6) {
            let savepoint = txn.savepoint();
            let kept = own.clone();
            // The first changes are of rows that are not looked at by index.
            for _ in 0..rng.below(1_500) {
                change(&mut rng, &mut txn, &table, &mut own);
            }
            if rng.one_in(3) {
                txn.rollback_to(savepoint);
                own = kept;
            }
            let seen = [IndexRef::Primary, IndexRef::Secondary(0), IndexRef::Secondary(1)];
            compare_by(&mut txn, &table, &own, seen[rng.below(3) as usize]);
        }
        if round % 4 == 3 {
            txn.rollback();
        } else {
            commit(txn);
            model = own;
        }
        for at in [IndexRef::Primary, IndexRef::Secondary(0), IndexRef::Secondary(1)] {
            compare_by(&mut begin(&engine), &table, &model, at);
        }
        check(&engine, &table);
    }
    assert!(model.len() > 500, "{} rows", model.len());
    drop(table);
    let killed = disk.kill();
    drop(engine);
    let engine = Engine::open(configured(&killed)).unwrap();
    let table = support::table(&engine, "test", "t");
    for at in [IndexRef::Primary, IndexRef::Secondary(0), IndexRef::Secondary(1)] {
        compare_by(&mut begin(&engine), &table, &model, at);
    }
    check(&engine, &table);
}

/// A transaction that locks what it reads waits for each key that a large transaction has
/// announced, also for those that wait for their places.
#[test]
fn a_locking_scan_meets_the_keys_of_a_large_transaction() {
    let (_, engine) = fresh(1);
    let table = table_of(&engine);
    let mut loading = begin(&engine);
    let mut rng = Rng::new(test_seed("a_locking_scan_meets_the_keys_of_a_large_transaction"));
    let mut keys: Vec<i64> = (0..3_000).map(|number| 2 * number).collect();
    for at in 0..keys.len() {
        let other = rng.below(keys.len() as u64) as usize;
        keys.swap(at, other);
    }
    for (id, k) in (0..).zip(&keys) {
        insert(&mut loading, &table, id, *k, &id.to_string()).unwrap();
    }
    let is_free = |k: i64| {
        let mut txn = begin(&engine);
        txn.set_row_lock_timeout_ms(1);
        let key = table.encode_key(IndexRef::Secondary(0), &[types::Value::Int(k)]).unwrap();
        let range = KeyRange::prefix(&key);
        let mut scan =
            txn.scan(&table, IndexRef::Secondary(0), range, Direction::Forward, LockMode::Update).unwrap();
        match scan.next(&mut txn) {
            Ok(None) => true,
            Err(EngineError::LockWaitTimeout) => false,
            other => panic!("{other:?}"),
        }
    };
    for k in [0, 2, 1_000, 3_998, 5_998] {
        assert!(!is_free(k), "{k} is announced");
        assert!(is_free(k + 1), "nobody puts {}", k + 1);
    }
    // Keys that were taken back are announced no more, those from before are.
    let savepoint = loading.savepoint();
    for (id, k) in (3_000..).zip(&keys) {
        insert(&mut loading, &table, id, 20_000 + k, &id.to_string()).unwrap();
    }
    assert!(!is_free(20_000 + keys[7]));
    loading.rollback_to(savepoint);
    assert!(!is_free(keys[7]));
    commit(loading);
    check(&engine, &table);
    assert_eq!(ids(&engine, &table).len(), 3_000);
}
