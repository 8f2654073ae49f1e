//! Sort keys as bytes: comparing two keys by memcmp orders them as their values are ordered.
//!
//! A key consists of one part for each expression of ORDER BY, and no part is a prefix of another.
//! A part is a byte that says NULL or the kind of the value, followed by the bytes of the value.
//! The parts of DESC have all bits inverted. An integer has as many bytes as it needs, and its
//! first byte says how many, so that the first eight bytes of a key, which are compared first,
//! decide in most cases.
//!
//! A key of a long text may be cut short, because its first characters decide in most cases and to
//! weigh all of them takes most of the time of a sort. The key then has only the first weights of
//! the text, and the text itself follows as the key's tail, with the parts behind it. Keys that are
//! equal so far are compared by their tails ([`KeyOrder::compare`]).

use crate::error::Result;
use crate::expr::{Context, conform, group_key};
use crate::plan::SortKey;
use std::borrow::Cow;
use std::cmp::Ordering;
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

/// A sort key, whole or cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key<'k> {
    /// The bytes that are compared first. They are all of a key that is not cut short.
    pub start: &'k [u8],
    /// Of a key that is cut short, the length of the text that was cut, in 4 bytes, the text, and
    /// the parts behind it. It is empty for a whole key.
    pub tail: &'k [u8],
}

impl<'k> Key<'k> {
    /// Returns the text that was cut and the parts behind it. A tail from a damaged file may be
    /// shorter than it says.
    fn text_and_rest(&self) -> (&'k [u8], &'k [u8]) {
        let Some((len, behind)) = self.tail.split_first_chunk() else { return (&[], self.tail) };
        behind.split_at_checked(u32::from_le_bytes(*len) as usize).unwrap_or((behind, &[]))
    }
}

/// How many bytes of what [`KeyOrder::write_rest`] writes are the same for all keys with one start:
/// the kind, and the weights that the start has.
pub(super) const EQUAL_REST_BYTES: usize = 1 + collation::KEY_START_BYTES;

/// The memory of a key that is made again and again.
#[derive(Debug, Default, Clone)]
pub(super) struct KeyBuffer {
    start: Vec<u8>,
    tail: Vec<u8>,
}

impl KeyBuffer {
    pub fn key(&self) -> Key<'_> {
        Key { start: &self.start, tail: &self.tail }
    }

    pub fn of(key: Key<'_>) -> KeyBuffer {
        KeyBuffer { start: key.start.to_vec(), tail: key.tail.to_vec() }
    }
}

/// How keys are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyOrder {
    /// The part that may be cut short: its number, its collation, and whether it is descending. It
    /// is the same one in all keys of a sort, so that keys with equal starts were cut at one place.
    cut: Option<(usize, u16, bool)>,
}

impl KeyOrder {
    /// Returns the order of the keys of `keys`.
    pub fn of(keys: &[SortKey]) -> KeyOrder {
        let may_be_cut = |key: &SortKey| {
            let ty = &key.expr.ty;
            (ty.is_character() || ty.is_blob()) && collation::has_key_starts(ty.collation)
        };
        let part = keys.iter().position(may_be_cut);
        KeyOrder { cut: part.map(|part| (part, keys[part].expr.ty.collation, keys[part].descending)) }
    }

    /// Compares two keys.
    #[inline]
    pub fn compare(self, a: Key<'_>, b: Key<'_>) -> Ordering {
        match a.start.cmp(b.start) {
            Ordering::Equal if !a.tail.is_empty() || !b.tail.is_empty() => self.compare_tails(a, b),
            ordering => ordering,
        }
    }

    #[cold]
    fn compare_tails(self, a: Key<'_>, b: Key<'_>) -> Ordering {
        let Some((_, collation_id, descending)) = self.cut else { return a.tail.cmp(b.tail) };
        let ((a_text, a_rest), (b_text, b_rest)) = (a.text_and_rest(), b.text_and_rest());
        let texts = collation::compare_utf8mb4(collation_id, a_text, b_text);
        let texts = if descending { texts.reverse() } else { texts };
        texts.then_with(|| a_rest.cmp(b_rest))
    }

    /// Appends what follows the start of a key that is cut short, so that these bytes compare as
    /// keys with the same start do.
    pub fn write_rest(self, key: Key<'_>, out: &mut Vec<u8>) {
        let Some((_, collation_id, descending)) = self.cut else { return };
        let ((text, rest), start) = (key.text_and_rest(), out.len());
        write_text(text, collation_id, out);
        if descending {
            invert(&mut out[start..]);
        }
        out.extend_from_slice(rest);
    }
}

/// Returns the order of keys of a text alone, and the key of such a text.
#[cfg(test)]
pub(super) fn key_of_text(text: &[u8], collation_id: u16, descending: bool) -> (KeyOrder, KeyBuffer) {
    let mut key = KeyBuffer::default();
    if write_start(text, (collation_id, descending), &mut key.start) {
        key.tail.extend_from_slice(&(text.len() as u32).to_le_bytes());
        key.tail.extend_from_slice(text);
    } else {
        let value = Value::Bytes(text.to_vec());
        write_part(&value, collation_id, descending, Zone::UTC, &mut key.start);
    }
    (KeyOrder { cut: Some((0, collation_id, descending)) }, key)
}

/// Sets `out` to the key of a row. Returns false if one of the values is a JSON array or object,
/// which are ordered by their number of elements. With `tells_apart`, those of the same number that
/// are not equal have different keys all the same.
///
/// # Errors
/// Returns the errors of the expressions.
pub(super) fn write_keys(
    (keys, order, tells_apart): (&[SortKey], KeyOrder, bool),
    row: &[Value],
    out: &mut KeyBuffer,
    ctx: &Context<'_>,
) -> Result<bool> {
    let KeyBuffer { start, tail } = out;
    start.clear();
    tail.clear();
    let mut is_scalar = true;
    for (part, key) in keys.iter().enumerate() {
        let value = match key.expr.column_as(row, &key.expr.ty) {
            Some(value) => Cow::Borrowed(value),
            None => conform(key.expr.eval(row, ctx)?, &key.expr.ty, ctx)?,
        };
        if order.cut.is_some_and(|(cut, ..)| cut == part)
            && let Value::Bytes(text) = &*value
            && write_start(text, (key.expr.ty.collation, key.descending), start)
        {
            tail.extend_from_slice(&(text.len() as u32).to_le_bytes());
            tail.extend_from_slice(text);
            continue;
        }
        let out = if tail.is_empty() { &mut *start } else { &mut *tail };
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

/// Does what [`write_keys`] does for a row whose only key is this text, if the key may be cut
/// short. Returns false if not; `out` is undefined then.
pub(super) fn write_only_text(order: KeyOrder, text: &[u8], out: &mut KeyBuffer) -> bool {
    let KeyBuffer { start, tail } = out;
    start.clear();
    tail.clear();
    let Some((0, collation_id, descending)) = order.cut else { return false };
    if !write_start(text, (collation_id, descending), start) {
        return false;
    }
    tail.reserve(4 + text.len());
    tail.extend_from_slice(&(text.len() as u32).to_le_bytes());
    tail.extend_from_slice(text);
    true
}

/// The most bytes that [`write_cut_text`] appends beside the text.
pub(super) const MOST_CUT_BYTES: usize = EQUAL_REST_BYTES + 4;

/// Appends the key that [`write_only_text`] makes, its start and its tail, and returns the length
/// of the start. `None` means that the key is not of this kind, and that nothing was appended.
#[inline]
pub(super) fn write_cut_text(order: KeyOrder, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let Some((0, collation_id, descending)) = order.cut else { return None };
    let at = out.len();
    if !write_start(text, (collation_id, descending), out) {
        return None;
    }
    let start_len = out.len() - at;
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
    Some(start_len)
}

/// Appends the part of a text, cut short. Returns false, and appends nothing, if the text is too
/// short for that, or so long that its length does not fit a tail.
fn write_start(text: &[u8], (collation_id, descending): (u16, bool), out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.push(kind::TEXT);
    let is_cut = u32::try_from(text.len()).is_ok() && collation::write_key_start(collation_id, text, out);
    if !is_cut {
        out.truncate(start);
    } else if descending {
        invert(&mut out[start..]);
    }
    is_cut
}

/// Turns the order of a part round.
fn invert(part: &mut [u8]) {
    part.iter_mut().for_each(|byte| *byte = !*byte);
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
        invert(&mut out[start..]);
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
