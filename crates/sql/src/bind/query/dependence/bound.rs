//! What is asked about: a SELECT that is bound.

use crate::bind::Scope;
use crate::bind::place::RowsFor;
use crate::bind::query::clauses::Items;
use crate::bind::windows::Windows;
use crate::expr::{Expr, Node};
use crate::plan::SortKey;
use std::ops::Range;

/// A SELECT that is bound.
pub(in crate::bind::query) struct Bound<'b, 'q> {
    pub scope: &'b Scope,
    pub items: &'b Items,
    /// What it is grouped by; `None`: it has no groups.
    pub keys: Option<&'b [Expr]>,
    pub having: Option<&'b Expr>,
    pub order: &'b [SortKey],
    pub windows: &'b Windows<'q>,
    /// The slots of its aggregates' results.
    pub aggregates: Range<usize>,
    pub distinct: bool,
    pub rollup: bool,
    pub has_limit: bool,
    /// It is a query of a UNION, an order of which counts for nothing but its LIMIT.
    pub is_part: bool,
}

impl Bound<'_, '_> {
    /// Whether the groups count: those of a subquery whose rows are only compared do not, unless
    /// something is computed of them.
    pub fn is_grouped_for(&self, rows_for: RowsFor) -> bool {
        let computes = !self.aggregates.is_empty()
            || self.having.is_some()
            || self.rollup
            || !self.windows.slots().is_empty();
        self.keys.is_some() && (computes || rows_for != RowsFor::Comparison)
    }

    /// Whether the order counts.
    pub fn is_ordered_for(&self, rows_for: RowsFor) -> bool {
        let is_one_group = self.keys.is_some_and(<[Expr]>::is_empty);
        let is_heeded = rows_for == RowsFor::Table && !self.is_part;
        !is_one_group && (is_heeded || self.has_limit)
    }

    /// Whether MySQL joins a derived table with these columns with the tables around it.
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
