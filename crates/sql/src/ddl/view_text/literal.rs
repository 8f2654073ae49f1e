//! Prints the literals of a view's query.

use crate::ast::{Expr, Literal};
use crate::ddl::canonical::literal_text;
use crate::expr::fraction_digits;
use types::temporal::parse;
use types::{ColumnType, DateTime, Value, Zone};

/// Returns the number in the decimal notation that MySQL prints: with a digit in front of the
/// point, and without zeros in front of that.
fn decimal(digits: &str) -> String {
    let digits = digits.trim_start_matches('0');
    let digits = digits.strip_suffix('.').unwrap_or(digits);
    match digits.starts_with('.') || digits.is_empty() {
        true => format!("0{digits}"),
        false => digits.to_owned(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    match bytes {
        [] => "X''".to_owned(),
        bytes => format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

fn shown(value: &Value) -> Option<String> {
    value.text_bytes(None).and_then(|text| String::from_utf8(text).ok())
}

/// Returns the text of DATE, TIME or TIMESTAMP as it was written, where it is no such value.
fn as_written(word: &str, text: &[u8]) -> String {
    format!("{word}{}", literal_text(text))
}

/// Returns the text of a literal.
pub(super) fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "NULL".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Integer(number) => number.to_string(),
        Literal::Decimal(digits) => decimal(digits),
        Literal::Float(_, written) => written.0.clone(),
        Literal::Text(bytes, introducer) => match (std::str::from_utf8(bytes), introducer) {
            (Ok(text), Some(charset)) => format!("_{charset}{}", literal_text(text.as_bytes())),
            (Ok(text), None) => literal_text(text.as_bytes()),
            (Err(_), introducer) => {
                format!("_{} {}", introducer.as_deref().unwrap_or("binary"), hexadecimal(bytes))
            }
        },
        Literal::Bytes(bytes, None) | Literal::Bits(bytes) => hexadecimal(bytes),
        Literal::HexText(bytes) => {
            format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
        }
        // Bytes of another character set have no place in the text of a view.
        Literal::Bytes(bytes, Some(charset)) => match std::str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => format!("_{charset}{}", literal_text(text.as_bytes())),
            _ => format!("_{charset} {}", hexadecimal(bytes)),
        },
        Literal::Date(text) => match date_time(text).and_then(|at| shown(&Value::Date(at.date))) {
            Some(date) => format!("DATE'{date}'"),
            None => as_written("DATE", text),
        },
        Literal::Time(text) => as_written("TIME", &time(text).unwrap_or_else(|| text.clone())),
        Literal::Timestamp(text) => as_written("TIMESTAMP", &timestamp(text).unwrap_or_else(|| text.clone())),
    }
}

fn date_time(text: &[u8]) -> Option<DateTime> {
    parse::datetime(text).filter(|read| !read.trailing_garbage).map(|read| read.value)
}

fn timestamp(text: &[u8]) -> Option<Vec<u8>> {
    let read =
        parse::datetime(text).filter(|read| !read.trailing_garbage && read.offset_seconds.is_none())?;
    Value::DateTime(read.value).text_bytes(Some(&ColumnType::datetime(fraction_digits(text))))
}

fn time(text: &[u8]) -> Option<Vec<u8>> {
    let read = parse::time(text, Zone::UTC)?;
    let ty = ColumnType::time(fraction_digits(text));
    Value::Time(read.value.time).text_bytes(Some(&ty)).filter(|_| !read.trailing_garbage)
}

/// Returns the number of LIMIT.
pub(super) fn limit_number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Literal(Literal::Integer(number)) => Some(*number),
        _ => None,
    }
}
