//! The tree itself: opening it, looking up keys, changing entries, and beginning to read it.

use std::ops::Bound;
use std::sync::Arc;

use buffer::{FoundLeaf, Mtr, PageNo, PageType, Pool, RecordLsn, SpaceId, slotted};

use crate::error::Result;
use crate::leaf::Change;
use crate::leaves::{self, Leaves};
use crate::modify::modify;
use crate::root::Root;
use crate::run::{self, Run};
use crate::scan::{Direction, Scan};
use crate::spot::Spot;

/// A B+tree. Cloning is cheap, and clones are the same tree.
#[derive(Debug, Clone)]
pub struct Tree {
    root: Arc<Root>,
}

impl Tree {
    /// Makes an empty tree in the space, and logs this.
    ///
    /// # Errors
    /// Returns an error when the space is not open or cannot grow, and I/O errors.
    pub fn create(pool: &Arc<Pool>, space: SpaceId) -> Result<Tree> {
        pool.log().free_check();
        let lock = pool.lock_structure(space)?;
        let mut mtr = Mtr::begin(pool, &lock);
        let root = mtr.alloc()?;
        mtr.format(root, PageType::Index, 0);
        let no = mtr.no(root);
        mtr.commit();
        Ok(Tree::open(pool, space, no))
    }

    /// Returns the tree with this root page.
    pub fn open(pool: &Arc<Pool>, space: SpaceId, root: PageNo) -> Tree {
        Tree { root: Arc::new(Root::new(pool, space, root)) }
    }

    /// Makes sure that there are pages for `entries` more entries of `bytes` bytes together, of
    /// this tree and others in its space. See [`buffer::SpaceRoom`].
    ///
    /// # Errors
    /// Returns an error when the file cannot grow.
    pub fn reserve(&self, entries: usize, bytes: usize) -> Result<()> {
        Ok(self.root.room()?.reserve(entries, bytes)?)
    }

    /// Returns where the tree is.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Returns the root's page number, which is the same for the tree's whole life.
    #[inline]
    pub fn root_page(&self) -> PageNo {
        self.root.page()
    }

    /// Returns the space that the tree is in.
    #[inline]
    pub fn space(&self) -> SpaceId {
        self.root.space()
    }

    /// Returns the pool that the tree's pages are in.
    #[inline]
    pub fn pool(&self) -> &Arc<Pool> {
        self.root.pool()
    }

    /// Returns the longest length of key plus value, in bytes: about half a page.
    pub fn max_entry_len(&self) -> usize {
        self.root.max_entry_len()
    }

    /// Returns the length of the longest key, in bytes: about a quarter of a page.
    pub fn max_key_len(&self) -> usize {
        self.root.max_key_len()
    }

    /// Calls `show` with the key's value, under the leaf's shared latch, and returns its result.
    /// Returns `None` when there is no such key. `show` must not use this or another tree.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn get<R>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.get_at(&self.locate(key), show)
    }

    /// Does the same as [`Tree::get`], for a key that was located before.
    ///
    /// # Errors
    /// Returns the errors of [`Tree::get`].
    pub fn get_at<R>(&self, spot: &Spot<'_>, show: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let leaf = spot.read(&self.root)?;
        Ok(spot.search(&leaf).ok().map(|index| show(slotted::value(&leaf, index))))
    }

    /// Calls `change` with the key's value, if any, under the leaf's exclusive latch, and makes the
    /// change that it returns, in one descent. The change is part of the record at `lsn`, which the
    /// log already holds, or of no record ([`RecordLsn::UNLOGGED`]). A value of the same length is
    /// overwritten in place. When the leaf has no room, it is split and `change` is called again.
    /// `change` must not use this or another tree.
    ///
    /// # Errors
    /// Returns [`crate::TreeError::EntryTooLong`] and [`crate::TreeError::KeyTooLong`] with nothing
    /// changed, an error for a damaged page, and I/O errors.
    pub fn modify<'v>(
        &self,
        key: &[u8],
        lsn: RecordLsn,
        change: impl FnMut(Option<&[u8]>) -> Change<'v>,
    ) -> Result<()> {
        self.modify_at(&self.locate(key), lsn, change)
    }

    /// Does the same as [`Tree::modify`], for a key that was located before.
    ///
    /// # Errors
    /// Returns the errors of [`Tree::modify`].
    pub fn modify_at<'v>(
        &self,
        spot: &Spot<'_>,
        lsn: RecordLsn,
        change: impl FnMut(Option<&[u8]>) -> Change<'v>,
    ) -> Result<()> {
        modify(&self.root, spot, lsn, change)
    }

    /// Finds the key's leaf without latching anything, and starts loading it into the processor's
    /// cache. A caller with several keys to look up or change first locates them all, then
    /// prefetches them all ([`Tree::prefetch`]), and then uses [`Tree::get_at`] and
    /// [`Tree::modify_at`]. So the memory's latencies overlap, and a lookup and a change of one key
    /// share the descent. A spot never becomes wrong: when the tree has changed too much, using it
    /// is only no faster.
    #[inline]
    pub fn locate<'k>(&self, key: &'k [u8]) -> Spot<'k> {
        Spot::find(&self.root, key)
    }

    /// Returns the first page on the way from the root to the key's leaf that is not in the pool,
    /// for a reader that loads it before it is wanted. Latches nothing. `None` means that all are,
    /// or that the tree was just changing.
    pub fn missing_page(&self, key: &[u8]) -> Option<PageNo> {
        self.pool().missing_page(self.root.id(), key)
    }

    /// Starts loading a leaf that was located on another processor into this one's cache. Changes
    /// nothing else.
    #[inline]
    pub fn prefetch_leaf(&self, leaf: FoundLeaf) {
        self.pool().prefetch_found(leaf);
    }

    /// Starts loading the entry itself into the processor's cache, and notes in the spot where it
    /// is on its leaf, so that it need not be searched for there again. Changes nothing else.
    #[inline]
    pub fn prefetch(&self, spot: &mut Spot<'_>) {
        spot.prefetch(&self.root);
    }

    /// Begins a series of changes in ascending order of keys.
    pub fn run(&self) -> Run<'_> {
        Run::new(&self.root)
    }

    /// Reads ahead the leaves of the first of these keys, which ascend, as far as the leaves are
    /// under one node and not in the pool. Returns how many keys these leaves are for, and how many
    /// leaves were not in the pool.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn read_ahead<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<(usize, usize)> {
        run::read_ahead(&self.root, keys)
    }

    /// Returns a scan of the entries from `start` to `end`, in key order or against it. The scan
    /// holds no latch between calls of [`Scan::next`]. It sees every entry that exists throughout
    /// exactly once.
    pub fn scan(&self, start: Bound<&[u8]>, end: Bound<&[u8]>, direction: Direction) -> Scan {
        Scan::new(Arc::clone(&self.root), start, end, direction)
    }

    /// Returns the largest key. `None` means that the tree is empty.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn last_key(&self) -> Result<Option<Vec<u8>>> {
        let mut scan = self.scan(Bound::Unbounded, Bound::Unbounded, Direction::Backward);
        Ok(scan.next()?.map(|(key, _)| key.to_vec()))
    }

    /// Reports whether the tree has no entries.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn is_empty(&self) -> Result<bool> {
        let mut scan = self.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
        Ok(scan.next()?.is_none())
    }

    /// Returns a walk over the leaves that hold keys from `start` up to `end`, not included. An
    /// empty `start` is the tree's beginning, and `None` is its end.
    pub fn leaves(&self, start: &[u8], end: Option<&[u8]>) -> Leaves {
        Leaves::new(Arc::clone(&self.root), start, end)
    }

    /// Returns at most `parts - 1` keys, in order, that divide the tree into parts with about the
    /// same number of leaves.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn split_points(&self, parts: usize) -> Result<Vec<Vec<u8>>> {
        leaves::split_points(&self.root, parts)
    }
}
