//! Trees under a claim (see `buffer::claim`): how they are made for an index that is to be built,
//! and freed so that no crash loses a page.
//!
//! Freeing goes from the right end of the tree, a few leaves at a time. One structure record takes
//! them off their parent and puts them on the free list, so that at every moment the pages that can
//! be reached from the root are those that are not free yet. The last record frees the root and the
//! claim.

use std::sync::Arc;

use buffer::page::{self, PageType};
use buffer::{Claim, ClaimKind, Held, Mtr, PageNo, Pool, SpaceId, slotted};

use crate::error::Result;
use crate::root::Root;
use crate::tree::Tree;

/// Makes an empty tree, under a claim, for an index that the dictionary does not name yet.
///
/// # Errors
/// Returns an error when the space is not open or cannot grow, and I/O errors.
pub fn create(pool: &Arc<Pool>, space: SpaceId, index_id: u32) -> Result<Tree> {
    let root = pool.claim_new_root(space, index_id)?;
    Ok(Tree::open(pool, space, root))
}

/// Frees the pages that a claim covers, and then the claim. Nobody may use the tree any more.
/// If a crash interrupts this, the claim still covers the rest.
///
/// # Errors
/// Returns an error for a damaged page, and I/O errors.
pub fn free(pool: &Arc<Pool>, space: SpaceId, claim: Claim) -> Result<()> {
    match claim.kind {
        ClaimKind::Pages => {
            pool.free_claimed_pages(space, claim.index_id, usize::MAX)?;
        }
        ClaimKind::Tree => {
            let tree = Tree::open(pool, space, claim.root);
            while free_some(tree.root())? {}
        }
    }
    Ok(pool.free_claimed_root(space, claim.index_id)?)
}

/// Frees some pages at the right end of the tree. Returns false when only the root is left.
fn free_some(root: &Root) -> Result<bool> {
    root.pool().log().free_check();
    let lock = root.pool().lock_structure(root.space())?;
    let mut mtr = Mtr::begin(root.pool(), &lock);
    // The loop finds the lowest inner node on the right and the node above it.
    let mut above: Option<Held> = None;
    let mut node = mtr.latch(root.page())?;
    let mut level = check_freeing(root, &mtr, node, None)?;
    if level == 0 {
        return Ok(false);
    }
    while level > 1 {
        let Some(last) = slotted::count(mtr.page(node)).checked_sub(1) else { break };
        let no = slotted::child(mtr.page(node), last);
        let child = mtr.latch(no)?;
        level = check_freeing(root, &mtr, child, Some(level - 1))?;
        // Nothing above these two nodes changes.
        let kept = mtr.release_before(node);
        assert_eq!(kept.len(), 2, "a node and its child stay latched");
        (above, node) = (Some(kept[0]), kept[1]);
    }
    free_children(root, mtr, above, node)
}

/// Frees the last children of a node that has only leaves below it (or no children at all), and
/// the node itself when it has no children left.
fn free_children(root: &Root, mut mtr: Mtr<'_>, above: Option<Held>, node: Held) -> Result<bool> {
    let count = slotted::count(mtr.page(node));
    let gone = count.min(root.pool().pages_at_once());
    if count == 0 && above.is_none() {
        return Ok(false);
    }
    let numbers: Vec<PageNo> =
        (count - gone..count).map(|index| slotted::child(mtr.page(node), index)).collect();
    let leaves =
        numbers.into_iter().map(|no| mtr.latch_unread(no)).collect::<std::result::Result<Vec<Held>, _>>()?;
    assert_eq!(leaves.len(), gone, "each child that goes is latched");
    mtr.prepare_free()?;
    match above {
        Some(above) if gone == count => {
            let last = slotted::count(mtr.page(above)) - 1;
            mtr.remove_child(above, last);
            mtr.free(node);
        }
        _ => (count - gone..count).rev().for_each(|index| mtr.remove_child(node, index)),
    }
    leaves.into_iter().for_each(|leaf| mtr.free(leaf));
    mtr.commit();
    Ok(true)
}

/// Checks a node as [`Root::check_node`] does, but allows an inner node that has lost all its
/// children.
fn check_freeing(root: &Root, mtr: &Mtr<'_>, held: Held, expected: Option<u8>) -> Result<u8> {
    let (bytes, level) = (mtr.page(held), page::level(mtr.page(held)));
    let is_node = page::page_type(bytes) == Some(PageType::Index);
    if is_node && expected.is_none_or(|expected| expected == level) {
        return Ok(level);
    }
    let reason = "it should be a node of the tree that is being freed";
    Err(root.damaged(mtr.no(held), reason))
}
