//! Keys of ORDER BY as bytes that compare by memcmp as the values are ordered.
//!
//! A key is one part for each expression, and no part is the beginning of another: a byte that says
//! NULL or the kind of the value, and bytes of the kind. The parts of DESC have every bit turned
//! over. An integer has as many bytes as it needs, and says how many in its first byte, so that the
//! first eight bytes of a key, which are compared first, mostly decide.

use crate::error::Result;
use crate::expr::{Context, conform};
use crate::plan::SortKey;
use types::temporal::DateTime;
use types::{TypeCode, Value, Zone, collation};

/// The first bytes of parts, in the order of the kinds. Values of one expression are of one kind
/// ([`conform`]).
mod kind {
    pub const NULL: u8 = 0;
    pub const TEMPORAL: u8 = 0x10;
    pub const TIME: u8 = 0x18;
    pub const DOUBLE: u8 = 0x20;
    pub const DECIMAL: u8 = 0x28;
    pub const TEXT: u8 = 0x30;
    pub const JSON: u8 = 0x38;
    /// Zero. Each byte of a number more is one above it, or, below zero, under it.
    pub const INTEGER: u8 = 0x80;
}

/// Appends the key of a row. False: in it is an array or an object, which are ordered by how many
/// elements they have.
///
/// # Errors
/// Those of the expressions.
pub(super) fn write_keys(
    keys: &[SortKey],
    row: &[Value],
    out: &mut Vec<u8>,
    ctx: &Context<'_>,
) -> Result<bool> {
    let mut is_scalar = true;
    for key in keys {
        let value = conform(key.expr.eval(row, ctx)?, &key.expr.ty, ctx)?;
        // Moments are in order even in an hour that clocks show twice.
        let zone = match key.expr.ty.code {
            TypeCode::Timestamp2 => Zone::UTC,
            _ => ctx.zone(),
        };
        is_scalar &= write_part(&value, key.expr.ty.collation, key.descending, zone, out);
    }
    Ok(is_scalar)
}

/// Appends the part of one value; a TIMESTAMP is what clocks of the zone show.
/// False: it is an array or an object.
pub(super) fn write_part(
    value: &Value,
    collation_id: u16,
    descending: bool,
    zone: Zone,
    out: &mut Vec<u8>,
) -> bool {
    let start = out.len();
    let mut is_scalar = true;
    match value {
        Value::Null => out.push(kind::NULL),
        Value::Int(n) => write_integer(*n < 0, n.unsigned_abs(), out),
        Value::UInt(n) => write_integer(false, *n, out),
        Value::Year(year) => write_integer(false, u64::from(*year), out),
        Value::Bit { bits, .. } | Value::Set { bits, .. } => write_integer(false, *bits, out),
        // ENUM and SET are ordered by their numbers.
        Value::Enum { index, .. } => write_integer(false, u64::from(*index), out),
        Value::Float(n) => write_double(f64::from(*n), out),
        Value::Double(n) => write_double(*n, out),
        Value::Decimal(n) => {
            out.push(kind::DECIMAL);
            n.write_order_key(out);
        }
        Value::Time(time) => {
            out.push(kind::TIME);
            out.extend_from_slice(&((time.to_micros() as u64) ^ 1 << 63).to_be_bytes());
        }
        Value::Date(date) => write_datetime(&DateTime::midnight(*date), out),
        Value::DateTime(at) => write_datetime(at, out),
        Value::Timestamp { .. } => match value.clone().in_zone(zone) {
            Value::DateTime(at) => write_datetime(&at, out),
            other => unreachable!("a TIMESTAMP in a zone is a DATETIME, not {other:?}"),
        },
        Value::Bytes(bytes) => write_text(bytes, collation_id, out),
        Value::Json(document) => {
            out.push(kind::JSON);
            match types::json::read_document(document) {
                Some(node) => is_scalar = node.write_order_key(out),
                None => collation::write_key_utf8mb4(collation::BINARY, document, out),
            }
        }
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    is_scalar
}

fn write_text(bytes: &[u8], collation_id: u16, out: &mut Vec<u8>) {
    out.push(kind::TEXT);
    collation::write_key_utf8mb4(collation_id, bytes, out);
}

fn write_integer(is_negative: bool, magnitude: u64, out: &mut Vec<u8>) {
    let bytes = magnitude.to_be_bytes();
    let unused = magnitude.leading_zeros() as usize / 8;
    let len = (bytes.len() - unused) as u8;
    if is_negative {
        out.push(kind::INTEGER - len);
        out.extend(bytes[unused..].iter().map(|byte| !byte));
    } else {
        out.push(kind::INTEGER + len);
        out.extend_from_slice(&bytes[unused..]);
    }
}

fn write_double(n: f64, out: &mut Vec<u8>) {
    out.push(kind::DOUBLE);
    // -0 equals 0.
    let bits = if n == 0.0 { 0 } else { n.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// The parts of a DATETIME, the largest first, zero parts too.
fn write_datetime(at: &DateTime, out: &mut Vec<u8>) {
    let date = u64::from(at.date.year) << 9 | u64::from(at.date.month) << 5 | u64::from(at.date.day);
    let time = u64::from(at.hour) << 12 | u64::from(at.minute) << 6 | u64::from(at.second);
    let packed = date << 37 | time << 20 | u64::from(at.micros);
    out.push(kind::TEMPORAL);
    // 60 bits: the highest are in the first bytes.
    out.extend_from_slice(&(packed << 4).to_be_bytes());
}
