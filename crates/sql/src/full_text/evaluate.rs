//! The evaluation of a search: the documents that it finds, and the rank of each.
//!
//! The parts of a level are evaluated in three rounds. The first round adds documents: those of the
//! parts without a sign or with `<`, `>` or `~`, and those of terms with several words, whatever
//! their sign. The second round restricts them by the parts with `+`, and the third removes those
//! of the parts with `-`.

use super::gather::{Gathered, Places};
use super::record::{Occurrence, Record};
use super::sets::{Member, Set};
use super::tree::{Asked, Part, Phrase, Sign, Term, Tree};
use crate::error::Result;
use crate::memory::Charge;
use std::collections::HashMap;

/// The number of documents that are met between two calls of `interrupt`.
const INTERRUPT_EVERY: u64 = 1024;

/// The evaluation of a search, with what it has found so far.
pub(super) struct Evaluation<'e> {
    /// The keys of the words, by the words' numbers.
    keys: Vec<Vec<u8>>,
    /// The number of documents of each word, by the words' numbers. A word that is looked for twice
    /// counts its documents twice.
    counts: Vec<u64>,
    gathered: Gathered,
    record: Record<'e>,
    interrupt: &'e dyn Fn() -> Result<()>,
    met: u64,
    /// The set that a level had before its last word with `+`, if that word left no document.
    lost: Option<Set>,
    found: Set,
}

impl<'e> Evaluation<'e> {
    /// Makes an evaluation that has found nothing.
    pub fn new(
        gathered: Gathered,
        charge: &'e mut Charge,
        interrupt: &'e dyn Fn() -> Result<()>,
    ) -> Evaluation<'e> {
        let (keys, counts, record) = (Vec::new(), Vec::new(), Record::new(charge));
        Evaluation { keys, counts, gathered, record, interrupt, met: 0, lost: None, found: Set::default() }
    }

    /// Finds what a search asks for.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`] and of `interrupt`.
    pub fn run(&mut self, tree: &Tree) -> Result<()> {
        assert_eq!(self.gathered.of_phrase.len(), tree.phrases.len(), "gathered for another search");
        self.keys = tree.words.keys().to_vec();
        self.counts = vec![0; self.keys.len()];
        if let Some(outermost) = tree.levels.last() {
            self.found = self.level(outermost, tree)?;
        }
        Ok(())
    }

    /// Returns the documents that are found, each with the keys of the words that it was found for.
    pub fn found(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = &Vec<u8>>)> {
        self.found.iter().map(|(document, member)| {
            (document, self.words_of(document, member).map(|occurrence| &self.keys[occurrence.word as usize]))
        })
    }

    /// Adds the documents of further words, for WITH QUERY EXPANSION. `gathered` tells of these
    /// words.
    ///
    /// # Errors
    /// Returns the errors of [`Evaluation::run`].
    pub fn expand(&mut self, words: &[Vec<u8>], gathered: Gathered) -> Result<()> {
        let before = std::mem::replace(&mut self.gathered, gathered);
        self.gathered.hashes.extend(before.hashes);
        let mut set = std::mem::take(&mut self.found);
        for key in words {
            self.keys.push(key.clone());
            self.counts.push(0);
            let word = self.keys.len() as u32 - 1;
            self.word(&mut set, Sign::May, Term { word, prefix_chars: None })?;
        }
        self.found = set;
        Ok(())
    }

    /// Returns the words that a document of a set was found for.
    fn words_of<'s>(&'s self, document: u64, member: &'s Member) -> impl Iterator<Item = &'s Occurrence> {
        let all = self.record.of(document).iter().enumerate();
        all.filter(|(place, _)| member.words.has(*place)).map(|(_, occurrence)| occurrence)
    }

    /// Returns the relevance of each document that is found, by the document's hash.
    pub fn relevances(&self) -> HashMap<u128, f32> {
        let documents = self.gathered.documents;
        let frequencies: Vec<f64> = self.counts.iter().map(|count| frequency(documents, *count)).collect();
        let relevance = |(document, member): (u64, &Member)| {
            let mut rank = f32::from(member.shift);
            for Occurrence { word, count } in self.words_of(document, member) {
                let frequency = frequencies[*word as usize];
                rank += (f64::from(*count) * frequency * frequency) as f32;
            }
            Some((*self.gathered.hashes.get(&document)?, rank))
        };
        self.found.iter().filter_map(relevance).collect()
    }

    /// Returns what a level finds. The recursion is as deep as the parentheses are, which is
    /// limited.
    fn level(&mut self, parts: &[Part], tree: &Tree) -> Result<Set> {
        let mut set = Set::default();
        for round in 0..3 {
            for part in parts.iter().filter(|part| round_of(part) == round) {
                (self.interrupt)()?;
                match &part.asked {
                    Asked::Nothing => (),
                    Asked::Word(word) => self.word(&mut set, part.sign, *word)?,
                    Asked::Words(words) => {
                        for word in words {
                            self.word(&mut set, part.sign, *word)?;
                        }
                    }
                    Asked::Phrase(at) => self.phrase(&mut set, part.sign, &tree.phrases[*at], *at)?,
                    Asked::Level(at) => {
                        let found = self.level(&tree.levels[*at], tree)?;
                        set.merge(part.sign, found);
                    }
                }
            }
        }
        Ok(set)
    }

    /// Changes a level's set by a word.
    fn word(&mut self, set: &mut Set, sign: Sign, term: Term) -> Result<()> {
        if set.is_settled(sign) {
            return Ok(());
        }
        let lost = self.meet(set, sign, term)?;
        if sign == Sign::Must {
            self.lost = lost;
        }
        Ok(())
    }

    /// Changes a set by the documents that have a word, and returns what [`Set::meet`] does.
    fn meet(&mut self, set: &mut Set, sign: Sign, term: Term) -> Result<Option<Set>> {
        let lists = places(&self.gathered, &self.keys[term.word as usize], term.prefix_chars);
        self.counts[term.word as usize] += lists.iter().map(|list| list.len() as u64).sum::<u64>();
        let Evaluation { record, interrupt, met, .. } = self;
        let documents = lists.into_iter().flatten().map(|(document, count)| {
            *met += 1;
            if met.is_multiple_of(INTERRUPT_EVERY) {
                interrupt()?;
            }
            Ok((*document, Occurrence { word: term.word, count: *count }))
        });
        set.meet(sign, documents, record)
    }

    /// Changes a level's set by a phrase. A phrase of one word does what the word does, except that
    /// the word is looked for in any case.
    fn phrase(&mut self, set: &mut Set, sign: Sign, phrase: &Phrase, at: usize) -> Result<()> {
        let documents = &self.gathered.of_phrase[at];
        // MySQL finds nothing in this case, even where another level has lost the documents.
        let is_lost = sign == Sign::Must && self.lost.as_ref().is_some_and(|lost| !lost.has_any(documents));
        if let ([word], [_], false) = (&phrase.numbers[..], &phrase.all[..], is_lost) {
            self.meet(set, sign, Term { word: *word, prefix_chars: None })?;
            return Ok(());
        }
        // MySQL looks for no further word of the phrase once a word is in no document.
        let mut lists = Vec::with_capacity(phrase.numbers.len());
        for word in &phrase.numbers {
            let list = self.gathered.words.get(&self.keys[*word as usize]);
            let Some(list) = list.filter(|list| !list.is_empty()) else { break };
            self.counts[*word as usize] += list.len() as u64;
            lists.push((*word, list));
        }
        let mut found = Set::default();
        if let [(_, first), ..] = lists[..]
            && lists.len() == phrase.numbers.len()
        {
            for (document, _) in first {
                self.met += 1;
                if self.met.is_multiple_of(INTERRUPT_EVERY) {
                    (self.interrupt)()?;
                }
                let occurrence = |(word, list): &(u32, &Places)| {
                    let place = list.binary_search_by_key(document, |(document, _)| *document).ok()?;
                    Some(Occurrence { word: *word, count: list[place].1 })
                };
                if let Some(occurrences) = lists.iter().map(occurrence).collect::<Option<Vec<_>>>() {
                    // A document that has the words, but not as a phrase, is recorded as well.
                    // `retain` removes it from the set.
                    found.add(*document, &occurrences, &mut self.record)?;
                }
            }
        }
        found.retain(if is_lost { &[] } else { &self.gathered.of_phrase[at] });
        set.merge(sign, found);
        Ok(())
    }
}

fn round_of(part: &Part) -> usize {
    match (&part.asked, part.sign) {
        (Asked::Words(_), _) => 0,
        (_, Sign::Must) => 1,
        (_, Sign::MustNot) => 2,
        _ => 0,
    }
}

/// Returns the documents that have a word. For the beginning of words there is a list for each
/// word.
fn places<'g>(gathered: &'g Gathered, key: &Vec<u8>, prefix_chars: Option<usize>) -> Vec<&'g Places> {
    match prefix_chars {
        None => gathered.words.get(key).into_iter().collect(),
        Some(chars) => {
            let keys = gathered.of_prefix.get(&(chars, key.clone()));
            keys.into_iter().flatten().filter_map(|key| gathered.words.get(key)).collect()
        }
    }
}

/// Returns the inverse document frequency of a word: the logarithm of how rare it is.
fn frequency(documents: u64, with_word: u64) -> f64 {
    match documents == with_word {
        true => 1.0001_f64.log10(),
        false => (documents as f64 / with_word as f64).log10(),
    }
}
