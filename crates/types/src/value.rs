//! Values in memory, and their texts.

use crate::decimal::Decimal;
use crate::number;
use crate::temporal::{Date, DateTime, Time, Zone};
use crate::{ColumnType, NumberForm, TypeCode};
use std::sync::Arc;

/// A value of a column or an expression.
///
/// `PartialEq` is for tests: it compares the representation, and not as SQL does (that is
/// [`crate::compare`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A FLOAT.
    Float(f32),
    /// A DOUBLE.
    Double(f64),
    /// A DECIMAL.
    Decimal(Decimal),
    /// Characters (always utf8mb4 here) or bytes. The collation of the column or expression says
    /// which of these they are.
    Bytes(Vec<u8>),
    /// A DATE.
    Date(Date),
    /// A TIME.
    Time(Time),
    /// A DATETIME.
    DateTime(DateTime),
    /// A TIMESTAMP as Unix time. (0, 0) is the zero timestamp. Its text needs a time zone, see
    /// [`Value::in_zone`].
    Timestamp {
        /// The Unix time in seconds.
        seconds: i64,
        /// The microseconds, 0..=999999.
        micros: u32,
    },
    /// A YEAR, 0 or 1901..=2155.
    Year(u16),
    /// A BIT.
    Bit {
        /// The bits as a number.
        bits: u64,
        /// The column's width, 1..=64.
        width: u8,
    },
    /// An ENUM. In string context it is its text, in numeric context its index (1 and up, 0 for the
    /// error value '').
    Enum {
        /// The position in `members`, counted from 1.
        index: u16,
        /// The column's members. They are empty where they are not known.
        members: Arc<[String]>,
    },
    /// A SET. In string context it is its text, in numeric context its bits.
    Set {
        /// The members of the set: bit i is set if member i is in it.
        bits: u64,
        /// The column's members. They are empty where they are not known.
        members: Arc<[String]>,
    },
    /// A JSON document in MySQL's binary form.
    Json(Vec<u8>),
}

impl Value {
    /// Returns `len` NULLs. `vec![Value::Null; len]` would ask for the kind of the value each time.
    #[inline]
    pub fn nulls(len: usize) -> Vec<Value> {
        std::iter::repeat_with(|| Value::Null).take(len).collect()
    }

    /// Reports whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the number, if the value is a signed integer.
    #[inline]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Makes a value of a string's characters.
    pub fn text(text: &str) -> Value {
        Value::Bytes(text.as_bytes().to_vec())
    }

    /// Converts a TIMESTAMP to its DATETIME in a time zone. Other values stay unchanged.
    pub fn in_zone(self, zone: Zone) -> Value {
        match self {
            Value::Timestamp { seconds: 0, micros: 0 } => Value::DateTime(DateTime::default()),
            Value::Timestamp { seconds, micros } => {
                Value::DateTime(DateTime::from_unix(seconds, micros, zone))
            }
            other => other,
        }
    }

    /// Appends the text of a result set, or nothing for NULL. `ty` determines the number of
    /// fractional digits. Without it a temporal value shows six if it has a fraction. TIMESTAMP is
    /// written in UTC, so callers use [`Value::in_zone`] first.
    pub fn to_text(&self, ty: Option<&ColumnType>, out: &mut Vec<u8>) {
        let fsp = |micros: u32| match ty {
            Some(ty) if ty.is_temporal() => ty.fsp(),
            _ if micros == 0 => 0,
            _ => 6,
        };
        match self {
            Value::Null => {}
            Value::Int(n) => number::write_i64(*n, out),
            Value::UInt(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_) => {
                match ty.and_then(|ty| ty.form) {
                    Some(form) => self.write_in_form(form, out),
                    None => self.write_number(out),
                }
            }
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
            Value::Date(date) => date.write_text(out),
            Value::Time(time) => time.write_text(fsp(time.micros), out),
            Value::DateTime(at) => at.write_text(fsp(at.micros), out),
            Value::Timestamp { seconds: 0, micros: 0 } => DateTime::default().write_text(fsp(0), out),
            Value::Timestamp { seconds, micros } => {
                DateTime::from_unix(*seconds, *micros, Zone::UTC).write_text(fsp(*micros), out)
            }
            Value::Year(year) => out.extend_from_slice(format!("{year:04}").as_bytes()),
            Value::Bit { bits, width } => {
                out.extend_from_slice(&bits.to_be_bytes()[8 - usize::from(width.div_ceil(8)).min(8)..])
            }
            Value::Enum { index, members } => match members.get(usize::from(*index).wrapping_sub(1)) {
                Some(member) => out.extend_from_slice(member.as_bytes()),
                None if members.is_empty() => number::write_u64(u64::from(*index), out),
                None => {}
            },
            Value::Set { bits, members } if members.is_empty() => number::write_u64(*bits, out),
            Value::Set { bits, members } => write_set(*bits, members, out),
            Value::Json(document) => crate::json::write_text(document, out),
        }
    }

    fn write_number(&self, out: &mut Vec<u8>) {
        match self {
            Value::UInt(n) => number::write_u64(*n, out),
            Value::Float(n) => number::write_f32(*n, out),
            Value::Double(n) => number::write_f64(*n, out),
            Value::Decimal(n) => out.extend_from_slice(n.to_string().as_bytes()),
            _ => {}
        }
    }

    /// Appends a number with the decimals and the width that its column asks for.
    fn write_in_form(&self, form: NumberForm, out: &mut Vec<u8>) {
        let start = out.len();
        match (self, form.decimals()) {
            (Value::Float(_) | Value::Double(_), Some(decimals)) => {
                let text = format!("{:.*}", usize::from(decimals), self.to_f64());
                out.extend_from_slice(text.as_bytes());
            }
            _ => self.write_number(out),
        }
        form.fill(start, out);
    }

    /// Returns the text of [`Value::to_text`]. `None` for NULL.
    pub fn text_bytes(&self, ty: Option<&ColumnType>) -> Option<Vec<u8>> {
        if self.is_null() {
            return None;
        }
        let mut out = Vec::new();
        self.to_text(ty, &mut out);
        Some(out)
    }

    /// Returns the type that describes a value without a column, such as a literal or the result of
    /// an expression.
    pub fn natural_type(&self) -> ColumnType {
        match self {
            Value::Null => ColumnType { code: TypeCode::Null, ..ColumnType::bigint(false) },
            Value::Int(_) => ColumnType::bigint(false),
            Value::UInt(_) => ColumnType::bigint(true),
            Value::Float(_) => ColumnType::float(),
            Value::Double(_) => ColumnType::double(),
            Value::Decimal(n) => {
                let scale = n.scale().min(crate::decimal::MAX_SCALE);
                ColumnType::decimal((n.integer_digits().max(1) as u8 + scale).min(65), scale)
            }
            Value::Bytes(bytes) => {
                ColumnType::varchar((bytes.len() as u32).min(16_383), crate::collation::UTF8MB4_0900_AI_CI)
            }
            Value::Date(_) => ColumnType::date(),
            Value::Time(time) => ColumnType::time(if time.micros == 0 { 0 } else { 6 }),
            Value::DateTime(at) => ColumnType::datetime(if at.micros == 0 { 0 } else { 6 }),
            Value::Timestamp { micros, .. } => ColumnType::timestamp(if *micros == 0 { 0 } else { 6 }),
            Value::Year(_) => ColumnType::year(),
            Value::Bit { width, .. } => ColumnType::bit((*width).clamp(1, 64)),
            Value::Enum { members, .. } => {
                ColumnType::enumeration(members.to_vec(), crate::collation::UTF8MB4_0900_AI_CI)
            }
            Value::Set { members, .. } => {
                ColumnType::set(members.to_vec(), crate::collation::UTF8MB4_0900_AI_CI)
            }
            Value::Json(_) => ColumnType::json(),
        }
    }
}

fn write_set(bits: u64, members: &[String], out: &mut Vec<u8>) {
    let mut first = true;
    for (i, member) in members.iter().take(64).enumerate() {
        if bits >> i & 1 == 1 {
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(member.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value, ty: Option<&ColumnType>) -> String {
        String::from_utf8(value.text_bytes(ty).unwrap()).unwrap()
    }

    #[test]
    fn texts() {
        let members: Arc<[String]> = vec!["a".to_string(), "b".into(), "c".into()].into();
        assert_eq!(text(Value::Int(-5), None), "-5");
        assert_eq!(text(Value::UInt(u64::MAX), None), "18446744073709551615");
        assert_eq!(text(Value::Year(0), None), "0000");
        assert_eq!(text(Value::Bit { bits: 0x4142, width: 15 }, None), "AB");
        assert_eq!(text(Value::Enum { index: 2, members: members.clone() }, None), "b");
        assert_eq!(text(Value::Enum { index: 0, members: members.clone() }, None), "");
        assert_eq!(text(Value::Set { bits: 5, members }, None), "a,c");
        let at = DateTime::from_unix(1_700_000_000, 120_000, Zone::UTC);
        assert_eq!(text(Value::DateTime(at), None), "2023-11-14 22:13:20.120000");
        assert_eq!(text(Value::DateTime(at), Some(&ColumnType::datetime(2))), "2023-11-14 22:13:20.12");
        let stamp = Value::Timestamp { seconds: 1_700_000_000, micros: 0 };
        assert_eq!(
            text(stamp.in_zone(Zone::Offset(-3600)), Some(&ColumnType::timestamp(0))),
            "2023-11-14 21:13:20"
        );
        assert_eq!(Value::Null.text_bytes(None), None);
    }
}
