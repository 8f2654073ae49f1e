//! Checking a whole tree (CHECK TABLE, tests), and allocating and freeing pages.

use buffer::page::PageType;
use buffer::{Held, Mtr, PageNo, slotted};

use crate::error::{Result, TreeError};
use crate::tree::Tree;

/// What a tree consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeStats {
    /// Entries in leaves.
    pub entries: u64,
    /// Leaf pages.
    pub leaves: u64,
    /// Inner pages.
    pub inner_nodes: u64,
    /// Bytes that entries take in leaves, slots included.
    pub leaf_bytes: u64,
    /// Levels, 1 for a root that is a leaf.
    pub levels: u8,
}

/// A walk over a tree.
struct Walk<'w> {
    stats: TreeStats,
    goes_on: &'w dyn Fn() -> bool,
}

impl Tree {
    /// Walks the whole tree and checks every page's place, level, order of keys and bounds.
    ///
    /// # Errors
    /// [`TreeError::Damaged`] with the first fault found; an I/O error.
    pub fn validate(&self) -> Result<TreeStats> {
        Ok(self.validate_while(&|| true)?.expect("nobody stops it"))
    }

    /// As [`Tree::validate`], for as long as `goes_on` says so, which is asked at every page.
    /// `None`: it did not.
    ///
    /// # Errors
    /// As [`Tree::validate`].
    pub fn validate_while(&self, goes_on: &dyn Fn() -> bool) -> Result<Option<TreeStats>> {
        // Inner nodes stand still under it.
        let _lock = self.pool().lock_structure(self.space())?;
        let stats = TreeStats::default();
        let mut walk = Walk { stats, goes_on };
        let Some(level) = self.validate_node(self.root_page(), None, (&[], None), &mut walk)? else {
            return Ok(None);
        };
        Ok(Some(TreeStats { levels: level + 1, ..walk.stats }))
    }

    /// Checks the subtree at `no`, all keys of which must lie from `low` up to `high`; returns its
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

/// Frees pages of a space, a few by one record.
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

/// Allocates pages whose content their writer makes durable itself; the log knows of the allocation
/// only. Returns their numbers and the record.
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
