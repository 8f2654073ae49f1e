//! Changing many entries in key order: the leaf stays latched from one change to the next, so that
//! each leaf costs one descent.
//!
//! This is for recovery, which has the tree's whole log at hand. Between two changes a run holds
//! one leaf, and nothing else.

use buffer::{PageWrite, RecordLsn, slotted};

use crate::descend::{Descent, Fences, leaf_write};
use crate::error::Result;
use crate::leaf::{self, Change, Outcome};
use crate::merge::merge;
use crate::modify::modify;
use crate::root::Root;
use crate::spot::Spot;

/// A series of changes in ascending order of keys; see [`crate::Tree::run`].
#[derive(Debug)]
pub struct Run<'t> {
    root: &'t Root,
    /// The leaf of the last change, and the first key that the leaf does not hold (`None` at the
    /// tree's end).
    leaf: Option<(PageWrite<'t>, Option<Vec<u8>>)>,
    /// A buffer in which callers can make values.
    value: Vec<u8>,
}

impl<'t> Run<'t> {
    pub(crate) fn new(root: &'t Root) -> Run<'t> {
        Run { root, leaf: None, value: Vec::new() }
    }

    /// Changes an entry as [`crate::Tree::modify`] does. The key is not below the one before, and
    /// nobody else changes its entry. `change` may make the value in the buffer that it is given,
    /// which is empty.
    ///
    /// # Errors
    /// Returns the errors of [`crate::Tree::modify`].
    pub fn modify(
        &mut self,
        key: &[u8],
        lsn: RecordLsn,
        change: impl for<'v> FnOnce(Option<&[u8]>, &'v mut Vec<u8>) -> Change<'v>,
    ) -> Result<()> {
        self.leave_unless_holds(key);
        let (leaf, high) = match &mut self.leaf {
            Some(held) => held,
            None => {
                let mut fences = Fences::default();
                let leaf = leaf_write(self.root, key, Some(&mut fences))?;
                self.leaf.insert((leaf, fences.high))
            }
        };
        debug_assert!(high.as_ref().is_none_or(|high| key < high), "the key is below the leaf's fence");
        let found = slotted::search(leaf, key);
        self.value.clear();
        let wanted = change(found.ok().map(|index| slotted::value(leaf, index)), &mut self.value);
        match leaf::change(self.root, leaf, key, found, &wanted, lsn)? {
            Outcome::Done => Ok(()),
            // The leaf is released first, since a structure change latches from the root down.
            Outcome::Sparse => {
                self.leaf = None;
                merge(self.root, key)
            }
            Outcome::Full { .. } => {
                self.leaf = None;
                modify(self.root, &Spot::find(self.root, key), lsn, |_| wanted.clone())
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

/// The most leaves that are read ahead at once.
const READ_AHEAD_PAGES: usize = 64;

/// Reads ahead the leaves of the first of these keys, which ascend, as far as the leaves are
/// under one node and not in the pool. Returns how many keys these leaves are for, and how many
/// leaves were not in the pool.
///
/// # Errors
/// Returns an error for a damaged page, and I/O errors.
pub(crate) fn read_ahead<'k>(root: &Root, keys: impl Iterator<Item = &'k [u8]>) -> Result<(usize, usize)> {
    let mut keys = keys.peekable();
    let Some(first) = keys.peek().copied() else { return Ok((0, 0)) };
    let mut descent = Descent::begin(root)?;
    if descent.level() == 0 {
        return Ok((keys.count(), 0));
    }
    let mut fences = Fences::default();
    while descent.level() > 1 {
        let index = slotted::child_index(descent.node(), first);
        fences.narrow(descent.node(), index);
        descent.follow(index)?;
    }
    let (mut wanted, mut covered, mut last) = (Vec::new(), 0, None);
    for key in keys {
        let is_beyond = fences.high.as_ref().is_some_and(|high| key >= high.as_slice());
        if is_beyond || wanted.len() >= READ_AHEAD_PAGES {
            break;
        }
        covered += 1;
        let index = slotted::child_index(descent.node(), key);
        if last != Some(index) {
            last = Some(index);
            wanted.push(slotted::child(descent.node(), index));
        }
    }
    drop(descent);
    Ok((covered, root.pool().read_ahead_of(root.space(), wanted)?))
}
