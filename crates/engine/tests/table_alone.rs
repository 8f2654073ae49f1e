//! A table that a transaction takes for itself, so that it locks no rows.

mod support;

use engine::{EngineError, Isolation, LockMode, StatementContext};
use support::*;

#[test]
fn a_table_is_had_alone_only_while_nobody_else_uses_it() {
    let (_, engine) = fresh(1);
    let table = create(&engine, keyed("t"));
    let mut other = begin(&engine);
    insert(&mut other, &table, 1, 10, "").unwrap();
    let mut txn = begin(&engine);
    assert!(!txn.take_alone(&table).unwrap(), "another transaction uses the table");
    insert(&mut txn, &table, 2, 20, "").unwrap();
    let with_row_locks = txn.lock_count();
    commit(other);
    commit(txn);

    let mut txn = begin(&engine);
    assert!(txn.take_alone(&table).unwrap());
    let locks = txn.lock_count();
    for id in 3..100 {
        insert(&mut txn, &table, id, 10, "").unwrap();
    }
    assert_eq!(txn.lock_count(), locks, "no row is locked");
    assert!(locks < with_row_locks);
    assert!(matches!(insert(&mut txn, &table, 2, 0, ""), Err(EngineError::Duplicate { .. })));
    let mut reader = engine.begin(Isolation::RepeatableRead);
    reader.set_metadata_lock_timeout_ms(0);
    reader.begin_statement(StatementContext::default());
    let read = reader.get(&table, &key(&table, 3), LockMode::Snapshot);
    assert!(matches!(read, Err(EngineError::LockWaitTimeout)), "the table has one user");
    commit(txn);

    let mut reader = engine.begin(Isolation::RepeatableRead);
    reader.begin_statement(StatementContext::default());
    assert!(reader.get(&table, &key(&table, 99), LockMode::Update).unwrap().is_some());
    drop(reader);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 200, 1, "").unwrap();
    assert!(txn.lock_count() > locks, "rows are locked again");
    commit(txn);
    assert_eq!(ids(&engine, &table).len(), 100);
}

#[test]
fn what_a_transaction_alone_with_its_table_does_not_commit_is_gone() {
    let (_, engine) = fresh(1);
    let table = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    assert!(txn.take_alone(&table).unwrap());
    insert(&mut txn, &table, 1, 10, "").unwrap();
    drop(txn);
    assert!(ids(&engine, &table).is_empty());
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, 11, "").unwrap();
    commit(txn);
    assert_eq!(ids(&engine, &table), [1]);
}
