//! What can stand between a TABLE_MAP event and a table of ours.

/// Why a table map event cannot be bound.
#[derive(Debug, PartialEq, Eq)]
pub enum BindError {
    /// We have no such table.
    NoSuchTable(String, String),
    /// The event is not one.
    Damaged(String),
    /// A column has another type.
    ColumnType {
        /// `schema.table`
        table: String,
        /// Which, counted from 0.
        column: usize,
        /// The source's type.
        theirs: String,
        /// Ours.
        ours: String,
    },
}
