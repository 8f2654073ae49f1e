//! Rows as bytes, for memory and temporary files: they are compact, and each value comes back
//! exactly as it was, with its kind.
//!
//! A value is one byte that says its kind, followed by the contents: numbers with a variable
//! length, texts behind their length. The member lists of ENUM and SET values are kept once, in the
//! codec.

use crate::error::{Result, SqlError};
use std::sync::Arc;
use types::temporal::{Date, DateTime, Time};
use types::{Decimal, Value};

/// The bytes that say the kind of a value.
mod kind {
    pub const NULL: u8 = 0;
    pub const INT: u8 = 1;
    pub const UINT: u8 = 2;
    pub const FLOAT: u8 = 3;
    pub const DOUBLE: u8 = 4;
    pub const DECIMAL: u8 = 5;
    pub const BYTES: u8 = 6;
    pub const DATE: u8 = 7;
    pub const TIME: u8 = 8;
    pub const DATETIME: u8 = 9;
    pub const TIMESTAMP: u8 = 10;
    pub const YEAR: u8 = 11;
    pub const BIT: u8 = 12;
    pub const ENUM: u8 = 13;
    pub const SET: u8 = 14;
    pub const JSON: u8 = 15;
}

/// Writes rows as bytes, and reads the rows that it has written itself.
#[derive(Debug, Default, Clone)]
pub(crate) struct RowCodec {
    /// The member lists of ENUM and SET values so far. A value names its list by the index.
    members: Vec<Arc<[String]>>,
}

impl RowCodec {
    /// Appends the bytes of a value.
    pub fn write(&mut self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Null => out.push(kind::NULL),
            Value::Int(n) => {
                out.push(kind::INT);
                // The sign goes into the lowest bit, so that small numbers are short on either
                // side of zero.
                write_number(((n << 1) ^ (n >> 63)) as u64, out);
            }
            Value::UInt(n) => {
                out.push(kind::UINT);
                write_number(*n, out);
            }
            Value::Float(n) => {
                out.push(kind::FLOAT);
                out.extend_from_slice(&n.to_bits().to_le_bytes());
            }
            Value::Double(n) => {
                out.push(kind::DOUBLE);
                out.extend_from_slice(&n.to_bits().to_le_bytes());
            }
            Value::Decimal(n) => {
                out.push(kind::DECIMAL);
                write_decimal(n, out);
            }
            Value::Bytes(bytes) => {
                out.push(kind::BYTES);
                write_bytes(bytes, out);
            }
            Value::Json(bytes) => {
                out.push(kind::JSON);
                write_bytes(bytes, out);
            }
            Value::Enum { index, members } => {
                out.push(kind::ENUM);
                write_number(self.number_of(members), out);
                write_number(u64::from(*index), out);
            }
            Value::Set { bits, members } => {
                out.push(kind::SET);
                write_number(self.number_of(members), out);
                write_number(*bits, out);
            }
            Value::Bit { bits, width } => {
                out.extend_from_slice(&[kind::BIT, *width]);
                write_number(*bits, out);
            }
            temporal => write_temporal(temporal, out),
        }
    }

    /// Returns the index of a member list, which it adds if it is new. The values of a column share
    /// one list, so there are no more lists than columns.
    fn number_of(&mut self, members: &Arc<[String]>) -> u64 {
        let found = self.members.iter().position(|known| Arc::ptr_eq(known, members) || known == members);
        found.unwrap_or_else(|| {
            self.members.push(members.clone());
            self.members.len() - 1
        }) as u64
    }

    /// Reads the next value into `value`, whose memory is reused.
    ///
    /// # Errors
    /// Returns 1034 (`ER_NOT_KEYFILE`) when the bytes are not those of a written value.
    pub fn read(&self, bytes: &mut &[u8], value: &mut Value) -> Result<()> {
        self.read_next(bytes, value).ok_or_else(damaged)
    }

    fn read_next(&self, bytes: &mut &[u8], value: &mut Value) -> Option<()> {
        *value = match take(bytes, 1)?[0] {
            kind::NULL => Value::Null,
            kind::INT => {
                let n = read_number(bytes)?;
                Value::Int((n >> 1) as i64 ^ -((n & 1) as i64))
            }
            kind::UINT => Value::UInt(read_number(bytes)?),
            kind::FLOAT => Value::Float(f32::from_bits(u32::from_le_bytes(read_array(bytes)?))),
            kind::DOUBLE => Value::Double(f64::from_bits(u64::from_le_bytes(read_array(bytes)?))),
            kind::DECIMAL => Value::Decimal(read_decimal(bytes)?),
            kind::BYTES => {
                let text = read_bytes(bytes)?;
                if let Value::Bytes(kept) = value {
                    kept.clear();
                    kept.extend_from_slice(text);
                    return Some(());
                }
                Value::Bytes(text.to_vec())
            }
            kind::JSON => Value::Json(read_bytes(bytes)?.to_vec()),
            kind::ENUM => {
                let members = self.members.get(read_number(bytes)? as usize)?.clone();
                Value::Enum { members, index: read_number(bytes)? as u16 }
            }
            kind::SET => {
                let members = self.members.get(read_number(bytes)? as usize)?.clone();
                Value::Set { members, bits: read_number(bytes)? }
            }
            kind::BIT => {
                let width = take(bytes, 1)?[0];
                Value::Bit { width, bits: read_number(bytes)? }
            }
            temporal => read_temporal(temporal, bytes)?,
        };
        Some(())
    }

    /// Appends the values of a row. Their number is not written: the reader has to know it.
    pub fn write_row(&mut self, row: &[Value], out: &mut Vec<u8>) {
        row.iter().for_each(|value| self.write(value, out));
    }

    /// Reads as many values as `row` has.
    ///
    /// # Errors
    /// Returns the errors of [`RowCodec::read`].
    pub fn read_row(&self, mut bytes: &[u8], row: &mut [Value]) -> Result<()> {
        row.iter_mut().try_for_each(|value| self.read(&mut bytes, value))
    }
}

/// Builds error 1034 (`ER_NOT_KEYFILE`): a temporary file does not hold what was written to it.
pub(crate) fn damaged() -> SqlError {
    SqlError::new(1034, "Incorrect key file for table '#sql-spill'; try to repair it")
}

/// Appends a number with seven bits per byte, the lowest first. The highest bit of a byte says that
/// another one follows.
pub(super) fn write_number(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

pub(super) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut n, mut shift) = (0u64, 0);
    loop {
        let byte = take(bytes, 1)?[0];
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(n);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

/// Appends bytes behind their length.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads what [`write_bytes`] has written. `None` means that the bytes are damaged.
pub(crate) fn read_bytes<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = usize::try_from(read_number(bytes)?).ok()?;
    take(bytes, len)
}

fn take<'b>(bytes: &mut &'b [u8], len: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

fn read_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    take(bytes, N)?.try_into().ok()
}

/// Appends a decimal: one byte with scale and sign, one with the length of the digits in bytes,
/// then the digits as one little-endian number.
fn write_decimal(n: &Decimal, out: &mut Vec<u8>) {
    let (magnitude, scale, negative) = n.parts();
    let bits = magnitude.iter().enumerate().rev().find(|(_, limb)| **limb != 0);
    let len = bits.map_or(0, |(at, limb)| at * 8 + 8 - limb.leading_zeros() as usize / 8);
    out.extend_from_slice(&[scale << 1 | u8::from(negative), len as u8]);
    let bytes = magnitude.iter().flat_map(|limb| limb.to_le_bytes());
    out.extend(bytes.take(len));
}

fn read_decimal(bytes: &mut &[u8]) -> Option<Decimal> {
    let [sign, len] = read_array(bytes)?;
    let mut digits = [0; 32];
    digits.get_mut(..usize::from(len))?.copy_from_slice(take(bytes, usize::from(len))?);
    let mut magnitude = [0; 4];
    for (limb, bytes) in magnitude.iter_mut().zip(digits.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    Decimal::from_parts(magnitude, sign >> 1, sign & 1 == 1)
}

fn write_date(date: &Date, out: &mut Vec<u8>) {
    out.extend_from_slice(&date.year.to_le_bytes());
    out.extend_from_slice(&[date.month, date.day]);
}

fn read_date(bytes: &mut &[u8]) -> Option<Date> {
    let [low, high, month, day] = read_array(bytes)?;
    Some(Date { year: u16::from_le_bytes([low, high]), month, day })
}

fn write_temporal(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Date(date) => {
            out.push(kind::DATE);
            write_date(date, out);
        }
        Value::Time(time) => {
            out.extend_from_slice(&[kind::TIME, u8::from(time.negative), time.minutes, time.seconds]);
            out.extend_from_slice(&time.hours.to_le_bytes());
            write_number(u64::from(time.micros), out);
        }
        Value::DateTime(at) => {
            out.push(kind::DATETIME);
            write_date(&at.date, out);
            out.extend_from_slice(&[at.hour, at.minute, at.second]);
            write_number(u64::from(at.micros), out);
        }
        Value::Timestamp { seconds, micros } => {
            out.push(kind::TIMESTAMP);
            out.extend_from_slice(&seconds.to_le_bytes());
            write_number(u64::from(*micros), out);
        }
        Value::Year(year) => {
            out.push(kind::YEAR);
            out.extend_from_slice(&year.to_le_bytes());
        }
        other => unreachable!("RowCodec::write has the other kinds: {other:?}"),
    }
}

fn read_temporal(temporal: u8, bytes: &mut &[u8]) -> Option<Value> {
    let micros = |bytes: &mut &[u8]| u32::try_from(read_number(bytes)?).ok();
    Some(match temporal {
        kind::DATE => Value::Date(read_date(bytes)?),
        kind::TIME => {
            let [negative, minutes, seconds, low, high] = read_array(bytes)?;
            let hours = u16::from_le_bytes([low, high]);
            Value::Time(Time { negative: negative != 0, hours, minutes, seconds, micros: micros(bytes)? })
        }
        kind::DATETIME => {
            let date = read_date(bytes)?;
            let [hour, minute, second] = read_array(bytes)?;
            Value::DateTime(DateTime { date, hour, minute, second, micros: micros(bytes)? })
        }
        kind::TIMESTAMP => {
            let seconds = i64::from_le_bytes(read_array(bytes)?);
            Value::Timestamp { seconds, micros: micros(bytes)? }
        }
        kind::YEAR => Value::Year(u16::from_le_bytes(read_array(bytes)?)),
        _ => return None,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    /// Returns a value of any kind. `members` is the member list of ENUM and SET values.
    pub fn random_value(rng: &mut Rng, members: &Arc<[String]>) -> Value {
        let bits = rng.u64() >> rng.below(64);
        let bytes = |rng: &mut Rng| -> Vec<u8> { (0..rng.below(300)).map(|_| rng.u64() as u8).collect() };
        match rng.below(17) {
            0 => Value::Null,
            1 => Value::Int(bits as i64),
            2 => Value::Int(!bits as i64),
            3 => Value::UInt(bits),
            4 => Value::Float(f32::from_bits(bits as u32 & 0x7f7f_ffff)),
            5 => Value::Double(f64::from_bits(bits & !(1 << 62))),
            6 => {
                let parts = [bits, rng.u64() >> rng.below(64), rng.u64() * rng.below(2), 0];
                Value::Decimal(Decimal::from_parts(parts, rng.below(39) as u8, false).expect("few bits"))
            }
            7 => Value::Decimal(Decimal::from(bits).negate()),
            8 => Value::Bytes(bytes(rng)),
            9 => Value::Json(bytes(rng)),
            10 => Value::Date(Date { year: bits as u16 % 10_000, month: 12, day: bits as u8 % 32 }),
            11 => Value::Time(Time {
                negative: bits & 1 == 1,
                hours: bits as u16 % 839,
                minutes: 59,
                seconds: bits as u8 % 60,
                micros: bits as u32 % 1_000_000,
            }),
            12 => {
                Value::DateTime(DateTime { hour: 23, micros: bits as u32 % 1_000_000, ..Default::default() })
            }
            13 => Value::Timestamp { seconds: (bits >> 20) as i64, micros: 999_999 },
            14 => Value::Year(bits as u16),
            15 => Value::Bit { bits, width: 64 },
            _ if bits & 1 == 0 => Value::Enum { index: bits as u16, members: members.clone() },
            _ => Value::Set { bits, members: members.clone() },
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let mut rng = Rng::new(test_seed("spill::row rows_come_back"));
        let lists: Vec<Arc<[String]>> =
            vec![Arc::new([]), ["a".into(), "b".into()].into(), ["c".into()].into()];
        let mut codec = RowCodec::default();
        let mut read = vec![Value::Null; 12];
        for _ in 0..20_000 {
            let list = rng.below(3) as usize;
            let row: Vec<Value> = (0..12).map(|_| random_value(&mut rng, &lists[list])).collect();
            let mut bytes = Vec::new();
            codec.write_row(&row, &mut bytes);
            codec.read_row(&bytes, &mut read).unwrap();
            assert_eq!(read, row);
            let cut = rng.below(bytes.len() as u64) as usize;
            assert!(codec.read_row(&bytes[..cut], &mut read).is_err(), "{cut} of {bytes:?}");
        }
        assert_eq!(codec.members.len(), 3);
    }

    #[test]
    fn damaged_bytes_are_an_error_or_a_value() {
        let mut rng = Rng::new(test_seed("spill::row damaged_bytes"));
        let codec = RowCodec { members: vec![["a".into()].into()] };
        for _ in 0..200_000 {
            let bytes: Vec<u8> = (0..rng.below(24)).map(|_| rng.u64() as u8 >> rng.below(8)).collect();
            let mut value = Value::Null;
            let _ = codec.read(&mut &bytes[..], &mut value);
            let _ = value.text_bytes(None);
        }
    }
}
