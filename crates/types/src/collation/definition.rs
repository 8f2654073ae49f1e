//! What a collation is: its character set, and how it weighs characters.

use super::charset::Charset;
use super::version::Version;

/// How a collation weighs characters. Whether it pads with spaces is its own flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weighing {
    /// Bytes are weights, NO PAD.
    Bytes,
    /// Bytes are weights, PAD SPACE (UTF-8 bytes order as code points do).
    PaddedBytes,
    /// Code points are weights.
    CodePoints,
    /// One weight a character of Unicode.
    General,
    /// One weight a character of Unicode, other ones for some: 0 as before MySQL 5.1, 1 lower case.
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
    UcaPadded(Version),
    /// Unicode Collation Algorithm, NO PAD; how many levels count (1 = accents and case ignored, 2
    /// = accents count, 3 = case counts too).
    Uca { levels: u8 },
    /// Unicode Collation Algorithm, with what a language changes.
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
    pub(super) weighing: Weighing,
    pub(super) pads: bool,
    pub(super) case_family: u8,
}

/// A line of the list of collations.
pub(super) const fn entry(
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

impl Collation {
    /// Whether the shorter string compares as if padded with spaces.
    pub fn pads_space(&self) -> bool {
        self.pads
    }
    /// Whether the collation is its character set's default.
    pub fn is_default(&self) -> bool {
        self.charset.default_collation() == self.id
    }

    /// Whether code points are weighed, whatever bytes they are stored as.
    pub(super) fn weighs_unicode(&self) -> bool {
        use Weighing::*;
        matches!(
            self.weighing,
            CodePoints | General | GeneralVariant(_) | UcaPadded(_) | Uca { .. } | Tailored { .. }
        )
    }

    /// Whether strings have to be made UTF-8 before they can be weighed.
    #[inline]
    pub(super) fn weighs_unicode_of_another_form(&self) -> bool {
        self.weighs_unicode() && !matches!(self.charset, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Whether utf8mb4 text can be weighed as it is.
    #[inline]
    pub(super) fn weighs_utf8(&self) -> bool {
        matches!(self.charset, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary) || self.weighs_unicode()
    }
}
