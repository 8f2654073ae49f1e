//! The parser: recursive descent over the tokens of one statement.
//!
//! One grammar of its own serves all statements. Half of them (replication, binary log, users,
//! SHOW, SET, table options) are unknown to every library that parses SQL, error 1064 has to point
//! at the very token at which MySQL's does, and INSERT texts of half a megabyte are parsed in one
//! pass without building a foreign tree first. What MySQL knows and this server does not is refused
//! by name with 1235, and what MySQL does not know with 1064.

mod account_options;
mod admin;
mod alter;
mod columns;
mod counted;
mod create;
#[cfg(test)]
mod damaged;
pub(crate) mod deprecated;
mod dml;
mod explain;
mod expr;
mod foreign_key;
mod full_text;
mod function;
mod grants;
mod handler;
mod hint_blocks;
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
pub(crate) mod reserved;
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
pub(crate) use hints::HINTS_WITHOUT_TIME;
pub use hints::{HintValue, Hints};
pub(crate) use keywords::keywords_of_mysql;
pub use keywords::{all_keywords, is_plain_name};
use std::cell::OnceCell;
use std::collections::HashSet;

/// The greatest height of a statement's tree if the thread's stack has room for it. It is a little
/// more than MySQL's stack has room for.
const MOST_LEVELS: usize = 2_040;
/// The most bytes of the stack that one level of the tree needs in any recursion over it: parsing,
/// binding, evaluating, copying, dropping (`sql/tests/nesting.rs` measures it).
const STACK_BYTES_A_LEVEL: usize = 5 << 10;
/// The bytes of the stack that are kept for everything whose depth does not grow with the tree.
const STACK_BYTES_KEPT: usize = 384 << 10;
/// The number of levels that a query within a query counts as, because a recursion passes through
/// more functions for it.
const LEVELS_OF_A_QUERY: usize = 6;
/// The number of queries that may be nested, which is MySQL's limit.
const MOST_QUERY_LEVELS: usize = 63;

/// Returns the number of levels for which this thread's stack has room.
fn levels_for_this_stack() -> usize {
    let left = os::thread::stack_bytes_left().saturating_sub(STACK_BYTES_KEPT);
    (left / STACK_BYTES_A_LEVEL).min(MOST_LEVELS)
}

/// Reports whether this thread's stack has room for a recursion over a tree of this many levels.
/// The binder uses it, whose calls begin a little deeper than the parser's did.
pub(crate) fn fits(levels: usize) -> bool {
    levels <= levels_for_this_stack() + levels_for_this_stack() / 16
}

/// Checks, before a query within a query is run, that this thread's stack has room for it.
///
/// # Errors
/// Returns 1436 (`ER_STACK_OVERRUN_NEED_MORE`) when it has not.
pub(crate) fn check_stack() -> Result<()> {
    match os::thread::stack_bytes_left() > STACK_BYTES_KEPT {
        true => Ok(()),
        false => Err(too_deep()),
    }
}

/// Builds error 1436, which says that the statement is nested too deeply.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(1436, "Thread stack overrun: the statement is nested too deeply")
}

/// A parsed statement, and the extent of its text.
#[derive(Debug)]
pub struct Parsed {
    /// The tree of the statement.
    pub statement: Statement,
    /// The number of parameters (`?`).
    pub parameters: usize,
    /// The statement's optimizer hints.
    pub hints: Hints,
    /// The position of the statement's end: its semicolon, or the length of the text.
    pub end: usize,
    /// The position of the next statement in the text, or the length of the text if there is none.
    pub next: usize,
}

/// Parses the first statement of `text`. Returns `Ok(None)` for nothing but white space, and
/// [`Statement::Empty`] for comments alone.
pub fn parse(text: &[u8], mode: LexMode) -> Result<Option<Parsed>> {
    parse_watched(text, mode, &mut |_| Ok(()))
}

/// Does what [`parse`] does. While the text is read, `watch` is asked whether the statement's trees
/// may take more memory.
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
        // Text that the lexer has skipped and that is not white space is a comment.
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
        // A stored program ends here. The semicolons within it are symbols.
        end = parser.token();
        next = end.end as usize;
        parser.at = parser.tokens.len() - 1;
    }
    if parser.token().kind != TokenKind::End {
        return Err(parser.error());
    }
    parser.warn_of_dollar_names();
    let Parser { parameters, mut hints, blocks, .. } = parser;
    let unknown_blocks = blocks.end();
    if !unknown_blocks.is_empty() {
        hints.warnings.extend(unknown_blocks);
    }
    Ok(Some(Parsed { statement, parameters, hints, end: end.start as usize, next }))
}

/// Parses a single expression, as definitions keep them.
pub(crate) fn parse_expression(text: &[u8], mode: LexMode) -> Result<Expr> {
    let (tokens, rows) = lexer::tokenize_statement(text, mode, &mut |_| Ok(()))?;
    let mut parser = Parser::new(text, &tokens, rows, mode);
    let expr = parser.expr()?;
    if parser.token().kind != TokenKind::End {
        return Err(parser.error());
    }
    Ok(expr)
}

/// Parses a text that consists of a part of a statement.
fn parse_part<T>(text: &[u8], mode: LexMode, read: impl FnOnce(&mut Parser<'_>) -> Result<T>) -> Result<T> {
    let tokens = lexer::tokenize(text, LexMode { of_source: true, ..mode })?;
    let mut parser = Parser::new(text, &tokens, None, LexMode { of_source: true, ..mode });
    let part = read(&mut parser)?;
    if parser.at_end() { Ok(part) } else { Err(parser.error()) }
}

struct Parser<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    /// The rows that the token [`TokenKind::Rows`] stands for.
    rows: Option<LiteralRows>,
    at: usize,
    /// Where the statement begins that runs or is explained.
    begins_at: usize,
    mode: LexMode,
    parameters: usize,
    /// The present depth of the parser's recursion.
    depth: usize,
    hints: Hints,
    /// The query blocks of the statement, as hints name them.
    blocks: hint_blocks::Blocks,
    /// The height of the highest tree among the operands that have been read for the present
    /// expression.
    highest: usize,
    /// The limit of `depth` and of `highest`.
    most_levels: usize,
    /// The number of queries around the present place.
    queries: usize,
    /// The INTO clause of the present query.
    into: Option<SelectInto>,
    /// The number of calls of functions over windows so far.
    window_calls: usize,
    /// The number of tables so far in the present FROM.
    tables: usize,
    /// MariaDB's `IF NOT EXISTS` stood behind the kind of the last key.
    if_not_exists_of_key: bool,
    /// The body of the stored program that is being read.
    body: Option<Box<program::Body>>,
    /// The positions of the tokens that open parentheses with a comma of their own. They are
    /// computed when INTERVAL first needs them.
    lists: OnceCell<HashSet<usize>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8], tokens: &'a [Token], rows: Option<LiteralRows>, mode: LexMode) -> Parser<'a> {
        Parser {
            text,
            tokens,
            rows,
            at: 0,
            begins_at: 0,
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
            blocks: hint_blocks::Blocks::default(),
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

    /// Builds error 1064 at the current token.
    fn error(&self) -> SqlError {
        lexer::syntax_error(self.text_of_statement(), self.token().start as usize)
    }

    /// Returns the text up to the end of this statement, so that an error does not quote the next
    /// one.
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

    #[inline]
    fn token_is(&self, token: Token, word: &str) -> bool {
        // The length nearly always decides, and saves the call that compares the letters.
        token.kind == TokenKind::Word
            && (token.end - token.start) as usize == word.len()
            && self.raw(token).eq_ignore_ascii_case(word.as_bytes())
    }

    fn is(&self, word: &str) -> bool {
        self.token_is(self.token(), word)
    }

    fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// Reports whether these words follow here, one after the other.
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

    /// Skips these words if all of them follow here. Returns whether they did.
    fn eat_all(&mut self, words: &[&str]) -> bool {
        let found = self.are(words);
        if found {
            self.at += words.len();
        }
        found
    }

    /// Skips one of these words if it follows here. Returns whether one did.
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
        // The first byte nearly always decides, and saves the call that compares memory.
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

    /// Reports whether the statement ends here. Within the body of a program it ends at its
    /// semicolon.
    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End || self.body.is_some() && self.is_symbol(";")
    }

    /// Reads `item, item, ...`.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_symbol(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Reads `(item, item, ...)`.
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

    /// Returns the current word in upper case. Empty if the token is no word.
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
            TokenKind::Word => !self.is_reserved(self.raw(token)),
            _ => false,
        }
    }

    /// Reports whether a word is reserved at the server that the statement comes from.
    fn is_reserved(&self, word: &[u8]) -> bool {
        // A source that is no MariaDB server may be a replica of one, and pass on its statements.
        let is_name = || {
            self.mode.of_source
                && reserved::is_name_in_mariadb(word)
                && !(self.mode.of_mysql && reserved::leads_in_mysql(word))
        };
        reserved::is_reserved(word) && !is_name()
    }

    /// Reads a name. A reserved word is one only in quotes.
    fn name(&mut self) -> Result<String> {
        if !self.is_name() {
            return Err(self.error());
        }
        self.any_name()
    }

    /// Reads a name behind a point, where reserved words are names too.
    fn any_name(&mut self) -> Result<String> {
        const MOST_CHARS: usize = 64;
        let name = self.word()?;
        if name.chars().count() > MOST_CHARS {
            return Err(SqlError::new(1059, format!("Identifier name '{name:.100}' is too long")));
        }
        Ok(name)
    }

    /// Reads a word or a quoted name of any length.
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

    /// Reads a string literal. Adjacent literals are joined.
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

    /// Reads a string literal, or bytes written as a number like `x'2c'`.
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

    /// Reads a string literal that must be UTF-8.
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
        let shown = ::types::escaped::escaped_beginning(written.as_bytes());
        let text = format!("Cannot convert string '{shown}' from utf8mb4 to utf8mb3");
        self.hints.warnings.push((1300, text));
        written.chars().map(|c| if has_place(c) { c } else { '?' }).collect()
    }

    /// Reads a string literal or a name.
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

    /// Skips `CHARACTER SET`, `CHAR SET` or `CHARSET` if it follows here. Returns whether it did.
    fn eat_charset_word(&mut self) -> bool {
        self.eat("CHARSET") || self.eat_all(&["CHARACTER", "SET"]) || self.eat_all(&["CHAR", "SET"])
    }
}

#[cfg(test)]
mod tests;
