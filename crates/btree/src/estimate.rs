//! Estimates of how many entries a tree or a range of it has, from a few paths from the root to
//! leaves.

use std::ops::Bound;

use buffer::{PageNo, slotted};

use crate::descend::{Descent, Fences};
use crate::error::Result;
use crate::tree::Tree;

/// The number of paths that an estimate of all entries follows.
const SAMPLES: usize = 8;

/// How many pages a tree has, estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApproximatePages {
    /// Leaves.
    pub leaves: u64,
    /// Pages above the leaves.
    pub inner: u64,
}

impl ApproximatePages {
    /// The pages of both kinds.
    pub fn all(&self) -> u64 {
        self.leaves + self.inner
    }
}

/// How many nodes a tree would have if each of its nodes had as many entries as the one that a path
/// passes on the same level.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Nodes on the path's present level; of a whole path, the leaves.
    level: f64,
    /// Nodes on the levels above.
    above: f64,
}

/// The extent of a path that has only come to the root.
const AT_ROOT: Extent = Extent { level: 1.0, above: 0.0 };

/// A node on the path to an end of a range.
struct Passed {
    no: PageNo,
    entries: usize,
    /// In an inner node, the entry that the path follows. In a leaf, the number of entries before
    /// the end of the range.
    index: usize,
}

/// Estimates the number of entries, from a few paths through the tree.
///
/// # Errors
/// Returns an error for a damaged page, and I/O errors.
pub fn entries(tree: &Tree) -> Result<u64> {
    let estimates: Result<Vec<f64>> = (0..SAMPLES)
        .map(|sample| {
            let (leaf, extent) = along(tree, |entries| spread_evenly(sample, entries), None)?;
            Ok(extent.level * slotted::count(leaf.node()) as f64)
        })
        .collect();
    Ok((estimates?.iter().sum::<f64>() / SAMPLES as f64).round() as u64)
}

/// Returns about how many pages there are, from the same paths as [`entries`].
///
/// # Errors
/// Returns the errors of [`entries`].
pub fn pages(tree: &Tree) -> Result<ApproximatePages> {
    let extents: Result<Vec<Extent>> = (0..SAMPLES)
        .map(|sample| Ok(along(tree, |entries| spread_evenly(sample, entries), None)?.1))
        .collect();
    let extents = extents?;
    let mean = |of: fn(&Extent) -> f64| (extents.iter().map(of).sum::<f64>() / SAMPLES as f64).round() as u64;
    Ok(ApproximatePages { leaves: mean(|extent| extent.level), inner: mean(|extent| extent.above) })
}

/// A leaf that was chosen from all leaves of a tree. It is latched shared as long as this lives.
pub struct SampledLeaf<'t> {
    leaf: Descent<'t>,
    behind: Option<Vec<u8>>,
}

impl SampledLeaf<'_> {
    /// Returns the leaf's entries, keys and values, in order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        let node = self.leaf.node();
        (0..slotted::count(node)).map(move |index| (slotted::key(node, index), slotted::value(node, index)))
    }

    /// Returns what lies behind the leaf: a key that is above those of the leaf and not above those
    /// of the next one. `None` means that it is the last leaf.
    pub fn behind(&self) -> Option<&[u8]> {
        self.behind.as_deref()
    }
}

/// Returns one leaf of the tree. `number` chooses it.
///
/// # Errors
/// Returns the errors of [`entries`].
pub fn sampled_leaf(tree: &Tree, number: u64) -> Result<SampledLeaf<'_>> {
    let mut spread = number.wrapping_add(1);
    let at = |entries: usize| {
        // The numbers look random, but are the same for the same `number`.
        spread = (spread ^ spread >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((spread >> 33) % entries as u64) as usize
    };
    let mut fences = Fences::default();
    let (leaf, _) = along(tree, at, Some(&mut fences))?;
    Ok(SampledLeaf { leaf, behind: fences.high })
}

/// Returns the leaf to which `at` leads, and what the path to it says of the tree's extent.
/// `at` gets the number of entries of each inner node and returns the one to follow. `fences`
/// become the bounds of the leaf.
fn along<'t>(
    tree: &'t Tree,
    mut at: impl FnMut(usize) -> usize,
    mut fences: Option<&mut Fences>,
) -> Result<(Descent<'t>, Extent)> {
    let mut extent = AT_ROOT;
    let mut descent = Descent::begin(tree.root())?;
    while descent.level() > 0 {
        let entries = slotted::count(descent.node());
        extent = Extent { level: extent.level * entries as f64, above: extent.above + extent.level };
        let index = at(entries);
        if let Some(fences) = fences.as_deref_mut() {
            fences.narrow(descent.node(), index);
        }
        descent.follow(index)?;
    }
    Ok((descent, extent))
}

/// Estimates the number of entries in a range. The result is exact when both ends of the range
/// are in one leaf. The tree may change between the descents to the two ends.
///
/// # Errors
/// Returns the errors of [`entries`].
pub fn range(tree: &Tree, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Result<u64> {
    let (low, high) = (way_to(tree, &start, true)?, way_to(tree, &end, false)?);
    // `between` counts what lies wholly between the two paths: the nodes of the next level, and
    // on the leaf level the entries.
    let mut between = 0f64;
    let levels = low.len().min(high.len());
    for (level, (low, high)) in low.iter().zip(&high).enumerate() {
        // The path follows an entry of an inner node, so that entry does not lie between. In a
        // leaf, the entry at `index` is behind the end.
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

fn way_to(tree: &Tree, bound: &Bound<&[u8]>, is_start: bool) -> Result<Vec<Passed>> {
    let mut way = Vec::new();
    let mut descent = Descent::begin(tree.root())?;
    loop {
        let node = descent.node();
        let index = index_of(node, descent.level(), bound, is_start);
        way.push(Passed { no: descent.no(), entries: slotted::count(node), index });
        if descent.level() == 0 {
            return Ok(way);
        }
        descent.follow(index)?;
    }
}

/// The entry of a node with which the path of this number goes on, so that the paths lie evenly
/// spread between the first one and the last one.
fn spread_evenly(sample: usize, entries: usize) -> usize {
    (entries - 1) * sample / (SAMPLES - 1)
}

/// Returns the entry of a node where a bound lies. In a leaf, that is the number of entries before
/// the bound.
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
