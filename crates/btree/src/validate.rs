//! Checks of a whole tree (for CHECK TABLE and tests), and functions that allocate and free pages.

use buffer::page::PageType;
use buffer::{Held, Mtr, PageNo, slotted};

use crate::error::{Result, TreeError};
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

impl Tree {
    /// Walks over the whole tree and checks every page's place, level, order of keys and bounds.
    ///
    /// # Errors
    /// Returns [`TreeError::Damaged`] with the first fault found, and I/O errors.
    pub fn validate(&self) -> Result<TreeStats> {
        Ok(self.validate_while(&|| true)?.expect("nobody stops it"))
    }

    /// Validates as [`Tree::validate`] does, while `goes_on` returns true. It is called at every
    /// page. Returns `None` when it has returned false.
    ///
    /// # Errors
    /// Returns the errors of [`Tree::validate`].
    pub fn validate_while(&self, goes_on: &dyn Fn() -> bool) -> Result<Option<TreeStats>> {
        // No inner node changes while this lock is held.
        let _lock = self.pool().lock_structure(self.space())?;
        let stats = TreeStats::default();
        let mut walk = Walk { stats, goes_on };
        let Some(level) = self.validate_node(self.root_page(), None, (&[], None), &mut walk)? else {
            return Ok(None);
        };
        Ok(Some(TreeStats { levels: level + 1, ..walk.stats }))
    }

    /// Checks the subtree at `no`, whose keys must all lie from `low` up to `high`. Returns its
    /// level, or `None` when the walk was stopped.
    fn validate_node(
        &self,
        no: PageNo,
        expected: Option<u8>,
        (low, high): (&[u8], Option<&[u8]>),
        walk: &mut Walk<'_>,
    ) -> Result<Option<u8>> {
        if !(walk.goes_on)() {
            return Ok(None);
        }
        let node = self.pool().read(self.page_id(no))?.to_vec();
        let level = self.check_node(no, &node, expected)?;
        let damaged = |reason: &str| TreeError::damaged(self.page_id(no), reason);
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
            if self.validate_node(child, Some(level - 1), (low, high), walk)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(level))
    }

    pub(crate) fn free_pages(&self, pages: &[PageNo]) -> Result<()> {
        crate::validate::free_pages(self.pool(), self.space(), pages)
    }
}

/// Frees pages of a space, a few with each record.
pub(crate) fn free_pages(pool: &buffer::Pool, space: buffer::SpaceId, pages: &[PageNo]) -> Result<()> {
    for chunk in pages.chunks(pool.pages_at_once()) {
        pool.log().free_check();
        let lock = pool.lock_structure(space)?;
        let mut mtr = Mtr::begin(pool, &lock);
        let held: std::result::Result<Vec<Held>, _> = chunk.iter().map(|&no| mtr.latch_unread(no)).collect();
        let held = held?;
        mtr.prepare_free()?;
        held.into_iter().for_each(|held| mtr.free(held));
        mtr.commit();
    }
    Ok(())
}

/// Allocates pages whose content the caller makes durable itself. Only their allocation is logged.
/// Returns their numbers and the place of the record.
pub(crate) fn alloc_unlogged(
    pool: &buffer::Pool,
    space: buffer::SpaceId,
    wanted: usize,
    page_type: PageType,
) -> Result<(Vec<PageNo>, buffer::RecordLsn)> {
    pool.log().free_check();
    let lock = pool.lock_structure(space)?;
    let mut mtr = Mtr::begin(pool, &lock);
    let held: std::result::Result<Vec<Held>, _> = (0..wanted).map(|_| mtr.alloc()).collect();
    let held = held?;
    let numbers = held.iter().map(|&held| mtr.no(held)).collect();
    for &held in &held {
        mtr.format(held, page_type, 0);
    }
    let lsn = mtr.commit_marking(&held);
    Ok((numbers, lsn))
}
