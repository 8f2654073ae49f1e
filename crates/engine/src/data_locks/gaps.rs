//! The locked intervals, and the search for the interval that has the gap before a key.

use crate::lock::RowName;
use crate::lock::gap::HeldGap;
use std::collections::HashMap;

/// A locked interval, and the id of the lock that it is shown as.
pub(super) struct ShownGap {
    pub gap: HeldGap,
    pub lock_id: String,
}

/// The locked intervals of all owners. They are searched by bisection, so that a report of many
/// rows and many intervals does not look at every interval for every row.
#[derive(Default)]
pub(super) struct ShownGaps {
    /// The intervals by owner, table id and index id.
    intervals: HashMap<(u64, u64, u32), Intervals>,
}

impl ShownGaps {
    /// Sorts the intervals, each of which comes with the id of its table.
    pub fn new(shown: Vec<(u64, ShownGap)>) -> ShownGaps {
        let mut lists: HashMap<_, Vec<ShownGap>> = HashMap::new();
        for (table_id, shown) in shown {
            lists.entry((shown.gap.owner, table_id, shown.gap.index_id)).or_default().push(shown);
        }
        let intervals = lists.into_iter().map(|(of, gaps)| (of, Intervals::new(gaps))).collect();
        ShownGaps { intervals }
    }

    /// Returns an interval of the owner that has the gap before this key.
    pub fn reaching(&self, owner: u64, row: &RowName) -> Option<&ShownGap> {
        self.intervals.get(&(owner, row.table_id, row.index_id))?.reaching(&row.key)
    }
}

/// The intervals that one owner has locked in one index. They may overlap.
struct Intervals {
    /// The intervals, sorted by their low ends.
    gaps: Vec<ShownGap>,
    /// For each position, the position of the interval that ends furthest among those up to and
    /// including it.
    furthest: Vec<usize>,
}

impl Intervals {
    fn new(mut gaps: Vec<ShownGap>) -> Intervals {
        // `None`, which is below every key, comes first.
        gaps.sort_by(|a, b| a.gap.low.as_deref().cmp(&b.gap.low.as_deref()));
        let mut furthest: Vec<usize> = Vec::with_capacity(gaps.len());
        for (at, shown) in gaps.iter().enumerate() {
            let before = furthest.last().copied();
            furthest.push(before.filter(|&before| !ends_behind(&shown.gap, &gaps[before].gap)).unwrap_or(at));
        }
        Intervals { gaps, furthest }
    }

    fn reaching(&self, key: &[u8]) -> Option<&ShownGap> {
        let furthest = self.furthest_of(|gap| gap.low.as_deref().is_none_or(|low| low < key))?;
        furthest.gap.reaches(key).then_some(furthest)
    }

    /// Returns the interval that ends furthest among those for which `begins_before` is true. They
    /// must be the first ones.
    fn furthest_of(&self, mut begins_before: impl FnMut(&HeldGap) -> bool) -> Option<&ShownGap> {
        let count = self.gaps.partition_point(|shown| begins_before(&shown.gap));
        let last = count.checked_sub(1)?;
        Some(&self.gaps[self.furthest[last]])
    }
}

fn ends_behind(gap: &HeldGap, other: &HeldGap) -> bool {
    match (gap.high.as_deref(), other.high.as_deref()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(high), Some(other)) => high > other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Intervals, ShownGap};
    use crate::lock::gap::HeldGap;

    fn shown(low: Option<u32>, high: Option<u32>) -> ShownGap {
        let key = |number: u32| number.to_be_bytes()[..].into();
        let gap = HeldGap { id: 0, owner: 1, index_id: 0, low: low.map(key), high: high.map(key) };
        ShownGap { gap, lock_id: String::new() }
    }

    #[test]
    fn an_interval_is_found_where_one_reaches_the_key() {
        let ends: [&[(Option<u32>, Option<u32>)]; 6] = [
            &[],
            &[(None, None)],
            &[(Some(20), Some(30)), (None, Some(4)), (Some(8), Some(9))],
            // One interval is around all the others, and two begin with the same key.
            &[(Some(2), Some(40)), (Some(5), Some(6)), (Some(5), Some(7)), (Some(39), Some(45))],
            &[(Some(5), None), (Some(9), Some(10)), (Some(5), Some(6))],
            &[(None, Some(3)), (None, Some(5)), (None, Some(4))],
        ];
        for ends in ends {
            let gaps = || ends.iter().map(|&(low, high)| shown(low, high));
            let intervals = Intervals::new(gaps().collect());
            for key in (0..50).map(u32::to_be_bytes) {
                let found = intervals.reaching(&key);
                assert!(found.is_none_or(|found| found.gap.reaches(&key)), "{ends:?} {key:?}");
                assert_eq!(found.is_some(), gaps().any(|shown| shown.gap.reaches(&key)), "{ends:?} {key:?}");
            }
        }
    }

    #[test]
    fn few_of_many_intervals_are_looked_at() {
        let intervals = Intervals::new((0..10_000).map(|n| shown(Some(2 * n), Some(2 * n + 1))).collect());
        let (key, mut looked_at) = (9_001_u32.to_be_bytes(), 0);
        let found = intervals.furthest_of(|gap| {
            looked_at += 1;
            gap.low.as_deref().is_none_or(|low| low < &key[..])
        });
        assert_eq!(found.and_then(|shown| shown.gap.high.as_deref()), Some(&key[..]));
        assert!(looked_at < 20, "{looked_at} of 10,000");
    }
}
