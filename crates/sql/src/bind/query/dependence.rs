//! ONLY_FULL_GROUP_BY: the columns that a query with groups or with DISTINCT may name.
//!
//! In: a bound SELECT. Out: the error of MySQL for an expression that may have several values in
//! one group (1055, or 1140 where all rows are one group) and for an ORDER BY that uses what
//! DISTINCT has dropped (3065, 3066). For the query around it, also a description of how the SELECT
//! produces its rows ([`Derivation`]).
//!
//! A column is allowed in the select list, in HAVING, in ORDER BY and in a window's definition if
//! it has one value in each group, because it *follows from* what the query is grouped by. It does
//! in these cases:
//!
//! - The query is grouped by it. With ROLLUP this is the only case, beside a constant of a derived
//!   table or a view whose tables are joined with those of the query.
//! - It is a column of a table, and all columns of a PRIMARY KEY or a UNIQUE key of the table
//!   follow. A column of the key may be nullable if a condition rejects its NULLs (`a IS NOT NULL`,
//!   `a > 3`).
//! - WHERE, or the ON of an inner join, equates it with a constant, with a column of a query
//!   around, or with a column that follows. An outer join whose NULLs are rejected counts as an
//!   inner join, and an IN or EXISTS that can be a semi-join counts as one.
//! - It is on the weak side of an outer join, and ON equates it with a column of that side that
//!   follows. ON may also equate it with a constant or with a column of the strong side that
//!   follows, if all columns of the strong side in ON follow. Within the weak side of another outer
//!   join, ON has to reject NULLs of its own strong side besides.
//! - It is a generated column, or a computed column of a view, and the columns that it is computed
//!   from follow. On the weak side, a NULL of one of those columns has to make it NULL.
//! - It is a column of a derived table or a view that is computed as a whole, and within that query
//!   it follows from those of the query's columns that follow here. All of them follow once
//!   everything follows that the inner query is grouped by. On the weak side, one of the columns
//!   that follow must be NOT NULL in the inner query. Nothing is known of a UNION and of a query
//!   with ROLLUP.
//!
//! An expression by which the query is grouped is allowed as a whole, and so are the arguments of
//! an aggregate, of ANY_VALUE() and of GROUPING().
//!
//! The modules, from the lowest layer up: `equalities` reads conditions, `rows` has the tables
//! together with those of the queries in them, `known` finds what follows, `written` keeps FROM and
//! WHERE before the binder changes them, `refusals` makes the errors.

mod bound;
mod equalities;
mod known;
mod refusals;
mod rows;
#[cfg(test)]
mod tests;
mod written;

pub(super) use bound::Bound;
pub(super) use refusals::check_order_of_plain;
pub(super) use written::{Written, has_queries};

use super::joined_tables::From;
use crate::bind::place::RowsFor;
use crate::bind::{Binder, Frame, NODE_BYTES};
use crate::error::Result;
use crate::expr::Expr;
use crate::plan::Derivation;
use refusals::Refusals;
use std::sync::Arc;

/// Reports whether FROM and WHERE of a SELECT have to be kept as they are written, for the checks
/// of this query and of the query around it.
pub(super) fn must_keep(binder: &Binder<'_>, from: &From, filter: &[Expr], is_inside: bool) -> bool {
    binder.variables.sql_mode.only_full_group_by() && (is_inside || has_queries(from, filter))
}

impl Bound<'_, '_> {
    /// Checks the query. `kept` is its FROM and WHERE as they are written, if they had to be kept.
    /// For a query within another one it returns how the query's rows are produced.
    ///
    /// # Errors
    /// Returns 1055, 1140, 3065 or 3066 for a column that is not allowed, and the errors of
    /// [`Binder::may_make`].
    pub fn check(
        &self,
        binder: &mut Binder<'_>,
        kept: Option<Written>,
        (from, filter): (&mut From, &[Expr]),
        outer: Option<&Frame<'_>>,
        is_table: bool,
    ) -> Result<Option<Arc<Derivation>>> {
        if !binder.variables.sql_mode.only_full_group_by() {
            return Ok(None);
        }
        let is_inside = is_table || outer.is_some();
        let rows_for = outer.map_or(RowsFor::Table, Frame::rows_for);
        let is_grouped = self.is_grouped_for(rows_for);
        let is_ordered = self.is_ordered_for(rows_for);
        let refusals = Refusals { bound: self, is_ordered };
        let asks = is_grouped && !refusals.are_all_keys();
        if asks || is_inside {
            let written = match kept {
                Some(written) => written,
                None => Written::of(binder, from, filter)?,
            };
            let derivation = Arc::new(self.derivation(binder, written, is_grouped)?);
            if asks {
                refusals.check_groups(&derivation)?;
            }
            refusals.check_distinct(is_grouped)?;
            return Ok(is_inside.then_some(derivation).filter(|_| !self.rollup));
        }
        refusals.check_distinct(is_grouped)?;
        Ok(None)
    }

    fn derivation(&self, binder: &mut Binder<'_>, written: Written, is_grouped: bool) -> Result<Derivation> {
        let mut bytes = size_of::<Derivation>();
        let mut windows = Vec::new();
        for slot in self.windows.slots() {
            windows.extend(self.windows.args_of(slot).map(|args| (slot, args)));
        }
        let of_windows = windows.iter().flat_map(|(_, args)| args);
        for expr in self.items.outputs.iter().chain(self.keys.into_iter().flatten()).chain(of_windows) {
            expr.visit(&mut |part| bytes += NODE_BYTES + part.constant_bytes());
        }
        binder.may_make(bytes)?;
        let is_plain =
            !is_grouped && self.having.is_none() && !self.has_limit && self.windows.slots().is_empty();
        Ok(written.derivation(Derivation {
            tables: Vec::new(),
            tree: None,
            filter: Vec::new(),
            asked: Vec::new(),
            constants: Vec::new(),
            slots: self.aggregates.end,
            outputs: self.items.outputs.clone(),
            keys: self.keys.map(<[Expr]>::to_vec),
            aggregates: self.aggregates.clone(),
            windows,
            merges: is_plain && !self.distinct && self.is_merged(),
            leaves: 0,
            is_plain,
        }))
    }
}
