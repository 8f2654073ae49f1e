//! Rows in and out of one engine: changes, savepoints, uniqueness, scans, keyless tables, long
//! values.

mod support;

use engine::{
    ColumnDef, CommitOptions, Direction, Engine, EngineConfig, EngineError, IndexColumn, IndexRef, Isolation,
    KeyRange, LockMode, SchemaDef, StatementContext, TableDef, Transaction,
};
use os::sim::SimDisk;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;
use types::{ColumnType, Value};

#[test]
fn what_is_committed_is_read_and_what_is_rolled_back_is_not() {
    let (_, engine) = fresh(1);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "one").unwrap();
    insert(&mut txn, &t, 2, 20, "two").unwrap();
    assert_eq!(ids_in(&mut txn, &t), vec![1, 2]);
    assert_eq!(ids(&engine, &t), Vec::<i64>::new());
    commit(txn);
    assert_eq!(ids(&engine, &t), vec![1, 2]);
    let mut txn = begin(&engine);
    assert!(update(&mut txn, &t, 1, 11, "uno").unwrap());
    assert!(delete(&mut txn, &t, 2).unwrap());
    insert(&mut txn, &t, 3, 30, "three").unwrap();
    assert_eq!(ids_in(&mut txn, &t), vec![1, 3]);
    txn.rollback();
    assert_eq!(ids(&engine, &t), vec![1, 2]);
    let mut txn = begin(&engine);
    let one = txn.get(&t, &key(&t, 1), LockMode::Snapshot).unwrap().unwrap();
    assert_eq!(t.layout.decode(&one.image, 2).unwrap(), Value::text("one"));
    check(&engine, &t);
}

#[test]
fn a_failed_statement_leaves_the_transaction_as_it_was() {
    let (_, engine) = fresh(2);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "").unwrap();
    let savepoint = txn.begin_statement(StatementContext::default());
    txn.insert(&t, &row(&t, 2, 20, "")).unwrap();
    let error = txn.insert(&t, &row(&t, 1, 30, "")).unwrap_err();
    assert_eq!(error.to_string(), "Duplicate entry '1' for key 't.PRIMARY'");
    txn.rollback_to(savepoint);
    assert_eq!(ids_in(&mut txn, &t), vec![1]);
    insert(&mut txn, &t, 3, 30, "").unwrap();
    commit(txn);
    assert_eq!(ids(&engine, &t), vec![1, 3]);
    check(&engine, &t);
}

#[test]
fn savepoints_nest_and_a_row_can_come_and_go_within_a_transaction() {
    let (_, engine) = fresh(3);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 1, "a").unwrap();
    commit(txn);
    let mut txn = begin(&engine);
    let first = txn.savepoint();
    delete(&mut txn, &t, 1).unwrap();
    insert(&mut txn, &t, 1, 2, "b").unwrap();
    let second = txn.savepoint();
    update(&mut txn, &t, 1, 3, "c").unwrap();
    delete(&mut txn, &t, 1).unwrap();
    txn.rollback_to(second);
    let rows_now = rows(&mut txn, &t, IndexRef::Secondary(0), KeyRange::all());
    assert_eq!(ints(&t, &rows_now, 1), vec![2]);
    txn.rollback_to(first);
    assert!(!txn.has_changes() || ids_in(&mut txn, &t) == vec![1]);
    insert(&mut txn, &t, 5, 5, "").unwrap();
    delete(&mut txn, &t, 5).unwrap();
    commit(txn);
    assert_eq!(ids(&engine, &t), vec![1]);
    check(&engine, &t);
}

#[test]
fn unique_secondary_keys_are_unique_but_for_null() {
    let (_, engine) = fresh(4);
    let mut def = keyed("t");
    def.columns[1].nullable = true;
    def.indexes[0].unique = true;
    let t = create(&engine, def);
    let null_k = |id| image(&t, &[Value::Int(id), Value::Null, Value::Null]);
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "").unwrap();
    txn.insert(&t, &null_k(2)).unwrap();
    txn.insert(&t, &null_k(3)).unwrap();
    let taken = insert(&mut txn, &t, 4, 10, "").unwrap_err();
    assert_eq!(taken.to_string(), "Duplicate entry '10' for key 't.k'");
    commit(txn);
    let mut txn = begin(&engine);
    assert!(matches!(insert(&mut txn, &t, 5, 10, ""), Err(EngineError::Duplicate { .. })));
    delete(&mut txn, &t, 1).unwrap();
    insert(&mut txn, &t, 5, 10, "").unwrap();
    commit(txn);
    assert_eq!(ids(&engine, &t), vec![2, 3, 5]);
    check(&engine, &t);
}

#[test]
fn scans_go_both_ways_over_ranges_and_merge_own_changes() {
    let (_, engine) = fresh(5);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    for id in 0..500 {
        insert(&mut txn, &t, id, id % 7, &"x".repeat(40)).unwrap();
    }
    commit(txn);
    let mut txn = begin(&engine);
    delete(&mut txn, &t, 100).unwrap();
    insert(&mut txn, &t, 1000, 3, "").unwrap();
    update(&mut txn, &t, 101, 3, "").unwrap();
    let prefix = t.encode_key(IndexRef::Secondary(0), &[Value::Int(3)]).unwrap();
    let forward = rows(&mut txn, &t, IndexRef::Secondary(0), KeyRange::prefix(&prefix));
    let mut expected: Vec<i64> = (0..500).filter(|id| id % 7 == 3 && *id != 101).collect();
    expected.extend([101, 1000]);
    expected.sort_unstable();
    expected.retain(|id| *id != 100);
    assert_eq!(ints(&t, &forward, 0), expected);
    let mut backward =
        rows_in(&mut txn, &t, IndexRef::Secondary(0), KeyRange::prefix(&prefix), Direction::Backward);
    backward.reverse();
    assert_eq!(backward, forward);
    let (from, to) = (key(&t, 98), key(&t, 103));
    let range = KeyRange::between(std::ops::Bound::Included(&from), std::ops::Bound::Excluded(&to));
    assert_eq!(ints(&t, &rows(&mut txn, &t, IndexRef::Primary, range), 0), vec![98, 99, 101, 102]);
    commit(txn);
    check(&engine, &t);
}

#[test]
fn a_table_without_a_key_keeps_equal_rows_apart() {
    let (disk, engine) = fresh(6);
    let mut def = keyed("t");
    def.primary = None;
    let t = create(&engine, def);
    let mut txn = begin(&engine);
    for _ in 0..3 {
        insert(&mut txn, &t, 7, 7, "same").unwrap();
    }
    commit(txn);
    let mut txn = begin(&engine);
    let all = rows(&mut txn, &t, IndexRef::Primary, KeyRange::all());
    assert_eq!(all.len(), 3);
    txn.delete(&t, &all[1]).unwrap();
    txn.update(&t, &all[2], &row(&t, 8, 8, "other")).unwrap();
    commit(txn);
    drop((t, engine));
    let engine = open(&disk);
    let t = table(&engine, "test", "t");
    let mut txn = begin(&engine);
    assert_eq!(ids_in(&mut txn, &t), vec![7, 8]);
    insert(&mut txn, &t, 9, 9, "").unwrap();
    commit(txn);
    assert_eq!(ids(&engine, &t), vec![7, 8, 9]);
    check(&engine, &t);
}

#[test]
fn long_values_go_off_page_and_come_back() {
    let (disk, engine) = fresh(7);
    let mut def = TableDef::new("test", "t");
    def.columns = keyed("t").columns;
    def.columns[2].ty = ColumnType::longblob();
    def.primary = keyed("t").primary;
    let t = create(&engine, def);
    let long = |byte: u8, len: usize| Value::Bytes(vec![byte; len]);
    let mut txn = begin(&engine);
    txn.insert(&t, &image(&t, &[Value::Int(1), Value::Int(1), long(1, 100_000)])).unwrap();
    txn.insert(&t, &image(&t, &[Value::Int(2), Value::Int(2), long(2, 3)])).unwrap();
    commit(txn);
    let mut reader = begin(&engine);
    reader.open_snapshot().unwrap();
    let mut txn = begin(&engine);
    let one = txn.get(&t, &key(&t, 1), LockMode::Update).unwrap().unwrap();
    txn.update(&t, &one, &image(&t, &[Value::Int(1), Value::Int(9), long(1, 100_000)])).unwrap();
    let two = txn.get(&t, &key(&t, 2), LockMode::Update).unwrap().unwrap();
    txn.update(&t, &two, &image(&t, &[Value::Int(2), Value::Int(2), long(3, 50_000)])).unwrap();
    commit(txn);
    engine.purge().unwrap();
    let read = |txn: &mut engine::Transaction, id| {
        let row = txn.get(&t, &key(&t, id), LockMode::Snapshot).unwrap().unwrap();
        t.layout.decode_all(&row.image).unwrap()
    };
    assert_eq!(read(&mut reader, 2)[2], long(2, 3));
    assert_eq!(read(&mut begin(&engine), 1), vec![Value::Int(1), Value::Int(9), long(1, 100_000)]);
    assert_eq!(read(&mut begin(&engine), 2)[2], long(3, 50_000));
    drop((reader, t, engine));
    let engine = open(&disk);
    let t = table(&engine, "test", "t");
    let mut txn = begin(&engine);
    for (id, byte, len) in [(1, 1, 100_000), (2, 3, 50_000)] {
        let row = txn.get(&t, &key(&t, id), LockMode::Snapshot).unwrap().unwrap();
        assert_eq!(t.layout.decode(&row.image, 2).unwrap(), long(byte, len));
    }
    check(&engine, &t);
}

#[test]
fn a_row_that_would_need_too_many_columns_off_page_is_refused() {
    const COLUMNS: usize = 320;
    // A page of 4 KiB is full before there are so many.
    let disk = SimDisk::new(15);
    let engine = Engine::open(EngineConfig { page_size: 16 << 10, ..config(&disk) }).unwrap();
    let schema = SchemaDef { name: "test".into(), collation: 255 };
    ddl("CREATE SCHEMA test", |context| engine.create_schema(schema, context)).unwrap();
    let mut def = TableDef::new("test", "t");
    def.columns.push(ColumnDef::new("id", ColumnType::int(false)).not_null());
    let texts = (0..COLUMNS).map(|at| ColumnDef::new(&format!("c{at}"), ColumnType::varchar(120, 255)));
    def.columns.extend(texts);
    def.primary = Some(vec![IndexColumn::whole(0)]);
    let t = create(&engine, def);
    let put = |id: i64, len: usize| {
        let mut txn = begin(&engine);
        txn.begin_statement(StatementContext::default());
        let mut values = vec![Value::Int(id)];
        values.resize(COLUMNS + 1, Value::text(&"v".repeat(len)));
        let mut image = Vec::new();
        t.layout.encode(&values, &mut image).unwrap();
        txn.insert(&t, &image).unwrap();
        txn.end_statement();
        txn.commit(&CommitOptions::default()).map(|_| image)
    };
    // With 72 bytes in each column some 250 columns leave the page; with 100 bytes it would be more
    // than one byte can count.
    let image = put(1, 72).unwrap();
    assert!(matches!(put(2, 100), Err(EngineError::RowTooLarge { .. })));
    let mut txn = begin(&engine);
    let found = txn.get(&t, &key(&t, 1), LockMode::Snapshot).unwrap();
    assert!(found.is_some_and(|row| row.image == image), "the row that fits has all its columns");
    drop(txn);
    check(&engine, &t);
    assert_eq!(ids(&engine, &t), vec![1]);
}

#[test]
fn a_row_that_moves_to_another_key_takes_its_entries_along() {
    let (disk, engine) = fresh(8);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "one").unwrap();
    insert(&mut txn, &t, 2, 20, "two").unwrap();
    commit(txn);
    let mut txn = begin(&engine);
    txn.set_row_image(engine::RowImage::Minimal);
    let old = txn.get(&t, &key(&t, 1), LockMode::Update).unwrap().unwrap();
    assert!(matches!(txn.update(&t, &old, &row(&t, 2, 10, "one")), Err(EngineError::Duplicate { .. })));
    txn.update(&t, &old, &row(&t, 5, 10, "one")).unwrap();
    txn.commit(&CommitOptions::default()).unwrap();
    check(&engine, &t);
    drop((t, engine));
    let engine = open(&disk);
    let t = table(&engine, "test", "t");
    assert_eq!(ids(&engine, &t), vec![2, 5]);
    let all = rows(&mut begin(&engine), &t, IndexRef::Secondary(0), KeyRange::all());
    assert_eq!(ints(&t, &all, 0), vec![5, 2]);
    check(&engine, &t);
}

/// A row that a scan has read and locked is not read again to be changed, unless the lock or the
/// row is no longer what it was.
#[test]
fn a_row_is_changed_as_it_is_and_not_as_a_scan_read_it() {
    let (_, engine) = fresh(11);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    (1..=3).for_each(|id| insert(&mut txn, &t, id, 10 * id, "").unwrap());
    commit(txn);
    let first = |txn: &mut Transaction| {
        let range = KeyRange::all();
        let mut scan = txn.scan(&t, IndexRef::Primary, range, Direction::Forward, LockMode::Update).unwrap();
        scan.next(txn).unwrap().unwrap()
    };
    // The row's lock is released, and another transaction changes the row.
    let mut txn = engine.begin(Isolation::ReadCommitted);
    let old = first(&mut txn);
    txn.release_unwanted();
    let mut other = begin(&engine);
    update(&mut other, &t, 1, 77, "other").unwrap();
    commit(other);
    txn.delete(&t, &old).unwrap();
    commit(txn);
    assert_eq!(ids(&engine, &t), [2, 3]);
    check(&engine, &t);
    // The transaction itself changes the row after the scan has read it.
    let mut txn = begin(&engine);
    let old = first(&mut txn);
    update(&mut txn, &t, 2, 88, "own").unwrap();
    let again = first(&mut txn);
    txn.delete(&t, &old).unwrap();
    assert_eq!(ints(&t, &[again], 1), [88]);
    commit(txn);
    check(&engine, &t);
    // The row is just as it was read.
    let mut txn = begin(&engine);
    let old = first(&mut txn);
    txn.update(&t, &old, &row(&t, 3, 99, "new")).unwrap();
    commit(txn);
    let mut txn = begin(&engine);
    let old = first(&mut txn);
    txn.delete(&t, &old).unwrap();
    commit(txn);
    assert!(ids(&engine, &t).is_empty());
    check(&engine, &t);
}

#[test]
fn a_report_of_locks_ends_when_nobody_wants_it_any_more() {
    let (_, engine) = fresh(1);
    let table = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, 1, "").unwrap();
    commit(txn);
    let mut txn = begin(&engine);
    assert!(txn.get(&table, &key(&table, 1), LockMode::Update).unwrap().is_some());
    let interrupt = AtomicBool::new(false);
    let locks = engine.data_locks(&interrupt).unwrap().locks;
    assert!(locks.iter().any(|lock| lock.is_record), "{locks:?}");
    interrupt.store(true, Ordering::Relaxed);
    assert!(matches!(engine.data_locks(&interrupt), Err(EngineError::Interrupted)));
}
