//! `last_committed` and `sequence_number`, the numbers by which a replica's LOGICAL_CLOCK applier
//! finds what may run in parallel.
//!
//! `sequence_number` counts the transactions of a file from 1. `last_committed` is that of the
//! newest transaction of the file that this one depends on, 0 for none: the commit record says it
//! by log position (the order of commits), what both have written may say an older one
//! ([`crate::dependencies`]).

use std::collections::VecDeque;

use redo::Lsn;

use crate::dependencies::{History, Written};

/// Transactions whose position is remembered; a dependency that is older counts as the oldest one
/// remembered.
const REMEMBERED: usize = 1 << 16;

/// Numbers the transactions of one file.
pub struct Numbering {
    last: u64,
    /// Number that stands for everything older than `recent`.
    floor: u64,
    /// End of the commit record and number of recent transactions, both rising.
    recent: VecDeque<(Lsn, u64)>,
    history: History,
}

impl Numbering {
    /// Goes on behind the transaction with this number; 0 in a new file.
    pub fn after(last: u64) -> Numbering {
        Numbering { last, floor: last, recent: VecDeque::new(), history: History::after(last) }
    }

    /// Number of the last transaction.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// `(last_committed, sequence_number)` of the next transaction.
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

    /// Number of the newest transaction whose record ends at or before `lsn`. Mostly it is one of
    /// the last few, so the place is bounded from there, in steps that double: a binary search in
    /// all of them misses the cache at each step.
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

/// The least number that a GTID event with a tag holds in as many bytes as this one. There numbers
/// are as long as they need, and what a crash makes the writer put into the file again must be as
/// long as it was, though fewer dependencies are known then.
pub fn least_of_same_length(number: u64) -> u64 {
    // A byte holds seven bits, and one of all is the sign.
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
