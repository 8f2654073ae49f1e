//! How many entries a tree has, or a range of it, from a few paths from the root to leaves.

use buffer::{PageNo, PageRead, slotted};
use std::ops::Bound;

use crate::error::Result;
use crate::tree::Tree;

/// Paths that an estimate of all entries follows.
const SAMPLES: usize = 8;

/// A node on the way to an end of a range.
struct Passed {
    no: PageNo,
    entries: usize,
    /// The entry that the way goes on with; of a leaf, how many entries are before the end.
    index: usize,
}

impl Tree {
    /// About how many entries there are, from a few paths through the tree.
    ///
    /// # Errors
    /// A damaged page; an I/O error.
    pub fn approximate_len(&self) -> Result<u64> {
        let estimates: Result<Vec<f64>> = (0..SAMPLES)
            .map(|sample| {
                let mut product = 1.0;
                let at = |entries: usize| (entries - 1) * sample / (SAMPLES - 1);
                let leaf = self.along(at, &mut product)?;
                Ok(product * slotted::count(&leaf) as f64)
            })
            .collect();
        Ok((estimates?.iter().sum::<f64>() / SAMPLES as f64).round() as u64)
    }

    /// The keys of a few leaves, each leaf's in order; `number` tells which leaves.
    ///
    /// # Errors
    /// As [`Tree::approximate_len`].
    pub fn sampled_leaf(
        &self,
        number: u64,
        show: &mut dyn FnMut(&mut dyn Iterator<Item = &[u8]>),
    ) -> Result<()> {
        let mut spread = number.wrapping_add(1);
        let at = |entries: usize| {
            // Numbers that look like random ones, and are the same each time.
            spread = (spread ^ spread >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((spread >> 33) % entries as u64) as usize
        };
        let leaf = self.along(at, &mut 1.0)?;
        show(&mut (0..slotted::count(&leaf)).map(|index| slotted::key(&leaf, index)));
        Ok(())
    }

    /// The leaf to which `at` leads, which chooses among so many entries at each node, and the
    /// product of these numbers.
    fn along(&self, mut at: impl FnMut(usize) -> usize, product: &mut f64) -> Result<PageRead<'_>> {
        let mut no = self.root_page();
        let mut node = self.pool().read(self.page_id(no))?;
        let mut level = self.check_node(no, &node, None)?;
        while level > 0 {
            let entries = slotted::count(&node);
            *product *= entries as f64;
            no = slotted::child(&node, at(entries));
            let child = self.pool().read(self.page_id(no))?;
            level = self.check_node(no, &child, Some(level - 1))?;
            node = child;
        }
        Ok(node)
    }

    /// About how many entries a range has: exactly, where both its ends are in one leaf. The tree
    /// may change between the ways to the two ends.
    ///
    /// # Errors
    /// As [`Tree::approximate_len`].
    pub fn estimate_range(&self, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Result<u64> {
        let (low, high) = (self.way_to(&start, true)?, self.way_to(&end, false)?);
        // Nodes of the level below that lie wholly between the two ways; at last, entries.
        let mut between = 0f64;
        let levels = low.len().min(high.len());
        for (level, (low, high)) in low.iter().zip(&high).enumerate() {
            // Of an inner node the entry itself is on the way, of a leaf it is behind the end.
            let on_the_way = usize::from(level + 1 < levels);
            between = match low.no == high.no {
                true => high.index.saturating_sub(low.index + on_the_way) as f64,
                false => {
                    let entries = (low.entries + high.entries) as f64 / 2.0;
                    let above = low.entries.saturating_sub(low.index + on_the_way);
                    between * entries + (above + high.index) as f64
                }
            };
        }
        Ok(between.round() as u64)
    }

    fn way_to(&self, bound: &Bound<&[u8]>, is_start: bool) -> Result<Vec<Passed>> {
        let mut way = Vec::new();
        let mut no = self.root_page();
        let mut node = self.pool().read(self.page_id(no))?;
        let mut level = self.check_node(no, &node, None)?;
        loop {
            let index = index_of(&node, level, bound, is_start);
            way.push(Passed { no, entries: slotted::count(&node), index });
            if level == 0 {
                return Ok(way);
            }
            no = slotted::child(&node, index);
            let child = self.pool().read(self.page_id(no))?;
            level = self.check_node(no, &child, Some(level - 1))?;
            node = child;
        }
    }
}

/// Where a bound lies in a node: of a leaf, how many entries are before it.
fn index_of(node: &[u8], level: u8, bound: &Bound<&[u8]>, is_start: bool) -> usize {
    let count = slotted::count(node);
    match bound {
        Bound::Unbounded if is_start => 0,
        Bound::Unbounded if level == 0 => count,
        Bound::Unbounded => count - 1,
        Bound::Included(key) | Bound::Excluded(key) if level > 0 => slotted::child_index(node, key),
        Bound::Included(key) | Bound::Excluded(key) => {
            let takes_in = matches!(bound, Bound::Included(_)) != is_start;
            slotted::search(node, key).map_or_else(|index| index, |index| index + usize::from(takes_in))
        }
    }
}
