//! LIMIT: its two numbers, and how many rows a sorter has to deliver for it.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr, Number, number};
use crate::plan::{LimitPlan, SelectPlan};

/// The numbers of a LIMIT clause, in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub offset: u64,
    pub count: u64,
}

fn limit_number(expr: &Expr, ctx: &Context<'_>) -> Result<u64> {
    let value = expr.eval(&[], ctx)?;
    match number(&value) {
        Number::Int(n) if n >= 0 && !value.is_null() => Ok(n as u64),
        Number::UInt(n) => Ok(n),
        _ => Err(SqlError::new(1210, "Incorrect arguments to LIMIT")),
    }
}

/// Evaluates the numbers of a LIMIT clause. A statement without LIMIT gets all rows.
///
/// # Errors
/// Returns 1210 when a number is not an integer of at least 0.
pub(super) fn limit_of(plan: Option<&LimitPlan>, ctx: &Context<'_>) -> Result<Limit> {
    let Some(plan) = plan else { return Ok(Limit { offset: 0, count: u64::MAX }) };
    let offset = plan.offset.as_ref().map_or(Ok(0), |offset| limit_number(offset, ctx))?;
    Ok(Limit { offset, count: limit_number(&plan.count, ctx)? })
}

/// Returns the number of rows that LIMIT takes from the sorter. `None` means all: there is no
/// LIMIT, DISTINCT may drop rows first, or SQL_CALC_FOUND_ROWS counts all rows.
pub(super) fn wanted(plan: &SelectPlan, limit: Limit) -> Option<u64> {
    if plan.distinct || plan.calc_found_rows || limit.count == u64::MAX {
        return None;
    }
    Some(limit.offset.saturating_add(limit.count))
}
