//! Case folding of one character to several, which the library does not support.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The characters whose full folding is longer than one character, with their foldings.
static LONG: LazyLock<BTreeMap<char, Vec<char>>> = LazyLock::new(|| {
    let candidates = ('\u{df}'..='\u{587}').chain('\u{1e96}'..='\u{1fff}').chain('\u{fb00}'..='\u{fb17}');
    candidates.filter_map(|one| Some((one, long_fold(one)?))).collect()
});

fn long_fold(one: char) -> Option<Vec<char>> {
    let lower = one.to_lowercase().flat_map(char::to_uppercase);
    let folded: Vec<char> = lower.flat_map(char::to_lowercase).collect();
    // The sharp S has an upper case letter of its own, which has the same folding.
    let folded = if one == '\u{1e9e}' { vec!['s', 's'] } else { folded };
    (folded.len() > 1).then_some(folded)
}

/// Replaces the characters that have a folding of several characters by that folding.
pub(super) fn folded(text: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    for one in text {
        match LONG.get(one) {
            Some(long) => out.extend(long),
            None => out.push(*one),
        }
    }
    out
}

/// Returns the characters whose folding the folded text begins with, each with the length of its
/// folding. Characters with a folding of one character are not among them.
pub(super) fn foldings_at(text: &[char]) -> Vec<(char, usize)> {
    let same = |a: &char, b: &char| a == b || simple(*a) == simple(*b);
    LONG.iter()
        .filter(|(_, long)| long.len() <= text.len() && long.iter().zip(text).all(|(a, b)| same(a, b)))
        .map(|(one, long)| (*one, long.len()))
        .collect()
}

fn simple(one: char) -> char {
    let mut lower = one.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => one,
    }
}
