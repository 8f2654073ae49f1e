//! Tables that the host computes: their columns are known at once, their rows when they are read.

use crate::error::Result;
use crate::sink::ColumnMeta;
use types::Value;

/// Takes what is computed of a table. An error (the statement is to end, or there is no memory)
/// ends the computing.
pub trait ComputedRows {
    /// The next row, as many values as there are columns.
    ///
    /// # Errors
    /// 1317, or that the row does not fit into the statement's memory.
    fn put(&mut self, row: Vec<Value>) -> Result<()>;

    /// Charges the statement with what computing the rows takes beside them.
    ///
    /// # Errors
    /// There is no memory for it.
    fn charge(&mut self, bytes: usize) -> Result<()>;
}

/// What computes the rows of a table.
type Fill<'h> = Box<dyn FnOnce(&mut dyn ComputedRows) -> Result<()> + 'h>;

/// A table that is computed when it is read.
pub struct ComputedTable<'h> {
    /// Its columns; `schema` and `table` fields may be left empty.
    pub columns: Vec<ColumnMeta>,
    fill: Fill<'h>,
}

impl<'h> ComputedTable<'h> {
    /// A table with these columns, whose rows `fill` computes.
    pub fn new(
        columns: Vec<ColumnMeta>,
        fill: impl FnOnce(&mut dyn ComputedRows) -> Result<()> + 'h,
    ) -> ComputedTable<'h> {
        ComputedTable { columns, fill: Box::new(fill) }
    }

    /// A table whose rows are what `rows` gives, which is called when they are read.
    pub fn of_rows<I>(columns: Vec<ColumnMeta>, rows: impl FnOnce() -> I + 'h) -> ComputedTable<'h>
    where
        I: IntoIterator<Item = Vec<Value>>,
    {
        ComputedTable::new(columns, |taker| rows().into_iter().try_for_each(|row| taker.put(row)))
    }

    /// Computes the rows.
    ///
    /// # Errors
    /// Those of `rows`, and what the table itself fails with.
    pub fn fill(self, rows: &mut dyn ComputedRows) -> Result<()> {
        (self.fill)(rows)
    }
}
