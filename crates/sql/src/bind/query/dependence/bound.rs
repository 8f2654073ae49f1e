//! The SELECT that is checked, after binding.

use crate::bind::Scope;
use crate::bind::place::RowsFor;
use crate::bind::query::clauses::Items;
use crate::bind::windows::Windows;
use crate::expr::{Expr, Node};
use crate::plan::SortKey;
use std::ops::Range;

/// A bound SELECT.
pub(in crate::bind::query) struct Bound<'b, 'q> {
    pub scope: &'b Scope,
    pub items: &'b Items,
    /// The expressions by which the query is grouped. `None` if it has no groups.
    pub keys: Option<&'b [Expr]>,
    pub having: Option<&'b Expr>,
    pub order: &'b [SortKey],
    pub windows: &'b Windows<'q>,
    /// The slots of the results of the query's aggregates.
    pub aggregates: Range<usize>,
    pub distinct: bool,
    pub rollup: bool,
    pub has_limit: bool,
    /// The query is a part of a UNION. Its order matters for its own LIMIT only.
    pub is_part: bool,
}

impl Bound<'_, '_> {
    /// Reports whether the query's groups have to be checked. The rows of a subquery that are only
    /// compared need no check, unless something is computed from the groups.
    pub fn is_grouped_for(&self, rows_for: RowsFor) -> bool {
        let computes = !self.aggregates.is_empty()
            || self.having.is_some()
            || self.rollup
            || !self.windows.slots().is_empty();
        self.keys.is_some() && (computes || rows_for != RowsFor::Comparison)
    }

    /// Reports whether the query's order matters.
    pub fn is_ordered_for(&self, rows_for: RowsFor) -> bool {
        let is_one_group = self.keys.is_some_and(<[Expr]>::is_empty);
        let is_heeded = rows_for == RowsFor::Table && !self.is_part;
        !is_one_group && (is_heeded || self.has_limit)
    }

    /// Reports whether MySQL joins a derived table with these columns with the tables around it.
    pub fn is_merged(&self) -> bool {
        let mut is_plain = !self.scope.tables.is_empty();
        self.items.outputs.iter().for_each(|output| {
            output.visit(&mut |part| {
                is_plain &= !matches!(
                    part.node,
                    Node::Subquery { .. }
                        | Node::Quantified(_)
                        | Node::RowSubquery(_)
                        | Node::AssignVariable(..)
                );
            });
        });
        is_plain
    }
}
