//! The conversion of a statement's literals straight into a row image, for the kinds of columns and
//! literals that nearly all rows consist of.
//!
//! The result is what [`super::assign`] and [`crate::packed::encode`] make of the literal, without
//! the [`crate::Value`] in between. Everything that is not simple is left to them: values that do
//! not fit, zero dates, characters beyond ASCII.

use crate::collation::{BINARY, Charset, charset_of, is_ascii};
use crate::packed::{self, Width};
use crate::temporal::{Date, DateTime, days_in_month};
use crate::{ColumnType, TypeCode, Value};

/// The kind of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// `NULL`.
    Null,
    /// Digits, perhaps with a minus.
    Integer,
    /// Digits with a point, perhaps with a minus.
    Decimal,
    /// A number with an exponent.
    Float,
    /// The characters between quotes, none of which is escaped.
    Text,
    /// A string with its quotes, with escapes or doubled quotes inside.
    EscapedText,
}

/// The number of decimal digits that always fit into 63 bits.
const SAFE_DIGITS: usize = 18;

/// Appends the packed value. Returns false, and appends nothing, when the case is not simple.
pub fn pack_literal(kind: LiteralKind, text: &[u8], ty: &ColumnType, out: &mut Vec<u8>) -> bool {
    match (kind, ty.code) {
        (
            LiteralKind::Integer | LiteralKind::Decimal,
            TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong,
        ) => rounded(text).is_some_and(|number| pack_integer(number, ty, out)),
        (LiteralKind::Text, TypeCode::Varchar | TypeCode::String | TypeCode::Blob) if ty.form.is_none() => {
            pack_text(text, ty, out)
        }
        (LiteralKind::Text, TypeCode::Datetime2) => match plain_datetime(text) {
            Some(at) => {
                packed::encode_datetime2(&at, ty.fsp(), out);
                true
            }
            None => false,
        },
        _ => false,
    }
}

/// Appends the packed bytes of a value that a column of integers or texts takes as it is. Returns
/// false, and appends nothing, when the value has to be converted, or when it is NULL.
pub fn pack_plain(value: &Value, ty: &ColumnType, out: &mut Vec<u8>) -> bool {
    match (value, ty.code) {
        (
            Value::Int(number),
            TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong,
        ) => pack_integer(*number, ty, out),
        (Value::Bytes(text), TypeCode::Varchar | TypeCode::String | TypeCode::Blob) if ty.form.is_none() => {
            pack_text(text, ty, out)
        }
        _ => false,
    }
}

/// Returns the integer that a number is rounded to, half away from zero.
fn rounded(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let mut number = 0i64;
    let mut at = 0;
    while let Some(digit @ b'0'..=b'9') = digits.get(at) {
        number = number.wrapping_mul(10) + i64::from(digit - b'0');
        at += 1;
    }
    if at == 0 || at > SAFE_DIGITS {
        return None;
    }
    if let [b'.', fraction @ ..] = &digits[at..] {
        number += i64::from(fraction.first().is_some_and(|digit| *digit >= b'5'));
    }
    Some(if negative { -number } else { number })
}

fn pack_integer(number: i64, ty: &ColumnType, out: &mut Vec<u8>) -> bool {
    let (low, high) = ty.integer_range();
    let fits = number >= low && (number < 0 || number as u64 <= high);
    if let (true, Width::Fixed(len)) = (fits, packed::width(ty)) {
        out.extend_from_slice(&number.to_le_bytes()[..usize::from(len)]);
    }
    fits
}

fn pack_text(text: &[u8], ty: &ColumnType, out: &mut Vec<u8>) -> bool {
    let is_binary = ty.collation == BINARY;
    let most = match ty.code {
        TypeCode::Blob => ty.max_bytes(),
        _ if is_binary => u64::from(ty.meta),
        _ => u64::from(ty.chars()),
    };
    // These character sets store ASCII characters as their ASCII bytes.
    let is_plain =
        || matches!(charset_of(ty.collation), Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Latin1);
    if text.len() as u64 > most || !(is_binary || is_ascii(text) && is_plain()) {
        return false;
    }
    let Width::Prefixed(prefix) = packed::width(ty) else { return false };
    let text = packed::trim_for(ty, text);
    out.extend_from_slice(&(text.len() as u32).to_le_bytes()[..usize::from(prefix)]);
    out.extend_from_slice(text);
    true
}

/// Reads `YYYY-MM-DD hh:mm:ss` if no part of the date is zero and no part is too large.
fn plain_datetime(text: &[u8]) -> Option<DateTime> {
    let text: &[u8; 19] = text.try_into().ok()?;
    let pair = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then_some(tens * 10 + ones)
    };
    let delimited =
        text[4] == b'-' && text[7] == b'-' && text[10] == b' ' && text[13] == b':' && text[16] == b':';
    let year = u16::from(pair(0)?) * 100 + u16::from(pair(2)?);
    let (month, day, hour, minute, second) = (pair(5)?, pair(8)?, pair(11)?, pair(14)?, pair(17)?);
    let exists = year > 0 && (1..=12).contains(&month) && day > 0 && day <= days_in_month(year, month);
    (delimited && exists && hour < 24 && minute < 60 && second < 60).then_some(DateTime {
        date: Date { year, month, day },
        hour,
        minute,
        second,
        micros: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use crate::convert::to_column;

    /// A small generator, so that a failing case can be run again from its printed seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    fn value_of(kind: LiteralKind, text: &[u8]) -> Value {
        match kind {
            LiteralKind::Integer => match std::str::from_utf8(text).unwrap().parse() {
                Ok(n) => Value::Int(n),
                Err(_) => Value::Decimal(Decimal::parse_prefix(text).number),
            },
            LiteralKind::Decimal => Value::Decimal(Decimal::parse_prefix(text).number),
            _ => Value::Bytes(text.to_vec()),
        }
    }

    /// Checks that the short ways pack the same bytes as the long way, and that the long way
    /// reports no problem. Returns whether the short way took the literal, and whether it took its
    /// value.
    fn check(kind: LiteralKind, text: &[u8], ty: &ColumnType) -> (bool, bool) {
        let of_value = value_of(kind, text);
        let (mut short, mut plain) = (Vec::new(), Vec::new());
        let is_packed = pack_literal(kind, text, ty, &mut short);
        let is_plain = pack_plain(&of_value, ty, &mut plain);
        assert!(is_packed || short.is_empty());
        assert!(is_plain || plain.is_empty());
        if is_packed || is_plain {
            let shown = String::from_utf8_lossy(text);
            let (value, warning) = to_column(&of_value, ty, true)
                .unwrap_or_else(|problem| panic!("{shown} in {}: {problem:?}", ty.sql_name()));
            assert_eq!(warning, None, "{shown} in {}", ty.sql_name());
            let mut long = Vec::new();
            packed::encode(ty, &value, &mut long).unwrap();
            assert!(!is_packed || short == long, "{shown} in {}", ty.sql_name());
            assert!(!is_plain || plain == long, "{shown} in {}", ty.sql_name());
        }
        (is_packed, is_plain)
    }

    #[test]
    fn the_short_way_packs_what_the_long_way_packs() {
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_122);
        println!("SEED={seed}");
        let mut rng = Random(seed);
        let numbers = [
            ColumnType::tinyint(false),
            ColumnType::tinyint(true),
            ColumnType::mediumint(false),
            ColumnType::int(false),
            ColumnType::int(true),
            ColumnType::bigint(false),
            ColumnType::bigint(true),
        ];
        let texts = [
            ColumnType::varchar(12, 255),
            ColumnType::varchar(300, 8),
            ColumnType::varchar(12, 35),
            ColumnType::tinytext(35),
            ColumnType::varbinary(10),
            ColumnType::char(12, 255),
            ColumnType::longtext(45),
            ColumnType::datetime(0),
            ColumnType::datetime(6),
        ];
        let (mut taken, mut left, mut plain) = (0, 0, 0);
        for _ in 0..20_000 {
            let most = if rng.below(4) == 0 { 21 } else { 5 };
            let len = 1 + rng.below(most);
            let mut number: String = (0..len).map(|_| char::from(b'0' + rng.below(10) as u8)).collect();
            if rng.below(3) == 0 {
                number.insert(0, '-');
            }
            let mut kind = LiteralKind::Integer;
            if rng.below(2) == 0 {
                kind = LiteralKind::Decimal;
                number.push('.');
                (0..rng.below(4)).for_each(|_| number.push(char::from(b'0' + rng.below(10) as u8)));
            }
            let ty = &numbers[rng.below(numbers.len() as u64) as usize];
            let mut count = |(was_taken, was_plain): (bool, bool)| {
                (taken, left) = (taken + usize::from(was_taken), left + usize::from(!was_taken));
                plain += usize::from(was_plain);
            };
            count(check(kind, number.as_bytes(), ty));

            let mut text = match rng.below(3) {
                0 => format!(
                    "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                    rng.below(3000),
                    rng.below(14),
                    rng.below(33),
                    rng.below(26),
                    rng.below(62),
                    rng.below(62)
                ),
                1 => "plain ".repeat(rng.below(4) as usize),
                _ => "a\u{e9}".repeat(rng.below(4) as usize),
            }
            .into_bytes();
            if rng.below(8) == 0 && !text.is_empty() {
                let at = rng.below(text.len() as u64) as usize;
                text[at] = rng.below(128) as u8;
            }
            count(check(LiteralKind::Text, &text, &texts[rng.below(texts.len() as u64) as usize]));
        }
        assert!(taken > 10_000 && left > 5_000, "{taken} packed, {left} left to the long way");
        assert!(plain > 10_000, "{plain} values are plain");
    }
}
