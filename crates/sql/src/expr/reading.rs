//! Reads constants that are compared with values of another kind, such as texts and numbers beside
//! dates, with the warnings that MySQL gives about them.
//!
//! MySQL reads a constant once, before the first row, as a value of the type of the column that it
//! is compared with. This module does the same: a literal is read when the statement is bound, a
//! parameter when it runs.

use super::arithmetic::is_blank;
use super::compare::is_point_in_time;
use super::text::shown;
use crate::error::SqlError;
use types::convert::{DateModes, datetime_of_number};
use types::number::double_prefix;
use types::temporal::parse;
use types::{ColumnType, DateTime, Decimal, Time, TypeCode, Value, Zone};

/// The type of the operand that a constant is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    kind: Kind,
    /// The number of fractional digits of the column's times.
    fsp: u8,
    /// The column's name, where the operand is a column.
    column: Option<String>,
    /// Whether the value is one of several that the column is compared with.
    in_list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A column of whole numbers, which are compared exactly. All other numbers are compared as
    /// doubles.
    Integer,
    Double,
    /// A column of type YEAR. Numbers below 100 stand for years too.
    Year,
    Date,
    Datetime,
    Timestamp,
    Time,
}

/// The result of reading a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Read {
    /// The value that was read. `None` means that the constant is compared as it is.
    pub value: Option<Value>,
    /// The warning 1292, if the text is not as a whole such a value.
    pub complaint: Option<String>,
    /// The error 1525 with which a comparison with the text is refused.
    pub refusal: Option<SqlError>,
}

impl Read {
    fn of(value: Value) -> Read {
        Read { value: Some(value), complaint: None, refusal: None }
    }
}

impl Reading {
    /// Makes a reading of constants that are compared with values of this type. `column` is the
    /// operand's name if it is a column. `None` means that constants are compared unchanged.
    pub fn beside(ty: &ColumnType, column: Option<&str>) -> Option<Reading> {
        let kind = match ty.code {
            TypeCode::Year if column.is_some() => Kind::Year,
            TypeCode::Year => Kind::Double,
            TypeCode::Date => Kind::Date,
            TypeCode::Datetime2 => Kind::Datetime,
            TypeCode::Timestamp2 => Kind::Timestamp,
            TypeCode::Time2 => Kind::Time,
            TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double => Kind::Double,
            _ if ty.is_integer() && column.is_some() => Kind::Integer,
            _ if ty.is_integer() => Kind::Double,
            _ => return None,
        };
        let fsp = if ty.is_temporal() { ty.fsp() } else { 0 };
        Some(Reading { kind, fsp, column: column.map(str::to_owned), in_list: false })
    }

    /// Returns the reading for an IN list of several items. Beside a YEAR they are plain numbers.
    pub fn in_list(self) -> Reading {
        let kind = if self.kind == Kind::Year { Kind::Double } else { self.kind };
        Reading { kind, in_list: true, ..self }
    }

    /// Reports whether the constants are compared with a column.
    pub fn is_beside_column(&self) -> bool {
        self.column.is_some()
    }

    /// Reports whether a comparison with a text may be refused, because the text is no date.
    pub fn may_refuse(&self) -> bool {
        matches!(self.kind, Kind::Date | Kind::Datetime | Kind::Timestamp)
    }

    /// Reports whether reading a value of this kind may change it. Parameters that may not change
    /// are not copied.
    pub fn may_change(&self, value: &Value) -> bool {
        match self.kind {
            _ if matches!(value, Value::Bytes(_)) => true,
            Kind::Integer | Kind::Double => false,
            Kind::Date | Kind::Datetime | Kind::Timestamp => is_number(value),
            Kind::Time => is_point_in_time(value),
            Kind::Year => is_number(value) || is_point_in_time(value),
        }
    }

    /// Reads a text, or a number or a point in time that a date, time or year is compared with.
    /// Anything else stays as it is. A text with a time zone offset is moved to the session's time
    /// zone.
    pub fn read(&self, value: &Value, dates: DateModes, zone: Zone) -> Read {
        let nothing = Read { value: None, complaint: None, refusal: None };
        match (self.kind, value) {
            (Kind::Year, _) => self.year(value, zone).unwrap_or(nothing),
            (Kind::Date | Kind::Datetime | Kind::Timestamp, Value::Bytes(text)) => {
                self.point_in_time(value, text, dates, zone)
            }
            (Kind::Date | Kind::Datetime | Kind::Timestamp, _) => {
                self.point_of_number(value).unwrap_or(nothing)
            }
            (Kind::Time, _) => self.time(value, zone).unwrap_or(nothing),
            (_, Value::Bytes(text)) => self.number(value, text),
            _ => nothing,
        }
    }

    /// Reads a value that is compared with a YEAR. `None` if it stays as it is.
    fn year(&self, value: &Value, zone: Zone) -> Option<Read> {
        let number = match value {
            Value::Bytes(text) => return Some(self.number(value, text)),
            Value::Int(year @ 1..=99) => return Some(Read::of(full_year(*year))),
            // What is negative is no year, and stays the number that it is.
            Value::Decimal(_) | Value::Float(_) | Value::Double(_) if value.to_f64() < 0.0 => return None,
            Value::UInt(year @ 1..=99) => return Some(Read::of(full_year(*year as i64))),
            Value::Decimal(_) if self.is_beside_column() => value.to_f64().round(),
            Value::Float(_) | Value::Double(_) if self.is_beside_column() => value.to_f64().trunc(),
            _ if is_point_in_time(value) && self.is_beside_column() => {
                let year = match value.clone().in_zone(zone) {
                    Value::Date(date) => date.year,
                    Value::DateTime(at) => at.date.year,
                    _ => return None,
                };
                return Some(Read::of(Value::Int(i64::from(year))));
            }
            _ => return None,
        };
        Some(Read::of(match number {
            1.0..100.0 => full_year(number as i64),
            _ => Value::Double(number),
        }))
    }

    /// Reads a value that is compared with a TIME. `None` if it stays as it is.
    fn time(&self, value: &Value, zone: Zone) -> Option<Read> {
        let stored = |time: Time| {
            let is_stored = self.is_beside_column() && !self.in_list;
            is_stored.then(|| Value::Time(time.round(self.fsp)))
        };
        match value {
            // An empty text is no time, and MySQL does not complain of it.
            Value::Bytes(text) if is_blank(text) => {
                Some(Read { value: None, complaint: None, refusal: None })
            }
            Value::Bytes(text) => {
                let whole = parse::time(text, zone).filter(|read| !read.trailing_garbage);
                let complaint = whole.is_none().then(|| self.complaint("time", value));
                // A text that is no time is compared as text.
                let value = whole.and_then(|read| stored(read.value.time));
                Some(Read { value, complaint, refusal: None })
            }
            _ if is_point_in_time(value) => stored(value.clone().in_zone(zone).to_time()?).map(Read::of),
            _ => None,
        }
    }

    /// Reads a number that is compared with a column of dates. `None` if it is no number or is
    /// beside something else, so that it stays as it is.
    fn point_of_number(&self, value: &Value) -> Option<Read> {
        if !is_number(value) || !self.is_beside_column() {
            return None;
        }
        let word = if self.kind == Kind::Date { "date" } else { "datetime" };
        let complaint = || match self.in_list {
            true => format!("Incorrect {word} value: '{}'", shown(value)),
            false => self.complaint(word, value),
        };
        let Some((at, is_cut)) = datetime_of_number(value, self.fsp) else {
            return Some(Read { value: None, complaint: Some(complaint()), refusal: None });
        };
        let at = if self.kind == Kind::Date { DateTime::midnight(at.date) } else { at };
        let complaint = is_cut.then(complaint);
        Some(Read { value: Some(Value::DateTime(at)), complaint, refusal: None })
    }

    fn number(&self, value: &Value, text: &[u8]) -> Read {
        let read = double_prefix(text);
        let is_whole = !read.overflow && is_blank(&text[read.len..]);
        let number = match self.kind {
            Kind::Integer => exactly(text).unwrap_or(Value::Double(read.value)),
            // The text '0' stands for the year 2000, but the number 0 does not.
            Kind::Year if read.len > 0 && (0.0..100.0).contains(&read.value) => {
                full_year(read.value.round_ties_even() as i64)
            }
            Kind::Year if self.is_beside_column() => Value::Double(read.value.round()),
            _ => Value::Double(read.value),
        };
        let complaint = (!is_whole).then(|| format!("Truncated incorrect DOUBLE value: '{}'", shown(value)));
        Read { value: Some(number), complaint, refusal: None }
    }

    fn complaint(&self, word: &str, value: &Value) -> String {
        let shown = shown(value);
        match &self.column {
            Some(column) => format!("Incorrect {word} value: '{shown}' for column '{column}' at row 1"),
            None => format!("Truncated incorrect {word} value: '{shown}'"),
        }
    }

    fn point_in_time(&self, value: &Value, text: &[u8], dates: DateModes, zone: Zone) -> Read {
        let (word, kind) = match self.kind {
            Kind::Date => ("date", "DATE"),
            Kind::Timestamp => ("datetime", "TIMESTAMP"),
            _ => ("datetime", "DATETIME"),
        };
        let complaint = || self.complaint(word, value);
        let read = parse::datetime_with(dates.readable(text), dates.allow_invalid);
        match read.filter(|read| !dates.refuses(&read.value.date)) {
            None => {
                let text = format!("Incorrect {kind} value: '{}'", shown(value));
                let refusal = Some(SqlError::new(1525, text));
                Read { value: None, complaint: Some(complaint()), refusal }
            }
            Some(read) => {
                // MySQL ignores the time zone offset where the operand is no column.
                let at = if self.is_beside_column() { read.in_zone(zone) } else { read.value };
                let complaint = read.trailing_garbage.then(complaint);
                Read { value: Some(Value::DateTime(at)), complaint, refusal: None }
            }
        }
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_))
}

/// Returns the year that a number of two digits stands for.
fn full_year(year: i64) -> Value {
    let year = match year {
        0 => 2000,
        _ => parse::expand_year(year as u16),
    };
    Value::Int(i64::from(year))
}

/// Returns the whole number that a text begins with, in whatever form, if 64 bits hold it.
fn exactly(text: &[u8]) -> Option<Value> {
    let number = Decimal::parse_prefix(text).number;
    if number != number.truncate(0) {
        return None;
    }
    number.to_i64().map(Value::Int).or_else(|| number.to_u64().map(Value::UInt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ty: &ColumnType, text: &str) -> Read {
        let reading = Reading::beside(ty, Some("c")).expect("it is no text");
        reading.read(&Value::text(text), DateModes::default(), Zone::UTC)
    }

    #[test]
    fn whole_numbers_are_exact_beside_a_column() {
        let bigint = ColumnType::bigint(false);
        for text in ["9007199254740993", " 9007199254740993 ", "9007199254740993.0", "900719925474099.3e1"] {
            assert_eq!(read(&bigint, text).value, Some(Value::Int(9_007_199_254_740_993)), "{text}");
            assert_eq!(read(&bigint, text).complaint, None, "{text}");
        }
        assert_eq!(read(&bigint, "18446744073709551615").value, Some(Value::UInt(u64::MAX)));
        assert_eq!(read(&bigint, "1.5").value, Some(Value::Double(1.5)));
        let half = read(&bigint, "12x");
        assert_eq!(half.value, Some(Value::Int(12)));
        assert_eq!(half.complaint.as_deref(), Some("Truncated incorrect DOUBLE value: '12x'"));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        let date = ColumnType::date();
        assert_eq!(read(&date, "foo").refusal.map(|error| error.code), Some(1525));
        assert_eq!(read(&date, "2020-02-30").refusal.map(|error| error.code), Some(1525));
        let cut = read(&date, "2020-02-29x");
        assert!(cut.value.is_some() && cut.refusal.is_none());
        assert_eq!(
            cut.complaint.as_deref(),
            Some("Incorrect date value: '2020-02-29x' for column 'c' at row 1")
        );
    }

    #[test]
    fn years_have_two_digits_too() {
        let year = ColumnType::year();
        for (text, expected) in [("20", 2020), ("70", 1970), ("0", 2000), ("99", 1999)] {
            assert_eq!(read(&year, text).value, Some(Value::Int(expected)), "{text}");
        }
        assert_eq!(read(&year, "2020").value, Some(Value::Double(2020.0)));
    }
}
