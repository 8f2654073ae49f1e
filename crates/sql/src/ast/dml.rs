//! INSERT, REPLACE, UPDATE, DELETE.

use super::{Expr, Limit, OrderItem, Query, TableName, TableRef, With};
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
