//! The lock table under the model checker (see [`os::sync`]).

use std::sync::Arc;

use os::sync::atomic::{AtomicU64, Ordering};
use os::thread::{JoinHandle, spawn, yield_now};

use super::{CLUSTERED, LockId, LockTable, LockType, Patience};

/// A timeout so long that only the grant or a deadlock ends the wait, in milliseconds.
const ENDLESS_MS: u64 = 1 << 40;

fn check(model: fn()) {
    let iterations = std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|text| text.parse().ok());
    let iterations = iterations.unwrap_or(1000);
    shuttle::check_random(model, iterations);
    shuttle::check_pct(model, iterations, 3);
}

fn id(number: usize) -> LockId {
    LockId::row(7, CLUSTERED, &[number as u8])
}

#[derive(Default)]
struct Rows {
    /// The holders of each row, added up: a shared holder counts 1 and an exclusive one 100.
    holders: [AtomicU64; 3],
}

impl Rows {
    fn enter(&self, row: usize, mode: LockType) {
        let weight = if mode == LockType::Exclusive { 100 } else { 1 };
        let before = self.holders[row].fetch_add(weight, Ordering::SeqCst);
        assert!(before == 0 || (before < 100 && weight == 1), "row {row} was held by {before}");
    }

    fn leave(&self, row: usize, mode: LockType) {
        let weight = if mode == LockType::Exclusive { 100 } else { 1 };
        self.holders[row].fetch_sub(weight, Ordering::SeqCst);
    }
}

/// Runs one thread for each plan. A thread takes the rows of its plan one after the other and
/// starts over when it is the victim of a deadlock. All threads must end, and the table must be
/// empty then: a grant that wakes nobody, or a cycle that nobody finds, makes the model hang.
fn run(plans: &'static [&'static [(usize, LockType)]]) {
    let (table, rows) = (Arc::new(LockTable::new()), Arc::new(Rows::default()));
    let start = |plan: &&'static [(usize, LockType)]| -> JoinHandle<()> {
        let (table, rows, plan) = (Arc::clone(&table), Arc::clone(&rows), *plan);
        spawn("owner", move || {
            let mut owner = table.owner();
            loop {
                let mut held: Vec<(usize, LockType)> = Vec::new();
                let mut is_victim = false;
                for &(row, mode) in plan {
                    let patience = Patience { timeout_ms: ENDLESS_MS, describe: &String::new, row: None };
                    if table.acquire(&mut owner, id(row), mode, patience).is_err() {
                        is_victim = true;
                        break;
                    }
                    // A row that is upgraded counts once, in its new mode.
                    if let Some(at) = held.iter().position(|(other, _)| *other == row) {
                        let (_, old) = held.remove(at);
                        rows.leave(row, old);
                    }
                    rows.enter(row, mode);
                    held.push((row, mode));
                }
                held.iter().for_each(|&(row, mode)| rows.leave(row, mode));
                table.release_all(&mut owner);
                if !is_victim {
                    return;
                }
                yield_now();
            }
        })
    };
    let threads: Vec<_> = plans.iter().map(start).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
    assert_eq!(table.len(), 0);
}

const S: LockType = LockType::Shared;
const X: LockType = LockType::Exclusive;

#[test]
fn grants_wake_their_waiters_and_cycles_are_found() {
    check(|| run(&[&[(0, X), (1, X)], &[(1, X), (0, X)]]));
    check(|| run(&[&[(0, X), (1, X)], &[(1, X), (2, X)], &[(2, X), (0, X)]]));
    check(|| run(&[&[(0, S), (0, X)], &[(0, S), (0, X)], &[(0, S)]]));
    check(|| run(&[&[(0, S), (1, S)], &[(1, X), (0, S)], &[(0, X)], &[(0, S), (1, X)]]));
}
