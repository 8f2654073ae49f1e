//! The whole of a search: from its text to the documents that it finds.

use super::documents::{DocumentHash, Documents, Looked};
use super::evaluate::Evaluation;
use super::gather::{Wanted, gather, indexed_words};
use super::parse::parse;
use super::tree::Tree;
use crate::ast::SearchMode;
use crate::error::Result;
use crate::memory::{Budget, Charge};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use types::words::{Rules, Sought, WordEntry};

/// The number of searches that a statement keeps.
const MOST_KEPT: usize = 16;
/// The memory that is charged for a document that is found, in bytes.
const FOUND_BYTES: usize = 4 * size_of::<(u128, f32)>();

/// The documents that a search finds, and their relevances.
#[derive(Debug)]
pub(crate) struct Found {
    hash: DocumentHash,
    relevances: HashMap<u128, f32>,
    /// The clustered keys of the documents' rows, in order.
    keys: Vec<Vec<u8>>,
    /// The memory of all of this, which is given back with it.
    charge: Charge,
}

impl Found {
    /// Adds the clustered keys of the documents' rows, in order.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn with_keys(mut self, keys: Vec<Vec<u8>>) -> Result<Found> {
        debug_assert!(keys.is_sorted(), "keys come in order");
        self.charge.add(keys.iter().map(|key| size_of::<Vec<u8>>() + key.len()).sum())?;
        Ok(Found { keys, ..self })
    }

    /// Returns the clustered keys of the documents' rows, in order.
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// Returns the relevance of a document, which is 0 if the search does not find it.
    pub fn relevance<'t>(&self, texts: impl Iterator<Item = Option<&'t str>>) -> f64 {
        self.relevances.get(&self.hash.of(texts)).map_or(0.0, |relevance| f64::from(*relevance))
    }
}

/// Returns what has to be gathered of the documents for a search.
fn wanted(tree: &Tree) -> Wanted {
    let mut wanted = Wanted { phrases: tree.phrases.clone(), ..Wanted::default() };
    let (mut entries, mut beginnings, mut leads_to_all) = (BTreeSet::new(), BTreeSet::new(), true);
    for phrase in &tree.phrases {
        wanted.words.extend(phrase.indexed.iter().cloned());
        entries.extend(phrase.numbers.iter().map(|word| tree.words.entry(*word).key.clone()));
    }
    for term in tree.terms() {
        let (key, entry) = (tree.words.keys()[term.word as usize].clone(), tree.words.entry(term.word));
        match term.prefix_chars {
            Some(chars) => {
                wanted.prefixes.entry(chars).or_default().insert(key);
                leads_to_all &= entry.is_open;
                beginnings.insert(entry.key.clone());
            }
            None => {
                wanted.words.insert(key);
                entries.insert(entry.key.clone());
            }
        }
    }
    let (entries, beginnings) = (entries.into_iter().collect(), beginnings.into_iter().collect());
    wanted.looked = leads_to_all.then_some(Looked { entries, beginnings });
    wanted
}

/// Makes a search, and returns what it finds, without the keys, and the numbers of the documents.
/// It reads the documents that have what it looks for, once, or three times WITH QUERY EXPANSION.
///
/// # Errors
/// Returns 1064 and 191 for a search that InnoDB does not understand, 209 for one that is nested
/// too deeply, and the errors of reading, of [`Charge::add`] and of `interrupt`.
pub(crate) fn search(
    text: &str,
    mode: SearchMode,
    rules: &Rules,
    documents: &mut dyn Documents,
    memory: &Arc<Budget>,
    interrupt: &dyn Fn() -> Result<()>,
) -> Result<(Found, Vec<u64>)> {
    let hash = DocumentHash::default();
    let mut charge = Charge::new(memory);
    // The charge is for the folded text and its tree, which has a node for every two bytes at most.
    charge.add(text.len().saturating_mul(128))?;
    let tree = parse(&rules.folded(text), mode == SearchMode::Boolean, rules, interrupt)?;
    let gathered = gather(documents, rules, &wanted(&tree), &hash, &mut charge, interrupt)?;
    let mut further = Charge::new(memory);
    let mut evaluation = Evaluation::new(gathered, &mut further, interrupt);
    evaluation.run(&tree)?;
    if mode == SearchMode::Expanded {
        let words = words_of_found(&evaluation, documents, rules, &mut charge)?;
        if !words.is_empty() {
            let entries: BTreeSet<_> = words.values().map(|entry| entry.key.clone()).collect();
            let looked = Looked { entries: entries.into_iter().collect(), beginnings: Vec::new() };
            let words: Vec<Vec<u8>> = words.into_keys().collect();
            let wanted =
                Wanted { words: words.iter().cloned().collect(), looked: Some(looked), ..Wanted::default() };
            evaluation.expand(&words, gather(documents, rules, &wanted, &hash, &mut charge, interrupt)?)?;
        }
    }
    let relevances = evaluation.relevances();
    let numbers: Vec<u64> = evaluation.found().map(|(document, _)| document).collect();
    let mut charge = Charge::new(memory);
    charge.add(numbers.len() * FOUND_BYTES)?;
    Ok((Found { hash, relevances, keys: Vec::new(), charge }, numbers))
}

/// Returns the words of the documents that were found, each with its entry, without those that each
/// document was found for.
fn words_of_found(
    evaluation: &Evaluation<'_>,
    documents: &mut dyn Documents,
    rules: &Rules,
    charge: &mut Charge,
) -> Result<BTreeMap<Vec<u8>, WordEntry>> {
    let found: BTreeMap<u64, Vec<&Vec<u8>>> =
        evaluation.found().map(|(document, words)| (document, words.collect())).collect();
    let mut words = BTreeMap::new();
    if found.is_empty() {
        return Ok(words);
    }
    documents.again(&found.keys().copied().collect(), &mut |number, texts| {
        for Sought { key, entry, .. } in indexed_words(texts, rules) {
            charge.add(key.len() + entry.key.len() + 128)?;
            words.insert(key, entry);
        }
        for word in found.get(&number).into_iter().flatten() {
            words.remove(*word);
        }
        Ok(true)
    })?;
    Ok(words)
}

/// What tells one search of a statement from another.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    table: u64,
    columns: Vec<usize>,
    mode: SearchMode,
    text: Vec<u8>,
}

type Kept = (Asked, Rc<Found>);

/// The searches that a statement has made. Each is made once and holds for all rows.
#[derive(Default)]
pub(crate) struct FoundCache(OnceCell<Rc<RefCell<Vec<Kept>>>>);

impl FoundCache {
    /// Returns a cache that shares its searches with this one, for another part of the statement.
    pub fn shared(&self) -> FoundCache {
        FoundCache(OnceCell::from(self.0.get_or_init(Rc::default).clone()))
    }

    /// Returns what the search finds in these columns of a table. Calls `make` if the statement has
    /// not made this search yet.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn found(
        &self,
        (table, columns): (u64, &[usize]),
        mode: SearchMode,
        text: &[u8],
        make: impl FnOnce() -> Result<Found>,
    ) -> Result<Rc<Found>> {
        let known = self.0.get_or_init(Rc::default);
        let is_same = |(asked, _): &&Kept| {
            asked.table == table && asked.mode == mode && asked.columns == columns && asked.text == text
        };
        if let Some((_, found)) = known.borrow().iter().find(is_same) {
            return Ok(found.clone());
        }
        let found = Rc::new(make()?);
        let mut known = known.borrow_mut();
        if known.len() == MOST_KEPT {
            known.remove(0);
        }
        let asked = Asked { table, columns: columns.to_vec(), mode, text: text.to_vec() };
        known.push((asked, found.clone()));
        Ok(found)
    }
}
