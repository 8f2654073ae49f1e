//! ONLY_FULL_GROUP_BY: what a query with groups or with DISTINCT may name.
//!
//! In: a SELECT that is bound. Out: the error of MySQL for an expression that may have several
//! values in one group (1055, and 1140 where all rows are one group), or for an ORDER BY that looks
//! at what DISTINCT has dropped (3065, 3066); and how the SELECT makes its rows ([`Derivation`]),
//! for the query around it.
//!
//! A column is right in the select list, in HAVING, in ORDER BY and in a window's definition where
//! it has one value in each group, because it *follows from* what the query is grouped by:
//!
//! - It is what the query is grouped by. With ROLLUP nothing else is.
//! - It is a column of a table, all columns of a PRIMARY KEY or a UNIQUE one of which follow. A
//!   column of the key may be nullable where a condition takes no NULL of it (`a IS NOT NULL`,
//!   `a > 3`).
//! - WHERE, or the ON of an inner join, has it equal to a constant, to a column of a query around,
//!   or to a column that follows. An outer join that rejects its NULLs is an inner one, and an IN
//!   or EXISTS that can be a semi-join counts as one.
//! - It is on the weak side of an outer join, whose ON has it equal to a column of that side that
//!   follows; or to a constant or a column of the strong side that follows, if all that ON asks of
//!   the strong side follows. Within the weak side of another outer join ON has to reject NULLs of
//!   its strong side besides.
//! - It is a generated column, or a computed column of a view, whose own columns follow; on the
//!   weak side only where a NULL of these makes it NULL.
//! - It is a column of a derived table or a view that is computed as a whole, and follows in the
//!   query of that from those of its columns that follow here; all of them do once everything
//!   follows that the query is grouped by. On the weak side one of them must not be NULL there. Of
//!   a UNION, and of a query with ROLLUP, nothing is known.
//!
//! An expression that is one of those that the query is grouped by is right as a whole, and so is
//! what stands in an aggregate, in ANY_VALUE() and in GROUPING(). From below: `equalities` reads
//! conditions, `rows` are the tables with those of the queries in them, `known` is what follows,
//! `written` keeps FROM and WHERE before the binder changes them, `refusals` are the errors.

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

/// Whether a SELECT's FROM and WHERE have to be kept as they were written, for it and for the query
/// around it.
pub(super) fn must_keep(binder: &Binder<'_>, from: &From, filter: &[Expr], is_inside: bool) -> bool {
    binder.variables.sql_mode.only_full_group_by() && (is_inside || has_queries(from, filter))
}

impl Bound<'_, '_> {
    /// Checks the query, of which this was `kept` if it had to be. Of a query in another one it
    /// gives how its rows are made.
    ///
    /// # Errors
    /// 1055, 1140, 3065, 3066; as [`Binder::may_make`].
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
