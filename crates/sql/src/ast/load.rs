//! LOAD DATA and LOAD XML.

use super::{Assignment, TableName, TextFormat};

#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    pub path: Vec<u8>,
    /// The client has the file.
    pub is_local: bool,
    pub on_duplicate: OnDuplicate,
    pub table: TableName,
    /// `PARTITION (p, ...)`; none: all.
    pub partitions: Vec<String>,
    /// In lower case.
    pub charset: Option<String>,
    pub layout: FileLayout,
    /// Lines that are not read, or elements.
    pub skipped: u64,
    /// None: all columns that are not invisible.
    pub targets: Vec<LoadTarget>,
    pub assignments: Vec<Assignment>,
}

/// What becomes of a row that has a key which is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDuplicate {
    /// An error; of a file of the client's, as with IGNORE.
    Error,
    Ignore,
    Replace,
}

/// What the file is.
#[derive(Debug, Clone, PartialEq)]
pub enum FileLayout {
    Text(TextFormat),
    /// Elements of this name are rows.
    Xml {
        row: Vec<u8>,
    },
}

/// Where a field goes.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadTarget {
    /// A column, as it is written: of which schema and table, and its name.
    Column { schema: Option<String>, table: Option<String>, name: String },
    /// A user variable, in lower case.
    Variable(String),
}
