//! Character sets: between what a column stores and the utf8mb4 that values have in memory.

use std::borrow::Cow;

/// A character set of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Bytes without meaning.
    Binary,
    /// One byte a character, 7 bits.
    Ascii,
    /// MySQL's latin1, which is Windows code page 1252 with the five holes mapped to C1 controls.
    Latin1,
    /// UTF-8 up to three bytes.
    Utf8mb3,
    /// UTF-8.
    Utf8mb4,
}

impl Charset {
    /// MySQL's name.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Binary => "binary",
            Charset::Ascii => "ascii",
            Charset::Latin1 => "latin1",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Utf8mb4 => "utf8mb4",
        }
    }

    /// The character set with this name (`utf8` is utf8mb3).
    pub fn from_name(name: &str) -> Option<Charset> {
        Some(match name.to_ascii_lowercase().as_str() {
            "binary" => Charset::Binary,
            "ascii" => Charset::Ascii,
            "latin1" => Charset::Latin1,
            "utf8" | "utf8mb3" => Charset::Utf8mb3,
            "utf8mb4" => Charset::Utf8mb4,
            _ => return None,
        })
    }

    /// Bytes of the longest character.
    pub fn max_bytes_per_char(self) -> u8 {
        match self {
            Charset::Binary | Charset::Ascii | Charset::Latin1 => 1,
            Charset::Utf8mb3 => 3,
            Charset::Utf8mb4 => 4,
        }
    }

    /// The collation a column has when only the character set is named.
    pub fn default_collation(self) -> u16 {
        match self {
            Charset::Binary => super::BINARY,
            Charset::Ascii => super::ASCII_GENERAL_CI,
            Charset::Latin1 => super::LATIN1_SWEDISH_CI,
            Charset::Utf8mb3 => super::UTF8MB3_GENERAL_CI,
            Charset::Utf8mb4 => super::UTF8MB4_0900_AI_CI,
        }
    }

    /// The `_bin` collation.
    pub fn bin_collation(self) -> u16 {
        match self {
            Charset::Binary => super::BINARY,
            Charset::Ascii => super::ASCII_BIN,
            Charset::Latin1 => super::LATIN1_BIN,
            Charset::Utf8mb3 => super::UTF8MB3_BIN,
            Charset::Utf8mb4 => super::UTF8MB4_BIN,
        }
    }
}

/// Code page 1252's bytes 0x80..=0x9f.
const LATIN1_HIGH_CONTROLS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The character of a latin1 byte.
pub(super) fn latin1_to_char(byte: u8) -> char {
    match byte {
        0x80..=0x9f => LATIN1_HIGH_CONTROLS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// The latin1 byte of a character, if there is one.
pub(super) fn char_to_latin1(c: char) -> Option<u8> {
    match c as u32 {
        n @ (0..=0x7f | 0xa0..=0xff) => Some(n as u8),
        _ => LATIN1_HIGH_CONTROLS.iter().position(|&high| high == c).map(|at| 0x80 + at as u8),
    }
}

/// What a column of this character set stores, as utf8mb4 (bytes as they are for binary and for
/// what is already UTF-8).
pub(super) fn to_utf8mb4(charset: Charset, bytes: &[u8]) -> Cow<'_, [u8]> {
    match charset {
        Charset::Latin1 if !bytes.is_ascii() => {
            Cow::Owned(bytes.iter().map(|&byte| latin1_to_char(byte)).collect::<String>().into_bytes())
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// utf8mb4 as a column of this character set stores it; None if a character cannot be stored.
pub(super) fn from_utf8mb4(charset: Charset, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    match charset {
        _ if bytes.is_ascii() => Some(Cow::Borrowed(bytes)),
        Charset::Binary => Some(Cow::Borrowed(bytes)),
        Charset::Ascii => None,
        Charset::Latin1 => std::str::from_utf8(bytes)
            .ok()?
            .chars()
            .map(char_to_latin1)
            .collect::<Option<Vec<u8>>>()
            .map(Cow::Owned),
        Charset::Utf8mb3 => {
            let text = std::str::from_utf8(bytes).ok()?;
            text.chars().all(|c| c <= '\u{ffff}').then_some(Cow::Borrowed(bytes))
        }
        Charset::Utf8mb4 => std::str::from_utf8(bytes).ok().map(|_| Cow::Borrowed(bytes)),
    }
}

/// utf8mb4 as text of this character set, with a question mark for each character that it does not
/// have.
pub(super) fn from_utf8mb4_lossy(charset: Charset, bytes: &[u8]) -> Cow<'_, [u8]> {
    let byte_of: fn(char) -> Option<u8> = match charset {
        _ if bytes.is_ascii() => return Cow::Borrowed(bytes),
        Charset::Latin1 => char_to_latin1,
        Charset::Ascii => |c| c.is_ascii().then_some(c as u8),
        _ => return Cow::Borrowed(bytes),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Owned(text.chars().map(|c| byte_of(c).unwrap_or(b'?')).collect()),
        Err(_) => Cow::Borrowed(bytes),
    }
}
