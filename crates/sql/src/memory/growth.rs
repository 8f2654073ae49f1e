//! Lists, texts and hash tables whose memory is charged before they allocate it.
//!
//! A full list moves to an allocation of twice its size, or of four times its size while it is
//! small. The old allocation is freed only when everything has moved, and until then both are
//! charged. So a charge is never less than what the allocator has given, and adding an item that
//! has room costs only a comparison. If the system refuses an allocation, error 1041 ends the
//! statement alone.

use super::{Charge, allocated, out_of_memory};
use crate::error::Result;
use std::collections::{HashMap, HashSet, TryReserveError};
use std::hash::Hash;

/// The smallest allocation of a list, in bytes.
const LEAST_BYTES: usize = 64;
/// The size in bytes below which a list grows to four times its size. With it, what a few hundred
/// rows of a sort take is copied twice on the way, not nine times.
const SMALL_BYTES: usize = 16 << 10;

/// Appends an item to the list. The heap memory of the item itself has to be charged by the caller.
///
/// # Errors
/// Returns the errors of [`Charge::add`], and 1041 (`ER_OUT_OF_RESOURCES`) when the system has no
/// memory. The list is unchanged in that case.
#[inline]
pub(crate) fn push<T>(list: &mut Vec<T>, item: T, charge: &mut Charge) -> Result<()> {
    if list.len() == list.capacity() {
        make_room(list, 1, charge)?;
    }
    list.push(item);
    Ok(())
}

/// Appends bytes to the text.
///
/// # Errors
/// Returns the errors of [`push`].
pub(crate) fn append(text: &mut Vec<u8>, bytes: &[u8], charge: &mut Charge) -> Result<()> {
    reserve(text, bytes.len(), charge)?;
    text.extend_from_slice(bytes);
    Ok(())
}

/// Makes room for `bytes` further bytes in the text.
///
/// # Errors
/// Returns the errors of [`push`].
#[inline]
pub(crate) fn reserve(text: &mut Vec<u8>, bytes: usize, charge: &mut Charge) -> Result<()> {
    if bytes > text.capacity() - text.len() {
        make_room(text, bytes, charge)?;
    }
    Ok(())
}

/// Moves the list to an allocation with room for `more` further items, and for at least twice as
/// many items as before.
#[cold]
fn make_room<T>(list: &mut Vec<T>, more: usize, charge: &mut Charge) -> Result<()> {
    let (item_bytes, before) = (size_of::<T>().max(1), list.capacity());
    let least = (LEAST_BYTES / item_bytes).max(1);
    let times = if before.saturating_mul(item_bytes) < SMALL_BYTES { 4 } else { 2 };
    let wanted = list.len().saturating_add(more).max(before.saturating_mul(times)).max(least);
    let wanted_bytes = wanted.saturating_mul(item_bytes);
    charge.add(wanted_bytes)?;
    match list.try_reserve_exact(wanted - list.len()) {
        Ok(()) => {
            charge.take_away(before * item_bytes);
            Ok(())
        }
        Err(_) => {
            charge.take_away(wanted_bytes);
            Err(out_of_memory())
        }
    }
}

/// Inserts a key into the set. Returns false if the set had it already.
///
/// # Errors
/// Returns the errors of [`push`].
pub(crate) fn insert(set: &mut HashSet<Vec<u8>>, key: Vec<u8>, charge: &mut Charge) -> Result<bool> {
    if set.len() == set.capacity() {
        grow::<Vec<u8>>(set.capacity(), charge, || set.try_reserve(1))?;
    }
    let key_bytes = allocated(key.capacity());
    charge.add(key_bytes)?;
    let is_new = set.insert(key);
    if !is_new {
        charge.take_away(key_bytes);
    }
    Ok(is_new)
}

/// Inserts a new key into the map. The heap memory of the key and the value has to be charged by
/// the caller.
///
/// # Errors
/// Returns the errors of [`push`].
pub(crate) fn insert_new<K: Eq + Hash, V>(
    map: &mut HashMap<K, V>,
    key: K,
    value: V,
    charge: &mut Charge,
) -> Result<()> {
    if map.len() == map.capacity() {
        grow::<(K, V)>(map.capacity(), charge, || map.try_reserve(1))?;
    }
    map.insert(key, value);
    Ok(())
}

/// Charges for a full hash table of `T`, and makes it grow.
#[cold]
fn grow<T>(
    capacity: usize,
    charge: &mut Charge,
    grow: impl FnOnce() -> std::result::Result<(), TryReserveError>,
) -> Result<()> {
    let (before, after) = (table_bytes::<T>(capacity), table_bytes::<T>(capacity + 1));
    charge.add(after)?;
    let grown = grow();
    charge.take_away(if grown.is_ok() { before } else { after });
    grown.map_err(|_| out_of_memory())
}

/// Returns the bytes of a hash table with room for `capacity` items: a power of two of places, of
/// which an eighth stays free, with one byte more for each.
fn table_bytes<T>(capacity: usize) -> usize {
    const LEAST_PLACES: usize = 8;
    if capacity == 0 {
        return 0;
    }
    let places = capacity.saturating_mul(8).div_ceil(7).max(LEAST_PLACES).next_power_of_two();
    places.saturating_mul(size_of::<T>() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;
    use std::sync::Arc;

    const MB: usize = 1 << 20;

    fn budget(limit_bytes: usize) -> Arc<Budget> {
        let budget = Budget::new(Arc::default());
        budget.set_limits(limit_bytes as u64, 0, false);
        budget
    }

    #[test]
    fn a_list_is_charged_for_its_room_and_while_it_moves_for_both_places() {
        let budget = budget(3 * MB);
        let mut charge = Charge::new(&budget);
        let mut list: Vec<u64> = Vec::new();
        let refused = (0..).find_map(|item| push(&mut list, item, &mut charge).err());
        assert_eq!(refused.map(|error| error.code), Some(4082));
        // One MB could move to two. The third allocation, of four MB, is refused.
        assert_eq!(list.capacity() * 8, 2 * MB);
        assert!(list.len() == list.capacity() && budget.used_bytes() as usize >= 2 * MB - 8192);
        let mut text = Vec::new();
        assert_eq!(append(&mut text, &[b'x'; 2 * MB], &mut charge).map_err(|error| error.code), Err(4082));
        assert!(text.is_empty());
        drop(charge);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn tables_are_charged_with_their_keys_before_they_grow() {
        let budget = budget(4 * MB);
        let mut charge = Charge::new(&budget);
        let mut set = HashSet::new();
        let key = |n: u32| n.to_be_bytes().repeat(8);
        let mut keys = 0;
        while insert(&mut set, key(keys), &mut charge).is_ok() {
            keys += 1;
        }
        let taken = set.capacity() * 8 / 7 * (size_of::<Vec<u8>>() + 1) + set.len() * 32;
        assert!(taken <= 4 * MB && budget.used_bytes() as usize + 8192 >= taken, "{taken}");
        budget.set_limits(5 * MB as u64, 0, false);
        let before = budget.used_bytes();
        for known in 0..1000 {
            assert_eq!(insert(&mut set, key(known), &mut charge), Ok(false));
        }
        assert!(budget.used_bytes() <= before + 8192, "a key that is there is kept once");
        let mut map = HashMap::new();
        let mut charge = Charge::new(&budget);
        assert!((0..100_000u32).any(|n| insert_new(&mut map, n, n, &mut charge).is_err()));
    }

    #[test]
    fn a_tables_places_are_as_many_as_the_library_makes() {
        let mut set = HashSet::new();
        let mut capacity = 0;
        for n in 0..10_000u64 {
            set.insert(n);
            if set.capacity() != capacity {
                let places = table_bytes::<()>(capacity + 1);
                assert!(places * 7 / 8 >= set.capacity(), "{places} places, room for {}", set.capacity());
                capacity = set.capacity();
            }
        }
    }
}
