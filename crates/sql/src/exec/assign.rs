//! Storing values in columns: conversion with MySQL's errors and warnings, and defaults.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Level, datetime_of, documents, is_text, text_of};
use engine::{ColumnDef, ColumnDefault, Table};
use std::borrow::Cow;
use types::convert;
use types::{ColumnType, DateTime, GeometryKind, TypeCode, Value};

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
        // MariaDB makes NOW() of NULL whatever explicit_defaults_for_timestamp is.
        let is_now = !ctx.variables.explicit_timestamps || ctx.variables.of_mariadb;
        if column.ty.code == TypeCode::Timestamp2 && is_now {
            return now_for(column, ctx);
        }
        if !strictness.null_becomes_zero {
            return Err(SqlError::column_not_null(&column.name));
        }
        ctx.warn(1048, format!("Column '{}' cannot be null", column.name));
        return match &column.ty.members {
            // The implicit default is the first member, but MySQL makes the index 0 of NULL.
            Some(members) if column.ty.code == TypeCode::Enum && !ctx.variables.of_mariadb => {
                Ok(Value::Enum { index: 0, members: members.clone() })
            }
            _ => zero_value(column, ctx),
        };
    }
    let read = document_for_column(value, &column.ty, &column.name, ctx)?;
    if matches!(read, Some(Value::Null)) {
        // MySQL stores the zero date of a document that is none.
        let problem = convert::Problem::OutOfRange;
        ctx.warn(problem.code(), problem.message(&column.name, row));
        return zero_value(column, ctx);
    }
    let value = read.as_ref().unwrap_or(value);
    let is_text = matches!(value, Value::Bytes(_));
    let value = match ctx.variables.of_mariadb && !strictness.strict {
        true => with_question_marks(value, column),
        false => Cow::Borrowed(value),
    };
    let time = matches!(*value, Value::Time(_)).then(|| value.clone());
    let value = moment_for_column(&value, &column.ty, ctx);
    match convert::assign(&value, &column.ty, ctx.conversion(strictness.strict)) {
        Ok((value, None)) => Ok(value),
        Ok((value, Some(warning))) => {
            let level = if warning.note { Level::Note } else { Level::Warning };
            let is_bits = column.ty.code == TypeCode::Bit && !ctx.variables.sql_mode.strict();
            let problem = match warning.problem {
                // Here MySQL looks at the SQL mode alone, not at IGNORE.
                convert::Problem::TooLong if is_bits => convert::Problem::OutOfRange,
                convert::Problem::Truncated if column.ty.code == TypeCode::Date && strictness.strict => {
                    part_of_day_lost(time.as_deref())
                }
                problem => problem,
            };
            let message = problem.message(&column.name, row);
            ctx.diagnostics.borrow_mut().push(level, problem.code(), message);
            // MariaDB makes NULL of a text that is no UUID or address, if the column may have it.
            let is_none = column.nullable && column.ty.text_form().is_some() && is_text;
            Ok(if is_none { Value::Null } else { value })
        }
        Err(convert::Problem::NoGeometry) if ctx.variables.of_mariadb && is_collection(&column.ty) => {
            // MariaDB's GEOMETRYCOLLECTION takes geometries of every kind.
            let any = ColumnType::geometry(GeometryKind::Geometry, column.ty.srid());
            let taken = convert::assign(&value, &any, ctx.conversion(strictness.strict));
            taken
                .map(|(value, _)| value)
                .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, row)))
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

fn is_collection(ty: &ColumnType) -> bool {
    ty.code == TypeCode::Geometry && ty.geometry_kind() == GeometryKind::Collection
}

/// Converts a document for a column of the type `ty` that stores none. The document comes from rows
/// that were kept, and warnings show `name`. `None` means that the value needs no conversion.
#[inline]
pub(super) fn document_for_column(
    value: &Value,
    ty: &ColumnType,
    name: &str,
    ctx: &Context<'_>,
) -> Result<Option<Value>> {
    if !matches!(value, Value::Json(_)) {
        return Ok(None);
    }
    Ok(documents::for_column(value, ty, ctx.dates())?.map(|converted| {
        converted.unwrap_or_else(|misfit| {
            let (code, text) = misfit.complaint(name);
            ctx.warn(code, text);
            misfit.nearest
        })
    }))
}

/// Returns a text with MariaDB's question marks for bytes that are no characters of the column.
#[inline(never)]
fn with_question_marks<'v>(value: &'v Value, column: &ColumnDef) -> Cow<'v, Value> {
    let replaced = match value {
        Value::Bytes(bytes) if is_text(&column.ty) && column.ty.collation != types::collation::BINARY => {
            types::collation::replaced_bytes(column.ty.collation, bytes)
        }
        _ => None,
    };
    replaced.map_or(Cow::Borrowed(value), |replaced| Cow::Owned(Value::Bytes(replaced)))
}

/// Tells that a value for a generated column of MariaDB is left out. NULL is left out without a
/// word.
///
/// # Errors
/// Returns 1906 in strict mode.
pub(super) fn leave_out(
    value: &Value,
    (table, at): (&Table, usize),
    strictness: Strictness,
    ctx: &Context<'_>,
) -> Result<()> {
    if value.is_null() {
        return Ok(());
    }
    let (table, column) = (&table.def.name, &table.def.columns[at].name);
    let text =
        format!("The value specified for generated column '{column}' in table '{table}' has been ignored");
    match strictness.strict {
        true => Err(SqlError::new(1906, text)),
        false => {
            ctx.warn(1906, text);
            Ok(())
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
/// DATETIME in the session's time zone, and a TIME that goes into a column of dates is one of
/// today.
pub(super) fn moment_for_column<'v>(value: &'v Value, ty: &ColumnType, ctx: &Context<'_>) -> Cow<'v, Value> {
    let is_of_dates = matches!(ty.code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2);
    match value {
        Value::Timestamp { .. } if ty.code != TypeCode::Timestamp2 => {
            Cow::Owned(value.clone().in_zone(ctx.zone()))
        }
        Value::Time(_) if is_of_dates => {
            datetime_of(value, ctx).map_or(Cow::Borrowed(value), |at| Cow::Owned(Value::DateTime(at)))
        }
        _ => Cow::Borrowed(value),
    }
}

/// Returns the problem of a value of which a DATE column takes the day alone. MySQL shows a TIME
/// in strict mode.
fn part_of_day_lost(time: Option<&Value>) -> convert::Problem {
    match time {
        Some(time) => {
            convert::Problem::IncorrectTemporal("date", String::from_utf8_lossy(&text_of(time)).into_owned())
        }
        None => convert::Problem::Truncated,
    }
}

/// Returns the implicit default of a NOT NULL column. In MariaDB that of geometries has no bytes.
pub(super) fn zero_value(column: &ColumnDef, ctx: &Context<'_>) -> Result<Value> {
    if ctx.variables.of_mariadb && column.ty.code == TypeCode::Geometry {
        return Ok(Value::Bytes(Vec::new()));
    }
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
        None | Some(ColumnDefault::Null) if !column.demands_value() => zero_value(column, ctx),
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
            if column.nullable { Ok(Value::Null) } else { zero_value(column, ctx) }
        }
    }
}

/// How many copies of a stored row image exist at once: here, in the transaction and in its events.
pub(super) const COPIES_OF_AN_IMAGE: usize = 3;

/// Returns how many bytes a value takes in an image at most, unless it is a long DECIMAL: those of
/// the widest number, or of a text or document with its length.
pub(super) fn image_bytes(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) | Value::Json(bytes) => bytes.len() + 4,
        _ => 10,
    }
}

/// Encodes a whole row.
pub(super) fn encode(table: &Table, values: &[Value], ctx: &Context<'_>) -> Result<Vec<u8>> {
    // So many bytes that the image need not grow.
    let bytes = table.layout.null_bytes() + values.iter().map(image_bytes).sum::<usize>();
    ctx.charge_if_long(bytes.saturating_mul(COPIES_OF_AN_IMAGE))?;
    let mut image = Vec::with_capacity(bytes);
    table.layout.encode(values, &mut image)?;
    Ok(image)
}
