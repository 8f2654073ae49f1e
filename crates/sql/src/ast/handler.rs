//! The HANDLER statements.

use super::{BinaryOp, Expr, Limit, TableName};

#[derive(Debug, Clone, PartialEq)]
pub enum Handler {
    Open { table: TableName, alias: Option<String> },
    Read { alias: String, what: HandlerRead, filter: Option<Box<Expr>>, limit: Option<Box<Limit>> },
    Close(String),
}

/// The rows that HANDLER ... READ reads.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerRead {
    /// `FIRST` or `NEXT`, in the table's own order.
    Table(HandlerStep),
    Index(String, HandlerStep),
    /// `index >= (1, 2)`: rows by a comparison with a key of an index.
    Key(String, BinaryOp, Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerStep {
    First,
    Next,
    Previous,
    Last,
}
