//! The figures of statements and their sums.

use crate::counters::Counters;

/// The number of sums beside the time.
pub const SUMS: usize = 19;

/// The places of the sums, in the order of MySQL's columns.
pub mod sum {
    #![allow(missing_docs, reason = "the names are those of MySQL's columns")]
    pub const LOCK_TIME_NS: usize = 0;
    pub const ERRORS: usize = 1;
    pub const WARNINGS: usize = 2;
    pub const ROWS_AFFECTED: usize = 3;
    pub const ROWS_SENT: usize = 4;
    pub const ROWS_EXAMINED: usize = 5;
    pub const CREATED_TMP_DISK_TABLES: usize = 6;
    pub const SELECT_FULL_JOIN: usize = 8;
    pub const SELECT_SCAN: usize = 12;
    pub const NO_INDEX_USED: usize = 17;
}

/// The names of the sums, as MySQL's columns have them without `SUM_`.
pub const SUM_NAMES: [&str; SUMS] = [
    "LOCK_TIME",
    "ERRORS",
    "WARNINGS",
    "ROWS_AFFECTED",
    "ROWS_SENT",
    "ROWS_EXAMINED",
    "CREATED_TMP_DISK_TABLES",
    "CREATED_TMP_TABLES",
    "SELECT_FULL_JOIN",
    "SELECT_FULL_RANGE_JOIN",
    "SELECT_RANGE",
    "SELECT_RANGE_CHECK",
    "SELECT_SCAN",
    "SORT_MERGE_PASSES",
    "SORT_RANGE",
    "SORT_ROWS",
    "SORT_SCAN",
    "NO_INDEX_USED",
    "NO_GOOD_INDEX_USED",
];

/// The counts of a session that statements are measured by: what follows on
/// [`sum::ROWS_EXAMINED`], beginning with it.
pub(super) const COUNTED: usize = 12;

/// Reads the counts of a session, in the order of the sums from [`sum::ROWS_EXAMINED`] on.
#[inline]
fn counted(counters: &Counters) -> [u64; COUNTED] {
    [
        counters.rows_examined.get(),
        counters.created_tmp_disk_tables.get(),
        counters.created_tmp_tables.get(),
        counters.select_full_join.get(),
        counters.select_full_range_join.get(),
        counters.select_range.get(),
        counters.select_range_check.get(),
        counters.select_scan.get(),
        counters.sort_merge_passes.get(),
        counters.sort_range.get(),
        counters.sort_rows.get(),
        counters.sort_scan.get(),
    ]
}

/// The figures of one statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// How long it took, in nanoseconds.
    pub wait_ns: u64,
    /// Whether its time is not measured.
    pub is_untimed: bool,
    /// Its figures, by their places in [`sum`].
    pub sums: [u64; SUMS],
    /// Which figures are not 0, as bits: nearly all are 0, and need not be added.
    pub(super) used: u32,
}

impl Sample {
    /// Makes this the sample of another statement, which took so long. The figures that were set
    /// become 0 again.
    #[inline]
    pub(super) fn begin_anew(&mut self, wait_ns: u64) {
        each_of(self.used, |at| self.sums[at] = 0);
        debug_assert_eq!(self.sums, [0; SUMS], "the figures that are not 0 are marked as used");
        self.used = 0;
        self.wait_ns = wait_ns;
    }

    /// Sets a figure of a new sample.
    #[inline]
    pub(super) fn set(&mut self, at: usize, value: u64) {
        if value != 0 {
            self.sums[at] = value;
            self.used |= 1 << at;
        }
    }

    /// Sets what the session's counters have counted since `before`, which takes the counts of now.
    #[inline]
    pub(super) fn set_counted(&mut self, counters: &Counters, before: &mut [u64; COUNTED]) {
        let now = counted(counters);
        self.set_since(0, now[0], &mut before[0]);
        // Most statements count nothing but the rows that they look at.
        let changed = now[1..].iter().zip(&before[1..]).fold(0, |all, (now, before)| all | (now ^ before));
        if changed != 0 {
            self.set_others(&now, before);
        }
    }

    #[inline(never)]
    fn set_others(&mut self, now: &[u64; COUNTED], before: &mut [u64; COUNTED]) {
        for at in 1..COUNTED {
            self.set_since(at, now[at], &mut before[at]);
        }
        let scans = self.sums[sum::SELECT_SCAN] + self.sums[sum::SELECT_FULL_JOIN];
        self.set(sum::NO_INDEX_USED, u64::from(scans > 0));
    }

    /// Sets the figure of one of the counts.
    #[inline]
    fn set_since(&mut self, at: usize, now: u64, before: &mut u64) {
        // FLUSH STATUS begins the counts anew.
        self.set(sum::ROWS_EXAMINED + at, if now >= *before { now - *before } else { now });
        *before = now;
    }
}

/// Calls `each` with the place of each figure that is marked as used.
#[inline]
fn each_of(mut used: u32, mut each: impl FnMut(usize)) {
    while used != 0 {
        each(used.trailing_zeros() as usize);
        used &= used - 1;
    }
}

/// The sums of the figures of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// The number of statements.
    pub count: u64,
    /// The time that they took, in nanoseconds.
    pub wait_ns: u64,
    /// The shortest time, in nanoseconds.
    pub min_ns: u64,
    /// The longest time, in nanoseconds.
    pub max_ns: u64,
    /// The other sums, by their places in [`sum`].
    pub sums: [u64; SUMS],
}

impl Default for Figures {
    fn default() -> Figures {
        Figures { count: 0, wait_ns: 0, min_ns: u64::MAX, max_ns: 0, sums: [0; SUMS] }
    }
}

impl Figures {
    /// Adds a statement.
    #[inline]
    pub fn add(&mut self, sample: &Sample) {
        self.count += 1;
        if !sample.is_untimed {
            self.wait_ns = self.wait_ns.wrapping_add(sample.wait_ns);
            self.min_ns = self.min_ns.min(sample.wait_ns);
            self.max_ns = self.max_ns.max(sample.wait_ns);
        }
        each_of(sample.used, |at| self.sums[at] = self.sums[at].wrapping_add(sample.sums[at]));
    }

    /// Adds the statements of other sums.
    pub fn merge(&mut self, other: &Figures) {
        self.count += other.count;
        self.wait_ns = self.wait_ns.wrapping_add(other.wait_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        for (sum, figure) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(*figure);
        }
    }

    /// Returns the shortest time in nanoseconds; 0 where no time was measured.
    pub fn shortest_ns(&self) -> u64 {
        if self.min_ns == u64::MAX { 0 } else { self.min_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_sums_are_those_of_all_statements() {
        let sample = |wait_ns, errors| {
            let mut sample = Sample { wait_ns, ..Sample::default() };
            sample.set(sum::ERRORS, errors);
            sample
        };
        let (mut one, mut other) = (Figures::default(), Figures::default());
        assert_eq!(one.shortest_ns(), 0);
        one.add(&sample(30, 1));
        one.add(&sample(10, 0));
        other.add(&sample(20, 1));
        let untimed = Sample { is_untimed: true, ..Sample::default() };
        other.add(&untimed);
        one.merge(&other);
        assert_eq!((one.count, one.wait_ns, one.shortest_ns(), one.max_ns), (4, 60, 10, 30));
        assert_eq!(one.sums[sum::ERRORS], 2);
    }
}
