//! The words that each document was found for, in the order in which it was found for them.
//!
//! Each word gets a place in its document's record when the document is found for it first. A set
//! names words by these places, and relevances are summed in the order of the places, whatever set
//! the words come from. The order matters, because the sum of floats depends on it.

use crate::error::Result;
use crate::memory::Charge;
use std::collections::HashMap;

/// The memory that is charged for a document, in bytes. `WORD_BYTES` is that of one of its words.
const DOCUMENT_BYTES: usize = 2 * size_of::<(u64, Met)>() + 16;
const WORD_BYTES: usize = 2 * size_of::<(Occurrence, u32)>();

/// A document with at least so many words looks them up by a hash.
const MANY_WORDS: usize = 32;

/// A word of a search that a document has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence {
    /// The number of the word.
    pub word: u32,
    /// The number of times that the document has the word.
    pub count: u32,
}

/// The words that one document was found for.
#[derive(Debug, Default)]
struct Met {
    all: Vec<Occurrence>,
    /// The places of the words by their numbers. The map is empty while there are few words.
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

/// The records of all documents that were found for a word.
#[derive(Debug)]
pub(super) struct Record<'c> {
    documents: HashMap<u64, Met>,
    charge: &'c mut Charge,
}

impl<'c> Record<'c> {
    /// Makes a record without documents.
    pub fn new(charge: &'c mut Charge) -> Record<'c> {
        Record { documents: HashMap::new(), charge }
    }

    /// Returns the place of a word in a document's record. A word that has none gets the next one,
    /// and keeps the count that came with it then.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
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

    /// Returns the words of a document, by their places.
    pub fn of(&self, document: u64) -> &[Occurrence] {
        self.documents.get(&document).map_or(&[], |met| &met.all)
    }

    /// Returns the charge, to which the sets add what they keep.
    pub fn charge(&mut self) -> &mut Charge {
        self.charge
    }
}
