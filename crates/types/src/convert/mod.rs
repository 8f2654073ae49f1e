//! The assignment of a value to a column: what INSERT and UPDATE do with a value of any kind, with
//! MySQL's errors and, outside of strict mode, its adjusted values and warnings (manual, "Server
//! SQL Modes", "Out-of-Range and Overflow Handling").

mod context;
mod date_modes;
mod literal;
mod number;
mod problem;
mod shaped;
mod string;
mod temporal;

pub use context::Context;
pub use date_modes::DateModes;
pub use literal::{LiteralKind, pack_literal, pack_plain};
pub use problem::{ConvertError, Problem, Warning};
pub use temporal::datetime_of_number;

use crate::{ColumnType, TypeCode, Value, Zone};

/// Returns the value that `value` becomes in a column of type `ty`. NULL stays NULL. Other results
/// are of the kind that [`crate::packed::encode`] takes for the type. TIMESTAMP columns are read as
/// UTC.
pub fn to_column(
    value: &Value,
    ty: &ColumnType,
    strict: bool,
) -> Result<(Value, Option<Warning>), ConvertError> {
    let dates = if strict { DateModes::STRICT } else { DateModes::default() };
    assign(value, ty, Context { strict, zone: Zone::UTC, dates, of_mariadb: false })
}

/// Returns the value of a NOT NULL column that is given no value and has no default: zero, the zero
/// date, the empty text, the first member of an ENUM, or JSON's null.
///
/// # Errors
/// Returns an error when the type has no such value.
pub fn implicit_default(ty: &ColumnType) -> Result<Value, ConvertError> {
    let zero = match ty.code {
        TypeCode::Date => return Ok(Value::Date(Default::default())),
        TypeCode::Datetime2 => return Ok(Value::DateTime(Default::default())),
        TypeCode::Timestamp2 => return Ok(Value::Timestamp { seconds: 0, micros: 0 }),
        TypeCode::Enum => Value::Int(1),
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Set => Value::text(""),
        TypeCode::Json => Value::text("null"),
        TypeCode::Vector => return Ok(Value::Bytes(Vec::new())),
        _ => Value::Int(0),
    };
    to_column(&zero, ty, false).map(|(value, _)| value)
}

/// Converts as [`to_column`] does, in the context of a session.
pub fn assign(
    value: &Value,
    ty: &ColumnType,
    context: Context,
) -> Result<(Value, Option<Warning>), ConvertError> {
    if value.is_null() {
        return Ok((Value::Null, None));
    }
    match ty.code {
        TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong => {
            number::to_integer(value, ty, context)
        }
        TypeCode::Float | TypeCode::Double => number::to_float(value, ty, context),
        TypeCode::NewDecimal => number::to_decimal(value, ty, context),
        TypeCode::Year => number::to_year(value, context),
        TypeCode::Bit => number::to_bit(value, ty, context),
        TypeCode::String if ty.form.is_some() => string::to_form(value, ty, context),
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob => string::to_string(value, ty, context),
        TypeCode::Enum => string::to_enum(value, ty, context),
        TypeCode::Set => string::to_set(value, ty, context),
        TypeCode::Json => string::to_json(value),
        TypeCode::Date => temporal::to_date(value, context),
        TypeCode::Time2 => temporal::to_time(value, ty, context),
        TypeCode::Datetime2 => temporal::to_datetime(value, ty, context),
        TypeCode::Timestamp2 => temporal::to_timestamp(value, ty, context),
        TypeCode::Geometry => shaped::to_geometry(value, ty),
        TypeCode::Vector => shaped::to_vector(value, ty),
        TypeCode::Null
        | TypeCode::Timestamp
        | TypeCode::Datetime
        | TypeCode::Time
        | TypeCode::BlobCompressed
        | TypeCode::VarcharCompressed => Err(Problem::Unsupported(ty.sql_name())),
    }
}

#[cfg(test)]
mod tests;
