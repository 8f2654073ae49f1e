//! Tests what the scanner makes of texts of files.

use super::*;
use crate::memory::Budget;
use std::sync::Arc;

/// A file that comes in pieces of this many bytes.
struct Pieces {
    text: Vec<u8>,
    at: usize,
    bytes: usize,
}

impl Input for Pieces {
    fn read(&mut self, into: &mut Vec<u8>) -> Result<()> {
        let end = (self.at + self.bytes).min(self.text.len());
        into.extend_from_slice(&self.text[self.at..end]);
        self.at = end;
        Ok(())
    }
}

fn format(text: &[&str; 5]) -> TextFormat {
    let bytes = |text: &str| text.as_bytes().to_vec();
    TextFormat {
        between_fields: bytes(text[0]),
        enclosed: bytes(text[1]),
        optionally: false,
        escaped: Some(bytes(text[2])),
        before_line: bytes(text[3]),
        behind_line: bytes(text[4]),
    }
}

/// Returns the lines of a text, with at most `columns` fields each. Fields have `|` between them
/// and lines `/`; `+` marks the end of a line that was cut.
fn lines(text: &[u8], format: &TextFormat, columns: usize, piece: usize) -> Result<String> {
    let mut pieces = Pieces { text: text.to_vec(), at: 0, bytes: piece };
    let charge = Charge::new(&Budget::new(Arc::default()));
    let escape = format.escape(false);
    let mut scanner = Scanner::new(&mut pieces, format, escape, Charset::Utf8mb4, charge);
    let mut lines = Vec::new();
    loop {
        let mut fields = Fields::default();
        while fields.len() < columns && scanner.next_field(&mut fields)? {}
        if fields.len() == 0 {
            break;
        }
        let goes_on = scanner.next_line()?;
        lines.push(fields.shown().join("|") + if scanner.was_cut { "+" } else { "" });
        if !goes_on {
            break;
        }
    }
    Ok(lines.join("/"))
}

#[test]
fn fields_and_lines_are_what_mysql_finds() {
    let tabs = ["\t", "", "\\", "", "\n"];
    let quoted = [",", "\"", "\\", "", "\n"];
    for (layout, text, expected) in [
        (tabs, "1\ta\n2\tb\n", "1|a/2|b"),
        (tabs, "1\ta\n2\tb", "1|a/2|b"),
        (tabs, "1\n\n2\tb\tc\n", "1//2|b+"),
        (tabs, "\\N\t\\Nx\t\n", "NULL|Nx"),
        (tabs, "a\\tb\\\nc\\0\t\\Z\\b\\r\\q\n", "a\\tb\\nc\\x00|\\x1a\\x08\\rq"),
        (tabs, "a\\", "a\\\\"),
        (tabs, "a\\\u{e9}b\t1\n", "a\\xc3\\xa9b|1"),
        (quoted, "\"a\"\"b\",NULL\n\"NULL\",\"x,\ny\"\n", "a\\\"b|NULL/NULL|x,\\ny"),
        (quoted, "\"a\"b,c\n\",d\n", "a\\\"b,c\\n|d"),
        (quoted, "\"open,\n1,2\n", "\\\"open,\\n1,2\\n"),
        ([",", "\"", "\"", "", "\n"], "\"a\"\"b\",c\"\"d\n", "a\\\"b|c\\\"d"),
        ([",", "", "", ">>", ";"], "x>>1,a;y>2>>3;>>>4", "1|a/3/>4"),
        (["||", "", "\\", "", "\r\n"], "a|b||c\rd\r\n||\r\n", "a|b|c\\rd/|"),
        ([",", "", "\\", "", ","], "1,2,3", "1|2/3"),
        (["", "\"", "\\", "", "\n"], "\"a\"\n", "a"),
        (
            ["\t", "", "\\", "", "\n"],
            "\u{e9}\u{20ac}\t\u{1f600}\n",
            "\\xc3\\xa9\\xe2\\x82\\xac|\\xf0\\x9f\\x98\\x80",
        ),
    ] {
        for piece in [1, 2, 3, 1000] {
            let found = lines(text.as_bytes(), &format(&layout), 2, piece).expect("it is a text");
            assert_eq!(found, expected, "{text:?} of {layout:?} in pieces of {piece} bytes");
        }
    }
}

#[test]
fn what_begins_no_character_is_refused() {
    let tabs = format(&["\t", "", "\\", "", "\n"]);
    let error = lines(b"1\tab\xff\n", &tabs, 2, 100).expect_err("no character begins so");
    assert_eq!((error.code, &*error.message), (1300, "Invalid utf8mb4 character string: 'ab'"));
    // A character that is cut off by something else is read as bytes.
    assert_eq!(lines(b"\xc3\t1\n", &tabs, 2, 100).expect("it is read"), "\\xc3|1");
}
