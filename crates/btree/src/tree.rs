//! The tree itself: open, look up, change.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use buffer::{Mtr, PageNo, PageType, PageWrite, Pool, RecordLsn, SpaceId, SpaceRoom, slotted};

use crate::error::{Result, TreeError};
use crate::spot::Spot;

/// The change of one entry that the caller of [`Tree::modify`] wants, having seen the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<'v> {
    /// The entry stays as it is.
    Keep,
    /// The entry has this value now, whether there was an entry or not.
    Put(Cow<'v, [u8]>),
    /// There is no entry now.
    Remove,
}

impl Change<'static> {
    /// [`Change::Put`] of an owned value.
    pub fn put(value: Vec<u8>) -> Change<'static> {
        Change::Put(Cow::Owned(value))
    }
}

/// A B+tree. Cheap to clone; clones are the same tree.
#[derive(Debug, Clone)]
pub struct Tree {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: Arc<Pool>,
    space: SpaceId,
    root: PageNo,
    /// Looked up when it is asked for first.
    room: OnceLock<SpaceRoom>,
}

/// The number of inserts, each directly behind or each directly before the last one, that make a
/// run: more are expected to follow.
const RUN: u16 = 4;
/// A run at an end of a leaf leaves one part in this many free: ascending and descending inserts
/// leave leaves 15/16 full, as InnoDB's do. Not for entries that would not fit there.
const RUN_RESERVE: usize = 16;

/// The outcome of a change of a leaf.
pub(crate) enum Outcome {
    Done,
    /// Done, and the leaf has become sparse.
    Sparse,
    /// The leaf is unchanged: it has no room for an entry of `needed` bytes.
    Full {
        needed: usize,
    },
}

impl Tree {
    /// Makes an empty tree in the space, logged.
    ///
    /// # Errors
    /// When the space is not open or cannot grow; an I/O error.
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

    /// The tree with this root page.
    pub fn open(pool: &Arc<Pool>, space: SpaceId, root: PageNo) -> Tree {
        Tree { inner: Arc::new(Inner { pool: Arc::clone(pool), space, root, room: OnceLock::new() }) }
    }

    /// Sees to it that so many more entries, of this tree and others in its space, find pages to go
    /// to. See [`SpaceRoom`].
    ///
    /// # Errors
    /// When the file cannot grow.
    pub fn reserve(&self, entries: usize, bytes: usize) -> Result<()> {
        let inner = &*self.inner;
        let room = match inner.room.get() {
            Some(room) => room,
            None => {
                let gone = buffer::BufferError::NoSuchSpace(inner.space);
                let room = inner.pool.room(inner.space).ok_or(gone)?;
                inner.room.get_or_init(|| room)
            }
        };
        Ok(room.reserve(entries, bytes)?)
    }

    /// The root's page number, the same for the tree's whole life.
    #[inline]
    pub fn root_page(&self) -> PageNo {
        self.inner.root
    }

    /// The space that the tree is in.
    #[inline]
    pub fn space(&self) -> SpaceId {
        self.inner.space
    }

    /// The pool that its pages are in.
    #[inline]
    pub fn pool(&self) -> &Arc<Pool> {
        &self.inner.pool
    }

    /// The longest key plus value, in bytes: about half a page.
    pub fn max_entry_len(&self) -> usize {
        slotted::max_entry_len(self.pool().page_size())
    }

    /// The longest key, in bytes: about a quarter of a page.
    pub fn max_key_len(&self) -> usize {
        slotted::max_key_len(self.pool().page_size())
    }

    /// Shows the key's value, under the leaf's shared latch; `None` when there is none. `show` must
    /// not use this or another tree.
    ///
    /// # Errors
    /// A damaged page; an I/O error.
    pub fn get<R>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.get_at(&self.locate(key), show)
    }

    /// As [`Tree::get`], for a key located before.
    ///
    /// # Errors
    /// As [`Tree::get`].
    pub fn get_at<R>(&self, spot: &Spot<'_>, show: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let leaf = self.leaf_of(spot)?;
        Ok(slotted::search(&leaf, spot.key).ok().map(|index| show(slotted::value(&leaf, index))))
    }

    /// Shows the key's value, if any, to `change` under the leaf's exclusive latch, and does what
    /// it answers, in one descent. The change is part of the record at `lsn`, which the log already
    /// holds, or of none ([`RecordLsn::UNLOGGED`]). A value of the same length is overwritten in
    /// place. When the leaf has no room it is split and `change` asked again; it must not use this
    /// or another tree.
    ///
    /// # Errors
    /// [`TreeError::EntryTooLong`] and [`TreeError::KeyTooLong`], nothing being changed; a damaged
    /// page; an I/O error.
    pub fn modify<'v>(
        &self,
        key: &[u8],
        lsn: RecordLsn,
        change: impl FnMut(Option<&[u8]>) -> Change<'v>,
    ) -> Result<()> {
        self.modify_at(&self.locate(key), lsn, change)
    }

    /// As [`Tree::modify`], for a key located before.
    ///
    /// # Errors
    /// As [`Tree::modify`].
    pub fn modify_at<'v>(
        &self,
        spot: &Spot<'_>,
        lsn: RecordLsn,
        mut change: impl FnMut(Option<&[u8]>) -> Change<'v>,
    ) -> Result<()> {
        let key = spot.key;
        loop {
            let mut leaf = self.leaf_write(spot)?;
            let found = slotted::search(&leaf, key);
            let wanted = change(found.ok().map(|index| slotted::value(&leaf, index)));
            let outcome = self.change_leaf(&mut leaf, key, found, &wanted, lsn)?;
            drop(leaf);
            match outcome {
                Outcome::Done => return Ok(()),
                Outcome::Sparse => return self.merge(key, 0),
                Outcome::Full { needed } => {
                    // A commit's rows are in the log already: waiting for log space here could wait
                    // for a checkpoint that waits for them.
                    if lsn == RecordLsn::UNLOGGED {
                        self.pool().log().free_check();
                    }
                    self.split(key, needed)?;
                }
            }
        }
    }

    #[inline]
    pub(crate) fn change_leaf(
        &self,
        leaf: &mut PageWrite<'_>,
        key: &[u8],
        found: std::result::Result<usize, usize>,
        wanted: &Change<'_>,
        lsn: RecordLsn,
    ) -> Result<Outcome> {
        match (wanted, found) {
            (Change::Keep, _) | (Change::Remove, Err(_)) => Ok(Outcome::Done),
            (Change::Remove, Ok(index)) => {
                let before = slotted::used_bytes(leaf);
                slotted::remove(leaf.bytes_mut(), index);
                debug_assert!(slotted::used_bytes(leaf) < before, "an entry that goes leaves room");
                leaf.changed(lsn);
                let is_root = leaf.id().no == self.root_page();
                let sparse = !is_root && became_sparse(leaf, before);
                Ok(if sparse { Outcome::Sparse } else { Outcome::Done })
            }
            (Change::Put(value), Ok(index)) => {
                if value.len() != slotted::value(leaf, index).len() {
                    self.check_entry(key, value)?;
                }
                if !slotted::replace_value(leaf.bytes_mut(), index, value) {
                    return Ok(Outcome::Full { needed: slotted::entry_bytes(key.len(), value.len()) });
                }
                leaf.changed(lsn);
                Ok(Outcome::Done)
            }
            (Change::Put(value), Err(index)) => {
                self.check_entry(key, value)?;
                let needed = slotted::entry_bytes(key.len(), value.len());
                if !has_room(leaf, index, needed) {
                    return Ok(Outcome::Full { needed });
                }
                slotted::insert(leaf.bytes_mut(), index, key, value);
                debug_assert_eq!(slotted::key(leaf, index), key, "the entry is where the key belongs");
                leaf.changed(lsn);
                Ok(Outcome::Done)
            }
        }
    }

    fn check_entry(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let (max_key, max_entry) = (self.max_key_len(), self.max_entry_len());
        if key.len() > max_key {
            return Err(TreeError::KeyTooLong { len: key.len(), max: max_key });
        }
        if key.len() + value.len() > max_entry {
            return Err(TreeError::EntryTooLong { len: key.len() + value.len(), max: max_entry });
        }
        Ok(())
    }
}

/// Whether an entry of `needed` bytes may go to `index` of the leaf.
pub(crate) fn has_room(leaf: &[u8], index: usize, needed: usize) -> bool {
    let (free, reserve) = (slotted::free_bytes(leaf), leaf.len() / RUN_RESERVE);
    needed <= free && (free - needed >= reserve || needed > reserve || !goes_on_at_end(leaf, index))
}

/// Whether an insert at `index` goes on with a run that leaves the leaf: up behind its last entry,
/// or down before its first.
fn goes_on_at_end(leaf: &[u8], index: usize) -> bool {
    let (run, entries) = (run_at(leaf, index), slotted::count(leaf));
    entries > 0 && (run > 0 && index == entries || run < 0 && index == 0)
}

/// As [`slotted::run_at`], 0 for what is too short to be called a run.
pub(crate) fn run_at(leaf: &[u8], index: usize) -> i16 {
    let run = slotted::run_at(leaf, index);
    if run.unsigned_abs() >= RUN { run } else { 0 }
}

/// A leaf with less than this share of it used, one half as InnoDB's `MERGE_THRESHOLD` is, is
/// sparse.
pub(crate) const SPARSE: usize = 2;

/// Whether a leaf has just become empty, or gone below another eighth of a page under a half: so a
/// leaf that cannot be merged is not tried again at every removal.
fn became_sparse(leaf: &[u8], used_before: usize) -> bool {
    let (eighth, used) = (leaf.len() / 8, slotted::used_bytes(leaf));
    used == 0 || (used < leaf.len() / SPARSE && used / eighth != used_before / eighth)
}
