//! `WEIGHT_STRING()`: what values are sorted by, as MySQL has it.

use super::{Call, Function};
use crate::error::Result;
use crate::expr::value_type::{bytes_type, is_text, text_collation, text_length};
use crate::expr::{Coercibility, Expr};
use types::json::Node;
use types::{ColumnType, DateTime, TypeCode, Value, collation};

pub(super) const FUNCTIONS: &[Function] = &[Function::new("weight_string", 1..=2, weights_type, weights)];

/// MySQL announces so many bytes a character for Unicode's collations of version 9.0, per level.
fn weights_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = &args[0].ty;
    let per_char = match collation::by_id(ty.collation) {
        Some(collation) if is_text(ty) => u64::from(collation.sort_len),
        _ => 1,
    };
    let bytes =
        u64::from(text_length(ty)) * u64::from(collation::max_bytes_per_char(ty.collation)) * per_char;
    Ok((bytes_type(if is_text(ty) { bytes } else { u64::from(text_length(ty)) }), Coercibility::Literal))
}

fn weights(call: &Call<'_>) -> Result<Value> {
    /// The sign of 64 bits, which makes negative numbers less than others.
    const SIGN: u64 = 1 << 63;
    let ty = &call.args[0].ty;
    let number = match &*call.values[0] {
        Value::Int(n) => *n as u64 ^ SIGN,
        Value::UInt(n) => *n,
        Value::Year(year) => u64::from(*year),
        Value::Bit { bits, .. } => *bits,
        Value::Date(date) => {
            let days = u64::from(date.year) << 9 | u64::from(date.month) << 5 | u64::from(date.day);
            days ^ SIGN
        }
        Value::DateTime(at) => packed(at) ^ SIGN,
        stamp @ Value::Timestamp { .. } => match stamp.clone().in_zone(call.ctx.zone()) {
            Value::DateTime(at) => packed(&at) ^ SIGN,
            _ => return Ok(Value::Null),
        },
        Value::Enum { .. } | Value::Set { .. } => call.bits(0) ^ SIGN,
        Value::Bytes(_) | Value::Json(_) if is_text(ty) || ty.code == TypeCode::Json => {
            return text_weights(call);
        }
        _ => return Ok(Value::Null),
    };
    Ok(Value::Bytes(number.to_be_bytes().to_vec()))
}

/// A point in time as MySQL packs it into 64 bits.
fn packed(at: &DateTime) -> u64 {
    match Node::datetime(at) {
        Node::Opaque(_, bytes) => bytes.try_into().map_or(0, u64::from_le_bytes),
        _ => 0,
    }
}

fn text_weights(call: &Call<'_>) -> Result<Value> {
    /// Bytes that a character has at most: three levels of up to this many weights are rare, and
    /// are charged when they are there.
    const BYTES_PER_CHAR: usize = 3;
    let bytes = call.bytes(0);
    let id = text_collation(&call.args[0].ty);
    let chars = match call.is_given(1) {
        true => Some(usize::try_from(call.integer(1)).unwrap_or(usize::MAX)),
        false => None,
    };
    let most_bytes = chars.unwrap_or(0).max(bytes.len()).saturating_mul(BYTES_PER_CHAR);
    if !call.may_make(most_bytes, call.name)? {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(collation::weight_string(id, &bytes, chars)))
}
