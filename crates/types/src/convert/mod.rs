//! Assigning a value to a column: what INSERT and UPDATE do with a value of any kind, with MySQL's
//! errors and, outside of strict mode, its adjusted values and warnings (manual, "Server SQL
//! Modes", "Out-of-Range and Overflow Handling").

mod date_modes;
mod literal;
mod number;
mod shaped;
mod string;
mod temporal;

pub use date_modes::DateModes;
pub use literal::{LiteralKind, pack_literal};

use crate::{ColumnType, TypeCode, Value};

/// What is wrong with an assignment: an error in strict mode, a warning (and an adjusted value)
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// 1048: NULL for a NOT NULL column. [`to_column`] never says so: it does not know; the caller
    /// does.
    CannotBeNull,
    /// 1264: a number or time outside of the column's range.
    OutOfRange,
    /// 1265: part of the value was lost.
    Truncated,
    /// 1406: too many characters or bytes.
    TooLong,
    /// 1366: no value of the type at all; the type's name in the message, and the text.
    Incorrect(&'static str, String),
    /// 1292: no date or time; the type's name in the message, and the text.
    IncorrectTemporal(&'static str, String),
    /// 1441: rounding the fraction leaves the year 9999.
    TemporalOverflow,
    /// 3140: no JSON text, with the parser's complaint and the place.
    InvalidJson(&'static str, usize),
    /// 1416: no geometry in MySQL's internal form, or one of another kind than the column's.
    NoGeometry,
    /// 3643: a geometry in another spatial reference system than the column's.
    WrongSrid {
        /// The SRID of the geometry.
        geometry: u32,
        /// The SRID of the column.
        column: u32,
    },
    /// 6136: no vector; what it is instead.
    NoVector(String),
    /// 1235: a column of this type cannot be written.
    Unsupported(String),
}

impl Problem {
    /// MySQL's error number.
    pub fn code(&self) -> u16 {
        match self {
            Problem::CannotBeNull => 1048,
            Problem::OutOfRange => 1264,
            Problem::Truncated => 1265,
            Problem::TooLong => 1406,
            Problem::Incorrect(..) => 1366,
            Problem::IncorrectTemporal(..) => 1292,
            Problem::TemporalOverflow => 1441,
            Problem::InvalidJson(..) => 3140,
            Problem::NoGeometry => 1416,
            Problem::WrongSrid { .. } => 3643,
            Problem::NoVector(_) => 6136,
            Problem::Unsupported(_) => 1235,
        }
    }

    /// The SQLSTATE that belongs to the number.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Problem::CannotBeNull => "23000",
            Problem::OutOfRange | Problem::NoGeometry => "22003",
            Problem::Truncated => "01000",
            Problem::TooLong => "22001",
            Problem::Incorrect(..) | Problem::WrongSrid { .. } | Problem::NoVector(_) => "HY000",
            Problem::IncorrectTemporal(..) => "22007",
            Problem::TemporalOverflow => "22008",
            Problem::InvalidJson(..) => "22032",
            Problem::Unsupported(_) => "42000",
        }
    }

    /// MySQL's message, for a column and a row number (from 1).
    pub fn message(&self, column: &str, row: u64) -> String {
        match self {
            Problem::CannotBeNull => format!("Column '{column}' cannot be null"),
            Problem::OutOfRange => format!("Out of range value for column '{column}' at row {row}"),
            Problem::Truncated => format!("Data truncated for column '{column}' at row {row}"),
            Problem::TooLong => format!("Data too long for column '{column}' at row {row}"),
            Problem::Incorrect(name, text) | Problem::IncorrectTemporal(name, text) => {
                format!("Incorrect {name} value: '{text}' for column '{column}' at row {row}")
            }
            Problem::TemporalOverflow => "Datetime function: datetime field overflow".to_string(),
            Problem::InvalidJson(complaint, at) => {
                format!("Invalid JSON text: \"{complaint}\" at position {at} in value for column '{column}'.")
            }
            Problem::NoGeometry => {
                "Cannot get geometry object from data you send to the GEOMETRY field".to_string()
            }
            Problem::WrongSrid { geometry, column: of_column } => format!(
                "The SRID of the geometry does not match the SRID of the column '{column}'. The SRID of the \
                 geometry is {geometry}, but the SRID of the column is {of_column}. Consider changing the SRID of \
                 the geometry or the SRID property of the column."
            ),
            Problem::NoVector(what) => {
                format!("Value of type '{what}' cannot be converted to 'vector' type.")
            }
            Problem::Unsupported(name) => {
                format!("This version of MySQL doesn't yet support 'values for a column of type {name}'")
            }
        }
    }
}

/// A warning that goes with an adjusted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub problem: Problem,
    /// Level Note instead of Warning.
    pub note: bool,
}

/// Why a value was not taken (strict mode).
pub type ConvertError = Problem;

/// What the session says about conversions.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// STRICT_TRANS_TABLES: problems are errors.
    pub strict: bool,
    /// The session's time zone, seconds east of UTC, for TIMESTAMP columns.
    pub zone_offset_seconds: i32,
    /// Which dates there are, and what becomes of fractions that are too long.
    pub dates: DateModes,
}

/// The result of an assignment: the value to store and perhaps a warning.
type Assigned = Result<(Value, Option<Warning>), Problem>;

/// What `value` becomes in a column of type `ty`. The result is NULL for NULL, else of the kind
/// that [`crate::packed::encode`] takes for the type. TIMESTAMP columns are read as UTC.
pub fn to_column(
    value: &Value,
    ty: &ColumnType,
    strict: bool,
) -> Result<(Value, Option<Warning>), ConvertError> {
    let dates = if strict { DateModes::STRICT } else { DateModes::default() };
    assign(value, ty, Context { strict, zone_offset_seconds: 0, dates })
}

/// The value of a NOT NULL column that is given none and has no default: zero, the zero date, the
/// empty text, the first member of an ENUM, JSON's null.
///
/// # Errors
/// The type has no such value.
pub fn implicit_default(ty: &ColumnType) -> Result<Value, ConvertError> {
    let zero = match ty.code {
        TypeCode::Date => return Ok(Value::Date(Default::default())),
        TypeCode::Datetime2 => return Ok(Value::DateTime(Default::default())),
        TypeCode::Timestamp2 => return Ok(Value::Timestamp { seconds: 0, micros: 0 }),
        TypeCode::Enum => Value::Int(1),
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Set => Value::text(""),
        TypeCode::Json => Value::text("null"),
        _ => Value::Int(0),
    };
    to_column(&zero, ty, false).map(|(value, _)| value)
}

/// [`to_column`] in a session's time zone.
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

impl Context {
    /// An error if strict, else `adjusted` with a warning.
    fn adjust(self, adjusted: Value, problem: Problem) -> Assigned {
        if self.strict { Err(problem) } else { Ok((adjusted, Some(Warning { problem, note: false }))) }
    }
}

/// A value that is stored but lost something that MySQL only notes.
fn noted(value: Value, problem: Problem) -> Assigned {
    Ok((value, Some(Warning { problem, note: true })))
}

/// A value's text in a message.
fn shown(value: &Value) -> String {
    let text = value.text_bytes(None).unwrap_or_default();
    String::from_utf8_lossy(&text[..text.len().min(64)]).into_owned()
}

#[cfg(test)]
mod tests;
