//! `last_committed` and `sequence_number`, the numbers by which a replica's LOGICAL_CLOCK applier
//! finds the transactions that may run in parallel.
//!
//! `sequence_number` counts the transactions of a file from 1. `last_committed` is the number of
//! the newest transaction of the file on which this one depends; 0 means none. The commit record
//! names that transaction by log position (the order of commits). The written keys may show that an
//! older one is enough ([`crate::dependencies`]).

use std::collections::VecDeque;

use redo::Lsn;

use crate::dependencies::{History, Written};

/// The number of transactions whose log position is remembered. A dependency on an older one counts
/// as one on the oldest remembered.
const REMEMBERED: usize = 1 << 16;

/// Assigns numbers to the transactions of one file.
pub struct Numbering {
    last: u64,
    /// The number that stands for everything older than `recent`.
    floor: u64,
    /// For recent transactions, the end of the commit record and the number, both rising.
    recent: VecDeque<(Lsn, u64)>,
    history: History,
}

impl Numbering {
    /// Builds a numbering that goes on behind the transaction with number `last`, which is 0 in a
    /// new file.
    pub fn after(last: u64) -> Numbering {
        Numbering { last, floor: last, recent: VecDeque::new(), history: History::after(last) }
    }

    /// Returns the number of the last transaction.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns `(last_committed, sequence_number)` of the next transaction.
    pub fn next(&mut self, seq: Lsn, depends_lsn: Lsn, written: Written<'_>) -> (u64, u64) {
        assert!(
            self.recent.back().is_none_or(|(last, _)| *last < seq),
            "transactions are numbered in the order of their commits"
        );
        let by_order = self.newest_up_to(depends_lsn);
        self.last += 1;
        let by_keys = self.history.parent(self.last, written);
        let last_committed = by_keys.map_or(by_order, |parent| parent.min(by_order));
        if self.recent.len() == REMEMBERED
            && let Some((_, number)) = self.recent.pop_front()
        {
            assert!(self.floor < number, "the oldest number that is remembered rises");
            self.floor = number;
        }
        self.recent.push_back((seq, self.last));
        (last_committed, self.last)
    }

    /// Returns the number of the newest transaction whose record ends at or before `lsn`. It is
    /// mostly one of the last few, so the range is bounded from the end in steps that double. A
    /// binary search in all of them would miss the cache at each step.
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

/// Returns the least number that has the same length as `number` in a GTID event with a tag, where
/// numbers are as long as they need to be. After a crash the writer may know fewer dependencies,
/// but must write the event with the same length again.
pub fn least_of_same_length(number: u64) -> u64 {
    // A byte holds seven bits, and one bit of the whole is the sign.
    (1..=8).map(|bytes| 1 << (7 * bytes - 1)).take_while(|least| *least <= number).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_become_numbers_of_the_file() {
        let mut numbering = Numbering::after(0);
        assert_eq!(numbering.next(100, 50, Written::UNKNOWN), (0, 1));
        assert_eq!(numbering.next(200, 100, Written::UNKNOWN), (1, 2));
        assert_eq!(numbering.next(300, 100, Written::UNKNOWN), (1, 3));
        assert_eq!(numbering.next(400, 350, Written::UNKNOWN), (3, 4));
    }

    #[test]
    fn what_was_written_tells_of_fewer_dependencies() {
        let mut numbering = Numbering::after(0);
        let written = |keys| Written { writeset: engine::Writeset::Complete, keys, history_size: 100 };
        assert_eq!(numbering.next(100, 50, written(&[1])), (0, 1));
        assert_eq!(numbering.next(200, 100, written(&[2])), (0, 2));
        assert_eq!(numbering.next(300, 200, written(&[1, 3])), (1, 3));
        assert_eq!(numbering.next(400, 100, written(&[3])), (1, 4), "by their order they are independent");
    }

    #[test]
    fn a_dependency_can_be_made_as_long_as_the_number_before() {
        for (number, least) in [(1, 0), (64, 0), (65, 64), (8192, 64), (8193, 8192), (1 << 21, 1 << 20)] {
            assert_eq!(least_of_same_length(number - 1), least, "{number}");
        }
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
            numbering.next((count + 1) * 10, 0, Written::UNKNOWN);
        }
    }

    #[test]
    fn what_is_forgotten_counts_as_a_dependency() {
        let mut numbering = Numbering::after(7);
        assert_eq!(numbering.next(1000, 10, Written::UNKNOWN), (7, 8));
        let mut numbering = Numbering::after(0);
        for seq in 1..=REMEMBERED as u64 + 5 {
            numbering.next(seq * 10, 0, Written::UNKNOWN);
        }
        assert_eq!(numbering.next(u64::MAX, 0, Written::UNKNOWN).0, 5);
    }
}
