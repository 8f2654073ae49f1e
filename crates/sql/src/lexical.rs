//! What every reader of a statement's bytes knows: the mode, which bytes make a word, and what
//! stands in quotes.

use crate::error::Result;

/// Parts of `sql_mode` that change how a text is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LexMode {
    /// ANSI_QUOTES: double quotes enclose names.
    pub ansi_quotes: bool,
    /// NO_BACKSLASH_ESCAPES.
    pub no_backslash_escapes: bool,
    /// PIPES_AS_CONCAT.
    pub pipes_as_concat: bool,
    /// The text was logged by a source, which may be MariaDB: `/*M! ... */` comments count.
    pub of_source: bool,
}

/// Asked, while a text is read, whether there is memory and time for what becomes of so many more
/// bytes of tokens.
pub(crate) type Watch<'w> = dyn FnMut(usize) -> Result<()> + 'w;

/// White space between tokens.
pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

pub(crate) fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// The bytes that a `TokenKind::Text` or `TokenKind::QuotedName` token `raw` (quotes included)
/// stands for.
pub fn unquote(raw: &[u8], mode: LexMode, is_text: bool) -> Vec<u8> {
    let raw = if raw.first().is_some_and(|b| matches!(b, b'n' | b'N')) { &raw[1..] } else { raw };
    let quote = raw[0];
    let inner = &raw[1..raw.len() - 1];
    let escapes = is_text && !mode.no_backslash_escapes;
    if !inner.iter().any(|b| *b == quote || (escapes && *b == b'\\')) {
        return inner.to_vec();
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == quote {
            // Doubled inside: the lexer has seen to it that another follows.
            bytes.next();
            out.push(quote);
        } else if byte == b'\\' && escapes {
            match bytes.next() {
                Some(b'0') => out.push(0),
                Some(b'b') => out.push(8),
                Some(b'n') => out.push(b'\n'),
                Some(b'r') => out.push(b'\r'),
                Some(b't') => out.push(b'\t'),
                Some(b'Z') => out.push(0x1a),
                // LIKE's escapes keep their backslash.
                Some(wildcard @ (b'%' | b'_')) => out.extend([b'\\', wildcard]),
                Some(other) => out.push(other),
                None => out.push(b'\\'),
            }
        } else {
            out.push(byte);
        }
    }
    out
}

/// The bytes of a `TokenKind::Hex` or `TokenKind::Bits` token.
pub fn number_bytes(raw: &[u8], is_hex: bool) -> Vec<u8> {
    let digits = if raw.last() == Some(&b'\'') { &raw[2..raw.len() - 1] } else { &raw[2..] };
    let per_byte = if is_hex { 2 } else { 8 };
    let bits = if is_hex { 4 } else { 1 };
    let mut out = vec![0u8; digits.len().div_ceil(per_byte)];
    let last = out.len().wrapping_sub(1);
    for (place, digit) in digits.iter().rev().enumerate() {
        let value = (*digit as char).to_digit(16).unwrap_or(0) as u8;
        out[last - place / per_byte] |= value << ((place % per_byte) * bits);
    }
    out
}
