//! A statement without its literals.

use crate::lexer::{LexMode, TokenKind, tokenize};

/// Longer texts are cut, before and after.
const MOST_BYTES: usize = 1024;

/// The statement's beginning with `?` for every literal and one blank between words: what logs may
/// show of a statement whose literals are somebody's data or password. Of a text that cannot be
/// taken apart that far, its first word.
pub fn normalized(text: &str) -> String {
    let head = &text.as_bytes()[..text.len().min(MOST_BYTES)];
    // A text that is cut within a literal ends before that.
    let tokens = (1..=head.len()).rev().find_map(|end| tokenize(&head[..end], LexMode::default()).ok());
    let mut out = String::new();
    let mut hides_rest = false;
    for token in tokens.unwrap_or_default() {
        let raw = String::from_utf8_lossy(&head[token.start as usize..token.end as usize]);
        let shown = match token.kind {
            TokenKind::End => break,
            TokenKind::Text | TokenKind::Integer | TokenKind::Decimal | TokenKind::Float => "?",
            TokenKind::Hex | TokenKind::Bits | TokenKind::Rows => "?",
            // In other modes than the default this is a string.
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
