//! Rows kept together with their sort keys.

use crate::error::Result;
use crate::expr::{Context, scratch_bytes, sort_by, sort_compare};
use crate::memory::{Charge, row_bytes};
use crate::plan::SortKey;
use std::cmp::Ordering;
use types::Value;

/// A row together with its sort keys.
pub(super) struct KeyedRow {
    pub keys: Vec<Value>,
    pub row: Vec<Value>,
}

pub(super) fn compare_keys(
    a: &[Value],
    b: &[Value],
    keys: &[SortKey],
    ctx: &Context<'_>,
) -> Result<Ordering> {
    for ((a, b), key) in a.iter().zip(b).zip(keys) {
        match sort_compare(a, b, key.expr.ty.collation, ctx)? {
            Ordering::Equal => {}
            ordering => return Ok(if key.descending { ordering.reverse() } else { ordering }),
        }
    }
    Ok(Ordering::Equal)
}

/// Sorts the rows by these keys, which it computes for each row first.
pub(super) fn sort(
    rows: &mut [KeyedRow],
    keys: &[SortKey],
    charge: &mut Charge,
    ctx: &Context<'_>,
) -> Result<()> {
    for sorted in rows.iter_mut() {
        ctx.check_interrupt()?;
        charge.take_away(row_bytes(&sorted.keys));
        sorted.keys = Vec::with_capacity(keys.len());
        for key in keys {
            sorted.keys.push(ctx.owned(key.expr.eval(&sorted.row, ctx)?)?);
        }
        charge.add(row_bytes(&sorted.keys))?;
        ctx.forget_made();
    }
    let scratch = scratch_bytes(rows);
    charge.add(scratch)?;
    let done = sort_by(rows, || ctx.check_interrupt(), |a, b| compare_keys(&a.keys, &b.keys, keys, ctx));
    charge.take_away(scratch);
    done
}

/// Returns the index behind the last of the rows from `start` on that are equal in these keys.
/// `first` is the position of the first of the keys in [`KeyedRow::keys`].
pub(super) fn end_of_equals(
    rows: &[KeyedRow],
    start: usize,
    (first, keys): (usize, &[SortKey]),
    ctx: &Context<'_>,
) -> Result<usize> {
    let of = |at: usize| &rows[at].keys[first..first + keys.len()];
    let mut end = start + 1;
    while end < rows.len() && compare_keys(of(end - 1), of(end), keys, ctx)? == Ordering::Equal {
        ctx.check_interrupt()?;
        end += 1;
    }
    Ok(end)
}
