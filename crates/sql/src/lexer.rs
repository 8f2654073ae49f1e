//! Splits the text of a statement into tokens.
//!
//! Tokens are spans of the text; nothing is copied until a parser asks for a token's value. The
//! text is bytes, not UTF-8, because string literals may hold any bytes. As in MySQL, `/*! ... */`
//! and `/*!NNNNN ... */` comments are part of the text when their version is at most
//! [`VERSION_COMMENTS`]. All other comments are white space.

use crate::error::{Result, SqlError};
use crate::lexical::is_space;
pub use crate::lexical::{LexMode, number_bytes, unquote};
use crate::lexical::{Watch, is_word_byte};
use crate::literal_rows::LiteralRows;

/// The newest version whose comments are executed: `/*!90700 ... */` is, and `/*!90701 ... */` is a
/// comment. MariaDB's own `/*M! ... */` is a comment.
pub const VERSION_COMMENTS: u32 = 90700;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word without quotes: keyword or name.
    Word,
    /// A name in backticks (or double quotes under ANSI_QUOTES).
    QuotedName,
    /// A string in quotes.
    Text,
    /// Digits only.
    Integer,
    /// Digits with a decimal point.
    Decimal,
    /// A number with an exponent.
    Float,
    /// `0x1F` or `x'1F'`.
    Hex,
    /// `0b101` or `b'101'`.
    Bits,
    /// `?`.
    Parameter,
    /// `@name` or `@'name'`. A lone `@`, as between the parts of `user@host`, is also of this kind,
    /// with an empty name.
    UserVariable,
    /// `@@`.
    SystemVariable,
    /// One of the operators and punctuation marks.
    Symbol,
    /// All rows of a VALUES list that consists of literals; see [`LiteralRows`].
    Rows,
    /// The end of the statement: the end of the text, or a semicolon at the top level.
    End,
}

/// A span of the text and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind of the token.
    pub kind: TokenKind,
    /// The offset of the token's first byte in the text.
    pub start: u32,
    /// The offset after the token's last byte.
    pub end: u32,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    mode: LexMode,
    in_version_comment: bool,
}

/// Returns the number of tokens that room is made for at first. It is limited, because a long text
/// may hold many statements of which the first is short.
fn usual_tokens(text: &[u8]) -> usize {
    const MOST: usize = 16 << 10;
    (text.len() / 6 + 4).min(MOST)
}

/// Reports whether `text` has a statement, even an erroneous one, in front of its first semicolon.
pub fn has_statement(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer { text, at: 0, mode, in_version_comment: false };
    let first = lexer.skip_space().and_then(|()| lexer.token());
    first.map_or(true, |token| token.kind != TokenKind::End)
}

/// The watch is called after each run of this many tokens.
const WATCHED_TOKENS: usize = 4096;

/// The bytes that are charged for a token and for its node of the parsed tree. Each is in a list
/// that may have twice the room it needs, and a token of two bytes can become nodes of some hundred
/// bytes. The bound tree is charged when it is made.
const TOKEN_BYTES: usize = 256;

/// Names and strings of more bytes than this are charged beside their tokens, because the tree has
/// a copy.
const LONG_TOKEN_BYTES: usize = 64;

/// Tells the watch of each [`WATCHED_TOKENS`] of these tokens, of the rest at the end, and of each
/// token that is long.
#[inline]
fn note_token(tokens: &[Token], token: Token, watch: &mut Watch<'_>) -> Result<()> {
    let bytes = (token.end - token.start) as usize;
    if bytes > LONG_TOKEN_BYTES {
        watch(bytes)?;
    }
    let rest = tokens.len() % WATCHED_TOKENS;
    match (rest, token.kind == TokenKind::End) {
        (0, _) => watch(WATCHED_TOKENS * TOKEN_BYTES),
        (rest, true) => watch(rest * TOKEN_BYTES),
        _ => Ok(()),
    }
}

/// Returns the tokens of the first statement in `text`. They end with an [`TokenKind::End`] token
/// at the semicolon or at the end of the text.
///
/// # Errors
/// Returns 1064 for a string or name without its closing quote, or for a byte that starts no token.
pub fn tokenize(text: &[u8], mode: LexMode) -> Result<Vec<Token>> {
    tokenize_watched(text, mode, &mut |_| Ok(()))
}

fn tokenize_watched(text: &[u8], mode: LexMode, watch: &mut Watch<'_>) -> Result<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0, mode, in_version_comment: false };
    let mut tokens = Vec::with_capacity(usual_tokens(text));
    loop {
        lexer.skip_space()?;
        let token = lexer.token()?;
        tokens.push(token);
        note_token(&tokens, token, watch)?;
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

/// Returns the tokens of a whole text in which semicolons are symbols, because they stand within
/// the body of a stored program or after it.
pub(crate) fn tokenize_program(text: &[u8], mode: LexMode) -> Result<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0, mode, in_version_comment: false };
    let mut tokens = Vec::with_capacity(usual_tokens(text));
    loop {
        lexer.skip_space()?;
        let mut token = lexer.token()?;
        if token.kind == TokenKind::End && lexer.peek(0) == b';' {
            lexer.at += 1;
            token = Token { kind: TokenKind::Symbol, start: token.start, end: token.start + 1 };
        }
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

/// The tokens of a whole text, one after the other. Semicolons are symbols, and a byte that starts
/// no token ends the text.
pub(crate) struct TokenStream<'a> {
    lexer: Lexer<'a>,
}

impl<'a> TokenStream<'a> {
    /// Begins at the first token of `text`.
    pub fn new(text: &'a [u8], mode: LexMode) -> TokenStream<'a> {
        TokenStream { lexer: Lexer { text, at: 0, mode, in_version_comment: false } }
    }

    /// Returns the next token.
    pub fn next(&mut self) -> Token {
        let lexer = &mut self.lexer;
        let end = Token { kind: TokenKind::End, start: lexer.at as u32, end: lexer.at as u32 };
        let Ok(token) = lexer.skip_space().and_then(|()| lexer.token()) else { return end };
        if token.kind == TokenKind::End && lexer.peek(0) == b';' {
            lexer.at += 1;
            return Token { kind: TokenKind::Symbol, start: token.start, end: token.start + 1 };
        }
        token
    }

    /// Goes on at another offset, which is not within a token.
    pub fn go_on_at(&mut self, at: usize) {
        self.lexer.at = at;
    }
}

/// Does the same as [`tokenize`], except that the rows of an INSERT that consist of literals alone
/// become one token and are returned beside the tokens.
///
/// # Errors
/// Returns the errors of [`tokenize`] and those of `watch`.
pub(crate) fn tokenize_statement(
    text: &[u8],
    mode: LexMode,
    watch: &mut Watch<'_>,
) -> Result<(Vec<Token>, Option<LiteralRows>)> {
    /// The usual number of tokens before the rows of an INSERT that lists its columns.
    const USUAL_TOKENS: usize = 64;
    let is = |token: Token, words: &[&[u8]]| {
        let raw = &text[token.start as usize..token.end as usize];
        token.kind == TokenKind::Word && words.iter().any(|word| raw.eq_ignore_ascii_case(word))
    };
    let mut lexer = Lexer { text, at: 0, mode, in_version_comment: false };
    lexer.skip_space()?;
    let first = lexer.token()?;
    if !is(first, &[b"INSERT", b"REPLACE"]) {
        let tokens = tokenize_watched(text, mode, watch)?;
        let words =
            tokens.iter().map(|token| (token.kind, text[token.start as usize..token.end as usize].to_vec()));
        if is(first, &[b"CREATE", b"ALTER"]) && is_program(words) {
            return Ok((tokenize_program(text, mode)?, None));
        }
        return Ok((tokens, None));
    }
    let mut tokens = Vec::with_capacity(USUAL_TOKENS);
    tokens.push(first);
    let (mut rows, mut looked) = (None, false);
    loop {
        lexer.skip_space()?;
        let token = lexer.token()?;
        tokens.push(token);
        note_token(&tokens, token, watch)?;
        if token.kind == TokenKind::End {
            return Ok((tokens, rows));
        }
        // Only the first VALUES introduces rows: `VALUES(column)` after ON DUPLICATE KEY UPDATE
        // comes later. VALUE does not end the search, because a column may be called `value`.
        looked |= is(token, &[b"SELECT", b"SET", b"TABLE", b"WITH"]);
        if !looked && is(token, &[b"VALUES", b"VALUE"]) {
            lexer.skip_space()?;
            looked = token.end - token.start == 6;
            if lexer.peek(0) == b'('
                && !lexer.in_version_comment
                && let Some((found, end)) = LiteralRows::scan(text, lexer.at, mode, watch)?
            {
                tokens.push(Token { kind: TokenKind::Rows, start: lexer.at as u32, end: end as u32 });
                (rows, lexer.at, looked) = (Some(found), end, true);
            }
        }
    }
}

/// Builds the syntax error (1064) near byte `at` of `text`.
pub fn syntax_error(text: &[u8], at: usize) -> SqlError {
    /// The bytes of the following text that are passed on, more than the message shows.
    const SHOWN_BYTES: usize = 1024;
    let at = at.min(text.len());
    let shown = &text[at..text.len().min(at + SHOWN_BYTES)];
    let line = 1 + text[..at].iter().filter(|b| **b == b'\n').count();
    SqlError::syntax(&String::from_utf8_lossy(shown), line)
}

/// Builds the same error as [`syntax_error`], but near the first byte after the white space at
/// `at`.
pub fn syntax_error_after(text: &[u8], at: usize) -> SqlError {
    let blank = text[at..].iter().take_while(|byte| is_space(**byte)).count();
    syntax_error(text, at + blank)
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) -> Result<()> {
        loop {
            match self.peek(0) {
                byte if is_space(byte) => self.at += 1,
                b'#' => self.skip_line(),
                b'-' if self.peek(1) == b'-' && (self.peek(2) <= b' ') => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.comment()?,
                b'*' if self.in_version_comment && self.peek(1) == b'/' => {
                    self.in_version_comment = false;
                    self.at += 2;
                }
                _ => return Ok(()),
            }
            if self.at >= self.text.len() {
                return Ok(());
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.text[self.at] != b'\n' {
            self.at += 1;
        }
    }

    /// Enters a version comment that counts, or skips a comment. The lexer stands at its `/*`.
    fn comment(&mut self) -> Result<()> {
        let of_mariadb =
            self.mode.of_source && !self.mode.of_mysql && self.peek(2) == b'M' && self.peek(3) == b'!';
        if (self.peek(2) == b'!' || of_mariadb) && !self.in_version_comment {
            self.at += usize::from(of_mariadb);
            let digits = self.text[self.at + 3..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
            let version = self.text[self.at + 3..self.at + 3 + digits]
                .iter()
                .fold(0u32, |version, digit| version * 10 + u32::from(digit - b'0'));
            // MariaDB's dumps begin with a comment of a version that no server has.
            const NO_VERSION: u32 = 999_999;
            if digits < 5 || version <= VERSION_COMMENTS || of_mariadb && version < NO_VERSION {
                self.at += 3 + if digits >= 5 { digits } else { 0 };
                self.in_version_comment = true;
                return Ok(());
            }
        }
        let start = self.at;
        match self.text.get(start + 2..).unwrap_or_default().windows(2).position(|pair| pair == b"*/") {
            Some(length) => self.at = start + 2 + length + 2,
            None => return Err(syntax_error(self.text, start)),
        }
        Ok(())
    }

    fn token(&mut self) -> Result<Token> {
        let start = self.at;
        let kind = self.token_kind()?;
        Ok(Token { kind, start: start as u32, end: self.at as u32 })
    }

    fn token_kind(&mut self) -> Result<TokenKind> {
        if self.at >= self.text.len() {
            return Ok(TokenKind::End);
        }
        let byte = self.peek(0);
        match byte {
            b';' => Ok(TokenKind::End),
            // Some clients send a C string together with the zero byte that ends it.
            0 if self.at + 1 == self.text.len() => Ok(TokenKind::End),
            b'x' | b'X' | b'b' | b'B' if self.peek(1) == b'\'' => self.quoted_number(byte),
            b'n' | b'N' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.quoted(b'\'', TokenKind::Text)
            }
            b'0' if matches!(self.peek(1), b'x' | b'b') => self.prefixed_number(),
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.peek(1).is_ascii_digit() && !self.after_word() => Ok(self.number()),
            b'\'' => self.quoted(b'\'', TokenKind::Text),
            b'"' if self.mode.ansi_quotes => self.quoted(b'"', TokenKind::QuotedName),
            b'"' => self.quoted(b'"', TokenKind::Text),
            b'`' => self.quoted(b'`', TokenKind::QuotedName),
            b'?' => {
                self.at += 1;
                Ok(TokenKind::Parameter)
            }
            b'@' => self.variable(),
            _ if is_word_byte(byte) => {
                self.word();
                Ok(TokenKind::Word)
            }
            _ => self.symbol(),
        }
    }

    /// Reports whether the point at hand stands right after a name, whose qualifier it is, as in
    /// `t.1a`.
    fn after_word(&self) -> bool {
        self.at > 0 && (is_word_byte(self.text[self.at - 1]) || self.text[self.at - 1] == b'`')
    }

    fn word(&mut self) {
        while self.at < self.text.len() && is_word_byte(self.text[self.at]) {
            self.at += 1;
        }
    }

    fn quoted(&mut self, quote: u8, kind: TokenKind) -> Result<TokenKind> {
        let start = self.at;
        let escapes = kind == TokenKind::Text && !self.mode.no_backslash_escapes;
        self.at += 1;
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            if byte == quote {
                if self.peek(1) != quote {
                    self.at += 1;
                    return Ok(kind);
                }
                self.at += 2;
            } else if byte == b'\\' && escapes {
                self.at += 2;
            } else {
                self.at += 1;
            }
        }
        Err(syntax_error(self.text, start))
    }

    fn quoted_number(&mut self, prefix: u8) -> Result<TokenKind> {
        let start = self.at;
        self.at += 1;
        self.quoted(b'\'', TokenKind::QuotedName)?;
        let digits = &self.text[start + 2..self.at - 1];
        let hex = prefix.eq_ignore_ascii_case(&b'x');
        let valid = if hex {
            digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit)
        } else {
            digits.iter().all(|digit| matches!(digit, b'0' | b'1'))
        };
        match (valid, hex) {
            (true, true) => Ok(TokenKind::Hex),
            (true, false) => Ok(TokenKind::Bits),
            (false, _) => Err(syntax_error(self.text, start)),
        }
    }

    /// Reads a token that begins with `0x` or `0b`: a number when digits follow, otherwise a name
    /// such as `0xyz`.
    fn prefixed_number(&mut self) -> Result<TokenKind> {
        let hex = self.peek(1) == b'x';
        let start = self.at;
        self.word();
        let digits = &self.text[start + 2..self.at];
        let valid = |digit: &u8| if hex { digit.is_ascii_hexdigit() } else { matches!(digit, b'0' | b'1') };
        if !digits.is_empty() && digits.iter().all(valid) {
            return Ok(if hex { TokenKind::Hex } else { TokenKind::Bits });
        }
        Ok(TokenKind::Word)
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut kind = TokenKind::Integer;
        self.digits();
        if self.peek(0) == b'.' {
            kind = TokenKind::Decimal;
            self.at += 1;
            self.digits();
        }
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + sign).is_ascii_digit() {
            kind = TokenKind::Float;
            self.at += 1 + sign;
            self.digits();
        }
        if kind == TokenKind::Integer && is_word_byte(self.peek(0)) {
            // A name may start with digits: `1st_column`.
            self.word();
            kind = TokenKind::Word;
        }
        kind
    }

    fn variable(&mut self) -> Result<TokenKind> {
        self.at += 1;
        match self.peek(0) {
            b'@' => {
                self.at += 1;
                Ok(TokenKind::SystemVariable)
            }
            quote @ (b'\'' | b'"' | b'`') => {
                let kind = if quote == b'`' { TokenKind::QuotedName } else { TokenKind::Text };
                self.quoted(quote, kind)?;
                Ok(TokenKind::UserVariable)
            }
            _ => {
                while is_word_byte(self.peek(0)) || self.peek(0) == b'.' {
                    self.at += 1;
                }
                Ok(TokenKind::UserVariable)
            }
        }
    }

    fn symbol(&mut self) -> Result<TokenKind> {
        const LONG: [&[u8]; 13] =
            [b"<=>", b"->>", b"<=", b">=", b"<>", b"!=", b"<<", b">>", b"&&", b"||", b":=", b"->", b"=="];
        for symbol in LONG {
            if self.text[self.at..].starts_with(symbol) && symbol != b"==" {
                self.at += symbol.len();
                return Ok(TokenKind::Symbol);
            }
        }
        if b"+-*/%=<>!~&|^(),.:{}".contains(&self.peek(0)) {
            self.at += 1;
            return Ok(TokenKind::Symbol);
        }
        Err(syntax_error(self.text, self.at))
    }
}

/// Reports whether a statement that begins with CREATE or ALTER has a body with semicolons of its
/// own.
fn is_program(words: impl Iterator<Item = (TokenKind, Vec<u8>)>) -> bool {
    /// The most tokens that are searched: the word for the object's kind stands after words and
    /// accounts.
    const MOST: usize = 24;
    for (kind, raw) in words.skip(1).take(MOST) {
        if kind != TokenKind::Word {
            continue;
        }
        match raw.to_ascii_uppercase().as_slice() {
            b"TRIGGER" | b"PROCEDURE" | b"FUNCTION" | b"EVENT" => return true,
            b"TABLE" | b"VIEW" | b"DATABASE" | b"SCHEMA" | b"INDEX" | b"USER" | b"ROLE" => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokenize(text.as_bytes(), LexMode::default()).unwrap().iter().map(|token| token.kind).collect()
    }

    fn texts(text: &str) -> Vec<&str> {
        let tokens = tokenize(text.as_bytes(), LexMode::default()).unwrap();
        tokens.iter().map(|t| &text[t.start as usize..t.end as usize]).collect()
    }

    #[test]
    fn words_numbers_and_strings() {
        use TokenKind::*;
        assert_eq!(
            kinds("select 1, 1.5, .5, 2e3, 0x1F, x'0a', b'1', 'a''b', `c`, @v, @@x, ? -- end"),
            [
                Word,
                Integer,
                Symbol,
                Decimal,
                Symbol,
                Decimal,
                Symbol,
                Float,
                Symbol,
                Hex,
                Symbol,
                Hex,
                Symbol,
                Bits,
                Symbol,
                Text,
                Symbol,
                QuotedName,
                Symbol,
                UserVariable,
                Symbol,
                SystemVariable,
                Word,
                Symbol,
                Parameter,
                End
            ]
        );
    }

    #[test]
    fn version_comments_count_up_to_the_version() {
        assert_eq!(
            texts("a /*! b */ /*!40101 c */ /*!99999 d */ /* e */ /*+ f */ g"),
            ["a", "b", "c", "g", ""]
        );
        assert_eq!(texts("a /*!50000 b /* inner */ c */ d # x\ne"), ["a", "b", "c", "d", "e", ""]);
    }

    #[test]
    fn ends_at_a_semicolon() {
        assert_eq!(texts("a ; b"), ["a", ""]);
        assert_eq!(texts("a\0"), ["a", ""]);
    }

    #[test]
    fn unclosed_quotes_are_errors_with_their_place() {
        let error = tokenize(b"select\n 'abc", LexMode::default()).unwrap_err();
        assert_eq!(error.code, 1064);
        assert!(error.message.ends_with("near ''abc' at line 2"), "{}", error.message);
    }

    #[test]
    fn unquoting() {
        let mode = LexMode::default();
        assert_eq!(unquote(br"'a\n\'b''c\%\\'", mode, true), b"a\n'b'c\\%\\");
        assert_eq!(unquote(br"`a\b``c`", mode, false), br"a\b`c");
        let plain = LexMode { no_backslash_escapes: true, ..mode };
        assert_eq!(unquote(br"'a\n'", plain, true), br"a\n");
    }

    #[test]
    fn hex_and_bit_literals() {
        assert_eq!(number_bytes(b"0x1F2", true), [0x01, 0xf2]);
        assert_eq!(number_bytes(b"x'0aFF'", true), [0x0a, 0xff]);
        assert_eq!(number_bytes(b"b'100000001'", false), [1, 1]);
        assert_eq!(number_bytes(b"x''", true), []);
    }

    #[test]
    fn the_watch_ends_the_reading() {
        let expressions = format!("SELECT 1{}", "+1".repeat(100_000));
        let rows = format!("INSERT INTO t VALUES {}(1,2)", "(1,'row'),".repeat(200_000));
        for text in [expressions, rows] {
            let mut seen_bytes = 0;
            let all = tokenize_statement(text.as_bytes(), LexMode::default(), &mut |bytes| {
                seen_bytes += bytes;
                Ok(())
            });
            assert!(all.is_ok() && seen_bytes > text.len(), "{seen_bytes} of {}", text.len());
            let (mut asked, limit) = (0, seen_bytes / 2);
            let refused = tokenize_statement(text.as_bytes(), LexMode::default(), &mut |bytes| {
                asked += bytes;
                if asked > limit { Err(SqlError::interrupted()) } else { Ok(()) }
            });
            assert_eq!(refused.map(|_| ()).unwrap_err().code, 1317);
            assert!(asked < seen_bytes, "it goes on to the end of the text");
        }
    }
}
