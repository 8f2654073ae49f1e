//! Changing many entries in key order: the leaf stays latched from one change to the next, so that
//! each leaf costs one descent.
//!
//! This is for recovery, which has the tree's whole log at hand. Between two changes a run holds
//! one leaf, and nothing else.

use buffer::{PageWrite, RecordLsn, slotted};

use crate::descend::{Fences, Target};
use crate::error::Result;
use crate::tree::{Change, Outcome, Tree};

/// A series of changes in ascending order of keys; see [`Tree::run`].
#[derive(Debug)]
pub struct Run<'t> {
    tree: &'t Tree,
    /// The leaf of the last change, and the first key that the leaf does not hold (`None` at the
    /// tree's end).
    leaf: Option<(PageWrite<'t>, Option<Vec<u8>>)>,
    /// A buffer in which callers can make values.
    value: Vec<u8>,
}

impl<'t> Run<'t> {
    /// Changes an entry as [`Tree::modify`] does. The key is not below the one before, and nobody
    /// else changes its entry. `change` may make the value in the buffer that it is given, which is
    /// empty.
    ///
    /// # Errors
    /// Returns the errors of [`Tree::modify`].
    pub fn modify(
        &mut self,
        key: &[u8],
        lsn: RecordLsn,
        change: impl for<'v> FnOnce(Option<&[u8]>, &'v mut Vec<u8>) -> Change<'v>,
    ) -> Result<()> {
        self.leave_unless_holds(key);
        let (leaf, high) = match &mut self.leaf {
            Some(held) => held,
            None => self.leaf.insert(self.tree.leaf_write_fenced(key)?),
        };
        debug_assert!(high.as_ref().is_none_or(|high| key < high), "the key is below the leaf's fence");
        let found = slotted::search(leaf, key);
        self.value.clear();
        let wanted = change(found.ok().map(|index| slotted::value(leaf, index)), &mut self.value);
        match self.tree.change_leaf(leaf, key, found, &wanted, lsn)? {
            Outcome::Done => Ok(()),
            // The leaf is released first, since a structure change latches from the root down.
            Outcome::Sparse => {
                self.leaf = None;
                self.tree.merge(key, 0)
            }
            Outcome::Full { .. } => {
                self.leaf = None;
                self.tree.modify(key, lsn, |_| wanted.clone())
            }
        }
    }

    fn leave_unless_holds(&mut self, key: &[u8]) {
        if let Some((_, Some(high))) = &self.leaf
            && key >= high.as_slice()
        {
            self.leaf = None;
        }
    }

    /// Lets go of the leaf, so that the tree, and other trees in its space, may be used before the
    /// next change.
    pub fn leave(&mut self) {
        self.leaf = None;
    }
}

impl Tree {
    /// Begins a series of changes in ascending order of keys.
    pub fn run(&self) -> Run<'_> {
        Run { tree: self, leaf: None, value: Vec::new() }
    }

    /// Returns the key's leaf, latched exclusively, and the first key that the leaf does not hold
    /// (`None` at the tree's end).
    fn leaf_write_fenced(&self, key: &[u8]) -> Result<(PageWrite<'_>, Option<Vec<u8>>)> {
        let mut no = self.root_page();
        let mut node = self.pool().read(self.page_id(no))?;
        let mut level = self.check_node(no, &node, None)?;
        if level == 0 {
            drop(node);
            // A root that has grown since is no leaf any more. Then the descent begins again.
            let root = self.pool().write(self.page_id(no))?;
            if self.check_node(no, &root, None)? == 0 {
                return Ok((root, None));
            }
            drop(root);
            return self.leaf_write_fenced(key);
        }
        let mut fences = Fences::default();
        loop {
            let index = Target::Of(key).child_index(&node);
            fences.narrow(&node, index);
            no = slotted::child(&node, index);
            if level == 1 {
                let leaf = self.pool().write(self.page_id(no))?;
                self.check_node(no, &leaf, Some(0))?;
                return Ok((leaf, fences.high));
            }
            let child = self.pool().read(self.page_id(no))?;
            level = self.check_node(no, &child, Some(level - 1))?;
            node = child;
        }
    }

    /// Reads ahead the leaves of the first of these keys, which ascend, as far as the leaves are
    /// under one node and not in the pool. Returns how many keys these leaves are for, and how many
    /// leaves were not in the pool.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn read_ahead<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<(usize, usize)> {
        let mut keys = keys.peekable();
        let Some(first) = keys.peek().copied() else { return Ok((0, 0)) };
        let mut no = self.root_page();
        let mut node = self.pool().read(self.page_id(no))?;
        let mut level = self.check_node(no, &node, None)?;
        if level == 0 {
            return Ok((keys.count(), 0));
        }
        let mut fences = Fences::default();
        while level > 1 {
            let index = Target::Of(first).child_index(&node);
            fences.narrow(&node, index);
            no = slotted::child(&node, index);
            let child = self.pool().read(self.page_id(no))?;
            level = self.check_node(no, &child, Some(level - 1))?;
            node = child;
        }
        let (mut wanted, mut covered, mut last) = (Vec::new(), 0, None);
        for key in keys {
            let is_beyond = fences.high.as_ref().is_some_and(|high| key >= high.as_slice());
            if is_beyond || wanted.len() >= READ_AHEAD_PAGES {
                break;
            }
            covered += 1;
            let index = Target::Of(key).child_index(&node);
            if last != Some(index) {
                last = Some(index);
                wanted.push(slotted::child(&node, index));
            }
        }
        drop(node);
        Ok((covered, self.pool().read_ahead_of(self.space(), wanted)?))
    }
}

/// The most leaves that are read ahead at once.
const READ_AHEAD_PAGES: usize = 64;
