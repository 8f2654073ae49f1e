//! The tree of a search: its levels, their parts, and the words and phrases that they ask for.

use std::collections::HashMap;
use types::words::{Sought, WordEntry};

/// The sign of a part, which says how the documents that have it change what its level has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// The part has no sign, and its documents are found too.
    May,
    /// The part has a `+`, and only its documents are found.
    Must,
    /// The part has a `-`, and its documents are not found.
    MustNot,
    /// The part has a `>`: its documents are found, and rank higher.
    Higher,
    /// The part has a `<`: its documents are found, and rank lower.
    Lower,
    /// The part has a `~`: those of its documents that are found already rank lower.
    Worse,
}

/// A part of a level, with its sign.
#[derive(Debug)]
pub(super) struct Part {
    pub sign: Sign,
    pub asked: Asked,
}

/// What a part asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// The part asks for nothing, as `""`, a term without a word and `()` with a sign do.
    Nothing,
    Word(Term),
    /// The part is a term that has several words (`a.b`), each of which has the term's sign.
    Words(Vec<Term>),
    /// The part is the phrase of this number.
    Phrase(usize),
    /// The part is the level of this number, which stands in parentheses.
    Level(usize),
}

/// A phrase: words that stand next to each other, or close to each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Phrase {
    /// The keys of the phrase's words, from the first word on that an index has.
    pub all: Vec<Vec<u8>>,
    /// The keys of those words that an index has, in their order.
    pub indexed: Vec<Vec<u8>>,
    /// The numbers of the words in `indexed`.
    pub numbers: Vec<u32>,
    /// The phrase has at most so many words from its first to its last one. 0 says that its words
    /// stand next to each other.
    pub distance: u64,
}

/// A word that is looked for, alone or with `*` behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    /// The number of the word, or of the beginning of words.
    pub word: u32,
    /// The number of characters that words must begin with, if a `*` follows. `None` asks for the
    /// word itself.
    pub prefix_chars: Option<usize>,
}

/// The numbers of the different words of a search, and their keys. `word` and `word*` have one
/// number.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: HashMap<Vec<u8>, u32>,
    keys: Vec<Vec<u8>>,
    entries: Vec<WordEntry>,
}

impl Words {
    /// Returns the number of a word. A word that has none yet gets the next one.
    pub fn number(&mut self, word: Sought) -> u32 {
        let next = self.keys.len() as u32;
        *self.numbers.entry(word.key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            self.entries.push(word.entry);
            next
        })
    }

    /// Returns the entry that an index has for a word.
    pub fn entry(&self, word: u32) -> &WordEntry {
        &self.entries[word as usize]
    }

    /// Returns the keys of all words, by their numbers.
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }
}

/// A search that has been read.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub words: Words,
    pub phrases: Vec<Phrase>,
    /// The levels of parentheses. Each stands behind those that it contains, so the last one is the
    /// search.
    pub levels: Vec<Vec<Part>>,
}

impl Tree {
    /// Adds the phrase of these words, and returns the part that asks for it.
    pub fn phrase(&mut self, words: impl Iterator<Item = Sought>, distance: u64) -> Asked {
        let mut phrase = Phrase { distance, ..Phrase::default() };
        for word in words {
            let key = word.key.clone();
            if word.is_indexed {
                phrase.numbers.push(self.words.number(word));
                phrase.indexed.push(key.clone());
            }
            if !phrase.indexed.is_empty() {
                phrase.all.push(key);
            }
        }
        self.phrases.push(phrase);
        Asked::Phrase(self.phrases.len() - 1)
    }

    /// Returns the words outside of phrases, in no order. A word comes as often as it was written.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.levels.iter().flatten().flat_map(|part| match &part.asked {
            Asked::Word(term) => std::slice::from_ref(term),
            Asked::Words(terms) => terms,
            Asked::Nothing | Asked::Phrase(_) | Asked::Level(_) => &[],
        })
    }
}
