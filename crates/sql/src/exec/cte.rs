//! Recursive common table expressions.
//!
//! In: the rows of the seed (the first query blocks). Each recursive block runs over the rows that
//! it has not seen yet, until no block finds more. As in MySQL, a block sees the rows of the blocks
//! before it and its own. Out: all rows in the order in which they were found.

use super::assign::{document_for_column, moment_for_column};
use super::by_hash::Seen;
use super::distinct::row_key;
use super::gathered::Gathered;
use super::limit::limit_of;
use super::run::{Emit, QueryOutcome, Run, RunQuery};
use crate::error::{Result, SqlError};
use crate::expr::{Context, Level, SubqueryRows, datetime_of};
use crate::plan::Recursion;
use crate::sink::ColumnMeta;
use std::borrow::Cow;
use std::rc::Rc;
use types::{ColumnType, TypeCode, Value, convert};

/// The rows that a recursive block has not seen yet.
struct Unseen {
    rows: Gathered,
    /// How many times the block has run.
    iterations: u64,
}

impl Unseen {
    fn new(run: &Run<'_, '_>) -> Unseen {
        Unseen { rows: Gathered::new(run.ctx), iterations: 0 }
    }

    /// Returns the unseen rows and marks them as seen.
    ///
    /// # Errors
    /// Returns 3636 (`ER_CTE_MAX_RECURSION_DEPTH`) when the block has run more often than
    /// `cte_max_recursion_depth` allows.
    fn take(&mut self, run: &Run<'_, '_>) -> Result<SubqueryRows> {
        self.iterations += 1;
        if self.iterations > run.ctx.variables.cte_max_recursion_depth {
            let text = format!(
                "Recursive query aborted after {} iterations. Try increasing @@cte_max_recursion_depth to a larger value.",
                self.iterations
            );
            return Err(SqlError::new(3636, text));
        }
        Ok(std::mem::replace(&mut self.rows, Gathered::new(run.ctx)).finish())
    }
}

/// The rows that have been found, and where they go.
struct Found<'e, 'f> {
    columns: &'e [ColumnMeta],
    /// The keys of all rows found, if UNION DISTINCT drops the rows that are found twice.
    keys: Option<Seen>,
    unseen: Vec<Unseen>,
    /// The rows of OFFSET that are still to be skipped, then the rows that LIMIT still takes.
    offset: u64,
    left: u64,
    emitted: u64,
    emit: &'e mut Emit<'f>,
}

impl Found<'_, '_> {
    fn add(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        if let Some(keys) = &mut self.keys
            && !keys.is_new(&row_key(row, self.columns), ctx)?
        {
            return Ok(());
        }
        match self.offset {
            0 => {
                self.left -= 1;
                self.emitted += 1;
                (self.emit)(row)?;
            }
            _ => self.offset -= 1,
        }
        self.unseen.iter_mut().try_for_each(|unseen| unseen.rows.push(row, ctx))
    }
}

/// Converts a value to the type of the common table's column.
fn kept(value: &Value, column: &ColumnMeta, ctx: &Context<'_>) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let read = document_for_column(value, &column.ty, &column.name, ctx)?;
    let value = read.as_ref().unwrap_or(value);
    if value.is_null() {
        return Ok(Value::Null);
    }
    let conversion = ctx.conversion(ctx.variables.sql_mode.strict());
    // A TIME is one of today in a YEAR, too: MySQL asks the expression for its date.
    let value = match (value, column.ty.code) {
        (Value::Time(_), TypeCode::Year) => datetime_of(value, ctx).map(Value::DateTime).map(Cow::Owned),
        _ => Some(moment_for_column(value, &column.ty, ctx)),
    };
    let Some(value) = value else { return Ok(Value::Null) };
    // MySQL makes a VARBINARY of everything but a column of type BINARY.
    let is_made = column.org_name.is_empty()
        && column.ty.code == TypeCode::String
        && column.ty.collation == types::collation::BINARY;
    let made = if is_made { Some(ColumnType::varbinary(u32::from(column.ty.meta))) } else { None };
    match convert::assign(&value, made.as_ref().unwrap_or(&column.ty), conversion) {
        Ok((value, warning)) => {
            if let Some(warning) = warning {
                let level = if warning.note { Level::Note } else { Level::Warning };
                let message = warning.problem.message(&column.name, 1);
                ctx.diagnostics.borrow_mut().push(level, warning.problem.code(), message);
            }
            Ok(value)
        }
        Err(problem) => {
            let mut error = SqlError::new(problem.code(), problem.message(&column.name, 1));
            if let Ok(state) = problem.sqlstate().as_bytes().try_into() {
                error.state = state;
            }
            Err(error)
        }
    }
}

/// Runs a recursive common table expression. As in MySQL, strict mode refuses what it refuses of a
/// statement that changes rows, because the rows are kept in a table.
///
/// # Errors
/// Returns the errors of the query blocks, 3636, and the errors of strict mode.
pub(super) fn run_recursive(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    recursion: &Recursion,
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let subqueries = run.ctx.subqueries.expect("a common table is one of the statement's subqueries");
    let ctx = run.ctx.strictly(subqueries);
    let mut part = run.part(subqueries.transaction(), &ctx);
    let outcome = run_blocks(&mut part, run_query, recursion, columns, emit);
    ctx.check_refused().and(outcome)
}

/// Runs the seed, and the recursive blocks until none of them finds another row.
fn run_blocks(
    run: &mut Run<'_, '_>,
    run_query: RunQuery,
    recursion: &Recursion,
    columns: &[ColumnMeta],
    emit: &mut Emit<'_>,
) -> Result<QueryOutcome> {
    let ctx = run.ctx;
    let subqueries = ctx.subqueries.expect("a common table is one of the statement's subqueries");
    let limit = limit_of(recursion.limit.as_ref(), ctx)?;
    let mut found = Found {
        columns,
        keys: recursion.distinct.then(|| Seen::new(ctx)),
        unseen: recursion.blocks.iter().map(|_| Unseen::new(run)).collect(),
        offset: limit.offset,
        left: limit.count,
        emitted: 0,
        emit,
    };
    let take = |found: &mut Found<'_, '_>, row: &[Value]| {
        ctx.check_interrupt()?;
        ctx.check_refused()?;
        assert_eq!(row.len(), columns.len(), "each query block has the columns of the table");
        let values: Result<Vec<Value>> =
            row.iter().zip(columns).map(|(value, column)| kept(value, column, ctx)).collect();
        found.add(&values?, ctx)
    };
    run_query(run, &recursion.seed, &mut |row| take(&mut found, row))?;
    let mut grows = true;
    while std::mem::take(&mut grows) {
        for (at, block) in recursion.blocks.iter().enumerate() {
            while !found.unseen[at].rows.is_empty() && found.left > 0 {
                grows = true;
                let rows = Rc::new(found.unseen[at].take(run)?);
                subqueries.set_rows(recursion.own_rows, Some(rows));
                let ran = run_query(run, block, &mut |row| take(&mut found, row));
                subqueries.set_rows(recursion.own_rows, None);
                ran?;
            }
        }
    }
    assert!(
        found.left == 0 || found.unseen.iter().all(|unseen| unseen.rows.is_empty()),
        "each block has seen all rows, unless LIMIT wants no more"
    );
    assert_eq!(found.emitted + found.left, limit.count, "the rows that LIMIT takes are counted");
    Ok(QueryOutcome { found_rows: found.emitted })
}
