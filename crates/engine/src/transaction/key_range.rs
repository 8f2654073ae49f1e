//! Ranges of encoded keys.

use crate::definition::IndexRef;
use crate::error::Result;
use crate::table::Table;
use std::ops::Bound;

/// The smallest byte string that is greater than every one that begins with `prefix`; `None`: there
/// is none.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

/// A range of encoded keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Where it begins.
    pub start: Bound<Vec<u8>>,
    /// Where it ends.
    pub end: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> KeyRange {
        KeyRange { start: Bound::Unbounded, end: Bound::Unbounded }
    }

    /// Keys whose leading columns are encoded as `prefix`: equality on those columns.
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        KeyRange::between(Bound::Included(prefix), Bound::Included(prefix))
    }

    /// Keys between two bounds on leading columns. Included and excluded speak of all keys that
    /// begin with the bound: `Excluded` as a start leaves all of them out, `Included` as an end
    /// takes all of them in.
    pub fn between(start: Bound<&[u8]>, end: Bound<&[u8]>) -> KeyRange {
        let after = |prefix: &[u8]| after_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        let start = match start {
            Bound::Included(prefix) => Bound::Included(prefix.to_vec()),
            Bound::Excluded(prefix) => match after_prefix(prefix) {
                Some(after) => Bound::Included(after),
                // Nothing follows: an empty range.
                None => Bound::Excluded(vec![0xff; prefix.len() + 1]),
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

    /// About how many entries of an index it has, from two paths through the tree.
    ///
    /// # Errors
    /// A damaged page; an I/O error.
    pub fn estimated_entries(&self, table: &Table, index: IndexRef) -> Result<u64> {
        let (start, end) = (self.start.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice));
        Ok(table.tree(index).estimate_range(start, end)?)
    }

    /// Whether it holds the keys with one prefix.
    pub(super) fn is_equality(&self) -> bool {
        let Bound::Included(start) = &self.start else { return false };
        match (after_prefix(start), &self.end) {
            (Some(after), Bound::Excluded(end)) => after == *end,
            (None, Bound::Unbounded) => true,
            _ => false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
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

    #[test]
    fn after_prefix_is_the_next_string_without_the_prefix() {
        assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(after_prefix(&[1, 0xff, 0xff]), Some(vec![2]));
        assert_eq!(after_prefix(&[0xff]), None);
    }
}
