//! Recursive descent over the tokens of one statement.
//!
//! One grammar of our own serves all statements: half of them (replication, binary log, users,
//! SHOW, SET, table options) are known to no SQL parser library, error 1064 has to point at the
//! very token where MySQL's would, and INSERT texts of half a megabyte are parsed in one pass
//! without building a foreign tree first. What MySQL knows and this server does not is refused by
//! name with 1235; what MySQL does not know with 1064.

mod account_options;
mod admin;
mod alter;
mod columns;
mod counted;
mod create;
#[cfg(test)]
mod damaged;
mod dml;
mod expr;
mod foreign_key;
mod function;
mod grants;
mod handler;
mod hints;
mod into;
mod json;
mod keys;
mod keywords;
mod load;
mod mariadb;
pub(crate) mod object;
pub(crate) mod partition;
pub(crate) mod program;
mod query;
mod reserved;
mod set;
mod set_operation;
mod show;
mod statement;
mod table_options;
mod types;
mod users;
mod window;
mod worded;
mod xa;

use crate::ast::{Expr, SelectInto, Statement, TableName};
use crate::error::{Result, SqlError};
use crate::lexer::{self, LexMode, Token, TokenKind};
use crate::lexical;
use crate::literal_rows::LiteralRows;
pub use hints::Hints;
pub use keywords::is_plain_name;
use std::cell::OnceCell;
use std::collections::HashSet;

/// How high the tree of a statement may be where the stack of the thread bears it: a little more
/// than MySQL's own bears.
const MOST_LEVELS: usize = 2_040;
/// What one level of the tree takes of the stack at most, in whatever goes through it: parsing,
/// binding, evaluating, copying, letting go (`sql/tests/nesting.rs` measures it).
const STACK_BYTES_A_LEVEL: usize = 5 << 10;
/// What is kept of the stack for everything that does not go deeper with the tree.
const STACK_BYTES_KEPT: usize = 384 << 10;
/// How many levels a query within a query counts for: what goes through it goes through more
/// functions.
const LEVELS_OF_A_QUERY: usize = 6;
/// Queries within queries, as MySQL has it.
const MOST_QUERY_LEVELS: usize = 63;

/// The levels that the stack of this thread has room for.
fn levels_for_this_stack() -> usize {
    let left = os::thread::stack_bytes_left().saturating_sub(STACK_BYTES_KEPT);
    (left / STACK_BYTES_A_LEVEL).min(MOST_LEVELS)
}

/// Whether a tree of so many levels may be gone through on a thread as this one. The binder asks,
/// which is a little deeper in its calls than the parser was.
pub(crate) fn fits(levels: usize) -> bool {
    levels <= levels_for_this_stack() + levels_for_this_stack() / 16
}

/// Asks before a query within a query is run whether this thread's stack has room for it.
///
/// # Errors
/// 1436.
pub(crate) fn check_stack() -> Result<()> {
    match os::thread::stack_bytes_left() > STACK_BYTES_KEPT {
        true => Ok(()),
        false => Err(too_deep()),
    }
}

/// 1436: the statement is nested too deeply.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(1436, "Thread stack overrun: the statement is nested too deeply")
}

/// A statement and what was read of the text.
#[derive(Debug)]
pub struct Parsed {
    /// The tree.
    pub statement: Statement,
    /// Number of `?`.
    pub parameters: usize,
    /// Its optimizer hints.
    pub hints: Hints,
    /// Where the statement ends: at its semicolon, or the text's length.
    pub end: usize,
    /// Where the next statement of the text starts; the text's length when there is none.
    pub next: usize,
}

/// Parses the first statement of `text`. `Ok(None)`: nothing but white space. Comments alone are
/// [`Statement::Empty`].
pub fn parse(text: &[u8], mode: LexMode) -> Result<Option<Parsed>> {
    parse_watched(text, mode, &mut |_| Ok(()))
}

/// As [`parse`]; `watch` is asked, while the text is read, about what the trees of the statement
/// may take.
pub(crate) fn parse_watched(
    text: &[u8],
    mode: LexMode,
    watch: &mut lexical::Watch<'_>,
) -> Result<Option<Parsed>> {
    let (tokens, rows) = lexer::tokenize_statement(text, mode, watch)?;
    let mut end = tokens[tokens.len() - 1];
    let mut next = (end.start as usize + 1).min(text.len());
    if tokens.len() == 1 {
        let end = end.start as usize;
        // What the lexer has skipped and is no white space is a comment.
        return if text[..end].iter().any(|byte| !lexical::is_space(*byte)) {
            let statement = Statement::Empty;
            Ok(Some(Parsed { statement, parameters: 0, hints: Hints::default(), end, next }))
        } else if end >= text.len() {
            Ok(None)
        } else {
            Err(SqlError::new(1065, "Query was empty"))
        };
    }
    let mut parser = Parser::new(text, &tokens, rows, mode);
    let statement = parser.statement()?;
    if parser.is_symbol(";") {
        // Behind a stored program, whose own semicolons are symbols.
        end = parser.token();
        next = end.end as usize;
        parser.at = parser.tokens.len() - 1;
    }
    if parser.token().kind != TokenKind::End {
        return Err(parser.error());
    }
    let Parser { parameters, hints, .. } = parser;
    Ok(Some(Parsed { statement, parameters, hints, end: end.start as usize, next }))
}

/// Parses one expression, as definitions keep them.
pub(crate) fn parse_expression(text: &[u8], mode: LexMode) -> Result<Expr> {
    let (tokens, rows) = lexer::tokenize_statement(text, mode, &mut |_| Ok(()))?;
    let mut parser = Parser::new(text, &tokens, rows, mode);
    let expr = parser.expr()?;
    if parser.token().kind != TokenKind::End {
        return Err(parser.error());
    }
    Ok(expr)
}

/// Reads a part of a statement, which is all of the text.
fn parse_part<T>(text: &[u8], mode: LexMode, read: impl FnOnce(&mut Parser<'_>) -> Result<T>) -> Result<T> {
    let tokens = lexer::tokenize(text, LexMode { of_source: true, ..mode })?;
    let mut parser = Parser::new(text, &tokens, None, LexMode { of_source: true, ..mode });
    let part = read(&mut parser)?;
    if parser.at_end() { Ok(part) } else { Err(parser.error()) }
}

struct Parser<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    /// What the token [`TokenKind::Rows`] stands for.
    rows: Option<LiteralRows>,
    at: usize,
    mode: LexMode,
    parameters: usize,
    /// How deep the parser is in its own calls.
    depth: usize,
    hints: Hints,
    /// The height of the highest tree among the operands read so far of what is being read.
    highest: usize,
    /// Limit of both.
    most_levels: usize,
    /// Queries that the place at hand is in.
    queries: usize,
    /// INTO of the query that is being read.
    into: Option<SelectInto>,
    /// Calls of functions over windows so far.
    window_calls: usize,
    /// Tables so far of the FROM that is being read.
    tables: usize,
    /// MariaDB's `IF NOT EXISTS` stood behind the kind of the key that was read last.
    if_not_exists_of_key: bool,
    /// The stored program whose body is read.
    body: Option<Box<program::Body>>,
    /// The tokens that open parentheses with a comma of their own, once INTERVAL has asked.
    lists: OnceCell<HashSet<usize>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8], tokens: &'a [Token], rows: Option<LiteralRows>, mode: LexMode) -> Parser<'a> {
        Parser {
            text,
            tokens,
            rows,
            at: 0,
            mode,
            parameters: 0,
            depth: 0,
            highest: 0,
            most_levels: levels_for_this_stack(),
            queries: 0,
            into: None,
            window_calls: 0,
            tables: 0,
            if_not_exists_of_key: false,
            lists: OnceCell::new(),
            body: None,
            hints: Hints::default(),
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn ahead(&self, count: usize) -> Token {
        self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    fn raw(&self, token: Token) -> &'a [u8] {
        &self.text[token.start as usize..token.end as usize]
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// 1064 at the current token.
    fn error(&self) -> SqlError {
        lexer::syntax_error(self.text_of_statement(), self.token().start as usize)
    }

    /// The text up to the end of this statement, so that an error does not quote the next one.
    fn text_of_statement(&self) -> &'a [u8] {
        &self.text[..self.tokens[self.tokens.len() - 1].start as usize]
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > self.most_levels { Err(too_deep()) } else { Ok(()) }
    }

    /// Refuses a tree that is too high.
    fn check_height(&self, height: usize) -> Result<()> {
        if height > self.most_levels { Err(too_deep()) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn token_is(&self, token: Token, word: &str) -> bool {
        token.kind == TokenKind::Word && self.raw(token).eq_ignore_ascii_case(word.as_bytes())
    }

    fn is(&self, word: &str) -> bool {
        self.token_is(self.token(), word)
    }

    fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// Whether the words follow one another here.
    fn are(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(ahead, word)| self.token_is(self.ahead(ahead), word))
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.is(word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Eats all of the words or none.
    fn eat_all(&mut self, words: &[&str]) -> bool {
        let found = self.are(words);
        if found {
            self.at += words.len();
        }
        found
    }

    /// Eats one of the words.
    fn eat_any(&mut self, words: &[&str]) -> bool {
        let found = self.is_any(words);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.eat(word) { Ok(()) } else { Err(self.error()) }
    }

    fn expect_all(&mut self, words: &[&str]) -> Result<()> {
        words.iter().try_for_each(|word| self.expect(word))
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        self.symbol_ahead(0, symbol)
    }

    #[inline]
    fn symbol_ahead(&self, count: usize, symbol: &str) -> bool {
        let (token, symbol) = (self.ahead(count), symbol.as_bytes());
        // The first byte decides nearly always, and spares the call that compares memory.
        let raw = self.raw(token);
        token.kind == TokenKind::Symbol && raw[0] == symbol[0] && raw[1..] == symbol[1..]
    }

    fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { Err(self.error()) }
    }

    /// The statement ends here; within the body of a program at its semicolon.
    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End || self.body.is_some() && self.is_symbol(";")
    }

    /// `item, item, ...`
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_symbol(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(item, item, ...)`
    fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_symbol("(")?;
        let items = self.list(item)?;
        self.expect_symbol(")")?;
        Ok(items)
    }

    fn word_text(&self, token: Token) -> Result<String> {
        let bytes = match token.kind {
            TokenKind::QuotedName => lexer::unquote(self.raw(token), self.mode, false),
            _ => self.raw(token).to_vec(),
        };
        String::from_utf8(bytes).map_err(|_| self.error())
    }

    /// The current word in upper case; empty when it is none.
    fn upper(&self) -> String {
        let token = self.token();
        if token.kind == TokenKind::Word {
            String::from_utf8_lossy(self.raw(token)).to_ascii_uppercase()
        } else {
            String::new()
        }
    }

    fn is_name(&self) -> bool {
        let token = self.token();
        match token.kind {
            TokenKind::QuotedName => true,
            TokenKind::Word => !reserved::is_reserved(self.raw(token)),
            _ => false,
        }
    }

    /// A name that is no reserved word unless quoted.
    fn name(&mut self) -> Result<String> {
        if !self.is_name() {
            return Err(self.error());
        }
        self.any_name()
    }

    /// A name behind a point, where reserved words are names too.
    fn any_name(&mut self) -> Result<String> {
        const MOST_CHARS: usize = 64;
        let name = self.word()?;
        if name.chars().count() > MOST_CHARS {
            return Err(SqlError::new(1059, format!("Identifier name '{name:.100}' is too long")));
        }
        Ok(name)
    }

    /// A word or a quoted name, however long it is.
    fn word(&mut self) -> Result<String> {
        let token = self.token();
        if !matches!(token.kind, TokenKind::Word | TokenKind::QuotedName | TokenKind::Integer) {
            return Err(self.error());
        }
        let word = self.word_text(token)?;
        if word.is_empty() {
            return Err(self.error());
        }
        self.advance();
        Ok(word)
    }

    fn table_name(&mut self) -> Result<TableName> {
        let name = self.name()?;
        if self.eat_symbol(".") {
            return Ok(TableName { schema: Some(name), name: self.any_name()? });
        }
        Ok(TableName { schema: None, name })
    }

    /// A string literal; neighbours are joined.
    fn text_literal(&mut self) -> Result<Vec<u8>> {
        if self.token().kind != TokenKind::Text {
            return Err(self.error());
        }
        let first = self.advance();
        let mut bytes = lexer::unquote(self.raw(first), self.mode, true);
        while self.token().kind == TokenKind::Text {
            let next = self.advance();
            bytes.extend(lexer::unquote(self.raw(next), self.mode, true));
        }
        Ok(bytes)
    }

    /// A string literal, or bytes as a number has them: `x'2c'`.
    fn text_or_bytes(&mut self) -> Result<Vec<u8>> {
        let token = self.token();
        match token.kind {
            TokenKind::Hex | TokenKind::Bits => {
                self.advance();
                Ok(lexer::number_bytes(self.raw(token), token.kind == TokenKind::Hex))
            }
            _ => self.text_literal(),
        }
    }

    /// A string literal that has to be UTF-8.
    fn string(&mut self) -> Result<String> {
        let error = self.error();
        String::from_utf8(self.text_literal()?).map_err(|_| error)
    }

    /// A comment on an object, which is kept in the system character set.
    fn comment(&mut self) -> Result<String> {
        let written = self.string()?;
        Ok(self.kept_as_comment(written))
    }

    /// A text in the system character set, utf8mb3: a character that has no place there becomes a
    /// question mark, with MySQL's warning 1300.
    fn kept_as_comment(&mut self, written: String) -> String {
        let has_place = |c: char| u32::from(c) <= 0xffff;
        if written.chars().all(has_place) {
            return written;
        }
        const SHOWN_BYTES: usize = 6;
        let shown = |byte: &u8| match byte {
            0x20..0x7f => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        };
        let start: String = written.bytes().take(SHOWN_BYTES).map(|byte| shown(&byte)).collect();
        let more = if written.len() > SHOWN_BYTES { "..." } else { "" };
        let text = format!("Cannot convert string '{start}{more}' from utf8mb4 to utf8mb3");
        self.hints.warnings.push((1300, text));
        written.chars().map(|c| if has_place(c) { c } else { '?' }).collect()
    }

    /// A string literal or a name.
    fn string_or_name(&mut self) -> Result<String> {
        match self.token().kind {
            TokenKind::Text => self.string(),
            TokenKind::Word | TokenKind::QuotedName => self.any_name(),
            _ => Err(self.error()),
        }
    }

    fn unsigned(&mut self) -> Result<u64> {
        let token = self.token();
        let bytes = self.raw(token);
        let value = match token.kind {
            TokenKind::Integer => std::str::from_utf8(bytes).ok().and_then(|digits| digits.parse().ok()),
            TokenKind::Hex if bytes.len() <= 18 => {
                std::str::from_utf8(&bytes[2..]).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        let value = value.ok_or_else(|| self.error())?;
        self.advance();
        Ok(value)
    }

    fn unsigned32(&mut self) -> Result<u32> {
        let error = self.error();
        u32::try_from(self.unsigned()?).map_err(|_| error)
    }

    fn if_exists(&mut self) -> bool {
        self.eat_all(&["IF", "EXISTS"])
    }

    fn if_not_exists(&mut self) -> bool {
        self.eat_all(&["IF", "NOT", "EXISTS"])
    }

    /// `CHARACTER SET` or `CHARSET`.
    fn eat_charset_word(&mut self) -> bool {
        self.eat("CHARSET") || self.eat_all(&["CHARACTER", "SET"]) || self.eat_all(&["CHAR", "SET"])
    }
}

#[cfg(test)]
mod tests;
