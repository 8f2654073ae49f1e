//! The value of a search: the documents that it finds, each with its rank.
//!
//! A level's parts come in three rounds. First those without a sign and with `<`, `>` or `~`, and
//! the terms of several words, whatever their sign, put documents together; then those with `+`
//! restrict them; then those with `-` take away.

use super::gather::{Gathered, Places};
use super::record::{Occurrence, Record};
use super::sets::{Member, Set};
use super::tree::{Asked, Part, Phrase, Sign, Term, Tree};
use crate::error::Result;
use crate::memory::Charge;
use std::collections::HashMap;

/// Documents between two questions whether to go on.
const INTERRUPT_EVERY: u64 = 1024;

/// What a search finds, as far as it has been computed.
pub(super) struct Evaluation<'e> {
    /// The keys of words, by their numbers.
    keys: Vec<Vec<u8>>,
    /// By the numbers of words: their documents, once for each time that they were looked for.
    counts: Vec<u64>,
    gathered: Gathered,
    record: Record<'e>,
    interrupt: &'e dyn Fn() -> Result<()>,
    met: u64,
    /// What a level had before its last word with `+`, if that word left none of it.
    lost: Option<Set>,
    found: Set,
}

impl<'e> Evaluation<'e> {
    /// Nothing is found yet.
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
    /// As [`Charge::add`]; what `interrupt` says.
    pub fn run(&mut self, tree: &Tree) -> Result<()> {
        self.keys = tree.words.keys().to_vec();
        self.counts = vec![0; self.keys.len()];
        if let Some(outermost) = tree.levels.last() {
            self.found = self.level(outermost, tree)?;
        }
        Ok(())
    }

    /// The documents that are found, with the keys of the words that found them.
    pub fn found(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = &Vec<u8>>)> {
        self.found.iter().map(|(document, member)| {
            (document, self.words_of(document, member).map(|occurrence| &self.keys[occurrence.word as usize]))
        })
    }

    /// Goes on with words that the search does not have, of which this was gathered.
    ///
    /// # Errors
    /// As [`Evaluation::run`].
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

    /// The words that a document was found for.
    fn words_of<'s>(&'s self, document: u64, member: &'s Member) -> impl Iterator<Item = &'s Occurrence> {
        let all = self.record.of(document).iter().enumerate();
        all.filter(|(place, _)| member.words.has(*place)).map(|(_, occurrence)| occurrence)
    }

    /// How relevant each document is that is found, by its hash.
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

    /// What a level finds; its depth is that of parentheses, which is limited.
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

    /// What a word does to a set.
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

    /// The documents that have a word; as [`Set::meet`].
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

    /// What a phrase does to a set. One of a single word is as the word is, but that it is looked
    /// for whatever the set has.
    fn phrase(&mut self, set: &mut Set, sign: Sign, phrase: &Phrase, at: usize) -> Result<()> {
        let documents = &self.gathered.of_phrase[at];
        // MySQL finds nothing then, although the documents that were lost are another level's.
        let is_lost = sign == Sign::Must && self.lost.as_ref().is_some_and(|lost| !lost.has_any(documents));
        if let ([word], [_], false) = (&phrase.numbers[..], &phrase.all[..], is_lost) {
            self.meet(set, sign, Term { word: *word, prefix_chars: None })?;
            return Ok(());
        }
        // A word that no document has is the last one that is looked for.
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
                    // Those that have its words elsewhere meet them too.
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

/// The documents that have a word; of the beginning of words, those of each word.
fn places<'g>(gathered: &'g Gathered, key: &Vec<u8>, prefix_chars: Option<usize>) -> Vec<&'g Places> {
    match prefix_chars {
        None => gathered.words.get(key).into_iter().collect(),
        Some(chars) => {
            let keys = gathered.of_prefix.get(&(chars, key.clone()));
            keys.into_iter().flatten().filter_map(|key| gathered.words.get(key)).collect()
        }
    }
}

/// The logarithm of how few documents have a word.
fn frequency(documents: u64, with_word: u64) -> f64 {
    match documents == with_word {
        true => 1.0001_f64.log10(),
        false => (documents as f64 / with_word as f64).log10(),
    }
}
