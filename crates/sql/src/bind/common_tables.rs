//! The state of the common tables of a WITH clause while the query behind it is bound.

use crate::ast::With;
use crate::expr::SubqueryCall;
use crate::sink::ColumnMeta;
use std::sync::Arc;

/// The common tables of one WITH clause, while the query behind it is bound.
pub(super) struct CommonTables {
    pub with: Arc<With>,
    /// The number of common tables, counted from the first, that may be named at present. While one
    /// of them is being bound, those behind it may not be named; the table itself may be named in
    /// WITH RECURSIVE only.
    pub visible: usize,
    /// The number of frames around the query that has the clause.
    pub depth: usize,
    pub states: Vec<State>,
}

/// The state of one common table.
pub(super) enum State {
    /// No query has named the table yet.
    Unbound,
    /// The table is being bound, and may name itself.
    Recursive(Recursing),
    Bound {
        call: SubqueryCall,
        columns: Vec<ColumnMeta>,
        /// The name of a temporary table that the common table reads. MySQL allows one use of a
        /// temporary table, so the common table may be read in one place only.
        temporary: Option<String>,
    },
}

/// A common table that is being bound, and may name itself.
#[derive(Default)]
pub(super) struct Recursing {
    /// The columns of the rows that the table has so far. `None` until a query block that does not
    /// name the table itself has been bound.
    pub columns: Option<Vec<ColumnMeta>>,
    /// The number of the subquery that stands for the table's own rows.
    pub number: usize,
    /// The table's query is a UNION.
    pub is_union: bool,
    /// The number of frames around its query blocks.
    pub depth: usize,
    /// How often the current query block has named the table.
    pub uses: usize,
    /// The current query block has named the table in a subquery or a derived table.
    pub in_subquery: bool,
}
