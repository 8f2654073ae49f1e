//! The text of a statement without its literals, for logs.

use crate::lexer::{LexMode, TokenKind, tokenize};

/// The number of bytes at which the statement's text, and the result, are cut.
const MOST_BYTES: usize = 1024;

/// Returns the beginning of a statement with `?` for every literal and one blank between words.
/// Logs may show this of a statement whose literals are private data or passwords. Of a text that
/// cannot be split into tokens that far, only the words before the place that cannot be read are
/// returned.
pub fn normalized(text: &str) -> String {
    let head = &text.as_bytes()[..text.len().min(MOST_BYTES)];
    // A text that is cut within a literal ends before the literal.
    let tokens = (1..=head.len()).rev().find_map(|end| tokenize(&head[..end], LexMode::default()).ok());
    let mut out = String::new();
    let mut hides_rest = false;
    for token in tokens.unwrap_or_default() {
        let raw = String::from_utf8_lossy(&head[token.start as usize..token.end as usize]);
        let shown = match token.kind {
            TokenKind::End => break,
            TokenKind::Text | TokenKind::Integer | TokenKind::Decimal | TokenKind::Float => "?",
            TokenKind::Hex | TokenKind::Bits | TokenKind::Rows => "?",
            // In modes other than the default one a text in double quotes is a string.
            TokenKind::QuotedName if raw.starts_with('"') => "?",
            _ => &*raw,
        };
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(shown);
        hides_rest = out.len() > MOST_BYTES;
        if hides_rest {
            break;
        }
    }
    if hides_rest || text.len() > MOST_BYTES {
        out.push_str(" (cut)");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_hidden_and_long_texts_cut() {
        let text = "CREATE  USER u IDENTIFIED BY 'secret' /* why */ COMMENT \"s'ecret\"";
        assert_eq!(normalized(text), "CREATE USER u IDENTIFIED BY ? COMMENT ?");
        assert_eq!(
            normalized("SELECT a+1.5, x'00' FROM `t` WHERE b=?"),
            "SELECT a + ? , ? FROM `t` WHERE b = ?"
        );
        let long = format!("INSERT INTO t VALUES ('{}')", "secret".repeat(500));
        assert_eq!(normalized(&long), "INSERT INTO t VALUES ( (cut)");
        assert_eq!(normalized("SELECT 'secret"), "SELECT");
        assert_eq!(normalized(""), "");
    }
}
