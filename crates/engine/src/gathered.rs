//! A map in key order for entries that come in random order and are seldom looked at before the
//! last has come, as those of the secondary indexes of loaded rows are.
//!
//! A large map does not look for the place of a new entry: the entry waits at the end of a list,
//! until somebody wants to see the map. Then all that wait are sorted at once, which takes a
//! fraction of the time of looking for their places one by one, because each look would have to
//! bring several entries from the main memory.

use crate::ordered::{OrderedMap, head};

/// Maps with fewer entries look for the place of each new one.
const FEW: usize = 256;
/// The number of waiting entries that have their memory together. Lists of a fixed length are never
/// copied to grow.
const TOGETHER: usize = 1024;
/// The bytes that most keys have at most, for which a list has room from its beginning.
const USUAL_KEY_BYTES: usize = 16;

/// If the entries that wait are fewer than this part of those in their places, they are put there
/// one by one, because to merge them would move all the others.
const PART_FOR_MERGING: usize = 16;

/// Entries that wait, with their keys one behind the other, because there may be very many.
#[derive(Debug)]
struct List<V> {
    keys: Vec<u8>,
    /// Where the key of each entry ends in `keys`, and its value.
    entries: Vec<(u32, V)>,
}

impl<V: Copy> List<V> {
    fn new() -> List<V> {
        let keys = Vec::with_capacity(USUAL_KEY_BYTES * TOGETHER);
        List { keys, entries: Vec::with_capacity(TOGETHER) }
    }

    fn is_full(&self) -> bool {
        self.entries.len() == TOGETHER
    }

    fn push(&mut self, key: &[u8], value: V) {
        self.keys.extend_from_slice(key);
        let end = u32::try_from(self.keys.len()).expect("a key is shorter than a page");
        self.entries.push((end, value));
    }

    fn get(&self, at: usize) -> (&[u8], V) {
        let (end, value) = self.entries[at];
        let start = at.checked_sub(1).map_or(0, |before| self.entries[before].0);
        (&self.keys[start as usize..end as usize], value)
    }

    fn last(&self) -> (&[u8], V) {
        self.get(self.entries.len() - 1)
    }

    fn pop(&mut self) {
        self.keys.truncate(self.keys.len() - self.last().0.len());
        self.entries.pop();
    }
}

/// A map in key order. If several entries with the same key are added, the first one stays.
#[derive(Debug)]
pub(crate) struct GatheredMap<V> {
    ordered: OrderedMap<V>,
    /// The entries that wait, in the order in which they came. No list is empty, and all but the
    /// last are full.
    waiting: Vec<List<V>>,
}

impl<V> Default for GatheredMap<V> {
    fn default() -> Self {
        GatheredMap { ordered: OrderedMap::default(), waiting: Vec::new() }
    }
}

impl<V: Copy> GatheredMap<V> {
    /// Returns the number of entries, in which a key that was added twice may be counted twice.
    pub fn len(&self) -> usize {
        self.ordered.len() + self.waiting()
    }

    /// Returns the number of entries that wait.
    fn waiting(&self) -> usize {
        let Some(last) = self.waiting.last() else { return 0 };
        (self.waiting.len() - 1) * TOGETHER + last.entries.len()
    }

    /// Adds an entry, unless the map has one with the key.
    #[inline]
    pub fn add(&mut self, key: &[u8], value: V) {
        if self.waiting.is_empty() && self.ordered.len() < FEW {
            self.ordered.insert_new(key, value);
        } else {
            self.wait(key, value);
        }
    }

    fn wait(&mut self, key: &[u8], value: V) {
        if self.waiting.last().is_none_or(List::is_full) {
            self.waiting.push(List::new());
        }
        self.waiting.last_mut().expect("a list has room").push(key, value);
    }

    /// Puts the entries that wait into their places. Returns how many of them had the key of an
    /// earlier one, and were left out.
    #[inline]
    pub fn settle(&mut self) -> usize {
        if self.waiting.is_empty() { 0 } else { self.settle_waiting() }
    }

    #[inline(never)]
    fn settle_waiting(&mut self) -> usize {
        let (before, count) = (self.ordered.len(), self.waiting());
        let waiting = std::mem::take(&mut self.waiting);
        let entry = |at: usize| waiting[at / TOGETHER].get(at % TOGETHER);
        if count < before / PART_FOR_MERGING {
            for (key, value) in (0..count).map(entry) {
                self.ordered.insert_new(key, value);
            }
        } else {
            let mut taken = sorted(&waiting, count).into_iter().map(|at| entry(at as usize));
            let earlier = std::mem::take(&mut self.ordered);
            self.ordered = merged(earlier, &mut taken);
        }
        before + count - self.ordered.len()
    }

    /// Returns the map when no entry waits.
    #[inline]
    pub fn settled(&self) -> &OrderedMap<V> {
        assert!(self.waiting.is_empty(), "entries are put into their places before they are read");
        &self.ordered
    }

    /// Returns the whole map.
    #[inline]
    pub fn ordered(&mut self) -> &mut OrderedMap<V> {
        self.settle();
        &mut self.ordered
    }

    /// Takes the entry out that was added last of all that are left, and whose key is given.
    pub fn take_back(&mut self, key: &[u8]) {
        match self.waiting.last_mut() {
            Some(list) if list.last().0 == key => {
                list.pop();
                if list.entries.is_empty() {
                    self.waiting.pop();
                }
            }
            _ => {
                self.ordered().remove(key);
            }
        }
    }

    /// Keeps the entries for which `keep` is true. It must be true for every entry that came before
    /// one for which it is.
    pub fn keep_first(&mut self, keep: impl Fn(&V) -> bool) {
        while let Some(list) = self.waiting.last_mut() {
            while !list.entries.is_empty() {
                if keep(&list.last().1) {
                    // Those before it, and those in their places, came earlier.
                    return;
                }
                list.pop();
            }
            self.waiting.pop();
        }
        self.ordered.retain(keep);
    }
}

/// Returns the numbers of waiting entries in the order of their keys; those with equal keys in the
/// order in which they came.
fn sorted<V: Copy>(waiting: &[List<V>], count: usize) -> Vec<u32> {
    let count = u32::try_from(count).expect("the memory has no room for so many entries");
    let key = |at: u32| waiting[at as usize / TOGETHER].get(at as usize % TOGETHER).0;
    let mut heads: Vec<(u64, u32)> = (0..count).map(|at| (head(key(at)), at)).collect();
    // Most pairs are told apart by their heads.
    heads.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1))).then(a.1.cmp(&b.1)));
    heads.into_iter().map(|(_, at)| at).collect()
}

/// Returns a map with the entries of a map and of a list in order, in which a key may come several
/// times. The earlier entry of a key stays.
fn merged<V>(earlier: OrderedMap<V>, later: &mut dyn Iterator<Item = (&[u8], V)>) -> OrderedMap<V> {
    let mut whole = OrderedMap::default();
    let mut next = later.next();
    for (key, value) in earlier.into_entries() {
        while let Some((smaller, value)) = next.take_if(|(later, _)| *later < &*key) {
            whole.insert_new(smaller, value);
            next = later.next();
        }
        whole.insert_new_buf(key, value);
    }
    while let Some((key, value)) = next {
        whole.insert_new(key, value);
        next = later.next();
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::KeyBuf;
    use os::random::{Rng, test_seed};
    use std::collections::BTreeMap;

    fn key(number: u64) -> KeyBuf {
        KeyBuf::from_slice(format!("{:04}", number).as_bytes())
    }

    /// Random entries, some of them twice, beside a map that has each in its place at once.
    #[test]
    fn it_is_a_map_in_order() {
        let mut rng = Rng::new(test_seed("gathered it_is_a_map_in_order"));
        let mut most_waiting = 0;
        for round in 0..60u64 {
            let (mut map, mut model) = (GatheredMap::default(), BTreeMap::new());
            // What is in the map in the order in which it came.
            let mut came: Vec<(KeyBuf, u64)> = Vec::new();
            let (steps, numbers) = (rng.below(6000), if round % 2 == 0 { 900 } else { 10_000 });
            for step in 0..steps {
                match rng.below(4000) {
                    0 => {
                        assert!(map.settle() < steps as usize);
                        assert!(map.settled().iter().eq(model.iter()));
                    }
                    1 => {
                        let from = step - rng.below(step.min(2000) + 1);
                        map.keep_first(|value| *value < from);
                        came.retain(|(_, value)| *value < from);
                        model.retain(|_, value| *value < from);
                    }
                    2..100 if !came.is_empty() => {
                        let (key, _) = came.pop().expect("something came");
                        map.take_back(&key);
                        model.remove(&key);
                    }
                    _ => {
                        let key = key(rng.below(numbers));
                        if !model.contains_key(&key) {
                            came.push((key.clone(), step));
                            model.insert(key.clone(), step);
                            map.add(&key, step);
                        } else if rng.below(500) == 0 {
                            // The second entry of a key is taken back with the last one before it
                            // only where both go.
                            map.add(&key, step);
                            map.settle();
                        }
                    }
                }
                most_waiting = most_waiting.max(map.waiting());
            }
            assert!(map.len() >= model.len());
            assert!(map.ordered().iter().eq(model.iter()));
            assert_eq!(map.len(), model.len());
        }
        assert!(most_waiting > TOGETHER, "{most_waiting} entries waited");
    }

    #[test]
    fn the_first_entry_of_a_key_stays() {
        let mut map = GatheredMap::default();
        for (value, number) in (0..2000u64).chain(500..1500).zip(0u64..) {
            map.add(&key(value), number);
        }
        assert_eq!(map.settle(), 1000);
        assert!(map.settled().iter().map(|(_, number)| *number).eq(0..2000));
    }
}
