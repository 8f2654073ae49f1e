//! How a SELECT makes its rows out of those of its tables: what ONLY_FULL_GROUP_BY asks of the
//! derived tables, views and subqueries of a query.

use super::JoinTree;
use crate::expr::Expr;
use engine::Table;
use std::ops::Range;
use std::sync::Arc;

/// A SELECT as it was written, before anything is decided about it.
#[derive(Debug)]
pub(crate) struct Derivation {
    /// FROM, by positions; their slots ascend.
    pub tables: Vec<Origin>,
    /// How they are joined. `None`: there is no FROM.
    pub tree: Option<JoinTree>,
    /// The conjuncts of WHERE.
    pub filter: Vec<Expr>,
    /// Subqueries that conditions ask by IN or EXISTS, by their numbers in the statement.
    pub asked: Vec<(usize, Arc<Derivation>)>,
    /// Subqueries without tables, by their numbers: their values are constants.
    pub constants: Vec<usize>,
    /// How many slots its rows have: those of its tables, of functions over windows, of aggregates.
    pub slots: usize,
    pub outputs: Vec<Expr>,
    /// What its rows are grouped by: nothing where all rows are one group. `None`: it has no
    /// groups.
    pub keys: Option<Vec<Expr>>,
    /// The slots of its aggregates' results.
    pub aggregates: Range<usize>,
    /// The slots of the values of functions over windows, and the columns that they are given.
    pub windows: Vec<(usize, Vec<Expr>)>,
    /// MySQL joins its tables with those of the query around it, if it is a derived table or a view
    /// there.
    pub merges: bool,
    /// How many tables it has with those of the queries that are joined with it.
    pub leaves: usize,
    /// It has neither groups, nor HAVING, windows or LIMIT: a semi-join can be made of it.
    pub is_plain: bool,
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// First of its slots.
    pub base: usize,
    pub columns: usize,
    pub made: Made,
}

/// What the rows of a table of FROM are.
#[derive(Debug, Clone)]
pub(crate) enum Made {
    Stored(Arc<Table>),
    /// Those of a query, which is given these values of the queries around it.
    Query(Arc<Derivation>, Vec<Expr>),
    /// Of which nothing is known: a UNION, a query with ROLLUP, rows that the server computes.
    Unknown,
}
