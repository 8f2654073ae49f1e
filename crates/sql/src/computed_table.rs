//! Tables that the host computes. Their columns are known at once, their rows are computed when
//! they are read.

use crate::error::Result;
use crate::sink::ColumnMeta;
use types::Value;

/// The receiver of a computed table's rows. An error that it returns (the statement is to end, or
/// there is no memory) ends the computing.
pub trait ComputedRows {
    /// Takes the next row, which has as many values as the table has columns.
    ///
    /// # Errors
    /// Returns 1317 (`ER_QUERY_INTERRUPTED`) when the statement is to end, and the errors of
    /// charging memory when the row does not fit into the statement's memory.
    fn put(&mut self, row: Vec<Value>) -> Result<()>;

    /// Charges the statement with `bytes` that computing takes beside the rows themselves.
    ///
    /// # Errors
    /// Returns the errors of charging memory.
    fn charge(&mut self, bytes: usize) -> Result<()>;
}

/// The function that computes the rows of a table.
type Fill<'h> = Box<dyn FnOnce(&mut dyn ComputedRows) -> Result<()> + 'h>;

/// A table whose rows are computed when they are read.
pub struct ComputedTable<'h> {
    /// The table's columns. Their `schema` and `table` fields may be left empty.
    pub columns: Vec<ColumnMeta>,
    fill: Fill<'h>,
}

impl<'h> ComputedTable<'h> {
    /// Makes a table with these columns, whose rows `fill` computes.
    pub fn new(
        columns: Vec<ColumnMeta>,
        fill: impl FnOnce(&mut dyn ComputedRows) -> Result<()> + 'h,
    ) -> ComputedTable<'h> {
        ComputedTable { columns, fill: Box::new(fill) }
    }

    /// Makes a table whose rows are those that `rows` returns. `rows` is called when the table is
    /// read.
    pub fn of_rows<I>(columns: Vec<ColumnMeta>, rows: impl FnOnce() -> I + 'h) -> ComputedTable<'h>
    where
        I: IntoIterator<Item = Vec<Value>>,
    {
        ComputedTable::new(columns, |taker| rows().into_iter().try_for_each(|row| taker.put(row)))
    }

    /// Computes the rows and hands each one to `rows`.
    ///
    /// # Errors
    /// Returns the errors of `rows` and those of the table's own computing.
    pub fn fill(self, rows: &mut dyn ComputedRows) -> Result<()> {
        (self.fill)(rows)
    }
}
