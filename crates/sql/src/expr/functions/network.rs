//! Functions on addresses of the internet protocol (MySQL's manual, "Miscellaneous Functions").

use super::super::node::Node;
use super::{Call, Function, NAMED, ascii_text, integer, text, truth_value, unsigned};
use crate::error::Result;
use crate::expr::text::shown;
use crate::expr::{Coercibility, Expr, is_plain_number};
use std::net::{Ipv4Addr, Ipv6Addr};
use types::{ColumnType, TypeCode, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("inet_aton", 1..=1, unsigned, |call| {
        Ok(or_complaint(call, "string", number_of_address(&call.bytes(0)).map(Value::UInt)))
    }),
    Function::new("inet_ntoa", 1..=1, ascii_text::<31>, |call| {
        let address = u32::try_from(call.integer(0)).ok().map(|bits| text(Ipv4Addr::from(bits).to_string()));
        Ok(or_complaint(call, "integer", address))
    }),
    Function::new("inet6_aton", 1..=1, sixteen_bytes, |call| {
        let shown = call.bytes(0);
        let four = ipv4(&shown).map(|address| address.octets().to_vec());
        let bytes = four.or_else(|| ipv6(&shown).map(|address| address.octets().to_vec()));
        Ok(or_complaint(call, "string", bytes.map(Value::Bytes)))
    }),
    Function::new("inet6_ntoa", 1..=1, ascii_text::<39>, |call| {
        let bytes = call.stored(0);
        // A text is no address, even if it has the length of one.
        let is_binary = call.is_binary(0);
        let shown = match (<[u8; 4]>::try_from(&*bytes), <[u8; 16]>::try_from(&*bytes)) {
            (Ok(four), _) if is_binary => Some(Ipv4Addr::from(four).to_string()),
            (_, Ok(sixteen)) if is_binary => Some(shown_ipv6(Ipv6Addr::from(sixteen))),
            _ => None,
        };
        Ok(or_complaint(call, "string", shown.map(text)))
    }),
    Function::new("is_ipv4", 1..=1, integer::<1>, |call| Ok(is_address(call, |text| ipv4(text).is_some())))
        .null_by_arguments()
        .sees_nulls(),
    Function::new("is_ipv6", 1..=1, integer::<1>, |call| Ok(is_address(call, |text| ipv6(text).is_some())))
        .null_by_arguments()
        .sees_nulls(),
    Function::new("is_ipv4_compat", 1..=1, integer::<1>, |call| {
        Ok(truth_value(sixteen(call).is_some_and(|address| is_compatible(&address))))
    }),
    Function::new("is_ipv4_mapped", 1..=1, integer::<1>, |call| {
        Ok(truth_value(sixteen(call).is_some_and(|address| address.to_ipv4_mapped().is_some())))
    }),
];

/// Reports whether the argument is the text of an address. A number is none, even where it is NULL.
fn is_address(call: &Call<'_>, is_one: impl Fn(&[u8]) -> bool) -> Value {
    let ty = &call.args[0].ty;
    let is_number = is_plain_number(ty) || matches!(ty.code, TypeCode::Year | TypeCode::Bit);
    match call.values[0].is_null() {
        true if is_number => truth_value(false),
        true => Value::Null,
        false => truth_value(is_one(&call.bytes(0))),
    }
}

fn sixteen_bytes(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varbinary(16), Coercibility::Literal))
}

/// Returns the value. Without a value it warns that the argument is none that the function takes,
/// and returns NULL. As in MySQL, the warning names a column and shows another argument's value.
pub(super) fn or_complaint(call: &Call<'_>, kind: &str, value: Option<Value>) -> Value {
    value.unwrap_or_else(|| {
        let shown = match &call.args[0].node {
            Node::Constant(Value::Bytes(_)) => format!("'{}'", call.string(0)),
            Node::Call { function, args } if **function == NAMED => {
                args[1].eval(&[], call.ctx).map_or_else(|_| String::new(), |name| shown(&name))
            }
            _ => call.string(0),
        };
        let name = call.name;
        call.ctx.warn(1411, format!("Incorrect {kind} value: '{shown}' for function {name}"));
        Value::Null
    })
}

/// Returns the number of an address of up to four parts. Where there are fewer parts, the last one
/// is the lowest byte.
fn number_of_address(shown: &[u8]) -> Option<u64> {
    let mut parts: Vec<u64> = Vec::with_capacity(4);
    for part in shown.split(|byte| *byte == b'.') {
        if parts.len() == 4 || !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = part.iter().fold(0u64, |sum, digit| (sum * 10 + u64::from(digit - b'0')).min(256));
        parts.push(Some(number).filter(|number| *number <= 255)?);
    }
    if !shown.last()?.is_ascii_digit() {
        return None;
    }
    let last = parts.pop()?;
    let before = parts.iter().enumerate().map(|(at, part)| part << (24 - 8 * at));
    // The last part is the lowest byte, whatever the number of parts is.
    Some(before.sum::<u64>() + last)
}

/// Reads an address as MySQL does: four numbers of one to three digits.
fn ipv4(shown: &[u8]) -> Option<Ipv4Addr> {
    let mut octets = [0; 4];
    let mut parts = shown.split(|byte| *byte == b'.');
    for octet in &mut octets {
        let part = parts.next().filter(|part| (1..=3).contains(&part.len()))?;
        *octet =
            part.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(part).ok())??.parse().ok()?;
    }
    parts.next().is_none().then_some(octets.into())
}

fn ipv6(shown: &[u8]) -> Option<Ipv6Addr> {
    std::str::from_utf8(shown).ok()?.parse().ok()
}

fn sixteen(call: &Call<'_>) -> Option<Ipv6Addr> {
    let bytes = call.stored(0);
    <[u8; 16]>::try_from(&*bytes).ok().filter(|_| call.is_binary(0)).map(Ipv6Addr::from)
}

/// Reports whether all bytes but the last four are zero, and the last four are an address of more
/// than 16 bits.
fn is_compatible(address: &Ipv6Addr) -> bool {
    let segments = address.segments();
    segments[..6].iter().all(|segment| *segment == 0) && segments[6] != 0
}

/// Shows an address as MySQL does: `::` stands for the longest run of zeros, the first one of
/// several, even where it is a single zero. An address of version 4 at the end is written as one.
fn shown_ipv6(address: Ipv6Addr) -> String {
    let octets = address.octets();
    let four = Ipv4Addr::new(octets[12], octets[13], octets[14], octets[15]);
    if is_compatible(&address) {
        return format!("::{four}");
    }
    if address.to_ipv4_mapped().is_some() {
        return format!("::ffff:{four}");
    }
    let segments = address.segments();
    let (mut best, mut at) = (0..0, 0);
    while at < segments.len() {
        let run = segments[at..].iter().take_while(|segment| **segment == 0).count();
        if run > best.len() {
            best = at..at + run;
        }
        at += run.max(1);
    }
    let joined = |segments: &[u16]| {
        segments.iter().map(|segment| format!("{segment:x}")).collect::<Vec<_>>().join(":")
    };
    match best.is_empty() {
        true => joined(&segments),
        false => format!("{}::{}", joined(&segments[..best.start]), joined(&segments[best.end..])),
    }
}
