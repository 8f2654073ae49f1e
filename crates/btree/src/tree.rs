//! The tree itself: opening it, looking up keys, changing entries.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use buffer::{Mtr, PageNo, PageType, PageWrite, Pool, RecordLsn, SpaceId, SpaceRoom, slotted};

use crate::error::{Result, TreeError};
use crate::spot::Spot;

/// The change of an entry that the caller of [`Tree::modify`] wants after it has seen the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<'v> {
    /// The entry stays as it is.
    Keep,
    /// The entry gets this value, whether it existed or not.
    Put(Cow<'v, [u8]>),
    /// The entry is removed, if it existed.
    Remove,
}

impl Change<'static> {
    /// Makes a [`Change::Put`] of an owned value.
    pub fn put(value: Vec<u8>) -> Change<'static> {
        Change::Put(Cow::Owned(value))
    }
}

/// A B+tree. Cloning is cheap, and clones are the same tree.
#[derive(Debug, Clone)]
pub struct Tree {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: Arc<Pool>,
    space: SpaceId,
    root: PageNo,
    /// The room of the tree's space. It is looked up when it is asked for first.
    room: OnceLock<SpaceRoom>,
}

/// The number of inserts, each directly behind or each directly before the last one, that count as
/// a run: more such inserts are then expected.
const RUN: u16 = 4;
/// One part in this many of a page, which a run at an end of a leaf leaves free: ascending and
/// descending inserts leave leaves 15/16 full, as InnoDB's do. Entries larger than this part may
/// use it.
const RUN_RESERVE: usize = 16;

/// The outcome of a change of a leaf.
pub(crate) enum Outcome {
    Done,
    /// The change is done, and the leaf has become sparse.
    Sparse,
    /// The leaf is unchanged, because it has no room for an entry of `needed` bytes.
    Full {
        needed: usize,
    },
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
        Tree { inner: Arc::new(Inner { pool: Arc::clone(pool), space, root, room: OnceLock::new() }) }
    }

    /// Makes sure that there are pages for `entries` more entries of `bytes` bytes together, of
    /// this tree and others in its space. See [`SpaceRoom`].
    ///
    /// # Errors
    /// Returns an error when the file cannot grow.
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

    /// Returns the root's page number, which is the same for the tree's whole life.
    #[inline]
    pub fn root_page(&self) -> PageNo {
        self.inner.root
    }

    /// Returns the space that the tree is in.
    #[inline]
    pub fn space(&self) -> SpaceId {
        self.inner.space
    }

    /// Returns the pool that the tree's pages are in.
    #[inline]
    pub fn pool(&self) -> &Arc<Pool> {
        &self.inner.pool
    }

    /// Returns the longest length of key plus value, in bytes: about half a page.
    pub fn max_entry_len(&self) -> usize {
        slotted::max_entry_len(self.pool().page_size())
    }

    /// Returns the length of the longest key, in bytes: about a quarter of a page.
    pub fn max_key_len(&self) -> usize {
        slotted::max_key_len(self.pool().page_size())
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
        let leaf = self.leaf_of(spot)?;
        Ok(slotted::search(&leaf, spot.key).ok().map(|index| show(slotted::value(&leaf, index))))
    }

    /// Calls `change` with the key's value, if any, under the leaf's exclusive latch, and makes the
    /// change that it returns, in one descent. The change is part of the record at `lsn`, which the
    /// log already holds, or of no record ([`RecordLsn::UNLOGGED`]). A value of the same length is
    /// overwritten in place. When the leaf has no room, it is split and `change` is called again.
    /// `change` must not use this or another tree.
    ///
    /// # Errors
    /// Returns [`TreeError::EntryTooLong`] and [`TreeError::KeyTooLong`] with nothing changed, an
    /// error for a damaged page, and I/O errors.
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
                    // A commit's rows are in the log already. Waiting for log space here could mean
                    // waiting for a checkpoint that waits for these rows.
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

/// Reports whether an entry of `needed` bytes may go to `index` of the leaf.
pub(crate) fn has_room(leaf: &[u8], index: usize, needed: usize) -> bool {
    let (free, reserve) = (slotted::free_bytes(leaf), leaf.len() / RUN_RESERVE);
    needed <= free && (free - needed >= reserve || needed > reserve || !goes_on_at_end(leaf, index))
}

/// Reports whether an insert at `index` continues a run at an end of the leaf: upwards behind its
/// last entry, or downwards before its first one.
fn goes_on_at_end(leaf: &[u8], index: usize) -> bool {
    let (run, entries) = (run_at(leaf, index), slotted::count(leaf));
    entries > 0 && (run > 0 && index == entries || run < 0 && index == 0)
}

/// Returns the run as [`slotted::run_at`] does, but 0 for a run that is too short to count.
pub(crate) fn run_at(leaf: &[u8], index: usize) -> i16 {
    let run = slotted::run_at(leaf, index);
    if run.unsigned_abs() >= RUN { run } else { 0 }
}

/// A leaf that uses less than one part in this many of its page is sparse. One half is InnoDB's
/// `MERGE_THRESHOLD`.
pub(crate) const SPARSE: usize = 2;

/// Reports whether a leaf has just become empty, or has fallen below a half of its page or a
/// further eighth. So a leaf that cannot be merged is not tried again at every removal.
fn became_sparse(leaf: &[u8], used_before: usize) -> bool {
    let (eighth, used) = (leaf.len() / 8, slotted::used_bytes(leaf));
    used == 0 || (used < leaf.len() / SPARSE && used / eighth != used_before / eighth)
}
