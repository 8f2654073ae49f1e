//! Statistics of tables: the number of rows, and how many different values the leading parts of
//! each index have. A query processor chooses by them how to read a table.

use crate::definition::IndexRef;

/// The statistics of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// The number of rows of the table.
    pub rows: u64,
    /// The number of different values, for each index (the clustered one first) and for each number
    /// of leading parts. `None` means that the number is not known.
    pub(crate) distinct: Vec<Vec<Option<f64>>>,
}

impl TableStatistics {
    /// Returns how many different values the first `parts` parts of an index have together. `None`
    /// means that the number is not known.
    pub fn distinct(&self, index: IndexRef, parts: usize) -> Option<f64> {
        let index = match index {
            IndexRef::Primary => 0,
            IndexRef::Secondary(at) => at + 1,
        };
        *self.distinct.get(index)?.get(parts.checked_sub(1)?)?
    }
}
