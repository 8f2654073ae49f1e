//! The indexes of a table.

/// A reference to one of the indexes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexRef {
    /// The clustered index: the primary key, or the hidden row id.
    Primary,
    /// The secondary index at this position of `def.indexes`. Behind the last one of these stand
    /// the entries of the kept indexes that have entries, in their order.
    Secondary(usize),
}

/// A part of an index key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The position of the column in the table.
    pub column: usize,
    /// The number of leading characters (bytes for binary types) of the column that are in the key.
    /// `None` means the whole column.
    pub prefix: Option<u32>,
    /// Whether `DESC` was written. It is shown, but the key is in ascending order anyway, because
    /// an index is read in either direction.
    pub descending: bool,
}

impl IndexColumn {
    /// Returns the part for the whole column at this position.
    pub fn whole(column: usize) -> IndexColumn {
        IndexColumn { column, prefix: None, descending: false }
    }
}

/// A secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// The number of the index in its engine. It is 0 in a definition that is not yet in the
    /// dictionary; the engine assigns it.
    pub id: u32,
    /// The name of the index.
    pub name: String,
    /// Whether the index is `UNIQUE`.
    pub unique: bool,
    /// The parts of the key, in order.
    pub columns: Vec<IndexColumn>,
    /// The `COMMENT` of the index.
    pub comment: String,
    /// Whether the index is `INVISIBLE`.
    pub invisible: bool,
    /// Whether the index was made for a foreign key. Then it is dropped when another index serves
    /// that key.
    pub generated: bool,
    /// Whether the statement says `USING BTREE`, which is shown. Every index is one.
    pub using_btree: bool,
}
