//! Rows of computed tables, cell by cell. Each cell brings its column along, so that names and
//! values stand in one place.

use crate::show::result_table::{number_column, text_column, text_or_null, time_column, time_value};
use replica::status::Cell;
use sql::{ColumnMeta, ComputedTable};
use types::Value;

/// One row and its columns.
pub type Cells = Vec<(ColumnMeta, Value)>;

/// Returns a table with the columns of `sample`, and with the rows that `rows` returns when they
/// are read.
pub fn table<'h, I>(sample: Cells, rows: impl FnOnce() -> I + 'h) -> ComputedTable<'h>
where
    I: IntoIterator<Item = Cells>,
{
    ComputedTable::of_rows(columns(sample), || rows().into_iter().map(values))
}

/// Returns the columns of these cells.
pub fn columns(sample: Cells) -> Vec<ColumnMeta> {
    sample.into_iter().map(|(column, _)| column).collect()
}

/// Returns a row without its columns.
pub fn values(cells: Cells) -> Vec<Value> {
    cells.into_iter().map(|(_, value)| value).collect()
}

pub fn text(name: &str, value: &str) -> (ColumnMeta, Value) {
    text_of(name, Some(value))
}

/// Returns a cell with text or NULL.
pub fn text_of(name: &str, value: Option<&str>) -> (ColumnMeta, Value) {
    (text_column(name, 1024), text_or_null(value))
}

pub fn number(name: &str, value: u64) -> (ColumnMeta, Value) {
    (number_column(name), Value::UInt(value))
}

/// Converts a cell of a channel's status.
pub fn of_status((name, cell): (&str, Cell)) -> (ColumnMeta, Value) {
    match cell {
        Cell::Null => text_of(name, None),
        Cell::Number(value) => number(name, value),
        Cell::Text(value) => text(name, &value),
    }
}

pub fn yes_no(name: &str, value: bool) -> (ColumnMeta, Value) {
    text(name, if value { "YES" } else { "NO" })
}

/// Returns a cell with a time, given in microseconds of unix time; 0 means never.
pub fn time(name: &str, at_us: u64) -> (ColumnMeta, Value) {
    (time_column(name), time_value(at_us))
}

/// Returns the number that `performance_schema.threads` gives to the `nth` running background
/// thread of this name.
pub fn thread_id(name: &str, nth: usize) -> Option<u64> {
    super::performance::background_threads()
        .into_iter()
        .enumerate()
        .filter(|(_, thread)| thread.name == name)
        .nth(nth)
        .map(|(at, _)| at as u64 + 1)
}
