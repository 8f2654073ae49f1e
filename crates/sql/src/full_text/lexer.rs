//! The tokens of a search: its operators, its terms and its quoted texts.

/// A token of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A term is what stands between separators. It has one word, several (`a.b`), or none (`.`).
    Term(&'t str),
    /// A term that consists of digits alone.
    Number(&'t str),
    /// A quoted text, without its quotes.
    Quoted(&'t str),
    /// An operator.
    Mark(char),
    End,
}

impl Token<'_> {
    /// Returns the token's name in MySQL's messages.
    pub fn name(self) -> String {
        match self {
            Token::Term(_) => "FTS_TERM".to_owned(),
            Token::Number(_) => "FTS_NUMB".to_owned(),
            Token::Quoted(_) => "FTS_TEXT".to_owned(),
            Token::Mark(mark) => format!("'{mark}'"),
            Token::End => "$end".to_owned(),
        }
    }
}

/// The lexer of a search, which returns its tokens one after the other.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    rest: &'t str,
    is_boolean: bool,
}

impl<'t> Lexer<'t> {
    /// Begins with the first token of a search. A NUL ends the search.
    pub fn new(text: &'t str, is_boolean: bool) -> Lexer<'t> {
        let end = text.find('\0').unwrap_or(text.len());
        Lexer { rest: &text[..end], is_boolean }
    }

    pub fn next(&mut self) -> Token<'t> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '%']);
            let Some(first) = self.rest.chars().next() else { return Token::End };
            if first == '"' {
                // A quote that is never closed is ignored.
                match self.rest[1..].find('"') {
                    Some(length) => return Token::Quoted(&self.cut(length + 2)[1..=length]),
                    None => self.cut(1),
                };
            } else if self.is_mark(first) {
                self.cut(1);
                return Token::Mark(first);
            } else {
                return self.term();
            }
        }
    }

    fn term(&mut self) -> Token<'t> {
        let is_end =
            |character| matches!(character, ' ' | '\t' | '\n' | '%' | '"') || self.is_mark(character);
        let length = self.rest.find(is_end).unwrap_or(self.rest.len());
        let term = self.cut(length);
        match term.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Token::Number(term),
            false => Token::Term(term),
        }
    }

    /// Reports whether a character is an operator. In natural language `*` is one too, and has no
    /// effect.
    fn is_mark(&self, character: char) -> bool {
        match self.is_boolean {
            true => matches!(character, '(' | ')' | '*' | '+' | '-' | '<' | '>' | '@' | '~'),
            false => character == '*',
        }
    }

    fn cut(&mut self, length: usize) -> &'t str {
        let (cut, rest) = self.rest.split_at(length);
        self.rest = rest;
        cut
    }
}
