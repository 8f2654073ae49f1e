//! Collations: names and ids, comparison, and sort keys that compare by memcmp.
//!
//! A collation compares by *weights*. PAD SPACE collations compare as if the shorter string were
//! padded with spaces, NO PAD ones (`binary` and the 0900 family) do not. [`write_key`] writes
//! weights so that memcmp of two keys, with anything after them, orders as [`compare`] does.

mod charset;
mod general;
mod of_mysql;
mod tables;
mod uca;

pub use charset::Charset;
pub use of_mysql::charset_name_in_mysql;
use std::borrow::Cow;
use std::cmp::Ordering;

/// `binary`
pub const BINARY: u16 = 63;
/// `latin1_swedish_ci`
pub const LATIN1_SWEDISH_CI: u16 = 8;
/// `latin1_bin`
pub const LATIN1_BIN: u16 = 47;
/// `ascii_general_ci`
pub const ASCII_GENERAL_CI: u16 = 11;
/// `ascii_bin`
pub const ASCII_BIN: u16 = 65;
/// `utf8mb3_general_ci`
pub const UTF8MB3_GENERAL_CI: u16 = 33;
/// `utf8mb3_bin`
pub const UTF8MB3_BIN: u16 = 83;
/// `utf8mb4_general_ci`
pub const UTF8MB4_GENERAL_CI: u16 = 45;
/// `utf8mb4_bin`
pub const UTF8MB4_BIN: u16 = 46;
/// `utf8mb4_0900_ai_ci`, the server's default
pub const UTF8MB4_0900_AI_CI: u16 = 255;
/// `utf8mb4_0900_as_ci`
pub const UTF8MB4_0900_AS_CI: u16 = 305;
/// `utf8mb4_0900_as_cs`
pub const UTF8MB4_0900_AS_CS: u16 = 278;
/// `utf8mb4_0900_bin`
pub const UTF8MB4_0900_BIN: u16 = 309;

/// How a collation weighs characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weighing {
    /// Bytes are weights, NO PAD.
    Bytes,
    /// Bytes are weights, PAD SPACE (UTF-8 bytes order as code points do).
    PaddedBytes,
    /// One weight a character, PAD SPACE.
    General(Charset),
    /// Unicode Collation Algorithm, one level, PAD SPACE.
    UcaPadded(uca::Version),
    /// Unicode Collation Algorithm, NO PAD; how many levels count (1 = accents and case ignored, 2
    /// = accents count, 3 = case counts too).
    Uca { levels: u8 },
}

/// A collation.
#[derive(Debug)]
pub struct Collation {
    /// MySQL's id.
    pub id: u16,
    /// MySQL's name.
    pub name: &'static str,
    /// Its character set.
    pub charset: Charset,
    weighing: Weighing,
}

const fn entry(id: u16, name: &'static str, charset: Charset, weighing: Weighing) -> Collation {
    Collation { id, name, charset, weighing }
}

/// All collations, by id.
static COLLATIONS: [Collation; 16] = [
    entry(LATIN1_SWEDISH_CI, "latin1_swedish_ci", Charset::Latin1, Weighing::General(Charset::Latin1)),
    entry(ASCII_GENERAL_CI, "ascii_general_ci", Charset::Ascii, Weighing::General(Charset::Ascii)),
    entry(UTF8MB3_GENERAL_CI, "utf8mb3_general_ci", Charset::Utf8mb3, Weighing::General(Charset::Utf8mb3)),
    entry(UTF8MB4_GENERAL_CI, "utf8mb4_general_ci", Charset::Utf8mb4, Weighing::General(Charset::Utf8mb4)),
    entry(UTF8MB4_BIN, "utf8mb4_bin", Charset::Utf8mb4, Weighing::PaddedBytes),
    entry(LATIN1_BIN, "latin1_bin", Charset::Latin1, Weighing::PaddedBytes),
    entry(BINARY, "binary", Charset::Binary, Weighing::Bytes),
    entry(ASCII_BIN, "ascii_bin", Charset::Ascii, Weighing::PaddedBytes),
    entry(UTF8MB3_BIN, "utf8mb3_bin", Charset::Utf8mb3, Weighing::PaddedBytes),
    entry(192, "utf8mb3_unicode_ci", Charset::Utf8mb3, Weighing::UcaPadded(uca::Version::V400)),
    entry(224, "utf8mb4_unicode_ci", Charset::Utf8mb4, Weighing::UcaPadded(uca::Version::V400)),
    entry(246, "utf8mb4_unicode_520_ci", Charset::Utf8mb4, Weighing::UcaPadded(uca::Version::V520)),
    entry(UTF8MB4_0900_AI_CI, "utf8mb4_0900_ai_ci", Charset::Utf8mb4, Weighing::Uca { levels: 1 }),
    entry(UTF8MB4_0900_AS_CS, "utf8mb4_0900_as_cs", Charset::Utf8mb4, Weighing::Uca { levels: 3 }),
    entry(UTF8MB4_0900_AS_CI, "utf8mb4_0900_as_ci", Charset::Utf8mb4, Weighing::Uca { levels: 2 }),
    entry(UTF8MB4_0900_BIN, "utf8mb4_0900_bin", Charset::Utf8mb4, Weighing::Bytes),
];

/// All collations that columns can have, by id.
pub fn all() -> &'static [Collation] {
    &COLLATIONS
}

/// The collation with this id.
pub fn by_id(id: u16) -> Option<&'static Collation> {
    COLLATIONS.iter().find(|collation| collation.id == id)
}

/// The id of the collation with this name (`utf8_...` is `utf8mb3_...`).
pub fn from_name(name: &str) -> Option<u16> {
    let lower = name.to_ascii_lowercase();
    let wanted = match lower.strip_prefix("utf8_") {
        Some(rest) => format!("utf8mb3_{rest}"),
        None => lower,
    };
    COLLATIONS.iter().find(|collation| collation.name == wanted).map(|collation| collation.id)
}

/// The collation's name; `binary` for an id that is not known.
pub fn name(id: u16) -> &'static str {
    by_id(id).map_or("binary", |collation| collation.name)
}

/// The character set of a collation; an id that is not known is handled as bytes.
pub fn charset_of(id: u16) -> Charset {
    if id == UTF8MB4_0900_AI_CI {
        return Charset::Utf8mb4;
    }
    by_id(id).map_or(Charset::Binary, |collation| collation.charset)
}

/// Bytes of the longest character in the collation's character set.
pub fn max_bytes_per_char(id: u16) -> u8 {
    charset_of(id).max_bytes_per_char()
}

impl Collation {
    /// Whether the shorter string compares as if padded with spaces.
    pub fn pads_space(&self) -> bool {
        matches!(self.weighing, Weighing::PaddedBytes | Weighing::General(_) | Weighing::UcaPadded(_))
    }
    /// Whether the collation is its character set's default.
    pub fn is_default(&self) -> bool {
        self.charset.default_collation() == self.id
    }
}

fn weighing_of(id: u16) -> Weighing {
    match id {
        UTF8MB4_0900_AI_CI => Weighing::Uca { levels: 1 },
        _ => by_id(id).map_or(Weighing::Bytes, |collation| collation.weighing),
    }
}

/// Characters as a column with this collation stores them, in utf8mb4.
pub fn to_utf8mb4(id: u16, bytes: &[u8]) -> Cow<'_, [u8]> {
    charset::to_utf8mb4(charset_of(id), bytes)
}

/// utf8mb4 characters as a column with this collation stores them; None if one cannot be stored or
/// the bytes are no UTF-8 (error 1366).
pub fn from_utf8mb4(id: u16, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    charset::from_utf8mb4(charset_of(id), bytes)
}

/// utf8mb4 characters for a reader of this collation's character set: a question mark stands for
/// each that it does not have.
pub fn from_utf8mb4_lossy(id: u16, bytes: &[u8]) -> Cow<'_, [u8]> {
    charset::from_utf8mb4_lossy(charset_of(id), bytes)
}

/// The first `chars` characters of a string stored in the collation's character set.
pub fn char_prefix(id: u16, bytes: &[u8], chars: usize) -> &[u8] {
    match charset_of(id) {
        Charset::Utf8mb3 | Charset::Utf8mb4 => {
            let mut starts = (0..bytes.len()).filter(|&at| bytes[at] & 0xc0 != 0x80);
            starts.nth(chars).map_or(bytes, |end| &bytes[..end])
        }
        _ => &bytes[..chars.min(bytes.len())],
    }
}

/// How many characters a string stored in the collation's character set has.
pub fn char_count(id: u16, bytes: &[u8]) -> usize {
    match charset_of(id) {
        Charset::Utf8mb3 | Charset::Utf8mb4 => bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count(),
        _ => bytes.len(),
    }
}

/// Compares two strings stored in the collation's character set.
pub fn compare(id: u16, a: &[u8], b: &[u8]) -> Ordering {
    match weighing_of(id) {
        Weighing::Bytes => a.cmp(b),
        Weighing::PaddedBytes => compare_padded(a.iter().copied(), b.iter().copied(), b' '),
        Weighing::General(charset) => {
            if a == b {
                return Ordering::Equal;
            }
            compare_padded(general::weights(charset, a), general::weights(charset, b), u32::from(b' '))
        }
        Weighing::UcaPadded(version) => {
            compare_padded(padded_weights(version, a), padded_weights(version, b), version.space())
        }
        Weighing::Uca { levels } => uca::compare(a, b, levels),
    }
}

/// Compares two utf8mb4 strings by a collation of any character set. A character that the
/// collation's character set does not have is larger than all it has.
#[inline]
pub fn compare_utf8mb4(id: u16, a: &[u8], b: &[u8]) -> Ordering {
    if matches!(charset_of(id), Charset::Utf8mb4 | Charset::Binary) {
        // As they are stored; the weighing takes bytes that are no UTF-8.
        return compare(id, a, b);
    }
    match (from_utf8mb4(id, a), from_utf8mb4(id, b)) {
        (Some(a), Some(b)) => compare(id, &a, &b),
        _ => compare(UTF8MB4_GENERAL_CI, a, b),
    }
}

/// A number that orders as [`compare_utf8mb4`] does, as far as it goes: of two strings with
/// different numbers the one with the smaller is the smaller one. `None`: the collation has no such
/// number.
#[inline]
pub fn order_prefix(id: u16, bytes: &[u8]) -> Option<u64> {
    if !matches!(charset_of(id), Charset::Utf8mb4 | Charset::Binary) {
        return None;
    }
    match weighing_of(id) {
        Weighing::Bytes => Some(first_bytes(bytes, 0)),
        Weighing::PaddedBytes => Some(first_bytes(bytes, b' ')),
        Weighing::Uca { .. } => Some(uca::order_prefix(bytes)),
        Weighing::General(_) | Weighing::UcaPadded(_) => None,
    }
}

/// The first eight bytes, filled up with `pad`.
fn first_bytes(bytes: &[u8], pad: u8) -> u64 {
    let mut first = [pad; 8];
    let len = bytes.len().min(first.len());
    first[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(first)
}

fn padded_weights(version: uca::Version, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    uca::level_weights(version, bytes, 0).map(u32::from)
}

fn compare_padded<W: Ord + Copy>(
    mut a: impl Iterator<Item = W>,
    mut b: impl Iterator<Item = W>,
    space: W,
) -> Ordering {
    loop {
        let (left, right) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (left, right) => (left.unwrap_or(space), right.unwrap_or(space)),
        };
        if left != right {
            return left.cmp(&right);
        }
    }
}

/// Appends the key of a string stored in the collation's character set: order-preserving and
/// prefix-free. See `docs/formats/key.md`.
pub fn write_key(id: u16, bytes: &[u8], out: &mut Vec<u8>) {
    match weighing_of(id) {
        Weighing::Bytes => write_escaped(bytes, out),
        Weighing::PaddedBytes => write_padded_bytes(bytes, out),
        Weighing::General(charset) => {
            general::write_key(general::weights(charset, bytes), u32::from(b' '), out)
        }
        Weighing::UcaPadded(version) => {
            general::write_key(padded_weights(version, bytes), version.space(), out)
        }
        Weighing::Uca { levels } => uca::write_key(bytes, levels, out),
    }
}

/// Whether a string's key has its bytes, all of them: then [`read_escaped`] gives them back.
pub fn is_key_of_bytes(id: u16) -> bool {
    matches!(weighing_of(id), Weighing::Bytes)
}

/// Appends the string whose key of bytes is at the start of `key`, and returns the key's length;
/// `None`: it does not end.
pub fn read_escaped(key: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let run = key[at..].iter().position(|&byte| byte == 0)?;
        out.extend_from_slice(&key[at..at + run]);
        at += run + 2;
        match key.get(at - 1)? {
            0 => return Some(at),
            _ => out.push(0),
        }
    }
}

/// NO PAD bytes: 00 becomes 00 FF, and 00 00 ends the string.
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == 0) {
        out.extend_from_slice(&rest[..=at]);
        out.push(0xff);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

/// After a space's weight: the first weight after the run of spaces is below a space, there is none
/// (the end), or it is above. So a string that ends compares as one that goes on with spaces.
pub(crate) const SPACES_THEN_LESS: u8 = 1;
pub(crate) const SPACES_THEN_END: u8 = 2;
pub(crate) const SPACES_THEN_MORE: u8 = 3;

fn write_padded_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let end = bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
    let bytes = &bytes[..end];
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().position(|&byte| byte == b' ').unwrap_or(bytes.len() - at);
        out.extend_from_slice(&bytes[at..at + run]);
        at += run;
        let spaces = bytes[at..].iter().take_while(|&&byte| byte == b' ').count();
        if spaces > 0 {
            let next = bytes[at + spaces]; // trailing spaces are cut off, so there is one
            let marker = if next < b' ' { SPACES_THEN_LESS } else { SPACES_THEN_MORE };
            (0..spaces).for_each(|_| out.extend_from_slice(&[b' ', marker]));
            at += spaces;
        }
    }
    out.extend_from_slice(&[b' ', SPACES_THEN_END]);
}

#[cfg(test)]
mod tests;
