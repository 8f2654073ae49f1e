//! Indexes of a table.

/// Which index of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexRef {
    /// The clustered index: the primary key, or the hidden row id.
    Primary,
    /// The secondary index at this position of `def.indexes`.
    Secondary(usize),
}

/// A part of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// Position of the column in the table.
    pub column: usize,
    /// Only this many characters (bytes for binary types) of it are in the key.
    pub prefix: Option<u32>,
    /// `DESC`: shown, and the key is in ascending order all the same, for it is read either way.
    pub descending: bool,
}

impl IndexColumn {
    /// The whole column at this position.
    pub fn whole(column: usize) -> IndexColumn {
        IndexColumn { column, prefix: None, descending: false }
    }
}

/// A secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// Number of the index in its engine; 0 in a definition that is not yet in the dictionary: the
    /// engine assigns it.
    pub id: u32,
    /// Name.
    pub name: String,
    /// `UNIQUE`
    pub unique: bool,
    /// Parts of the key, in order.
    pub columns: Vec<IndexColumn>,
    /// `COMMENT`
    pub comment: String,
    /// `INVISIBLE`
    pub invisible: bool,
    /// Made for a foreign key, and gone when another index serves that.
    pub generated: bool,
}
