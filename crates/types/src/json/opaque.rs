//! SQL values within documents: decimals, dates and times, which documents hold packed.

use super::node::Node;
use crate::TypeCode;
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// A value that a document holds packed. Of dates and times the packed number is there too, which
/// orders them.
pub(super) enum Scalar {
    Decimal(Decimal),
    Date(Date, i64),
    Time(Time, i64),
    DateTime(DateTime, i64),
}

/// Reads a packed value; `None` for bytes of another kind, and for damaged ones.
pub(super) fn scalar_of(type_byte: u8, bytes: &[u8]) -> Option<Scalar> {
    let packed = || bytes.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
    match TypeCode::from_u8(type_byte)? {
        TypeCode::NewDecimal => {
            let [precision, scale, digits @ ..] = bytes else { return None };
            if *precision == 0 || *precision > 65 || scale > precision || *scale > 38 {
                return None;
            }
            Decimal::read_binary(digits, *precision, *scale).map(Scalar::Decimal)
        }
        TypeCode::Date => packed().and_then(|n| Some(Scalar::Date(datetime(n)?.date, n))),
        TypeCode::Datetime | TypeCode::Timestamp => {
            packed().and_then(|n| Some(Scalar::DateTime(datetime(n)?, n)))
        }
        TypeCode::Time => packed().and_then(|n| Some(Scalar::Time(time(n)?, n))),
        _ => None,
    }
}

fn datetime(packed: i64) -> Option<DateTime> {
    let packed = packed.unsigned_abs();
    let (whole, micros) = (packed >> 24, (packed & 0xff_ffff) as u32);
    let year_month = whole >> 22;
    let date = Date {
        year: u16::try_from(year_month / 13).ok()?.min(9999),
        month: (year_month % 13) as u8,
        day: (whole >> 17 & 31) as u8,
    };
    let (hour, minute, second) = ((whole >> 12 & 31) as u8, (whole >> 6 & 63) as u8, (whole & 63) as u8);
    Some(DateTime { date, hour, minute, second, micros: micros.min(999_999) })
}

fn time(packed: i64) -> Option<Time> {
    let (whole, micros) = (packed.unsigned_abs() >> 24, (packed.unsigned_abs() & 0xff_ffff) as u32);
    let (hours, minutes) = ((whole >> 12 & 0x3ff) as u16, (whole >> 6 & 63) as u8);
    Time::new(packed < 0, hours, minutes, (whole & 63) as u8, micros)
}

impl Node {
    /// A decimal.
    pub fn decimal(value: &Decimal) -> Node {
        let scale = value.scale().min(crate::decimal::MAX_SCALE);
        let precision = (value.integer_digits().max(1) as u8 + scale).min(65);
        let mut bytes = vec![precision, scale];
        match value.write_binary(precision, scale, &mut bytes) {
            Ok(()) => Node::Opaque(TypeCode::NewDecimal as u8, bytes),
            Err(_) => Node::Double(value.to_f64()),
        }
    }

    /// A date.
    pub fn date(date: &Date) -> Node {
        Node::Opaque(TypeCode::Date as u8, packed_date(date, 0).to_le_bytes().to_vec())
    }

    /// A date with a time of day.
    pub fn datetime(at: &DateTime) -> Node {
        let clock = i64::from(at.hour) << 12 | i64::from(at.minute) << 6 | i64::from(at.second);
        let packed = packed_date(&at.date, clock) + i64::from(at.micros);
        Node::Opaque(TypeCode::Datetime as u8, packed.to_le_bytes().to_vec())
    }

    /// A time.
    pub fn time(time: &Time) -> Node {
        let whole = i64::from(time.hours) << 12 | i64::from(time.minutes) << 6 | i64::from(time.seconds);
        let packed = (whole << 24) + i64::from(time.micros);
        let packed = if time.negative { -packed } else { packed };
        Node::Opaque(TypeCode::Time as u8, packed.to_le_bytes().to_vec())
    }

    /// The decimal that it is.
    pub fn as_decimal(&self) -> Option<Decimal> {
        match self.scalar()? {
            Scalar::Decimal(value) => Some(value),
            _ => None,
        }
    }

    /// The point in time that it is, a date being its midnight.
    pub fn as_datetime(&self) -> Option<DateTime> {
        match self.scalar()? {
            Scalar::Date(date, _) => Some(DateTime::midnight(date)),
            Scalar::DateTime(at, _) => Some(at),
            _ => None,
        }
    }

    /// The time that it is.
    pub fn as_time(&self) -> Option<Time> {
        match self.scalar()? {
            Scalar::Time(time, _) => Some(time),
            _ => None,
        }
    }

    /// Whether it is a date without a time of day.
    pub fn is_date(&self) -> bool {
        matches!(self.scalar(), Some(Scalar::Date(..)))
    }

    fn scalar(&self) -> Option<Scalar> {
        match self {
            Node::Opaque(code, bytes) => scalar_of(*code, bytes),
            _ => None,
        }
    }
}

/// A date and the time of day as MySQL packs them, without microseconds.
fn packed_date(date: &Date, clock: i64) -> i64 {
    let days = (i64::from(date.year) * 13 + i64::from(date.month)) << 5 | i64::from(date.day);
    (days << 17 | clock) << 24
}
