//! The definition of a collation: its character set, and how it weighs characters.

use super::charset::Charset;
use super::version::Version;

/// The way in which a collation weighs characters. Whether it pads with spaces is a flag of its
/// own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weighing {
    /// Bytes are weights, NO PAD.
    Bytes,
    /// Bytes are weights, PAD SPACE (UTF-8 bytes order as code points do).
    PaddedBytes,
    /// Code points are weights.
    CodePoints,
    /// One weight for each character of Unicode.
    General,
    /// One weight for each character of Unicode, some of which differ from `General`: 0 as before
    /// MySQL 5.1, 1 the lower case.
    GeneralVariant(u8),
    /// One weight for each byte. The number is that of a table.
    Single(u8),
    /// One weight for each character of one byte or several. The number is that of the table for
    /// the single bytes.
    Multi(u8),
    /// One weight for each byte, from the table with this number, and a second one for a few bytes.
    German2(u8),
    /// Thai in one byte: vowels count after the consonant that they are written before, and marks
    /// count last.
    Thai,
    /// Czech in one byte, in several passes: 0 is `latin2_czech_cs`, 1 `cp1250_czech_cs`.
    Czech(u8),
    /// The Unicode Collation Algorithm with one level.
    UcaPadded(Version),
    /// The Unicode Collation Algorithm, NO PAD. `levels` is the number of levels that count (1 =
    /// accents and case are ignored, 2 = accents count, 3 = case counts too).
    Uca { levels: u8 },
    /// The Unicode Collation Algorithm, with the changes of a language.
    Tailored { language: u8, levels: u8 },
}

/// A collation.
#[derive(Debug)]
pub struct Collation {
    /// MySQL's id of the collation.
    pub id: u16,
    /// MySQL's name of the collation.
    pub name: &'static str,
    /// The character set of the collation.
    pub charset: Charset,
    /// The value of SORTLEN in `SHOW COLLATION`.
    pub sort_len: u8,
    pub(super) weighing: Weighing,
    pub(super) pads: bool,
    pub(super) case_family: u8,
}

/// Makes an entry of the list of collations.
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
    /// Reports whether the shorter string compares as if it were padded with spaces.
    pub fn pads_space(&self) -> bool {
        self.pads
    }
    /// Reports whether the collation is the default of its character set.
    pub fn is_default(&self) -> bool {
        self.charset.default_collation() == self.id
    }

    /// Reports whether code points are weighed, whatever bytes they are stored as.
    pub(super) fn weighs_unicode(&self) -> bool {
        use Weighing::*;
        matches!(
            self.weighing,
            CodePoints | General | GeneralVariant(_) | UcaPadded(_) | Uca { .. } | Tailored { .. }
        )
    }

    /// Reports whether strings have to be converted to UTF-8 before they can be weighed.
    #[inline]
    pub(super) fn weighs_unicode_of_another_form(&self) -> bool {
        self.weighs_unicode() && !matches!(self.charset, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Reports whether utf8mb4 text can be weighed as it is.
    #[inline]
    pub(super) fn weighs_utf8(&self) -> bool {
        matches!(self.charset, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary) || self.weighs_unicode()
    }
}
