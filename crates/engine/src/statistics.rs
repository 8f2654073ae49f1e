//! Statistics of tables: the number of rows, how many different values the leading parts of each
//! index have, and some of the rows. A query processor chooses by them how to read a table.

use crate::definition::IndexRef;
use btree::ApproximatePages;

/// The statistics of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// The number of rows of the table.
    pub rows: u64,
    /// The number of different values, for each index (the clustered one first) and for each number
    /// of leading parts. `None` means that the number is not known.
    pub(crate) distinct: Vec<Vec<Option<f64>>>,
    /// About how many pages each index has, the clustered one first.
    pub(crate) pages: Vec<ApproximatePages>,
    /// The images of some rows as they were stored at the time, committed or not: at most 240, and
    /// at most 64 KB of them. Of small tables, these are all rows.
    pub kept_rows: Vec<Box<[u8]>>,
    /// When the figures were found out, in microseconds of Unix time.
    pub at_us: u64,
}

impl TableStatistics {
    /// Returns how many different values the first `parts` parts of an index have together. `None`
    /// means that the number is not known.
    pub fn distinct(&self, index: IndexRef, parts: usize) -> Option<f64> {
        *self.distinct.get(place_of(index))?.get(parts.checked_sub(1)?)?
    }

    /// About how many pages an index has; none when the table has no such index.
    pub fn pages(&self, index: IndexRef) -> ApproximatePages {
        self.pages.get(place_of(index)).copied().unwrap_or_default()
    }
}

/// Where an index stands in lists that begin with the clustered one.
fn place_of(index: IndexRef) -> usize {
    match index {
        IndexRef::Primary => 0,
        IndexRef::Secondary(at) => at + 1,
    }
}
