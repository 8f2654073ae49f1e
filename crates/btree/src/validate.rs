//! Checks of a whole tree, for CHECK TABLE and tests.

use buffer::{PageNo, slotted};

use crate::error::Result;
use crate::root::Root;
use crate::tree::Tree;

/// The figures of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeStats {
    /// The number of entries in leaves.
    pub entries: u64,
    /// The number of leaf pages.
    pub leaves: u64,
    /// The number of inner pages.
    pub inner_nodes: u64,
    /// The number of bytes that entries take in leaves, their slots included.
    pub leaf_bytes: u64,
    /// The number of levels, 1 for a root that is a leaf.
    pub levels: u8,
}

/// The state of a walk over a tree.
struct Walk<'w> {
    stats: TreeStats,
    goes_on: &'w dyn Fn() -> bool,
}

/// Walks over the whole tree and checks every page's place, level, order of keys and bounds.
///
/// # Errors
/// Returns [`crate::TreeError::Damaged`] with the first fault found, and I/O errors.
pub fn validate(tree: &Tree) -> Result<TreeStats> {
    Ok(validate_while(tree, &|| true)?.expect("nobody stops it"))
}

/// Validates as [`validate`] does, while `goes_on` returns true. It is called at every
/// page. Returns `None` when it has returned false.
///
/// # Errors
/// Returns the errors of [`validate`].
pub fn validate_while(tree: &Tree, goes_on: &dyn Fn() -> bool) -> Result<Option<TreeStats>> {
    let root = tree.root();
    // No inner node changes while this lock is held.
    let _lock = root.pool().lock_structure(root.space())?;
    let stats = TreeStats::default();
    let mut walk = Walk { stats, goes_on };
    let Some(level) = validate_node(root, root.page(), None, (&[], None), &mut walk)? else {
        return Ok(None);
    };
    Ok(Some(TreeStats { levels: level + 1, ..walk.stats }))
}

/// Checks the subtree at `no`, whose keys must all lie from `low` up to `high`. Returns its
/// level, or `None` when the walk was stopped.
fn validate_node(
    root: &Root,
    no: PageNo,
    expected: Option<u8>,
    (low, high): (&[u8], Option<&[u8]>),
    walk: &mut Walk<'_>,
) -> Result<Option<u8>> {
    if !(walk.goes_on)() {
        return Ok(None);
    }
    let node = root.pool().read(root.page_id(no))?.to_vec();
    let level = root.check_node(no, &node, expected)?;
    let damaged = |reason: &str| root.damaged(no, reason);
    slotted::check(&node).map_err(damaged)?;
    let entries = slotted::count(&node);
    for index in 0..entries {
        let key = slotted::key(&node, index);
        let in_order = index == 0 || slotted::key(&node, index - 1) < key;
        let in_bounds = (level > 0 && index == 0 || key >= low) && high.is_none_or(|high| key < high);
        if !in_order || !in_bounds {
            return Err(damaged("its keys are out of order or beyond its bounds"));
        }
        if slotted::search(&node, key) != Ok(index) {
            return Err(damaged("a key is there but is not found"));
        }
    }
    if level == 0 {
        walk.stats.leaves += 1;
        walk.stats.entries += entries as u64;
        walk.stats.leaf_bytes += slotted::used_bytes(&node) as u64;
        return Ok(Some(level));
    }
    walk.stats.inner_nodes += 1;
    if !slotted::key(&node, 0).is_empty() {
        return Err(damaged("its first key is not empty"));
    }
    for index in 0..entries {
        let low = if index == 0 { low } else { slotted::key(&node, index) };
        let high = if index + 1 < entries { Some(slotted::key(&node, index + 1)) } else { high };
        let child = slotted::child(&node, index);
        if validate_node(root, child, Some(level - 1), (low, high), walk)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(level))
}
