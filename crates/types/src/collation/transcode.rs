//! The conversion between the bytes that a column stores and the utf8mb4 that values have in
//! memory.

use super::charset::{Charset, Form};
use super::encoding;
use std::borrow::Cow;

/// Returns the bytes that a column of this character set stores as utf8mb4. Bytes of binary, ascii
/// and the UTF-8 character sets stay as they are. A question mark replaces what is no character, as
/// in MySQL.
pub(super) fn to_utf8mb4(charset: Charset, bytes: &[u8]) -> Cow<'_, [u8]> {
    if matches!(charset.form(), Form::Raw | Form::Utf8) || (charset.has_ascii() && is_ascii(bytes)) {
        return Cow::Borrowed(bytes);
    }
    let (mut rest, mut text) = (bytes, String::with_capacity(bytes.len() * 2));
    while !rest.is_empty() {
        let len = encoding::char_len(charset, rest);
        let (head, tail) = rest.split_at(len.unwrap_or(1));
        text.push(encoding::decode(charset, head).and_then(char::from_u32).unwrap_or('?'));
        rest = tail;
    }
    Cow::Owned(text.into_bytes())
}

/// Returns utf8mb4 text as a column of this character set stores it. `None` means that a character
/// cannot be stored.
pub(super) fn from_utf8mb4(charset: Charset, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    match charset {
        Charset::Binary => Some(Cow::Borrowed(bytes)),
        _ if charset.has_ascii() && is_ascii(bytes) => Some(Cow::Borrowed(bytes)),
        Charset::Ascii => None,
        Charset::Utf8mb3 => {
            let text = std::str::from_utf8(bytes).ok()?;
            text.chars().all(|c| c <= '\u{ffff}').then_some(Cow::Borrowed(bytes))
        }
        Charset::Utf8mb4 => std::str::from_utf8(bytes).ok().map(|_| Cow::Borrowed(bytes)),
        _ => {
            let text = std::str::from_utf8(bytes).ok()?;
            let mut out = Vec::with_capacity(bytes.len());
            text.chars().all(|c| encoding::encode(charset, c, &mut out)).then_some(Cow::Owned(out))
        }
    }
}

/// Reports whether all bytes are ASCII. Texts are mostly ASCII and of some dozen bytes, for which
/// looking at whole words without an early end takes a tenth of the instructions of the standard
/// library's function.
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = bytes.as_chunks::<8>();
    let all = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word));
    // The last word overlaps the one before it, so that no byte is looked at by itself.
    let last = match bytes.last_chunk::<8>() {
        Some(word) => u64::from_ne_bytes(*word),
        None => rest.iter().fold(0, |all, byte| all | u64::from(*byte)),
    };
    (all | last) & HIGHEST == 0
}

/// Returns utf8mb4 text in this character set, with a question mark for each character that the
/// character set does not have.
pub(super) fn from_utf8mb4_lossy(charset: Charset, bytes: &[u8]) -> Cow<'_, [u8]> {
    if matches!(charset, Charset::Binary | Charset::Utf8mb4) || (charset.has_ascii() && is_ascii(bytes)) {
        return Cow::Borrowed(bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Cow::Borrowed(bytes) };
    if charset == Charset::Utf8mb3 && text.chars().all(|c| c <= '\u{ffff}') {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    for c in text.chars() {
        if !encoding::encode(charset, c, &mut out) {
            encoding::encode(charset, '?', &mut out);
        }
    }
    Cow::Owned(out)
}
