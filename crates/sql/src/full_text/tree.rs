//! What a search asks for.

use std::collections::HashMap;

/// How the documents of a part change those that its level has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// None: they are found too.
    May,
    /// `+`: no others are found.
    Must,
    /// `-`: they are not found.
    MustNot,
    /// `>`: they are found, and rank higher.
    Higher,
    /// `<`: they are found, and rank lower.
    Lower,
    /// `~`: those of them that are found already rank lower.
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
    /// Nothing at all: `""`, a term without a word in it, and `()` with a sign.
    Nothing,
    Word(Term),
    /// The words of a term that has several (`a.b`): each with the term's sign.
    Words(Vec<Term>),
    /// A phrase, by its number.
    Phrase(usize),
    /// What stands in parentheses, by the number of its level.
    Level(usize),
}

/// Words that stand next to each other, or close.
#[derive(Debug, Clone, Default)]
pub(super) struct Phrase {
    /// The keys of its words, from the first on that an index has.
    pub all: Vec<Vec<u8>>,
    /// Of these, the ones that an index has, in their order.
    pub indexed: Vec<Vec<u8>>,
    /// The numbers of the indexed ones.
    pub numbers: Vec<u32>,
    /// Words from the first one to the last one at most; 0: they stand next to each other.
    pub distance: u64,
}

/// A word that is looked for, alone or with `*` behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    /// The word's number.
    pub word: u32,
    /// With `*`: how many characters are the beginning of the words that are looked for.
    pub prefix_chars: Option<usize>,
}

/// The keys of the different words of a search, numbered. `word` and `word*` are the same word.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: HashMap<Vec<u8>, u32>,
    keys: Vec<Vec<u8>>,
}

impl Words {
    /// The number of a word, which it gets if it has none.
    pub fn number(&mut self, key: Vec<u8>) -> u32 {
        let next = self.keys.len() as u32;
        *self.numbers.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            next
        })
    }

    /// By their numbers.
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }
}

/// A search.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub words: Words,
    pub phrases: Vec<Phrase>,
    /// The levels of parentheses, each behind those in it; the last one is the search.
    pub levels: Vec<Vec<Part>>,
}

impl Tree {
    /// Asks for the phrase of these words, each with its key and whether an index has it.
    pub fn phrase(&mut self, words: impl Iterator<Item = (Vec<u8>, bool)>, distance: u64) -> Asked {
        let mut phrase = Phrase { distance, ..Phrase::default() };
        for (key, is_indexed) in words {
            if is_indexed {
                phrase.numbers.push(self.words.number(key.clone()));
                phrase.indexed.push(key.clone());
            }
            if !phrase.indexed.is_empty() {
                phrase.all.push(key);
            }
        }
        self.phrases.push(phrase);
        Asked::Phrase(self.phrases.len() - 1)
    }

    /// The words outside of phrases, in no order, one as often as it is there.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.levels.iter().flatten().flat_map(|part| match &part.asked {
            Asked::Word(term) => std::slice::from_ref(term),
            Asked::Words(terms) => terms,
            Asked::Nothing | Asked::Phrase(_) | Asked::Level(_) => &[],
        })
    }
}
