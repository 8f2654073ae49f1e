//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.

use super::{Expr, Limit, OrderItem, Query, TableName, TableRef, TextFormat, With};
use crate::literal_rows::LiteralRows;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// An empty row is `VALUES ()`.
    Values(Vec<Vec<Expr>>),
    /// Rows of nothing but plain literals.
    Literals(LiteralRows),
    Query(Box<Query>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    pub table: TableName,
    /// `PARTITION (p, ...)`; none: all.
    pub partitions: Vec<String>,
    /// `None`: no list, all columns.
    pub columns: Option<Vec<String>>,
    pub source: InsertSource,
    pub replace: bool,
    pub ignore: bool,
    /// `VALUES ... AS new(a, b)`.
    pub row_alias: Option<(String, Vec<String>)>,
    pub on_duplicate: Vec<(String, Expr)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub table: Option<String>,
    pub column: String,
    pub value: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub with: Option<Arc<With>>,
    pub from: TableRef,
    pub assignments: Vec<Assignment>,
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub ignore: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    pub with: Option<Arc<With>>,
    /// Tables to delete from in the multiple-table form, by alias or name; empty in the
    /// single-table form.
    pub targets: Vec<TableName>,
    pub from: TableRef,
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub ignore: bool,
}

/// LOAD DATA and LOAD XML.
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
