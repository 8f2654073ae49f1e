//! ORDER BY of rows that do not come in order.

use crate::error::Result;
use crate::expr::{Context, sort_compare};
use crate::plan::SortKey;
use std::cmp::Ordering;
use types::Value;

/// Rows with their sort keys. With a limit, no more than a few times that many are kept.
pub(super) struct Sorter<'p, T> {
    keys: &'p [SortKey],
    rows: Vec<(Vec<Value>, T)>,
    /// Rows that will be asked for.
    wanted: Option<usize>,
}

impl<'p, T> Sorter<'p, T> {
    pub fn new(keys: &'p [SortKey], wanted: Option<u64>) -> Sorter<'p, T> {
        Sorter { keys, rows: Vec::new(), wanted: wanted.and_then(|wanted| usize::try_from(wanted).ok()) }
    }

    /// Takes a row; the keys are computed from `row`.
    pub fn push(&mut self, row: &[Value], item: T, ctx: &Context<'_>) -> Result<()> {
        let mut values = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            values.push(key.expr.eval(row, ctx)?.into_owned());
        }
        self.rows.push((values, item));
        if let Some(wanted) = self.wanted
            && self.rows.len() >= wanted.saturating_mul(4).saturating_add(1024)
        {
            self.sort(ctx)?;
            self.rows.truncate(wanted);
        }
        Ok(())
    }

    fn sort(&mut self, ctx: &Context<'_>) -> Result<()> {
        let mut failed = None;
        let keys = self.keys;
        // Stable: rows that are equal keep the order in which they came.
        self.rows.sort_by(|(a, _), (b, _)| {
            for ((key, a), b) in keys.iter().zip(a).zip(b) {
                match sort_compare(a, b, key.expr.ty.collation, ctx) {
                    Ok(Ordering::Equal) => {}
                    Ok(ordering) => return if key.descending { ordering.reverse() } else { ordering },
                    Err(error) => {
                        failed = Some(error);
                        return Ordering::Equal;
                    }
                }
            }
            Ordering::Equal
        });
        failed.map_or(Ok(()), Err)
    }

    /// The rows in order.
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<impl Iterator<Item = T>> {
        self.sort(ctx)?;
        Ok(self.rows.into_iter().map(|(_, item)| item))
    }
}
