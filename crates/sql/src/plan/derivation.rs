//! How a SELECT produces its rows from those of its tables. ONLY_FULL_GROUP_BY needs this for the
//! derived tables, views and subqueries of a query.

use super::JoinTree;
use crate::expr::Expr;
use engine::Table;
use std::ops::Range;
use std::sync::Arc;

/// A SELECT as it is written, before anything is decided about it.
#[derive(Debug)]
pub(crate) struct Derivation {
    /// The tables of FROM, by their positions. Their slots ascend.
    pub tables: Vec<Origin>,
    /// The joins of the tables. `None` if there is no FROM.
    pub tree: Option<JoinTree>,
    /// The conjuncts of WHERE.
    pub filter: Vec<Expr>,
    /// The subqueries in conditions with IN or EXISTS, by their numbers in the statement.
    pub asked: Vec<(usize, Arc<Derivation>)>,
    /// The numbers of the subqueries without tables, whose values are constants.
    pub constants: Vec<usize>,
    /// The number of slots of its rows: those of its tables, of functions over windows and of
    /// aggregates.
    pub slots: usize,
    pub outputs: Vec<Expr>,
    /// The expressions by which it is grouped, none of them if all rows are one group. `None` if it
    /// has no groups.
    pub keys: Option<Vec<Expr>>,
    /// The slots of the results of its aggregates.
    pub aggregates: Range<usize>,
    /// The slots of the values of functions over windows, each with the function's arguments.
    pub windows: Vec<(usize, Vec<Expr>)>,
    /// MySQL joins its tables with those of the query around it, if it is a derived table or a view
    /// there.
    pub merges: bool,
    /// The number of its tables, including those of the queries that are joined with it.
    pub leaves: usize,
    /// The SELECT has no groups, HAVING, windows or LIMIT, so it can become a semi-join.
    pub is_plain: bool,
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The first of the table's slots.
    pub base: usize,
    pub columns: usize,
    pub made: Made,
}

/// Where the rows of a table of FROM come from.
#[derive(Debug, Clone)]
pub(crate) enum Made {
    Stored(Arc<Table>),
    /// The rows are those of a query, with the values of its arguments from the queries around it.
    Query(Arc<Derivation>, Vec<Expr>),
    /// Nothing is known of the rows: they come from a UNION, from a query with ROLLUP, or the
    /// server computes them.
    Unknown,
}
