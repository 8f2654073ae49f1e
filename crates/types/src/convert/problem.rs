//! The problems of an assignment, with MySQL's error numbers and messages.

use crate::escaped::escaped_beginning;

/// A problem of an assignment: an error in strict mode, a warning (with an adjusted value)
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// 1048: NULL for a NOT NULL column. An assignment never returns this, since it does not know
    /// whether the column allows NULL. The caller does.
    CannotBeNull,
    /// 1264: a number or time outside of the column's range.
    OutOfRange,
    /// 1299: a time that no clock of the session's time zone has shown. In strict mode it is
    /// reported as another error.
    SkippedMoment,
    /// 1265: part of the value was lost.
    Truncated,
    /// 1406: too many characters or bytes.
    TooLong,
    /// 1366: the value cannot be one of the type at all. The fields are the type's name in the
    /// message, and the value's text.
    Incorrect(&'static str, String),
    /// 1292: the value is no date or time. The fields are the type's name in the message, and the
    /// value's text.
    IncorrectTemporal(&'static str, String),
    /// 1441: rounding the fraction would exceed the year 9999.
    TemporalOverflow,
    /// 3140: the text is not JSON. The fields are the parser's complaint and the place in the text.
    InvalidJson(&'static str, usize),
    /// 1416: the bytes are not a geometry in MySQL's internal form, or one of another kind than the
    /// column's.
    NoGeometry,
    /// 3643: a geometry in another spatial reference system than the column's.
    WrongSrid {
        /// The SRID of the geometry.
        geometry: u32,
        /// The SRID of the column.
        column: u32,
    },
    /// 6136: the value is not a vector. The field says what it is instead.
    NoVector(String),
    /// 1235: a column of this type cannot be written. The field is the type's name.
    Unsupported(String),
}

impl Problem {
    /// Builds the problem that a text has these bytes, which are no characters of its column.
    pub fn incorrect_string(bytes: &[u8]) -> Problem {
        Problem::Incorrect("string", escaped_beginning(bytes))
    }

    /// Returns MySQL's error number.
    pub fn code(&self) -> u16 {
        match self {
            Problem::CannotBeNull => 1048,
            Problem::OutOfRange => 1264,
            Problem::SkippedMoment => 1299,
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

    /// Returns the SQLSTATE that belongs to the number.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Problem::CannotBeNull => "23000",
            Problem::OutOfRange | Problem::NoGeometry => "22003",
            Problem::Truncated => "01000",
            Problem::SkippedMoment => "HY000",
            Problem::TooLong => "22001",
            Problem::Incorrect(..) | Problem::WrongSrid { .. } | Problem::NoVector(_) => "HY000",
            Problem::IncorrectTemporal(..) => "22007",
            Problem::TemporalOverflow => "22008",
            Problem::InvalidJson(..) => "22032",
            Problem::Unsupported(_) => "42000",
        }
    }

    /// Returns MySQL's message, for a column and a row number (counted from 1).
    pub fn message(&self, column: &str, row: u64) -> String {
        match self {
            Problem::CannotBeNull => format!("Column '{column}' cannot be null"),
            Problem::OutOfRange => format!("Out of range value for column '{column}' at row {row}"),
            Problem::SkippedMoment => {
                format!("Invalid TIMESTAMP value in column '{column}' at row {row}")
            }
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
    /// The problem that the warning is about.
    pub problem: Problem,
    /// Whether the level is Note instead of Warning.
    pub note: bool,
}

/// The reason why a value was not accepted (in strict mode).
pub type ConvertError = Problem;
