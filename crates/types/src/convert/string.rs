//! The conversion of values for character, binary, ENUM, SET and JSON columns.

use super::context::{Assigned, Context, noted, shown};
use super::number::{truncated, truncated_bits};
use super::problem::Problem;
use crate::collation::{self, Charset};
use crate::escaped::escaped_beginning;
use crate::{ColumnType, TypeCode, Value, json, number};

pub(super) fn to_string(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let text = match value {
        Value::Bytes(bytes) => bytes.clone(),
        // A number is shortened to the column's length, as far as its digits allow.
        Value::Double(n) if ty.code != TypeCode::Blob => {
            let mut text = Vec::new();
            number::write_f64_within(*n, ty.chars() as usize, &mut text);
            text
        }
        // As in MySQL, the bits are a number for a CHAR or a VARCHAR, and bytes for a TEXT or a
        // BLOB.
        Value::Bit { bits, .. } if ty.code != TypeCode::Blob => bits.to_string().into_bytes(),
        _ => value.text_bytes(None).unwrap_or_default(),
    };
    let charset = collation::charset_of(ty.collation);
    if charset != Charset::Binary {
        let (good, bad) = storable_prefix(charset, ty.collation, &text);
        if let Some(bad) = bad {
            let problem = Problem::Incorrect("string", bad);
            let storable = match std::str::from_utf8(&text) {
                Ok(text) => with_question_marks(ty.collation, text),
                Err(_) => text[..good].to_vec(),
            };
            let stored = as_stored(ty, cut(ty, &storable).0.to_vec());
            return context.adjust(Value::Bytes(stored), problem);
        }
    }
    let (kept, lost) = cut(ty, &text);
    if lost.is_empty() {
        return Ok((Value::Bytes(as_stored(ty, text)), None));
    }
    let stored = Value::Bytes(as_stored(ty, kept.to_vec()));
    if charset != Charset::Binary && lost.iter().all(|byte| is_space(*byte)) {
        return match ty.code {
            TypeCode::String => Ok((stored, None)),
            _ => noted(stored, Problem::Truncated),
        };
    }
    if context.strict { Err(Problem::TooLong) } else { context.adjust(stored, Problem::Truncated) }
}

/// Returns the text that reading the column gives: a CHAR loses the spaces at its end, and a BINARY
/// is filled up with zero bytes. Generated columns, constraints and triggers see a row before it is
/// stored, and must not see anything else.
fn as_stored(ty: &ColumnType, mut text: Vec<u8>) -> Vec<u8> {
    match (ty.code, ty.collation) {
        (TypeCode::String, collation::BINARY) => text.resize(usize::from(ty.meta), 0),
        // Bytes that are no characters are those of the stored form, and 0x20 may be half of one.
        (TypeCode::String, _) if text.first() != Some(&collation::NO_CHARACTERS) => {
            text.truncate(without_spaces_behind(&text).len());
        }
        _ => {}
    }
    text
}

/// Reports whether MySQL treats the byte as unimportant when it cuts a text.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Converts a value to a UUID, INET4 or INET6, in the text that the type itself writes.
pub(super) fn to_form(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let Some(form) = ty.text_form() else { return Err(Problem::Unsupported(ty.sql_name())) };
    let text = value.text_bytes(None).unwrap_or_default();
    match form.canonical(&text) {
        Some(text) => Ok((Value::Bytes(text), None)),
        None => {
            let mut zero = Vec::new();
            form.write_text(&[], &mut zero);
            context.adjust(Value::Bytes(zero), Problem::Incorrect(form.sql_name(), shown(value)))
        }
    }
}

/// Splits utf8mb4 text (or bytes) where the column's length ends.
fn cut<'a>(ty: &ColumnType, text: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    // The limit of a TEXT is in bytes of its own character set.
    let is_recoded =
        !matches!(collation::charset_of(ty.collation), Charset::Binary | Charset::Utf8mb3 | Charset::Utf8mb4);
    if text.len() as u64 <= ty.max_bytes() && ty.code == TypeCode::Blob && !is_recoded {
        return (text, &[]);
    }
    let keep = match ty.code {
        TypeCode::Blob if is_recoded => recoded_chars(ty, text),
        TypeCode::Blob => whole_chars(ty.collation, text, ty.max_bytes() as usize),
        _ if ty.collation == collation::BINARY => text.len().min(usize::from(ty.meta)),
        // There are no more bytes than characters that fit, so nothing needs to be counted.
        _ if text.len() <= ty.chars() as usize => text.len(),
        _ => collation::char_prefix(collation::UTF8MB4_BIN, text, ty.chars() as usize).len(),
    };
    text.split_at(keep)
}

/// Returns the length in bytes of the part of the text whose characters fit a TEXT of another
/// character set.
fn recoded_chars(ty: &ColumnType, text: &[u8]) -> usize {
    let stored_len =
        |text: &[u8]| collation::from_utf8mb4(ty.collation, text).map_or(text.len(), |s| s.len());
    if stored_len(text) as u64 <= ty.max_bytes() {
        return text.len();
    }
    let mut room = ty.max_bytes() as usize;
    let mut end = 0;
    while end < text.len() {
        let next = (end + 1..text.len()).find(|&at| text[at] & 0xc0 != 0x80).unwrap_or(text.len());
        let Some(left) = room.checked_sub(stored_len(&text[end..next])) else { break };
        (room, end) = (left, next);
    }
    end
}

/// Returns the largest length of at most `limit` bytes that does not cut a character.
fn whole_chars(id: u16, text: &[u8], limit: usize) -> usize {
    let mut end = limit.min(text.len());
    if id != collation::BINARY {
        while end > 0 && end < text.len() && text[end] & 0xc0 == 0x80 {
            end -= 1;
        }
    }
    end
}

/// Returns the text with a question mark for each character that the character set does not have.
fn with_question_marks(id: u16, text: &str) -> Vec<u8> {
    let mut storable = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let bytes = &text.as_bytes()[at..at + c.len_utf8()];
        match collation::from_utf8mb4(id, bytes) {
            Some(_) => storable.extend_from_slice(bytes),
            None => storable.push(b'?'),
        }
    }
    storable
}

/// Returns how many bytes of the text the character set can store, and the rest as error 1366 shows
/// it.
fn storable_prefix(charset: Charset, id: u16, text: &[u8]) -> (usize, Option<String>) {
    if collation::from_utf8mb4(id, text).is_some() {
        return (text.len(), None);
    }
    let valid = match std::str::from_utf8(text) {
        Ok(_) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let good = if charset == Charset::Utf8mb4 {
        valid
    } else {
        let text = std::str::from_utf8(&text[..valid]).unwrap_or_default();
        text.char_indices()
            .find(|(at, c)| collation::from_utf8mb4(id, &text.as_bytes()[*at..at + c.len_utf8()]).is_none())
            .map_or(valid, |(at, _)| at)
    };
    let bad = match text[good..].split_first() {
        Some((&collation::NO_CHARACTERS, bad)) if !charset.is_stored_as_utf8mb4() => bad,
        _ => &text[good..],
    };
    (good, Some(escaped_beginning(bad)))
}

/// Returns the text of a member without the spaces at its end. Other white space counts.
fn without_spaces_behind(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

pub(super) fn to_enum(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let members = ty.members.clone().unwrap_or_default();
    let index = match value {
        // A wrong value that another ENUM has was complained about when it came there.
        Value::Enum { index: 0, .. } => Some(0),
        _ if is_read_as_text(value) => {
            let text = value.text_bytes(None).unwrap_or_default();
            let text = without_spaces_behind(&text);
            let same = |member: &String| {
                collation::compare_utf8mb4(ty.collation, member.trim_end().as_bytes(), text).is_eq()
            };
            // Members are nearly always written exactly as they were declared. That is quick to
            // check, and there may be many members.
            let exact = members.iter().position(|member| member.as_bytes() == text);
            match exact.or_else(|| members.iter().position(same)) {
                Some(at) => Some(at + 1),
                // A number in quotes that is no member is an index.
                None => whole_number(text, ty)
                    .and_then(|n| usize::try_from(n).ok())
                    .filter(|n| (0..=members.len()).contains(n)),
            }
        }
        _ => usize::try_from(truncated(value)).ok().filter(|&n| n >= 1 && n <= members.len()),
    };
    match index {
        Some(index) => Ok((Value::Enum { index: index as u16, members }, None)),
        None => context.adjust(Value::Enum { index: 0, members }, Problem::Truncated),
    }
}

pub(super) fn to_set(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let members = ty.members.clone().unwrap_or_default();
    let all = if members.len() >= 64 { u64::MAX } else { (1 << members.len()) - 1 };
    let mut lost = false;
    let bits = match value {
        _ if is_read_as_text(value) => {
            let text = value.text_bytes(None).unwrap_or_default();
            let mut bits = 0u64;
            for part in text.split(|&byte| byte == b',').filter(|part| !part.is_empty()) {
                let part = without_spaces_behind(part);
                let same = |member: &String| {
                    collation::compare_utf8mb4(ty.collation, member.as_bytes(), part).is_eq()
                };
                match members.iter().position(same) {
                    Some(at) => bits |= 1 << at,
                    None => lost = true,
                }
            }
            match whole_number(&text, ty) {
                Some(n) if lost && (0..=i128::from(all)).contains(&n) => {
                    lost = false;
                    n as u64
                }
                // MariaDB takes the bits that the column has.
                Some(n) if lost && context.of_mariadb => n as u64 & all,
                _ => bits,
            }
        }
        _ => {
            let n = truncated_bits(value, context);
            lost = n & !all != 0;
            n & all
        }
    };
    let stored = Value::Set { bits, members };
    if lost { context.adjust(stored, Problem::Truncated) } else { Ok((stored, None)) }
}

/// Reports whether an ENUM or a SET looks for the value's text among its members. MySQL and MariaDB
/// do so with moments too, although these can be numbers.
fn is_read_as_text(value: &Value) -> bool {
    matches!(
        value,
        Value::Bytes(_)
            | Value::Enum { .. }
            | Value::Set { .. }
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::Timestamp { .. }
    )
}

/// Reads the number of a member of the type `ty`, which may have white space before it. MySQL and
/// MariaDB find none in a character set in which digits take several bytes.
fn whole_number(text: &[u8], ty: &ColumnType) -> Option<i128> {
    if matches!(
        collation::charset_of(ty.collation),
        Charset::Ucs2 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32
    ) {
        return None;
    }
    let text = text.trim_ascii_start();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let is_number = !digits.is_empty() && digits.len() <= 20 && digits.iter().all(u8::is_ascii_digit);
    let prefix = is_number.then(|| number::integer_prefix(digits)).filter(|prefix| !prefix.overflow)?;
    Some(if negative { -prefix.value } else { prefix.value })
}

pub(super) fn to_json(value: &Value) -> Assigned {
    match value {
        Value::Json(_) => Ok((value.clone(), None)),
        Value::Bytes(text) => match json::parse_text(text) {
            Ok(document) => Ok((Value::Json(document), None)),
            Err(error) => Err(Problem::InvalidJson(error.complaint, error.at)),
        },
        _ => Err(Problem::InvalidJson("not a JSON text, may need CAST", 0)),
    }
}
