//! Reads the tokens of a statement into the units of its digest.

use super::units::{Unit, Units};
use super::{rows, words};
use crate::lexer::{LexMode, Token, TokenKind, TokenStream, unquote};
use crate::lexical::is_space;
use std::borrow::Cow;

/// Keywords behind which a comment `/*+ ... */` holds optimizer hints.
const HINTED: &[&str] = &["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"];

/// Words behind ORDER BY and its like that end the list.
const END_OF_LIST: &[&str] = &[
    "LIMIT",
    "HAVING",
    "WITH",
    "ROWS",
    "RANGE",
    "GROUPS",
    "SEPARATOR",
    "FOR",
    "LOCK",
    "INTO",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "WINDOW",
    "QUALIFY",
    "SELECT",
    "SET",
    "FROM",
    "WHERE",
    "ON",
    "PARTITIONS",
];

/// Words that continue an expression.
const CONTINUE: &[&str] = &[
    "AND", "OR", "XOR", "IS", "IN", "NOT", "BETWEEN", "LIKE", "RLIKE", "COLLATE", "DIV", "MOD", "MEMBER",
    "SOUNDS",
];

/// Where the reader is in lists of ORDER BY and its like, in which a plain number is the number of
/// a column. One for each open parenthesis.
#[derive(Clone, Copy, Default)]
struct List {
    is_open: bool,
    /// Whether the next token begins an item.
    begins_item: bool,
}

struct Reader<'t> {
    text: &'t [u8],
    mode: LexMode,
    tokens: TokenStream<'t>,
    /// The token behind the current one.
    next: Token,
    units: Units<'t>,
    lists: Vec<List>,
}

/// Returns the text of a statement's digest.
pub(super) fn read(text: &[u8], mode: LexMode, max_digest_length: usize) -> String {
    let mut tokens = TokenStream::new(text, mode);
    let next = tokens.next();
    let units = Units::new(max_digest_length);
    let mut reader = Reader { text, mode, tokens, next, units, lists: vec![List::default()] };
    while reader.next.kind != TokenKind::End {
        let token = reader.next;
        reader.next = reader.tokens.next();
        reader.token(token);
    }
    reader.units.into_text()
}

impl<'t> Reader<'t> {
    fn raw(&self, token: Token) -> &'t [u8] {
        &self.text[token.start as usize..token.end as usize]
    }

    fn token(&mut self, token: Token) {
        let raw = self.raw(token);
        let list = std::mem::take(&mut self.list().begins_item);
        match token.kind {
            // The path of a name goes on with a name, whatever it looks like.
            TokenKind::Word | TokenKind::Integer | TokenKind::Float if self.is_in_path(token) => {
                self.units.push(Unit::Name(String::from_utf8_lossy(raw)));
            }
            TokenKind::Word => self.word(token),
            TokenKind::QuotedName => self.units.push(Unit::Name(self.name(raw))),
            TokenKind::Integer if list && self.is_place(raw).is_some() => {
                self.units.push(Unit::Place(self.is_place(raw).unwrap_or(0)));
            }
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float | TokenKind::Hex | TokenKind::Bits => {
                self.units.push_value(true)
            }
            TokenKind::Text | TokenKind::Parameter => self.units.push_value(false),
            TokenKind::UserVariable => self.user_variable(raw),
            TokenKind::SystemVariable => self.units.push(Unit::Word("@@")),
            TokenKind::Symbol => self.symbol(token),
            TokenKind::Rows | TokenKind::End => {}
        }
    }

    fn list(&mut self) -> &mut List {
        if self.lists.is_empty() {
            self.lists.push(List::default());
        }
        let last = self.lists.len() - 1;
        &mut self.lists[last]
    }

    fn name(&self, quoted: &'t [u8]) -> Cow<'t, str> {
        match String::from_utf8(unquote(quoted, self.mode, false)) {
            Ok(name) => Cow::Owned(name),
            Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        }
    }

    /// Reports whether a point stands right before the token.
    fn is_in_path(&self, token: Token) -> bool {
        token.start > 0
            && self.text[token.start as usize - 1] == b'.'
            && self.units.last(1) == Some(&Unit::Word("."))
    }

    fn user_variable(&mut self, raw: &'t [u8]) {
        self.units.push(Unit::Word("@"));
        match raw.get(1) {
            Some(b'`') => self.units.push(Unit::Name(self.name(&raw[1..]))),
            _ => self.units.push_value(false),
        }
    }

    fn symbol(&mut self, token: Token) {
        let raw = self.raw(token);
        match raw {
            b"(" => self.lists.push(List::default()),
            b")" => {
                self.lists.pop();
                self.units.push_closing();
                return self.skip_rows(token);
            }
            b"," => {
                let list = self.list();
                list.begins_item = list.is_open;
            }
            b";" => *self.list() = List::default(),
            _ => {}
        }
        if let Some(symbol) = words::symbol(raw) {
            self.units.push(Unit::Word(symbol));
        }
    }

    /// Skips further rows behind the parenthesis that ends one of at least two rows.
    fn skip_rows(&mut self, closing: Token) {
        let of_one = match self.units.last(1) {
            Some(Unit::OneValueRows) => true,
            Some(Unit::Rows) => false,
            _ => return,
        };
        let at = closing.end as usize;
        let end = rows::skip(self.text, at, of_one, !self.mode.no_backslash_escapes);
        if end > at {
            self.tokens.go_on_at(end);
            self.next = self.tokens.next();
        }
    }

    fn next_word(&self) -> Option<&'static str> {
        (self.next.kind == TokenKind::Word).then(|| words::keyword(self.raw(self.next), false))?
    }

    /// Returns the number of a column if the integer is all of an item of a list.
    fn is_place(&self, raw: &[u8]) -> Option<u32> {
        let goes_on = match self.next.kind {
            TokenKind::Symbol => !matches!(self.raw(self.next), b"," | b")" | b";"),
            TokenKind::Word => self.next_word().is_some_and(|word| CONTINUE.contains(&word)),
            _ => false,
        };
        let place = std::str::from_utf8(raw).ok()?.parse().ok()?;
        (!goes_on && !self.units.continues_values()).then_some(place)
    }

    fn word(&mut self, token: Token) {
        let raw = self.raw(token);
        let opens = self.text.get(token.end as usize) == Some(&b'(');
        if self.is_qualifier(token) {
            return self.units.push(Unit::Name(String::from_utf8_lossy(raw)));
        }
        let Some(word) = words::keyword(raw, opens) else {
            let unit = match words::is_character_set(raw) {
                true => Unit::CharacterSet,
                false => Unit::Name(String::from_utf8_lossy(raw)),
            };
            return self.units.push(unit);
        };
        match word {
            "NULL" if self.is_value() => return self.units.push_value(false),
            "BY" => {
                let orders = ["ORDER", "GROUP", "PARTITION"].map(|word| Some(Unit::Word(word)));
                let is_open = orders.iter().any(|order| order.as_ref() == self.units.last(1));
                *self.list() = List { is_open, begins_item: is_open };
            }
            _ if END_OF_LIST.contains(&word) => *self.list() = List::default(),
            _ => {}
        }
        self.units.push(Unit::Word(word));
        if HINTED.contains(&word) {
            self.hints(token.end as usize);
        }
    }

    /// Reports whether a word is a name because a point and another name follow at once, as in
    /// `new.a`.
    fn is_qualifier(&self, token: Token) -> bool {
        let behind = &self.text[token.end as usize..];
        let goes_on = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'`' | 0x80..);
        behind.first() == Some(&b'.')
            && behind.get(1).is_some_and(goes_on)
            && self.units.last(1) != Some(&Unit::Word("@@"))
    }

    /// Reports whether NULL is a value at this place, and neither an attribute of a column nor a
    /// part of IS NULL, ON DELETE SET NULL or NULL ON EMPTY.
    fn is_value(&self) -> bool {
        let precedes = |nth: usize, more: &[&str]| match self.units.last(nth) {
            Some(Unit::Word(word)) => words::precedes_value(word) || more.contains(word),
            Some(Unit::CharacterSet) => true,
            _ => false,
        };
        let is = |nth: usize, word: &'static str| self.units.last(nth) == Some(&Unit::Word(word));
        let statement = self.units.first_word();
        if is(1, "NOT") {
            return precedes(2, &[]);
        }
        if is(1, "BINARY") {
            return !matches!(statement, Some("CREATE" | "ALTER"));
        }
        if matches!(self.units.last(1), Some(Unit::Name(_))) {
            return is(2, "{");
        }
        let is_on = self.next_word() == Some("ON");
        let sets_option = is(1, "=") && statement == Some("CHANGE");
        precedes(1, &[]) && !sets_option && !(is_on && self.ends_in_empty_or_error())
    }

    /// Reports whether the token behind the next one is EMPTY or ERROR.
    fn ends_in_empty_or_error(&self) -> bool {
        let rest = &self.text[self.next.end as usize..];
        let rest = rest.trim_ascii_start();
        ["EMPTY", "ERROR"].iter().any(|word| {
            rest.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
        })
    }

    /// Reads the hints behind the offset `at`, if there are some.
    fn hints(&mut self, at: usize) {
        let space = self.text[at..].iter().take_while(|byte| is_space(**byte)).count();
        let Some(inner) = self.text[at + space..].strip_prefix(b"/*+") else { return };
        let Some(length) = inner.windows(2).position(|pair| pair == b"*/") else { return };
        let inner = &inner[..length];
        let mut tokens = TokenStream::new(inner, self.mode);
        let mut token = tokens.next();
        if token.kind == TokenKind::End {
            return;
        }
        self.units.push(Unit::Word("/*+"));
        while token.kind != TokenKind::End {
            self.hint_token(inner, token);
            token = tokens.next();
        }
        self.units.push(Unit::Word("*/"));
    }

    fn hint_token(&mut self, text: &'t [u8], token: Token) {
        let raw = &text[token.start as usize..token.end as usize];
        let name = |name: Cow<'t, str>| match text.get(token.end as usize) {
            Some(b'@') => Unit::NameOfBlock(name),
            _ => Unit::Name(name),
        };
        let digits = raw.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_size = digits > 0 && matches!(&raw[digits..], [b'k' | b'K' | b'm' | b'M' | b'g' | b'G']);
        match token.kind {
            TokenKind::Word if is_size => self.units.push_value(false),
            TokenKind::Word => match words::hint(raw) {
                Some(word) => self.units.push(Unit::Word(word)),
                None => self.units.push(name(String::from_utf8_lossy(raw))),
            },
            TokenKind::QuotedName => {
                let unquoted = self.name(raw);
                self.units.push(name(unquoted));
            }
            TokenKind::UserVariable => {
                self.units.push(Unit::Word("@"));
                match raw.get(1) {
                    Some(b'`') => self.units.push(Unit::Name(self.name(&raw[1..]))),
                    Some(_) => self.units.push(Unit::Name(String::from_utf8_lossy(&raw[1..]))),
                    None => {}
                }
            }
            TokenKind::Symbol if raw == b")" => self.units.push_closing(),
            TokenKind::Symbol => {
                if let Some(symbol) = words::symbol(raw) {
                    self.units.push(Unit::Word(symbol));
                }
            }
            _ => self.units.push_value(false),
        }
    }
}
