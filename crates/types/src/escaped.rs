//! Bytes as MySQL's messages show them.

/// Returns bytes as messages show them: those that are no printable ASCII by their hexadecimal
/// digits, as in `\xE9`.
pub fn escaped(bytes: &[u8]) -> String {
    let shown = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    bytes.iter().map(shown).collect()
}

/// Returns the beginning of bytes like [`escaped`], with three dots if there are more of them.
pub fn escaped_beginning(bytes: &[u8]) -> String {
    const SHOWN_BYTES: usize = 6;
    let more = if bytes.len() > SHOWN_BYTES { "..." } else { "" };
    escaped(&bytes[..bytes.len().min(SHOWN_BYTES)]) + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_cannot_be_printed_are_shown_by_their_digits() {
        assert_eq!(escaped(b"a \xe9\x00~"), "a \\xE9\\x00~");
        assert_eq!([escaped_beginning(b"abcdef"), escaped_beginning(b"abcdefg")], ["abcdef", "abcdef..."]);
    }
}
