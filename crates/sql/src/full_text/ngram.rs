//! The grammar of searches in indexes with the ngram parser. The grammar knows no errors: a
//! character that means nothing separates words, and a search with unbalanced parentheses finds
//! nothing.
//!
//! A word that is longer than an ngram is the phrase of its ngrams.

use super::tree::{Asked, Part, Sign, Term, Tree};
use crate::error::Result;
use types::words::{Rules, Sought, Word, next_word};

/// The number of characters that are read between two calls of `interrupt`.
const INTERRUPT_EVERY: usize = 4096;

/// Reads a search, and reports besides whether its parentheses are deeper than `most_levels`. The
/// text is in lower case, unless the collation is a binary one.
///
/// # Errors
/// Returns the errors of `interrupt`.
pub(super) fn parse_ngrams(
    text: &str,
    is_boolean: bool,
    rules: &Rules,
    most_levels: usize,
    interrupt: &dyn Fn() -> Result<()>,
) -> Result<(Tree, bool)> {
    let end = text.find('\0').unwrap_or(text.len());
    let mut reader = Reader {
        text: &text[..end],
        at: 0,
        rules,
        marks: Marks::default(),
        can_mark: true,
        open: vec![Open { sign: Sign::May, parts: Vec::new() }],
        most_levels,
        is_too_deep: false,
        tree: Tree::default(),
    };
    match is_boolean {
        true => reader.read_boolean(interrupt)?,
        false => reader.read_natural(interrupt)?,
    }
    Ok((reader.tree, reader.is_too_deep))
}

/// The operators in front of a word.
#[derive(Debug, Default, Clone, Copy)]
struct Marks {
    /// The sign of the last `+` or `-`.
    need: Option<Sign>,
    /// The number of `>` less that of `<`.
    weight: i64,
    /// Whether the number of `~` is odd.
    is_worse: bool,
}

impl Marks {
    fn sign(self) -> Sign {
        match (self.need, self.weight) {
            (Some(need), _) => need,
            (None, 1..) => Sign::Higher,
            (None, ..0) => Sign::Lower,
            (None, 0) if self.is_worse => Sign::Worse,
            (None, 0) => Sign::May,
        }
    }
}

/// A level whose parenthesis has not been closed yet.
#[derive(Debug)]
struct Open {
    sign: Sign,
    parts: Vec<Part>,
}

struct Reader<'r> {
    text: &'r str,
    /// The offset of the byte that is read next.
    at: usize,
    rules: &'r Rules,
    marks: Marks,
    /// Whether an operator may come next, which it may at the beginning, and behind a blank, an
    /// operator and an open parenthesis.
    can_mark: bool,
    open: Vec<Open>,
    most_levels: usize,
    is_too_deep: bool,
    tree: Tree,
}

impl<'r> Reader<'r> {
    /// Reads a search in natural language, which looks for each of its ngrams.
    fn read_natural(&mut self, interrupt: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut parts = Vec::new();
        for (at, word) in self.rules.words(self.text).iter().enumerate() {
            if at.is_multiple_of(INTERRUPT_EVERY) {
                interrupt()?;
            }
            let word = self.tree.words.number(self.rules.sought(word));
            parts.push(Part { sign: Sign::May, asked: Asked::Word(Term { word, prefix_chars: None }) });
        }
        self.tree.levels.push(parts);
        Ok(())
    }

    fn read_boolean(&mut self, interrupt: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut steps = 0_usize;
        while let Some(character) = self.text[self.at..].chars().next() {
            steps += 1;
            if steps.is_multiple_of(INTERRUPT_EVERY) {
                interrupt()?;
            }
            if let Some(word) = next_word(self.text, self.at).filter(|word| word.at == self.at) {
                self.read_word(&word);
                continue;
            }
            self.at += character.len_utf8();
            match character {
                '"' => self.read_phrase(),
                '(' => {
                    let sign = self.end_marks(true);
                    self.open.push(Open { sign, parts: Vec::new() });
                }
                ')' => match self.open.len() {
                    1 => {
                        self.find_nothing();
                        return Ok(());
                    }
                    _ => self.close(),
                },
                ' ' => {
                    self.marks.need = None;
                    self.can_mark = true;
                }
                _ if self.can_mark && self.mark(character) => (),
                _ => {
                    self.end_marks(false);
                }
            }
        }
        if self.open.len() > 1 {
            self.find_nothing();
            return Ok(());
        }
        let outermost = self.open.pop().map(|level| level.parts).unwrap_or_default();
        self.tree.levels.push(outermost);
        Ok(())
    }

    fn find_nothing(&mut self) {
        self.tree = Tree::default();
        self.is_too_deep = false;
    }

    /// Reads an operator. Returns false for a character that is none.
    fn mark(&mut self, character: char) -> bool {
        match character {
            '+' => self.marks.need = Some(Sign::Must),
            '-' => self.marks.need = Some(Sign::MustNot),
            '>' => self.marks.weight += 1,
            '<' => self.marks.weight -= 1,
            '~' => self.marks.is_worse = !self.marks.is_worse,
            _ => return false,
        }
        true
    }

    /// Returns the sign that the operators make, and forgets them.
    fn end_marks(&mut self, can_mark: bool) -> Sign {
        self.can_mark = can_mark;
        std::mem::take(&mut self.marks).sign()
    }

    fn read_word(&mut self, word: &Word<'r>) {
        self.at = word.end();
        let has_star = self.text[self.at..].starts_with('*');
        let asked = match word.chars < self.rules.ngram_chars() {
            // An index has no word that is shorter than an ngram, but it has words that begin with
            // one.
            true => {
                let sought = self.short(word);
                match has_star {
                    true => Asked::Word(Term {
                        word: self.tree.words.number(sought),
                        prefix_chars: Some(word.chars),
                    }),
                    false => self.tree.phrase([sought].into_iter(), 0),
                }
            }
            false => {
                let pairs = self.rules.words(word.text).into_iter();
                self.tree.phrase(pairs.map(|pair| self.rules.sought(&pair)), 0)
            }
        };
        let sign = self.end_marks(false);
        self.add(sign, asked);
    }

    /// Returns a word that is shorter than an ngram. It is looked for like one that an index has.
    fn short(&self, word: &Word<'_>) -> Sought {
        Sought { is_indexed: true, ..self.rules.sought(word) }
    }

    /// Reads a quoted text, up to the next quote or the end of the search.
    fn read_phrase(&mut self) {
        let length = self.text[self.at..].find('"').unwrap_or(self.text.len() - self.at);
        let text = &self.text[self.at..self.at + length];
        self.at = (self.at + length + 1).min(self.text.len());
        let mut words = Vec::new();
        let mut from = 0;
        while let Some(word) = next_word(text, from) {
            from = word.end();
            match word.chars < self.rules.ngram_chars() {
                // The word is looked for, although an index cannot have it, so that the phrase is
                // not found.
                true => words.push(self.short(&word)),
                false => words.extend(self.rules.words(word.text).iter().map(|pair| self.rules.sought(pair))),
            }
        }
        let asked = self.tree.phrase(words.into_iter(), 0);
        let sign = self.end_marks(false);
        self.add(sign, asked);
    }

    fn close(&mut self) {
        self.end_marks(false);
        let Some(level) = self.open.pop() else { return };
        self.tree.levels.push(level.parts);
        self.add(level.sign, Asked::Level(self.tree.levels.len() - 1));
    }

    fn add(&mut self, sign: Sign, asked: Asked) {
        self.is_too_deep |= self.open.len() > self.most_levels + 1;
        if let Some(level) = self.open.last_mut() {
            level.parts.push(Part { sign, asked });
        }
    }
}
