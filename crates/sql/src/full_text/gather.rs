//! The facts that a search keeps of the documents: which of them have its words and its phrases.

use super::documents::{DocumentHash, Documents, Looked};
use super::tree::Phrase;
use crate::error::Result;
use crate::memory::Charge;
use std::collections::{BTreeMap, HashMap, HashSet};
use types::words::{Rules, Sought, WordEntry};

/// The memory that is charged for an entry of a list of documents, in bytes. `DOCUMENT_BYTES` is
/// that of a document's hash, and `WORD_BYTES` that of a word without its key.
const PLACE_BYTES: usize = 2 * size_of::<(u64, u32)>();
const DOCUMENT_BYTES: usize = 3 * size_of::<(u64, u128)>();
const WORD_BYTES: usize = 96;

/// The number of phrases that are looked for between two calls of `interrupt`.
const INTERRUPT_EVERY: usize = 1024;

/// The documents that have a word, sorted, each with the number of times that it has the word.
pub(super) type Places = Vec<(u64, u32)>;

/// What a search wants to know.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The keys of the words that are looked for.
    pub words: HashSet<Vec<u8>>,
    /// The keys of the beginnings of words that are looked for, by their numbers of characters.
    pub prefixes: BTreeMap<usize, HashSet<Vec<u8>>>,
    pub phrases: Vec<Phrase>,
    /// The entries of all of these. `None` means that no entries lead to all of them.
    pub looked: Option<Looked>,
}

/// What the documents say of the wanted words and phrases.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The number of all documents, also of those without words.
    pub documents: u64,
    /// The documents of each word, by the word's key.
    pub words: BTreeMap<Vec<u8>, Places>,
    /// For each beginning, the sorted keys of the words that begin with it.
    pub of_prefix: HashMap<(usize, Vec<u8>), Vec<Vec<u8>>>,
    /// The documents of each phrase, by the phrase's number.
    pub of_phrase: Vec<Vec<u64>>,
    /// The hashes of the documents that have a wanted word.
    pub hashes: HashMap<u64, u128>,
}

/// A word of a document.
struct Placed {
    key: Vec<u8>,
    /// The place of the word's first byte, counted over all texts of the document.
    at: u64,
    is_indexed: bool,
}

/// Reads the documents, and gathers what is wanted of them.
///
/// # Errors
/// Returns the errors of reading, of [`Charge::add`] and of `interrupt`.
pub(super) fn gather(
    documents: &mut dyn Documents,
    rules: &Rules,
    wanted: &Wanted,
    hash: &DocumentHash,
    charge: &mut Charge,
    interrupt: &dyn Fn() -> Result<()>,
) -> Result<Gathered> {
    let mut gathered = Gathered { of_phrase: vec![Vec::new(); wanted.phrases.len()], ..Gathered::default() };
    let mut prefixed: HashMap<(usize, &Vec<u8>), HashSet<Vec<u8>>> = HashMap::new();
    let first_bytes = FirstBytes::of(wanted, rules);
    documents.each(wanted.looked.as_ref(), &mut |number, texts| {
        let fields = cut(texts, rules, &first_bytes);
        let mut counts: BTreeMap<&[u8], u32> = BTreeMap::new();
        for (word, text) in fields.iter().flatten() {
            if !word.is_indexed {
                continue;
            }
            let mut is_wanted = wanted.words.contains(&word.key);
            for (chars, keys) in &wanted.prefixes {
                let Some(prefix) = beginning(text, *chars).and_then(|begin| keys.get(&rules.key(begin)))
                else {
                    continue;
                };
                is_wanted = true;
                let known = prefixed.entry((*chars, prefix)).or_default();
                if !known.contains(&word.key) {
                    charge.add(WORD_BYTES + word.key.len())?;
                    known.insert(word.key.clone());
                }
            }
            if is_wanted {
                *counts.entry(&word.key).or_default() += 1;
            }
        }
        if counts.is_empty() {
            return Ok(false);
        }
        charge.add(DOCUMENT_BYTES + counts.len() * PLACE_BYTES)?;
        gathered.hashes.insert(number, hash.of(texts.iter().copied()));
        for (at, phrase) in wanted.phrases.iter().enumerate() {
            if at.is_multiple_of(INTERRUPT_EVERY) {
                interrupt()?;
            }
            if phrase.indexed.iter().all(|key| counts.contains_key(&key[..])) && has_phrase(&fields, phrase) {
                charge.add(PLACE_BYTES)?;
                gathered.of_phrase[at].push(number);
            }
        }
        for (key, count) in counts {
            match gathered.words.get_mut(key) {
                Some(places) => places.push((number, count)),
                None => {
                    charge.add(WORD_BYTES + key.len())?;
                    gathered.words.insert(key.to_vec(), vec![(number, count)]);
                }
            }
        }
        Ok(true)
    })?;
    gathered.documents = documents.count()?;
    gathered.words.values_mut().for_each(|places| places.sort_unstable());
    gathered.of_phrase.iter_mut().for_each(|places| places.sort_unstable());
    for ((chars, prefix), keys) in prefixed {
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort();
        gathered.of_prefix.insert((chars, prefix.clone()), keys);
    }
    Ok(gathered)
}

/// The bytes that wanted words may begin with. Most words of a text begin with another one, and are
/// passed over without a look at the rest.
struct FirstBytes([bool; 256]);

impl FirstBytes {
    /// Returns the bytes. They are all bytes if phrases are wanted, which need the words between
    /// theirs, and if the collation weighs characters together.
    fn of(wanted: &Wanted, rules: &Rules) -> FirstBytes {
        let Some(looked) = wanted.looked.as_ref().filter(|_| wanted.phrases.is_empty()) else {
            return FirstBytes([true; 256]);
        };
        let may_begin = |byte: u8| {
            // Only ASCII characters are told apart by one byte.
            let text = [byte];
            let Ok(character) = std::str::from_utf8(&text) else { return true };
            let WordEntry { key, is_open } = rules.entry(character);
            let fits = |entry: &Vec<u8>| entry.starts_with(&key) || key.starts_with(entry);
            !is_open || looked.entries.iter().chain(&looked.beginnings).any(fits)
        };
        FirstBytes(std::array::from_fn(|byte| may_begin(byte as u8)))
    }

    fn has(&self, word: &str) -> bool {
        word.bytes().next().is_some_and(|byte| self.0[usize::from(byte)])
    }
}

/// Returns the words of each text of a document that begin with one of these bytes.
fn cut<'t>(
    texts: &[Option<&'t str>],
    rules: &Rules,
    first_bytes: &FirstBytes,
) -> Vec<Vec<(Placed, &'t str)>> {
    let (mut fields, mut before) = (Vec::with_capacity(texts.len()), 0);
    for text in texts.iter().copied().flatten().filter(|text| !text.is_empty()) {
        let begins = rules.words(text).into_iter().filter(|word| first_bytes.has(word.text));
        let words = begins.map(|word| {
            let key = rules.key(word.text);
            let is_indexed = rules.is_indexed(&word, &key);
            (Placed { key, at: before + word.at as u64, is_indexed }, word.text)
        });
        fields.push(words.collect());
        before += text.len() as u64 + 1;
    }
    fields
}

/// Returns all words of a document that an index has.
pub(super) fn indexed_words(texts: &[Option<&str>], rules: &Rules) -> Vec<Sought> {
    let texts = texts.iter().copied().flatten();
    let words = texts.flat_map(|text| rules.words(text));
    words.map(|word| rules.sought(&word)).filter(|word| word.is_indexed).collect()
}

/// Returns the first characters of a word, if it has so many.
fn beginning(word: &str, chars: usize) -> Option<&str> {
    let end = word.char_indices().map(|(at, _)| at).chain([word.len()]).nth(chars)?;
    Some(&word[..end])
}

fn has_phrase(fields: &[Vec<(Placed, &str)>], phrase: &Phrase) -> bool {
    match phrase.distance {
        // An index has no word of this phrase, so the phrase is in no document.
        _ if phrase.indexed.is_empty() => false,
        _ if phrase.all.len() == 1 => true,
        0 => fields.iter().any(|words| {
            let same =
                |run: &[(Placed, &str)]| run.iter().zip(&phrase.all).all(|((word, _), key)| word.key == *key);
            !phrase.all.is_empty() && words.windows(phrase.all.len()).any(same)
        }),
        distance => are_close(fields, phrase, distance),
    }
}

/// Reports whether the phrase's words stand so close that at most `distance` words reach from the
/// first to the last. Of the places that are compared, the first one in the document moves on to
/// the next place of its word.
fn are_close(fields: &[Vec<(Placed, &str)>], phrase: &Phrase, distance: u64) -> bool {
    let words = || fields.iter().flatten().map(|(word, _)| word);
    let places: Vec<Vec<u64>> = phrase
        .indexed
        .iter()
        .map(|key| words().filter(|word| word.is_indexed && word.key == *key).map(|word| word.at).collect())
        .collect();
    let starts: Vec<u64> = words().map(|word| word.at).collect();
    let mut next = vec![0; places.len()];
    loop {
        let (mut first, mut least, mut most) = (0, u64::MAX, 0);
        for (at, places) in places.iter().enumerate() {
            let Some(&place) = places.get(next[at]) else { return false };
            if place < least {
                (first, least) = (at, place);
            }
            most = most.max(place);
        }
        let between =
            starts.partition_point(|start| *start <= most) - starts.partition_point(|start| *start < least);
        if between as u64 <= distance {
            return true;
        }
        next[first] += 1;
    }
}
