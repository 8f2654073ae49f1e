//! `WEIGHT_STRING()`, which returns the bytes that MySQL sorts a value by.

use super::{Call, Function};
use crate::error::Result;
use crate::expr::value_type::{bytes_type, is_text, text_collation, text_length};
use crate::expr::{Coercibility, Expr};
use types::json::Node;
use types::{ColumnType, TypeCode, Value, collation};

pub(super) const FUNCTIONS: &[Function] = &[Function::new("weight_string", 1..=2, weights_type, weights)];

/// Returns the type that MySQL announces. For texts its length is a multiple of eight bytes.
fn weights_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = &args[0].ty;
    let chars = u64::from(text_length(ty));
    let bytes = match is_text(ty) {
        true => (chars * bytes_per_char(text_collation(ty))).next_multiple_of(8),
        false => chars,
    };
    let coercibility = if is_text(ty) { args[0].coercibility } else { Coercibility::Literal };
    Ok((bytes_type(bytes), coercibility))
}

/// Returns the most bytes that the weights of one character take in MySQL's count.
fn bytes_per_char(id: u16) -> u64 {
    let name = collation::name(id);
    let is_unicode = collation::charset_of(id).is_unicode();
    match () {
        _ if !is_unicode || name.ends_with("0900_bin") => u64::from(collation::max_bytes_per_char(id)),
        _ if name.ends_with("_bin") => 3,
        _ if name.contains("general") => 2,
        _ if name.contains("0900") && name.contains("as_cs") => 192,
        _ if name.contains("0900") && name.contains("as_ci") => 128,
        _ if name.contains("0900") => 64,
        _ => 16,
    }
}

fn weights(call: &Call<'_>) -> Result<Value> {
    /// The sign bit. Flipping it makes negative numbers sort before others.
    const SIGN: u64 = 1 << 63;
    /// The packed time 00:00:00.
    const TIME_ZERO: u64 = 1 << 47;
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
        Value::DateTime(at) => packed(Node::datetime(at)) ^ SIGN,
        stamp @ Value::Timestamp { .. } => match stamp.clone().in_zone(call.ctx.zone()) {
            Value::DateTime(at) => packed(Node::datetime(&at)) ^ SIGN,
            _ => return Ok(Value::Null),
        },
        Value::Time(time) => {
            // MySQL reads the bytes of a negative time as a number that is smaller by one.
            let packed = packed(Node::time(time)).wrapping_sub(u64::from(time.negative));
            packed.wrapping_add(TIME_ZERO) ^ SIGN
        }
        Value::Enum { .. } | Value::Set { .. } => call.bits(0) ^ SIGN,
        Value::Bytes(_) | Value::Json(_) if is_text(ty) || ty.code == TypeCode::Json => {
            return text_weights(call);
        }
        _ => return Ok(Value::Null),
    };
    Ok(Value::Bytes(number.to_be_bytes().to_vec()))
}

/// Returns the 64 bits that MySQL packs a point in time or a time into.
fn packed(node: Node) -> u64 {
    match node {
        Node::Opaque(_, bytes) => bytes.try_into().map_or(0, u64::from_le_bytes),
        _ => 0,
    }
}

fn text_weights(call: &Call<'_>) -> Result<Value> {
    let bytes = call.bytes(0);
    let id = text_collation(&call.args[0].ty);
    let chars = match call.is_given(1) {
        true => Some(usize::try_from(call.integer(1)).unwrap_or(usize::MAX)),
        false => None,
    };
    // Each character has at least one byte of weights. The real number shows when they are made.
    let least_bytes = chars.unwrap_or(0).max(bytes.len());
    if !call.may_make(least_bytes, call.name)? {
        return Ok(Value::Null);
    }
    let most_bytes = call.ctx.variables.max_allowed_packet;
    let Some(weights) = collation::weight_string(id, &bytes, chars, most_bytes) else {
        call.may_make(usize::MAX, call.name)?;
        return Ok(Value::Null);
    };
    Ok(Value::Bytes(weights))
}
