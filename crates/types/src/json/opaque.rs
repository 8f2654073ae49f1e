//! SQL values within documents: decimals, dates and times, which documents hold in packed form.

use crate::TypeCode;
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// A value that a document holds in packed form. For dates and times the packed number is included,
/// which orders them.
pub(super) enum Scalar {
    Decimal(Decimal),
    Date(Date, i64),
    Time(Time, i64),
    DateTime(DateTime, i64),
}

/// Reads a packed value. Returns `None` for bytes of another kind, and for damaged ones.
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

/// Returns a decimal's packed bytes. `None` when it has too many digits.
pub(super) fn packed_decimal(value: &Decimal) -> Option<Vec<u8>> {
    let scale = value.scale().min(crate::decimal::MAX_SCALE);
    let precision = (value.integer_digits().max(1) as u8 + scale).min(65);
    let mut bytes = vec![precision, scale];
    value.write_binary(precision, scale, &mut bytes).is_ok().then_some(bytes)
}

/// Returns a date's packed bytes.
pub(super) fn packed_day(date: &Date) -> Vec<u8> {
    packed_date(date, 0).to_le_bytes().to_vec()
}

/// Returns the packed bytes of a date with a time of day.
pub(super) fn packed_datetime(at: &DateTime) -> Vec<u8> {
    let clock = i64::from(at.hour) << 12 | i64::from(at.minute) << 6 | i64::from(at.second);
    (packed_date(&at.date, clock) + i64::from(at.micros)).to_le_bytes().to_vec()
}

/// Returns a time's packed bytes.
pub(super) fn packed_time(time: &Time) -> Vec<u8> {
    let whole = i64::from(time.hours) << 12 | i64::from(time.minutes) << 6 | i64::from(time.seconds);
    let packed = (whole << 24) + i64::from(time.micros);
    (if time.negative { -packed } else { packed }).to_le_bytes().to_vec()
}

/// Returns a date and the time of day as MySQL packs them, without microseconds.
fn packed_date(date: &Date, clock: i64) -> i64 {
    let days = (i64::from(date.year) * 13 + i64::from(date.month)) << 5 | i64::from(date.day);
    (days << 17 | clock) << 24
}
