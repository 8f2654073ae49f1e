//! The two Czech collations of one-byte character sets, `latin2_czech_cs` and `cp1250_czech_cs`.
//!
//! Both compare in passes: the weights of the whole string in the first pass come before those in
//! the second. `ch` has weights of its own. In `latin2_czech_cs` the first two passes go word by
//! word, so that all of the first word counts before the second one does.

use super::tables::Reader;
use std::sync::LazyLock;

/// `charset-tables.py` describes the format.
static TABLES: &[u8] = include_bytes!("data/czech.tables");

/// The number of `latin2_czech_cs` in the tables.
const LATIN2: u8 = 0;
/// The weight of a space or a tab in every pass of `latin2_czech_cs`, which also ends a word.
const END_OF_WORD: u8 = 2;
/// The weight behind each of the first three passes of `latin2_czech_cs`.
const END_OF_PASS: u8 = 1;
/// The weight behind all passes of `latin2_czech_cs`.
const END: u8 = 0;

/// The weights of a byte, or of two that belong together, in each pass. 0 means that the pass has
/// none.
type Passes = [u8; 4];

struct Table {
    passes: usize,
    bytes: [Passes; 256],
    pairs: Vec<([u8; 2], Passes)>,
    hash: [u8; 256],
}

static BOTH: LazyLock<[Table; 2]> = LazyLock::new(|| {
    let mut reader = Reader(TABLES);
    [read(&mut reader), read(&mut reader)]
});

fn read(reader: &mut Reader<'_>) -> Table {
    let passes = usize::from(reader.byte());
    let mut table = Table { passes, bytes: [[0; 4]; 256], pairs: Vec::new(), hash: [0; 256] };
    for pass in 0..passes {
        table.bytes.iter_mut().for_each(|weights| weights[pass] = reader.byte());
    }
    for _ in 0..reader.varint() {
        let pair = [reader.byte(), reader.byte()];
        let mut weights = [0; 4];
        weights[..passes].fill_with(|| reader.byte());
        table.pairs.push((pair, weights));
    }
    table.hash.fill_with(|| reader.byte());
    table
}

fn table(which: u8) -> &'static Table {
    &BOTH[usize::from(which)]
}

/// Returns the weights of a string in the collation with this number (0 is `latin2_czech_cs`, 1
/// `cp1250_czech_cs`), in the order in which they compare. A string that ends is less than one that
/// goes on.
pub(super) fn weights(which: u8, bytes: &[u8]) -> Vec<u8> {
    let table = table(which);
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        match table.pairs.iter().find(|(pair, _)| rest.starts_with(pair)) {
            Some((pair, weights)) => {
                units.push(*weights);
                rest = &rest[pair.len()..];
            }
            None => {
                units.push(table.bytes[usize::from(first)]);
                rest = &rest[1..];
            }
        }
    }
    match which {
        LATIN2 => weights_by_word(&units),
        _ => (0..table.passes).flat_map(|pass| in_pass(&units, pass)).collect(),
    }
}

fn in_pass(units: &[Passes], pass: usize) -> impl Iterator<Item = u8> + '_ {
    units.iter().map(move |weights| weights[pass]).filter(|weight| *weight != 0)
}

/// Returns the weights of `latin2_czech_cs`. Only the last pass counts how many spaces there are
/// between two words, and none counts those at the end.
fn weights_by_word(units: &[Passes]) -> Vec<u8> {
    let ends_word = |weights: &Passes| weights[0] == END_OF_WORD;
    let end = units.iter().rposition(|weights| !ends_word(weights)).map_or(0, |last| last + 1);
    let units = &units[..end];
    // Spaces at the start stand behind an empty word.
    let is_word = |at: usize, word: &[Passes]| at == 0 || !word.is_empty();
    let words: Vec<&[Passes]> = units
        .split(ends_word)
        .enumerate()
        .filter(|(at, word)| is_word(*at, word))
        .map(|(_, word)| word)
        .collect();
    let mut weights = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for pass in [0, 1] {
            weights.extend(in_pass(word, pass));
            weights.push(if at + 1 == words.len() { END_OF_PASS } else { END_OF_WORD });
        }
    }
    for (at, word) in words.iter().enumerate() {
        weights.extend(in_pass(word, 2));
        weights.push(if at + 1 == words.len() { END_OF_PASS } else { END_OF_WORD });
    }
    weights.extend(in_pass(units, 3));
    weights.push(END);
    weights
}

/// Returns the weights by which strings compare, which leave out spaces at the end.
pub(super) fn padded_weights(which: u8, bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    weights(which, &bytes[..end])
}

/// Appends the key: the weights and a zero, which no other weight is.
pub(super) fn write_key(which: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&padded_weights(which, bytes));
    if which != LATIN2 {
        out.push(END);
    }
}

/// Returns the byte by which `PARTITION BY KEY` hashes a byte.
pub(super) fn hash_weight(which: u8, byte: u8) -> u8 {
    table(which).hash[usize::from(byte)]
}
