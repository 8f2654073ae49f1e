//! How many rows a table has, and how many different values its indexes begin with: what a query
//! processor weighs ways to read a table by.

use crate::definition::IndexRef;
use btree::ApproximatePages;

/// Figures of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// Rows that the table has.
    pub rows: u64,
    /// For each index, the clustered one first, and each number of leading parts: how many
    /// different values they have. `None`: not known.
    pub(crate) distinct: Vec<Vec<Option<f64>>>,
    /// About how many pages each index has, the clustered one first.
    pub(crate) pages: Vec<ApproximatePages>,
    /// When the figures were found out, in microseconds of Unix time.
    pub at_us: u64,
}

impl TableStatistics {
    /// How many different values the first parts of an index have together.
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
