//! Values in numeric, temporal and string context, and the comparison of values of any kinds as in
//! MySQL (manual, "Type Conversion in Expression Evaluation").

use crate::decimal::Decimal;
use crate::number;
use crate::temporal::{DateTime, Time, Zone, parse};
use crate::{Value, collation};
use std::cmp::Ordering;

impl Value {
    /// Returns the value as an integer, if it is of a kind that compares and adds without rounding.
    fn integer(&self) -> Option<i128> {
        Some(match self {
            Value::Int(n) => i128::from(*n),
            Value::UInt(n) => i128::from(*n),
            Value::Year(n) => i128::from(*n),
            Value::Bit { bits, .. } | Value::Set { bits, .. } => i128::from(*bits),
            Value::Enum { index, .. } => i128::from(*index),
            _ => return None,
        })
    }

    fn is_string(&self) -> bool {
        matches!(self, Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } | Value::Json(_))
    }

    fn is_temporal(&self) -> bool {
        matches!(self, Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp { .. })
    }

    /// Returns the value in numeric context as a double. NULL is 0.
    pub fn to_f64(&self) -> f64 {
        if let Some(n) = self.integer() {
            return n as f64;
        }
        match self {
            Value::Float(n) => f64::from(*n),
            Value::Double(n) => *n,
            Value::Decimal(n) => n.to_f64(),
            Value::Bytes(text) => number::double_prefix(text).value,
            Value::Json(_) => self.text_bytes(None).map_or(0.0, |text| number::double_prefix(&text).value),
            _ => self.to_decimal().map_or(0.0, |n| n.to_f64()),
        }
    }

    /// Returns the value in numeric context as a DECIMAL. `None` for NULL and for values that have
    /// no decimal form.
    pub fn to_decimal(&self) -> Option<Decimal> {
        if let Some(n) = self.integer() {
            return Some(match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) => Decimal::from(n),
                (_, Ok(n)) => Decimal::from(n),
                _ => return None,
            });
        }
        match self {
            Value::Float(n) => Decimal::from_f64(f64::from(*n)),
            Value::Double(n) => Decimal::from_f64(*n),
            Value::Decimal(n) => Some(*n),
            Value::Bytes(text) => Some(Decimal::parse_prefix(text).number),
            Value::Json(_) => self.text_bytes(None).map(|text| Decimal::parse_prefix(&text).number),
            Value::Date(date) => Some(Decimal::from(u64::from(date.to_number()))),
            Value::Time(time) => with_micros(Decimal::from(time.to_number()), time.micros, time.negative),
            Value::DateTime(at) => with_micros(Decimal::from(at.to_number()), at.micros, false),
            Value::Timestamp { .. } => self.to_datetime().and_then(|at| Value::DateTime(at).to_decimal()),
            _ => None,
        }
    }

    /// Returns the value in integer context: rounded, and clipped to the ranges of BIGINT and
    /// BIGINT UNSIGNED together. `None` for NULL.
    pub fn to_integer(&self) -> Option<i128> {
        let (low, high) = (i128::from(i64::MIN), i128::from(u64::MAX));
        if let Some(n) = self.integer() {
            return Some(n);
        }
        Some(match self {
            Value::Null => return None,
            Value::Float(_) | Value::Double(_) => (self.to_f64().round_ties_even() as i128).clamp(low, high),
            Value::Bytes(text) => number::integer_prefix(text).value,
            _ => {
                let number = self.to_decimal()?;
                match (number.to_i64(), number.to_u64()) {
                    (Some(n), _) => i128::from(n),
                    (_, Some(n)) => i128::from(n),
                    _ if number.is_negative() => low,
                    _ => high,
                }
            }
        })
    }

    /// Returns the value as a condition. `None` for NULL.
    pub fn to_bool(&self) -> Option<bool> {
        match self {
            Value::Null => None,
            Value::Decimal(n) => Some(!n.is_zero()),
            _ => Some(match self.integer() {
                Some(n) => n != 0,
                None => self.to_f64() != 0.0,
            }),
        }
    }

    /// Returns the value as a DATETIME: dates are at midnight, TIMESTAMP is in UTC (see
    /// [`Value::in_zone`]), text and numbers are read as far as possible. `None` for other values,
    /// and for TIME, which would need today's date.
    pub fn to_datetime(&self) -> Option<DateTime> {
        match self {
            Value::Date(date) => Some(DateTime::midnight(*date)),
            Value::DateTime(at) => Some(*at),
            Value::Timestamp { .. } => match self.clone().in_zone(Zone::UTC) {
                Value::DateTime(at) => Some(at),
                _ => None,
            },
            Value::Bytes(text) => parse::datetime(text).map(|parsed| parsed.value),
            Value::Null | Value::Time(_) => None,
            _ => parse::datetime_from_number(u64::try_from(self.to_integer()?).ok()?),
        }
    }

    /// Returns the value as a TIME: the time part of a DATETIME; text and numbers are read as far
    /// as possible.
    pub fn to_time(&self) -> Option<Time> {
        match self {
            Value::Time(time) => Some(*time),
            Value::Date(_) => Some(Time::default()),
            Value::DateTime(_) | Value::Timestamp { .. } => self.to_datetime().map(|at| at.time()),
            Value::Bytes(text) => parse::time(text, Zone::UTC).map(|parsed| parsed.value.time),
            Value::Null => None,
            _ => parse::time_from_number(i64::try_from(self.to_integer()?).ok()?).map(|read| read.time),
        }
    }
}

fn with_micros(whole: Decimal, micros: u32, negative: bool) -> Option<Decimal> {
    if micros == 0 {
        return Some(whole);
    }
    let fraction: Decimal = format!("0.{micros:06}").parse().ok()?;
    whole.add(&if negative { fraction.negate() } else { fraction })
}

/// Compares two values. `None` if one is NULL. `collation` is for two strings. TIMESTAMP counts as
/// UTC, so callers with a session time zone convert it first ([`Value::in_zone`]).
pub fn compare(a: &Value, b: &Value, collation: u16) -> Option<Ordering> {
    if a.is_null() || b.is_null() {
        return None;
    }
    if let (Value::Bytes(a), Value::Bytes(b)) = (a, b) {
        return Some(collation::compare_utf8mb4(collation, a, b));
    }
    if a.is_string() && b.is_string() {
        if let (Value::Enum { index: a, .. }, Value::Enum { index: b, .. }) = (a, b) {
            return Some(a.cmp(b));
        }
        return Some(collation::compare_utf8mb4(collation, &a.text_bytes(None)?, &b.text_bytes(None)?));
    }
    if let (Some(a), Some(b)) = (a.integer(), b.integer()) {
        return Some(a.cmp(&b));
    }
    if a.is_temporal() || b.is_temporal() {
        return Some(compare_temporal(a, b));
    }
    Some(compare_numbers(a, b))
}

fn compare_temporal(a: &Value, b: &Value) -> Ordering {
    let of_time = matches!(a, Value::Time(_)) || matches!(b, Value::Time(_));
    let of_date = |value: &Value| value.is_temporal() && !matches!(value, Value::Time(_));
    if of_time && !of_date(a) && !of_date(b) {
        if let (Some(a), Some(b)) = (a.to_time(), b.to_time()) {
            return a.cmp(&b);
        }
    } else if let (Some(a), Some(b)) = (a.to_datetime(), b.to_datetime()) {
        return a.cmp(&b);
    }
    if a.is_string() || b.is_string() {
        return a.text_bytes(None).cmp(&b.text_bytes(None));
    }
    compare_numbers(a, b)
}

fn compare_numbers(a: &Value, b: &Value) -> Ordering {
    let approximate = |value: &Value| matches!(value, Value::Float(_) | Value::Double(_));
    let exact = |value: &Value| !approximate(value) && !value.is_string();
    if exact(a)
        && exact(b)
        && let (Some(a), Some(b)) = (a.to_decimal(), b.to_decimal())
    {
        return a.cmp(&b);
    }
    // A whole number in quotes compares exactly with an integer, as in MySQL's constant folding.
    if let Some(order) =
        compare_integer_with_text(a, b).or_else(|| compare_integer_with_text(b, a).map(Ordering::reverse))
    {
        return order;
    }
    a.to_f64().partial_cmp(&b.to_f64()).unwrap_or(Ordering::Equal)
}

fn compare_integer_with_text(integer: &Value, text: &Value) -> Option<Ordering> {
    let (n, Value::Bytes(text)) = (integer.integer()?, text) else { return None };
    let plain = text.strip_prefix(b"-").unwrap_or(text);
    if plain.is_empty() || plain.len() > 18 || !plain.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(n.cmp(&number::integer_prefix(text).value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Date;
    use Ordering::*;

    fn cmp(a: Value, b: Value) -> Option<Ordering> {
        compare(&a, &b, collation::UTF8MB4_0900_AI_CI)
    }

    #[test]
    fn mixed_kinds() {
        assert_eq!(cmp(Value::Null, Value::Int(1)), None);
        assert_eq!(cmp(Value::Int(-1), Value::UInt(u64::MAX)), Some(Less));
        assert_eq!(cmp(Value::text("10"), Value::Int(9)), Some(Greater));
        assert_eq!(cmp(Value::text("10"), Value::text("9")), Some(Less));
        assert_eq!(cmp(Value::text("abc"), Value::Int(0)), Some(Equal));
        assert_eq!(cmp(Value::Int(9007199254740993), Value::text("9007199254740992")), Some(Greater));
        assert_eq!(cmp(Value::Decimal("1.10".parse().unwrap()), Value::Double(1.1)), Some(Equal));
        assert_eq!(cmp(Value::Decimal("1.5".parse().unwrap()), Value::Int(2)), Some(Less));
        let date = Value::Date(Date::new(2024, 1, 2).unwrap());
        assert_eq!(cmp(date.clone(), Value::text("2024-1-2")), Some(Equal));
        assert_eq!(cmp(date.clone(), Value::Int(20240103)), Some(Less));
        assert_eq!(
            cmp(date, Value::DateTime(DateTime::from_unix(1_700_000_000, 0, Zone::UTC))),
            Some(Greater)
        );
        assert_eq!(
            cmp(Value::Time(Time::from_micros(1_000_000).unwrap()), Value::text("00:00:02")),
            Some(Less)
        );
    }

    #[test]
    fn contexts() {
        assert_eq!(Value::text("12abc").to_f64(), 12.0);
        assert_eq!(Value::text(" 3.7").to_integer(), Some(4));
        assert_eq!(Value::Double(2.5).to_integer(), Some(2));
        assert_eq!(Value::text("0.0x").to_bool(), Some(false));
        assert_eq!(Value::Null.to_bool(), None);
        let at = Value::DateTime(DateTime::from_unix(1_700_000_000, 500_000, Zone::UTC));
        assert_eq!(at.to_decimal().unwrap().to_string(), "20231114221320.500000");
    }
}
