//! Rows of literals that follow a row, and change nothing in the digest.

use crate::lexical::is_space;

/// Skips rows such as `, (1, 'x')` from the offset `at` of the text on, as long as all of them have
/// one literal (`of_one`), or have several. Returns the offset behind the last one. Rows with
/// anything but plain numbers and strings in single quotes are not skipped.
pub(super) fn skip(text: &[u8], at: usize, of_one: bool, has_escapes: bool) -> usize {
    let mut end = at;
    while let Some((next, count)) = row(text, end, has_escapes) {
        if (count == 1) != of_one {
            break;
        }
        end = next;
    }
    end
}

fn after_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| is_space(*byte)) {
        at += 1;
    }
    at
}

/// Returns the offset behind `, (literal, ...)` and the number of the literals.
fn row(text: &[u8], at: usize, has_escapes: bool) -> Option<(usize, usize)> {
    let mut at = after_space(text, at);
    for mark in [b',', b'('] {
        if text.get(at) != Some(&mark) {
            return None;
        }
        at = after_space(text, at + 1);
    }
    let mut count = 0;
    loop {
        at = after_space(text, literal(text, at, has_escapes)?);
        count += 1;
        match text.get(at)? {
            b',' => at = after_space(text, at + 1),
            b')' => return Some((at + 1, count)),
            _ => return None,
        }
    }
}

/// Returns the offset behind a number or a string.
fn literal(text: &[u8], at: usize, has_escapes: bool) -> Option<usize> {
    let rest = &text[at..];
    if rest.first() == Some(&b'\'') {
        return string(text, at + 1, has_escapes);
    }
    let sign = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
    let length = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let is_number = rest[sign..].first().is_some_and(u8::is_ascii_digit)
        && rest[sign..sign + length].iter().filter(|byte| **byte == b'.').count() <= 1;
    is_number.then_some(at + sign + length)
}

/// Returns the offset behind the quote that ends a string.
fn string(text: &[u8], mut at: usize, has_escapes: bool) -> Option<usize> {
    loop {
        match *text.get(at)? {
            b'\'' if text.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return Some(at + 1),
            b'\\' if has_escapes => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::skip;

    #[test]
    fn rows_of_the_same_kind_are_skipped() {
        let text = br"(1,2), (-3 , 'x)''\'('),( 4.5,'') on duplicate";
        let end = text.iter().position(|byte| *byte == b'o').unwrap() - 1;
        assert_eq!(skip(text, 5, false, true), end);
        assert_eq!(skip(text, 5, true, true), 5);
        for other in [&b"(1),(null)"[..], b"(1),(1e5)", b"(1),(x'00')", b"(1),('a' 'b')", b"(1),('", b"(1),"]
        {
            assert_eq!(skip(other, 3, true, true), 3);
        }
        assert_eq!(skip(br"(1),('\'),(2)", 3, true, false), 13);
    }
}
