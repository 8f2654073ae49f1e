//! What is known of the common tables of WITH clauses while a query behind them is bound.

use crate::ast::With;
use crate::expr::SubqueryCall;
use crate::sink::ColumnMeta;
use std::sync::Arc;

/// The common tables of a WITH clause, while what it stands before is bound.
pub(super) struct CommonTables {
    pub with: Arc<With>,
    /// How many of them may be named: not those behind the one that is being bound.
    pub visible: usize,
    /// Frames around the query that has the clause.
    pub depth: usize,
    pub states: Vec<State>,
}

/// What is known of a common table.
pub(super) enum State {
    /// Nobody has named it.
    Unbound,
    /// It is being bound, and may name itself.
    Recursive(Recursing),
    Bound {
        call: SubqueryCall,
        columns: Vec<ColumnMeta>,
        /// The name of a temporary table that it reads, which can be read in one place only.
        temporary: Option<String>,
    },
}

/// A common table that is being bound, and may name itself.
#[derive(Default)]
pub(super) struct Recursing {
    /// Of the rows that it has got so far; `None` before any query block that does not name it.
    pub columns: Option<Vec<ColumnMeta>>,
    /// The subquery that stands for its own rows.
    pub number: usize,
    /// The query is a UNION.
    pub is_union: bool,
    /// Frames around its query blocks.
    pub depth: usize,
    /// How often the block at hand has named it.
    pub uses: usize,
    /// In a subquery or a derived table of the block.
    pub in_subquery: bool,
}
