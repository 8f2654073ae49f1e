//! From the root to a leaf, coupling latches.

use buffer::page::{self, PageType};
use buffer::{PageId, PageNo, PageRead, PageWrite, slotted};

use crate::error::{Result, TreeError};
use crate::tree::Tree;

/// Which leaf is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'k> {
    /// The one that holds this key, if any does.
    Of(&'k [u8]),
    /// The one that holds the largest keys below this one.
    Below(&'k [u8]),
    /// The leftmost.
    First,
    /// The rightmost.
    Last,
}

impl Target<'_> {
    /// The entry of the inner node to follow.
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

/// The bounds of a leaf, as its ancestors know them; `None` at the tree's own ends.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    /// No key of the leaf is below it.
    pub low: Option<Vec<u8>>,
    /// All keys of the leaf are below it.
    pub high: Option<Vec<u8>>,
}

impl Fences {
    fn narrow(&mut self, node: &[u8], index: usize) {
        if index > 0 {
            self.low = Some(slotted::key(node, index).to_vec());
        }
        if index + 1 < slotted::count(node) {
            self.high = Some(slotted::key(node, index + 1).to_vec());
        }
    }
}

impl Tree {
    pub(crate) fn page_id(&self, no: PageNo) -> PageId {
        PageId::new(self.space(), no)
    }

    /// Checks that a page is a node of the expected level (any level where none is expected); returns its level.
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

    /// The leaf, latched shared.
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

    /// The leaf that holds `key`, latched exclusively.
    pub(crate) fn leaf_write(&self, key: &[u8]) -> Result<PageWrite<'_>> {
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
            // The root is the leaf: it must be latched anew, and may have grown in between.
            drop(node);
            let root = self.pool().write(self.page_id(no))?;
            if self.check_node(no, &root, None)? == 0 {
                return Ok(root);
            }
        }
    }
}
