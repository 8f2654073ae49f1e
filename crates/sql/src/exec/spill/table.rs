//! A hash table of keys that are byte strings. Each key gets a number, from 0 on.
//!
//! The bytes of the keys lie one behind the other. A slot of the table holds four bytes of a key's
//! hash beside its number, so that a look-up usually reads the bytes of one key only.

use crate::error::Result;
use crate::memory::{Charge, growth};
use std::sync::LazyLock;

/// The seeds of the hash, which are drawn when the process first hashes a key. Nobody can choose
/// keys that all fall into one slot.
static SEEDS: LazyLock<[u64; 2]> = LazyLock::new(|| [os::random::u64(), os::random::u64()]);

/// Returns a hash of which every bit depends on every bit of the key.
pub(crate) fn hash_of(key: &[u8]) -> u64 {
    let [seed, other_seed] = *SEEDS;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let mut hash = seed ^ key.len() as u64;
    let (words, rest) = key.as_chunks::<8>();
    for bytes in words {
        hash = fold(hash ^ word(bytes), 0x9e37_79b9_7f4a_7c15 ^ other_seed);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(hash ^ word(&last), other_seed | 1) ^ hash.rotate_right(29)
}

/// A slot of the table. `number` is the key's number plus 1; 0 means that the slot is empty. `hash`
/// is the upper half of the key's hash.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    hash: u32,
    number: u32,
}

/// A set of keys, numbered in the order in which they came.
#[derive(Debug)]
pub(crate) struct KeyTable {
    /// The slots: a power of two, of which at least a quarter is empty.
    places: Vec<Place>,
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
    charge: Charge,
}

/// What [`KeyTable::enter`] has done with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// The key was there already, with this number.
    Known(usize),
    /// The key is new and has this number.
    New(usize),
    /// The key is not there, and may not be entered.
    Refused,
}

const LEAST_PLACES: usize = 8;

impl KeyTable {
    /// Creates an empty table.
    pub fn new(charge: Charge) -> KeyTable {
        KeyTable { places: Vec::new(), bytes: Vec::new(), ends: Vec::new(), charge }
    }

    /// Returns the bytes that the keys and the slots use.
    pub fn used_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.places[..]) + size_of_val(&self.ends[..])
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the key that has this number.
    pub fn key(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    /// Looks for a key. A key that is not there is entered if `may_enter` says so.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn enter(&mut self, key: &[u8], hash: u64, may_enter: bool) -> Result<Entered> {
        if may_enter && self.ends.len() * 4 >= self.places.len() * 3 {
            self.grow()?;
        }
        if self.places.is_empty() {
            return Ok(Entered::Refused);
        }
        debug_assert_eq!(hash, hash_of(key), "a key is looked for by its own hash");
        debug_assert!(self.ends.len() < self.places.len(), "a search ends at an empty slot");
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            let Some(number) = (place.number as usize).checked_sub(1) else { break };
            if place.hash == (hash >> 32) as u32 && self.key(number) == key {
                return Ok(Entered::Known(number));
            }
            at = (at + 1) & mask;
        }
        // A number has 32 bits. When all are used, further keys are refused as if memory was
        // full.
        if !may_enter || self.ends.len() >= u32::MAX as usize - 1 {
            return Ok(Entered::Refused);
        }
        growth::append(&mut self.bytes, key, &mut self.charge)?;
        growth::push(&mut self.ends, self.bytes.len(), &mut self.charge)?;
        let number = self.ends.len();
        debug_assert_eq!(self.places[at].number, 0, "a new key takes an empty slot");
        self.places[at] = Place { hash: (hash >> 32) as u32, number: number as u32 };
        Ok(Entered::New(number - 1))
    }

    /// Returns the number of a key, or `None` if it is not there.
    #[inline]
    pub fn find(&self, key: &[u8], hash: u64) -> Option<usize> {
        debug_assert_eq!(hash, hash_of(key), "a key is looked for by its own hash");
        let mask = self.places.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            let number = (place.number as usize).checked_sub(1)?;
            if place.hash == (hash >> 32) as u32 && self.key(number) == key {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// Doubles the number of slots and distributes the keys again.
    fn grow(&mut self) -> Result<()> {
        let count = (self.places.len() * 2).max(LEAST_PLACES);
        let bytes = count * size_of::<Place>();
        self.charge.add(bytes)?;
        let mut places: Vec<Place> = Vec::new();
        if places.try_reserve_exact(count).is_err() {
            self.charge.take_away(bytes);
            return Err(crate::memory::out_of_memory());
        }
        places.resize(count, Place::default());
        for number in 0..self.ends.len() {
            let hash = hash_of(self.key(number));
            let mut at = hash as usize & (count - 1);
            while places[at].number != 0 {
                at = (at + 1) & (count - 1);
            }
            places[at] = Place { hash: (hash >> 32) as u32, number: number as u32 + 1 };
        }
        self.charge.take_away(size_of_val(&self.places[..]));
        self.places = places;
        assert!(self.places.len().is_power_of_two(), "a part of the hash is the position of a slot");
        assert!(self.ends.len() * 4 < self.places.len() * 3, "a quarter of the slots is empty");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;
    use os::random::{Rng, test_seed};
    use std::collections::HashMap;

    #[test]
    fn keys_have_the_numbers_in_which_they_came() {
        let mut rng = Rng::new(test_seed("spill::table keys_have_the_numbers"));
        let budget = Budget::new(Default::default());
        let mut table = KeyTable::new(Charge::new(&budget));
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for _ in 0..50_000 {
            let len = rng.below(20) as usize;
            let key: Vec<u8> = (0..len).map(|_| rng.below(3) as u8).collect();
            let may_enter = rng.below(4) > 0;
            let expected = match known.get(&key) {
                Some(number) => Entered::Known(*number),
                None if may_enter => {
                    known.insert(key.clone(), known.len());
                    Entered::New(known.len() - 1)
                }
                None => Entered::Refused,
            };
            assert_eq!(table.enter(&key, hash_of(&key), may_enter), Ok(expected));
        }
        assert_eq!(table.len(), known.len());
        assert!(budget.used_bytes() + 8192 >= table.used_bytes() as u64);
        drop(table);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn the_bits_of_hashes_are_spread() {
        let mut counts = [[0u32; 16]; 16];
        for n in 0..16_384u64 {
            let hash = hash_of(&n.to_be_bytes());
            (0..16).for_each(|nibble| counts[nibble][(hash >> (nibble * 4) & 15) as usize] += 1);
        }
        let even = counts.iter().flatten().all(|count| (800..1250).contains(count));
        assert!(even, "{counts:?}");
    }
}
