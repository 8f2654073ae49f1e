//! Packed values: the bytes that a row image holds for one column, and their conversion to and from
//! a [`Value`].

use crate::collation::{self, Charset};
use crate::decimal::{Decimal, binary_len};
use crate::temporal::{Date, DateTime, Time};
use crate::{ColumnType, TypeCode, Value};
use std::sync::Arc;

/// The width of a packed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Always this many bytes.
    Fixed(u8),
    /// A little-endian length of this many bytes (1..=4), then as many bytes as it says.
    Prefixed(u8),
}

/// The reason why a packed value cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedError {
    /// The bytes end inside the value.
    Short,
    /// The bytes are no value of the type.
    Invalid,
    /// The value is of another kind than the column. [`crate::convert::to_column`] has to convert
    /// it first.
    WrongKind,
    /// The value is longer or larger than the column can hold.
    TooLarge,
}

impl std::fmt::Display for PackedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PackedError::Short => "the bytes end inside the value",
            PackedError::Invalid => "the bytes are no value of the column's type",
            PackedError::WrongKind => "the value is of another kind than the column",
            PackedError::TooLarge => "the value does not fit the column",
        })
    }
}

impl std::error::Error for PackedError {}

const TIME2_OFFSET: u64 = 0x80_0000;
const DATETIME2_OFFSET: u64 = 0x80_0000_0000;

/// Returns the width of the type's packed values.
pub fn width(ty: &ColumnType) -> Width {
    let fraction = ty.meta.div_ceil(2) as u8;
    match ty.code {
        TypeCode::Null => Width::Fixed(0),
        TypeCode::Tiny | TypeCode::Year => Width::Fixed(1),
        TypeCode::Short => Width::Fixed(2),
        TypeCode::Int24 | TypeCode::Date | TypeCode::Time => Width::Fixed(3),
        TypeCode::Long | TypeCode::Float | TypeCode::Timestamp => Width::Fixed(4),
        TypeCode::LongLong | TypeCode::Double | TypeCode::Datetime => Width::Fixed(8),
        TypeCode::Time2 => Width::Fixed(3 + fraction),
        TypeCode::Timestamp2 => Width::Fixed(4 + fraction),
        TypeCode::Datetime2 => Width::Fixed(5 + fraction),
        TypeCode::Bit => Width::Fixed(ty.meta.div_ceil(8) as u8),
        TypeCode::Enum | TypeCode::Set => Width::Fixed(ty.meta as u8),
        TypeCode::NewDecimal => Width::Fixed(binary_len(ty.precision(), ty.scale()) as u8),
        TypeCode::Varchar | TypeCode::VarcharCompressed | TypeCode::String => {
            Width::Prefixed(if ty.meta > 255 { 2 } else { 1 })
        }
        TypeCode::Blob
        | TypeCode::BlobCompressed
        | TypeCode::Json
        | TypeCode::Geometry
        | TypeCode::Vector => Width::Prefixed(ty.meta as u8),
    }
}

/// Returns the length of the packed value at the start of `bytes`, its length prefix included.
#[inline]
pub fn packed_len(width: Width, bytes: &[u8]) -> Result<usize, PackedError> {
    let len = match width {
        Width::Fixed(len) => usize::from(len),
        Width::Prefixed(prefix) => usize::from(prefix) + prefixed_len(prefix, bytes)?,
    };
    if bytes.len() < len { Err(PackedError::Short) } else { Ok(len) }
}

/// Returns the length that stands in the first `prefix` bytes (1..=4).
#[inline]
pub(crate) fn prefixed_len(prefix: u8, bytes: &[u8]) -> Result<usize, PackedError> {
    Ok(match prefix {
        1 => usize::from(*bytes.first().ok_or(PackedError::Short)?),
        2 => usize::from(u16::from_le_bytes(*bytes.first_chunk().ok_or(PackedError::Short)?)),
        n => little_endian(bytes.get(..usize::from(n)).ok_or(PackedError::Short)?) as usize,
    })
}

/// Returns the bytes of a packed value without its length prefix. `packed` is exactly one value.
#[inline]
pub fn payload<'a>(ty: &ColumnType, packed: &'a [u8]) -> &'a [u8] {
    match width(ty) {
        Width::Fixed(_) => packed,
        Width::Prefixed(n) => packed.get(usize::from(n)..).unwrap_or_default(),
    }
}

/// Returns the number of at most eight bytes, the highest first. A copy of so few bytes, whose
/// number is not known when this is compiled, would be a call.
#[inline]
pub(crate) fn big_endian(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            let behind_first = 8 * (bytes.len() - size_of::<u32>()) as u32;
            u64::from(u32::from_be_bytes(*first)) << behind_first | u64::from(u32::from_be_bytes(*last))
        }
        _ => match *bytes {
            [a, b, c] => u64::from(a) << 16 | u64::from(b) << 8 | u64::from(c),
            _ => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        },
    }
}

/// As [`big_endian`], the lowest byte first.
#[inline]
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            let before_last = 8 * (bytes.len() - size_of::<u32>()) as u32;
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << before_last
        }
        _ => match *bytes {
            // A DATE or a MEDIUMINT.
            [a, b, c] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
            _ => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        },
    }
}

/// Reports whether bytes of the right length may still be no value of the type, so that [`decode`]
/// refuses them.
pub(crate) fn may_be_no_value(ty: &ColumnType) -> bool {
    matches!(
        ty.code,
        TypeCode::NewDecimal
            | TypeCode::Time2
            | TypeCode::Datetime2
            | TypeCode::Timestamp2
            | TypeCode::Time
            | TypeCode::Datetime
    )
}

/// Reads a packed value, its length prefix included. `packed` is exactly one value.
pub fn decode(ty: &ColumnType, packed: &[u8]) -> Result<Value, PackedError> {
    if packed_len(width(ty), packed)? != packed.len() {
        return Err(PackedError::Invalid);
    }
    let little = || little_endian(packed);
    Ok(match ty.code {
        TypeCode::Null => Value::Null,
        TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong => {
            integer(ty, packed)
        }
        TypeCode::Year => Value::Year(if packed[0] == 0 { 0 } else { 1900 + u16::from(packed[0]) }),
        TypeCode::Float => Value::Float(f32::from_bits(little() as u32)),
        TypeCode::Double => Value::Double(f64::from_bits(little())),
        TypeCode::NewDecimal => Value::Decimal(
            Decimal::read_binary(packed, ty.precision(), ty.scale()).ok_or(PackedError::Invalid)?,
        ),
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob => {
            let mut bytes = Vec::new();
            decode_bytes(ty, payload(ty, packed), &mut bytes);
            Value::Bytes(bytes)
        }
        TypeCode::VarcharCompressed | TypeCode::BlobCompressed | TypeCode::Geometry | TypeCode::Vector => {
            Value::Bytes(payload(ty, packed).to_vec())
        }
        TypeCode::Json => Value::Json(payload(ty, packed).to_vec()),
        TypeCode::Enum => Value::Enum { index: little() as u16, members: members(ty) },
        TypeCode::Set => Value::Set { bits: little(), members: members(ty) },
        TypeCode::Bit => Value::Bit { bits: big_endian(packed), width: ty.meta as u8 },
        TypeCode::Date => Value::Date(date(packed.first_chunk().ok_or(PackedError::Short)?)),
        TypeCode::Time2 => Value::Time(decode_time2(packed, ty.fsp())?),
        TypeCode::Datetime2 => Value::DateTime(decode_datetime2(packed, ty.fsp())?),
        TypeCode::Timestamp2 => Value::Timestamp {
            seconds: big_endian(&packed[..4]) as i64,
            micros: decode_fraction(&packed[4..], ty.fsp())?,
        },
        TypeCode::Timestamp => Value::Timestamp { seconds: little() as i64, micros: 0 },
        TypeCode::Time => {
            let n = ((little() << 40) as i64 >> 40) as i32;
            let magnitude = n.unsigned_abs();
            let (minutes, seconds) = ((magnitude / 100 % 100) as u8, (magnitude % 100) as u8);
            let time = Time::new(n < 0, (magnitude / 10_000) as u16, minutes, seconds, 0);
            Value::Time(time.ok_or(PackedError::Invalid)?)
        }
        TypeCode::Datetime => {
            let (date, time) = (little() / 1_000_000, little() % 1_000_000);
            let year =
                u16::try_from(date / 10_000).ok().filter(|&year| year <= 9999).ok_or(PackedError::Invalid)?;
            Value::DateTime(DateTime {
                date: Date { year, month: (date / 100 % 100) as u8, day: (date % 100) as u8 },
                hour: (time / 10_000) as u8,
                minute: (time / 100 % 100) as u8,
                second: (time % 100) as u8,
                micros: 0,
            })
        }
    })
}

/// Returns the DATE in its three bytes.
#[inline]
pub(crate) fn date(packed: &[u8; 3]) -> Date {
    let n = little_endian(packed);
    Date { year: (n >> 9) as u16, month: (n >> 5 & 15) as u8, day: (n & 31) as u8 }
}

/// Returns the integer in `packed`, which has as many bytes as the type.
#[inline]
fn integer(ty: &ColumnType, packed: &[u8]) -> Value {
    let unused = 64 - 8 * packed.len() as u32;
    match little_endian(packed) {
        bits if ty.unsigned => Value::UInt(bits),
        bits => Value::Int((bits << unused) as i64 >> unused),
    }
}

/// Reads a packed value as [`decode`] does, into a value whose memory is used again when both are
/// characters or bytes.
pub fn decode_into(ty: &ColumnType, packed: &[u8], value: &mut Value) -> Result<(), PackedError> {
    let width = width(ty);
    if packed_len(width, packed)? != packed.len() {
        return Err(PackedError::Invalid);
    }
    decode_whole(ty, width, packed, value)
}

/// Reads a packed value as [`decode_into`] does, when the type's width and the length are known to
/// be right.
#[inline]
pub(crate) fn decode_whole(
    ty: &ColumnType,
    width: Width,
    packed: &[u8],
    value: &mut Value,
) -> Result<(), PackedError> {
    match (ty.code, width) {
        (TypeCode::Varchar | TypeCode::String | TypeCode::Blob, Width::Prefixed(prefix)) => {
            let payload = &packed[usize::from(prefix)..];
            if let Value::Bytes(bytes) = value {
                bytes.clear();
                decode_bytes(ty, payload, bytes);
            } else {
                let mut bytes = Vec::with_capacity(payload.len());
                decode_bytes(ty, payload, &mut bytes);
                *value = Value::Bytes(bytes);
            }
        }
        _ if ty.is_integer() => *value = integer(ty, packed),
        _ => *value = decode(ty, packed)?,
    }
    Ok(())
}

/// Reports whether the bytes of a column's texts are those of its values: no character has to be
/// converted, and nothing is left out of the image.
pub(crate) fn is_plain_text(ty: &ColumnType) -> bool {
    let is_binary = ty.code == TypeCode::String && ty.collation == collation::BINARY;
    matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
        && !is_binary
        && matches!(
            collation::charset_of(ty.collation),
            Charset::Binary | Charset::Utf8mb3 | Charset::Utf8mb4
        )
}

fn members(ty: &ColumnType) -> Arc<[String]> {
    ty.members.clone().unwrap_or_default()
}

/// Appends the value's bytes: characters are converted to utf8mb4, and BINARY(n) gets back the zero
/// bytes that the row image leaves out.
fn decode_bytes(ty: &ColumnType, payload: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&collation::to_utf8mb4(ty.collation, payload));
    if ty.code == TypeCode::String && ty.collation == collation::BINARY {
        fill_binary(ty, bytes);
    }
}

/// Fills up a BINARY(n) with zero bytes, or turns its bytes into their text.
fn fill_binary(ty: &ColumnType, bytes: &mut Vec<u8>) {
    if let Some(form) = ty.text_form() {
        let stored = std::mem::take(bytes);
        form.write_text(&stored, bytes);
    } else if bytes.len() < usize::from(ty.meta) {
        bytes.resize(usize::from(ty.meta), 0);
    }
}

fn decode_fraction(bytes: &[u8], fsp: u8) -> Result<u32, PackedError> {
    let micros = big_endian(bytes) as u32 * 100u32.pow(3 - u32::from(fsp.div_ceil(2)));
    if micros < 1_000_000 { Ok(micros) } else { Err(PackedError::Invalid) }
}

fn decode_time2(packed: &[u8], fsp: u8) -> Result<Time, PackedError> {
    // The value is one number of 3 + n bytes, offset by half its range. For a negative time the
    // whole number is negated.
    let fraction_bytes = u32::from(fsp.div_ceil(2));
    let number = big_endian(packed) as i64 - ((TIME2_OFFSET << (8 * fraction_bytes)) as i64);
    let magnitude = number.unsigned_abs();
    let whole = magnitude >> (8 * fraction_bytes);
    let fraction = magnitude & ((1 << (8 * fraction_bytes)) - 1);
    let micros = fraction as u32 * 100u32.pow(3 - fraction_bytes);
    let (hours, minutes, seconds) =
        ((whole >> 12 & 0x3ff) as u16, (whole >> 6 & 63) as u8, (whole & 63) as u8);
    Time::new(number < 0, hours, minutes, seconds, micros).ok_or(PackedError::Invalid)
}

fn decode_datetime2(packed: &[u8], fsp: u8) -> Result<DateTime, PackedError> {
    let whole = big_endian(&packed[..5]).checked_sub(DATETIME2_OFFSET).ok_or(PackedError::Invalid)?;
    let (year_month, time) = (whole >> 22, whole & 0x1ffff);
    let year = (year_month / 13) as u16;
    if year > 9999 {
        return Err(PackedError::Invalid);
    }
    Ok(DateTime {
        date: Date { year, month: (year_month % 13) as u8, day: (whole >> 17 & 31) as u8 },
        hour: (time >> 12) as u8,
        minute: (time >> 6 & 63) as u8,
        second: (time & 63) as u8,
        micros: decode_fraction(&packed[5..], fsp)?,
    })
}

/// Appends the packed form of a value, never NULL, that [`crate::convert::to_column`] made for the
/// column.
pub fn encode(ty: &ColumnType, value: &Value, out: &mut Vec<u8>) -> Result<(), PackedError> {
    match (ty.code, value) {
        (
            TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong,
            Value::Int(_) | Value::UInt(_),
        ) => encode_integer(ty, value, out)?,
        (TypeCode::Year, Value::Year(year)) => {
            out.push(if *year == 0 {
                0
            } else {
                u8::try_from(year.wrapping_sub(1900)).map_err(|_| PackedError::TooLarge)?
            });
        }
        (TypeCode::Float, Value::Float(n)) => out.extend_from_slice(&n.to_bits().to_le_bytes()),
        (TypeCode::Double, Value::Double(n)) => out.extend_from_slice(&n.to_bits().to_le_bytes()),
        (TypeCode::NewDecimal, Value::Decimal(n)) => {
            n.write_binary(ty.precision(), ty.scale(), out).map_err(|_| PackedError::TooLarge)?;
        }
        (TypeCode::String, Value::Bytes(text)) if ty.form.is_some() => {
            let mut stored = Vec::new();
            // An empty text is the zero value that a NOT NULL column gets when it is given no
            // value.
            let form = ty.text_form().filter(|form| text.is_empty() || form.read_text(text, &mut stored));
            form.ok_or(PackedError::Invalid)?;
            encode_prefixed(ty, trim_for(ty, &stored), out)?;
        }
        (TypeCode::Varchar | TypeCode::String | TypeCode::Blob, Value::Bytes(bytes)) => {
            let stored = collation::from_utf8mb4(ty.collation, bytes).ok_or(PackedError::Invalid)?;
            encode_prefixed(ty, trim_for(ty, &stored), out)?;
        }
        (TypeCode::Geometry | TypeCode::Vector, Value::Bytes(bytes)) => encode_prefixed(ty, bytes, out)?,
        (TypeCode::Json, Value::Json(document)) => encode_prefixed(ty, document, out)?,
        (TypeCode::Enum, Value::Enum { index, .. }) => encode_little(u64::from(*index), ty.meta, out)?,
        (TypeCode::Set, Value::Set { bits, .. }) => encode_little(*bits, ty.meta, out)?,
        (TypeCode::Bit, Value::Bit { bits, .. }) => {
            if ty.meta < 64 && bits >> ty.meta != 0 {
                return Err(PackedError::TooLarge);
            }
            out.extend_from_slice(&bits.to_be_bytes()[8 - usize::from(ty.meta.div_ceil(8))..]);
        }
        (TypeCode::Date, Value::Date(d)) => {
            let n = u32::from(d.year) << 9 | u32::from(d.month) << 5 | u32::from(d.day);
            out.extend_from_slice(&n.to_le_bytes()[..3]);
        }
        (TypeCode::Time2, Value::Time(time)) => encode_time2(time, ty.fsp(), out),
        (TypeCode::Datetime2, Value::DateTime(at)) => encode_datetime2(at, ty.fsp(), out),
        (TypeCode::Timestamp2, Value::Timestamp { seconds, micros }) => {
            let seconds = u32::try_from(*seconds).map_err(|_| PackedError::TooLarge)?;
            out.extend_from_slice(&seconds.to_be_bytes());
            encode_fraction(*micros, ty.fsp(), out);
        }
        _ => return Err(PackedError::WrongKind),
    }
    Ok(())
}

fn encode_integer(ty: &ColumnType, value: &Value, out: &mut Vec<u8>) -> Result<(), PackedError> {
    let number = match value {
        Value::Int(n) => i128::from(*n),
        Value::UInt(n) => i128::from(*n),
        _ => return Err(PackedError::WrongKind),
    };
    let (low, high) = ty.integer_range();
    if number < i128::from(low) || number > i128::from(high) {
        return Err(PackedError::TooLarge);
    }
    out.extend_from_slice(&(number as u64).to_le_bytes()[..ty.max_bytes() as usize]);
    Ok(())
}

fn encode_little(number: u64, bytes: u16, out: &mut Vec<u8>) -> Result<(), PackedError> {
    if bytes < 8 && number >> (8 * bytes) != 0 {
        return Err(PackedError::TooLarge);
    }
    out.extend_from_slice(&number.to_le_bytes()[..usize::from(bytes)]);
    Ok(())
}

fn encode_prefixed(ty: &ColumnType, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), PackedError> {
    if bytes.len() as u64 > ty.max_bytes() {
        return Err(PackedError::TooLarge);
    }
    let Width::Prefixed(prefix) = width(ty) else { return Err(PackedError::WrongKind) };
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes()[..usize::from(prefix)]);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Cuts off the trailing spaces of a CHAR and the trailing zero bytes of a BINARY (as
/// `Field_string::pack` does).
pub(crate) fn trim_for<'a>(ty: &ColumnType, bytes: &'a [u8]) -> &'a [u8] {
    if ty.code != TypeCode::String {
        return bytes;
    }
    if ty.collation != collation::BINARY {
        return collation::without_trailing_spaces(ty.collation, bytes);
    }
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..len]
}

fn encode_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp == 0 {
        return;
    }
    let bytes = u32::from(fsp.div_ceil(2));
    let number = cut_to_fsp(micros, fsp) / 100u32.pow(3 - bytes);
    out.extend_from_slice(&number.to_be_bytes()[4 - bytes as usize..]);
}

/// Cuts off digits beyond the column's fraction. Values have been rounded to the column's digits
/// before.
fn cut_to_fsp(micros: u32, fsp: u8) -> u32 {
    let unit = 10u32.pow(6 - u32::from(fsp));
    micros / unit * unit
}

fn encode_time2(time: &Time, fsp: u8, out: &mut Vec<u8>) {
    let bytes = u32::from(fsp.div_ceil(2));
    let whole = i64::from(time.hours) << 12 | i64::from(time.minutes) << 6 | i64::from(time.seconds);
    let fraction = i64::from(cut_to_fsp(time.micros, fsp) / 100u32.pow(3 - bytes));
    let number = whole << (8 * bytes) | fraction;
    let number = if time.negative { -number } else { number } + ((TIME2_OFFSET << (8 * bytes)) as i64);
    out.extend_from_slice(&number.to_be_bytes()[5 - bytes as usize..]);
}

pub(crate) fn encode_datetime2(at: &DateTime, fsp: u8, out: &mut Vec<u8>) {
    let year_month = u64::from(at.date.year) * 13 + u64::from(at.date.month);
    let time = u64::from(at.hour) << 12 | u64::from(at.minute) << 6 | u64::from(at.second);
    let whole = (year_month << 5 | u64::from(at.date.day)) << 17 | time;
    out.extend_from_slice(&(whole + DATETIME2_OFFSET).to_be_bytes()[3..]);
    encode_fraction(at.micros, fsp, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(ty: &ColumnType, value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        encode(ty, value, &mut out).unwrap();
        assert_eq!(packed_len(width(ty), &out), Ok(out.len()));
        assert_eq!(decode(ty, &out).as_ref(), Ok(value), "{}", ty.sql_name());
        out
    }

    #[test]
    fn known_bytes() {
        assert_eq!(bytes_of(&ColumnType::mediumint(false), &Value::Int(-2)), [0xfe, 0xff, 0xff]);
        assert_eq!(bytes_of(&ColumnType::bigint(true), &Value::UInt(u64::MAX)), [0xff; 8]);
        assert_eq!(bytes_of(&ColumnType::year(), &Value::Year(2024)), [124]);
        assert_eq!(bytes_of(&ColumnType::varchar(10, 255), &Value::text("ab")), [2, b'a', b'b']);
        assert_eq!(bytes_of(&ColumnType::varchar(64, 255), &Value::text("ab")), [2, 0, b'a', b'b']);
        assert_eq!(bytes_of(&ColumnType::mediumtext(255), &Value::text("ab")), [2, 0, 0, b'a', b'b']);
        assert_eq!(bytes_of(&ColumnType::bit(9), &Value::Bit { bits: 0x101, width: 9 }), [1, 1]);
        let date = Date { year: 2024, month: 1, day: 2 };
        assert_eq!(bytes_of(&ColumnType::date(), &Value::Date(date)), [0x22, 0xd0, 0x0f]);
        // 2012*13+9 = 0x6635; (0x6635 << 5 | 3) << 17 | 10 << 12 | 11 << 6 | 12 = 0x198d46a2cc,
        // plus 0x8000000000.
        let at = DateTime {
            date: Date { year: 2012, month: 9, day: 3 },
            hour: 10,
            minute: 11,
            second: 12,
            micros: 0,
        };
        assert_eq!(bytes_of(&ColumnType::datetime(0), &Value::DateTime(at)), [0x99, 0x8d, 0x46, 0xa2, 0xcc]);
    }

    #[test]
    fn temporal_round_trips_and_order() {
        for fsp in 0..=6u8 {
            let unit = 10i64.pow(6 - u32::from(fsp));
            let mut packed = Vec::new();
            for micros in [
                -3_020_399_000_000,
                -1_000_001,
                -1_000_000,
                -500_000,
                -1,
                0,
                1,
                999_999,
                3_020_399_000_000i64,
            ] {
                let time = Time::from_micros(micros / unit * unit).unwrap();
                packed.push(bytes_of(&ColumnType::time(fsp), &Value::Time(time)));
            }
            assert!(packed.is_sorted(), "TIME({fsp})");
            let at = DateTime::from_unix(1_700_000_000, (123_456 / unit * unit) as u32, crate::Zone::UTC);
            bytes_of(&ColumnType::datetime(fsp), &Value::DateTime(at));
            bytes_of(&ColumnType::timestamp(fsp), &Value::Timestamp { seconds: 1, micros: at.micros });
        }
    }

    #[test]
    fn old_formats() {
        let old = |code| ColumnType { code, ..ColumnType::date() };
        let at = decode(&old(TypeCode::Datetime), &20_240_102_030_405u64.to_le_bytes()).unwrap();
        assert_eq!(at.text_bytes(None).unwrap(), b"2024-01-02 03:04:05");
        let time = decode(&old(TypeCode::Time), &(-101_112i32).to_le_bytes()[..3]).unwrap();
        assert_eq!(time.text_bytes(None).unwrap(), b"-10:11:12");
        let stamp = decode(&old(TypeCode::Timestamp), &5u32.to_le_bytes()).unwrap();
        assert_eq!(stamp, Value::Timestamp { seconds: 5, micros: 0 });
    }

    #[test]
    fn padding() {
        let mut out = Vec::new();
        encode(&ColumnType::char(4, 255), &Value::text("a  "), &mut out).unwrap();
        assert_eq!(out, [1, b'a']);
        out.clear();
        encode(&ColumnType::binary(4), &Value::Bytes(vec![1, 0]), &mut out).unwrap();
        assert_eq!(out, [1, 1]);
        assert_eq!(decode(&ColumnType::binary(4), &out), Ok(Value::Bytes(vec![1, 0, 0, 0])));
        assert_eq!(decode(&ColumnType::int(false), &[1, 2]), Err(PackedError::Short));
        assert_eq!(encode(&ColumnType::int(false), &Value::text("x"), &mut out), Err(PackedError::WrongKind));
    }

    #[test]
    fn memory_is_used_again() {
        let mut value = Value::Bytes(Vec::with_capacity(1000));
        let text = ColumnType::varchar(10, 255);
        decode_into(&text, &[3, b'a', b'b', b'c'], &mut value).unwrap();
        assert_eq!(value, Value::text("abc"));
        let Value::Bytes(bytes) = &value else { panic!("not text") };
        assert!(bytes.capacity() >= 1000);
        decode_into(&ColumnType::binary(4), &[1, 1], &mut value).unwrap();
        assert_eq!(value, Value::Bytes(vec![1, 0, 0, 0]));
        assert_eq!(decode_into(&text, &[9, b'a'], &mut value), Err(PackedError::Short));
        decode_into(&ColumnType::int(false), &[7, 0, 0, 0], &mut value).unwrap();
        assert_eq!(value, Value::Int(7));
    }
}
