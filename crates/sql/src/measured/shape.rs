//! Tells texts apart by what is in them beside their literals.
//!
//! Two texts of the same shape have the same digest, so that a digest need not be made for each
//! text that differs from an earlier one in its numbers and strings only. A text that this module
//! does not understand at a glance has no shape; the lexer reads it.

use std::hash::{BuildHasher, RandomState};

/// The longest text that is looked at, in bytes.
const MOST_BYTES: usize = 4096;

/// Makes the shapes of one session's texts.
pub(crate) struct Shapes {
    seed: u64,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes { seed: RandomState::new().hash_one(0) }
    }
}

/// What stands for a number and for a string.
const NUMBER: u64 = 0x100;
const STRING: u64 = 0x101;

impl Shapes {
    /// Returns a number that only texts of the same shape have. `None` means that the text has to
    /// be read by the lexer.
    pub fn of(&self, text: &[u8]) -> Option<u64> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let mut hash = self.seed;
        let mut before = b' ';
        // Behind BY a number may be the place of a column, which is part of the digest.
        let mut is_behind_by = false;
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let unit = match byte {
                b'0'..=b'9' if !is_in_word(before) && !is_behind_by => {
                    while text.get(at + 1).is_some_and(u8::is_ascii_digit) {
                        at += 1;
                    }
                    if text.get(at + 1).is_some_and(|next| is_in_word(*next)) {
                        return None;
                    }
                    NUMBER
                }
                b'\'' => {
                    let end = at + 1 + text[at + 1..].iter().position(|b| matches!(b, b'\'' | b'\\'))?;
                    if is_in_word(before) || text[end] != b'\'' || text.get(end + 1) == Some(&b'\'') {
                        return None;
                    }
                    at = end;
                    STRING
                }
                // Quoted names, comments, versions and variables are for the lexer.
                b'"' | b'`' | b'/' | b'#' | b'@' | b'\\' | 0x80.. => return None,
                b'-' if before == b'-' => return None,
                b'y' | b'Y' => {
                    is_behind_by |= matches!(before, b'b' | b'B');
                    u64::from(byte)
                }
                _ => u64::from(byte),
            };
            hash = (hash.rotate_left(5) ^ unit).wrapping_mul(0x517c_c1b7_2722_0a95);
            before = text[at];
            at += 1;
        }
        Some(hash)
    }
}

/// Reports whether a literal beside this byte is no literal, or not one of the plain ones.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_their_literals_have_one_shape() {
        let shapes = Shapes::default();
        let of = |text: &str| shapes.of(text.as_bytes());
        let one = of("SELECT a FROM t WHERE id=17 AND c = 'x'");
        assert!(one.is_some());
        assert_eq!(one, of("SELECT a FROM t WHERE id=4 AND c = 'other'"));
        for other in [
            "SELECT a FROM t WHERE id=17 AND c = 17",
            "SELECT a FROM t2 WHERE id=17 AND c = 'x'",
            "SELECT a FROM t WHERE id=17 OR c = 'x'",
        ] {
            assert_ne!(one, of(other), "{other}");
        }
        assert_ne!(of("SELECT a FROM t ORDER BY 1"), of("SELECT a FROM t ORDER BY 2"));
    }

    #[test]
    fn a_text_with_more_than_plain_literals_has_no_shape() {
        for text in [
            "SELECT 1.5",
            "SELECT 1e5",
            "SELECT x'41'",
            "SELECT 'it''s'",
            "SELECT 'a\\'b'",
            "SELECT \"a\"",
            "SELECT `a` FROM t",
            "SELECT /*+ NO_ICP(t) */ 1",
            "SELECT 1 -- 2",
            "SELECT 1 # 2",
            "SELECT @a",
            "SELECT 'open",
        ] {
            assert_eq!(Shapes::default().of(text.as_bytes()), None, "{text}");
        }
    }
}
