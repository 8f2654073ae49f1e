//! How much memory a transaction that has ended keeps for the next one of its owner.

use smallvec::{Array, SmallVec};

/// The most bytes that a buffer keeps.
const KEPT_BYTES: usize = 16 << 10;

/// The most entries that a list keeps room for.
const KEPT_ENTRIES: usize = 64;

/// Empties a buffer, and gives its memory back when that is much.
#[inline]
pub(crate) fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_BYTES {
        *buffer = Vec::new();
    }
}

/// Gives the memory of an empty list back when that is much.
#[inline]
pub(crate) fn shrink_list<T>(list: &mut Vec<T>) {
    assert!(list.is_empty(), "a list that is kept is empty");
    if list.capacity() > KEPT_ENTRIES {
        *list = Vec::new();
    }
}

/// As [`shrink_list`], for a list that has room for its first entries in itself.
#[inline]
pub(crate) fn shrink_small_list<A: Array>(list: &mut SmallVec<A>) {
    assert!(list.is_empty(), "a list that is kept is empty");
    if list.capacity() > KEPT_ENTRIES.max(A::size()) {
        *list = SmallVec::new();
    }
}
