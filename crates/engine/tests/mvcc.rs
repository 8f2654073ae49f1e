//! What readers see while others write: snapshots at each isolation level, delete marks, purge,
//! secondary indexes.

mod support;

use engine::{
    CommitOptions, Direction, Engine, EngineConfig, EngineError, IndexRef, Isolation, KeyRange, LockMode,
    LoggedTransaction, StatementContext, TableLock,
};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use support::*;
use types::Value;

fn k_of(txn: &mut engine::Transaction, t: &Arc<engine::Table>, id: i64) -> Option<i64> {
    let row = txn.get(t, &key(t, id), LockMode::Snapshot).unwrap()?;
    Some(ints(t, &[row], 1)[0])
}

#[test]
fn a_reader_beside_a_transaction_sees_what_it_sees() {
    let (_, engine) = fresh(1);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "").unwrap();
    commit(txn);
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        let mut txn = engine.begin(isolation);
        let before = k_of(&mut txn, &t, 1);
        let mut reader = txn.reader_beside().unwrap().expect("the transaction only reads");
        for _ in 0..3 {
            let mut other = begin(&engine);
            update(&mut other, &t, 1, before.unwrap() + 1, "").unwrap();
            commit(other);
            engine.purge().unwrap();
        }
        // The reader's snapshot is its own, so that purge spares what it sees even if the
        // transaction closes its snapshot.
        drop(txn);
        engine.purge().unwrap();
        assert_eq!(k_of(&mut reader, &t, 1), before);
        assert!(insert(&mut reader, &t, 2, 20, "").is_err(), "a reader changes nothing");
        drop(reader);
        let mut txn = engine.begin(isolation);
        assert_eq!(k_of(&mut txn, &t, 1), before.map(|k| k + 1));
        insert(&mut txn, &t, 3, 30, "").unwrap();
        assert!(txn.reader_beside().unwrap().is_none(), "a reader would not see the changes");
    }
    let mut locking = engine.begin(Isolation::Serializable);
    assert!(locking.reader_beside().unwrap().is_none(), "the transaction locks what it reads");
}

#[test]
fn repeatable_read_keeps_its_snapshot_and_read_committed_does_not() {
    let (_, engine) = fresh(1);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "").unwrap();
    insert(&mut txn, &t, 2, 20, "").unwrap();
    commit(txn);
    let mut repeatable = engine.begin(Isolation::RepeatableRead);
    let mut committed = engine.begin(Isolation::ReadCommitted);
    assert_eq!(k_of(&mut repeatable, &t, 1), Some(10));
    committed.begin_statement(StatementContext::default());
    assert_eq!(k_of(&mut committed, &t, 1), Some(10));
    committed.end_statement();
    for k in 11..14 {
        let mut txn = begin(&engine);
        update(&mut txn, &t, 1, k, "").unwrap();
        delete(&mut txn, &t, 2).unwrap();
        insert(&mut txn, &t, 2, k, "").unwrap();
        commit(txn);
        engine.purge().unwrap();
    }
    let mut txn = begin(&engine);
    delete(&mut txn, &t, 2).unwrap();
    insert(&mut txn, &t, 3, 30, "").unwrap();
    commit(txn);
    engine.purge().unwrap();
    assert_eq!((k_of(&mut repeatable, &t, 1), k_of(&mut repeatable, &t, 2)), (Some(10), Some(20)));
    assert_eq!(ids_in(&mut repeatable, &t), vec![1, 2]);
    let by_k = rows(&mut repeatable, &t, IndexRef::Secondary(0), KeyRange::all());
    assert_eq!(ints(&t, &by_k, 1), vec![10, 20]);
    committed.begin_statement(StatementContext::default());
    assert_eq!((k_of(&mut committed, &t, 1), k_of(&mut committed, &t, 2)), (Some(13), None));
    assert_eq!(ids_in(&mut committed, &t), vec![1, 3]);
    committed.end_statement();
    // A locking read sees the newest committed row even in an old snapshot.
    let newest = repeatable.get(&t, &key(&t, 1), LockMode::Share).unwrap().unwrap();
    assert_eq!(ints(&t, &[newest], 1), vec![13]);
    drop((repeatable, committed));
    engine.purge().unwrap();
    let status = engine.status();
    let of = |name: &str| status.iter().find(|(held, _)| held == name).unwrap().1;
    assert_eq!((of("Slipstream_versions"), of("Slipstream_version_bytes")), (0, 0));
    assert!(of("Slipstream_purged_entries") > 0, "delete marks went with the last snapshot that needed them");
    check(&engine, &t);
}

#[test]
fn a_snapshot_sees_no_half_of_a_transaction() {
    // Transfers between accounts never change the sum that a snapshot sees, by either index, while
    // purge runs.
    let (_, engine) = fresh(2);
    let t = create(&engine, keyed("t"));
    const ACCOUNTS: i64 = 40;
    let mut txn = begin(&engine);
    for id in 0..ACCOUNTS {
        insert(&mut txn, &t, id, 100, "").unwrap();
    }
    commit(txn);
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut threads = Vec::new();
    for thread in 0..3u64 {
        let (engine, t, stop, done) = (engine.clone(), t.clone(), stop.clone(), done.clone());
        threads.push(os::thread::spawn("transfer", move || {
            let mut rng = os::random::Rng::new(os::random::test_seed("transfers") + thread);
            while !stop.load(Ordering::Relaxed) {
                let (from, to) = (rng.below(ACCOUNTS as u64) as i64, rng.below(ACCOUNTS as u64) as i64);
                let mut txn = begin(&engine);
                let mut transfer = || -> Result<(), EngineError> {
                    for (id, change) in [(from, -1), (to, 1)] {
                        let row = txn.get(&t, &key(&t, id), LockMode::Update)?.expect("accounts stay");
                        let k = ints(&t, &[row], 1)[0];
                        update(&mut txn, &t, id, k + change, "")?;
                    }
                    Ok(())
                };
                match transfer() {
                    Ok(()) => {
                        commit(txn);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(EngineError::Deadlock) => txn.rollback(),
                    Err(error) => panic!("{error}"),
                }
            }
        }));
    }
    let mut round = 0;
    // The loop goes on until both sides have done enough, however the machine schedules them.
    while round < 300 || done.load(Ordering::Relaxed) < 100 {
        round += 1;
        let mut txn = begin(&engine);
        let index = if round % 2 == 0 { IndexRef::Primary } else { IndexRef::Secondary(0) };
        let seen = rows(&mut txn, &t, index, KeyRange::all());
        assert_eq!(seen.len() as i64, ACCOUNTS, "round {round}, {index:?}");
        assert_eq!(ints(&t, &seen, 1).iter().sum::<i64>(), ACCOUNTS * 100, "round {round}");
        drop(txn);
        engine.purge().unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    check(&engine, &t);
}

#[test]
fn writers_of_one_row_wait_and_none_is_lost() {
    let (_, engine) = fresh(3);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 0, "").unwrap();
    commit(txn);
    const EACH: i64 = 50;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (engine, t) = (engine.clone(), t.clone());
            os::thread::spawn("counter", move || {
                for _ in 0..EACH {
                    let mut txn = begin(&engine);
                    let row = txn.get(&t, &key(&t, 1), LockMode::Update).unwrap().unwrap();
                    let k = ints(&t, &[row], 1)[0];
                    update(&mut txn, &t, 1, k + 1, "").unwrap();
                    commit(txn);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(k_of(&mut begin(&engine), &t, 1), Some(4 * EACH));
}

#[test]
fn waits_time_out_and_cycles_are_broken() {
    let (_, engine) = fresh(4);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 1, "").unwrap();
    insert(&mut txn, &t, 2, 2, "").unwrap();
    commit(txn);
    let mut a = begin(&engine);
    update(&mut a, &t, 1, 5, "").unwrap();
    let mut b = begin(&engine);
    b.set_row_lock_timeout_ms(1);
    assert!(matches!(update(&mut b, &t, 1, 6, ""), Err(EngineError::LockWaitTimeout)));
    // An insert of a key that another transaction has inserted waits too.
    insert(&mut a, &t, 9, 9, "").unwrap();
    assert!(matches!(insert(&mut b, &t, 9, 8, ""), Err(EngineError::LockWaitTimeout)));
    update(&mut b, &t, 2, 7, "").unwrap();
    b.set_row_lock_timeout_ms(60_000);
    let (other, t2) = (engine.clone(), t.clone());
    let thread = os::thread::spawn("b", move || {
        let result = update(&mut b, &t2, 1, 6, "").map(|_| ());
        if result.is_ok() {
            commit(b);
        }
        drop(other);
        result
    });
    let mine = update(&mut a, &t, 2, 8, "");
    match mine {
        Ok(_) => {
            commit(a);
        }
        Err(EngineError::Deadlock) => a.rollback(),
        Err(ref error) => panic!("{error}"),
    }
    let theirs = thread.join().unwrap();
    assert!(mine.is_ok() != theirs.is_ok(), "one of the two is the victim: {mine:?} {theirs:?}");
    check(&engine, &t);
}

#[test]
fn serializable_reads_lock() {
    let (_, engine) = fresh(5);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 1, "").unwrap();
    commit(txn);
    let mut reader = engine.begin(Isolation::Serializable);
    assert_eq!(k_of(&mut reader, &t, 1), Some(1));
    let mut writer = begin(&engine);
    writer.set_row_lock_timeout_ms(1);
    assert!(matches!(update(&mut writer, &t, 1, 2, ""), Err(EngineError::LockWaitTimeout)));
    drop(reader);
    update(&mut writer, &t, 1, 2, "").unwrap();
    commit(writer);
}

#[test]
fn unique_inserts_from_two_sides_leave_one() {
    let (_, engine) = fresh(6);
    let mut def = keyed("t");
    def.indexes[0].unique = true;
    let t = create(&engine, def);
    let threads: Vec<_> = (0..4i64)
        .map(|thread| {
            let (engine, t) = (engine.clone(), t.clone());
            os::thread::spawn("inserter", move || {
                let mut done = 0;
                for k in 0..100 {
                    let mut txn = begin(&engine);
                    match insert(&mut txn, &t, k * 10 + thread, k, "") {
                        Ok(()) => {
                            commit(txn);
                            done += 1;
                        }
                        Err(EngineError::Duplicate { .. } | EngineError::Deadlock) => txn.rollback(),
                        Err(error) => panic!("{error}"),
                    }
                }
                done
            })
        })
        .collect();
    let done: i32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    let all = rows(&mut begin(&engine), &t, IndexRef::Secondary(0), KeyRange::all());
    assert_eq!(all.len() as i32, done);
    let mut ks = ints(&t, &all, 1);
    ks.dedup();
    assert_eq!(ks.len() as i32, done, "no key is there twice");
    assert_eq!(done, 100, "somebody got each key");
    check(&engine, &t);
}

#[test]
fn values_of_deleted_rows_are_not_there_for_readers_by_index() {
    let (_, engine) = fresh(7);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    for id in 0..50 {
        insert(&mut txn, &t, id, id / 10, "").unwrap();
    }
    commit(txn);
    let mut old = begin(&engine);
    old.open_snapshot().unwrap();
    let mut txn = begin(&engine);
    for id in 0..50 {
        if id % 2 == 0 {
            delete(&mut txn, &t, id).unwrap();
        } else {
            update(&mut txn, &t, id, 100 + id, "").unwrap();
        }
    }
    commit(txn);
    let prefix = t.encode_key(IndexRef::Secondary(0), &[Value::Int(2)]).unwrap();
    let range = || KeyRange::prefix(&prefix);
    let seen = rows(&mut old, &t, IndexRef::Secondary(0), range());
    assert_eq!(ints(&t, &seen, 0), (20..30).collect::<Vec<_>>());
    assert!(rows(&mut begin(&engine), &t, IndexRef::Secondary(0), range()).is_empty());
    check(&engine, &t);
    drop(old);
    engine.purge().unwrap();
    check(&engine, &t);
}

#[test]
fn a_row_that_came_back_is_not_what_it_once_was_to_those_who_saw_it_gone() {
    let (_, engine) = fresh(8);
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 10, "").unwrap();
    commit(txn);
    let mut reader = begin(&engine);
    reader.open_snapshot().unwrap();
    let mut txn = begin(&engine);
    update(&mut txn, &t, 1, 11, "").unwrap();
    commit(txn);
    drop(reader);
    // The version that the reader needed is still kept. This delete keeps none, because nobody
    // reads.
    let mut txn = begin(&engine);
    delete(&mut txn, &t, 1).unwrap();
    commit(txn);
    let mut reader = begin(&engine);
    reader.open_snapshot().unwrap();
    let mut txn = begin(&engine);
    insert(&mut txn, &t, 1, 12, "").unwrap();
    commit(txn);
    assert_eq!(k_of(&mut reader, &t, 1), None);
    assert_eq!(ids_in(&mut reader, &t), Vec::<i64>::new());
    assert_eq!(k_of(&mut begin(&engine), &t, 1), Some(12));
    drop(reader);
    engine.purge().unwrap();
    let status = engine.status();
    assert_eq!(status.iter().find(|(name, _)| name == "Slipstream_versions").unwrap().1, 0);
}

#[test]
fn the_snapshot_that_needs_too_much_is_given_up_and_the_others_go_on() {
    const LIMIT: u64 = 64 << 10;
    let (disk, engine) = fresh(11);
    engine.close().unwrap();
    drop(engine);
    let limited = EngineConfig { version_memory_limit_bytes: LIMIT, ..config(&disk) };
    let engine = engine::Engine::open(limited).unwrap();
    let status = |name: &str| engine.status().iter().find(|(held, _)| held == name).unwrap().1;
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    (1..=20).for_each(|id| insert(&mut txn, &t, id, 1, "").unwrap());
    commit(txn);
    let change = |id: i64, k: i64, c: &str| {
        let mut txn = begin(&engine);
        assert!(update(&mut txn, &t, id, k, c).unwrap());
        commit(txn);
    };
    let mut oldest = begin(&engine);
    assert_eq!(k_of(&mut oldest, &t, 1), Some(1));
    change(1, 2, "");
    let mut second = begin(&engine);
    second.open_snapshot().unwrap();
    let filler = "x".repeat(500);
    for round in 0..40 {
        (2..=20).for_each(|id| change(id, round, &filler));
        engine.purge().unwrap();
        assert!(status("Slipstream_version_bytes") <= LIMIT, "round {round}");
    }
    assert_eq!(status("Slipstream_snapshots_evicted"), 2);
    for too_old in [&mut oldest, &mut second] {
        let refused = too_old.get(&t, &key(&t, 1), LockMode::Snapshot);
        assert!(matches!(refused, Err(EngineError::SnapshotTooOld { limit_bytes: LIMIT })), "{refused:?}");
        let all = KeyRange::all();
        let forward = engine::Direction::Forward;
        let mut scan = too_old.scan(&t, IndexRef::Primary, all, forward, LockMode::Snapshot).unwrap();
        assert!(matches!(scan.next(too_old), Err(EngineError::SnapshotTooOld { .. })));
        // A locking read returns the row as it is now.
        assert!(too_old.get(&t, &key(&t, 1), LockMode::Share).unwrap().is_some());
    }
    oldest.rollback();
    second.rollback();
    let mut young = begin(&engine);
    assert_eq!(k_of(&mut young, &t, 1), Some(2));
    change(1, 3, "");
    engine.purge().unwrap();
    assert_eq!(k_of(&mut young, &t, 1), Some(2), "within the limit it is kept");
    young.rollback();
    while engine.purge().unwrap() > 0 {}
    assert_eq!(status("Slipstream_versions"), 0);
    check(&engine, &t);
}

/// Runs a statement's reads in a thread of their own, and holds back an earlier commit until the
/// reads have ended or wait for it.
fn with_an_earlier_commit_held_back<R: Send + 'static>(
    engine: &Arc<Engine>,
    earlier: LoggedTransaction,
    reads: impl FnOnce() -> R + Send + 'static,
) -> R {
    let reader = os::thread::spawn("reader", reads);
    while !reader.is_finished() && engine.visibility_waits() == 0 {
        os::thread::yield_now();
    }
    earlier.complete().unwrap();
    reader.join().unwrap()
}

/// A commit releases its locks when it is on its pages. If an earlier commit is not on its pages
/// yet, the later one is not visible yet. A transaction that gets one of the locks sees the commit
/// all the same, and so does another one that is told by it.
#[test]
fn who_gets_a_lock_sees_what_its_holder_committed() {
    // The way the lock is got, the isolation level, and the way the transaction goes on.
    let cases = [
        ("row", Isolation::RepeatableRead, "reads"),
        ("row", Isolation::ReadCommitted, "reads"),
        ("row, waited for", Isolation::RepeatableRead, "reads"),
        ("gap", Isolation::RepeatableRead, "reads"),
        ("scan", Isolation::RepeatableRead, "reads"),
        ("scan", Isolation::ReadCommitted, "reads"),
        ("row", Isolation::RepeatableRead, "commits"),
        ("table", Isolation::RepeatableRead, "reads"),
    ];
    for (how, isolation, then) in cases {
        let (_disk, engine) = fresh(5);
        let t = create(&engine, keyed("t"));
        let other = create(&engine, keyed("other"));
        let mut setup = begin(&engine);
        for id in [1, 2, 5, 9] {
            insert(&mut setup, &t, id, 0, "before").unwrap();
        }
        insert(&mut setup, &other, 1, 0, "before").unwrap();
        setup.commit(&CommitOptions::default()).unwrap();
        // A reader is open, so that commits leave versions.
        let mut old = begin(&engine);
        assert_eq!(k_of(&mut old, &t, 1), Some(0));
        // The earlier commit is in the log, but not on its pages.
        let mut earlier = engine.begin_apply();
        insert(&mut earlier, &other, 77, 0, "earlier").unwrap();
        let logged = earlier.log_received(&[], &CommitOptions::default(), None).unwrap();
        // The holder locks 1, which it leaves as it is, and the gap between 5 and 9. It changes 2
        // and deletes 5.
        let mut holder = begin(&engine);
        holder.begin_statement(StatementContext::default());
        holder.get(&t, &key(&t, 1), LockMode::Update).unwrap();
        assert!(holder.get(&t, &key(&t, 7), LockMode::Update).unwrap().is_none());
        holder.end_statement();
        update(&mut holder, &t, 2, 42, "after").unwrap();
        delete(&mut holder, &t, 5).unwrap();
        let not_waiting = CommitOptions { wait: false, ..CommitOptions::default() };
        let in_line = (how == "row, waited for").then(|| {
            let engine = engine.clone();
            let t = t.clone();
            os::thread::spawn("waiter", move || {
                let mut txn = engine.begin(isolation);
                txn.get(&t, &key(&t, 1), LockMode::Update).unwrap();
                txn
            })
        });
        if in_line.is_some() {
            while engine.lock_waits() == 0 {
                os::thread::yield_now();
            }
        }
        holder.commit(&not_waiting).unwrap();
        let waited = in_line.map(|waiter| waiter.join().unwrap());
        let (of, table) = (engine.clone(), t.clone());
        let found = with_an_earlier_commit_held_back(&engine, logged, move || {
            let t = table;
            let mut txn = waited.unwrap_or_else(|| of.begin(isolation));
            match how {
                "row" => drop(txn.get(&t, &key(&t, 1), LockMode::Update).unwrap()),
                "gap" => insert(&mut txn, &t, 7, 0, "into the gap").unwrap(),
                "scan" => {
                    let mut scan = txn
                        .scan(
                            &t,
                            IndexRef::Primary,
                            KeyRange::between(Bound::Included(&key(&t, 5)), Bound::Unbounded),
                            Direction::Forward,
                            LockMode::Share,
                        )
                        .unwrap();
                    let row = scan.next(&mut txn).unwrap().expect("9 is there");
                    assert_eq!(row.key, key(&t, 9), "5 is not");
                }
                "table" => {
                    let tables = [("test".to_string(), "t".to_string(), TableLock::Read)];
                    drop(of.lock_tables(&tables, 1000, None).unwrap());
                }
                _ => {}
            }
            if then == "commits" {
                txn.commit(&CommitOptions::default()).unwrap();
                txn = of.begin(isolation);
            }
            (k_of(&mut txn, &t, 2), k_of(&mut txn, &t, 5))
        });
        assert_eq!(found, (Some(42), None), "{how}, {isolation:?}, {then}");
        old.rollback();
    }
}
