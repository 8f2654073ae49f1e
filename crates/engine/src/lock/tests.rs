use super::*;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

const LONG: Patience<'static> = Patience { timeout_ms: 60_000, describe: &|| String::new(), row: None };
const AT_ONCE: Patience<'static> = Patience { timeout_ms: 0, describe: &|| String::new(), row: None };

fn id(n: u8) -> LockId {
    LockId::row(7, CLUSTERED, &[n])
}

#[test]
fn shared_locks_share_and_exclusive_locks_time_out() {
    let table = LockTable::new();
    let (mut a, mut b) = (table.owner(), table.owner());
    assert_eq!(table.acquire(&mut a, id(1), LockType::Shared, AT_ONCE).unwrap(), Acquired::New);
    assert_eq!(table.acquire(&mut b, id(1), LockType::Shared, AT_ONCE).unwrap(), Acquired::New);
    assert_eq!(table.acquire(&mut b, id(1), LockType::Shared, AT_ONCE).unwrap(), Acquired::Held);
    assert_eq!(table.try_acquire(&mut a, id(1), LockType::Exclusive), None);
    let refused = table.acquire(&mut a, id(1), LockType::Exclusive, AT_ONCE);
    assert!(matches!(refused, Err(EngineError::LockWaitTimeout)));
    table.release_all(&mut b);
    assert_eq!(table.acquire(&mut a, id(1), LockType::Exclusive, AT_ONCE).unwrap(), Acquired::Upgraded);
    table.release(&mut a, id(1));
    assert_eq!((table.len(), a.held()), (0, 0));
}

#[test]
fn who_changes_a_table_and_who_wants_it_unchanged_keep_each_other_out() {
    use LockType::{Exclusive, Shared, SharedReadOnly, SharedWrite};
    let table = LockTable::new();
    let (mut a, mut b, mut c) = (table.owner(), table.owner(), table.owner());
    for (first, second, go_together) in [
        (Shared, SharedWrite, true),
        (Shared, SharedReadOnly, true),
        (SharedWrite, SharedWrite, true),
        (SharedReadOnly, SharedReadOnly, true),
        (SharedWrite, SharedReadOnly, false),
        (SharedReadOnly, SharedWrite, false),
        (SharedReadOnly, Exclusive, false),
        (SharedWrite, Exclusive, false),
    ] {
        table.acquire(&mut a, id(1), first, AT_ONCE).unwrap();
        let granted = table.try_acquire(&mut b, id(1), second).is_some();
        assert_eq!(granted, go_together, "{first:?} and {second:?}");
        table.release_all(&mut a);
        table.release_all(&mut b);
    }
    // A reader becomes a writer beside another reader, but not beside an owner that wants the table
    // unchanged.
    table.acquire(&mut a, id(1), Shared, AT_ONCE).unwrap();
    table.acquire(&mut b, id(1), Shared, AT_ONCE).unwrap();
    assert_eq!(table.try_acquire(&mut a, id(1), SharedWrite), Some(Acquired::Upgraded));
    assert_eq!(table.try_acquire(&mut a, id(1), Shared), Some(Acquired::Held));
    assert_eq!(table.try_acquire(&mut c, id(1), SharedReadOnly), None);
    table.release_all(&mut a);
    assert_eq!(table.try_acquire(&mut c, id(1), SharedReadOnly), Some(Acquired::New));
    assert_eq!(table.try_acquire(&mut b, id(1), SharedWrite), None);
    table.release_all(&mut b);
    table.release_all(&mut c);
    assert_eq!(table.len(), 0);
}

#[test]
fn readers_and_writers_pass_one_who_waits_for_writers() {
    let table = Arc::new(LockTable::new());
    let (mut writer, mut other, mut reader) = (table.owner(), table.owner(), table.owner());
    table.acquire(&mut writer, id(1), LockType::SharedWrite, AT_ONCE).unwrap();
    let waiting = {
        let (table, mut owner) = (table.clone(), table.owner());
        os::thread::spawn("waiter", move || {
            let granted = table.acquire(&mut owner, id(1), LockType::SharedReadOnly, LONG).is_ok();
            table.release_all(&mut owner);
            granted
        })
    };
    while table.current_waits.load(Ordering::Relaxed) == 0 {
        os::clock::sleep(Duration::from_millis(1));
    }
    assert_eq!(table.try_acquire(&mut reader, id(1), LockType::Shared), Some(Acquired::New));
    assert_eq!(table.try_acquire(&mut other, id(1), LockType::SharedWrite), Some(Acquired::New));
    table.release_all(&mut writer);
    assert_eq!(table.current_waits.load(Ordering::Relaxed), 1, "it waits for the other writer");
    table.release_all(&mut other);
    assert!(waiting.join().unwrap(), "the reader is in nobody's way");
    table.release_all(&mut reader);
    assert_eq!(table.len(), 0);
}

#[test]
fn two_owners_in_opposite_order_deadlock_and_one_goes_on() {
    let table = Arc::new(LockTable::new());
    let mut a = table.owner();
    table.acquire(&mut a, id(1), LockType::Exclusive, AT_ONCE).unwrap();
    let (ready, is_ready) = mpsc::channel();
    let other = {
        let table = table.clone();
        os::thread::spawn("other", move || {
            let mut b = table.owner();
            table.acquire(&mut b, id(2), LockType::Exclusive, AT_ONCE).unwrap();
            ready.send(()).unwrap();
            let result = table.acquire(&mut b, id(1), LockType::Exclusive, LONG);
            table.release_all(&mut b);
            result.is_ok()
        })
    };
    is_ready.recv().unwrap();
    let mine = table.acquire(&mut a, id(2), LockType::Exclusive, LONG);
    table.release_all(&mut a);
    let theirs = other.join().unwrap();
    assert!(mine.is_ok() != theirs, "exactly one of the two is the victim");
    assert_eq!(table.len(), 0);
    assert_eq!(table.deadlocks.load(Ordering::Relaxed), 1);
}

#[test]
fn who_waits_for_a_hold_waits_for_the_one_who_works_under_it() {
    let table = Arc::new(LockTable::new());
    let (mut hold, mut applier, mut session) = (table.owner(), table.owner(), table.owner());
    applier.set_works_under(hold.id());
    table.acquire(&mut hold, id(1), LockType::Shared, AT_ONCE).unwrap();
    table.acquire(&mut session, id(2), LockType::Exclusive, AT_ONCE).unwrap();
    table.acquire(&mut applier, id(3), LockType::Exclusive, AT_ONCE).unwrap();
    let mut ddl = table.owner();
    ddl.set_important();
    let wait = |mut owner: LockOwner, mode| {
        let (locks, before) = (table.clone(), table.waits.load(Ordering::Relaxed));
        let thread = os::thread::spawn("waiter", move || {
            let result = locks.acquire(&mut owner, id(1), mode, LONG).is_ok();
            locks.release_all(&mut owner);
            result
        });
        while table.waits.load(Ordering::Relaxed) == before {
            os::clock::sleep(Duration::from_millis(1));
        }
        thread
    };
    let ddl = wait(ddl, LockType::Exclusive);
    let session = wait(session, LockType::Shared);
    // The applier would wait for the session, which waits for DDL, which waits for the hold.
    let mine = table.acquire(&mut applier, id(2), LockType::Exclusive, LONG).is_ok();
    table.release_all(&mut applier);
    table.release_all(&mut hold);
    assert!(mine != session.join().unwrap(), "exactly one of the two is the victim");
    assert!(ddl.join().unwrap());
    assert_eq!((table.len(), table.deadlocks.load(Ordering::Relaxed)), (0, 1));
}

#[test]
fn a_second_upgrade_is_a_deadlock() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b) = (table.owner(), table.owner());
    table.acquire(&mut a, id(1), LockType::Shared, AT_ONCE).unwrap();
    table.acquire(&mut b, id(1), LockType::Shared, AT_ONCE).unwrap();
    let other = {
        let table = table.clone();
        os::thread::spawn("other", move || {
            let result = table.acquire(&mut b, id(1), LockType::Exclusive, LONG).is_ok();
            table.release_all(&mut b);
            result
        })
    };
    let mine = table.acquire(&mut a, id(1), LockType::Exclusive, LONG).is_ok();
    table.release_all(&mut a);
    assert!(mine != other.join().unwrap());
}

#[test]
fn waiters_are_served_in_order() {
    let table = Arc::new(LockTable::new());
    let mut a = table.owner();
    table.acquire(&mut a, id(1), LockType::Exclusive, AT_ONCE).unwrap();
    let (done, order) = mpsc::channel();
    let mut threads = Vec::new();
    for n in 0..4u64 {
        let (thread_table, done) = (table.clone(), done.clone());
        threads.push(os::thread::spawn("waiter", move || {
            let mut owner = thread_table.owner();
            thread_table.acquire(&mut owner, id(1), LockType::Exclusive, LONG).unwrap();
            done.send(n).unwrap();
            thread_table.release_all(&mut owner);
        }));
        while table.waits.load(Ordering::Relaxed) <= n {
            os::clock::sleep(Duration::from_millis(1));
        }
    }
    table.release_all(&mut a);
    for thread in threads {
        thread.join().unwrap();
    }
    drop(done);
    assert_eq!(order.iter().collect::<Vec<_>>(), vec![0, 1, 2, 3]);
}

#[test]
fn an_interrupt_ends_a_wait() {
    let table = LockTable::new();
    let (mut a, mut b) = (table.owner(), table.owner());
    table.acquire(&mut a, id(1), LockType::Exclusive, AT_ONCE).unwrap();
    b.set_interrupt(Arc::new(AtomicBool::new(true)));
    let result = table.acquire(&mut b, id(1), LockType::Shared, LONG);
    assert!(matches!(result, Err(EngineError::Interrupted)));
    table.release_all(&mut a);
    assert_eq!(table.len(), 0);
}

/// Waits until this many waits have begun.
fn until_waits(table: &LockTable, count: u64) {
    while table.waits.load(Ordering::Relaxed) < count {
        os::clock::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_lightest_of_a_cycle_gives_way() {
    let table = Arc::new(LockTable::new());
    let mut heavy = table.owner();
    heavy.set_changes(100);
    table.acquire(&mut heavy, id(1), LockType::Exclusive, AT_ONCE).unwrap();
    let (ready, is_ready) = mpsc::channel();
    let light = {
        let table = table.clone();
        os::thread::spawn("light", move || {
            let mut light = table.owner();
            light.set_connection_id(7);
            table.acquire(&mut light, id(2), LockType::Exclusive, AT_ONCE).unwrap();
            ready.send(()).unwrap();
            let result = table.acquire(&mut light, id(1), LockType::Exclusive, LONG);
            table.release_all(&mut light);
            matches!(result, Err(EngineError::Deadlock))
        })
    };
    is_ready.recv().unwrap();
    until_waits(&table, 1);
    // The heavy owner closes the cycle and goes on all the same.
    table.acquire(&mut heavy, id(2), LockType::Exclusive, LONG).unwrap();
    assert!(light.join().unwrap(), "the light one is the victim");
    table.release_all(&mut heavy);
    let report = table.latest_deadlock().unwrap();
    assert_eq!(report.members.len(), 2);
    assert_eq!(report.members[report.victim].connection_id, 7);
    assert!(report.to_text().contains("*** WE ROLL BACK TRANSACTION (2)"), "{}", report.to_text());
    assert_eq!(table.len(), 0);
}

#[test]
fn without_detection_a_deadlock_ends_by_timeout() {
    let table = Arc::new(LockTable::new());
    table.set_deadlock_detect(false);
    let mut a = table.owner();
    table.acquire(&mut a, id(1), LockType::Exclusive, AT_ONCE).unwrap();
    let (ready, is_ready) = mpsc::channel();
    let other = {
        let table = table.clone();
        os::thread::spawn("other", move || {
            let mut b = table.owner();
            table.acquire(&mut b, id(2), LockType::Exclusive, AT_ONCE).unwrap();
            ready.send(()).unwrap();
            table.acquire(&mut b, id(1), LockType::Exclusive, LONG).unwrap();
            table.release_all(&mut b);
        })
    };
    is_ready.recv().unwrap();
    until_waits(&table, 1);
    let patience = Patience { timeout_ms: 1, ..LONG };
    let result = table.acquire(&mut a, id(2), LockType::Exclusive, patience);
    assert!(matches!(result, Err(EngineError::LockWaitTimeout)));
    table.release_all(&mut a);
    other.join().unwrap();
    assert!(table.latest_deadlock().is_none());
}

#[test]
fn a_gap_takes_part_in_deadlocks() {
    let table = Arc::new(LockTable::new());
    let at_table = Arc::new(TableLocks::default());
    let mut a = table.owner();
    table.lock_gap(&mut a, &at_table, CLUSTERED, None, None).unwrap();
    let (ready, is_ready) = mpsc::channel();
    let other = {
        let (table, at_table) = (table.clone(), at_table.clone());
        os::thread::spawn("other", move || {
            let mut b = table.owner();
            table.acquire(&mut b, id(9), LockType::Exclusive, AT_ONCE).unwrap();
            ready.send(()).unwrap();
            let result = table.wait_for_key(&b, &at_table, CLUSTERED, &[5], LONG);
            table.release_all(&mut b);
            result.is_ok()
        })
    };
    is_ready.recv().unwrap();
    until_waits(&table, 1);
    let mine = table.acquire(&mut a, id(9), LockType::Exclusive, LONG).is_ok();
    table.release_all(&mut a);
    assert!(mine != other.join().unwrap(), "exactly one of the two is the victim");
    assert_eq!((table.len(), at_table.gap_count()), (0, 0));
}

/// An owner that gets a row's lock depends on the commit that held it. A metadata lock, which every
/// plain read takes, brings no dependency, although it may be in the same shard.
#[test]
fn commits_are_left_with_row_locks_alone() {
    let table = LockTable::new();
    let (mut writer, mut reader, mut next) = (table.owner(), table.owner(), table.owner());
    table.acquire(&mut writer, id(1), LockType::Exclusive, AT_ONCE).unwrap();
    writer.set_committed(50);
    table.release_all(&mut writer);
    let shard = |id: LockId| table.shards.place_of(id);
    let names = (0..100_000).map(|n| LockId::metadata("d", &format!("t{n}")));
    let beside = names.into_iter().find(|name| shard(*name) == shard(id(1))).expect("128 parts");
    table.acquire(&mut reader, beside, LockType::Shared, AT_ONCE).unwrap();
    assert_eq!(reader.depends_on(), 0);
    table.acquire(&mut next, id(1), LockType::Shared, AT_ONCE).unwrap();
    assert_eq!(next.depends_on(), 50);
    table.release_all(&mut reader);
    table.release_all(&mut next);
}
