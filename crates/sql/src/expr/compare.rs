//! Compares values as MySQL does: each pair of kinds has a common kind in which the two are
//! compared (MySQL's manual, "Type Conversion in Expression Evaluation").

use super::arithmetic::number_in;
use super::documents::plain_scalar;
use super::text::shown;
use super::{Context, Number, arithmetic, number, text_of};
use crate::error::Result;
use std::cmp::Ordering;
use types::temporal::parse;
use types::{Date, DateTime, Value, collation};

/// Orders two values. `None` means that one of them is NULL. Texts are compared in `collation_id`.
pub(crate) fn compare(
    a: &Value,
    b: &Value,
    collation_id: u16,
    ctx: &Context<'_>,
) -> Result<Option<Ordering>> {
    Ok(match (a, b) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::UInt(a), Value::UInt(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::UInt(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::UInt(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Json(_), _) | (_, Value::Json(_)) => Some(documents(a, b, ctx)?),
        (Value::Bytes(a), Value::Bytes(b)) => Some(collation::compare_utf8mb4(collation_id, a, b)),
        _ if is_point_in_time(a) || is_point_in_time(b) => temporal(a, b, ctx),
        (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
        (Value::Time(a), Value::Bytes(text)) => time_with_text(a, text, ctx),
        (Value::Bytes(text), Value::Time(b)) => time_with_text(b, text, ctx).map(Ordering::reverse),
        _ if is_text(a) && is_text(b) => {
            Some(collation::compare_utf8mb4(collation_id, &text_of(a), &text_of(b)))
        }
        _ => numbers(&number_in(a, ctx), &number_in(b, ctx)),
    })
}

/// Whether CASE and FIELD find two values equal; NULL equals nothing. They take integers by their
/// 64 bits, so that -1 equals the largest BIGINT UNSIGNED.
pub(crate) fn is_match(a: &Value, b: &Value, collation_id: u16, ctx: &Context<'_>) -> Result<bool> {
    match (a, b) {
        (Value::Int(signed), Value::UInt(unsigned)) | (Value::UInt(unsigned), Value::Int(signed)) => {
            Ok(*signed as u64 == *unsigned)
        }
        _ => Ok(compare(a, b, collation_id, ctx)? == Some(Ordering::Equal)),
    }
}

/// Compares a document with another, or with an SQL value that is converted to a document.
fn documents(a: &Value, b: &Value, ctx: &Context<'_>) -> Result<Ordering> {
    if let (Value::Json(a), Value::Json(b)) = (a, b)
        && a == b
    {
        return Ok(Ordering::Equal);
    }
    Ok(plain_scalar(a, ctx.zone())?.compare(&plain_scalar(b, ctx.zone())?))
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. })
}

pub(super) fn is_point_in_time(value: &Value) -> bool {
    matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Timestamp { .. })
}

fn numbers(a: &Number, b: &Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Double(_), _) | (_, Number::Double(_)) => {
            arithmetic::double_of(a).partial_cmp(&arithmetic::double_of(b))
        }
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            Some(arithmetic::decimal_of(a).cmp(&arithmetic::decimal_of(b)))
        }
        _ => Some(arithmetic::integer_of(a).cmp(&arithmetic::integer_of(b))),
    }
}

/// Compares two values of which at least one is a date or datetime. They are compared as datetimes,
/// or as numbers when the other side is a number. A text that is no date, or is one that the
/// session's modes refuse, counts as the zero date.
fn temporal(a: &Value, b: &Value, ctx: &Context<'_>) -> Option<Ordering> {
    let is_date = |value: &Value| matches!(value, Value::Date(_));
    let complaint = match is_date(a) || is_date(b) {
        true => "Truncated incorrect date",
        false => "Incorrect datetime",
    };
    let as_datetime = |value: &Value| -> Option<DateTime> {
        match value {
            Value::Date(date) => Some(DateTime::midnight(*date)),
            Value::DateTime(at) => Some(*at),
            Value::Timestamp { .. } => match value.clone().in_zone(ctx.zone()) {
                Value::DateTime(at) => Some(at),
                _ => None,
            },
            text if is_text(text) => {
                let (written, dates) = (text_of(text), ctx.dates());
                let read = parse::datetime_with(dates.readable(&written), dates.allow_invalid)
                    .filter(|read| !dates.refuses(&read.value.date));
                match &read {
                    None => ctx.warn(1292, format!("{complaint} value: '{}'", shown(text))),
                    Some(read) if read.trailing_garbage => ctx.warn_truncated("date", text),
                    Some(_) => {}
                }
                Some(read.map(|read| read.value).unwrap_or_default())
            }
            Value::Time(time) => {
                let today = DateTime::from_unix((ctx.now_us / 1_000_000) as i64, 0, ctx.zone()).date;
                DateTime::from_micros(DateTime::midnight(today).to_micros() + time.to_micros())
            }
            _ => None,
        }
    };
    if let (Value::Timestamp { seconds: a, micros: a_us }, Value::Timestamp { seconds: b, micros: b_us }) =
        (a, b)
    {
        return Some((a, a_us).cmp(&(b, b_us)));
    }
    match (as_datetime(a), as_datetime(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => {
            let on_clocks = |value: &Value| number(&value.clone().in_zone(ctx.zone()));
            numbers(&on_clocks(a), &on_clocks(b))
        }
    }
}

fn time_with_text(time: &types::Time, text: &[u8], ctx: &Context<'_>) -> Option<Ordering> {
    match parse::time(text, ctx.zone()) {
        Some(parsed) => Some(time.cmp(&parsed.value.time)),
        None => {
            let mut own = Vec::new();
            time.write_text(if time.micros == 0 { 0 } else { 6 }, &mut own);
            Some(collation::compare_utf8mb4(collation::UTF8MB4_0900_AI_CI, &own, text))
        }
    }
}

/// Orders values for ORDER BY, MIN and MAX. The order is total: NULL comes first.
pub(crate) fn sort_compare(a: &Value, b: &Value, collation_id: u16, ctx: &Context<'_>) -> Result<Ordering> {
    Ok(match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => match (a, b) {
            // ENUM and SET sort by their numbers.
            (Value::Enum { index: a, .. }, Value::Enum { index: b, .. }) => a.cmp(b),
            (Value::Set { bits: a, .. }, Value::Set { bits: b, .. }) => a.cmp(b),
            _ => compare(a, b, collation_id, ctx)?.unwrap_or(Ordering::Equal),
        },
    })
}

/// Compares two values for MIN and MAX. Members of ENUM and SET are compared by their texts there,
/// though they sort by their numbers.
pub(crate) fn extreme_compare(
    a: &Value,
    b: &Value,
    collation_id: u16,
    ctx: &Context<'_>,
) -> Result<Ordering> {
    match (a, b) {
        (Value::Enum { .. }, Value::Enum { .. }) | (Value::Set { .. }, Value::Set { .. }) => {
            Ok(collation::compare_utf8mb4(collation_id, &text_of(a), &text_of(b)))
        }
        _ => sort_compare(a, b, collation_id, ctx),
    }
}

fn put_date(date: &Date, out: &mut Vec<u8>) {
    let [low, high] = date.year.to_le_bytes();
    out.extend([low, high, date.month, date.day]);
}

/// Appends the key of a value for DISTINCT and GROUP BY: bytes that are equal exactly when the
/// values are equal. All values of a column must be of one kind.
pub(crate) fn group_key(value: &Value, collation_id: u16, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0),
        Value::Int(n) => {
            out.push(1);
            out.extend(i128::from(*n).to_le_bytes());
        }
        Value::UInt(n) => {
            out.push(1);
            out.extend(i128::from(*n).to_le_bytes());
        }
        Value::Float(_) | Value::Double(_) => {
            out.push(2);
            let n = arithmetic::double_of(&number(value));
            // -0 equals 0.
            out.extend(if n == 0.0 { 0f64 } else { n }.to_bits().to_le_bytes());
        }
        Value::Decimal(n) => {
            out.push(3);
            n.write_equality_key(out);
        }
        Value::Json(document) => {
            out.push(6);
            match types::json::read_document(document) {
                Some(node) => node.write_key(out),
                None => out.extend_from_slice(document),
            }
        }
        Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => {
            out.push(4);
            collation::write_key_utf8mb4(collation_id, &text_of(value), out);
        }
        Value::Date(date) => {
            out.push(7);
            put_date(date, out);
        }
        Value::DateTime(at) => {
            out.push(8);
            put_date(&at.date, out);
            out.extend([at.hour, at.minute, at.second]);
            out.extend(at.micros.to_le_bytes());
        }
        temporal => {
            out.push(5);
            out.extend(text_of(temporal).iter());
            out.push(0xff);
        }
    }
}
