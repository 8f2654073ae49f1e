//! The row policy: changes of the same row keep their order, and everything else is free.

use super::model::{Model, NOTHING, Simulated};
use crate::history::{History, Nature};

/// The times at which the workers are free, the earliest first.
struct Workers {
    free: Vec<u64>,
}

impl Workers {
    /// Does a piece of work that is ready at `ready`, and returns the time when it is done. Of the
    /// workers that are free by then it takes the one that has been idle for the shortest time, so
    /// that the others can still take work that is ready earlier.
    fn run(&mut self, ready: u64, cost: u64) -> u64 {
        let idle = self.free.partition_point(|&free| free <= ready);
        let end = self.free.remove(idle.saturating_sub(1)).max(ready) + cost;
        let at = self.free.partition_point(|&free| free <= end);
        self.free.insert(at, end);
        end
    }
}

/// The time when a piece of work ends, and its index.
#[derive(Clone, Copy)]
struct End {
    time: u64,
    of: u32,
}

/// Simulates the row policy. The causes of the changes come first, then those of the transactions.
/// Each is the index of a change, or that of a transaction plus the number of changes.
pub fn by_row(history: &History, model: &Model, workers: Option<usize>) -> Simulated {
    let changes = history.changes.len();
    let mut pool = workers.map(|count| Workers { free: vec![0; count] });
    let mut run = |ready: u64, cost: u64| pool.as_mut().map_or(ready + cost, |pool| pool.run(ready, cost));
    let mut ends = vec![0u64; changes];
    let mut causes = vec![NOTHING; changes + history.transactions.len()];
    let mut commits: Vec<End> = Vec::with_capacity(history.transactions.len());
    // A transaction that is not rows waits for everything before it, and everything behind waits
    // for it.
    let mut barrier = End { time: 0, of: NOTHING };
    for (number, transaction) in history.transactions.iter().enumerate() {
        let own = (changes + number) as u32;
        let before = commits.last().copied().unwrap_or(End { time: 0, of: NOTHING });
        if transaction.nature != Nature::Rows {
            causes[own as usize] = before.of;
            barrier = End { time: run(before.time, model.costs.of(transaction)).max(before.time), of: own };
            for change in history.changes_of(transaction) {
                ends[change] = barrier.time;
            }
            commits.push(barrier);
            continue;
        }
        let window = number.checked_sub(model.window).map_or(barrier, |at| commits[at]);
        let earliest = if window.time > barrier.time { window } else { barrier };
        causes[own as usize] = earliest.of;
        let mut last = End { time: run(earliest.time, model.costs.transaction), of: own };
        for change in history.changes_of(transaction) {
            let mut ready = earliest;
            for &edge in history.edges_of(change) {
                if ends[edge as usize] > ready.time {
                    ready = End { time: ends[edge as usize], of: edge };
                }
            }
            causes[change] = ready.of;
            ends[change] = run(ready.time, model.costs.row);
            if ends[change] > last.time {
                last = End { time: ends[change], of: change as u32 };
            }
        }
        commits.push(if last.time > before.time { last } else { before });
    }
    let last = commits.last().copied().unwrap_or(End { time: 0, of: NOTHING });
    Simulated { time: last.time, last: (last.of != NOTHING).then_some(last.of), causes }
}
