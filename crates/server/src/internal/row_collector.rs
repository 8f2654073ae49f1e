//! Results of statements that the server runs for itself.

use sql::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use types::{ColumnType, Value};

/// Keeps the rows of the last result, as text.
#[derive(Debug, Default)]
pub struct RowCollector {
    columns: Vec<(String, ColumnType)>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl RowCollector {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cell of a row in the column of this name, in any case; `None` for NULL and for no such
    /// column.
    pub fn cell(&self, row: usize, column: &str) -> Option<&[u8]> {
        let at = self.columns.iter().position(|(name, _)| name.eq_ignore_ascii_case(column))?;
        self.rows.get(row)?.get(at)?.as_deref()
    }

    /// The cell as text; empty for NULL.
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

    fn ok(&mut self, _info: &OkInfo) -> sql::Result<()> {
        Ok(())
    }
}
