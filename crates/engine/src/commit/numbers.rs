//! The numbers of new GTIDs of this server, chosen as MySQL chooses them: the smallest number that
//! no transaction has and no session owns, searched from the last number that was given. A number
//! that somebody chose far ahead therefore does not take away the numbers before it.

use binlog::gtid::{GNO_MAX, GtidSet, Tsid};

/// A stretch of free numbers, for this server with one tag or with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreeNumbers {
    next: u64,
    /// The first number after `next` that is taken or is beyond the largest number.
    end: u64,
}

impl FreeNumbers {
    /// The value before any search, when no number is known to be free. A search has to begin at 1.
    pub const UNKNOWN: FreeNumbers = FreeNumbers { next: 1, end: 1 };

    /// Returns the first free stretch that does not begin before `from`.
    pub fn search(taken: &GtidSet, tsid: Tsid, from: u64) -> FreeNumbers {
        assert!((1..=GNO_MAX + 1).contains(&from), "a number, or behind the last one: {from}");
        let mut next = from;
        for interval in taken.intervals(tsid) {
            if next < interval.first {
                return FreeNumbers { next, end: interval.first };
            }
            next = next.max(interval.last + 1);
        }
        FreeNumbers { next, end: GNO_MAX + 1 }
    }

    /// Returns the number that [`FreeNumbers::take`] would take. `None` means that the stretch is
    /// used up.
    pub fn first(self) -> Option<u64> {
        (self.next < self.end).then_some(self.next)
    }

    /// Takes the first number.
    pub fn take(&mut self) {
        assert!(self.next < self.end, "nobody takes a number that is not free");
        self.next += 1;
    }

    /// Returns where the search for the next stretch begins: all numbers before it have been given.
    pub fn searched_to(self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_free(taken: &str, from: u64) -> FreeNumbers {
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        let taken: GtidSet = taken.replace("G:", &format!("{uuid}:")).parse().expect("is a set");
        let tsid: binlog::gtid::Uuid = uuid.parse().expect("is a UUID");
        FreeNumbers::search(&taken, tsid.into(), from)
    }

    #[test]
    fn the_smallest_free_number_is_given() {
        let max = GNO_MAX;
        assert_eq!(first_free("", 1), FreeNumbers { next: 1, end: max + 1 });
        assert_eq!(first_free(&format!("G:1-3:{max}"), 1), FreeNumbers { next: 4, end: max });
        assert_eq!(first_free("G:1-3:7-9", 5), FreeNumbers { next: 5, end: 7 });
        assert_eq!(first_free("G:1-3:7-9", 8), FreeNumbers { next: 10, end: max + 1 });
    }

    #[test]
    fn there_is_none_behind_the_largest() {
        let mut last = first_free(&format!("G:1-{}", GNO_MAX - 1), 1);
        assert_eq!(last.first(), Some(GNO_MAX));
        last.take();
        assert_eq!(last.first(), None);
        assert_eq!(first_free(&format!("G:1-{GNO_MAX}"), 1).first(), None);
        assert_eq!(first_free(&format!("G:5-{GNO_MAX}"), last.searched_to()).first(), None);
        assert_eq!(FreeNumbers::UNKNOWN.first(), None);
    }
}
