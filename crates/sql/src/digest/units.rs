//! The units of a digest, and how several become one: lists of values, and lists of rows.

use super::words;
use std::borrow::Cow;

/// A unit of a digest. It is printed with a blank behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Unit<'t> {
    /// A literal.
    Value,
    /// Two or more literals with commas between them.
    Values,
    /// A literal in parentheses.
    OneValueRow,
    /// Two or more of them with commas between them.
    OneValueRows,
    /// Several literals in parentheses.
    Row,
    /// Two or more rows with commas between them.
    Rows,
    /// IN and literals in parentheses.
    InValues,
    /// A name without its quotes.
    Name(Cow<'t, str>),
    /// A name that an `@` of a hint follows at once.
    NameOfBlock(Cow<'t, str>),
    /// The number of a column, in ORDER BY and its like.
    Place(u32),
    /// The character set before a literal.
    CharacterSet,
    /// A keyword, an operator or a punctuation mark.
    Word(&'static str),
}

impl Unit<'_> {
    /// Returns the bytes that the unit takes of `max_digest_length`.
    fn size_bytes(&self) -> usize {
        const WORD_BYTES: usize = 2;
        match self {
            Unit::Name(name) | Unit::NameOfBlock(name) => 2 * WORD_BYTES + name.len(),
            Unit::Place(place) => 2 * WORD_BYTES + place.to_string().len(),
            _ => WORD_BYTES,
        }
    }

    fn print(&self, out: &mut String) {
        match self {
            Unit::Value => out.push_str("? "),
            Unit::Values => out.push_str("?, ... "),
            Unit::OneValueRow => out.push_str("(?) "),
            Unit::OneValueRows => out.push_str("(?) /* , ... */ "),
            Unit::Row => out.push_str("(...) "),
            Unit::Rows => out.push_str("(...) /* , ... */ "),
            Unit::InValues => out.push_str("IN (...) "),
            Unit::CharacterSet => out.push_str("(_charset) "),
            Unit::Place(place) => {
                out.push_str(&place.to_string());
                out.push(' ');
            }
            Unit::Name(name) => {
                out.extend(["`", name, "` "]);
            }
            Unit::NameOfBlock(name) => {
                out.extend(["`", name, "`"]);
            }
            Unit::Word(word) => {
                out.push_str(word);
                if !matches!(*word, "@" | "@@") {
                    out.push(' ');
                }
            }
        }
    }
}

/// The units of a digest so far.
pub(super) struct Units<'t> {
    units: Vec<Unit<'t>>,
    size_bytes: usize,
    most_bytes: usize,
    is_full: bool,
}

impl<'t> Units<'t> {
    /// Begins a digest whose units may take `most_bytes`.
    pub fn new(most_bytes: usize) -> Units<'t> {
        /// The usual number of units.
        const USUAL: usize = 48;
        Units { units: Vec::with_capacity(USUAL), size_bytes: 0, most_bytes, is_full: false }
    }

    /// Appends a unit. After the first that has no room, nothing is appended.
    pub fn push(&mut self, unit: Unit<'t>) {
        if self.is_full {
            return;
        }
        let with_unit = self.size_bytes + unit.size_bytes();
        self.is_full = with_unit > self.most_bytes;
        if !self.is_full {
            self.size_bytes = with_unit;
            self.units.push(unit);
        }
    }

    fn drop_last(&mut self, count: usize) {
        for unit in self.units.drain(self.units.len() - count..) {
            self.size_bytes -= unit.size_bytes();
        }
    }

    /// Returns the `nth` unit from the end, of which the last is number 1.
    pub fn last(&self, nth: usize) -> Option<&Unit<'t>> {
        self.units.len().checked_sub(nth).map(|at| &self.units[at])
    }

    /// Returns the first unit, if it is a word.
    pub fn first_word(&self) -> Option<&'static str> {
        match self.units.first() {
            Some(Unit::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn is_word(&self, nth: usize, word: &str) -> bool {
        matches!(self.last(nth), Some(Unit::Word(found)) if *found == word)
    }

    /// Appends a literal, which takes the signs before it along if it `is_number`. It continues a
    /// list of literals.
    pub fn push_value(&mut self, is_number: bool) {
        if self.is_full {
            return;
        }
        while is_number
            && (self.is_word(1, "-") || self.is_word(1, "+"))
            && matches!(self.last(2), Some(Unit::Word(word)) if words::begins_expression(word))
        {
            self.drop_last(1);
        }
        if self.continues_values() {
            self.drop_last(2);
            return self.push(Unit::Values);
        }
        self.push(Unit::Value);
    }

    /// Reports whether a literal would continue a list of literals.
    pub fn continues_values(&self) -> bool {
        self.is_word(1, ",") && matches!(self.last(2), Some(Unit::Value | Unit::Values))
    }

    /// Appends a closing parenthesis, with which literals become a row.
    pub fn push_closing(&mut self) {
        if self.is_full {
            return;
        }
        let is_one = match self.last(1) {
            Some(Unit::Value) => true,
            Some(Unit::Values) => false,
            _ => return self.push(Unit::Word(")")),
        };
        if !self.is_word(2, "(") {
            return self.push(Unit::Word(")"));
        }
        if self.is_word(3, "IN") {
            self.drop_last(3);
            return self.push(Unit::InValues);
        }
        self.drop_last(2);
        let continues = self.is_word(1, ",");
        let unit = match (is_one, self.last(2)) {
            (true, Some(Unit::OneValueRow | Unit::OneValueRows)) if continues => Unit::OneValueRows,
            (false, Some(Unit::Row | Unit::Rows)) if continues => Unit::Rows,
            (true, _) => return self.push(Unit::OneValueRow),
            (false, _) => return self.push(Unit::Row),
        };
        self.drop_last(2);
        self.push(unit);
    }

    /// Returns the text of the digest.
    pub fn into_text(mut self) -> String {
        if self.is_word(1, ";") {
            self.drop_last(1);
        }
        let mut text = String::with_capacity(2 * self.size_bytes);
        self.units.iter().for_each(|unit| unit.print(&mut text));
        if text.ends_with(' ') {
            text.pop();
        }
        text
    }
}
