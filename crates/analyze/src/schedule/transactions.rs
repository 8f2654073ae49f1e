//! The policies that hand out whole transactions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::model::{Model, NOTHING, Simulated};
use crate::history::{History, Transaction};

/// The latest end so far, and the transaction that has it.
#[derive(Clone, Copy)]
struct Latest {
    time: u64,
    of: u32,
}

const START: Latest = Latest { time: 0, of: NOTHING };

impl Latest {
    fn or(self, other: Latest) -> Latest {
        if other.time > self.time { other } else { self }
    }
}

/// Simulates LOGICAL_CLOCK: a transaction starts when all up to its parent are committed, and not
/// before the previous one.
pub fn in_order(
    history: &History,
    model: &Model,
    workers: Option<usize>,
    parent: impl Fn(&Transaction) -> u32,
) -> Simulated {
    let mut free: Option<BinaryHeap<Reverse<u64>>> = workers.map(|count| vec![Reverse(0); count].into());
    // The entry n is the time when the last of the first n transactions is committed.
    let mut committed = Vec::with_capacity(history.transactions.len() + 1);
    committed.push(START);
    let mut causes = Vec::with_capacity(history.transactions.len());
    let mut dispatched = START;
    for (number, transaction) in history.transactions.iter().enumerate() {
        dispatched = dispatched.or(committed[parent(transaction) as usize]);
        causes.push(dispatched.of);
        let mut start = dispatched.time;
        if let Some(Reverse(earliest)) = free.as_mut().and_then(BinaryHeap::pop) {
            start = start.max(earliest);
            dispatched.time = start;
        }
        let before = committed[number];
        let mut end = Latest { time: start + model.costs.of(transaction), of: number as u32 };
        if let Some(free) = &mut free {
            if model.preserve_commit_order {
                end.time = end.time.max(before.time);
            }
            free.push(Reverse(end.time));
        }
        committed.push(before.or(end));
    }
    finish(committed.last().copied().unwrap_or(START), causes)
}

/// Simulates DATABASE: a schema belongs to one worker as long as that has transactions of it. A
/// transaction of several schemas waits until other workers let go of them.
pub fn by_schema(history: &History, model: &Model, workers: Option<usize>) -> Simulated {
    // With any number of workers there is one for each schema.
    let workers = workers.unwrap_or(history.schemas.len().max(1));
    let mut free = vec![0u64; workers];
    let mut holders = vec![(0usize, START); history.schemas.len()];
    let (mut latest, mut dispatched) = (START, START);
    let mut causes = Vec::with_capacity(history.transactions.len());
    for (number, transaction) in history.transactions.iter().enumerate() {
        let set = history.schema_sets.get(transaction.schemas as usize).and_then(Option::as_ref);
        let Some(schemas) = set else {
            // The transaction has too many schemas, or unknown ones, and runs alone.
            causes.push(latest.of);
            let end = latest.time + model.costs.of(transaction);
            free.fill(end);
            dispatched = Latest { time: end, of: number as u32 };
            latest = dispatched;
            continue;
        };
        let held = schemas
            .iter()
            .map(|&schema| holders[schema as usize])
            .find(|(_, end)| end.time > dispatched.time);
        let worker = held.map_or_else(|| least_loaded(&free), |(worker, _)| worker);
        let mut cause = held.map_or(dispatched, |(_, end)| end);
        for &schema in schemas {
            let (holder, end) = holders[schema as usize];
            if holder != worker && end.time > dispatched.time {
                dispatched = end;
                cause = cause.or(end);
            }
        }
        causes.push(cause.of);
        let end = Latest {
            time: free[worker].max(dispatched.time) + model.costs.of(transaction),
            of: number as u32,
        };
        free[worker] = end.time;
        for &schema in schemas {
            holders[schema as usize] = (worker, end);
        }
        latest = latest.or(end);
    }
    finish(latest, causes)
}

fn least_loaded(free: &[u64]) -> usize {
    (0..free.len()).min_by_key(|&worker| free[worker]).unwrap_or(0)
}

fn finish(latest: Latest, causes: Vec<u32>) -> Simulated {
    Simulated { time: latest.time, last: (latest.of != NOTHING).then_some(latest.of), causes }
}
