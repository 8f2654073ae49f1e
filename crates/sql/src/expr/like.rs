//! LIKE: `%` matches any characters, `_` one character, and the others are compared in a collation.

use crate::error::Result;
use types::collation;

/// Reports whether `text` matches `pattern`. `escape` is `\` unless the statement says otherwise;
/// `None` means that there is no escape.
pub(crate) fn like(text: &[u8], pattern: &[u8], escape: Option<u8>, collation_id: u16) -> bool {
    like_while(text, pattern, escape, collation_id, || Ok(())).unwrap_or(false)
}

/// Does the same as [`like`], and calls `go_on` from time to time: a pattern with many wildcards
/// takes as many steps as the lengths of both texts multiplied. An error of `go_on` ends the match.
pub(crate) fn like_while(
    text: &[u8],
    pattern: &[u8],
    escape: Option<u8>,
    collation_id: u16,
    go_on: impl Fn() -> Result<()>,
) -> Result<bool> {
    /// The steps between two calls of `go_on`.
    const STEPS: u32 = 1024;
    let mut steps = 0;
    let by_bytes = collation_id == collation::BINARY;
    let by_weights = !collation::is_liked_by_bytes(collation_id);
    let same = |a: &[u8], b: &[u8]| {
        a == b || (by_weights && collation::compare_utf8mb4(collation_id, a, b) == std::cmp::Ordering::Equal)
    };
    let char_at = |bytes: &[u8], at: usize| {
        if by_bytes { 1 } else { char_length(bytes, at) }
    };
    // The match is greedy and returns to one point only, the last `%`.
    let (mut t, mut p) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        steps += 1;
        if steps % STEPS == 0 {
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

    #[test]
    fn the_czech_collations_of_one_byte_compare_bytes() {
        let czech = collation::from_name("latin2_czech_cs").expect("it is known");
        assert!(collation::compare(czech, b"a\tb", b"a b").is_eq());
        assert!(!like(b"a\tb", b"a b", None, czech) && like(b"ch", b"c%", None, czech));
    }
}
