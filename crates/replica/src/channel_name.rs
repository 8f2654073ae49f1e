//! The name of a channel in the names of its files and threads.

use std::fmt::Write as _;

/// Returns a channel's name in the form that file names have. A byte that is no lower-case letter,
/// digit or underscore becomes `@` and two hexadecimal digits.
pub(crate) fn escape_name(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' => out.push(byte.into()),
            other => write!(out, "@{other:02x}").expect("a String takes it"),
        }
    }
    out
}

/// Returns the channel's name of which `text` is the escaped form. `None` means that no name has
/// this form.
pub(crate) fn unescape_name(text: &str) -> Option<String> {
    let mut name = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (byte, len) = match first {
            '@' => (u8::from_str_radix(rest.get(1..3)?, 16).ok()?, 3),
            other => (u8::try_from(other).ok()?, other.len_utf8()),
        };
        name.push(byte);
        rest = &rest[len..];
    }
    String::from_utf8(name).ok()
}

/// Returns the name of a channel's thread of kind `kind`.
pub(crate) fn thread_name(kind: &str, channel: &str) -> String {
    if channel.is_empty() { kind.to_string() } else { format!("{kind}-{}", escape_name(channel)) }
}
