//! Transactions that take the memory of others that have ended: nothing of those may show.

mod support;
#[path = "support/apply.rs"]
mod support_apply;

use engine::{
    CommitOptions, Direction, Engine, EngineConfig, IndexRef, Isolation, KeyRange, LockMode, MemoryBudget,
    RowImage, SchemaDef, SpentTransaction, StatementContext, Transaction,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::*;

/// A budget that gives whatever is asked for.
#[derive(Default)]
struct Counted(AtomicU64);

impl MemoryBudget for Counted {
    fn take(&self, bytes: u64) -> Result<(), (u16, String)> {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn give_back(&self, bytes: u64) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Commits the transaction, and returns its event group without what differs between two
/// transactions that do the same: times, and the number in the Xid event.
fn group_of(engine: &Arc<Engine>, mut txn: Box<Transaction>) -> (Vec<Vec<u8>>, SpentTransaction) {
    let from = engine.log().current_lsn();
    txn.commit_in_place(&CommitOptions::default()).unwrap();
    engine.log().wait_durable(engine.log().current_lsn()).unwrap();
    let group = engine.commit_stream(from).unwrap().next(None).unwrap().unwrap().group.to_vec().unwrap();
    let mut events: Vec<Vec<u8>> =
        support_apply::events(&group).into_iter().map(|event| event[4..].to_vec()).collect();
    let xid = events.last_mut().unwrap();
    xid.truncate(xid.len() - 8);
    (events, txn.spend())
}

#[test]
fn a_transaction_has_nothing_of_the_one_before_it() {
    // A commit stream has the transactions of a server with a binary log.
    let engine = Engine::open(EngineConfig { log_bin: true, ..config(&SimDisk::new(1)) }).unwrap();
    let schema = SchemaDef { name: "test".into(), collation: 255 };
    ddl("CREATE SCHEMA test", |context| engine.create_schema(schema, context)).unwrap();
    let t = create(&engine, keyed("t"));
    let (budget, interrupt) = (Arc::new(Counted::default()), Arc::new(AtomicBool::new(false)));
    let mut first = engine.begin_in(None, Isolation::Serializable);
    first.set_memory_budget(budget.clone());
    first.set_interrupt(interrupt.clone());
    first.set_connection_id(7);
    first.set_autocommit(true);
    first.set_row_image(RowImage::Minimal);
    first.set_checks(false, false);
    first.set_defines();
    first.open_snapshot().unwrap();
    let mut scan =
        first.scan(&t, IndexRef::Primary, KeyRange::all(), Direction::Forward, LockMode::Update).unwrap();
    assert_eq!(scan.next(&mut first).unwrap(), None);
    for id in 0..2000 {
        insert(&mut first, &t, id, id, &"c".repeat(200)).unwrap();
    }
    first.begin_statement(StatementContext { timestamp_us: 0, rows_query: Some("INSERT".to_owned()) });
    first.set_read_only(true);
    interrupt.store(true, Ordering::Relaxed);
    assert!(budget.0.load(Ordering::Relaxed) > 0, "so many rows take memory of the budget");
    let number = first.id();
    let spent = first.spend();
    assert_eq!(
        budget.0.load(Ordering::Relaxed),
        0,
        "a transaction that has ended keeps no memory of a budget"
    );

    let mut second = engine.begin_in(Some(spent), Isolation::ReadCommitted);
    assert_ne!(second.id(), number);
    assert_eq!(second.isolation(), Isolation::ReadCommitted);
    assert!(second.is_untouched() && !second.has_changes() && !second.has_temporary_changes());
    assert!(!second.is_interrupted());
    assert_eq!((second.lock_count(), second.depends_on()), (0, 0));
    // Nothing of the first transaction is locked, so that others do not wait.
    let mut other = begin(&engine);
    for id in [0, 1000, 5000] {
        insert(&mut other, &t, id, 1, "other").unwrap();
    }
    commit(other);
    insert(&mut second, &t, 1, 10, "second").unwrap();
    assert_eq!(ids_in(&mut second, &t), [0, 1, 1000, 5000]);
    let (with_memory, spent) = group_of(&engine, second);
    let mut new = engine.begin_in(None, Isolation::ReadCommitted);
    insert(&mut new, &t, 2, 10, "second").unwrap();
    let (without, _) = group_of(&engine, new);
    let lengths = |events: &[Vec<u8>]| events.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(&with_memory), lengths(&without));
    assert_eq!(with_memory[..2], without[..2], "BEGIN and the table map are the same");

    // A transaction after a committed one counts its own commit only.
    let mut third = engine.begin_in(Some(spent), Isolation::RepeatableRead);
    assert!(delete(&mut third, &t, 1).unwrap());
    let savepoint = third.savepoint();
    assert!(delete(&mut third, &t, 2).unwrap());
    third.rollback_to(savepoint);
    drop(third.spend());
    assert_eq!(ids(&engine, &t), [0, 1, 2, 1000, 5000]);
    check(&engine, &t);
}

#[test]
fn many_transactions_one_after_the_other_leave_what_they_committed() {
    let (_, engine) = fresh(2);
    let t = create(&engine, keyed("t"));
    let mut rng = Rng::new(test_seed("spent transactions"));
    let (mut spent, mut committed) = (None, BTreeMap::new());
    for round in 0..400 {
        let isolation =
            *rng.pick(&[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]);
        let mut txn = engine.begin_in(spent.take(), isolation);
        let (mut own, mut at_savepoint) = (committed.clone(), None);
        let changes = if round % 50 == 0 { 300 } else { rng.below(5) };
        for _ in 0..changes {
            let (id, k) = (rng.below(400) as i64, round);
            match own.contains_key(&id) {
                false => insert(&mut txn, &t, id, k, "c").map(|_| own.insert(id, k)).unwrap(),
                true if rng.below(3) == 0 => delete(&mut txn, &t, id).map(|_| own.remove(&id)).unwrap(),
                true => update(&mut txn, &t, id, k, "d").map(|_| own.insert(id, k)).unwrap(),
            };
            if rng.below(4) == 0 {
                at_savepoint = Some((txn.savepoint(), own.clone()));
            }
        }
        if let Some((savepoint, then)) = at_savepoint.filter(|_| rng.below(2) == 0) {
            txn.rollback_to(savepoint);
            own = then;
        }
        assert_eq!(ids_in(&mut txn, &t), own.keys().copied().collect::<Vec<_>>());
        if rng.below(4) > 0 {
            txn.commit_in_place(&CommitOptions::default()).unwrap();
            committed = own;
        }
        spent = Some(txn.spend());
    }
    let rows = rows(&mut begin(&engine), &t, IndexRef::Primary, KeyRange::all());
    assert_eq!(ints(&t, &rows, 1), committed.values().copied().collect::<Vec<_>>());
    check(&engine, &t);
}
