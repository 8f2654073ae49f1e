//! Spots: a key together with its leaf, so that the leaf is looked for only once.
//!
//! The leaf is found without latching anything, where the whole way to it is in the pool. A spot
//! never becomes wrong: where its leaf is not the key's any more, the leaf is looked for again by
//! coupling latches.

use buffer::page::{self, PageType};
use buffer::{FoundLeaf, PageRead, PageWrite, slotted};

use crate::descend::{Target, leaf_read, leaf_write};
use crate::error::Result;
use crate::root::Root;

/// A key and the leaf that it was found to belong to; see [`crate::Tree::locate`].
#[derive(Debug, Clone, Copy)]
pub struct Spot<'k> {
    pub(crate) key: &'k [u8],
    found: Option<FoundLeaf>,
}

impl<'k> Spot<'k> {
    /// Finds the key's leaf in a tree.
    #[inline]
    pub(crate) fn find(root: &Root, key: &'k [u8]) -> Spot<'k> {
        Spot { key, found: root.pool().find_leaf(root.id(), key) }
    }

    /// Returns the place of the leaf. It can be kept beside a copy of the key, and [`Spot::again`]
    /// puts the two together.
    pub fn leaf(&self) -> Option<FoundLeaf> {
        self.found
    }

    /// Makes the spot of a key whose leaf was found before, in the same tree.
    pub fn again(key: &'k [u8], leaf: FoundLeaf) -> Spot<'k> {
        Spot { key, found: Some(leaf) }
    }

    /// Starts loading the key's entry into the processor's cache, and notes where it is on the
    /// leaf. Changes nothing else.
    #[inline]
    pub(crate) fn prefetch(&mut self, root: &Root) {
        if let Some(found) = &mut self.found {
            root.pool().prefetch_entry(found, self.key);
        }
    }

    /// Finds the key on its leaf, as [`slotted::search`] does.
    #[inline]
    pub(crate) fn search(&self, leaf: &[u8]) -> std::result::Result<usize, usize> {
        match &self.found {
            Some(found) => slotted::search_near(leaf, self.key, found.entry()),
            None => slotted::search(leaf, self.key),
        }
    }

    /// Returns the key's leaf, latched shared.
    #[inline]
    pub(crate) fn read<'t>(&self, root: &'t Root) -> Result<PageRead<'t>> {
        if let Some(found) = self.found
            && let Some(leaf) = root.pool().read_found(found)?
            && is_leaf(&leaf)
        {
            return Ok(leaf);
        }
        leaf_read(root, Target::Of(self.key), None)
    }

    /// Returns the key's leaf, latched exclusively.
    #[inline]
    pub(crate) fn write<'t>(&self, root: &'t Root) -> Result<PageWrite<'t>> {
        if let Some(found) = self.found
            && let Some(leaf) = root.pool().write_found(found)?
            && is_leaf(&leaf)
        {
            return Ok(leaf);
        }
        leaf_write(root, self.key, None)
    }
}

#[inline]
fn is_leaf(bytes: &[u8]) -> bool {
    page::level(bytes) == 0 && page::page_type(bytes) == Some(PageType::Index)
}
