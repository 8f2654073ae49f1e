//! DISTINCT: of equal rows, the first one goes on.

use super::loops::Flow;
use super::sort::Sorter;
use super::spill::{Firsts, RowCodec};
use crate::error::Result;
use crate::expr::{Context, group_key};
use crate::sink::ColumnMeta;
use types::Value;

/// Returns bytes that are the same for two rows exactly if DISTINCT takes the rows as equal.
pub(super) fn row_key(row: &[Value], columns: &[ColumnMeta]) -> Vec<u8> {
    let mut key = Vec::new();
    for (value, column) in row.iter().zip(columns) {
        group_key(value, column.ty.collation, &mut key);
    }
    key
}

/// Knows the distinct rows that have been seen. Once they do not fit in memory, rows go to a
/// temporary file, and their duplicates are dropped when all rows have come.
pub(crate) struct Distinct {
    firsts: Firsts,
    codec: RowCodec,
    /// Whether the distinct rows must keep the order in which they came.
    keeps_order: bool,
    key: Vec<u8>,
}

impl Distinct {
    pub fn new(keeps_order: bool, ctx: &Context<'_>) -> Distinct {
        ctx.counters.created_tmp_tables.count();
        Distinct::uncounted(keeps_order, ctx)
    }

    /// As [`Distinct::new`], for rows that are in a table which has been counted.
    pub fn uncounted(keeps_order: bool, ctx: &Context<'_>) -> Distinct {
        Distinct { firsts: Firsts::new(ctx), codec: RowCodec::default(), keeps_order, key: Vec::new() }
    }

    /// Reports whether a row is known to be the first of its kind, so that it can go on at once.
    /// Rows of which this is not known yet are kept for [`Distinct::finish`].
    ///
    /// # Errors
    /// Returns the errors of [`Firsts::is_first`].
    pub fn is_first(&mut self, row: &[Value], columns: &[ColumnMeta], ctx: &Context<'_>) -> Result<bool> {
        self.key.clear();
        for (value, column) in row.iter().zip(columns) {
            group_key(value, column.ty.collation, &mut self.key);
        }
        let codec = &mut self.codec;
        self.firsts.is_first(&self.key, |payload| codec.write_row(row, payload), ctx)
    }

    /// Passes the distinct rows that were kept for later to `take`, until `take` stops.
    ///
    /// # Errors
    /// Returns the errors of [`Firsts::finish`].
    pub fn finish(
        self,
        columns: usize,
        ctx: &Context<'_>,
        take: &mut dyn FnMut(&[Value]) -> Result<Flow>,
    ) -> Result<Flow> {
        if !self.firsts.has_later() {
            return Ok(Flow::Continue);
        }
        let mut row = vec![Value::Null; columns];
        if !self.keeps_order {
            let goes_on = self.firsts.finish(ctx, &mut |_, payload| {
                self.codec.read_row(payload, &mut row)?;
                Ok(take(&row)? == Flow::Continue)
            })?;
            return Ok(if goes_on { Flow::Continue } else { Flow::Stop });
        }
        let mut sorter = Sorter::new(&[], None, ctx);
        self.firsts.finish(ctx, &mut |number, payload| {
            sorter.push_entry(&number.to_be_bytes(), payload, ctx)?;
            Ok(true)
        })?;
        let mut sorted = sorter.finish(ctx)?;
        while let Some((_, payload)) = sorted.next_entry(ctx)? {
            self.codec.read_row(payload, &mut row)?;
            if take(&row)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }
}
