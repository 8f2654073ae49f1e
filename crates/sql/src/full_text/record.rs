//! Which words each document was met with, and in which order.
//!
//! A document's words are numbered as it meets them. A set names the words that it found a document
//! for by these places, so that they are added up in this order, whatever set they come from: a sum
//! of floats depends on it.

use crate::error::Result;
use crate::memory::Charge;
use std::collections::HashMap;

/// What a document takes, and a word of it.
const DOCUMENT_BYTES: usize = 2 * size_of::<(u64, Met)>() + 16;
const WORD_BYTES: usize = 2 * size_of::<(Occurrence, u32)>();

/// From so many words on a document's are looked up by a hash.
const MANY_WORDS: usize = 32;

/// A word of a search that a document has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence {
    /// The word's number.
    pub word: u32,
    /// How often the document has it.
    pub count: u32,
}

/// The words that a document was met with.
#[derive(Debug, Default)]
struct Met {
    all: Vec<Occurrence>,
    /// The places of the words by their numbers, once there are many.
    places: HashMap<u32, usize>,
}

impl Met {
    fn place(&self, word: u32) -> Option<usize> {
        match self.places.is_empty() {
            true => self.all.iter().position(|occurrence| occurrence.word == word),
            false => self.places.get(&word).copied(),
        }
    }

    fn add(&mut self, occurrence: Occurrence) -> usize {
        let place = self.all.len();
        self.all.push(occurrence);
        if place + 1 == MANY_WORDS {
            self.places = self.all.iter().enumerate().map(|(at, other)| (other.word, at)).collect();
        } else if place >= MANY_WORDS {
            self.places.insert(occurrence.word, place);
        }
        place
    }
}

/// The documents that were met.
#[derive(Debug)]
pub(super) struct Record<'c> {
    documents: HashMap<u64, Met>,
    charge: &'c mut Charge,
}

impl<'c> Record<'c> {
    /// Nothing was met yet.
    pub fn new(charge: &'c mut Charge) -> Record<'c> {
        Record { documents: HashMap::new(), charge }
    }

    /// The place of a word among those of a document, which it gets if it has none. How often the
    /// document has it is what was said first.
    ///
    /// # Errors
    /// As [`Charge::add`].
    pub fn meet(&mut self, document: u64, occurrence: Occurrence) -> Result<usize> {
        if !self.documents.contains_key(&document) {
            self.charge.add(DOCUMENT_BYTES)?;
        }
        let met = self.documents.entry(document).or_default();
        match met.place(occurrence.word) {
            Some(place) => Ok(place),
            None => {
                self.charge.add(WORD_BYTES)?;
                Ok(met.add(occurrence))
            }
        }
    }

    /// The words of a document, by their places.
    pub fn of(&self, document: u64) -> &[Occurrence] {
        self.documents.get(&document).map_or(&[], |met| &met.all)
    }

    /// The charge for what else a search keeps.
    pub fn charge(&mut self) -> &mut Charge {
        self.charge
    }
}
