//! The collations of languages: the changes that a language makes to the weights of the Unicode
//! Collation Algorithm, for characters and for sequences of characters that weigh as one
//! (contractions).
//!
//! One table serves all encodings and all levels. It is read when the first collation of a language
//! is used, and each language takes its own part.

use super::arrangement::Arrangement;
use super::padding::compare_padded;
use super::tables::Reader;
use super::uca;
use super::version::Version;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

static TABLE: &[u8] = include_bytes!("data/tailored.weights");
/// The most languages that the table may have.
const LANGUAGES: usize = 64;

/// The weights of a character or a contraction, level by level.
type Levels = Vec<Vec<u16>>;

struct Tailoring {
    version: Version,
    arrangement: Arrangement,
    characters: HashMap<char, Levels>,
    /// For each first character the rest of its contractions and their weights, the longest ones
    /// first.
    contractions: HashMap<char, Vec<(String, Levels)>>,
}

/// The place in the table where each language starts.
static STARTS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let (mut reader, mut starts) = (Reader(TABLE), Vec::new());
    while !reader.0.is_empty() {
        starts.push(TABLE.len() - reader.0.len());
        read(&mut reader);
    }
    assert!(starts.len() <= LANGUAGES, "the table has more languages than there is room for");
    starts
});

fn read(reader: &mut Reader<'_>) -> Tailoring {
    let (version, arrangement) = match reader.byte() {
        0 => (Version::V400, Arrangement::Plain),
        1 => (Version::V520, Arrangement::Plain),
        2 => (Version::V900, Arrangement::Plain),
        3 => (Version::V900, Arrangement::CapitalsFirst),
        4 => (Version::V900, Arrangement::Japanese),
        5 => (Version::V900, Arrangement::Chinese),
        6 => (Version::V520, Arrangement::TwoLevels),
        other => unreachable!("the table has no base {other}"),
    };
    let level_count = reader.byte();
    let (characters, contractions) = (HashMap::new(), HashMap::new());
    let mut tailoring = Tailoring { version, arrangement, characters, contractions };
    for _ in 0..reader.varint() {
        let count = reader.varint();
        let text: String = (0..count).filter_map(|_| char::from_u32(reader.varint())).collect();
        let levels: Levels = (0..level_count)
            .map(|_| {
                let weights = reader.varint();
                (0..weights).map(|_| reader.varint() as u16).collect()
            })
            .collect();
        let mut rest = text.chars();
        let Some(first) = rest.next() else { continue };
        match rest.as_str() {
            "" => drop(tailoring.characters.insert(first, levels)),
            rest => tailoring.contractions.entry(first).or_default().push((rest.to_owned(), levels)),
        }
    }
    for of_first in tailoring.contractions.values_mut() {
        of_first.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
    }
    tailoring
}

fn tailoring(language: u8) -> &'static Tailoring {
    static READ: [OnceLock<Tailoring>; LANGUAGES] = [const { OnceLock::new() }; LANGUAGES];
    READ[usize::from(language)].get_or_init(|| read(&mut Reader(&TABLE[STARTS[usize::from(language)]..])))
}

/// Returns the weights of one level of a UTF-8 string, without ignorable characters.
pub(super) fn level_weights(language: u8, bytes: &[u8], level: usize) -> Vec<u16> {
    let tailoring = tailoring(language);
    let mut weights = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let here = rest;
        let Some(c) = uca::next_char(&mut rest) else {
            weights.extend(uca::level_weights(tailoring.version, &here[..1], level));
            rest = &here[1..];
            continue;
        };
        let contraction = tailoring
            .contractions
            .get(&c)
            .and_then(|of_first| of_first.iter().find(|(after, _)| rest.starts_with(after.as_bytes())));
        if let Some((after, levels)) = contraction {
            weights.extend_from_slice(&levels[level]);
            rest = &rest[after.len()..];
        } else if let Some(levels) = tailoring.characters.get(&c) {
            weights.extend_from_slice(&levels[level]);
        } else {
            let len = here.len() - rest.len();
            let character = (c, &here[..len]);
            tailoring.arrangement.push_weights(tailoring.version, character, level, &mut weights);
        }
    }
    weights
}

/// Returns the weights of a level, as a PAD SPACE collation uses them.
pub(super) fn padded_weights(language: u8, bytes: &[u8], level: usize) -> impl Iterator<Item = u32> {
    level_weights(language, bytes, level).into_iter().map(u32::from)
}

/// Returns the weight of a space on a level.
pub(super) fn space(language: u8, level: usize) -> u32 {
    padded_weights(language, b" ", level).next().unwrap_or(0)
}

/// Compares by the first `levels` levels, PAD SPACE.
pub(super) fn compare_with_spaces(language: u8, a: &[u8], b: &[u8], levels: u8) -> Ordering {
    (0..usize::from(levels))
        .map(|level| {
            let weigh = |bytes| padded_weights(language, bytes, level);
            compare_padded(weigh(a), weigh(b), space(language, level))
        })
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Compares by the first `levels` levels, NO PAD.
pub(super) fn compare(language: u8, a: &[u8], b: &[u8], levels: u8) -> Ordering {
    (0..usize::from(levels))
        .map(|level| level_weights(language, a, level).cmp(&level_weights(language, b, level)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Appends the key of a NO PAD collation, which has the same form as that of the collation without
/// a language.
pub(super) fn write_key(language: u8, bytes: &[u8], levels: u8, out: &mut Vec<u8>) {
    uca::write_levels(levels, out, |level| level_weights(language, bytes, level).into_iter());
}
