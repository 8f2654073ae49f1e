//! Functions for digests, hexadecimal digits, base 64 and UUIDs.

use super::super::{Coercibility, Number, number};
use super::network::or_complaint;
use super::string::made;
use super::text_lengths::{base64_digits, bytes_of_base64, bytes_of_digits, digits_of_sha2, hex_digits};
use super::{Call, Function, ascii_text, integer, md5, old_system_text, text, unsigned_integer};
use crate::base64::{DIGITS, decode_four};
use crate::error::Result;
use sha1::Digest;
use types::{ColumnType, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("crc32", 1..=1, unsigned_integer::<10>, |call| {
        Ok(Value::UInt(u64::from(crc32fast::hash(&call.stored(0)))))
    })
    .null_by_arguments(),
    Function::new("md5", 1..=1, ascii_text::<32>, |call| Ok(hex(&md5::md5(&call.stored(0)), false))),
    Function::new("sha1", 1..=1, ascii_text::<40>, |call| {
        Ok(hex(&sha1::Sha1::digest(&*call.stored(0)), false))
    }),
    Function::new("sha2", 2..=2, digits_of_sha2, |call| {
        let bytes = call.stored(0);
        Ok(match call.integer(1) {
            0 | 256 => hex(&sha2::Sha256::digest(&*bytes), false),
            224 => hex(&sha2::Sha224::digest(&*bytes), false),
            384 => hex(&sha2::Sha384::digest(&*bytes), false),
            512 => hex(&sha2::Sha512::digest(&*bytes), false),
            _ => Value::Null,
        })
    }),
    Function::new("hex", 1..=1, hex_digits, |call| {
        call.check_room(2 * call.bytes(0).len())?;
        Ok(match &*call.values[0] {
            Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } | Value::Json(_) => {
                hex(&call.stored(0), true)
            }
            Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp { .. } => {
                hex(&call.bytes(0), true)
            }
            Value::Bit { bits, .. } => text(format!("{bits:X}")),
            other => match number(other) {
                Number::UInt(n) => text(format!("{n:X}")),
                _ => text(format!("{:X}", call.integer(0))),
            },
        })
    }),
    Function::new("unhex", 1..=1, bytes_of_digits, |call| {
        let digits = call.bytes(0);
        let value = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
        let padded = if digits.len() % 2 == 1 { [b"0", &*digits].concat() } else { digits.to_vec() };
        let pairs = padded.chunks_exact(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?));
        Ok(or_complaint(call, "string", pairs.collect::<Option<Vec<u8>>>().map(Value::Bytes)))
    }),
    Function::new("to_base64", 1..=1, base64_digits, |call| {
        let bytes = call.stored(0);
        let digits = bytes.len().div_ceil(3).saturating_mul(4);
        // A line break follows every 76 digits except the last ones.
        let total = digits + digits.saturating_sub(1) / 76;
        made(call.may_make(total, "to_base64")?, || to_base64(&bytes))
    }),
    Function::new("from_base64", 1..=1, bytes_of_base64, |call| {
        Ok(from_base64(&call.bytes(0)).map_or(Value::Null, Value::Bytes))
    }),
    Function::new(
        "random_bytes",
        1..=1,
        |_| Ok((ColumnType::varbinary(1024), Coercibility::Literal)),
        |call| {
            if call.values[0].is_null() {
                return Ok(Value::Null);
            }
            let length = call.integer(0);
            if !(1..=1024).contains(&length) {
                return Err(crate::SqlError::out_of_range("length", "random_bytes"));
            }
            let mut bytes = vec![0; length as usize];
            os::random::fill(&mut bytes);
            Ok(Value::Bytes(bytes))
        },
    )
    .varies(),
    Function::new("uuid", 0..=0, old_system_text::<36>, |_| Ok(uuid())).varies(),
    Function::new("is_uuid", 1..=1, integer::<1>, |call| {
        let plain: Vec<u8> =
            call.bytes(0).iter().copied().filter(|b| !matches!(b, b'-' | b'{' | b'}')).collect();
        Ok(super::truth_value(plain.len() == 32 && plain.iter().all(u8::is_ascii_hexdigit)))
    }),
    Function::new(
        "uuid_to_bin",
        1..=2,
        |_| Ok((ColumnType::varbinary(16), Coercibility::Literal)),
        uuid_to_bin,
    ),
    Function::new("bin_to_uuid", 1..=2, ascii_text::<36>, bin_to_uuid),
];

fn hex(bytes: &[u8], upper: bool) -> Value {
    let digits: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    Value::Bytes(
        bytes.iter().flat_map(|b| [digits[usize::from(b >> 4)], digits[usize::from(b & 15)]]).collect(),
    )
}

fn dashed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend_from_slice(format!("{byte:02x}").as_bytes());
    }
    out
}

/// Makes a UUID of version 1 as MySQL does: the time in units of 100 ns since 1582, and a random
/// node with its multicast bit set (RFC 4122).
fn uuid() -> Value {
    const GREGORIAN_TO_UNIX_100NS: u64 = 0x01b2_1dd2_1381_4000;
    let random = os::random::u64().to_le_bytes();
    let ticks = os::clock::now_us() * 10 + u64::from(random[0] % 10) + GREGORIAN_TO_UNIX_100NS;
    let mut bytes = [0u8; 16];
    bytes[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&(((ticks >> 48) as u16 & 0x0fff) | 0x1000).to_be_bytes());
    bytes[8..].copy_from_slice(&random);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    bytes[10] |= 1;
    Value::Bytes(dashed(&bytes))
}

/// Reports whether the second argument asks to swap the time parts. Without the argument they are
/// not swapped.
fn swaps(call: &Call<'_>) -> bool {
    call.is_given(1) && call.integer(1) != 0
}

fn uuid_to_bin(call: &Call<'_>) -> Result<Value> {
    let shown = call.string(0);
    let digits: Vec<u8> = shown.bytes().filter(|b| !matches!(b, b'-' | b'{' | b'}')).collect();
    let invalid =
        || crate::SqlError::new(1411, format!("Incorrect string value: '{shown}' for function uuid_to_bin"));
    if digits.len() != 32 {
        return Err(invalid());
    }
    let mut bytes = Vec::with_capacity(16);
    for pair in digits.chunks_exact(2) {
        let pair = std::str::from_utf8(pair).map_err(|_| invalid())?;
        bytes.push(u8::from_str_radix(pair, 16).map_err(|_| invalid())?);
    }
    if swaps(call) {
        bytes = [&bytes[6..8], &bytes[4..6], &bytes[..4], &bytes[8..]].concat();
    }
    Ok(Value::Bytes(bytes))
}

fn bin_to_uuid(call: &Call<'_>) -> Result<Value> {
    let bytes = call.bytes(0);
    if bytes.len() != 16 {
        let shown = call.string(0);
        return Err(crate::SqlError::new(
            1411,
            format!("Incorrect string value: '{shown}' for function bin_to_uuid"),
        ));
    }
    let bytes = if swaps(call) {
        [&bytes[4..8], &bytes[2..4], &bytes[..2], &bytes[8..]].concat()
    } else {
        bytes.to_vec()
    };
    Ok(Value::Bytes(dashed(&bytes)))
}

/// Encodes bytes in base 64. As in MySQL, a line break follows every 76 characters except the last
/// ones.
fn to_base64(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut line = 0;
    for chunk in bytes.chunks(3) {
        if line == 76 {
            out.push(b'\n');
            line = 0;
        }
        let bits =
            chunk.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { digit } else { b'=' });
        }
        line += 4;
    }
    out
}

fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::new();
    for four in digits.chunks_exact(4) {
        decode_four([four[0], four[1], four[2], four[3]], &mut out)?;
    }
    Some(out)
}
