//! The ranges of the entries of FULLTEXT and SPATIAL indexes that lead to what is looked for.

use crate::multi_valued::word_key;
use crate::transaction::key_range::KeyRange;
use std::ops::Bound;
use types::cells::Window;

/// Returns the keys of the entries that have this word, which [`types::words::Rules::entry`] has
/// made, or that begin with it.
pub fn word_range(word: &[u8], begins: bool) -> KeyRange {
    let mut key = Vec::with_capacity(word.len() + 4);
    word_key(word, &mut key);
    if begins {
        // The end mark of the key has two bytes.
        key.truncate(key.len() - 2);
    }
    if key.is_empty() { KeyRange::all() } else { KeyRange::prefix(&key) }
}

/// Returns the keys of the entries that lead to all geometries whose boxes meet this window; see
/// [`Window::ranges`].
pub fn cell_ranges(window: &Window, are_points: bool) -> Vec<KeyRange> {
    let range = |(first, last): (u64, u64)| {
        let (first, last) = (first.to_be_bytes(), last.to_be_bytes());
        KeyRange::between(Bound::Included(&first), Bound::Included(&last))
    };
    window.ranges(are_points).into_iter().map(range).collect()
}
