//! The conversion of values for integer, floating point, DECIMAL, YEAR and BIT columns.

use super::context::{Assigned, Context, noted, shown};
use super::problem::Problem;
use crate::decimal::Decimal;
use crate::{ColumnType, TypeCode, Value, number};

pub(super) fn to_integer(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let mut problem = None;
    let integer = match value {
        Value::Bytes(text) => {
            let mut prefix = number::integer_prefix(text);
            if let Some(integer) = digits_around_a_point(text).filter(|_| context.of_mariadb) {
                prefix.value = integer;
            }
            if prefix.len == 0 {
                problem = Some(Problem::Incorrect("integer", shown(value)));
            } else if prefix.overflow {
                problem = Some(Problem::OutOfRange);
            } else if prefix.len < text.len() {
                problem = Some(Problem::Truncated);
            }
            prefix.value
        }
        Value::Float(_) | Value::Double(_) => saturate(value.to_f64().round_ties_even()),
        Value::Decimal(number) => nearest_integer(number),
        Value::Json(_) => match number::integer_prefix(&value.text_bytes(None).unwrap_or_default()) {
            prefix if prefix.len > 0 => prefix.value,
            _ => return context.adjust(in_range(0, ty).0, Problem::Incorrect("integer", shown(value))),
        },
        // MySQL rounds moments to seconds, and not the numbers that their digits are. MariaDB cuts
        // them. The modes about fractions are about columns of moments.
        Value::Time(time) if context.of_mariadb => Value::Time(time.truncate(0)).to_integer().unwrap_or(0),
        Value::DateTime(at) if context.of_mariadb => {
            Value::DateTime(at.truncate(0)).to_integer().unwrap_or(0)
        }
        Value::Time(time) => Value::Time(time.round(0)).to_integer().unwrap_or(0),
        Value::DateTime(at) => {
            Value::DateTime(at.round(0).unwrap_or_else(|| at.truncate(0))).to_integer().unwrap_or(0)
        }
        _ => value.to_integer().unwrap_or(0),
    };
    let (stored, fits) = in_range(integer, ty);
    match problem {
        _ if !fits => context.adjust(stored, Problem::OutOfRange),
        Some(problem) => context.adjust(stored, problem),
        None => Ok((stored, None)),
    }
}

/// Returns the integer that MariaDB reads from a text whose number has a second point behind its
/// fraction, as an address has: all digits of both parts.
fn digits_around_a_point(text: &[u8]) -> Option<i128> {
    let text = text.trim_ascii_start();
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut parts = text.splitn(3, |byte| *byte == b'.');
    let (whole, fraction, _) = (parts.next()?, parts.next()?, parts.next()?);
    let mut digits = whole.iter().chain(fraction);
    if whole.is_empty() || !digits.clone().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = digits.try_fold(0i128, |number, digit| {
        number.checked_mul(10).map(|number| number + i128::from(digit - b'0'))
    })?;
    Some(if negative { -magnitude } else { magnitude })
}

/// Converts to an integer, clipped to limits that are far outside of every integer column's range
/// and inside of that of i128.
fn saturate(n: f64) -> i128 {
    n.clamp(-1e30, 1e30) as i128
}

/// Rounds to an integer, clipped to limits that are outside of every integer column's range.
fn nearest_integer(number: &Decimal) -> i128 {
    let limit = if number.is_negative() { i128::MIN } else { i128::MAX };
    number.round(0).units().unwrap_or(limit)
}

/// Returns the integer clipped to the column's range, and whether it was in that range.
fn in_range(integer: i128, ty: &ColumnType) -> (Value, bool) {
    let (low, high) = ty.integer_range();
    let clipped = integer.clamp(i128::from(low), i128::from(high));
    let value = if ty.unsigned { Value::UInt(clipped as u64) } else { Value::Int(clipped as i64) };
    (value, clipped == integer)
}

pub(super) fn to_float(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let mut problem = None;
    let double = match value {
        Value::Bytes(text) => {
            let prefix = number::double_prefix(text);
            if prefix.overflow {
                problem = Some(Problem::OutOfRange);
            } else if prefix.len == 0 || prefix.len < text.len() {
                let name = if ty.code == TypeCode::Float { "FLOAT" } else { "DOUBLE" };
                problem = Some(Problem::Incorrect(name, shown(value)));
            }
            prefix.value
        }
        _ => value.to_f64(),
    };
    let (double, fits) = ty.form.map_or((double, f64::MAX), |form| form.round(double));
    let limit = if ty.code == TypeCode::Float { f64::from(f32::MAX) } else { f64::MAX }.min(fits);
    let lowest = if ty.unsigned { 0.0 } else { -limit };
    if double.is_nan() {
        return context.adjust(float_value(0.0, ty), Problem::OutOfRange);
    }
    // MariaDB has no negative zero.
    let double = if context.of_mariadb && double == 0.0 { 0.0 } else { double };
    let clipped = double.clamp(lowest, limit);
    match problem {
        _ if clipped != double => context.adjust(float_value(clipped, ty), Problem::OutOfRange),
        Some(problem) => context.adjust(float_value(clipped, ty), problem),
        None => Ok((float_value(clipped, ty), None)),
    }
}

fn float_value(n: f64, ty: &ColumnType) -> Value {
    if ty.code == TypeCode::Float { Value::Float(n as f32) } else { Value::Double(n) }
}

pub(super) fn to_decimal(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let (precision, scale) = (ty.precision(), ty.scale());
    let mut problem = None;
    let number = match value {
        Value::Bytes(text) => {
            let prefix = Decimal::parse_prefix(text);
            let rest = text.get(prefix.len..).unwrap_or_default();
            let exponent = text[..prefix.len].iter().any(|b| matches!(b, b'e' | b'E'));
            if prefix.len == 0 || !rest.iter().all(u8::is_ascii_whitespace) || (prefix.overflow && exponent) {
                problem = Some(Problem::Incorrect("decimal", shown(value)));
            } else if prefix.overflow {
                problem = Some(Problem::OutOfRange);
            }
            prefix.number
        }
        Value::Float(_) | Value::Double(_) => match value.to_decimal() {
            Some(number) => number,
            None => {
                problem = Some(Problem::OutOfRange);
                signed_largest(value.to_f64() < 0.0, precision, scale)
            }
        },
        _ => value.to_decimal().unwrap_or(Decimal::zero(scale)),
    };
    let rounded = number.round(i32::from(scale));
    if ty.unsigned && number.is_negative() {
        let problem = problem.unwrap_or(Problem::OutOfRange);
        return context.adjust(Value::Decimal(Decimal::zero(scale)), problem);
    }
    if rounded.integer_digits() > usize::from(precision - scale) {
        let largest = signed_largest(rounded.is_negative(), precision, scale);
        return context.adjust(Value::Decimal(largest), problem.unwrap_or(Problem::OutOfRange));
    }
    // The number is stored with the column's scale, so that its text has all digits.
    let stored = Value::Decimal(rounded.with_scale(scale).unwrap_or(rounded));
    match problem {
        Some(problem) => context.adjust(stored, problem),
        None if rounded != number && !matches!(value, Value::Float(_) | Value::Double(_)) => {
            noted(stored, Problem::Truncated)
        }
        None => Ok((stored, None)),
    }
}

fn signed_largest(negative: bool, precision: u8, scale: u8) -> Decimal {
    let largest = Decimal::largest(precision, scale);
    if negative { largest.negate() } else { largest }
}

pub(super) fn to_year(value: &Value, context: Context) -> Assigned {
    let (year, zero_is_2000, garbage) = match value {
        Value::Bytes(text) => {
            let prefix = number::integer_prefix(text);
            if prefix.len == 0 {
                return context.adjust(Value::Year(0), Problem::Incorrect("integer", shown(value)));
            }
            // '0' and '00' are the year 2000, '0000' is the year zero.
            (prefix.value, text.len() != 4, prefix.len < text.len())
        }
        Value::Date(date) => (i128::from(date.year), false, false),
        Value::DateTime(at) => (i128::from(at.date.year), false, false),
        Value::Float(_) | Value::Double(_) => (truncated(value), false, false),
        _ => (value.to_integer().unwrap_or(0), false, false),
    };
    let stored = match year {
        0 if zero_is_2000 => 2000,
        0 => 0,
        1..=99 => crate::temporal::parse::expand_year(year as u16),
        1901..=2155 => year as u16,
        _ => return context.adjust(Value::Year(0), Problem::OutOfRange),
    };
    if garbage {
        context.adjust(Value::Year(stored), Problem::Truncated)
    } else {
        Ok((Value::Year(stored), None))
    }
}

/// Returns the bits of a number without its fraction. A number that BIGINT does not have is clipped
/// to its range in MySQL, and in MariaDB it is the smallest one.
pub(super) fn truncated_bits(value: &Value, context: Context) -> u64 {
    let is_bigint = || (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value.to_f64());
    let is_number = matches!(value, Value::Float(_) | Value::Double(_) | Value::Decimal(_));
    if context.of_mariadb && is_number && !is_bigint() {
        return i64::MIN as u64;
    }
    truncated(value) as u64
}

/// Returns a number without its fraction, as MySQL's `val_int()` of an expression does. A value
/// that is not an integer is clipped to the range of BIGINT.
pub(super) fn truncated(value: &Value) -> i128 {
    let clip = |n: i128| n.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    match value {
        Value::Float(_) | Value::Double(_) => clip(saturate(value.to_f64().trunc())),
        Value::Decimal(n) => {
            let whole = n.truncate(0);
            let limit = if whole.is_negative() { i64::MIN } else { i64::MAX };
            i128::from(whole.to_i64().unwrap_or(limit))
        }
        _ => value.to_integer().unwrap_or(0),
    }
}

pub(super) fn to_bit(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let width = ty.meta as u8;
    let all = u64::MAX >> (64 - u32::from(width));
    let bits = match value {
        Value::Bytes(bytes) => bits_of_text(bytes),
        // MySQL stores the characters of a document, a date, a time and a date with a time.
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp { .. } | Value::Json(_) => {
            bits_of_text(&value.text_bytes(None).unwrap_or_default())
        }
        Value::Decimal(n) if n.round(0).is_negative() => {
            return context.adjust(Value::Bit { bits: 0, width }, Problem::OutOfRange);
        }
        Value::Float(_) | Value::Double(_) => Some(truncated_bits(value, context)),
        _ => value.to_integer().and_then(|n| u64::try_from(n).or(i64::try_from(n).map(|n| n as u64)).ok()),
    };
    match bits {
        Some(bits) if bits <= all => Ok((Value::Bit { bits, width }, None)),
        _ => context.adjust(Value::Bit { bits: all, width }, Problem::TooLong),
    }
}

/// Returns the bits of a text. `None` means that these are more than 64.
fn bits_of_text(text: &[u8]) -> Option<u64> {
    const MOST_BYTES: usize = 8;
    let bytes = &text[text.iter().take_while(|&&byte| byte == 0).count()..];
    (bytes.len() <= MOST_BYTES).then(|| bytes.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
}
