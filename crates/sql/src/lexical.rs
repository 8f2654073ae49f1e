//! What every reader of a statement's bytes shares: the mode, the bytes that make a word, and the
//! values of quoted tokens.

use crate::error::Result;

/// The parts of `sql_mode` that change how a text is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LexMode {
    /// ANSI_QUOTES: double quotes enclose names.
    pub ansi_quotes: bool,
    /// NO_BACKSLASH_ESCAPES: a backslash stands for itself.
    pub no_backslash_escapes: bool,
    /// PIPES_AS_CONCAT: `||` concatenates.
    pub pipes_as_concat: bool,
    /// REAL_AS_FLOAT: `REAL` is FLOAT.
    pub real_as_float: bool,
    /// ORACLE of MariaDB: some types have other names, and DATE has a time.
    pub oracle: bool,
    /// EMPTY_STRING_IS_NULL of MariaDB: a text without characters is NULL in an expression.
    pub empty_is_null: bool,
    /// A source, which may be MariaDB, has logged the text: `/*M! ... */` comments are part of it.
    pub of_source: bool,
    /// That source is MySQL, for which `/*M! ... */` is a comment like others.
    pub of_mysql: bool,
}

/// A function that a reader calls with the bytes that further tokens, and the tree that is made of
/// them, take in memory. It returns an error if there is no memory or no time for them.
pub(crate) type Watch<'w> = dyn FnMut(usize) -> Result<()> + 'w;

/// Reports whether the byte is white space between tokens.
pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

pub(crate) fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// Returns the bytes that a `TokenKind::Text` or `TokenKind::QuotedName` token stands for. `raw` is
/// the token with its quotes.
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
            // A quote inside is doubled: the lexer has made sure that a second one follows.
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

/// Returns the bytes that a `TokenKind::Hex` or `TokenKind::Bits` token stands for.
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
