//! Values into columns: conversion with MySQL's errors and warnings, defaults.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Level};
use engine::{ColumnDef, ColumnDefault, Table};
use std::borrow::Cow;
use types::convert;
use types::{DateTime, TypeCode, Value};

/// How a statement treats values that do not fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strictness {
    /// Errors, not warnings.
    pub strict: bool,
    /// NULL in a NOT NULL column becomes the type's zero value (IGNORE, and rows of several in
    /// non-strict mode).
    pub null_becomes_zero: bool,
}

/// What `value` becomes in the column; `row` is the number that messages give.
pub(crate) fn to_column(
    value: &Value,
    column: &ColumnDef,
    row: u64,
    strictness: Strictness,
    ctx: &Context<'_>,
) -> Result<Value> {
    if value.is_null() {
        if column.nullable {
            return Ok(Value::Null);
        }
        if column.ty.code == TypeCode::Timestamp2 && !ctx.variables.explicit_timestamps {
            return now_for(column, ctx);
        }
        if !strictness.null_becomes_zero {
            return Err(SqlError::column_not_null(&column.name));
        }
        ctx.warn(1048, format!("Column '{}' cannot be null", column.name));
        return zero_value(column);
    }
    let value = decoded_timestamp(value, column, ctx);
    match convert::assign(&value, &column.ty, ctx.conversion(strictness.strict)) {
        Ok((value, None)) => Ok(value),
        Ok((value, Some(warning))) => {
            let level = if warning.note { Level::Note } else { Level::Warning };
            let is_bits = column.ty.code == TypeCode::Bit && !ctx.variables.sql_mode.strict();
            let problem = match warning.problem {
                // Whether IGNORE was said is nothing to MySQL here, the mode is.
                convert::Problem::TooLong if is_bits => convert::Problem::OutOfRange,
                problem => problem,
            };
            let message = problem.message(&column.name, row);
            ctx.diagnostics.borrow_mut().push(level, problem.code(), message);
            Ok(value)
        }
        Err(problem) => {
            let mut error = SqlError::new(problem.code(), problem.message(&column.name, row));
            if let Ok(state) = problem.sqlstate().as_bytes().try_into() {
                error.state = state;
            }
            Err(error)
        }
    }
}

/// The message about a text that is no document has the table's name too.
pub(super) fn of_table(mut error: SqlError, table: &str) -> SqlError {
    if error.code == 3140 {
        let before = "in value for column '";
        error.message = error.message.replacen(before, &format!("{before}{table}."), 1);
    }
    error
}

/// A TIMESTAMP on its way into any other column is a DATETIME of the session's time zone.
fn decoded_timestamp<'v>(value: &'v Value, column: &ColumnDef, ctx: &Context<'_>) -> Cow<'v, Value> {
    match value {
        Value::Timestamp { .. } if column.ty.code != TypeCode::Timestamp2 => {
            Cow::Owned(value.clone().in_zone(ctx.zone()))
        }
        _ => Cow::Borrowed(value),
    }
}

/// The implicit default of a NOT NULL column.
pub(super) fn zero_value(column: &ColumnDef) -> Result<Value> {
    convert::implicit_default(&column.ty)
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)))
}

/// NOW() for a column with fractional digits of its own.
pub(super) fn now_for(column: &ColumnDef, ctx: &Context<'_>) -> Result<Value> {
    let at =
        DateTime::from_unix((ctx.now_us / 1_000_000) as i64, (ctx.now_us % 1_000_000) as u32, ctx.zone());
    let unit = 10u32.pow(6 - u32::from(column.ty.fsp()));
    let at = DateTime { micros: at.micros / unit * unit, ..at };
    let strictness = Strictness { strict: false, null_becomes_zero: false };
    to_column(&Value::DateTime(at), column, 1, strictness, ctx)
}

/// How a column's default is converted: what it is was judged when it was defined, whatever the
/// modes are now.
pub(super) fn for_default(ctx: &Context<'_>) -> convert::Context {
    convert::Context { dates: convert::DateModes::default(), ..ctx.conversion(false) }
}

/// The value of a column that an INSERT leaves out.
pub(super) fn default_value(
    table: &Table,
    at: usize,
    row: u64,
    strictness: Strictness,
    ctx: &Context<'_>,
) -> Result<Value> {
    let column = &table.def.columns[at];
    if let Some(edge) = crate::ddl::row_edge_value(column, ctx.now_us) {
        return Ok(edge);
    }
    if column.generated.is_some() {
        // It is computed when the row is complete.
        return Ok(Value::Null);
    }
    match &column.default {
        Some(ColumnDefault::Null) if column.nullable => Ok(Value::Null),
        Some(ColumnDefault::Literal(_)) => {
            let literal = column.default_literal().unwrap_or(Value::Null);
            convert::assign(&literal, &column.ty, for_default(ctx))
                .map(|(value, _)| value)
                .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, row)))
        }
        Some(ColumnDefault::CurrentTimestamp) => now_for(column, ctx),
        // So is this one.
        Some(ColumnDefault::Expression(_)) => Ok(Value::Null),
        None if column.nullable && !column.demands_value() => Ok(Value::Null),
        None | Some(ColumnDefault::Null) if !column.demands_value() => zero_value(column),
        None | Some(ColumnDefault::Null) => {
            let message = format!("Field '{}' doesn't have a default value", column.name);
            if strictness.strict {
                return Err(SqlError::new(1364, message));
            }
            ctx.warn(1364, message);
            zero_value(column)
        }
    }
}

/// A row's image that is stored is there more than once for a time: here, in the transaction, and
/// in its events.
pub(super) const COPIES_OF_AN_IMAGE: usize = 3;

/// Encodes a whole row.
pub(super) fn encode(table: &Table, values: &[Value], ctx: &Context<'_>) -> Result<Vec<u8>> {
    // Room for the null bitmap, and for the widest number or a length and a text each, so that it
    // need not grow.
    let widths =
        values.iter().map(|value| if let Value::Bytes(bytes) = value { bytes.len() + 4 } else { 10 });
    let bytes = table.layout.null_bytes() + widths.sum::<usize>();
    ctx.charge_if_long(bytes.saturating_mul(COPIES_OF_AN_IMAGE))?;
    let mut image = Vec::with_capacity(bytes);
    table.layout.encode(values, &mut image)?;
    Ok(image)
}
