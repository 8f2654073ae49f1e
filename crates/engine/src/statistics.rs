//! How many rows a table has, and how many different values its indexes begin with: what a query
//! processor weighs ways to read a table by.

use crate::definition::IndexRef;

/// Figures of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// Rows that the table has.
    pub rows: u64,
    /// For each index, the clustered one first, and each number of leading parts: how many
    /// different values they have. `None`: not known.
    pub(crate) distinct: Vec<Vec<Option<f64>>>,
}

impl TableStatistics {
    /// How many different values the first parts of an index have together.
    pub fn distinct(&self, index: IndexRef, parts: usize) -> Option<f64> {
        let index = match index {
            IndexRef::Primary => 0,
            IndexRef::Secondary(at) => at + 1,
        };
        *self.distinct.get(index)?.get(parts.checked_sub(1)?)?
    }
}
