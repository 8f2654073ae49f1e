//! Storing values in columns: conversion with MySQL's errors and warnings, and defaults.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Level};
use engine::{ColumnDef, ColumnDefault, Table};
use std::borrow::Cow;
use types::convert;
use types::{DateTime, TypeCode, Value};

/// How a statement treats values that do not fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strictness {
    /// Whether values that do not fit are errors. Else they are converted with a warning.
    pub strict: bool,
    /// Whether NULL in a NOT NULL column becomes the type's zero value, as under IGNORE and for the
    /// rows of a multi-row INSERT in non-strict mode.
    pub null_becomes_zero: bool,
}

/// Converts `value` to the type of the column. `row` is the row number for messages, from 1.
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
    let is_text = matches!(value, Value::Bytes(_));
    let value = decoded_timestamp(value, column, ctx);
    match convert::assign(&value, &column.ty, ctx.conversion(strictness.strict)) {
        Ok((value, None)) => Ok(value),
        Ok((value, Some(warning))) => {
            let level = if warning.note { Level::Note } else { Level::Warning };
            let is_bits = column.ty.code == TypeCode::Bit && !ctx.variables.sql_mode.strict();
            let problem = match warning.problem {
                // Here MySQL looks at the SQL mode alone, not at IGNORE.
                convert::Problem::TooLong if is_bits => convert::Problem::OutOfRange,
                problem => problem,
            };
            let message = problem.message(&column.name, row);
            ctx.diagnostics.borrow_mut().push(level, problem.code(), message);
            // MariaDB makes NULL of a text that is no UUID or address, if the column may have it.
            let is_none = column.nullable && column.ty.text_form().is_some() && is_text;
            Ok(if is_none { Value::Null } else { value })
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

/// Adds the table's name to the message of error 3140 (`ER_INVALID_JSON_TEXT`), as MySQL does.
pub(super) fn of_table(mut error: SqlError, table: &str) -> SqlError {
    if error.code == 3140 {
        let before = "in value for column '";
        error.message = error.message.replacen(before, &format!("{before}{table}."), 1);
    }
    error
}

/// Returns the value to convert: a TIMESTAMP that goes into a column of another type becomes a
/// DATETIME in the session's time zone.
fn decoded_timestamp<'v>(value: &'v Value, column: &ColumnDef, ctx: &Context<'_>) -> Cow<'v, Value> {
    match value {
        Value::Timestamp { .. } if column.ty.code != TypeCode::Timestamp2 => {
            Cow::Owned(value.clone().in_zone(ctx.zone()))
        }
        _ => Cow::Borrowed(value),
    }
}

/// Returns the implicit default of a NOT NULL column.
pub(super) fn zero_value(column: &ColumnDef) -> Result<Value> {
    convert::implicit_default(&column.ty)
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)))
}

/// Returns NOW() with the fractional digits that the column has.
pub(super) fn now_for(column: &ColumnDef, ctx: &Context<'_>) -> Result<Value> {
    let at =
        DateTime::from_unix((ctx.now_us / 1_000_000) as i64, (ctx.now_us % 1_000_000) as u32, ctx.zone());
    let unit = 10u32.pow(6 - u32::from(column.ty.fsp()));
    let at = DateTime { micros: at.micros / unit * unit, ..at };
    let strictness = Strictness { strict: false, null_becomes_zero: false };
    to_column(&Value::DateTime(at), column, 1, strictness, ctx)
}

/// Returns the modes for converting a column's default. The default was checked when the column was
/// defined, so the current SQL mode has no say.
pub(super) fn for_default(ctx: &Context<'_>) -> convert::Context {
    convert::Context { dates: convert::DateModes::default(), ..ctx.conversion(false) }
}

/// Returns the default of a column that an INSERT leaves out.
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
        // Its expression is computed when the row is complete.
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
        // The default's expression is computed when the row is complete, too.
        Some(ColumnDefault::Expression(_)) => Ok(Value::Null),
        None if column.nullable && !column.demands_value() => Ok(Value::Null),
        None | Some(ColumnDefault::Null) if !column.demands_value() => zero_value(column),
        None | Some(ColumnDefault::Null) => {
            let message = format!("Field '{}' doesn't have a default value", column.name);
            // MariaDB takes a column that ON DUPLICATE KEY UPDATE assigns for one that has a value,
            // so a source may have carried out what strict mode refuses.
            if strictness.strict && !ctx.lenient.get() {
                return Err(SqlError::new(1364, message));
            }
            ctx.warn(1364, message);
            // The default was taken away by ALTER COLUMN ... DROP DEFAULT if the column may be
            // NULL.
            if column.nullable { Ok(Value::Null) } else { zero_value(column) }
        }
    }
}

/// How many copies of a stored row image exist at once: here, in the transaction and in its events.
pub(super) const COPIES_OF_AN_IMAGE: usize = 3;

/// Encodes a whole row.
pub(super) fn encode(table: &Table, values: &[Value], ctx: &Context<'_>) -> Result<Vec<u8>> {
    // An upper bound, so that the image need not grow: the null bitmap and, for each value, the
    // widest number or a text with its length.
    let widths =
        values.iter().map(|value| if let Value::Bytes(bytes) = value { bytes.len() + 4 } else { 10 });
    let bytes = table.layout.null_bytes() + widths.sum::<usize>();
    ctx.charge_if_long(bytes.saturating_mul(COPIES_OF_AN_IMAGE))?;
    let mut image = Vec::with_capacity(bytes);
    table.layout.encode(values, &mut image)?;
    Ok(image)
}
