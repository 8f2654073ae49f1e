//! The ranges of the entries of FULLTEXT and SPATIAL indexes that lead to what is looked for.

use crate::definition::IndexRef;
use crate::error::Result;
use crate::multi_valued::word_key;
use crate::table::Table;
use crate::transaction::key_range::KeyRange;
use std::ops::Bound;
use types::cells::Window;

/// A row that an entry leads to costs a way through the tree, as much as so many rows of a scan.
const ROWS_FOR_AN_ENTRY: u64 = 4;

/// Reports whether it is less work to read the rows that the entries in these ranges lead to than
/// to read the whole table. `least` entries are few in any case.
///
/// # Errors
/// Returns an error for a damaged page, and I/O errors.
pub fn are_few_entries(ranges: &[KeyRange], table: &Table, index: IndexRef, least: u64) -> Result<bool> {
    let most = (btree::estimate::entries(&table.clustered)? / ROWS_FOR_AN_ENTRY).max(least);
    let mut wanted = 0;
    for range in ranges {
        wanted += range.estimated_entries(table, index)?;
        if wanted > most {
            return Ok(false);
        }
    }
    Ok(true)
}

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
