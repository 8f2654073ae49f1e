//! Changes of one leaf that is latched: whether there is room, what is written, and whether the
//! leaf has become sparse.

use std::borrow::Cow;

use buffer::{PageWrite, RecordLsn, slotted};

use crate::error::Result;
use crate::root::Root;

/// The change of an entry that the caller of [`crate::Tree::modify`] wants after it has seen the
/// entry.
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

/// Changes the leaf's entry for `key`, which [`slotted::search`] has looked for there.
///
/// # Errors
/// Returns the errors of [`Root::check_entry`], with nothing changed.
#[inline]
pub(crate) fn change(
    root: &Root,
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
            let is_root = leaf.id().no == root.page();
            let sparse = !is_root && became_sparse(leaf, before);
            Ok(if sparse { Outcome::Sparse } else { Outcome::Done })
        }
        (Change::Put(value), Ok(index)) => {
            if value.len() != slotted::value(leaf, index).len() {
                root.check_entry(key, value)?;
            }
            if !slotted::replace_value(leaf.bytes_mut(), index, value) {
                return Ok(Outcome::Full { needed: slotted::entry_bytes(key.len(), value.len()) });
            }
            leaf.changed(lsn);
            Ok(Outcome::Done)
        }
        (Change::Put(value), Err(index)) => {
            root.check_entry(key, value)?;
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
