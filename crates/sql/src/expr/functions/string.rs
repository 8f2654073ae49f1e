//! Functions on texts.

use super::super::infer::{aggregate_collations, not_convertible};
use super::super::value_type::{is_text, text_length, text_type};
use super::field::field;
use super::text_lengths::{
    end_of_first, formatted, inserted, joined_by_first, longest_behind_first, padded, part_of_first, quoted,
    repeated, replaced, set_behind_first, spaces,
};
use super::{Call, Function, bigint, integer, joined, like_first, old_system_text, text};
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Context, Expr, Node, Number};
use crate::locale::{self, Locale};
use crate::memory::{Charge, growth};
use types::{ColumnType, Value, collation};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("ascii", 1..=1, integer::<4>, |call| {
        Ok(Value::Int(i64::from(call.stored(0).first().copied().unwrap_or(0))))
    })
    .null_by_arguments(),
    Function::new("ord", 1..=1, bigint, |call| {
        let bytes = call.stored(0);
        let ty = &call.args[0].ty;
        let id = if is_text(ty) { ty.collation } else { collation::UTF8MB4_BIN };
        let first = collation::char_prefix(id, &bytes, 1);
        Ok(Value::Int(first.iter().fold(0, |code, byte| (code << 8) | i64::from(*byte))))
    })
    .null_by_arguments(),
    Function::new("bit_length", 1..=1, integer::<11>, |call| Ok(Value::Int(call.stored(0).len() as i64 * 8)))
        .null_by_arguments(),
    Function::new("length", 1..=1, integer::<11>, |call| Ok(Value::Int(call.stored(0).len() as i64)))
        .null_by_arguments(),
    Function::new("char_length", 1..=1, integer::<11>, |call| {
        let bytes = call.bytes(0);
        Ok(Value::Int(if call.is_binary(0) { bytes.len() } else { chars(&bytes) } as i64))
    })
    .null_by_arguments(),
    Function::new("concat", 1..=usize::MAX, joined, |call| {
        let parts: Vec<_> = (0..call.values.len()).map(|at| call.bytes(at)).collect();
        let total = parts.iter().map(|part| part.len()).sum();
        made(call.may_make(total, "concat")?, || parts.concat())
    }),
    Function::new("concat_ws", 2..=usize::MAX, joined_by_first, concat_ws).sees_nulls(),
    Function::new("substring", 2..=3, part_of_first, substring),
    Function::new("left", 2..=2, end_of_first, |call| {
        let bytes = call.bytes(0);
        call.copied(slice(&bytes, 0, call.integer(1).max(0) as usize, call.is_binary(0)))
    }),
    Function::new("right", 2..=2, end_of_first, |call| {
        let bytes = call.bytes(0);
        let binary = call.is_binary(0);
        let total = if binary { bytes.len() } else { chars(&bytes) };
        let count = (call.integer(1).max(0) as usize).min(total);
        call.copied(slice(&bytes, total - count, count, binary))
    }),
    Function::new("upper", 1..=1, like_first, |call| change_case(call, collation::upper)),
    Function::new("lower", 1..=1, like_first, |call| change_case(call, collation::lower)),
    Function::new("ltrim", 1..=1, like_first, |call| {
        let bytes = call.bytes(0);
        let start = bytes.iter().take_while(|b| **b == b' ').count();
        call.copied(&bytes[start..])
    }),
    Function::new("rtrim", 1..=1, like_first, |call| {
        let bytes = call.bytes(0);
        let end = bytes.len() - bytes.iter().rev().take_while(|b| **b == b' ').count();
        call.copied(&bytes[..end])
    }),
    Function::new("lpad", 3..=3, padded, |call| pad(call, true)),
    Function::new("rpad", 3..=3, padded, |call| pad(call, false)),
    Function::new("repeat", 2..=2, repeated, |call| {
        let count = call.integer(1).max(0) as usize;
        let bytes = call.bytes(0);
        made(call.may_make(bytes.len().saturating_mul(count), "repeat")?, || bytes.repeat(count))
    }),
    Function::new("space", 1..=1, spaces, |call| {
        let count = call.integer(0).max(0) as usize;
        made(call.may_make(count, "space")?, || vec![b' '; count])
    }),
    Function::new("replace", 3..=3, replaced, replace),
    Function::new("insert", 4..=4, inserted, insert),
    Function::new("reverse", 1..=1, like_first, |call| {
        let bytes = call.bytes(0);
        call.check_room(bytes.len())?;
        if call.is_binary(0) {
            return Ok(Value::Bytes(bytes.iter().rev().copied().collect()));
        }
        let chars = String::from_utf8_lossy(&bytes);
        let mut reversed = String::with_capacity(chars.len());
        reversed.extend(chars.chars().rev());
        Ok(Value::Bytes(reversed.into_bytes()))
    }),
    Function::new("locate", 2..=3, integer::<11>, |call| locate(call, 0, 1)).null_by_arguments(),
    Function::new("instr", 2..=2, integer::<11>, |call| locate(call, 1, 0)).null_by_arguments(),
    Function::new("strcmp", 2..=2, integer::<2>, |call| {
        let id = super::super::comparison_collation("strcmp", call.args.iter())?;
        Ok(Value::Int(collation::compare_utf8mb4(id, &call.bytes(0), &call.bytes(1)) as i64))
    })
    .null_by_arguments(),
    Function::new("substring_index", 3..=3, like_first, substring_index),
    Function::new("elt", 2..=usize::MAX, longest_behind_first, |_| {
        unreachable!("binding makes a CASE of ELT, which computes one text only")
    }),
    Function::new("export_set", 3..=5, joined_bits, export_set),
    Function::new("make_set", 2..=usize::MAX, set_behind_first, |call| {
        if call.values[0].is_null() {
            return Ok(Value::Null);
        }
        let bits = call.bits(0);
        let is_asked = |at: &usize| *at <= 64 && bits >> (at - 1) & 1 == 1;
        let given = (1..call.values.len()).filter(is_asked).filter(|at| !call.values[*at].is_null());
        let parts: Vec<_> = given.map(|at| call.bytes(at)).collect();
        let total = parts.iter().fold(0usize, |total, part| total.saturating_add(part.len() + 1));
        call.check_room(total)?;
        Ok(Value::Bytes(parts.join(&b',')))
    })
    .sees_nulls(),
    Function::new("field", 2..=usize::MAX, integer::<11>, field).sees_nulls().never_null(),
    Function::new("find_in_set", 2..=2, integer::<11>, find_in_set).null_by_arguments(),
    Function::new("quote", 1..=1, quoted, |call| {
        if call.values[0].is_null() {
            return Ok(text("NULL"));
        }
        let bytes = call.bytes(0);
        let escaped = bytes.iter().filter(|byte| matches!(byte, b'\'' | b'\\' | 0 | 0x1a)).count();
        if !call.may_make(bytes.len() + escaped + 2, "quote")? {
            return Ok(Value::Null);
        }
        let mut out = vec![b'\''];
        for byte in bytes.iter() {
            match byte {
                b'\'' | b'\\' => out.extend([b'\\', *byte]),
                0 => out.extend(b"\\0"),
                0x1a => out.extend(b"\\Z"),
                other => out.push(*other),
            }
        }
        out.push(b'\'');
        Ok(Value::Bytes(out))
    })
    .sees_nulls(),
    Function::new("format", 2..=3, formatted, format_number).sees_nulls(),
    Function::new("charset", 1..=1, old_system_text::<64>, |call| {
        Ok(text(collation::charset_of(text_collation(call)).name()))
    })
    .sees_nulls(),
    Function::new("collation", 1..=1, old_system_text::<64>, |call| {
        Ok(text(collation::name(text_collation(call))))
    })
    .sees_nulls(),
    Function::new("coercibility", 1..=1, integer::<10>, |call| {
        Ok(Value::Int(call.args[0].coercibility as i64))
    })
    .never_null()
    .sees_nulls(),
];

/// Returns the collation of the argument. As in MySQL, that of a column with documents is `binary`,
/// and that of a document which an expression makes is that of texts.
fn text_collation(call: &Call<'_>) -> u16 {
    match &call.args[0] {
        Expr { node: Node::Slot(_) | Node::Outer(_), ty, .. } => ty.collation,
        made if made.is_json() => collation::UTF8MB4_BIN,
        made => made.ty.collation,
    }
}

/// Returns the number of characters of a utf8mb4 text. A byte that is part of no character counts
/// as one.
pub(super) fn chars(bytes: &[u8]) -> usize {
    collation::char_count(collation::UTF8MB4_BIN, bytes)
}

fn prefix(bytes: &[u8], count: usize) -> &[u8] {
    collation::char_prefix(collation::UTF8MB4_BIN, bytes, count)
}

/// Returns `count` characters (bytes of a binary text) from the one at `start`, counted from 0.
fn slice(bytes: &[u8], start: usize, count: usize, binary: bool) -> &[u8] {
    if binary {
        let start = start.min(bytes.len());
        return &bytes[start..start.saturating_add(count).min(bytes.len())];
    }
    let rest = &bytes[prefix(bytes, start).len()..];
    prefix(rest, count)
}

/// Returns the text, or NULL when it may not be made.
pub(super) fn made(may_be: bool, make: impl FnOnce() -> Vec<u8>) -> Result<Value> {
    Ok(if may_be { Value::Bytes(make()) } else { Value::Null })
}

fn change_case(call: &Call<'_>, change: fn(u16, &str) -> String) -> Result<Value> {
    let bytes = call.bytes(0);
    // A letter's other case may be longer, and old and new text are both there while the text
    // moves.
    call.check_room(bytes.len().saturating_mul(2))?;
    match (call.is_binary(0), std::str::from_utf8(&bytes)) {
        (false, Ok(valid)) => {
            let ty = &call.args[0].ty;
            let id = if ty.is_character() { ty.collation } else { collation::UTF8MB4_0900_AI_CI };
            Ok(Value::Bytes(change(id, valid).into_bytes()))
        }
        _ => Ok(text(&bytes)),
    }
}

fn concat_ws(call: &Call<'_>) -> Result<Value> {
    if call.values[0].is_null() {
        return Ok(Value::Null);
    }
    let separator = call.bytes(0);
    let given = (1..call.values.len()).filter(|at| !call.values[*at].is_null());
    let parts: Vec<_> = given.map(|at| call.bytes(at)).collect();
    let separators = separator.len().saturating_mul(parts.len().saturating_sub(1));
    let total = parts.iter().fold(separators, |total, part| total.saturating_add(part.len()));
    made(call.may_make(total, "concat_ws")?, || parts.join(&*separator))
}

/// Returns the type of a text with 64 copies of the longer of two texts, and separators between
/// them.
fn joined_bits(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let chars = |at: usize| args.get(at).map_or(1, |arg| text_length(&arg.ty));
    let (id, coercibility) = aggregate_collations(args[1..args.len().min(4)].iter())?;
    let chars = chars(1).max(chars(2)).saturating_mul(64).saturating_add(chars(3).saturating_mul(63));
    Ok((text_type(chars, id), coercibility))
}

/// Computes `EXPORT_SET(bits, on, off)`: one text for each bit, the lowest bit first.
fn export_set(call: &Call<'_>) -> Result<Value> {
    const BITS: usize = 64;
    let (bits, on, off) = (call.bits(0), call.bytes(1), call.bytes(2));
    let separator = if call.is_given(3) { call.bytes(3) } else { std::borrow::Cow::Borrowed(&b","[..]) };
    let count = if call.is_given(4) { usize::try_from(call.integer(4)).unwrap_or(BITS) } else { BITS };
    let count = count.min(BITS);
    let total = (on.len().max(off.len()) + separator.len()).saturating_mul(count);
    made(call.may_make(total, "export_set")?, || {
        let parts: Vec<&[u8]> = (0..count).map(|at| if bits >> at & 1 == 1 { &*on } else { &*off }).collect();
        parts.join(&*separator)
    })
}

fn substring(call: &Call<'_>) -> Result<Value> {
    let bytes = call.bytes(0);
    let binary = call.is_binary(0);
    let total = if binary { bytes.len() } else { chars(&bytes) } as i64;
    let position = call.integer(1);
    let start = match position {
        0 => return Ok(text("")),
        1.. => position - 1,
        _ => total + position,
    };
    let count = if call.is_given(2) { call.integer(2) } else { i64::MAX };
    if start < 0 || start >= total || count <= 0 {
        return Ok(text(""));
    }
    call.copied(slice(&bytes, start as usize, count as usize, binary))
}

fn pad(call: &Call<'_>, left: bool) -> Result<Value> {
    let (bytes, fill) = (call.bytes(0), call.bytes(2));
    let binary = call.is_binary(0);
    let wanted = call.integer(1);
    let Ok(wanted) = usize::try_from(wanted) else { return Ok(Value::Null) };
    let count = |bytes: &[u8]| if binary { bytes.len() } else { chars(bytes) };
    let have = count(&bytes);
    if wanted <= have {
        return call.copied(slice(&bytes, 0, wanted, binary));
    }
    if fill.is_empty() {
        return call.copied(&bytes);
    }
    let most_bytes = wanted.saturating_mul(if binary { 1 } else { 4 });
    if !call.may_make(most_bytes, if left { "lpad" } else { "rpad" })? {
        return Ok(Value::Null);
    }
    let missing = wanted - have;
    let times = missing / count(&fill) + 1;
    let filled = fill.repeat(times);
    let filler = slice(&filled, 0, missing, binary);
    Ok(Value::Bytes(if left { [filler, &bytes].concat() } else { [&bytes, filler].concat() }))
}

fn find(haystack: &[u8], needle: &[u8], ctx: &Context<'_>) -> Result<Option<usize>> {
    /// The most bytes that are compared between two checks for an interrupt.
    const UNASKED_BYTES: usize = 1 << 20;
    if needle.is_empty() {
        return Ok(Some(0));
    }
    let windows = (UNASKED_BYTES / needle.len()).max(1);
    let last = haystack.len().saturating_sub(needle.len() - 1);
    for start in (0..last).step_by(windows) {
        ctx.check_interrupt()?;
        let end = (start + windows).min(last) + needle.len() - 1;
        if let Some(at) = haystack[start..end].windows(needle.len()).position(|window| window == needle) {
            return Ok(Some(start + at));
        }
    }
    Ok(None)
}

fn replace(call: &Call<'_>) -> Result<Value> {
    let (bytes, from, to) = (call.bytes(0), call.bytes(1), call.bytes(2));
    if from.is_empty() {
        return call.copied(&bytes);
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut charge = Charge::new(call.ctx.memory);
    let mut rest: &[u8] = &bytes;
    while let Some(at) = find(rest, &from, call.ctx)? {
        growth::push(&mut parts, &rest[..at], &mut charge)?;
        rest = &rest[at + from.len()..];
    }
    let total = bytes.len() - parts.len() * from.len();
    let total = total.saturating_add(parts.len().saturating_mul(to.len()));
    growth::push(&mut parts, rest, &mut charge)?;
    made(call.may_make(total, "replace")?, || parts.join(&*to))
}

fn insert(call: &Call<'_>) -> Result<Value> {
    let (bytes, with) = (call.bytes(0), call.bytes(3));
    let binary = call.is_binary(0);
    let total = if binary { bytes.len() } else { chars(&bytes) } as i64;
    let (position, length) = (call.integer(1), call.integer(2));
    if position < 1 || position > total {
        return call.copied(&bytes);
    }
    let start = (position - 1) as usize;
    let rest = total - position + 1;
    let length = if length < 0 || length > rest { rest } else { length } as usize;
    let head = slice(&bytes, 0, start, binary);
    let tail = slice(&bytes, start + length, usize::MAX, binary);
    let total = head.len() + with.len() + tail.len();
    made(call.may_make(total, "insert")?, || [head, &with, tail].concat())
}

/// Returns the position of the argument `needle` in the argument `haystack`, in characters from 1,
/// or 0 when it is not there. The collation of the haystack says what is equal.
///
/// # Errors
/// Returns 3854 when the needle is a binary string and the haystack is not, and the needle's bytes
/// are no characters.
fn locate(call: &Call<'_>, needle: usize, haystack: usize) -> Result<Value> {
    let is_binary = call.is_binary(haystack);
    let (needle_bytes, haystack_bytes) = (call.bytes(needle), call.bytes(haystack));
    if !is_binary && call.is_binary(needle) && std::str::from_utf8(&needle_bytes).is_err() {
        return Err(not_convertible(&needle_bytes, "binary", "utf8mb4"));
    }
    let start = if call.is_given(2) { call.integer(2) } else { 1 };
    let Some(skipped) = start.checked_sub(1).and_then(|skipped| usize::try_from(skipped).ok()) else {
        return Ok(Value::Int(0));
    };
    let found = match is_binary {
        true if skipped > haystack_bytes.len() => None,
        true => find(&haystack_bytes[skipped..], &needle_bytes, call.ctx)?.map(|at| skipped + at),
        false => {
            let collation = match call.args[haystack].ty.collation {
                // A number's text has no collation of its own.
                collation::BINARY => collation::UTF8MB4_0900_AI_CI,
                collation => collation,
            };
            let mut go_on = || call.ctx.check_interrupt();
            collation::locate_utf8mb4(collation, &haystack_bytes, &needle_bytes, skipped, &mut go_on)?
        }
    };
    Ok(Value::Int(found.map_or(0, |at| at as i64 + 1)))
}

/// FIND_IN_SET of a constant text in a column of the type SET. As in MySQL, it is the text's
/// position among the members of the type.
pub(crate) static FIND_AMONG_MEMBERS: Function = Function::new("find_in_set", 2..=2, integer::<11>, |call| {
    let found = find_in_set(call)?;
    let members = call.args[1].ty.members.as_deref().unwrap_or_default();
    let id = super::super::comparison_collation("find_in_set", call.args.iter())?;
    let needle = call.bytes(0);
    let is_it = |member: &String| collation::compare_utf8mb4(id, &needle, member.as_bytes()).is_eq();
    match members.iter().position(is_it) {
        Some(at) if found != Value::Int(0) => Ok(Value::Int(at as i64 + 1)),
        _ => Ok(found),
    }
})
.null_by_arguments();

fn find_in_set(call: &Call<'_>) -> Result<Value> {
    let id = super::super::comparison_collation("find_in_set", call.args.iter())?;
    let (needle, set) = (call.bytes(0), call.bytes(1));
    if set.is_empty() {
        return Ok(Value::Int(0));
    }
    let same = |member: &&[u8]| collation::compare_utf8mb4(id, &needle, member).is_eq();
    let position = set.split(|b| *b == b',').position(|member| same(&member));
    Ok(Value::Int(position.map_or(0, |at| at as i64 + 1)))
}

fn substring_index(call: &Call<'_>) -> Result<Value> {
    let (bytes, delimiter) = (call.bytes(0), call.bytes(1));
    let count = call.integer(2);
    if delimiter.is_empty() || count == 0 {
        return Ok(text(""));
    }
    let (mut places, mut charge) = (Vec::new(), Charge::new(call.ctx.memory));
    let mut from = 0;
    while let Some(at) = find(&bytes[from..], &delimiter, call.ctx)? {
        growth::push(&mut places, from + at, &mut charge)?;
        from += at + delimiter.len();
    }
    let wanted = count.unsigned_abs() as usize;
    if wanted > places.len() {
        return call.copied(&bytes);
    }
    call.copied(if count > 0 {
        &bytes[..places[wanted - 1]]
    } else {
        &bytes[places[places.len() - wanted] + delimiter.len()..]
    })
}

/// Computes `FORMAT(1234.5, 2)`, which is `1,234.50`, or `1.234,50` with the locale `de_DE`.
fn format_number(call: &Call<'_>) -> Result<Value> {
    if call.values[..2].iter().any(|value| value.is_null()) {
        return Ok(Value::Null);
    }
    let decimals = match &*call.values[1] {
        // As in MySQL, the upper half of BIGINT UNSIGNED is negative here.
        Value::UInt(n) if i64::try_from(*n).is_err() => 0,
        _ => call.integer(1).clamp(0, 30) as u8,
    };
    let number = call.number(0);
    let exact = super::super::decimal_of(&number);
    let rounded = exact.with_scale(decimals).ok_or_else(|| SqlError::out_of_range("DECIMAL", "format"))?;
    let shown = rounded.to_string();
    let locale = if call.is_given(2) { locale_of(call) } else { locale::english() };
    // A floating-point zero has a sign, and a decimal has none.
    let is_negative = shown.starts_with('-') || matches!(number, Number::Double(n) if n.is_sign_negative());
    let (sign, digits) = (if is_negative { "-" } else { "" }, shown.trim_start_matches('-'));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        let left = whole.len() - at;
        let ends_group =
            if locale.has_pairs { left == 3 || left > 3 && left % 2 == 1 } else { left % 3 == 0 };
        if let (Some(separator), true) = (locale.separator, at > 0 && ends_group) {
            out.push(separator);
        }
        out.push(digit);
    }
    if decimals > 0 {
        out.push_str(locale.decimal_sign);
        out.push_str(fraction);
    }
    Ok(text(out))
}

/// Returns the locale that the third argument names, or `en_US` with a warning where it names none.
fn locale_of(call: &Call<'_>) -> &'static Locale {
    let name = if call.values[2].is_null() { "NULL".to_owned() } else { call.string(2) };
    locale::named(&name).unwrap_or_else(|| {
        call.ctx.warn(1649, format!("Unknown locale: '{name}'"));
        locale::english()
    })
}
