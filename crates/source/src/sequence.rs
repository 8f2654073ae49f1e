//! `last_committed` and `sequence_number`, the numbers by which a replica's LOGICAL_CLOCK applier finds what may run in parallel.
//!
//! `sequence_number` counts the transactions of a file from 1. `last_committed` is that of the newest transaction of the file that
//! this one depends on, 0 for none; the commit record says it by log position.

use std::collections::VecDeque;

use redo::Lsn;

/// Transactions whose position is remembered; a dependency that is older counts as the oldest one remembered.
const REMEMBERED: usize = 1 << 16;

/// Numbers the transactions of one file.
#[derive(Debug, Clone)]
pub struct Numbering {
    last: u64,
    /// Number that stands for everything older than `recent`.
    floor: u64,
    /// End of the commit record and number of recent transactions, both rising.
    recent: VecDeque<(Lsn, u64)>,
}

impl Numbering {
    /// Goes on behind the transaction with this number; 0 in a new file.
    pub fn after(last: u64) -> Numbering {
        Numbering { last, floor: last, recent: VecDeque::new() }
    }

    /// Number of the last transaction.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// `(last_committed, sequence_number)` of the next transaction.
    pub fn next(&mut self, seq: Lsn, depends_lsn: Lsn) -> (u64, u64) {
        let last_committed = self.newest_up_to(depends_lsn);
        self.last += 1;
        if self.recent.len() == REMEMBERED
            && let Some((_, number)) = self.recent.pop_front()
        {
            self.floor = number;
        }
        self.recent.push_back((seq, self.last));
        (last_committed, self.last)
    }

    /// Number of the newest transaction whose record ends at or before `lsn`. Mostly it is one of the last few, so the place is bounded
    /// from there, in steps that double: a binary search in all of them misses the cache at each step.
    fn newest_up_to(&self, lsn: Lsn) -> u64 {
        let (mut from, mut to, mut step) = (self.recent.len(), self.recent.len(), 1);
        while from > 0 && self.recent[from - 1].0 > lsn {
            (from, to, step) = (from.saturating_sub(step), from - 1, step * 2);
        }
        while from < to {
            let middle = from.midpoint(to);
            if self.recent[middle].0 <= lsn { from = middle + 1 } else { to = middle }
        }
        from.checked_sub(1).map_or(self.floor, |newest| self.recent[newest].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_become_numbers_of_the_file() {
        let mut numbering = Numbering::after(0);
        assert_eq!(numbering.next(100, 50), (0, 1));
        assert_eq!(numbering.next(200, 100), (1, 2));
        assert_eq!(numbering.next(300, 100), (1, 3));
        assert_eq!(numbering.next(400, 350), (3, 4));
    }

    #[test]
    fn any_dependency_is_found() {
        let mut numbering = Numbering::after(0);
        for count in 0..300u64 {
            for known in 0..=count {
                for lsn in [known * 10, known * 10 + 9] {
                    assert_eq!(numbering.newest_up_to(lsn), known, "{lsn} of {count}");
                }
            }
            numbering.next((count + 1) * 10, 0);
        }
    }

    #[test]
    fn what_is_forgotten_counts_as_a_dependency() {
        let mut numbering = Numbering::after(7);
        assert_eq!(numbering.next(1000, 10), (7, 8));
        let mut numbering = Numbering::after(0);
        for seq in 1..=REMEMBERED as u64 + 5 {
            numbering.next(seq * 10, 0);
        }
        assert_eq!(numbering.next(u64::MAX, 0).0, 5);
    }
}
