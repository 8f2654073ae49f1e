//! The descent from the root to a leaf: optimistic where the whole way is in the pool, otherwise by
//! coupling latches.

use buffer::page::{self, PageType};
use buffer::{FoundLeaf, PageId, PageNo, PageRead, PageWrite, slotted};

use crate::error::{Result, TreeError};
use crate::spot::Spot;
use crate::tree::Tree;

/// The leaf that a descent leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'k> {
    /// The leaf that holds this key, if any does.
    Of(&'k [u8]),
    /// The leaf that holds the largest keys below this one.
    Below(&'k [u8]),
    /// The leftmost leaf.
    First,
    /// The rightmost leaf.
    Last,
}

impl Target<'_> {
    /// Returns the entry of the inner node to follow.
    #[inline]
    pub fn child_index(self, node: &[u8]) -> usize {
        match self {
            Target::Of(key) => slotted::child_index(node, key),
            Target::Below(key) => slotted::child_index_below(node, key),
            Target::First => 0,
            Target::Last => slotted::count(node) - 1,
        }
    }
}

/// The bounds of a leaf, as its ancestors know them. `None` stands for an end of the tree.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    /// The lower bound: no key of the leaf is below it.
    pub low: Option<Vec<u8>>,
    /// The upper bound: all keys of the leaf are below it.
    pub high: Option<Vec<u8>>,
}

impl Fences {
    pub(crate) fn narrow(&mut self, node: &[u8], index: usize) {
        if index > 0 {
            self.low = Some(slotted::key(node, index).to_vec());
        }
        if index + 1 < slotted::count(node) {
            self.high = Some(slotted::key(node, index + 1).to_vec());
        }
    }
}

#[inline]
fn is_leaf(bytes: &[u8]) -> bool {
    page::level(bytes) == 0 && page::page_type(bytes) == Some(PageType::Index)
}

impl Tree {
    pub(crate) fn page_id(&self, no: PageNo) -> PageId {
        PageId::new(self.space(), no)
    }

    /// Checks that a page is a node of the expected level (of any level when `expected` is `None`),
    /// and returns its level.
    #[inline]
    pub(crate) fn check_node(&self, no: PageNo, bytes: &[u8], expected: Option<u8>) -> Result<u8> {
        let level = page::level(bytes);
        let sound = page::page_type(bytes) == Some(PageType::Index)
            && expected.is_none_or(|expected| expected == level)
            && (level == 0 || slotted::count(bytes) > 0);
        if sound { Ok(level) } else { Err(self.out_of_place(no, bytes, expected)) }
    }

    #[cold]
    fn out_of_place(&self, no: PageNo, bytes: &[u8], expected: Option<u8>) -> TreeError {
        let (found, level) = (page::page_type(bytes), page::level(bytes));
        let entries = if found == Some(PageType::Index) { slotted::count(bytes) } else { 0 };
        let reason = format!(
            "it should be a node of level {expected:?}, it is {found:?} of level {level} with {entries} entries"
        );
        TreeError::damaged(self.page_id(no), reason)
    }

    /// Returns the target leaf, latched shared.
    pub(crate) fn leaf_read(
        &self,
        target: Target<'_>,
        mut fences: Option<&mut Fences>,
    ) -> Result<PageRead<'_>> {
        let mut no = self.root_page();
        let mut node = self.pool().read(self.page_id(no))?;
        let mut level = self.check_node(no, &node, None)?;
        while level > 0 {
            let index = target.child_index(&node);
            if let Some(fences) = fences.as_deref_mut() {
                fences.narrow(&node, index);
            }
            no = slotted::child(&node, index);
            let child = self.pool().read(self.page_id(no))?;
            level = self.check_node(no, &child, Some(level - 1))?;
            node = child;
        }
        Ok(node)
    }

    /// Finds the key's leaf without latching anything, and starts loading it into the processor's
    /// cache. A caller with several keys to look up or change first locates them all, then
    /// prefetches them all ([`Tree::prefetch`]), and then uses [`Tree::get_at`] and
    /// [`Tree::modify_at`]. So the memory's latencies overlap, and a lookup and a change of one key
    /// share the descent. A spot never becomes wrong: when the tree has changed too much, using it
    /// is only no faster.
    #[inline]
    pub fn locate<'k>(&self, key: &'k [u8]) -> Spot<'k> {
        Spot { key, found: self.pool().find_leaf(self.page_id(self.root_page()), key) }
    }

    /// Returns the first page on the way from the root to the key's leaf that is not in the pool,
    /// for a reader that loads it before it is wanted. Latches nothing. `None` means that all are,
    /// or that the tree was just changing.
    pub fn missing_page(&self, key: &[u8]) -> Option<PageNo> {
        self.pool().missing_page(self.page_id(self.root_page()), key)
    }

    /// Starts loading a leaf that was located on another processor into this one's cache. Changes
    /// nothing else.
    #[inline]
    pub fn prefetch_leaf(&self, leaf: FoundLeaf) {
        self.pool().prefetch_found(leaf);
    }

    /// Starts loading the entry itself into the processor's cache. Changes nothing else.
    #[inline]
    pub fn prefetch(&self, spot: &Spot<'_>) {
        if let Some(found) = spot.found {
            self.pool().prefetch_entry(found, spot.key);
        }
    }

    /// Returns the spot's leaf, latched shared.
    #[inline]
    pub(crate) fn leaf_of(&self, spot: &Spot<'_>) -> Result<PageRead<'_>> {
        if let Some(found) = spot.found
            && let Some(leaf) = self.pool().read_found(found)?
            && is_leaf(&leaf)
        {
            return Ok(leaf);
        }
        self.leaf_read(Target::Of(spot.key), None)
    }

    /// Returns the spot's leaf, latched exclusively.
    #[inline]
    pub(crate) fn leaf_write(&self, spot: &Spot<'_>) -> Result<PageWrite<'_>> {
        if let Some(found) = spot.found
            && let Some(leaf) = self.pool().write_found(found)?
            && is_leaf(&leaf)
        {
            return Ok(leaf);
        }
        self.leaf_write_coupled(spot.key)
    }

    fn leaf_write_coupled(&self, key: &[u8]) -> Result<PageWrite<'_>> {
        loop {
            let mut no = self.root_page();
            let mut node = self.pool().read(self.page_id(no))?;
            let mut level = self.check_node(no, &node, None)?;
            while level > 1 {
                no = slotted::child(&node, slotted::child_index(&node, key));
                let child = self.pool().read(self.page_id(no))?;
                level = self.check_node(no, &child, Some(level - 1))?;
                node = child;
            }
            if level == 1 {
                no = slotted::child(&node, slotted::child_index(&node, key));
                let leaf = self.pool().write(self.page_id(no))?;
                self.check_node(no, &leaf, Some(0))?;
                return Ok(leaf);
            }
            // The root is the leaf. It must be latched anew, and may have grown in between.
            drop(node);
            let root = self.pool().write(self.page_id(no))?;
            if self.check_node(no, &root, None)? == 0 {
                return Ok(root);
            }
        }
    }
}
