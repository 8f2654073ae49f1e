//! Rows that are sorted together with their sort keys.
//!
//! In: rows. Out: the rows in order, each with the values of its keys behind its own. The keys are
//! computed once for each row, so that those which vary (RAND) stay what they were when the row was
//! sorted. Rows with equal keys come one after the other, and in the order in which they came.

use super::sort::{Sorted, Sorter};
use crate::error::Result;
use crate::expr::{Context, Expr, Node, sort_compare};
use crate::plan::SortKey;
use std::cmp::Ordering;
use types::Value;

/// Returns keys with the values of `keys`, which are in the slots from `columns` on.
pub(super) fn in_slots(keys: &[SortKey], columns: usize) -> Vec<SortKey> {
    let in_slot = |(at, key): (usize, &SortKey)| SortKey {
        expr: Expr { node: Node::Slot(columns + at), ..key.expr.clone() },
        descending: key.descending,
    };
    keys.iter().enumerate().map(in_slot).collect()
}

/// Rows that are being sorted.
pub(super) struct KeyedSorter<'p> {
    keys: &'p [SortKey],
    sorter: Sorter<'p>,
    row: Vec<Value>,
    len: usize,
}

impl<'p> KeyedSorter<'p> {
    /// Creates a sorter. `in_slots` are the keys where they stand behind the row.
    pub fn new(keys: &'p [SortKey], in_slots: &'p [SortKey], ctx: &Context<'_>) -> KeyedSorter<'p> {
        KeyedSorter { keys, sorter: Sorter::telling_apart(in_slots, ctx), row: Vec::new(), len: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Returns the errors of the keys and of [`Sorter::keep`].
    pub fn push(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        self.row.clear();
        self.row.extend_from_slice(row);
        for key in self.keys {
            self.row.push(ctx.owned(key.expr.eval(row, ctx)?)?);
        }
        assert_eq!(self.row.len(), row.len() + self.keys.len(), "the keys stand behind the row");
        self.len += 1;
        self.sorter.push(&self.row, &self.row, ctx)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Sorts the rows.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::finish`].
    pub fn finish(self, ctx: &Context<'_>) -> Result<Sorted> {
        self.sorter.finish(ctx)
    }
}

/// Reports whether two rows are equal in these keys. `keys` are the values behind each row.
pub(super) fn equal_keys(a: &[Value], b: &[Value], keys: &[SortKey], ctx: &Context<'_>) -> Result<bool> {
    debug_assert!(a.len() >= keys.len() && b.len() >= keys.len(), "a row has a value for each key");
    for ((a, b), key) in a.iter().zip(b).zip(keys) {
        if sort_compare(a, b, key.expr.ty.collation, ctx)? != Ordering::Equal {
            return Ok(false);
        }
    }
    Ok(true)
}
