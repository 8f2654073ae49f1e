use super::*;
use std::sync::mpsc;

const LONG_MS: u64 = 60_000;

fn id(n: u8) -> LockId {
    LockId::row(7, CLUSTERED, &[n])
}

#[test]
fn shared_locks_share_and_exclusive_locks_time_out() {
    let table = LockTable::new();
    let (mut a, mut b) = (table.owner(), table.owner());
    assert!(table.acquire(&mut a, id(1), LockType::Shared, 0).unwrap());
    assert!(table.acquire(&mut b, id(1), LockType::Shared, 0).unwrap());
    assert!(!table.acquire(&mut b, id(1), LockType::Shared, 0).unwrap());
    let refused = table.acquire(&mut a, id(1), LockType::Exclusive, 1);
    assert!(matches!(refused, Err(EngineError::LockWaitTimeout)));
    table.release_all(&mut b);
    assert!(table.acquire(&mut a, id(1), LockType::Exclusive, 0).unwrap());
    table.release_all(&mut a);
    assert_eq!(table.len(), 0);
}

#[test]
fn two_owners_in_opposite_order_deadlock_and_one_goes_on() {
    let table = Arc::new(LockTable::new());
    let mut a = table.owner();
    table.acquire(&mut a, id(1), LockType::Exclusive, 0).unwrap();
    let (ready, is_ready) = mpsc::channel();
    let other = {
        let table = table.clone();
        os::thread::spawn("other", move || {
            let mut b = table.owner();
            table.acquire(&mut b, id(2), LockType::Exclusive, 0).unwrap();
            ready.send(()).unwrap();
            let result = table.acquire(&mut b, id(1), LockType::Exclusive, LONG_MS);
            table.release_all(&mut b);
            result.is_ok()
        })
    };
    is_ready.recv().unwrap();
    let mine = table.acquire(&mut a, id(2), LockType::Exclusive, LONG_MS);
    table.release_all(&mut a);
    let theirs = other.join().unwrap();
    assert!(mine.is_ok() != theirs, "exactly one of the two is the victim");
    assert_eq!(table.len(), 0);
    assert_eq!(table.deadlocks.load(Ordering::Relaxed), 1);
}

#[test]
fn a_second_upgrade_is_a_deadlock() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b) = (table.owner(), table.owner());
    table.acquire(&mut a, id(1), LockType::Shared, 0).unwrap();
    table.acquire(&mut b, id(1), LockType::Shared, 0).unwrap();
    let other = {
        let table = table.clone();
        os::thread::spawn("other", move || {
            let result = table.acquire(&mut b, id(1), LockType::Exclusive, LONG_MS).is_ok();
            table.release_all(&mut b);
            result
        })
    };
    let mine = table.acquire(&mut a, id(1), LockType::Exclusive, LONG_MS).is_ok();
    table.release_all(&mut a);
    assert!(mine != other.join().unwrap());
}

#[test]
fn waiters_are_served_in_order() {
    let table = Arc::new(LockTable::new());
    let mut a = table.owner();
    table.acquire(&mut a, id(1), LockType::Exclusive, 0).unwrap();
    let (done, order) = mpsc::channel();
    let mut threads = Vec::new();
    for n in 0..4u64 {
        let (thread_table, done) = (table.clone(), done.clone());
        threads.push(os::thread::spawn("waiter", move || {
            let mut owner = thread_table.owner();
            thread_table.acquire(&mut owner, id(1), LockType::Exclusive, LONG_MS).unwrap();
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
    table.acquire(&mut a, id(1), LockType::Exclusive, 0).unwrap();
    b.set_interrupt(Arc::new(AtomicBool::new(true)));
    let result = table.acquire(&mut b, id(1), LockType::Shared, LONG_MS);
    assert!(matches!(result, Err(EngineError::Interrupted)));
    table.release_all(&mut a);
    assert_eq!(table.len(), 0);
}
