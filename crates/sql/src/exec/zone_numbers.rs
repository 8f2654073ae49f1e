//! The numbers of a table's zone column between which the rows lie that a step wants, so that its
//! scan leaves out the zones without such rows ([`engine::Scan::leave_out`]).
//!
//! In: the tests of images, and conditions on a TIMESTAMP, which no test decides because its values
//! compare on the clocks of the session's time zone. Out: bounds that leave out no row which meets
//! the conditions.

use super::compared_columns::{Columns, constant};
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Context, Expr, Node};
use std::ops::RangeInclusive;
use types::column_test::ColumnTest;
use types::temporal::{Zone, parse};
use types::{DateTime, TypeCode, Value};

/// No clock is further from UTC.
const MOST_SECONDS_FROM_UTC: i64 = 86_400;

/// What is known of the rows that a step wants.
pub(super) struct ZoneNumbers {
    /// The zone column. `None` is for a table without one.
    column: Option<usize>,
    /// The least and the greatest number, once something is known.
    bounds: Option<(u64, u64)>,
}

impl ZoneNumbers {
    /// Nothing is known yet.
    pub fn of(column: Option<usize>) -> ZoneNumbers {
        ZoneNumbers { column, bounds: None }
    }

    /// Returns the least and the greatest number. `None` means that it may be any.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        self.bounds
    }

    fn meet(&mut self, (least, greatest): (u64, u64)) {
        let (low, high) = self.bounds.unwrap_or((0, u64::MAX));
        self.bounds = Some((low.max(least), high.min(greatest)));
    }

    /// Takes a test that all wanted rows pass.
    pub fn test(&mut self, test: &ColumnTest) {
        if let Some((column, numbers)) = test.numbers()
            && self.column == Some(column)
        {
            self.meet(numbers);
        }
    }

    /// Takes a comparison of a TIMESTAMP with a date and time, which all wanted rows meet. Returns
    /// false if the condition is none or may warn.
    ///
    /// # Errors
    /// Returns the errors of the constant.
    pub fn timestamp(&mut self, columns: &Columns<'_>, condition: &Expr, ctx: &Context<'_>) -> Result<bool> {
        let Some(column) = self.column else { return Ok(false) };
        let ty = &columns.types()[column];
        if ty.code != TypeCode::Timestamp2 {
            return Ok(false);
        }
        let Some(seconds) = wanted_seconds(column, columns, condition, ctx)? else { return Ok(false) };
        // A fraction of a second stands in so many bytes behind the seconds.
        let fraction_bits = 8 * u32::from(ty.fsp().div_ceil(2));
        let clamped = |seconds: i64| seconds.clamp(0, i64::from(u32::MAX)) as u64;
        let least = clamped(*seconds.start()) << fraction_bits;
        let greatest = ((clamped(*seconds.end()) + 1) << fraction_bits) - 1;
        self.meet((least, greatest));
        Ok(true)
    }
}

/// Returns the seconds of Unix time between which a column has its moment where a condition holds.
/// `None` means that the condition does not compare the column with a date and time.
fn wanted_seconds(
    column: usize,
    columns: &Columns<'_>,
    condition: &Expr,
    ctx: &Context<'_>,
) -> Result<Option<RangeInclusive<i64>>> {
    match &condition.node {
        Node::Compare { op, operands, .. } => {
            let [a, b] = &**operands;
            let sided = columns.sided(*op, a, b).filter(|(of, ..)| *of == column);
            let Some((_, op, other)) = sided else { return Ok(None) };
            let Some(near) = seconds(other, ctx)? else { return Ok(None) };
            Ok(match op {
                BinaryOp::Equal => Some(near),
                BinaryOp::Less | BinaryOp::LessEqual => Some(i64::MIN..=*near.end()),
                BinaryOp::Greater | BinaryOp::GreaterEqual => Some(*near.start()..=i64::MAX),
                _ => None,
            })
        }
        Node::Between { negated: false, operands, .. } => {
            let [operand, low, high] = &**operands;
            if columns.column(operand) != Some(column) {
                return Ok(None);
            }
            let ends = seconds(low, ctx)?.zip(seconds(high, ctx)?);
            Ok(ends.map(|(low, high)| *low.start()..=*high.end()))
        }
        _ => Ok(None),
    }
}

/// Returns seconds of Unix time between which the clocks of any time zone show a constant.
fn seconds(expr: &Expr, ctx: &Context<'_>) -> Result<Option<RangeInclusive<i64>>> {
    let Some(value) = constant(expr, ctx)? else { return Ok(None) };
    let shown = match &*value {
        Value::Date(date) => Some(DateTime::midnight(*date)),
        Value::DateTime(at) => Some(*at),
        Value::Bytes(text) => parse::datetime(text).map(|parsed| parsed.value),
        _ => None,
    };
    Ok(shown.map(|shown| {
        let in_utc = shown.to_unix(Zone::UTC);
        in_utc - MOST_SECONDS_FROM_UTC..=in_utc + MOST_SECONDS_FROM_UTC
    }))
}
