//! Descents from the root to a leaf that couple latches: a node's latch is held until its child's
//! is had.

use buffer::{PageNo, PageRead, PageWrite, slotted};

use crate::error::Result;
use crate::root::Root;

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
    /// Takes in the bounds of the child at `index` of the node.
    pub fn narrow(&mut self, node: &[u8], index: usize) {
        if index > 0 {
            self.low = Some(slotted::key(node, index).to_vec());
        }
        if index + 1 < slotted::count(node) {
            self.high = Some(slotted::key(node, index + 1).to_vec());
        }
    }
}

/// A descent that has come to one node of a tree. The node is latched shared, and no other is.
pub(crate) struct Descent<'t> {
    root: &'t Root,
    no: PageNo,
    node: PageRead<'t>,
    level: u8,
}

impl<'t> Descent<'t> {
    /// Begins a descent at the root.
    #[inline]
    pub fn begin(root: &'t Root) -> Result<Descent<'t>> {
        let node = root.pool().read(root.id())?;
        let level = root.check_node(root.page(), &node, None)?;
        Ok(Descent { root, no: root.page(), node, level })
    }

    /// Returns the number of the node's page.
    #[inline]
    pub fn no(&self) -> PageNo {
        self.no
    }

    /// Returns the node's bytes.
    #[inline]
    pub fn node(&self) -> &[u8] {
        &self.node
    }

    /// Returns the node's level, which is 0 for a leaf.
    #[inline]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Goes on to the child at `index` of the node, which must be an inner node.
    #[inline]
    pub fn follow(&mut self, index: usize) -> Result<()> {
        debug_assert!(self.level > 0, "a leaf has no children");
        let no = slotted::child(&self.node, index);
        let child = self.root.pool().read(self.root.page_id(no))?;
        self.level = self.root.check_node(no, &child, Some(self.level - 1))?;
        (self.no, self.node) = (no, child);
        Ok(())
    }

    /// Returns the leaf at `index` of the node, latched exclusively. The node must be just above
    /// the leaves.
    #[inline]
    fn leaf_to_write(self, index: usize) -> Result<PageWrite<'t>> {
        debug_assert_eq!(self.level, 1, "the children of the node are leaves");
        let no = slotted::child(&self.node, index);
        let leaf = self.root.pool().write(self.root.page_id(no))?;
        self.root.check_node(no, &leaf, Some(0))?;
        Ok(leaf)
    }
}

/// Returns the target leaf, latched shared.
pub(crate) fn leaf_read<'t>(
    root: &'t Root,
    target: Target<'_>,
    mut fences: Option<&mut Fences>,
) -> Result<PageRead<'t>> {
    let mut descent = Descent::begin(root)?;
    while descent.level > 0 {
        let index = target.child_index(&descent.node);
        if let Some(fences) = fences.as_deref_mut() {
            fences.narrow(&descent.node, index);
        }
        descent.follow(index)?;
    }
    Ok(descent.node)
}

/// Returns the key's leaf, latched exclusively. `fences` must not have bounds yet.
pub(crate) fn leaf_write<'t>(
    root: &'t Root,
    key: &[u8],
    mut fences: Option<&mut Fences>,
) -> Result<PageWrite<'t>> {
    loop {
        let mut descent = Descent::begin(root)?;
        while descent.level > 0 {
            let index = slotted::child_index(&descent.node, key);
            if let Some(fences) = fences.as_deref_mut() {
                fences.narrow(&descent.node, index);
            }
            if descent.level == 1 {
                return descent.leaf_to_write(index);
            }
            descent.follow(index)?;
        }
        // The root is the leaf. It must be latched anew, and may have grown in between.
        drop(descent);
        let node = root.pool().write(root.id())?;
        if root.check_node(root.page(), &node, None)? == 0 {
            return Ok(node);
        }
    }
}
