//! The characters of stored strings, by the collation of their column.

use super::charset::Charset;
use super::lookup::charset_of;
use super::{encoding, transcode};
use std::borrow::Cow;

/// Returns, in utf8mb4, the characters that a column with this collation stores as `bytes`.
pub fn to_utf8mb4(id: u16, bytes: &[u8]) -> Cow<'_, [u8]> {
    transcode::to_utf8mb4(charset_of(id), bytes)
}

/// Returns utf8mb4 characters as a column with this collation stores them. `None` means that a
/// character cannot be stored or that the bytes are not UTF-8 (error 1366).
pub fn from_utf8mb4(id: u16, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    transcode::from_utf8mb4(charset_of(id), bytes)
}

/// Returns utf8mb4 characters for a reader of this collation's character set. A question mark
/// replaces each character that the character set does not have.
pub fn from_utf8mb4_lossy(id: u16, bytes: &[u8]) -> Cow<'_, [u8]> {
    transcode::from_utf8mb4_lossy(charset_of(id), bytes)
}

/// Returns utf8mb4 characters with a question mark for each that the collation's character set does
/// not have.
pub fn with_question_marks(id: u16, bytes: &[u8]) -> Cow<'_, [u8]> {
    let charset = charset_of(id);
    match charset.has_ascii() && bytes.is_ascii() || transcode::from_utf8mb4(charset, bytes).is_some() {
        true => Cow::Borrowed(bytes),
        false => {
            let stored = transcode::from_utf8mb4_lossy(charset, bytes);
            Cow::Owned(transcode::to_utf8mb4(charset, &stored).into_owned())
        }
    }
}

/// The byte that stands before bytes that are no characters of a column's character set, on their
/// way into the column. No text in utf8mb4 has it.
pub const NO_CHARACTERS: u8 = 0xff;

/// Returns, in utf8mb4, the characters that a column with this collation gets when bytes of no
/// character set are stored in it. As in MySQL, zeros fill up a first character that is incomplete.
/// From the first byte on that begins no character, [`NO_CHARACTERS`] and the bytes stand there.
pub fn characters_for_column(id: u16, bytes: &[u8]) -> Vec<u8> {
    let charset = charset_of(id);
    let (first, rest) = bytes.split_at(bytes.len() % usize::from(charset.min_bytes_per_char()));
    let whole = filled_up(charset, first);
    let good = well_formed_len(id, rest);
    let mut characters = transcode::to_utf8mb4(charset, &whole).into_owned();
    let bad = match is_well_formed(id, &whole) {
        true => {
            characters.extend_from_slice(&transcode::to_utf8mb4(charset, &rest[..good]));
            &rest[good..]
        }
        false => {
            characters.clear();
            bytes
        }
    };
    if !bad.is_empty() {
        characters.push(NO_CHARACTERS);
        characters.extend_from_slice(bad);
    }
    characters
}

/// Returns a text on its way into a column with this collation with MariaDB's question mark for
/// each byte that begins no character. `None` if there is no such byte.
pub fn replaced_bytes(id: u16, text: &[u8]) -> Option<Vec<u8>> {
    let good = std::str::from_utf8(text).err()?.valid_up_to();
    let charset = charset_of(id);
    let mut rest = match text[good] {
        NO_CHARACTERS if !charset.is_stored_as_utf8mb4() => &text[good + 1..],
        _ => &text[good..],
    };
    let mut replaced = text[..good].to_vec();
    let incomplete = rest.len() % usize::from(charset.min_bytes_per_char());
    if incomplete > 0 {
        replaced.push(b'?');
        rest = &rest[incomplete..];
    }
    while !rest.is_empty() {
        let good = well_formed_len(id, rest);
        replaced.extend_from_slice(&transcode::to_utf8mb4(charset, &rest[..good]));
        rest = &rest[good..];
        if let Some((_, behind)) = rest.split_first() {
            replaced.push(b'?');
            rest = behind;
        }
    }
    Some(replaced)
}

/// Returns the bytes of one character with zeros in front, so that it is complete.
fn filled_up(charset: Charset, bytes: &[u8]) -> Vec<u8> {
    let unit = usize::from(charset.min_bytes_per_char());
    let missing = bytes.len().next_multiple_of(unit) - bytes.len();
    [&vec![0; missing], bytes].concat()
}

/// Returns the first `chars` characters of a string stored in the collation's character set.
pub fn char_prefix(id: u16, bytes: &[u8], chars: usize) -> &[u8] {
    let charset = charset_of(id);
    match charset {
        Charset::Utf8mb3 | Charset::Utf8mb4 => {
            let mut starts = (0..bytes.len()).filter(|&at| bytes[at] & 0xc0 != 0x80);
            starts.nth(chars).map_or(bytes, |end| &bytes[..end])
        }
        _ if charset.max_bytes_per_char() == 1 => &bytes[..chars.min(bytes.len())],
        _ => {
            let rest = (0..chars).fold(bytes, |rest, _| after_char(charset, rest));
            &bytes[..bytes.len() - rest.len()]
        }
    }
}

/// Returns the number of characters of a string stored in the collation's character set.
pub fn char_count(id: u16, bytes: &[u8]) -> usize {
    let charset = charset_of(id);
    match charset {
        Charset::Utf8mb3 | Charset::Utf8mb4 => bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count(),
        _ if charset.max_bytes_per_char() == 1 => bytes.len(),
        _ => {
            let (mut rest, mut count) = (bytes, 0);
            while !rest.is_empty() {
                rest = after_char(charset, rest);
                count += 1;
            }
            count
        }
    }
}

/// Returns the bytes after the first character. A byte that begins no character counts as one.
fn after_char(charset: Charset, bytes: &[u8]) -> &[u8] {
    let len = encoding::char_len(charset, bytes).unwrap_or(1).min(bytes.len());
    &bytes[len..]
}

/// Reports whether every character of a stored string belongs to the character set.
pub fn is_well_formed(id: u16, bytes: &[u8]) -> bool {
    well_formed_len(id, bytes) == bytes.len()
}

/// Reports whether bytes as long as a character are one.
fn is_character(charset: Charset, bytes: &[u8]) -> bool {
    match (charset, bytes) {
        (Charset::Ascii, bytes) => bytes.is_ascii(),
        (Charset::Utf32, &[a, b, c, d]) => char::from_u32(u32::from_be_bytes([a, b, c, d])).is_some(),
        _ => true,
    }
}

/// Bytes with which a stored string begins that are characters of the character set.
pub fn well_formed_len(id: u16, bytes: &[u8]) -> usize {
    let charset = charset_of(id);
    let (mut rest, is_raw) = (bytes, matches!(charset, Charset::Binary));
    while !is_raw && !rest.is_empty() {
        match encoding::char_len(charset, rest) {
            Some(len) if is_character(charset, &rest[..len]) => rest = &rest[len..],
            _ => return bytes.len() - rest.len(),
        }
    }
    bytes.len()
}

/// Returns a stored string without the spaces at its end.
pub fn without_trailing_spaces(id: u16, bytes: &[u8]) -> &[u8] {
    let space = charset_of(id).space();
    if let [space] = space {
        let len = bytes.iter().rposition(|byte| byte != space).map_or(0, |last| last + 1);
        return &bytes[..len];
    }
    let spaces = bytes.rchunks_exact(space.len()).take_while(|&chunk| chunk == space).count();
    &bytes[..bytes.len() - spaces * space.len()]
}
