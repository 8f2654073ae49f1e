//! The words of texts: how an index cuts texts into words, and which of the words it has.

use regex_syntax::Parser;
use regex_syntax::hir::{Class, HirKind};
use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;
use types::collation;

/// The words of `information_schema.INNODB_FT_DEFAULT_STOPWORD`.
pub(crate) const STOP_WORDS: &str = "a about an are as at be by com de en for from how i in is it la of on or that the this to \
                          was what when where who will with und the www";

/// The characters beyond ASCII that words consist of: the letters, marks and numbers of Unicode
/// 5.0. MySQL's character tables have the same.
static WORD_CHARS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let parsed = Parser::new().parse(r"[[\p{L}\p{M}\p{N}]&&\p{Age=5.0}&&[\x{80}-\x{ffff}]]");
    let parsed = parsed.expect("a pattern of ours");
    let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { panic!("the pattern is a class") };
    class.ranges().iter().map(|range| (range.start(), range.end())).collect()
});

fn is_word_char(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    let after = WORD_CHARS.partition_point(|(first, _)| *first <= character);
    after.checked_sub(1).is_some_and(|at| character <= WORD_CHARS[at].1)
}

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    /// The offset of the word's first byte in the text.
    pub at: usize,
    pub chars: usize,
}

impl Word<'_> {
    /// Returns the offset of the byte behind the word.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// Returns the first word that begins at the byte `from` or behind it.
pub(super) fn next_word(text: &str, from: usize) -> Option<Word<'_>> {
    let rest = &text[from..];
    let begin = rest.find(is_word_char)?;
    let mut chars = 0;
    let mut end = rest.len();
    for (at, character) in rest[begin..].char_indices() {
        if !is_word_char(character) {
            end = begin + at;
            break;
        }
        chars += 1;
    }
    Some(Word { text: &rest[begin..end], at: from + begin, chars })
}

/// The server's variables about words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordSizes {
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
pub(crate) struct Rules {
    collation: u16,
    /// Whether the collation is a binary one, for which `Word` is not `word`.
    keeps_case: bool,
    /// Whether the index was made WITH PARSER ngram.
    is_ngram: bool,
    sizes: WordSizes,
    stop_words: HashSet<Vec<u8>>,
    /// The texts that no ngram of the index contains.
    stop_texts: Vec<&'static str>,
}

impl Rules {
    /// Returns the rules of an index over columns of this collation.
    pub fn new(collation: u16, is_ngram: bool, sizes: WordSizes) -> Rules {
        let name = collation::name(collation);
        let keeps_case = name.ends_with("_bin") || name == "binary";
        let (stop_words, stop_texts) = (HashSet::new(), Vec::new());
        let mut rules = Rules { collation, keeps_case, is_ngram, sizes, stop_words, stop_texts };
        if sizes.has_stop_words {
            rules.stop_words = STOP_WORDS.split_whitespace().map(|word| rules.key(word)).collect();
            rules.stop_texts = STOP_WORDS.split_whitespace().collect();
        }
        rules
    }

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
    pub(super) fn words<'t>(&self, text: &'t str) -> Vec<Word<'t>> {
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
    pub(super) fn is_indexed(&self, word: &Word<'_>, key: &[u8]) -> bool {
        if self.is_ngram {
            let folded = self.folded(word.text);
            return word.chars == self.sizes.ngram_chars
                && !self.stop_texts.iter().any(|stop| folded.contains(stop));
        }
        (self.sizes.least_chars..=self.sizes.most_chars).contains(&word.chars)
            && !self.stop_words.contains(key)
    }

    /// Returns the key of a word, and whether the index has the word.
    pub(super) fn keyed(&self, word: &Word<'_>) -> (Vec<u8>, bool) {
        let key = self.key(word.text);
        let is_indexed = self.is_indexed(word, &key);
        (key, is_indexed)
    }

    /// Reports whether a word of a term is looked for. The term's first word may be a short one.
    pub(super) fn is_searched(&self, word: &Word<'_>, is_first: bool) -> bool {
        word.chars <= self.sizes.most_chars && (is_first || word.chars >= self.sizes.least_chars)
    }

    /// Returns the number of characters of an ngram.
    pub fn ngram_chars(&self) -> usize {
        self.sizes.ngram_chars
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
