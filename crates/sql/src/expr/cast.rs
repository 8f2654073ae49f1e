//! Converts values to text and to other types: CAST, and the common type of CASE and its relatives.

use super::arithmetic::{decimal_of, double_of, integer_in, integer_of};
use super::text::{shown, text_of};
use super::{Context, Number, number};
use crate::error::{Result, SqlError};
use std::borrow::Cow;
use types::temporal::parse;
use types::{ColumnType, Date, DateTime, Time, TypeCode, Value, Zone, collation};

const MICROS_PER_DAY: i64 = 86_400_000_000;

fn wrong_value(ctx: &Context<'_>, kind: &str, value: &Value) {
    let shown = shown(value);
    ctx.warn(1292, format!("Incorrect {kind} value: '{shown}'"));
}

/// Returns the value as a point in time. DATE and text are read as one, and a TIME is one of today.
/// `None`, with a warning unless the value is NULL, means that the value is no point in time.
pub(crate) fn datetime_of(value: &Value, ctx: &Context<'_>) -> Option<DateTime> {
    let read = point_in_time(value, ctx);
    if read.is_none() && !value.is_null() {
        wrong_value(ctx, "datetime", value);
    }
    read
}

/// Reads a value as a point in time. The zero date is refused in a text or a number where
/// NO_ZERO_DATE says so, but not in a column's value.
pub(super) fn point_in_time(value: &Value, ctx: &Context<'_>) -> Option<DateTime> {
    let allow_invalid = ctx.dates().allow_invalid;
    let read_text = |text: &[u8]| {
        let read = parse::datetime_with(ctx.dates().readable(text), allow_invalid)?.in_zone(ctx.zone());
        (!read.is_zero() || !ctx.dates().no_zero_date).then_some(read)
    };
    match value {
        Value::Null => None,
        Value::Date(date) => Some(DateTime::midnight(*date)),
        Value::DateTime(at) => Some(*at),
        Value::Timestamp { .. } => match value.clone().in_zone(ctx.zone()) {
            Value::DateTime(at) => Some(at),
            _ => None,
        },
        Value::Time(time) => {
            let today = DateTime::from_unix((ctx.now_us / 1_000_000) as i64, 0, ctx.zone()).date;
            DateTime::from_micros(DateTime::midnight(today).to_micros() + time.to_micros())
        }
        Value::Bytes(text) => read_text(text),
        Value::Enum { .. } | Value::Set { .. } => read_text(&text_of(value)),
        // Bits are a text here, and none of a date.
        Value::Bit { .. } => None,
        // A year is its first day.
        Value::Year(year) => Date::new(*year, 1, 1).map(DateTime::midnight),
        other => match number(other) {
            Number::Int(n) => u64::try_from(n).ok().and_then(parse::datetime_from_number),
            Number::UInt(n) => parse::datetime_from_number(n),
            _ => moment_of_fraction(&text_of(other)),
        },
    }
}

/// Reads a small number as a date: a day alone, or 0, is one of the year 2000 without a month, and
/// 100 is the first month without a day. A DATETIME and a column take neither.
fn date_of_small_number(value: &Value) -> Option<DateTime> {
    if !matches!(
        value,
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_)
    ) {
        return None;
    }
    let (month, day) = match number(value) {
        Number::Decimal(n) => (0, n.truncate(0).to_i64()?),
        Number::Double(n) => (0, n.trunc() as i64),
        other => match integer_of(&other) {
            100 => (1, 0),
            day => (0, i64::try_from(day).ok()?),
        },
    };
    if month == 0 && !(0..=31).contains(&day) {
        return None;
    }
    Date::new(2000, month, day as u8).map(DateTime::midnight)
}

/// Reads the date of a number that has a time too. MySQL asks nothing of the time there.
fn date_of_long_number(value: &Value) -> Option<DateTime> {
    const MOST_DIGITS_OF_DATE: u64 = 99_991_231;
    const DIGITS_OF_TIME: u64 = 1_000_000;
    let number = match value {
        Value::Int(_) | Value::UInt(_) => u64::try_from(integer_of(&number(value))).ok()?,
        Value::Decimal(n) => u64::try_from(n.truncate(0).to_i64()?).ok()?,
        Value::Double(n) => n.trunc() as u64,
        _ => return None,
    };
    (number > MOST_DIGITS_OF_DATE)
        .then(|| parse::datetime_from_number(number / DIGITS_OF_TIME * DIGITS_OF_TIME))
        .flatten()
}

/// Reads the digits of a number with a fraction as a point in time. The fraction is one of a second
/// where the number has a time.
fn moment_of_fraction(digits: &[u8]) -> Option<DateTime> {
    const MOST_DIGITS_OF_DATE: u64 = 99_991_231;
    let text = std::str::from_utf8(digits).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number: u64 = whole.parse().ok()?;
    let at = parse::datetime_from_number(number)?;
    if number <= MOST_DIGITS_OF_DATE || fraction.is_empty() {
        return Some(at);
    }
    let micros: String = fraction.chars().chain(std::iter::repeat('0')).take(6).collect();
    Some(DateTime { micros: micros.parse().ok()?, ..at })
}

/// Returns the value as a point in time whose date sql_mode accepts, for CAST, DATE() and
/// TIMESTAMP().
pub(crate) fn valid_datetime(value: &Value, ctx: &Context<'_>) -> Option<DateTime> {
    datetime_of(value, ctx).filter(|at| !refused(at, value, "Incorrect datetime", ctx))
}

/// Returns the value as a date that sql_mode accepts.
pub(crate) fn valid_date(value: &Value, ctx: &Context<'_>) -> Option<Date> {
    date_part(value, ctx).filter(|at| !refused(at, value, wrong_date(value), ctx)).map(|at| at.date)
}

/// Returns the value as a date whose month and day are not 0.
pub(crate) fn full_date(value: &Value, ctx: &Context<'_>) -> Option<Date> {
    let date = date_of(value, ctx)?;
    if date.has_zero_part() && !is_stored_moment(value) {
        complain(ctx, wrong_date(value), value);
    }
    Some(date).filter(|date| !date.has_zero_part())
}

/// Returns the value as a point in time whose month and day are not 0.
pub(crate) fn full_datetime(value: &Value, ctx: &Context<'_>) -> Option<DateTime> {
    let at = datetime_of(value, ctx)?;
    if at.date.has_zero_part() && !is_stored_moment(value) {
        complain(ctx, "Incorrect datetime", value);
    }
    Some(at).filter(|at| !at.date.has_zero_part())
}

/// Reports whether the value is of a type of dates.
fn is_stored_moment(value: &Value) -> bool {
    matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Timestamp { .. })
}

/// Reports whether sql_mode refuses the date. It warns unless the value is of a temporal type.
fn refused(at: &DateTime, value: &Value, complaint: &str, ctx: &Context<'_>) -> bool {
    let is_refused = ctx.dates().refuses(&at.date);
    if is_refused && !is_stored_moment(value) {
        complain(ctx, complaint, value);
    }
    is_refused
}

fn complain(ctx: &Context<'_>, complaint: &str, value: &Value) {
    let shown = shown(value);
    ctx.warn(1292, format!("{complaint} value: '{shown}'"));
}

/// Returns MySQL's words for a value that is no date.
fn wrong_date(value: &Value) -> &'static str {
    let is_text =
        matches!(value, Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } | Value::Bit { .. });
    if is_text || matches!(value, Value::Decimal(_)) {
        "Truncated incorrect date"
    } else {
        "Incorrect datetime"
    }
}

fn date_part(value: &Value, ctx: &Context<'_>) -> Option<DateTime> {
    let read = match value {
        // MySQL adds a time that is none of today's to now, and not to midnight.
        Value::Time(time) if !(0..MICROS_PER_DAY).contains(&time.to_micros()) => {
            let now = DateTime::from_unix((ctx.now_us / 1_000_000) as i64, 0, ctx.zone());
            DateTime::from_micros(now.to_micros() + time.to_micros())
        }
        _ => date_of_small_number(value)
            .or_else(|| date_of_long_number(value))
            .or_else(|| point_in_time(value, ctx)),
    };
    if read.is_none() && !value.is_null() {
        complain(ctx, wrong_date(value), value);
    }
    read
}

fn time_of_number(number: i64) -> Option<Time> {
    parse::time_from_number(number).filter(|read| !read.out_of_range).map(|read| read.time)
}

/// Reads a number with a fraction as a time, whose microseconds are rounded.
fn time_of_fraction(number: &types::Decimal) -> Option<Time> {
    let whole = time_of_number(number.truncate(0).to_i64()?)?;
    let digits = number.abs().to_string();
    let fraction = digits.split_once('.').map_or("", |(_, fraction)| fraction);
    let nanos: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    let micros = (nanos.parse::<i64>().ok()? + 500) / 1000;
    let total = whole.to_micros().abs() + micros;
    let time = Some(total).filter(|total| *total <= Time::largest(false).to_micros())?;
    let time = Time::from_micros(time)?;
    Some(Time { negative: number.is_negative() && total != 0, ..time })
}

/// Reports whether a text goes on with an exponent after its first digits, as a number does that is
/// no time.
fn has_exponent(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let rest = &text[digits(text)..];
    let rest = rest.strip_prefix(b".").map_or(rest, |fraction| &fraction[digits(fraction)..]);
    let exponent = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E"));
    let unsigned = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_digit);
    exponent.is_some_and(|rest| {
        unsigned(rest) || rest.first().is_some_and(|sign| b"+-".contains(sign)) && unsigned(&rest[1..])
    })
}

/// Returns the value as a TIME.
pub(crate) fn time_of(value: &Value, ctx: &Context<'_>) -> Option<Time> {
    let read = match value {
        Value::Null => return None,
        Value::Time(time) => Some(*time),
        Value::Date(_) | Value::Year(_) => Some(Time::default()),
        Value::DateTime(at) => Some(at.time()),
        Value::Timestamp { .. } => datetime_of(value, ctx).map(|at| at.time()),
        Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => {
            let text = text_of(value);
            let text = Some(text).filter(|text| !text.trim_ascii().is_empty() && !has_exponent(text));
            let read = text.and_then(|text| parse::time(&text, ctx.zone()));
            if read.as_ref().is_some_and(|read| read.trailing_garbage || read.value.out_of_range) {
                ctx.warn_truncated("time", value);
            }
            read.map(|read| read.value.time)
        }
        // Bits are a text here, and none of a time.
        Value::Bit { .. } => None,
        other => match number(other) {
            // A text that is too large is the largest time, and a number is none. MySQL takes the
            // 64 bits of an integer as those of a signed one.
            Number::Int(n) => time_of_number(n),
            Number::UInt(n) => time_of_number(n as i64),
            Number::Double(n) if n.abs() >= i64::MAX as f64 => None,
            fraction => time_of_fraction(&decimal_of(&fraction)),
        },
    };
    if read.is_none() {
        ctx.warn_truncated("time", value);
    }
    read
}

/// Computes `CAST(value AS ty)`.
pub(crate) fn cast(value: &Value, ty: &ColumnType, ctx: &Context<'_>) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    Ok(match ty.code {
        TypeCode::LongLong => integer(value, ty.unsigned, ctx),
        TypeCode::NewDecimal => decimal(value, ty, ctx),
        TypeCode::Double => Value::Double(double(value, ctx)),
        TypeCode::Float => Value::Float(double(value, ctx) as f32),
        TypeCode::Date => valid_date(value, ctx).map_or(Value::Null, Value::Date),
        TypeCode::Datetime2 => {
            let fit = |at| ctx.dates().fit(&at, ty.fsp());
            valid_datetime(value, ctx).and_then(fit).map_or(Value::Null, Value::DateTime)
        }
        TypeCode::Time2 => {
            let fit = |time| Value::Time(ctx.dates().fit_time(&time, ty.fsp()));
            time_of(value, ctx).map_or(Value::Null, fit)
        }
        TypeCode::Year => year(value, ctx),
        _ => text(value, ty, ctx),
    })
}

fn integer(value: &Value, unsigned: bool, ctx: &Context<'_>) -> Value {
    let wide = match value {
        Value::Bytes(text) => {
            let prefix = types::number::integer_prefix(text);
            // CAST of a text reads an integer only: '1.5' is 1.
            let digits = text.iter().position(|b| matches!(b, b'.' | b'e' | b'E')).unwrap_or(text.len());
            let read =
                if digits < prefix.len { types::number::integer_prefix(&text[..digits]) } else { prefix };
            if prefix.len < text.len() || digits < text.len() || prefix.overflow {
                ctx.warn_truncated("INTEGER", value);
            }
            read.value
        }
        // As in MySQL, only a DECIMAL that is cast as UNSIGNED may be larger than the largest
        // BIGINT.
        Value::Double(_) | Value::Float(_) => super::arithmetic::saturated(value, ctx),
        Value::Decimal(_) if !unsigned => super::arithmetic::saturated(value, ctx),
        other => integer_in(other, ctx),
    };
    if unsigned {
        // Negative numbers wrap, as in MySQL's CAST(-1 AS UNSIGNED). Large positive numbers are
        // kept.
        Value::UInt(wide as u64)
    } else {
        Value::Int(wide as i64)
    }
}

fn double(value: &Value, ctx: &Context<'_>) -> f64 {
    if let Value::Bytes(text) = value {
        let prefix = types::number::double_prefix(text);
        if prefix.len < text.len() {
            ctx.warn_truncated("DOUBLE", value);
        }
        return prefix.value;
    }
    double_of(&number(value))
}

fn decimal(value: &Value, ty: &ColumnType, ctx: &Context<'_>) -> Value {
    let exact = match value {
        Value::Bytes(text) => {
            let prefix = types::Decimal::parse_prefix(text);
            if prefix.len < text.len() {
                ctx.warn_truncated("DECIMAL", value);
            }
            prefix.number
        }
        other => decimal_of(&number(other)),
    };
    let limit = types::Decimal::largest(ty.precision(), ty.scale());
    match exact.with_scale(ty.scale()) {
        Some(rounded) if rounded.abs() <= limit => Value::Decimal(rounded),
        _ => {
            let column = shown(value);
            ctx.warn(1264, format!("Out of range value for column '{column}' at row 1"));
            Value::Decimal(if exact.is_negative() { limit.negate() } else { limit })
        }
    }
}

fn year(value: &Value, ctx: &Context<'_>) -> Value {
    let wide = match value {
        Value::Year(year) => i128::from(*year),
        Value::Date(date) => i128::from(date.year),
        Value::DateTime(at) => i128::from(at.date.year),
        Value::Time(_) => datetime_of(value, ctx).map_or(0, |today| i128::from(today.date.year)),
        Value::Bytes(text) => {
            let digits = text.iter().position(|b| matches!(b, b'.' | b'e' | b'E')).unwrap_or(text.len());
            let read = types::number::integer_prefix(&text[..digits]);
            if read.len == 0 {
                ctx.warn(1525, format!("Incorrect YEAR value: '{}'", shown(value)));
                return Value::Null;
            }
            if read.len < text.len() {
                ctx.warn_truncated("YEAR", value);
            }
            read.value
        }
        other => integer_of(&number(other)),
    };
    match wide {
        // A year that an expression makes is a number, which is shown without zeros before it.
        0 => Value::UInt(if matches!(value, Value::Bytes(_)) { 2000 } else { 0 }),
        1..=99 => Value::UInt(u64::from(parse::expand_year(wide as u16))),
        1901..=2155 => Value::UInt(wide as u64),
        _ => {
            ctx.warn_truncated("YEAR", value);
            Value::Null
        }
    }
}

/// Converts to CHAR or BINARY: the text is cut off at the length, and a BINARY is filled up with
/// zero bytes.
fn text(value: &Value, ty: &ColumnType, ctx: &Context<'_>) -> Value {
    let mut bytes = match value {
        Value::Timestamp { .. } => text_of(&value.clone().in_zone(ctx.zone())).into_owned(),
        other => text_of(other).into_owned(),
    };
    let limit = match ty.code {
        TypeCode::String | TypeCode::Varchar => ty.chars() as usize,
        _ => return Value::Bytes(bytes),
    };
    let kept = if ty.collation == collation::BINARY {
        bytes.len().min(limit)
    } else {
        collation::char_prefix(collation::UTF8MB4_BIN, &bytes, limit).len()
    };
    if kept < bytes.len() {
        let kind = if ty.collation == collation::BINARY { "BINARY" } else { "CHAR" };
        ctx.warn_truncated(&format!("{kind}({limit})"), value);
        bytes.truncate(kept);
    } else if ty.code == TypeCode::String && ty.collation == collation::BINARY {
        bytes.resize(limit, 0);
    }
    Value::Bytes(bytes)
}

/// Reports whether a value is of the kind that the result's description promises.
#[inline]
pub(crate) fn conforms(value: &Value, ty: &ColumnType) -> bool {
    match (value, ty.code) {
        (Value::Null, _) => true,
        (Value::Int(_), code) => is_integer(code) && !ty.unsigned,
        // YEAR() makes a number that is shown without the zeros of a YEAR column.
        (Value::UInt(_), TypeCode::Year) => ty.form.is_some(),
        (Value::UInt(_), code) => is_integer(code) && ty.unsigned,
        (Value::Decimal(n), TypeCode::NewDecimal) => n.scale() == ty.scale(),
        (Value::Float(_), TypeCode::Float) | (Value::Double(_), TypeCode::Double) => true,
        (Value::Bytes(_), code) => is_text(code),
        (Value::Date(_), TypeCode::Date) => true,
        (Value::DateTime(_), TypeCode::Datetime2 | TypeCode::Timestamp2) => true,
        (Value::Time(_), TypeCode::Time2) => true,
        (Value::Year(_), TypeCode::Year) => ty.form.is_none(),
        (Value::Bit { .. }, TypeCode::Bit) => true,
        (Value::Enum { .. }, TypeCode::Enum) | (Value::Set { .. }, TypeCode::Set) => true,
        (Value::Json(_), TypeCode::Json) => true,
        _ => false,
    }
}

/// Converts a value of another kind to the type that the result's description promises.
#[inline]
pub(crate) fn conform<'v>(
    value: Cow<'v, Value>,
    ty: &ColumnType,
    ctx: &Context<'_>,
) -> Result<Cow<'v, Value>> {
    if conforms(&value, ty) { Ok(value) } else { convert(value, ty, ctx) }
}

/// Converts a value that does not conform.
fn convert<'v>(value: Cow<'v, Value>, ty: &ColumnType, ctx: &Context<'_>) -> Result<Cow<'v, Value>> {
    let converted = match (&*value, ty.code) {
        // The clocks of a named zone show some moments twice, so rows are told apart by the moment
        // itself.
        (Value::Timestamp { .. }, TypeCode::Timestamp2) if matches!(ctx.zone(), Zone::Named(_)) => {
            return Ok(value);
        }
        (Value::Timestamp { .. }, TypeCode::Timestamp2 | TypeCode::Datetime2) => {
            value.into_owned().in_zone(ctx.zone())
        }
        // What COALESCE makes of bits is shown as a number, and kept in a table as bits.
        (Value::UInt(bits), TypeCode::Bit) => Value::Bit { bits: *bits, width: ty.meta as u8 },
        (Value::Year(year), TypeCode::Year) => Value::UInt(u64::from(*year)),
        (Value::UInt(year), TypeCode::Year) => match u16::try_from(*year) {
            Ok(year) if year == 0 || (1901..=2155).contains(&year) => Value::Year(year),
            _ => Value::Year(0),
        },
        (Value::Int(n), _) if is_integer(ty.code) => match u64::try_from(*n) {
            Ok(n) => Value::UInt(n),
            Err(_) => Value::Int(*n),
        },
        (Value::UInt(n), _) if is_integer(ty.code) => match i64::try_from(*n) {
            Ok(n) => Value::Int(n),
            Err(_) => Value::UInt(*n),
        },
        (_, TypeCode::NewDecimal) => {
            let exact = decimal_of(&number(&value));
            Value::Decimal(exact.with_scale(ty.scale()).unwrap_or(exact))
        }
        (_, TypeCode::Double) => Value::Double(double_of(&number(&value))),
        (_, TypeCode::Float) => Value::Float(double_of(&number(&value)) as f32),
        (_, code) if is_text(code) => match value.into_owned() {
            stamp @ Value::Timestamp { .. } => Value::Bytes(text_of(&stamp.in_zone(ctx.zone())).into_owned()),
            other => Value::Bytes(text_of(&other).into_owned()),
        },
        // sql_mode does not judge a value again that an expression has made.
        (_, TypeCode::Date) => date_of(&value, ctx).map_or(Value::Null, Value::Date),
        (_, TypeCode::Datetime2) => datetime_of(&value, ctx)
            .and_then(|at| ctx.dates().fit(&at, ty.fsp()))
            .map_or(Value::Null, Value::DateTime),
        (_, TypeCode::Timestamp2 | TypeCode::Time2) => cast(&value, ty, ctx)?,
        (_, code) if is_integer(code) => match integer_of(&number(&value)) {
            n if ty.unsigned && n >= 0 => Value::UInt(n as u64),
            n => Value::Int(i64::try_from(n).map_err(|_| SqlError::out_of_range("BIGINT", n))?),
        },
        _ => value.into_owned(),
    };
    Ok(Cow::Owned(converted))
}

fn is_integer(code: TypeCode) -> bool {
    matches!(code, TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong)
}

fn is_text(code: TypeCode) -> bool {
    matches!(code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
}

/// Returns the number of digits after the last point of a temporal text, at most 6.
pub(crate) fn fraction_digits(text: &[u8]) -> u8 {
    let fraction = text.iter().rposition(|b| *b == b'.').map_or(&text[..0], |at| &text[at + 1..]);
    fraction.iter().take_while(|b| b.is_ascii_digit()).count().min(6) as u8
}

/// Returns the date part of a value, for functions about dates.
pub(crate) fn date_of(value: &Value, ctx: &Context<'_>) -> Option<Date> {
    date_part(value, ctx).map(|at| at.date)
}
