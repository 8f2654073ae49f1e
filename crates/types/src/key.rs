//! Keys: byte strings whose memcmp order is the order of the columns that they are made of.
//!
//! Every column's part is self-delimiting, so parts can be put one after the other and no key is a
//! proper prefix of another key of the same columns. `docs/formats/key.md` has the bytes.

use crate::packed::{self, PackedError, Width, payload};
use crate::{ColumnType, TypeCode, Value, collation};

/// The first byte of a nullable column's part when the value is NULL.
pub const NULL_MARK: u8 = 0;
const NOT_NULL_MARK: u8 = 1;

/// An upper limit of the bytes of a packed value of fixed length. The longest is DECIMAL(65,30)
/// with 30 bytes.
const LONGEST_FIXED: usize = 32;

/// Appends the part of one column from its packed value (length prefix included), `None` for NULL.
/// `prefix_chars` is the length of an index on a column prefix, in characters (in bytes for the
/// binary types).
///
/// Returns an error for a NULL in a column that is not nullable, and for a packed value of the
/// wrong length.
pub fn encode_raw(
    ty: &ColumnType,
    packed: Option<&[u8]>,
    nullable: bool,
    prefix_chars: Option<u32>,
    out: &mut Vec<u8>,
) -> Result<(), PackedError> {
    let packed = match (packed, nullable) {
        (None, true) => {
            out.push(NULL_MARK);
            return Ok(());
        }
        (None, false) => return Err(PackedError::WrongKind),
        (Some(packed), true) => {
            out.push(NOT_NULL_MARK);
            packed
        }
        (Some(packed), false) => packed,
    };
    if packed::packed_len(packed::width(ty), packed)? != packed.len() {
        return Err(PackedError::Invalid);
    }
    match ty.code {
        TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong => {
            let mut number = [0; 8];
            number[..packed.len()].copy_from_slice(packed);
            let unused = 64 - 8 * packed.len() as u32;
            let sign = if ty.unsigned { 0 } else { 1 << 63 };
            let ordered = u64::from_le_bytes(number) << unused ^ sign;
            out.extend_from_slice(&ordered.to_be_bytes()[..packed.len()]);
        }
        TypeCode::Year | TypeCode::Bit | TypeCode::NewDecimal => out.extend_from_slice(packed),
        // These are big endian with an offset, so that they can be compared by memcmp (worklog
        // 946).
        TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 => out.extend_from_slice(packed),
        TypeCode::Date | TypeCode::Enum | TypeCode::Set | TypeCode::Datetime | TypeCode::Timestamp => {
            out.extend(packed.iter().rev());
        }
        TypeCode::Time => {
            let start = out.len();
            out.extend(packed.iter().rev());
            out[start] ^= 0x80;
        }
        TypeCode::Float => {
            let bits = u32::from_le_bytes(*packed.first_chunk().ok_or(PackedError::Short)?);
            let bits = if bits == 1 << 31 { 0 } else { bits }; // -0 equals 0.
            let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            out.extend_from_slice(&ordered.to_be_bytes());
        }
        TypeCode::Double => {
            let bits = u64::from_le_bytes(*packed.first_chunk().ok_or(PackedError::Short)?);
            let bits = if bits == 1 << 63 { 0 } else { bits };
            let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            out.extend_from_slice(&ordered.to_be_bytes());
        }
        TypeCode::String if ty.form.is_some() => {
            let mut ordered = Vec::with_capacity(16);
            if let Some(form) = ty.text_form() {
                form.write_order(payload(ty, packed), &mut ordered);
            }
            collation::write_key(collation::BINARY, &ordered, out);
        }
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob => {
            let bytes = packed::trim_for(ty, payload(ty, packed));
            let bytes = match prefix_chars {
                Some(chars) => collation::char_prefix(ty.collation, bytes, chars as usize),
                None => bytes,
            };
            collation::write_key(ty.collation, bytes, out);
        }
        TypeCode::Null => {}
        TypeCode::VarcharCompressed
        | TypeCode::BlobCompressed
        | TypeCode::Json
        | TypeCode::Geometry
        | TypeCode::Vector => {
            let bytes = payload(ty, packed);
            let cut = prefix_chars.map_or(bytes.len(), |n| bytes.len().min(n as usize));
            collation::write_key(collation::BINARY, &bytes[..cut], out);
        }
    }
    Ok(())
}

/// Appends the part of an integer column, as [`encode_value`] does, if the value is an integer of
/// the column's sign that the column can hold. Returns whether it is.
#[inline]
pub fn encode_integer(ty: &ColumnType, value: &Value, nullable: bool, out: &mut Vec<u8>) -> bool {
    let bytes = match ty.code {
        TypeCode::Tiny => 1,
        TypeCode::Short => 2,
        TypeCode::Int24 => 3,
        TypeCode::Long => 4,
        TypeCode::LongLong => 8,
        _ => return false,
    };
    let unused = 64 - 8 * bytes as u32;
    let shifted = match (value, ty.unsigned) {
        (Value::Int(n), false) if n << unused >> unused == *n => (n << unused) as u64 ^ 1 << 63,
        (Value::UInt(n), true) if n << unused >> unused == *n => n << unused,
        _ => return false,
    };
    let mut part = [NOT_NULL_MARK; 9];
    part[1..].copy_from_slice(&shifted.to_be_bytes());
    out.extend_from_slice(&part[usize::from(!nullable)..=bytes]);
    true
}

/// Appends the part of one column from a value that [`crate::convert::to_column`] made for it.
pub fn encode_value(
    ty: &ColumnType,
    value: &Value,
    nullable: bool,
    prefix_chars: Option<u32>,
    out: &mut Vec<u8>,
) -> Result<(), PackedError> {
    if value.is_null() {
        return encode_raw(ty, None, nullable, prefix_chars, out);
    }
    if encode_integer(ty, value, nullable, out) {
        return Ok(());
    }
    let mut packed = Vec::with_capacity(32);
    packed::encode(ty, value, &mut packed)?;
    encode_raw(ty, Some(&packed), nullable, prefix_chars, out)
}

/// Reports whether a column's part holds its whole value, so that [`read_part`] can return it.
/// Weights and prefixes do not hold the whole value, and neither do floating point numbers, since
/// -0 is written as 0.
pub fn is_readable(ty: &ColumnType, prefix_chars: Option<u32>) -> bool {
    match ty.code {
        TypeCode::Varchar | TypeCode::String => {
            prefix_chars.is_none() && ty.form.is_none() && collation::is_key_of_bytes(ty.collation)
        }
        TypeCode::Float
        | TypeCode::Double
        | TypeCode::Null
        | TypeCode::Blob
        | TypeCode::VarcharCompressed
        | TypeCode::BlobCompressed
        | TypeCode::Json
        | TypeCode::Geometry
        | TypeCode::Vector => false,
        _ => true,
    }
}

/// Reads the part at the start of `key` of a column for which [`is_readable`] is true, into `value`
/// if that is given, and returns the length of the part.
pub fn read_part(
    ty: &ColumnType,
    nullable: bool,
    key: &[u8],
    value: Option<&mut Value>,
) -> Result<usize, PackedError> {
    let mut part = key;
    if nullable {
        let (mark, rest) = part.split_first().ok_or(PackedError::Short)?;
        if *mark == NULL_MARK {
            if let Some(value) = value {
                *value = Value::Null;
            }
            return Ok(1);
        }
        part = rest;
    }
    let len = match packed::width(ty) {
        Width::Fixed(len) => usize::from(len),
        Width::Prefixed(prefix_len) => {
            let prefix_len = usize::from(prefix_len);
            let mut packed = vec![0; prefix_len];
            let len = collation::read_escaped(part, &mut packed).ok_or(PackedError::Short)?;
            let text_len = ((packed.len() - prefix_len) as u64).to_le_bytes();
            packed[..prefix_len].copy_from_slice(&text_len[..prefix_len]);
            if let Some(value) = value {
                packed::decode_into(ty, &packed, value)?;
            }
            return Ok(usize::from(nullable) + len);
        }
    };
    let part = part.get(..len).ok_or(PackedError::Short)?;
    let Some(value) = value else { return Ok(usize::from(nullable) + len) };
    let mut buffer = [0; LONGEST_FIXED];
    let packed = buffer.get_mut(..len).ok_or(PackedError::Invalid)?;
    packed.copy_from_slice(part);
    match ty.code {
        TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong => {
            if !ty.unsigned {
                packed[0] ^= 0x80;
            }
            packed.reverse();
        }
        TypeCode::Time => {
            packed[0] ^= 0x80;
            packed.reverse();
        }
        TypeCode::Date | TypeCode::Enum | TypeCode::Set | TypeCode::Datetime | TypeCode::Timestamp => {
            packed.reverse();
        }
        _ => {}
    }
    packed::decode_into(ty, packed, value)?;
    Ok(usize::from(nullable) + len)
}

/// Appends the smallest byte string that is greater than every key that starts with `prefix`.
/// Returns false, and appends nothing, if there is none because the prefix is empty or all FF.
pub fn successor_of_prefix(prefix: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(last) = prefix.iter().rposition(|&byte| byte != 0xff) else { return false };
    out.extend_from_slice(&prefix[..last]);
    out.push(prefix[last] + 1);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::{Date, DateTime, Time};
    use crate::{Decimal, compare};

    fn key(ty: &ColumnType, value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        encode_value(ty, value, true, None, &mut out).unwrap();
        out
    }

    fn check_ascending(ty: ColumnType, values: Vec<Value>) {
        for pair in values.windows(2) {
            assert!(key(&ty, &pair[0]) < key(&ty, &pair[1]), "{}: {pair:?}", ty.sql_name());
            if !pair[0].is_null() {
                assert_eq!(
                    compare::compare(&pair[0], &pair[1], ty.collation),
                    Some(std::cmp::Ordering::Less)
                );
            }
        }
    }

    #[test]
    fn order_of_each_type() {
        let ints = |all: &[i64]| all.iter().map(|&n| Value::Int(n)).collect::<Vec<_>>();
        check_ascending(
            ColumnType::int(false),
            [vec![Value::Null], ints(&[-2147483648, -1, 0, 1, 256, 65536])].concat(),
        );
        check_ascending(ColumnType::mediumint(false), ints(&[-8388608, -256, -1, 0, 255, 8388607]));
        check_ascending(ColumnType::bigint(true), [0, 1, 255, u64::MAX].map(Value::UInt).to_vec());
        check_ascending(
            ColumnType::double(),
            [f64::MIN, -1.5, 0.0, 1e-300, 2.0, f64::MAX].map(Value::Double).to_vec(),
        );
        check_ascending(ColumnType::float(), [-3.5f32, -0.25, 0.0, 1.0, 1e30].map(Value::Float).to_vec());
        let decimals = ["-99.99", "-1.10", "-1.01", "0.00", "0.01", "10.00"];
        let decimals = decimals.map(|t| Value::Decimal(t.parse::<Decimal>().unwrap()));
        check_ascending(ColumnType::decimal(4, 2), decimals.to_vec());
        let dates = [(2023, 12, 31), (2024, 1, 1), (2024, 1, 31), (2024, 2, 1)];
        check_ascending(
            ColumnType::date(),
            dates.map(|(y, m, d)| Value::Date(Date::new(y, m, d).unwrap())).to_vec(),
        );
        let times = [-5_000_001, -5_000_000, -4_999_999, 0, 1, 1_000_000];
        check_ascending(
            ColumnType::time(6),
            times.map(|t| Value::Time(Time::from_micros(t).unwrap())).to_vec(),
        );
        let ats = [0, 1, 86_400, 1_700_000_000]
            .map(|s| Value::DateTime(DateTime::from_unix(s, 7, crate::Zone::UTC)));
        check_ascending(ColumnType::datetime(6), ats.to_vec());
        check_ascending(
            ColumnType::varchar(9, 255),
            ["", "A", "a b", "B", "é", "f"].map(Value::text).to_vec(),
        );
        check_ascending(
            ColumnType::varbinary(9),
            ["", "\0", "\0\0", "\0a", "a", "a\0"].map(Value::text).to_vec(),
        );
    }

    #[test]
    fn what_is_readable_is_read_back() {
        let at = DateTime::from_unix(1_700_000_000, 123_456, crate::Zone::UTC);
        let date = Value::Date(Date::new(2024, 2, 29).unwrap());
        let decimal = Value::Decimal("-12345.678".parse::<Decimal>().unwrap());
        let cases = [
            (ColumnType::tinyint(false), vec![Value::Int(-128), Value::Int(127)]),
            (ColumnType::mediumint(true), vec![Value::UInt(0), Value::UInt(16_777_215)]),
            (ColumnType::bigint(false), vec![Value::Int(i64::MIN), Value::Int(-1), Value::Int(i64::MAX)]),
            (ColumnType::decimal(10, 3), vec![decimal]),
            (ColumnType::date(), vec![date]),
            (ColumnType::datetime(6), vec![Value::DateTime(at)]),
            (ColumnType::time(3), vec![Value::Time(Time::from_micros(-5_001_000).unwrap())]),
            (ColumnType::varbinary(300), ["", "\0", "a\0\0b", "plain"].map(Value::text).to_vec()),
            (ColumnType::varchar(9, 309), ["", "a b ", "\u{e9}"].map(Value::text).to_vec()),
        ];
        for (ty, values) in cases {
            assert!(is_readable(&ty, None), "{}", ty.sql_name());
            for value in values.into_iter().chain([Value::Null]) {
                let mut bytes = key(&ty, &value);
                let len = bytes.len();
                bytes.extend([7, 7]);
                let mut read = Value::text("what was there before");
                assert_eq!(read_part(&ty, true, &bytes, Some(&mut read)), Ok(len), "{value:?}");
                assert_eq!(read, value);
                assert_eq!(read_part(&ty, true, &bytes, None), Ok(len));
                for cut in 0..len {
                    assert!(read_part(&ty, true, &bytes[..cut], Some(&mut read)).is_err(), "{value:?} {cut}");
                }
            }
        }
        assert!(!is_readable(&ColumnType::varchar(9, 255), None), "weights");
        assert!(!is_readable(&ColumnType::varchar(9, 46), None), "trailing spaces are cut off");
        assert!(!is_readable(&ColumnType::varbinary(9), Some(3)), "a prefix");
        assert!(!is_readable(&ColumnType::double(), None), "-0");
    }

    #[test]
    fn prefixes_and_nulls() {
        let ty = ColumnType::varchar(20, collation::UTF8MB4_GENERAL_CI);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        encode_value(&ty, &Value::text("äbcd"), false, Some(2), &mut a).unwrap();
        encode_value(&ty, &Value::text("ABX"), false, Some(2), &mut b).unwrap();
        assert_eq!(a, b);
        assert_eq!(encode_raw(&ty, None, false, None, &mut a), Err(PackedError::WrongKind));
        assert_eq!(
            encode_raw(&ColumnType::int(false), Some(&[1]), false, None, &mut a),
            Err(PackedError::Short)
        );
        let minus_zero = key(&ColumnType::double(), &Value::Double(-0.0));
        assert_eq!(minus_zero, key(&ColumnType::double(), &Value::Double(0.0)));
        let mut next = Vec::new();
        assert!(successor_of_prefix(&[1, 2, 0xff], &mut next) && next == [1, 3]);
        assert!(!successor_of_prefix(&[0xff], &mut next));
    }
}
