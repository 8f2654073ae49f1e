//! The nested loops of a query: one level for each of its tables, outermost first.
//!
//! In: the steps of the plan, and the rows of computed and derived tables. Out: each combination of
//! rows that the conditions take, in one row of slots that all levels share.

use super::Run;
use super::reader::Reader;
use crate::error::Result;
use crate::memory::Charge;
use crate::plan::{Source, TableStep};
use types::Value;

/// Whether to go on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    Stop,
}

/// Computed tables and derived tables, read once.
pub(super) type Materialized = Vec<Option<(Vec<Vec<Value>>, Charge)>>;

/// Takes a combination of rows.
pub(super) type Visit<'v> = dyn FnMut(&mut Run<'_, '_>, &mut Vec<Value>) -> Result<Flow> + 'v;

/// One level of the loops: for each row of this table that its conditions take, the levels within.
pub(super) fn nested_loops(
    run: &mut Run<'_, '_>,
    tables: &[TableStep],
    level: usize,
    materialized: &Materialized,
    row: &mut Vec<Value>,
    visit: &mut Visit<'_>,
) -> Result<Flow> {
    let Some(step) = tables.get(level) else { return visit(run, row) };
    let mut matched = false;
    let slots = step.base..step.base + step.columns;
    let mut within = |run: &mut Run<'_, '_>, row: &mut Vec<Value>, matched: &mut bool| -> Result<Flow> {
        for condition in step.outer.iter().flatten() {
            if !condition.holds(row, run.ctx)? {
                run.with(|txn| txn.release_unwanted());
                return Ok(Flow::Continue);
            }
        }
        *matched = true;
        for condition in &step.conditions {
            if !condition.holds(row, run.ctx)? {
                run.with(|txn| txn.release_unwanted());
                return Ok(Flow::Continue);
            }
        }
        nested_loops(run, tables, level + 1, materialized, row, visit)
    };
    match (&step.source, &materialized[level]) {
        (Source::Stored { table, access }, _) => {
            let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), row)?;
            while reader.read_into(run, step, row)? {
                if within(run, row, &mut matched)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        (_, Some((rows, _))) => {
            for found in rows.iter() {
                run.on_row()?;
                row[slots.clone()].clone_from_slice(found);
                if within(run, row, &mut matched)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        (Source::Subquery(call), _) => {
            let found = call.rows(row, run.ctx)?;
            for found in &found.rows {
                run.on_row()?;
                row[slots.clone()].clone_from_slice(found);
                if within(run, row, &mut matched)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        (_, None) => {}
    }
    if step.outer.is_some() && !matched {
        row[slots].fill(Value::Null);
        if let Some(key) = step.key_slot {
            row[key] = Value::Null;
        }
        for condition in &step.conditions {
            if !condition.holds(row, run.ctx)? {
                return Ok(Flow::Continue);
            }
        }
        return nested_loops(run, tables, level + 1, materialized, row, visit);
    }
    Ok(Flow::Continue)
}
