//! The grammar of searches, except in indexes with the ngram parser.
//!
//! Parentheses enclose a level. The levels that are open are kept in a list, so that deep
//! parentheses need no deep stack. MySQL's parser refuses a search when its own stack is full; the
//! parser here counts the symbols that MySQL's would have on that stack, and refuses the same
//! searches.

use super::lexer::{Lexer, Token};
use super::ngram::parse_ngrams;
use super::tree::{Asked, Part, Sign, Term, Tree};
use crate::error::{Result, SqlError};
use types::words::Rules;

/// The number of symbols that MySQL's parser can have on its stack.
const MOST_PENDING: usize = 9_999;
/// The number of levels of parentheses that may stand in each other.
const MOST_LEVELS: usize = 32;
/// The number of words of a phrase that an index may have.
const MOST_PHRASE_WORDS: usize = 128;
/// The number of tokens that are read between two calls of `interrupt`.
const INTERRUPT_EVERY: usize = 1024;

/// Reads a search. Its text is in lower case, unless the collation is a binary one.
///
/// # Errors
/// Returns 1064 for a search that InnoDB does not understand, 191 for a phrase of too many words,
/// 209 for parentheses that are too deep, and the errors of `interrupt`.
pub(super) fn parse(
    text: &str,
    is_boolean: bool,
    rules: &Rules,
    interrupt: &dyn Fn() -> Result<()>,
) -> Result<Tree> {
    let (tree, is_too_deep) = match rules.is_ngram() {
        true => parse_ngrams(text, is_boolean, rules, MOST_LEVELS, interrupt)?,
        false => parse_words(text, is_boolean, rules, interrupt)?,
    };
    if tree.phrases.iter().any(|phrase| phrase.indexed.len() > MOST_PHRASE_WORDS) {
        return Err(SqlError::new(191, "Too many words in a FTS phrase or proximity search"));
    }
    if is_too_deep {
        return Err(SqlError::new(209, "Too many nested sub-expressions in a full-text search"));
    }
    Ok(tree)
}

/// Reads a search, and reports besides whether its parentheses are too deep.
fn parse_words(
    text: &str,
    is_boolean: bool,
    rules: &Rules,
    interrupt: &dyn Fn() -> Result<()>,
) -> Result<(Tree, bool)> {
    let mut lexer = Lexer::new(text, is_boolean);
    let next = lexer.next();
    let open = vec![Open { sign: None, parts: Vec::new() }];
    let mut reader = Reader {
        lexer,
        next,
        is_boolean,
        rules,
        interrupt,
        open,
        signs: 0,
        is_too_deep: false,
        tree: Tree::default(),
        read: 0,
    };
    reader.read_all()?;
    Ok((reader.tree, reader.is_too_deep))
}

/// A level whose parenthesis has not been closed yet.
#[derive(Debug)]
struct Open {
    /// The sign in front of the parenthesis.
    sign: Option<Sign>,
    parts: Vec<Part>,
}

struct Reader<'r> {
    lexer: Lexer<'r>,
    /// The token that is read next.
    next: Token<'r>,
    is_boolean: bool,
    rules: &'r Rules,
    interrupt: &'r dyn Fn() -> Result<()>,
    /// The open levels, the innermost one last.
    open: Vec<Open>,
    /// The number of open levels that have a sign.
    signs: usize,
    is_too_deep: bool,
    tree: Tree,
    /// The number of tokens that have been read.
    read: usize,
}

impl<'r> Reader<'r> {
    fn read_all(&mut self) -> Result<()> {
        loop {
            match self.next {
                Token::End if self.open.len() == 1 => break,
                Token::Mark(')') if self.open.len() > 1 => {
                    self.take(0)?;
                    self.close();
                }
                _ => self.read_part()?,
            }
        }
        let outermost = self.open.pop().map(|level| level.parts).unwrap_or_default();
        self.tree.levels.push(outermost);
        Ok(())
    }

    /// Takes the next token. `before` is the number of symbols of an unfinished part in front of
    /// it.
    fn take(&mut self, before: usize) -> Result<Token<'r>> {
        // Each open level holds a symbol of its own and one for its parts.
        let pending = 2 * self.open.len() + self.signs + before + 1;
        if pending > MOST_PENDING {
            return Err(SqlError::new(1064, "memory exhausted"));
        }
        self.read += 1;
        if self.read.is_multiple_of(INTERRUPT_EVERY) {
            (self.interrupt)()?;
        }
        Ok(std::mem::replace(&mut self.next, self.lexer.next()))
    }

    fn unexpected(&self, expected: &str) -> SqlError {
        SqlError::new(1064, format!("syntax error, unexpected {}{expected}", self.next.name()))
    }

    fn read_part(&mut self) -> Result<()> {
        let sign = self.read_sign()?;
        let before = usize::from(sign.is_some());
        match self.next {
            Token::Term(_) | Token::Number(_) | Token::Mark('*') => self.read_term(sign, before),
            Token::Quoted(_) => self.read_phrase(sign, before),
            Token::Mark('(') => {
                // The list of the level's parts is a symbol too.
                self.take(before + 1)?;
                self.signs += before;
                self.open.push(Open { sign, parts: Vec::new() });
                Ok(())
            }
            _ if self.open.len() == 1 && sign.is_none() => Err(self.unexpected(", expecting $end")),
            _ => Err(self.unexpected("")),
        }
    }

    fn read_sign(&mut self) -> Result<Option<Sign>> {
        let sign = match self.next {
            Token::Mark('+') => Sign::Must,
            Token::Mark('-') => Sign::MustNot,
            Token::Mark('>') => Sign::Higher,
            Token::Mark('<') => Sign::Lower,
            Token::Mark('~') => Sign::Worse,
            _ => return Ok(None),
        };
        self.take(0)?;
        Ok(Some(sign))
    }

    /// Reads a term. Stars in front of it have no effect, and one behind it makes its last word the
    /// beginning of words.
    fn read_term(&mut self, sign: Option<Sign>, before: usize) -> Result<()> {
        let mut stars = 0;
        while self.next == Token::Mark('*') {
            self.take(before + stars)?;
            stars += 1;
        }
        let (Token::Term(term) | Token::Number(term)) = self.next else {
            return Err(self.unexpected(", expecting FTS_TERM or FTS_NUMB or '*'"));
        };
        self.take(before + stars)?;
        let is_prefix = self.next == Token::Mark('*');
        if is_prefix {
            self.take(before + 1)?;
        }
        let asked = self.asked_by_term(term, is_prefix && self.is_boolean);
        self.add(sign, asked);
        Ok(())
    }

    fn asked_by_term(&mut self, term: &str, is_prefix: bool) -> Asked {
        let mut words = Vec::new();
        for word in self.rules.words(term) {
            if self.rules.is_searched(&word, words.is_empty()) {
                words.push(word);
            }
        }
        // The star belongs to the last word.
        let last = words.len().saturating_sub(1);
        let mut terms = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            let prefix_chars = (is_prefix && at == last).then_some(word.chars);
            terms.push(Term { word: self.tree.words.number(self.rules.sought(word)), prefix_chars });
        }
        match terms[..] {
            [] => Asked::Nothing,
            [term] => Asked::Word(term),
            _ => Asked::Words(terms),
        }
    }

    /// Reads a quoted text, and the distance that may follow it (`"a b" @8`).
    fn read_phrase(&mut self, sign: Option<Sign>, before: usize) -> Result<()> {
        let Token::Quoted(text) = self.take(before)? else { return Ok(()) };
        let mut distance = 0;
        if self.next == Token::Mark('@') {
            self.take(before + 1)?;
            let Token::Number(digits) = self.next else {
                return Err(self.unexpected(", expecting FTS_NUMB"));
            };
            self.take(before + 2)?;
            // The token has digits alone, so a number that cannot be read is too large.
            distance = digits.parse().unwrap_or(u64::MAX);
        }
        let asked = match text.is_empty() {
            true => Asked::Nothing,
            false => {
                let words = self.rules.words(text).into_iter().map(|word| self.rules.sought(&word));
                self.tree.phrase(words, distance)
            }
        };
        self.add(sign, asked);
        Ok(())
    }

    /// Closes the innermost level. A level without parts is dropped, unless it has a sign.
    fn close(&mut self) {
        let Some(level) = self.open.pop() else { return };
        self.signs -= usize::from(level.sign.is_some());
        if !level.parts.is_empty() {
            self.tree.levels.push(level.parts);
            self.add(level.sign, Asked::Level(self.tree.levels.len() - 1));
        } else if level.sign.is_some() {
            self.add(level.sign, Asked::Nothing);
        }
    }

    fn add(&mut self, sign: Option<Sign>, asked: Asked) {
        self.is_too_deep |= self.open.len() > MOST_LEVELS + 1;
        if let Some(level) = self.open.last_mut() {
            level.parts.push(Part { sign: sign.unwrap_or(Sign::May), asked });
        }
    }
}
