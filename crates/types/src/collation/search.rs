//! Looking for a text within another one, as LOCATE() and INSTR() do.
//!
//! A text is found where the weights of the rest of the other text begin with its weights, on every
//! level that counts. `ss` is therefore found in `ß` by `utf8mb4_0900_ai_ci`, and a text of
//! ignorable characters alone is found at the first place. MySQL finds the same places.

use super::chars::from_utf8mb4;
use super::charset::Charset;
use super::definition::{Collation, Weighing};
use super::encoding::char_len;
use super::ids::{BINARY, UTF8MB4_GENERAL_CI};
use super::lookup::of;
use super::version::Version;
use super::{general, multi, tailored, uca};

/// The weights that are compared between two calls of `go_on`.
const UNASKED_WEIGHTS: usize = 1 << 16;

/// Sharp S in latin1.
const SHARP_S: u8 = 0xdf;

/// Returns the number of the character at which the utf8mb4 text `needle` is found first in the
/// utf8mb4 text `haystack`, looking from the character `from` on; both count from 0. The collation
/// may be of any character set. Calls `go_on` from time to time.
///
/// # Errors
/// Returns the errors of `go_on`.
pub fn locate_utf8mb4<E>(
    id: u16,
    haystack: &[u8],
    needle: &[u8],
    from: usize,
    go_on: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let collation = of(id);
    if collation.weighs_utf8() {
        return locate(collation, &Texts { haystack, needle, from }, go_on);
    }
    match (from_utf8mb4(id, haystack), from_utf8mb4(id, needle)) {
        (Some(haystack), Some(needle)) => {
            locate(collation, &Texts { haystack: &haystack, needle: &needle, from }, go_on)
        }
        // As strings compare that the character set does not have.
        _ => locate(of(UTF8MB4_GENERAL_CI), &Texts { haystack, needle, from }, go_on),
    }
}

/// Reports whether LIKE compares characters by their bytes in this collation.
pub fn is_liked_by_bytes(id: u16) -> bool {
    id == BINARY || matches!(of(id).weighing, Weighing::Czech(_))
}

/// What is looked for, and where.
struct Texts<'t> {
    haystack: &'t [u8],
    needle: &'t [u8],
    /// The number of characters of the haystack that are passed over.
    from: usize,
}

impl<'t> Texts<'t> {
    /// Looks for the needle. `weigh` gives the weights of a text on a level, and `len_of` the bytes
    /// of the first character of a text that is not empty.
    fn locate<E, W: Iterator<Item = u32>>(
        &self,
        levels: usize,
        weigh: impl Fn(&'t [u8], usize) -> W,
        len_of: impl Fn(&[u8]) -> usize,
        go_on: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let sought: Vec<Vec<u32>> = (0..levels).map(|level| weigh(self.needle, level).collect()).collect();
        let begins = |rest| {
            sought.iter().enumerate().all(|(level, sought)| {
                let mut weights = weigh(rest, level);
                sought.iter().all(|weight| weights.next() == Some(*weight))
            })
        };
        self.locate_where(begins, len_of, go_on)
    }

    /// Returns the number of the first character from which `begins` says that the needle is there.
    fn locate_where<E>(
        &self,
        begins: impl Fn(&'t [u8]) -> bool,
        len_of: impl Fn(&[u8]) -> usize,
        go_on: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let unasked = (UNASKED_WEIGHTS / self.needle.len().max(1)).max(1);
        let (mut rest, mut number) = (self.haystack, 0);
        loop {
            if number >= self.from && begins(rest) {
                return Ok(Some(number));
            }
            if rest.is_empty() {
                return Ok(None);
            }
            rest = &rest[len_of(rest).clamp(1, rest.len())..];
            number += 1;
            if number % unasked == 0 {
                go_on()?;
            }
        }
    }
}

/// Returns the bytes of the first UTF-8 character, 1 where the bytes are none.
fn utf8_len(text: &[u8]) -> usize {
    let mut rest = text;
    uca::next_char(&mut rest).map_or(1, |_| text.len() - rest.len())
}

/// Returns the weights of a text in a language on a level. They are computed a part of the text at
/// a time, since most of them are never asked for.
fn tailored_weights(language: u8, text: &[u8], level: usize) -> impl Iterator<Item = u32> {
    /// The characters of the first part, of which each further one has twice as many.
    const FIRST_CHARS: usize = 16;
    let (mut chars, mut given) = (FIRST_CHARS, 0);
    let mut weights: Vec<u16> = Vec::new();
    let mut is_whole = false;
    std::iter::from_fn(move || {
        // The last weights of a part may be other ones in a longer part, because of contractions.
        while !is_whole && given + 4 >= weights.len() {
            let mut rest = text;
            (0..chars).for_each(|_| rest = &rest[utf8_len(rest).min(rest.len())..]);
            is_whole = rest.is_empty();
            weights = tailored::level_weights(language, &text[..text.len() - rest.len()], level);
            chars *= 2;
        }
        given += 1;
        weights.get(given - 1).map(|weight| u32::from(*weight))
    })
}

/// As [`locate_utf8mb4`], for texts in the form that the collation weighs.
fn locate<E>(
    collation: &Collation,
    texts: &Texts<'_>,
    go_on: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let stored_len = |text: &[u8]| char_len(collation.charset, text).unwrap_or(1);
    match collation.weighing {
        Weighing::Bytes if collation.charset == Charset::Binary => {
            texts.locate_where(|rest| rest.starts_with(texts.needle), |_| 1, go_on)
        }
        // As in MySQL, the Czech ones of one byte look for bytes, too.
        Weighing::Bytes | Weighing::PaddedBytes | Weighing::CodePoints | Weighing::Czech(_) => {
            match collation.weighs_utf8() {
                true => texts.locate_where(|rest| rest.starts_with(texts.needle), utf8_len, go_on),
                false => texts.locate_where(|rest| rest.starts_with(texts.needle), stored_len, go_on),
            }
        }
        Weighing::Uca { levels } => {
            let weigh = |text, level| uca::level_weights(Version::V900, text, level).map(u32::from);
            texts.locate(levels.into(), weigh, utf8_len, go_on)
        }
        Weighing::UcaPadded(version) => {
            texts.locate(1, |text, _| uca::padded_weights(version, text), utf8_len, go_on)
        }
        Weighing::Tailored { language, levels } => texts.locate(
            levels.into(),
            |text, level| tailored_weights(language, text, level),
            utf8_len,
            go_on,
        ),
        Weighing::General => texts.locate(1, |text, _| general::weights(text), utf8_len, go_on),
        Weighing::GeneralVariant(which) => {
            texts.locate(1, |text, _| general::variant_weights(which, text), utf8_len, go_on)
        }
        Weighing::Single(table) => {
            texts.locate(1, |text, _| general::single_weights(table, text), |_| 1, go_on)
        }
        // As in MySQL, sharp S is a character of its own here, and an umlaut is its vowel.
        Weighing::German2(table) => {
            let weigh = move |text| {
                let weights = general::single_weights(table, text).zip(text);
                weights.map(|(weight, byte)| if *byte == SHARP_S { u32::from(SHARP_S) } else { weight })
            };
            texts.locate(1, |text: &[u8], _| weigh(text), |_| 1, go_on)
        }
        Weighing::Multi(table) => {
            texts.locate(1, |text, _| multi::weights(collation.charset, table, text), stored_len, go_on)
        }
        // Characters are looked for in the order in which they are written.
        Weighing::Thai => {
            let fold = |byte: &u8| u32::from(byte.to_ascii_uppercase());
            texts.locate(1, |text, _| text.iter().map(fold), |_| 1, go_on)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{UTF8MB4_0900_AI_CI, UTF8MB4_BIN, from_name};
    use super::*;

    fn place(collation: u16, needle: &str, haystack: &str) -> usize {
        let found =
            locate_utf8mb4::<()>(collation, haystack.as_bytes(), needle.as_bytes(), 0, &mut || Ok(()));
        found.expect("nothing ends it").map_or(0, |at| at + 1)
    }

    /// The places that MySQL 9.7 finds.
    #[test]
    fn texts_are_found_by_their_weights() {
        let named = |name| from_name(name).expect("it is known");
        let (as_ci, as_cs) = (named("utf8mb4_0900_as_ci"), named("utf8mb4_0900_as_cs"));
        let (general, czech) = (named("utf8mb4_general_ci"), named("utf8mb4_czech_ci"));
        for (collation, needle, haystack, wanted) in [
            (UTF8MB4_0900_AI_CI, "e", "é", 1),
            (UTF8MB4_0900_AI_CI, "ss", "straße", 5),
            (UTF8MB4_0900_AI_CI, "ß", "strasse", 5),
            (UTF8MB4_0900_AI_CI, "s", "xß", 2),
            (UTF8MB4_0900_AI_CI, "\u{301}", "abc", 1),
            (UTF8MB4_0900_AI_CI, "bc", "ab\u{ad}c", 2),
            (UTF8MB4_0900_AI_CI, "b", "a\u{ad}b", 2),
            (UTF8MB4_0900_AI_CI, "か", "ガ", 1),
            (UTF8MB4_BIN, "b", "aBc", 0),
            (as_ci, "É", "xé", 2),
            (as_ci, "é", "xe", 0),
            (as_ci, "ss", "xß", 0),
            (as_cs, "e", "xe\u{301}", 2),
            (as_cs, "E", "xe", 0),
            (general, "ß", "xs", 2),
            (czech, "ch", "xchy", 2),
            (czech, "c", "xchy", 0),
            (czech, "h", "xchy", 3),
            (named("utf8mb4_cs_0900_ai_ci"), "h", "xchy", 2),
            (named("latin1_swedish_ci"), "e", "xé", 2),
            (named("latin1_general_ci"), "e", "xé", 0),
            (named("latin1_german2_ci"), "ss", "ß", 0),
            (named("latin1_german2_ci"), "ß", "xss", 0),
            (named("latin2_czech_cs"), "h", "xch", 3),
            (named("latin2_czech_cs"), " ", "x\t", 0),
            (named("cp1250_czech_cs"), "A", "xa", 0),
        ] {
            assert_eq!(place(collation, needle, haystack), wanted, "{collation} {needle} {haystack}");
        }
    }

    #[test]
    fn weights_of_a_language_are_the_same_part_by_part() {
        let Weighing::Tailored { language, .. } =
            of(from_name("utf8mb4_czech_ci").expect("it is known")).weighing
        else {
            panic!("Czech has letters of its own");
        };
        let text = "chleba ch c h CH ".repeat(40);
        let whole = tailored::level_weights(language, text.as_bytes(), 0).into_iter().map(u32::from);
        assert!(whole.eq(tailored_weights(language, text.as_bytes(), 0)));
    }
}
