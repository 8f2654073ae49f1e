//! The last steps of a row on its way to the client: its output expressions, DISTINCT, OFFSET and
//! LIMIT.

use super::distinct::Distinct;
use super::limit::Limit;
use super::loops::Flow;
use super::run::Emit;
use crate::error::Result;
use crate::expr::{Context, Expr, Node, conform, sort_compare};
use crate::plan::{SelectPlan, SortKey};
use crate::sink::ColumnMeta;
use std::cmp::Ordering;
use std::collections::HashSet;
use types::Value;

/// Applies DISTINCT, OFFSET and LIMIT to the rows.
pub(super) struct Output<'e> {
    pub columns: &'e [ColumnMeta],
    /// The rows seen so far, for a DISTINCT whose equal rows do not come one after the other.
    pub distinct: Option<Distinct>,
    pub limit: Limit,
    pub count_all: bool,
    pub passed: u64,
    pub emitted: u64,
    pub emit: &'e mut Emit<'e>,
}

impl Output<'_> {
    /// Takes the next row. Returns `Flow::Stop` when no more rows are wanted.
    pub fn take(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<Flow> {
        if let Some(distinct) = &mut self.distinct
            && !distinct.is_first(row, self.columns, ctx)?
        {
            return Ok(Flow::Continue);
        }
        self.pass(row)
    }

    /// Takes a row that DISTINCT has let through, and applies OFFSET and LIMIT to it.
    fn pass(&mut self, row: &[Value]) -> Result<Flow> {
        assert_eq!(row.len(), self.columns.len(), "a row has a value for each column of the result");
        self.passed += 1;
        if self.passed > self.limit.offset && self.emitted < self.limit.count {
            self.emitted += 1;
            assert!(self.emitted <= self.passed - self.limit.offset, "OFFSET leaves rows out");
            (self.emit)(row)?;
        }
        let is_full = self.emitted >= self.limit.count && !self.count_all;
        Ok(if is_full { Flow::Stop } else { Flow::Continue })
    }

    /// Ends the output: the rows that DISTINCT has kept for later go on.
    pub fn finish(&mut self, ctx: &Context<'_>) -> Result<()> {
        let is_full = self.emitted >= self.limit.count && !self.count_all;
        if let Some(distinct) = self.distinct.take()
            && !is_full
        {
            distinct.finish(self.columns.len(), ctx, &mut |row| {
                ctx.forget_made();
                self.pass(row)
            })?;
        }
        Ok(())
    }
}

/// Computes the output columns of rows. A value that is decoded anew for each row, and that only
/// one output needs, is swapped with the output's old value instead of copied, so that the next row
/// can reuse the memory.
pub(super) struct Projection<'p> {
    plan: &'p SelectPlan,
    columns: &'p [ColumnMeta],
    /// For each output, the slot that its value is taken from by a swap.
    moved: Vec<Option<usize>>,
}

impl<'p> Projection<'p> {
    pub fn new(plan: &'p SelectPlan, columns: &'p [ColumnMeta]) -> Projection<'p> {
        assert_eq!(plan.outputs.len(), columns.len(), "each output has a column of the result");
        // The slots of the innermost table are filled again before anyone reads them again.
        let innermost = plan.tables.last().map_or(0..0, |step| step.base..step.base + step.columns);
        let mut moved: Vec<Option<usize>> = Vec::with_capacity(plan.outputs.len());
        for expr in &plan.outputs {
            let slot = match expr.node {
                Node::Slot(slot) if innermost.contains(&slot) => Some(slot),
                _ => None,
            };
            moved.push(slot.filter(|slot| !moved.contains(&Some(*slot))));
        }
        Projection { plan, columns, moved }
    }

    /// Sets `out` to the outputs that are computed. The caller then calls
    /// [`Projection::move_rest`], once nothing else needs the row.
    pub fn compute(&self, row: &[Value], out: &mut Vec<Value>, ctx: &Context<'_>) -> Result<()> {
        out.resize_with(self.plan.outputs.len(), || Value::Null);
        for (at, (expr, column)) in self.plan.outputs.iter().zip(self.columns).enumerate() {
            if self.moved[at].is_none() {
                let value = expr.output(row, &column.ty, ctx)?;
                // DISTINCT keeps its rows in a table, whose values have the columns' types.
                let value = if self.plan.distinct { conform(value, &column.ty, ctx)? } else { value };
                out[at] = ctx.owned(value)?;
            }
        }
        Ok(())
    }

    /// Moves the other outputs out of the row.
    pub fn move_rest(&self, row: &mut [Value], out: &mut [Value], ctx: &Context<'_>) -> Result<()> {
        for (at, column) in self.columns.iter().enumerate() {
            let Some(slot) = self.moved[at] else { continue };
            std::mem::swap(&mut out[at], &mut row[slot]);
            if !crate::expr::conforms(&out[at], &column.ty) {
                let value = std::mem::replace(&mut out[at], Value::Null);
                out[at] = conform(std::borrow::Cow::Owned(value), &column.ty, ctx)?.into_owned();
            }
        }
        Ok(())
    }
}

/// Reports whether sorting by `order` puts equal rows one after the other. It does if every output
/// is a sort key.
pub(super) fn groups_equal_rows(plan: &SelectPlan) -> bool {
    let slot = |expr: &Expr| if let Node::Slot(slot) = expr.node { Some(slot) } else { None };
    let keys: HashSet<usize> = plan.order.iter().filter_map(|SortKey { expr, .. }| slot(expr)).collect();
    plan.outputs.iter().all(|output| slot(output).is_some_and(|slot| keys.contains(&slot)))
}

/// Reports whether DISTINCT takes two rows as equal.
pub(super) fn equal_rows(
    a: &[Value],
    b: &[Value],
    columns: &[ColumnMeta],
    ctx: &Context<'_>,
) -> Result<bool> {
    for ((a, b), column) in a.iter().zip(b).zip(columns) {
        if sort_compare(a, b, column.ty.collation, ctx)? != Ordering::Equal {
            return Ok(false);
        }
    }
    Ok(true)
}
