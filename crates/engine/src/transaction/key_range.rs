//! Ranges of encoded keys.

use crate::definition::IndexRef;
use crate::error::Result;
use crate::table::Table;
use std::ops::Bound;

/// Returns the smallest byte string that is greater than every string that begins with `prefix`.
/// `None` means that there is none.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

/// Returns a clustered key in the form that an error message shows when no image of the row is at
/// hand.
pub(super) fn key_hex(key: &[u8]) -> String {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// A range of encoded keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The bound at which the range begins.
    pub start: Bound<Vec<u8>>,
    /// The bound at which the range ends.
    pub end: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Returns the range of all keys.
    pub fn all() -> KeyRange {
        KeyRange { start: Bound::Unbounded, end: Bound::Unbounded }
    }

    /// Returns the range of the keys whose leading columns are encoded as `prefix`: equality on
    /// those columns.
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        KeyRange::between(Bound::Included(prefix), Bound::Included(prefix))
    }

    /// Makes this the range that [`KeyRange::prefix`] returns, in the memory that it has.
    pub(super) fn become_prefix(&mut self, prefix: &[u8]) {
        let memory = |bound: &mut Bound<Vec<u8>>| match std::mem::replace(bound, Bound::Unbounded) {
            Bound::Included(mut key) | Bound::Excluded(mut key) => {
                key.clear();
                key
            }
            Bound::Unbounded => Vec::new(),
        };
        let (mut start, mut end) = (memory(&mut self.start), memory(&mut self.end));
        start.extend_from_slice(prefix);
        self.start = Bound::Included(start);
        if let Some(last) = prefix.iter().rposition(|&byte| byte != 0xff) {
            end.extend_from_slice(&prefix[..=last]);
            end[last] += 1;
            self.end = Bound::Excluded(end);
        }
    }

    /// Returns the range of the keys between two bounds on leading columns. A bound stands for all
    /// keys that begin with it: `Excluded` as a start leaves all of them out, `Included` as an end
    /// takes all of them in.
    pub fn between(start: Bound<&[u8]>, end: Bound<&[u8]>) -> KeyRange {
        let after = |prefix: &[u8]| after_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        let start = match start {
            Bound::Included(prefix) => Bound::Included(prefix.to_vec()),
            Bound::Excluded(prefix) => match after_prefix(prefix) {
                Some(after) => Bound::Included(after),
                // No key follows those of this prefix, whatever the end is.
                None => {
                    let nothing = Bound::Excluded(prefix.to_vec());
                    return KeyRange { start: nothing.clone(), end: nothing };
                }
            },
            Bound::Unbounded => Bound::Unbounded,
        };
        let end = match end {
            Bound::Included(prefix) => after(prefix),
            Bound::Excluded(prefix) => Bound::Excluded(prefix.to_vec()),
            Bound::Unbounded => Bound::Unbounded,
        };
        KeyRange { start, end }
    }

    /// Estimates how many entries of an index are in the range, from two paths through the tree.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn estimated_entries(&self, table: &Table, index: IndexRef) -> Result<u64> {
        let (start, end) = (self.start.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice));
        Ok(btree::estimate::range(table.tree(index), start, end)?)
    }

    /// Returns the part of the range from `first`, included, to `end`, not included. `None` is the
    /// range's own bound.
    pub fn part(&self, first: Option<&[u8]>, end: Option<&[u8]>) -> KeyRange {
        let start = match (first, &self.start) {
            (Some(first), Bound::Included(start) | Bound::Excluded(start)) if first <= &start[..] => None,
            (first, _) => first.map(|first| Bound::Included(first.to_vec())),
        };
        let stop = match (end, &self.end) {
            (Some(end), Bound::Included(own) | Bound::Excluded(own)) if end > &own[..] => None,
            (end, _) => end.map(|end| Bound::Excluded(end.to_vec())),
        };
        KeyRange {
            start: start.unwrap_or_else(|| self.start.clone()),
            end: stop.unwrap_or_else(|| self.end.clone()),
        }
    }

    /// Reports whether the range is that of the keys with one prefix.
    pub(super) fn is_equality(&self) -> bool {
        let Bound::Included(start) = &self.start else { return false };
        match (after_prefix(start), &self.end) {
            (Some(after), Bound::Excluded(end)) => after == *end,
            (None, Bound::Unbounded) => true,
            _ => false,
        }
    }

    /// Reports whether the bounds leave no key between them.
    pub fn is_empty(&self) -> bool {
        match (&self.start, &self.end) {
            (Bound::Included(start), Bound::Excluded(end)) => start >= end,
            (Bound::Included(start), Bound::Included(end)) => start > end,
            (Bound::Excluded(start), Bound::Excluded(end) | Bound::Included(end)) => start >= end,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::RangeBounds;

    #[test]
    fn nothing_follows_the_keys_of_the_greatest_prefix() {
        for end in [Bound::Unbounded, Bound::Included(&[0xff, 0xff, 0xff][..])] {
            assert!(KeyRange::between(Bound::Excluded(&[0xff, 0xff]), end).is_empty());
        }
        assert!(!KeyRange::between(Bound::Excluded(&[0xff, 0xfe]), Bound::Unbounded).is_empty());
    }

    #[test]
    fn a_range_becomes_that_of_a_prefix() {
        let ranges = [
            KeyRange::all(),
            KeyRange::prefix(&[3, 4, 5]),
            KeyRange::between(Bound::Excluded(&[1]), Bound::Excluded(&[2, 3])),
        ];
        for before in ranges {
            for prefix in [&[7][..], &[7, 0xff], &[0xff, 0xff], &[1, 2, 3, 4]] {
                let mut range = before.clone();
                range.become_prefix(prefix);
                assert_eq!(range, KeyRange::prefix(prefix), "{before:?} and {prefix:?}");
            }
        }
    }

    #[test]
    fn the_parts_of_a_range_hold_its_keys_once() {
        let keys: Vec<Vec<u8>> = (0..5).flat_map(|a| [vec![a], vec![a, 1]]).collect();
        let bounds =
            |key: &Vec<u8>| [Bound::Unbounded, Bound::Included(key.clone()), Bound::Excluded(key.clone())];
        for (start, end) in keys.iter().flat_map(bounds).zip(keys.iter().rev().flat_map(bounds)) {
            let whole = KeyRange { start, end };
            for point in &keys {
                let parts = [whole.part(None, Some(point)), whole.part(Some(point), None)];
                for key in &keys {
                    let has = |range: &KeyRange| {
                        !range.is_empty()
                            && RangeBounds::contains(&(range.start.clone(), range.end.clone()), key)
                    };
                    let in_parts = parts.iter().filter(|part| has(part)).count();
                    assert_eq!(in_parts, usize::from(has(&whole)), "{key:?} of {whole:?} at {point:?}");
                }
            }
        }
    }

    #[test]
    fn after_prefix_is_the_next_string_without_the_prefix() {
        assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(after_prefix(&[1, 0xff, 0xff]), Some(vec![2]));
        assert_eq!(after_prefix(&[0xff]), None);
    }
}
