//! LIKE: `%` matches any characters, `_` one character, and the others are compared in a collation.
//!
//! Most texts and patterns are ASCII. For these a table of the collation says which characters are
//! equal, so that a text is matched byte by byte, and what follows a `%` is looked for in one loop.

use crate::collation;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::sync::OnceLock;

/// Reports whether `text` matches `pattern`. `escape` is `\` unless the statement says otherwise;
/// `None` means that there is no escape.
pub fn like(text: &[u8], pattern: &[u8], escape: Option<u8>, collation_id: u16) -> bool {
    let matched = like_while(text, pattern, escape, collation_id, || Ok::<(), Infallible>(()));
    matched.unwrap_or_else(|never| match never {})
}

/// Does the same as [`like`], and calls `go_on` from time to time: a pattern with many wildcards
/// takes as many steps as the lengths of both texts multiplied. An error of `go_on` ends the match.
///
/// # Errors
/// Returns the errors of `go_on`.
pub fn like_while<E>(
    text: &[u8],
    pattern: &[u8],
    escape: Option<u8>,
    collation_id: u16,
    go_on: impl Fn() -> Result<(), E>,
) -> Result<bool, E> {
    match text.is_ascii() && pattern.is_ascii() {
        true => like_ascii(text, (pattern, escape), classes(collation_id), go_on),
        false => like_characters(text, (pattern, escape), collation_id, go_on),
    }
}

/// The steps of a match between two calls of `go_on`.
const STEPS: u32 = 1024;

/// For each ASCII character the least one that it equals.
type Classes = [u8; 128];

/// Returns the class of an ASCII character.
#[inline]
fn class(classes: &Classes, byte: u8) -> u8 {
    classes[usize::from(byte & 0x7f)]
}

/// Returns which ASCII characters LIKE takes for equal in a collation.
fn classes(collation_id: u16) -> &'static Classes {
    static BYTES: Classes = {
        let mut classes = [0; 128];
        let mut byte = 0;
        while byte < 128 {
            classes[byte] = byte as u8;
            byte += 1;
        }
        classes
    };
    static OF_COLLATIONS: [OnceLock<Box<Classes>>; collation::IDS] =
        [const { OnceLock::new() }; collation::IDS];
    match OF_COLLATIONS.get(usize::from(collation_id)) {
        Some(known) if !collation::is_liked_by_bytes(collation_id) => known.get_or_init(|| {
            let least_equal = |byte: u8| {
                let is_equal = |other: &u8| {
                    *other == byte
                        || collation::compare_utf8mb4(collation_id, &[*other], &[byte]) == Ordering::Equal
                };
                (0..=byte).find(is_equal).unwrap_or(byte)
            };
            Box::new(std::array::from_fn(|byte| least_equal(byte as u8)))
        }),
        _ => &BYTES,
    }
}

/// Matches an ASCII text with an ASCII pattern, as [`like_characters`] does.
fn like_ascii<E>(
    text: &[u8],
    (pattern, escape): (&[u8], Option<u8>),
    classes: &Classes,
    go_on: impl Fn() -> Result<(), E>,
) -> Result<bool, E> {
    let is_escaped = |at: usize| Some(pattern[at]) == escape && at + 1 < pattern.len();
    let (mut t, mut p, mut steps) = (0, 0, 0u32);
    // The pattern behind the last `%`, and the place at which it was looked for last.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        steps += 1;
        if steps.is_multiple_of(STEPS) {
            go_on()?;
        }
        let is_matched = match pattern.get(p) {
            None if t == text.len() => return Ok(true),
            None => false,
            Some(b'%') if !is_escaped(p) => {
                p += 1;
                if p == pattern.len() {
                    return Ok(true);
                }
                retry = Some((p, t));
                continue;
            }
            Some(b'_') if !is_escaped(p) => t < text.len(),
            Some(_) => {
                p += usize::from(is_escaped(p));
                t < text.len() && class(classes, text[t]) == class(classes, pattern[p])
            }
        };
        if is_matched {
            (t, p) = (t + 1, p + 1);
            continue;
        }
        let Some((behind, from)) = retry.filter(|(_, from)| *from < text.len()) else { return Ok(false) };
        let is_literal = !matches!(pattern[behind], b'%' | b'_') && Some(pattern[behind]) != escape;
        let next = match is_literal {
            false => from + 1,
            true => {
                let wanted = class(classes, pattern[behind]);
                let rest = &text[from + 1..];
                match rest.iter().position(|byte| class(classes, *byte) == wanted) {
                    Some(further) => from + 1 + further,
                    None => return Ok(false),
                }
            }
        };
        retry = Some((behind, next));
        (p, t) = (behind, next);
    }
}

/// Matches any text, character by character.
fn like_characters<E>(
    text: &[u8],
    (pattern, escape): (&[u8], Option<u8>),
    collation_id: u16,
    go_on: impl Fn() -> Result<(), E>,
) -> Result<bool, E> {
    let mut steps = 0u32;
    let by_bytes = collation_id == collation::BINARY;
    let by_weights = !collation::is_liked_by_bytes(collation_id);
    let same = |a: &[u8], b: &[u8]| {
        a == b || (by_weights && collation::compare_utf8mb4(collation_id, a, b) == Ordering::Equal)
    };
    let char_at = |bytes: &[u8], at: usize| {
        if by_bytes { 1 } else { char_length(bytes, at) }
    };
    // The match is greedy and returns to one point only, the last `%`.
    let (mut t, mut p) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        steps += 1;
        if steps.is_multiple_of(STEPS) {
            go_on()?;
        }
        let mut matched = false;
        if p < pattern.len() {
            let escaped = Some(pattern[p]) == escape && p + 1 < pattern.len();
            match pattern[p] {
                b'%' if !escaped => {
                    retry = Some((p + 1, t));
                    p += 1;
                    continue;
                }
                b'_' if !escaped && t < text.len() => {
                    t += char_at(text, t);
                    p += 1;
                    continue;
                }
                b'_' if !escaped => {}
                _ if t < text.len() => {
                    let start = p + usize::from(escaped);
                    let (p_len, t_len) = (char_at(pattern, start), char_at(text, t));
                    if same(&text[t..t + t_len], &pattern[start..start + p_len]) {
                        t += t_len;
                        p = start + p_len;
                        matched = true;
                    }
                }
                _ => {}
            }
        } else if t == text.len() {
            return Ok(true);
        }
        if !matched {
            match retry {
                Some((after, from)) if from < text.len() => {
                    let next = from + char_at(text, from);
                    retry = Some((after, next));
                    (p, t) = (after, next);
                }
                _ => return Ok(false),
            }
        }
    }
}

/// Returns the length of the UTF-8 character at `at`, which is 1 where the bytes are no character.
fn char_length(bytes: &[u8], at: usize) -> usize {
    let length = match bytes[at] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if at + length <= bytes.len() { length } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &str, pattern: &str) -> bool {
        like(text.as_bytes(), pattern.as_bytes(), Some(b'\\'), collation::UTF8MB4_0900_AI_CI)
    }

    #[test]
    fn wildcards() {
        assert!(matches("abc", "a%") && matches("abc", "%c") && matches("abc", "a_c") && matches("", "%"));
        assert!(
            matches("ABC", "abc") && !matches("abc", "ab") && !matches("ab", "abc") && !matches("a", "__")
        );
        assert!(matches("aXbXc", "%X%c") && matches("mississippi", "%iss%ip%") && !matches("abc", "%d%"));
        assert!(matches("ü1", "_1") && matches("日本", "__"));
    }

    #[test]
    fn escapes() {
        assert!(matches("50%", "50\\%") && !matches("50x", "50\\%") && matches("a_b", "a\\_b"));
        assert!(like(b"50%", b"50|%", Some(b'|'), collation::BINARY));
        assert!(!like(b"ABC", b"abc", None, collation::BINARY));
    }

    /// The match byte by byte says what the match character by character says, in every collation.
    #[test]
    fn ascii_texts_match_as_any_texts_do() {
        let mut rng = os::random::Rng::new(os::random::test_seed("like ascii_texts_match"));
        let parts = b"aAbBsS%%%__\\|\t\x01\x7f 1-";
        let mut matched = 0;
        for collation in collation::all() {
            for _ in 0..300 {
                let some = |most: u64, rng: &mut os::random::Rng| -> Vec<u8> {
                    let len = rng.below(most);
                    (0..len).map(|_| parts[rng.below(parts.len() as u64) as usize]).collect()
                };
                let (text, pattern) = (some(9, &mut rng), some(7, &mut rng));
                let escape = [Some(b'\\'), Some(b'|'), Some(b'%'), Some(b'_'), None][rng.below(5) as usize];
                let expected =
                    like_characters(&text, (&pattern, escape), collation.id, || Ok::<(), Infallible>(()));
                let found = like(&text, &pattern, escape, collation.id);
                assert_eq!(Ok(found), expected, "{text:?} {pattern:?} {escape:?} {}", collation.name);
                matched += u32::from(found);
            }
        }
        assert!(matched > 1000, "{matched} texts match");
    }

    #[test]
    fn a_match_of_many_steps_asks_whether_to_go_on() {
        let (text, pattern) = ([b'a'; 3000], b"%aaaaaaaaaab%");
        assert_eq!(like_while(&text, pattern, None, collation::UTF8MB4_0900_AI_CI, || Err(1)), Err(1));
        assert_eq!(like_while(&text, b"%a%b", None, collation::UTF8MB4_0900_AI_CI, || Err(1)), Ok(false));
    }

    #[test]
    fn the_czech_collations_of_one_byte_compare_bytes() {
        let czech = collation::from_name("latin2_czech_cs").expect("it is known");
        assert!(collation::compare(czech, b"a\tb", b"a b").is_eq());
        assert!(!like(b"a\tb", b"a b", None, czech) && like(b"ch", b"c%", None, czech));
    }
}
