//! Statements as others may see them, without the passwords in them, as in MySQL's SHOW
//! PROCESSLIST.

use std::borrow::Cow;

/// The text that replaces a password.
const SECRET: &str = "<secret>";

/// Returns a statement's text with `<secret>` in place of passwords and of the values stored for
/// them.
pub fn without_secrets(text: Cow<'_, str>, may_be_several: bool) -> Cow<'_, str> {
    if !may_hold_secrets(text.as_bytes(), may_be_several) {
        return text;
    }
    match rewritten(&text) {
        Some(text) => Cow::Owned(text),
        None => text,
    }
}

/// Reports whether a text may hold a password. The first letters decide that for nearly every
/// statement.
fn may_hold_secrets(text: &[u8], may_be_several: bool) -> bool {
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    match text.first() {
        // The statements are CREATE, CHANGE, ALTER, GRANT, SET, START and PREPARE, but not EXPLAIN.
        // A comment or a blank may stand before any of them.
        Some(b'c' | b'C' | b'a' | b'A' | b'g' | b'G' | b'p' | b'P') => true,
        Some(b's' | b'S') if begins(b"SET") || begins(b"START") => true,
        Some(first) if !first.is_ascii_alphabetic() => true,
        _ => may_be_several && text.contains(&b';'),
    }
}

/// A piece of a statement's text.
enum Piece<'a> {
    Word(&'a str),
    Literal,
    Sign(char),
}

fn rewritten(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    // The word before a literal tells what the literal is. A list of statements is searched as a
    // whole.
    let (mut before, mut assigned) = (String::new(), false);
    let mut sets_password = false;
    let mut last = String::new();
    let mut at = 0;
    while let Some((piece, start, end)) = next_piece(text, at) {
        at = end;
        match piece {
            Piece::Word(word) => {
                sets_password |= last == "SET" && word.eq_ignore_ascii_case("PASSWORD");
                sets_password |= before.ends_with("PASSWORD") && word.eq_ignore_ascii_case("FOR");
                (before, assigned) = (word.to_ascii_uppercase(), false);
                last.clone_from(&before);
            }
            Piece::Sign('=') => assigned = true,
            Piece::Sign('(' | ':') => {}
            Piece::Sign(';') => (sets_password, before, last) = (false, String::new(), String::new()),
            Piece::Sign(_) => (before, assigned) = (String::new(), false),
            Piece::Literal => {
                let is_named = matches!(before.as_str(), "BY" | "AS" | "USING" | "REPLACE" | "PASSWORD");
                let is_assigned = assigned && (sets_password || before.ends_with("PASSWORD"));
                if (is_named && !assigned) || is_assigned {
                    out.push_str(&text[kept..start]);
                    out.push_str(SECRET);
                    kept = end;
                }
                if !assigned {
                    before.clear();
                }
            }
        }
    }
    (kept > 0).then(|| out + &text[kept..])
}

/// Returns the next piece from `from` on, with its start and its end. Comments and blanks are
/// skipped.
fn next_piece(text: &str, from: usize) -> Option<(Piece<'_>, usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let passed = if first.is_whitespace() {
            first.len_utf8()
        } else if first == '#' || rest.starts_with("-- ") {
            rest.find('\n').map_or(rest.len(), |end| end + 1)
        } else if rest.starts_with("/*!") || rest.starts_with("*/") {
            // The contents of such a comment are carried out, so they are searched.
            2
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            break;
        };
        at += passed;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let first = text[at..].chars().next()?;
    if matches!(first, '\'' | '"') {
        return Some((Piece::Literal, at, end_of_literal(bytes, at)));
    }
    if (first == 'x' || first == 'X') && bytes.get(at + 1) == Some(&b'\'') {
        return Some((Piece::Literal, at, end_of_literal(bytes, at + 1)));
    }
    if first == '`' {
        let end = text[at + 1..].find('`').map_or(text.len(), |end| at + end + 2);
        return Some((Piece::Sign('`'), at, end));
    }
    if is_word(first) {
        let end = text[at..].find(|c| !is_word(c)).map_or(text.len(), |end| at + end);
        let word = &text[at..end];
        // The hash of IDENTIFIED WITH ... AS 0x24... has this form.
        let piece = if word.starts_with("0x") { Piece::Literal } else { Piece::Word(word) };
        return Some((piece, at, end));
    }
    Some((Piece::Sign(first), at, at + first.len_utf8()))
}

/// Returns the end of a literal. In a text that is cut, the literal ends with the text.
fn end_of_literal(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b if b == quote && bytes.get(at + 1) == Some(&quote) => at += 1,
            b if b == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        without_secrets(text.into(), true).into_owned()
    }

    #[test]
    fn passwords_are_not_shown() {
        for (text, wanted) in [
            (
                "CREATE USER 'a'@'%' IDENTIFIED BY 'it''s \\' x', b IDENTIFIED WITH p AS 0x24 COMMENT 'c'",
                "CREATE USER 'a'@'%' IDENTIFIED BY <secret>, b IDENTIFIED WITH p AS <secret> COMMENT 'c'",
            ),
            (
                " /* x */ alter user 'a'@'h' identified with 'p' by \"n\" replace 'o' retain current password",
                " /* x */ alter user 'a'@'h' identified with 'p' by <secret> replace <secret> retain current password",
            ),
            ("SET PASSWORD = 'x'", "SET PASSWORD = <secret>"),
            (
                "set password for 'a'@'%' = 'x' replace 'y'",
                "set password for 'a'@'%' = <secret> replace <secret>",
            ),
            ("SET PASSWORD = PASSWORD('x')", "SET PASSWORD = PASSWORD(<secret>)"),
            (
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='h', SOURCE_PASSWORD='p', SOURCE_USER = 'u'",
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='h', SOURCE_PASSWORD=<secret>, SOURCE_USER = 'u'",
            ),
            ("START SLAVE USER='u' PASSWORD='p'", "START SLAVE USER='u' PASSWORD=<secret>"),
            ("do 1; set password='x", "do 1; set password=<secret>"),
            ("/*!40000 SET PASSWORD='x' */", "/*!40000 SET PASSWORD=<secret> */"),
            (
                "GRANT SELECT ON a.* TO b IDENTIFIED BY PASSWORD 'x'",
                "GRANT SELECT ON a.* TO b IDENTIFIED BY PASSWORD <secret>",
            ),
        ] {
            assert_eq!(shown(text), wanted);
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "SELECT 'x' AS 'y'",
            "INSERT INTO t VALUES ('a', 'b')",
            "SET NAMES 'utf8'",
            "SET @a = 'x', @b = \"y\"",
            "CREATE TABLE t (a INT COMMENT 'x')",
            "",
            "é'",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
