//! A sink for the results of statements that the server runs for itself.

use sql::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use types::{ColumnType, Value};

/// A sink that keeps the rows of the last result, as text.
#[derive(Debug, Default)]
pub struct RowCollector {
    columns: Vec<(String, ColumnType)>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl RowCollector {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Reports whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the cell of a row in the column of this name, in any letter case. `None` means NULL
    /// or that there is no such column.
    pub fn cell(&self, row: usize, column: &str) -> Option<&[u8]> {
        let at = self.columns.iter().position(|(name, _)| name.eq_ignore_ascii_case(column))?;
        self.rows.get(row)?.get(at)?.as_deref()
    }

    /// Returns the cell as text, which is empty for NULL.
    pub fn text(&self, row: usize, column: &str) -> String {
        String::from_utf8_lossy(self.cell(row, column).unwrap_or(b"")).into_owned()
    }
}

impl ResultSink for RowCollector {
    fn columns(&mut self, columns: &[ColumnMeta]) -> sql::Result<()> {
        self.columns = columns.iter().map(|c| (c.name.clone(), c.ty.clone())).collect();
        self.rows.clear();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> sql::Result<()> {
        let cells = row.iter().zip(&self.columns).map(|(value, (_, ty))| value.text_bytes(Some(ty)));
        self.rows.push(cells.collect());
        Ok(())
    }

    fn end_rows(&mut self, _end: EndOfRows) -> sql::Result<()> {
        Ok(())
    }

    fn ok(&mut self, _info: &mut OkInfo) -> sql::Result<()> {
        Ok(())
    }
}
