//! The words of texts: how a FULLTEXT index cuts texts into words, which of the words it has, and
//! the entries that it has for them.

use crate::collation;
use regex_syntax::Parser;
use regex_syntax::hir::{Class, HirKind};
use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;

/// The words of `information_schema.INNODB_FT_DEFAULT_STOPWORD`.
pub const STOP_WORDS: &str = "a about an are as at be by com de en for from how i in is it la of on or that the this to \
                          was what when where who will with und the www";

/// The characters beyond ASCII that words consist of: the letters, marks and numbers of Unicode
/// 5.0. MySQL's character tables have the same.
static WORD_CHARS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let parsed = Parser::new().parse(r"[[\p{L}\p{M}\p{N}]&&\p{Age=5.0}&&[\x{80}-\x{ffff}]]");
    let parsed = parsed.expect("a pattern of ours");
    let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { panic!("the pattern is a class") };
    class.ranges().iter().map(|range| (range.start(), range.end())).collect()
});

/// Whether words consist of the ASCII character with this number.
const ASCII_OF_WORDS: [bool; 128] = {
    let (mut table, mut byte) = ([false; 128], 0u8);
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

fn is_word_char(character: char) -> bool {
    if character.is_ascii() {
        return ASCII_OF_WORDS[character as usize];
    }
    let after = WORD_CHARS.partition_point(|(first, _)| *first <= character);
    after.checked_sub(1).is_some_and(|at| character <= WORD_CHARS[at].1)
}

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'t> {
    /// The word as it is written.
    pub text: &'t str,
    /// The offset of the word's first byte in the text.
    pub at: usize,
    /// The number of the word's characters.
    pub chars: usize,
}

impl Word<'_> {
    /// Returns the offset of the byte behind the word.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// Returns the first word that begins at the byte `from` or behind it.
pub fn next_word(text: &str, from: usize) -> Option<Word<'_>> {
    let mut begin = from;
    let mut first = character_at(text, begin)?;
    while !first.is_of_word {
        begin += first.bytes;
        first = character_at(text, begin)?;
    }
    let (mut end, mut chars) = (begin, 0);
    while let Some(next) = character_at(text, end).filter(|next| next.is_of_word) {
        end += next.bytes;
        chars += 1;
    }
    Some(Word { text: &text[begin..end], at: begin, chars })
}

/// A character of a text: its length, and whether words consist of such characters.
struct Character {
    bytes: usize,
    is_of_word: bool,
}

/// Returns the character at an offset; `None` at the end. Most texts are ASCII, whose characters
/// need not be decoded.
#[inline]
fn character_at(text: &str, at: usize) -> Option<Character> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return Some(Character { bytes: 1, is_of_word: ASCII_OF_WORDS[usize::from(byte)] });
    }
    let character = text[at..].chars().next()?;
    Some(Character { bytes: character.len_utf8(), is_of_word: is_word_char(character) })
}

/// The entry of a word in an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordEntry {
    /// The key of the entry.
    pub key: Vec<u8>,
    /// Whether the keys of all words that begin with the word begin with this key.
    pub is_open: bool,
}

/// A word as searches look for it.
#[derive(Debug, Clone)]
pub struct Sought {
    /// The key of the word, which equal words have.
    pub key: Vec<u8>,
    /// Whether an index has the word.
    pub is_indexed: bool,
    /// The entry that an index has for the word.
    pub entry: WordEntry,
}

/// The server's variables about words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordSizes {
    /// `innodb_ft_min_token_size`, in characters.
    pub least_chars: usize,
    /// `innodb_ft_max_token_size`, in characters.
    pub most_chars: usize,
    /// `ngram_token_size`, in characters.
    pub ngram_chars: usize,
    /// `innodb_ft_enable_stopword`.
    pub has_stop_words: bool,
}

impl Default for WordSizes {
    fn default() -> WordSizes {
        WordSizes { least_chars: 3, most_chars: 84, ngram_chars: 2, has_stop_words: true }
    }
}

/// How an index cuts texts, and how it compares words.
#[derive(Debug)]
pub struct Rules {
    collation: u16,
    /// Whether the collation is a binary one, for which `Word` is not `word`.
    keeps_case: bool,
    /// Whether the index was made WITH PARSER ngram.
    is_ngram: bool,
    sizes: WordSizes,
    stop_words: HashSet<Vec<u8>>,
    /// The keys of the entries that the stop words would have.
    stop_entries: HashSet<Vec<u8>>,
    /// The texts that no ngram of the index contains.
    stop_texts: Vec<&'static str>,
}

impl Rules {
    /// Returns the rules of an index over columns of this collation.
    pub fn new(collation: u16, is_ngram: bool, sizes: WordSizes) -> Rules {
        let name = collation::name(collation);
        let keeps_case = name.ends_with("_bin") || name == "binary";
        let mut rules = Rules {
            collation,
            keeps_case,
            is_ngram,
            sizes,
            stop_words: HashSet::new(),
            stop_entries: HashSet::new(),
            stop_texts: Vec::new(),
        };
        if sizes.has_stop_words {
            rules.stop_entries = STOP_WORDS.split_whitespace().map(|word| rules.entry(word).key).collect();
            rules.stop_words = STOP_WORDS.split_whitespace().map(|word| rules.key(word)).collect();
            rules.stop_texts = STOP_WORDS.split_whitespace().collect();
        }
        rules
    }

    /// Reports whether the index was made WITH PARSER ngram.
    pub fn is_ngram(&self) -> bool {
        self.is_ngram
    }

    /// Returns a text in the case in which it is compared: lower case, unless the collation is
    /// binary.
    pub fn folded(&self, text: &str) -> String {
        if self.keeps_case { text.to_owned() } else { collation::lower(self.collation, text) }
    }

    /// Returns the key of a word. Words that are equal have the same key, and keys sort as words
    /// do.
    pub fn key(&self, word: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(word.len() * 2 + 4);
        collation::write_key_utf8mb4(self.collation, self.folded(word).as_bytes(), &mut key);
        key
    }

    /// Returns the words of a text, also those that the index leaves out.
    pub fn words<'t>(&self, text: &'t str) -> Vec<Word<'t>> {
        if self.is_ngram {
            return ngrams(text, self.sizes.ngram_chars);
        }
        let (mut words, mut from) = (Vec::new(), 0);
        while let Some(word) = next_word(text, from) {
            from = word.end();
            words.push(word);
        }
        words
    }

    /// Reports whether the index has a word, whose key is given.
    pub fn is_indexed(&self, word: &Word<'_>, key: &[u8]) -> bool {
        if self.is_ngram {
            let folded = self.folded(word.text);
            return word.chars == self.sizes.ngram_chars
                && !self.stop_texts.iter().any(|stop| folded.contains(stop));
        }
        self.has_size(word) && !self.stop_words.contains(key)
    }

    /// Reports whether a word has as many characters as the index asks for.
    fn has_size(&self, word: &Word<'_>) -> bool {
        (self.sizes.least_chars..=self.sizes.most_chars).contains(&word.chars)
    }

    /// Returns a word as searches look for it.
    pub fn sought(&self, word: &Word<'_>) -> Sought {
        let key = self.key(word.text);
        let is_indexed = self.is_indexed(word, &key);
        Sought { key, is_indexed, entry: self.entry(word.text) }
    }

    /// Reports whether a word of a term is looked for. The term's first word may be a short one.
    pub fn is_searched(&self, word: &Word<'_>, is_first: bool) -> bool {
        word.chars <= self.sizes.most_chars && (is_first || word.chars >= self.sizes.least_chars)
    }

    /// Returns the number of characters of an ngram.
    pub fn ngram_chars(&self) -> usize {
        self.sizes.ngram_chars
    }
}

/// The longest entry of a word, in bytes. Longer words share the entry of their first bytes.
const MOST_ENTRY_BYTES: usize = 240;

/// The entries that an index has for words. What is found by an entry has to be compared, because
/// different words may have one entry.
impl Rules {
    /// Returns the entries of a document, in order and each once.
    pub fn entries<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Vec<Vec<u8>> {
        let mut entries = Vec::new();
        for text in texts {
            for word in self.words(text) {
                if !self.is_ngram && !self.has_size(&word) {
                    continue;
                }
                let entry = self.entry(word.text).key;
                // Most words have no entry of a stop word, and need no key.
                let may_be_left_out = self.is_ngram || self.stop_entries.contains(&entry);
                if !may_be_left_out || self.is_indexed(&word, &self.key(word.text)) {
                    entries.push(entry);
                }
            }
        }
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// Returns the entry of a word, which is that of all words that are equal to it.
    pub fn entry(&self, word: &str) -> WordEntry {
        let mut key = Vec::with_capacity(2 * word.len());
        let is_open = collation::write_open_key(self.collation, self.folded(word).as_bytes(), &mut key);
        key.truncate(MOST_ENTRY_BYTES);
        WordEntry { key, is_open }
    }
}

/// Returns all ngrams of a text: each sequence of `chars` characters without a separator in it.
fn ngrams(text: &str, chars: usize) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    // The offsets of the last characters, the oldest one in front.
    let mut begins = VecDeque::with_capacity(chars);
    for (at, character) in text.char_indices() {
        if character.is_ascii() && !is_word_char(character) {
            begins.clear();
            continue;
        }
        begins.push_back(at);
        if begins.len() == chars
            && let Some(at_first) = begins.pop_front()
        {
            let end = at + character.len_utf8();
            found.push(Word { text: &text[at_first..end], at: at_first, chars });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    fn keys(rules: &Rules, text: &str) -> Vec<Vec<u8>> {
        rules
            .words(text)
            .iter()
            .filter(|word| rules.keyed(word))
            .map(|word| rules.entry(word.text).key)
            .collect()
    }

    impl Rules {
        fn keyed(&self, word: &Word<'_>) -> bool {
            self.is_indexed(word, &self.key(word.text))
        }
    }

    #[test]
    fn a_document_has_an_entry_for_each_indexed_word() {
        for (is_ngram, text) in [
            (false, "The apple is an Apple, THE band of whoever wherever a_b ab abc"),
            (true, "the数据库 and生日快乐 abcabc x"),
        ] {
            let rules = Rules::new(collation::UTF8MB4_0900_AI_CI, is_ngram, WordSizes::default());
            let mut wanted = keys(&rules, text);
            wanted.sort();
            wanted.dedup();
            assert_eq!(rules.entries([text].into_iter()), wanted);
            assert!(wanted.len() > 5);
        }
    }

    /// Whatever is equal in a collation has one entry, and the entries of words begin with those of
    /// their beginnings where that is said.
    #[test]
    fn entries_follow_the_collation() {
        const CHARACTERS: [&str; 24] = [
            "a", "A", "ä", "Á", "b", "c", "ch", "h", "s", "ß", "ss", "e", "é", "z", "ž", "_", "1", "d", "dž",
            "l", "ll", "ij", "y", "\u{301}",
        ];
        let mut rng = Rng::new(test_seed("entries_follow_the_collation"));
        let mut open = 0;
        for collation in collation::all() {
            let rules = Rules::new(collation.id, false, WordSizes::default());
            for _ in 0..60 {
                let mut word =
                    || (0..1 + rng.below(4)).map(|_| CHARACTERS[rng.below(24) as usize]).collect::<String>();
                let (first, second, more) = (word(), word(), word());
                let whole = format!("{first}{more}");
                // A column has no characters that its character set does not have.
                if collation::from_utf8mb4(collation.id, whole.as_bytes()).is_none() {
                    continue;
                }
                if rules.key(&first) == rules.key(&second) {
                    assert_eq!(
                        rules.entry(&first).key,
                        rules.entry(&second).key,
                        "{} {first}",
                        collation.name
                    );
                }
                // A search compares the first characters of a word with the beginning.
                let chars = second.chars().count();
                let beginning: String = whole.chars().take(chars).collect();
                let entry = rules.entry(&second);
                if entry.is_open && rules.key(&beginning) == rules.key(&second) {
                    assert!(
                        rules.entry(&whole).key.starts_with(&entry.key),
                        "{}: {whole} begins with {second}",
                        collation.name
                    );
                    open += 1;
                }
            }
        }
        assert!(open > 100, "{open}");
    }
}
