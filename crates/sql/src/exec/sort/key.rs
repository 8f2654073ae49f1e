//! Sort keys as bytes: comparing two keys by memcmp orders them as their values are ordered.
//!
//! A key consists of one part for each expression of ORDER BY, and no part is a prefix of another.
//! A part is a byte that says NULL or the kind of the value, followed by the bytes of the value.
//! The parts of DESC have all bits inverted. An integer has as many bytes as it needs, and its
//! first byte says how many, so that the first eight bytes of a key, which are compared first,
//! decide in most cases.

use crate::error::Result;
use crate::expr::{Context, conform, group_key};
use crate::plan::SortKey;
use types::temporal::DateTime;
use types::{TypeCode, Value, Zone, collation};

/// The first bytes of the parts, in the order of the kinds. All values of one expression have the
/// same kind, because [`conform`] converts them.
mod kind {
    pub const NULL: u8 = 0;
    pub const TEMPORAL: u8 = 0x10;
    pub const TIME: u8 = 0x18;
    pub const DOUBLE: u8 = 0x20;
    pub const DECIMAL: u8 = 0x28;
    pub const TEXT: u8 = 0x30;
    pub const JSON: u8 = 0x38;
    /// The integer 0. A positive integer of n bytes has this value plus n, a negative one this
    /// value minus n.
    pub const INTEGER: u8 = 0x80;
}

/// Appends the key of a row. Returns false if one of the values is a JSON array or object, which
/// are ordered by their number of elements. With `tells_apart`, those of the same number that are
/// not equal have different keys all the same.
///
/// # Errors
/// Returns the errors of the expressions.
pub(super) fn write_keys(
    (keys, tells_apart): (&[SortKey], bool),
    row: &[Value],
    out: &mut Vec<u8>,
    ctx: &Context<'_>,
) -> Result<bool> {
    let mut is_scalar = true;
    for key in keys {
        let value = conform(key.expr.eval(row, ctx)?, &key.expr.ty, ctx)?;
        // As UTC, moments are in order even in an hour that the clocks of the session's zone
        // show twice.
        let zone = match key.expr.ty.code {
            TypeCode::Timestamp2 => Zone::UTC,
            _ => ctx.zone(),
        };
        let is_ordered = write_part(&value, key.expr.ty.collation, key.descending, zone, out);
        if !is_ordered && tells_apart {
            let mut whole = Vec::new();
            group_key(&value, key.expr.ty.collation, &mut whole);
            out.extend_from_slice(&(whole.len() as u64).to_be_bytes());
            out.extend_from_slice(&whole);
        }
        is_scalar &= is_ordered;
    }
    Ok(is_scalar)
}

/// Appends the part of one value. A TIMESTAMP is ordered by its local time in `zone`. Returns false
/// if the value is a JSON array or object.
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
        // ENUM and SET are ordered by their numbers, not by their texts.
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
    // -0 and 0 are equal and need the same bytes.
    let bits = if n == 0.0 { 0 } else { n.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// Appends a DATETIME as one number: the year in the highest bits, the microseconds in the lowest.
/// Fields that are zero sort first.
fn write_datetime(at: &DateTime, out: &mut Vec<u8>) {
    let date = u64::from(at.date.year) << 9 | u64::from(at.date.month) << 5 | u64::from(at.date.day);
    let time = u64::from(at.hour) << 12 | u64::from(at.minute) << 6 | u64::from(at.second);
    let packed = date << 37 | time << 20 | u64::from(at.micros);
    out.push(kind::TEMPORAL);
    // The number has 60 bits. The shift moves the highest of them into the first byte.
    out.extend_from_slice(&(packed << 4).to_be_bytes());
}
