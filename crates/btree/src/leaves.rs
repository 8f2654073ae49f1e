//! Reading a whole tree a leaf at a time, perhaps by several threads, for index builds.
//!
//! A leaf is copied whole under its latch and looked at afterwards, so that writers wait for no
//! more than the copy. As with [`crate::Scan`], an entry that exists throughout is seen exactly
//! once: fences say where the next leaf begins, whatever happens meanwhile.

use std::ops::Range;
use std::sync::Arc;

use buffer::slotted;

use crate::descend::{Fences, Target, leaf_read};
use crate::error::Result;
use crate::root::Root;

/// A walk over the leaves of a range of keys; see [`crate::Tree::leaves`].
#[derive(Debug)]
pub struct Leaves {
    root: Arc<Root>,
    /// The key at which the next leaf begins. `None` at the end of the range.
    from: Option<Vec<u8>>,
    /// The first key that does not belong to the range any more. `None` means that the range ends
    /// with the tree.
    end: Option<Vec<u8>>,
    page: Vec<u8>,
    entries: Range<usize>,
}

impl Leaves {
    pub(crate) fn new(root: Arc<Root>, start: &[u8], end: Option<&[u8]>) -> Leaves {
        let (from, end) = (Some(start.to_vec()), end.map(<[u8]>::to_vec));
        Leaves { root, from, end, page: Vec::new(), entries: 0..0 }
    }

    /// Goes on to the next leaf. Returns false at the end of the range.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn advance(&mut self) -> Result<bool> {
        let Some(from) = self.from.take() else { return Ok(false) };
        let mut fences = Fences::default();
        let leaf = leaf_read(&self.root, Target::Of(&from), Some(&mut fences))?;
        self.page.clear();
        self.page.extend_from_slice(&leaf);
        drop(leaf);
        let place = |key: &[u8]| slotted::search(&self.page, key).unwrap_or_else(|index| index);
        let start = if from.is_empty() { 0 } else { place(&from) };
        let stop = match &self.end {
            Some(end) => place(end),
            None => slotted::count(&self.page),
        };
        self.entries = start..stop.max(start);
        self.from = fences.high.filter(|high| self.end.as_ref().is_none_or(|end| high < end));
        Ok(true)
    }

    /// Returns the key at which the leaf behind the present one begins. `None` means that the range
    /// has no further leaf.
    pub fn next_start(&self) -> Option<&[u8]> {
        self.from.as_deref()
    }

    /// Returns the entries of the leaf that [`Leaves::advance`] went to, as keys and values.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.clone().map(|index| (slotted::key(&self.page, index), slotted::value(&self.page, index)))
    }
}

/// Returns at most `parts - 1` keys, in order, that divide the tree into parts with about the
/// same number of leaves.
///
/// # Errors
/// Returns an error for a damaged page, and I/O errors.
pub(crate) fn split_points(root: &Root, parts: usize) -> Result<Vec<Vec<u8>>> {
    // The number of separators for each part that makes the parts differ by little. If the tree
    // has fewer, all separators are used.
    const SEPARATORS_PER_PART: usize = 16;
    let _lock = root.pool().lock_structure(root.space())?;
    let mut nodes = vec![(root.page(), Vec::new())];
    let mut separators: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut below = Vec::new();
        for (no, low) in &nodes {
            let node = root.pool().read(root.page_id(*no))?;
            if root.check_node(*no, &node, None)? == 0 {
                return Ok(evenly(&separators, parts));
            }
            for index in 0..slotted::count(&node) {
                let key = if index == 0 { low.clone() } else { slotted::key(&node, index).to_vec() };
                below.push((slotted::child(&node, index), key));
            }
        }
        separators = below.iter().map(|(_, key)| key.clone()).filter(|key| !key.is_empty()).collect();
        if separators.len() >= parts * SEPARATORS_PER_PART {
            return Ok(evenly(&separators, parts));
        }
        nodes = below;
    }
}

fn evenly(separators: &[Vec<u8>], parts: usize) -> Vec<Vec<u8>> {
    let mut points: Vec<Vec<u8>> =
        (1..parts).filter_map(|part| separators.get(part * separators.len() / parts).cloned()).collect();
    points.dedup();
    points
}
