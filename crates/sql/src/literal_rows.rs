//! The rows of a VALUES list that has nothing but plain literals in it.
//!
//! Nearly all data is loaded by such lists, which have many rows. They are found while the
//! statement is read, and kept as a copy of their text with the place of each literal. No token,
//! expression or value is made for a literal. A list with anything else in it (an expression,
//! DEFAULT, a parameter, a comment, rows of different lengths, neighbouring strings that are one)
//! is left to the general parser, which also reports what is wrong with it.

use crate::error::Result;
use crate::lexical::{self, LexMode, Watch};
use crate::memory::allocated;
use types::convert::LiteralKind;
use types::{Decimal, Value};

/// The kind of a literal and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub kind: LiteralKind,
    start: u32,
    end: u32,
}

impl Literal {
    fn is_number(&self) -> bool {
        matches!(self.kind, LiteralKind::Integer | LiteralKind::Decimal | LiteralKind::Float)
    }
}

/// Rows that all have the same number of literals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiteralRows {
    text: Box<[u8]>,
    /// The offset of the list in the statement's text.
    start: usize,
    literals: Vec<Literal>,
    columns: usize,
    mode: LexMode,
}

/// The watch is called each time that the literals have taken this many more bytes.
const WATCHED_BYTES: usize = 1 << 20;

/// The most literals that room is made for at once.
const MOST_RESERVED: usize = 16 << 10;

impl LiteralRows {
    /// Takes the list whose first parenthesis is at `at`, and returns it with the offset after its
    /// end. `None` means that the rows have something else than literals, or that their lengths
    /// differ.
    ///
    /// # Errors
    /// Returns the errors of `watch`, which is called with the bytes that the rows take.
    pub fn scan(
        text: &[u8],
        at: usize,
        mode: LexMode,
        watch: &mut Watch<'_>,
    ) -> Result<Option<(LiteralRows, usize)>> {
        let (mut refused, mut noted) = (None, 0);
        let scanned = LiteralRows::scan_while(text, at, mode, |literals| {
            // The list of literals grows to twice its size.
            let bytes = (literals - noted) * 2 * size_of::<Literal>();
            if bytes < WATCHED_BYTES {
                return true;
            }
            noted = literals;
            refused = watch(bytes).err();
            refused.is_none()
        });
        if let Some(error) = refused {
            return Err(error);
        }
        if let Some((rows, _)) = &scanned {
            watch((rows.literals.len() - noted) * 2 * size_of::<Literal>() + rows.text.len())?;
        }
        Ok(scanned)
    }

    fn scan_while(
        text: &[u8],
        at: usize,
        mode: LexMode,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Option<(LiteralRows, usize)> {
        if mode.empty_is_null {
            return None;
        }
        let mut scanner = Scanner { text, at, base: at, mode };
        let mut literals = Vec::new();
        let mut columns = 0;
        loop {
            let before = literals.len();
            scanner.row(&mut literals)?;
            let of_row = literals.len() - before;
            if !goes_on(literals.len()) {
                return None;
            }
            if before == 0 {
                columns = of_row;
                // Room for all rows that the rest of the text may have saves the list from growing.
                // It is limited, because other statements may follow.
                let rows = text.len().saturating_sub(scanner.at) / (scanner.at - at);
                literals.reserve((rows * columns).min(MOST_RESERVED));
            } else if of_row != columns {
                return None;
            }
            let end = scanner.at;
            if !scanner.takes(b',') {
                let rows = LiteralRows { text: text[at..end].into(), start: at, literals, columns, mode };
                return Some((rows, end));
            }
        }
    }

    /// Returns the part of the statement's text before the list, or `None` if anything follows the
    /// list.
    pub fn lead<'t>(&self, statement: &'t [u8]) -> Option<&'t [u8]> {
        (self.start + self.text.len() == statement.len()).then(|| &statement[..self.start])
    }

    /// Reports whether both are one row of the same tokens, but for their values.
    pub fn is_row_like(&self, other: &LiteralRows) -> bool {
        let form = |rows: &LiteralRows, literal: &Literal| {
            let sign = rows.text_of(*literal).first().copied().filter(|byte| matches!(byte, b'-' | b'+'));
            (literal.kind, if literal.is_number() { sign } else { None })
        };
        let forms = || self.literals.iter().map(|literal| form(self, literal));
        self.len() == 1 && other.len() == 1 && forms().eq(other.literals.iter().map(|one| form(other, one)))
    }

    /// Returns the bytes that a copy of the rows takes.
    pub fn kept_bytes(&self) -> usize {
        allocated(size_of_val(&self.literals[..])) + allocated(self.text.len())
    }

    /// Returns the number of literals in each row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.literals.len() / self.columns
    }

    /// Returns an iterator over the rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[Literal]> {
        self.literals.chunks_exact(self.columns)
    }

    /// Returns the text of a literal. A `LiteralKind::EscapedText` has its quotes, a
    /// `LiteralKind::Text` has not.
    pub fn text_of(&self, literal: Literal) -> &[u8] {
        &self.text[literal.start as usize..literal.end as usize]
    }

    /// Returns the value that the literal stands for.
    pub fn value(&self, literal: Literal) -> Value {
        let text = self.text_of(literal);
        let digits = std::str::from_utf8(text).unwrap_or_default();
        match literal.kind {
            LiteralKind::Null => Value::Null,
            LiteralKind::Integer => match (digits.parse(), digits.parse()) {
                (Ok(n), _) => Value::Int(n),
                (_, Ok(n)) => Value::UInt(n),
                _ => Value::Decimal(Decimal::parse_prefix(text).number),
            },
            LiteralKind::Decimal => Value::Decimal(Decimal::parse_prefix(text).number),
            LiteralKind::Float => Value::Double(digits.parse().unwrap_or_default()),
            LiteralKind::Text => Value::Bytes(text.to_vec()),
            LiteralKind::EscapedText => Value::Bytes(lexical::unquote(text, self.mode, true)),
        }
    }
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// The offset in `text` that the literals' places count from.
    base: usize,
    mode: LexMode,
}

impl Scanner<'_> {
    #[inline]
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Skips white space and then `byte`, if it follows, and returns whether it did.
    #[inline]
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn row(&mut self, literals: &mut Vec<Literal>) -> Option<()> {
        if !self.takes(b'(') {
            return None;
        }
        loop {
            self.skip_space();
            literals.push(self.literal()?);
            self.skip_space();
            let byte = self.peek();
            self.at += 1;
            match byte {
                b',' => {}
                b')' => return Some(()),
                _ => return None,
            }
        }
    }

    fn literal(&mut self) -> Option<Literal> {
        match self.peek() {
            quote @ b'\'' => self.string(quote),
            quote @ b'"' if !self.mode.ansi_quotes => self.string(quote),
            b'0'..=b'9' | b'-' => self.number(),
            b'n' | b'N' => {
                let start = self.at;
                let word = self.text.get(start..start + 4)?;
                self.at += 4;
                let is_null = word.eq_ignore_ascii_case(b"NULL") && !lexical::is_word_byte(self.peek());
                is_null.then(|| self.from(start, LiteralKind::Null))
            }
            _ => None,
        }
    }

    fn from(&self, start: usize, kind: LiteralKind) -> Literal {
        Literal { kind, start: (start - self.base) as u32, end: (self.at - self.base) as u32 }
    }

    fn string(&mut self, quote: u8) -> Option<Literal> {
        let start = self.at;
        let escape = if self.mode.no_backslash_escapes { quote } else { b'\\' };
        self.at += 1;
        let mut kind = LiteralKind::Text;
        loop {
            let rest = self.text.get(self.at..)?;
            self.at += rest.iter().position(|byte| *byte == quote || *byte == escape)?;
            if self.peek() == quote && self.text.get(self.at + 1) != Some(&quote) {
                break;
            }
            // This is an escaped byte or a doubled quote.
            kind = LiteralKind::EscapedText;
            self.at += 2;
        }
        let inside = self.from(start + 1, kind);
        self.at += 1;
        Some(if kind == LiteralKind::Text { inside } else { self.from(start, kind) })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Option<Literal> {
        /// The most digits of a negative number: one with more might not fit 64 bits when it is
        /// negated.
        const MOST_NEGATED: usize = 18;
        let start = self.at;
        let negative = self.peek() == b'-';
        self.at += usize::from(negative);
        let whole = self.digits();
        let mut kind = LiteralKind::Integer;
        if whole == 0 || (negative && whole > MOST_NEGATED) {
            return None;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits();
            kind = LiteralKind::Decimal;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            /// No number with fewer digits in its exponent is too large for a double.
            const DIGITS_OF_LARGE: usize = 3;
            let exponent_digits = self.digits();
            if exponent_digits == 0 || negative || exponent_digits >= DIGITS_OF_LARGE {
                return None;
            }
            kind = LiteralKind::Float;
        }
        // A word may begin with digits, and 0x1F is no decimal number.
        (!lexical::is_word_byte(self.peek())).then(|| self.from(start, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<(Vec<Vec<Value>>, &str)> {
        let (rows, end) =
            LiteralRows::scan(text.as_bytes(), 0, LexMode::default(), &mut |_| Ok(())).unwrap()?;
        let values = rows.rows().map(|row| row.iter().map(|literal| rows.value(*literal)).collect());
        Some((values.collect(), &text[end..]))
    }

    #[test]
    fn lists_of_literals_are_taken() {
        let (rows, rest) = scan(
            "(1, -2,'it''s', 'a\\nb' ) ,\n( null,1.50, \"x\", 1e3)\t, (18446744073709551615,99999999999999999999,'',-0) ON",
        )
        .unwrap();
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        assert_eq!(rows[0], [Value::Int(1), Value::Int(-2), Value::text("it's"), Value::text("a\nb")]);
        assert_eq!(rows[1], [Value::Null, decimal("1.50"), Value::text("x"), Value::Double(1000.0)]);
        let last = [Value::UInt(u64::MAX), decimal("99999999999999999999"), Value::text(""), Value::Int(0)];
        assert_eq!(rows[2], last);
        assert_eq!(rest, " ON");
    }

    #[test]
    fn anything_else_is_left() {
        for text in [
            "",
            "(",
            "(1",
            "(1,",
            "()",
            "(1),",
            "(1),(2,3)",
            "(1+1)",
            "(f(1))",
            "(?)",
            "(DEFAULT)",
            "(a)",
            "(- 1)",
            "(--1)",
            "('a' 'b')",
            "('a",
            "('a\\",
            "(0x1F)",
            "(1st)",
            "(x'41')",
            "(n'a')",
            "(nullx)",
            "(null",
            "(.5)",
            "(1e)",
            "(-1e1)",
            "(1 /* a */)",
            "(-9223372036854775808)",
            "ROW(1)",
            "(1),ROW(2)",
            "(_utf8'a')",
            "(true)",
        ] {
            assert_eq!(scan(text), None, "{text}");
        }
    }
}
