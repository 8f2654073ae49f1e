//! The leaves of rows that a scan of a secondary index comes to next.
//!
//! The rows of neighbouring entries lie on leaves far apart, and each access to one waits for the
//! memory. So the leaves of some rows are looked for ahead of them, and the waits overlap.

use crate::entry;
use crate::table::Table;
use btree::{Place, Spot};
use buffer::FoundLeaf;
use smallvec::SmallVec;

/// The most rows whose leaves are looked for together.
const MOST_TOGETHER: usize = 8;

/// The leaves of the rows whose entries come next in a scan.
#[derive(Default)]
pub(super) struct Located {
    /// The place of the first entry, and the leaf of each entry's row, as far as they are known.
    first: Option<Place>,
    leaves: SmallVec<[Option<FoundLeaf>; MOST_TOGETHER]>,
    /// How many of the leaves were used.
    used: usize,
    /// How many rows were looked for together the last time. The first row is looked for alone,
    /// because many scans end with it.
    together: usize,
}

impl Located {
    /// Forgets the leaves, for a scan that begins anew.
    pub fn clear(&mut self) {
        self.first = None;
        self.together = 0;
    }

    /// Takes the leaf of the row whose entry comes next in the pages, if it is known.
    pub fn take(&mut self, pages: &btree::Scan, table: &Table) -> Option<FoundLeaf> {
        let is_next = |first: Place| first.plus(self.used) == pages.place();
        if !self.first.is_some_and(is_next) || self.used == self.leaves.len() {
            self.look_ahead(pages, table);
        }
        let leaf = *self.leaves.get(self.used)?;
        self.used += 1;
        leaf
    }

    /// Looks for the leaves of the rows whose entries come next.
    fn look_ahead(&mut self, pages: &btree::Scan, table: &Table) {
        self.leaves.clear();
        self.used = 0;
        self.together = (2 * self.together).clamp(1, MOST_TOGETHER);
        let (first, entries) = pages.ahead();
        self.first = Some(first);
        if self.together == 1 {
            return;
        }
        let mut spots: SmallVec<[Option<Spot<'_>>; MOST_TOGETHER]> = entries
            .take(self.together)
            .map(|(key, value)| Some(table.clustered.locate(key.get(entry::secondary_len(value).ok()?..)?)))
            .collect();
        spots.iter_mut().flatten().for_each(|spot| table.clustered.prefetch(spot));
        self.leaves.extend(spots.iter().map(|spot| spot.as_ref().and_then(Spot::leaf)));
    }
}
