//! Collations: names and ids, comparison, and sort keys that compare by memcmp.
//!
//! A collation compares by *weights*. PAD SPACE collations compare as if the shorter string were
//! padded with spaces, NO PAD ones (`binary` and the 0900 family) do not. [`write_key`] writes
//! weights so that memcmp of two keys, with anything after them, orders as [`compare`] does.

mod case;
mod charset;
mod encoding;
mod general;
mod key;
mod list;
mod multi;
mod runs;
mod special;
mod tables;
mod tailored;
mod uca;

pub use charset::Charset;
pub use key::{is_key_of_bytes, read_escaped, write_key, write_key_utf8mb4};
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

/// How a collation weighs characters. Whether it pads with spaces is its own flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weighing {
    /// Bytes are weights, NO PAD.
    Bytes,
    /// Bytes are weights, PAD SPACE (UTF-8 bytes order as code points do).
    PaddedBytes,
    /// Code points are weights.
    CodePoints,
    /// One weight a character of Unicode.
    General,
    /// As General, but for some characters: 0 as before MySQL 5.1, 1 lower case.
    GeneralVariant(u8),
    /// One weight a byte: the number of a table.
    Single(u8),
    /// One weight a character of one byte or several: the table of the single bytes.
    Multi(u8),
    /// One weight a byte, the number of a table, and a second one for a few.
    German2(u8),
    /// Thai in one byte: vowels before their consonant, and marks that count last.
    Thai,
    /// Unicode Collation Algorithm, one level.
    UcaPadded(uca::Version),
    /// Unicode Collation Algorithm, NO PAD; how many levels count (1 = accents and case ignored, 2
    /// = accents count, 3 = case counts too).
    Uca { levels: u8 },
    /// As the Unicode Collation Algorithm, with what a language changes.
    Tailored { language: u8, levels: u8 },
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
    /// SORTLEN, as `SHOW COLLATION` has it.
    pub sort_len: u8,
    weighing: Weighing,
    pads: bool,
    case_family: u8,
}

const fn entry(
    id: u16,
    name: &'static str,
    charset: Charset,
    weighing: Weighing,
    sort_len: u8,
    pads: bool,
    case_family: u8,
) -> Collation {
    Collation { id, name, charset, sort_len, weighing, pads, case_family }
}

/// Ids are less than this.
const IDS: usize = 1300;

/// By id: one more than the place in the list, or 0.
static PLACES: [u16; IDS] = {
    let mut places = [0; IDS];
    let mut at = 0;
    while at < list::COLLATIONS.len() {
        places[list::COLLATIONS[at].id as usize] = at as u16 + 1;
        at += 1;
    }
    places
};

/// All collations that columns can have, by id.
pub fn all() -> &'static [Collation] {
    &list::COLLATIONS
}

/// The collation with this id.
#[inline]
pub fn by_id(id: u16) -> Option<&'static Collation> {
    let place = usize::from(*PLACES.get(usize::from(id))?);
    place.checked_sub(1).map(|at| &list::COLLATIONS[at])
}

/// The id of the collation with this name (`utf8_...` is `utf8mb3_...`).
pub fn from_name(name: &str) -> Option<u16> {
    let lower = name.to_ascii_lowercase();
    // MariaDB's name of what MySQL calls croatian.
    let lower = lower.replace("_croatian_mysql561_ci", "_croatian_ci");
    let wanted = match lower.strip_prefix("utf8_") {
        Some(rest) => format!("utf8mb3_{rest}"),
        None => lower,
    };
    all().iter().find(|collation| collation.name == wanted).map(|collation| collation.id)
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
        self.pads
    }
    /// Whether the collation is its character set's default.
    pub fn is_default(&self) -> bool {
        self.charset.default_collation() == self.id
    }
}

static UNKNOWN: Collation = entry(0, "binary", Charset::Binary, Weighing::Bytes, 1, false, 0xff);

/// The collation with this id; bytes for an id that is not known.
#[inline]
fn of(id: u16) -> &'static Collation {
    by_id(id).unwrap_or(&UNKNOWN)
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

/// How many characters a string stored in the collation's character set has.
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

/// What follows the first character; a byte that is none counts as one.
fn after_char(charset: Charset, bytes: &[u8]) -> &[u8] {
    let len = encoding::char_len(charset, bytes).unwrap_or(1).min(bytes.len());
    &bytes[len..]
}

/// Whether every character of a stored string is one of the character set.
pub fn is_well_formed(id: u16, bytes: &[u8]) -> bool {
    let charset = charset_of(id);
    let (mut rest, is_raw) = (bytes, matches!(charset, Charset::Binary));
    while !is_raw && !rest.is_empty() {
        match encoding::char_len(charset, rest) {
            Some(len) if charset != Charset::Ascii || rest[0].is_ascii() => rest = &rest[len..],
            _ => return false,
        }
    }
    true
}

/// A stored string without the spaces at its end.
pub fn without_trailing_spaces(id: u16, bytes: &[u8]) -> &[u8] {
    let space: &[u8] = match charset_of(id) {
        Charset::Ucs2 | Charset::Utf16 => b"\0 ",
        Charset::Utf16le => b" \0",
        Charset::Utf32 => b"\0\0\0 ",
        _ => {
            let len = bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            return &bytes[..len];
        }
    };
    let spaces = bytes.rchunks_exact(space.len()).take_while(|&chunk| chunk == space).count();
    &bytes[..bytes.len() - spaces * space.len()]
}

/// Text in upper case by the collation's rules.
pub fn upper(id: u16, text: &str) -> String {
    case::upper(of(id).case_family, text)
}

/// Text in lower case by the collation's rules.
pub fn lower(id: u16, text: &str) -> String {
    case::lower(of(id).case_family, text)
}

/// Compares two strings stored in the collation's character set.
pub fn compare(id: u16, a: &[u8], b: &[u8]) -> Ordering {
    let collation = of(id);
    if collation.weighs_unicode_of_another_form() {
        return collation.compare(&to_utf8mb4(id, a), &to_utf8mb4(id, b));
    }
    collation.compare(a, b)
}

impl Collation {
    /// Whether code points are weighed, whatever bytes they are stored as.
    fn weighs_unicode(&self) -> bool {
        use Weighing::*;
        matches!(
            self.weighing,
            CodePoints | General | GeneralVariant(_) | UcaPadded(_) | Uca { .. } | Tailored { .. }
        )
    }

    /// Whether strings have to be made UTF-8 before they can be weighed.
    #[inline]
    fn weighs_unicode_of_another_form(&self) -> bool {
        self.weighs_unicode() && !matches!(self.charset, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Compares two strings: UTF-8 where code points are weighed, else as they are stored.
    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.weighing {
            Weighing::Bytes => a.cmp(b),
            Weighing::Uca { levels } => uca::compare(a, b, levels),
            _ if a == b => Ordering::Equal,
            Weighing::CodePoints if !self.pads => a.cmp(b),
            Weighing::PaddedBytes | Weighing::CodePoints => {
                compare_padded(a.iter().copied(), b.iter().copied(), b' ')
            }
            Weighing::UcaPadded(version) => {
                self.order(padded_weights(version, a), padded_weights(version, b), version.space())
            }
            Weighing::Tailored { language, .. } if self.pads => {
                let weigh = |bytes| tailored::padded_weights(language, bytes);
                self.order(weigh(a), weigh(b), tailored::space(language))
            }
            Weighing::Tailored { language, levels } => tailored::compare(language, a, b, levels),
            Weighing::General => self.order(general::weights(a), general::weights(b), SPACE),
            Weighing::GeneralVariant(which) => {
                self.order(general::variant_weights(which, a), general::variant_weights(which, b), SPACE)
            }
            Weighing::Single(table) => {
                let weigh = |bytes| general::single_weights(table, bytes);
                self.order(weigh(a), weigh(b), general::single_space(table))
            }
            Weighing::Multi(table) => {
                let weigh = |bytes| multi::weights(self.charset, table, bytes);
                self.order(weigh(a), weigh(b), SPACE)
            }
            Weighing::German2(table) => {
                self.order(special::german2(table, a), special::german2(table, b), SPACE)
            }
            Weighing::Thai => self.order(special::thai(a).into_iter(), special::thai(b).into_iter(), SPACE),
        }
    }

    #[inline]
    fn order(&self, a: impl Iterator<Item = u32>, b: impl Iterator<Item = u32>, space: u32) -> Ordering {
        if self.pads { compare_padded(a, b, space) } else { a.cmp(b) }
    }
}

/// The weight of a space where it is its code.
const SPACE: u32 = b' ' as u32;

/// Compares two utf8mb4 strings by a collation of any character set. A character that the
/// collation's character set does not have is larger than all it has.
#[inline]
pub fn compare_utf8mb4(id: u16, a: &[u8], b: &[u8]) -> Ordering {
    let collation = of(id);
    if collation.weighs_utf8() {
        // As they are stored; the weighing takes bytes that are no UTF-8.
        return collation.compare(a, b);
    }
    match (from_utf8mb4(id, a), from_utf8mb4(id, b)) {
        (Some(a), Some(b)) => collation.compare(&a, &b),
        _ => compare(UTF8MB4_GENERAL_CI, a, b),
    }
}

impl Collation {
    /// Whether utf8mb4 text can be weighed as it is.
    #[inline]
    fn weighs_utf8(&self) -> bool {
        matches!(self.charset, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary) || self.weighs_unicode()
    }
}

/// A number that orders as [`compare_utf8mb4`] does, as far as it goes: of two strings with
/// different numbers the one with the smaller is the smaller one. `None`: the collation has no such
/// number.
#[inline]
pub fn order_prefix(id: u16, bytes: &[u8]) -> Option<u64> {
    let collation = of(id);
    if !matches!(collation.charset, Charset::Utf8mb4 | Charset::Binary) {
        return None;
    }
    match collation.weighing {
        Weighing::Bytes => Some(first_bytes(bytes, 0)),
        Weighing::PaddedBytes => Some(first_bytes(bytes, b' ')),
        Weighing::Uca { .. } => Some(uca::order_prefix(bytes)),
        _ => None,
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

#[cfg(test)]
mod tests;
