//! Rows that follow their parent row by a foreign key, in a table that a session has locked.

mod support;

use engine::{ForeignKeyDef, Isolation, LockMode, ReferentialAction, StatementContext, TableDef, TableLock};
use support::*;

/// Returns a table whose column `k` refers to `parent.id`, with ON DELETE CASCADE.
fn child() -> TableDef {
    let mut def = keyed("child");
    def.foreign_keys.push(ForeignKeyDef {
        name: "child_ibfk_1".into(),
        columns: vec![1],
        parent_schema: "test".into(),
        parent_table: "parent".into(),
        parent_columns: vec!["id".into()],
        on_delete: ReferentialAction::Cascade,
        on_update: ReferentialAction::NoAction,
    });
    def
}

#[test]
fn a_cascade_waits_for_whoever_has_locked_the_child_table_for_reading() {
    let (_, engine) = fresh(1);
    let parent = create(&engine, keyed("parent"));
    let child = create(&engine, child());
    let mut txn = begin(&engine);
    insert(&mut txn, &parent, 7, 0, "").unwrap();
    insert(&mut txn, &child, 1, 7, "").unwrap();
    commit(txn);
    let names = [("test".to_owned(), "child".to_owned(), TableLock::Read)];
    let locked = engine.lock_tables(&names, 1000, None).unwrap();
    let delete_parent = || {
        let mut txn = engine.begin(Isolation::RepeatableRead);
        txn.set_metadata_lock_timeout_ms(0);
        txn.begin_statement(StatementContext::default());
        let row = txn.get(&parent, &key(&parent, 7), LockMode::Update).unwrap().unwrap();
        txn.delete(&parent, &row).map(|()| commit(txn))
    };
    assert!(matches!(delete_parent(), Err(engine::EngineError::LockWaitTimeout)));
    assert_eq!(ids(&engine, &child), [1], "the locked table is as it was");
    drop(locked);
    delete_parent().unwrap();
    assert!(ids(&engine, &child).is_empty(), "the row has followed its parent");
}
