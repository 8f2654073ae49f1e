//! The reasons why the table of a TABLE_MAP event cannot be taken for a table of this server.

/// The reason why a table map event cannot be bound to a table.
#[derive(Debug, PartialEq, Eq)]
pub enum BindError {
    /// This server has no table of this schema and name.
    NoSuchTable(String, String),
    /// The bytes are no table map event.
    Damaged(String),
    /// A column has a type that cannot be converted.
    ColumnType {
        /// The table as `schema.table`.
        table: String,
        /// The number of the column, counted from 0.
        column: usize,
        /// The column's type on the source.
        theirs: String,
        /// The column's type on this server.
        ours: String,
    },
}
