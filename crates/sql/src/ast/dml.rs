//! INSERT, REPLACE, UPDATE, DELETE and LOAD DATA.

use super::{Expr, Limit, OrderItem, Query, TableName, TableRef, TextFormat, With};
use crate::literal_rows::LiteralRows;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// The rows. An empty row is `VALUES ()`.
    Values(Vec<Vec<Expr>>),
    /// Rows that consist of plain literals only.
    Literals(LiteralRows),
    Query(Box<Query>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    pub table: TableName,
    /// `PARTITION (p, ...)`. Empty means all partitions.
    pub partitions: Vec<String>,
    /// The list of columns. `None` means all columns, because no list is written.
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
    /// The tables to delete from in the multiple-table form, by alias or name. Empty in the
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
    /// LOCAL: the file is at the client.
    pub is_local: bool,
    pub on_duplicate: OnDuplicate,
    pub table: TableName,
    /// `PARTITION (p, ...)`. Empty means all partitions.
    pub partitions: Vec<String>,
    /// The character set of the file, in lower case.
    pub charset: Option<String>,
    pub layout: FileLayout,
    /// The number of lines, or for XML of rows, that are skipped at the beginning of the file.
    pub skipped: u64,
    /// The columns and variables that get the fields. Empty means all columns that are not
    /// invisible.
    pub targets: Vec<LoadTarget>,
    pub assignments: Vec<Assignment>,
}

/// What becomes of a row with a key that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The statement fails. With LOCAL the row is ignored instead.
    Error,
    Ignore,
    Replace,
}

/// The format of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileLayout {
    Text(TextFormat),
    /// XML, in which the elements with this name are rows.
    Xml {
        row: Vec<u8>,
    },
}

/// Where the value of a field goes.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadTarget {
    /// A column, by its name as it is written.
    Column { schema: Option<String>, table: Option<String>, name: String },
    /// A user variable, by its name in lower case and as it is written.
    Variable { name: String, written: String },
}
