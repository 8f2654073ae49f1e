//! The grammar of searches in indexes with the ngram parser. It has no errors: what it does not
//! know stands between words, and a search whose parentheses do not fit finds nothing.
//!
//! A word of more than two characters is a phrase of its pairs of characters.

use super::tree::{Asked, Part, Sign, Term, Tree};
use super::words::{Rules, Word, next_word};
use crate::error::Result;

/// Characters between two questions whether to go on.
const INTERRUPT_EVERY: usize = 4096;

/// Reads a search, whose text is in lower case where the collation has no other, and says whether
/// it is nested more deeply than `most_levels`.
///
/// # Errors
/// What `interrupt` says.
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

/// The marks before a word.
#[derive(Debug, Default, Clone, Copy)]
struct Marks {
    /// `+` or `-`, whichever came last.
    need: Option<Sign>,
    /// How many `>` more than `<`.
    weight: i64,
    /// An odd number of `~`.
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

/// A level whose parenthesis is open.
#[derive(Debug)]
struct Open {
    sign: Sign,
    parts: Vec<Part>,
}

struct Reader<'r> {
    text: &'r str,
    /// The byte that is looked at.
    at: usize,
    rules: &'r Rules,
    marks: Marks,
    /// A mark is one after a blank, a mark, an open parenthesis and at the beginning.
    can_mark: bool,
    open: Vec<Open>,
    most_levels: usize,
    is_too_deep: bool,
    tree: Tree,
}

impl<'r> Reader<'r> {
    /// Every pair of characters is a word.
    fn read_natural(&mut self, interrupt: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut parts = Vec::new();
        for (at, word) in self.rules.words(self.text).iter().enumerate() {
            if at.is_multiple_of(INTERRUPT_EVERY) {
                interrupt()?;
            }
            let word = self.tree.words.number(self.rules.key(word.text));
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
                    1 => return self.find_nothing(),
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
            return self.find_nothing();
        }
        let outermost = self.open.pop().map(|level| level.parts).unwrap_or_default();
        self.tree.levels.push(outermost);
        Ok(())
    }

    fn find_nothing(&mut self) -> Result<()> {
        self.tree = Tree::default();
        self.is_too_deep = false;
        Ok(())
    }

    /// Whether a character is a mark, which is taken then.
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

    /// The sign that the marks make; the next word has its own.
    fn end_marks(&mut self, can_mark: bool) -> Sign {
        self.can_mark = can_mark;
        std::mem::take(&mut self.marks).sign()
    }

    fn read_word(&mut self, word: &Word<'r>) {
        self.at = word.end();
        let has_star = self.text[self.at..].starts_with('*');
        let asked = match word.chars < self.rules.ngram_chars() {
            // No word of the index is as short as this one, but some begin with it.
            true => {
                let key = self.rules.key(word.text);
                match has_star {
                    true => Asked::Word(Term {
                        word: self.tree.words.number(key),
                        prefix_chars: Some(word.chars),
                    }),
                    false => self.tree.phrase([(key, true)].into_iter(), 0),
                }
            }
            false => {
                let pairs = self.rules.words(word.text).into_iter();
                self.tree.phrase(pairs.map(|pair| self.rules.keyed(&pair)), 0)
            }
        };
        let sign = self.end_marks(false);
        self.add(sign, asked);
    }

    /// A quoted text, up to the next quote or the end.
    fn read_phrase(&mut self) {
        let length = self.text[self.at..].find('"').unwrap_or(self.text.len() - self.at);
        let text = &self.text[self.at..self.at + length];
        self.at = (self.at + length + 1).min(self.text.len());
        let mut words = Vec::new();
        let mut from = 0;
        while let Some(word) = next_word(text, from) {
            from = word.end();
            match word.chars < self.rules.ngram_chars() {
                // It is looked for, and no document has it.
                true => words.push((self.rules.key(word.text), true)),
                false => words.extend(self.rules.words(word.text).iter().map(|pair| self.rules.keyed(pair))),
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
