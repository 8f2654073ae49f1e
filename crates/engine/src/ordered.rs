//! A map in key order, made for very many keys that mostly come in order, as those of loaded rows
//! do.
//!
//! The entries are a sorted list in chunks. A key after the last is found to be new by one
//! comparison and is put at the end, and a chunk that is full stays full. So a map of rows that
//! were loaded has hardly any unused memory. If a key in between does not fit its chunk, the chunk
//! is cut in two.
//!
//! Keys in random order, as loaded rows have them in secondary indexes, want their chunk to be
//! found in little memory, because in a large map each chunk that is looked at has to come from the
//! main memory. So the first eight bytes of the chunks' first keys, as numbers, lie side by side.

use crate::bytes::KeyBuf;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::ops::Bound;
use std::{iter, slice};

/// The largest number of entries of a chunk. It is small, because an insertion moves entries.
const CHUNK: usize = 128;

type Chunk<V> = Vec<(KeyBuf, V)>;

/// A map in key order.
#[derive(Debug)]
pub(crate) struct OrderedMap<V> {
    /// The chunks in key order; none is empty.
    chunks: SmallVec<[Chunk<V>; 1]>,
    /// The head of each chunk's first key. A map that has never had two chunks has none.
    heads: Vec<u64>,
    len: usize,
}

impl<V> Default for OrderedMap<V> {
    fn default() -> Self {
        OrderedMap { chunks: SmallVec::new(), heads: Vec::new(), len: 0 }
    }
}

/// Returns the first eight bytes of a key as a number. Of two keys with different heads the one
/// with the smaller head is the smaller one.
#[inline]
pub(crate) fn head(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(first)
        }
    }
}

/// The place where an entry is or belongs: its chunk, and the position in the chunk. The end of one
/// chunk is also the beginning of the next.
pub(crate) type Place = (usize, usize);

/// An iterator over entries in key order.
pub(crate) struct Iter<'m, V> {
    chunks: &'m [Chunk<V>],
    from: Place,
    to: Place,
}

/// An iterator over entries in key order whose values can be changed.
pub(crate) struct IterMut<'m, V>(iter::Flatten<slice::IterMut<'m, Chunk<V>>>);

impl<'m, V> Iterator for Iter<'m, V> {
    type Item = (&'m KeyBuf, &'m V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.from >= self.to {
            return None;
        }
        let (chunk, at) = self.from;
        let (key, value) = &self.chunks[chunk][at];
        self.from = if at + 1 < self.chunks[chunk].len() { (chunk, at + 1) } else { (chunk + 1, 0) };
        Some((key, value))
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.from >= self.to {
            return None;
        }
        let (chunk, at) = self.to;
        self.to = if at > 0 { (chunk, at - 1) } else { (chunk - 1, self.chunks[chunk - 1].len() - 1) };
        let (key, value) = &self.chunks[self.to.0][self.to.1];
        Some((key, value))
    }
}

impl<'m, V> Iterator for IterMut<'m, V> {
    type Item = (&'m KeyBuf, &'m mut V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }
}

impl<V> OrderedMap<V> {
    /// The first capacity. Most maps get one row only, or the two entries of an index, which are
    /// small, that an update takes out and puts in.
    const FIRST_ENTRIES: usize = if size_of::<(KeyBuf, V)>() <= 128 { 2 } else { 1 };

    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the place where the key is (`Ok`) or belongs (`Err`). The place may be after the
    /// last entry of a chunk, but not before the first entry of a chunk other than the first.
    #[inline]
    fn place(&self, key: &[u8]) -> Result<Place, Place> {
        let Some((last, _)) = self.last() else { return Err((0, 0)) };
        let last_chunk = self.chunks.len() - 1;
        let behind_last = self.chunks[last_chunk].len();
        match (**last).cmp(key) {
            Ordering::Less => return Err((last_chunk, behind_last)),
            Ordering::Equal => return Ok((last_chunk, behind_last - 1)),
            Ordering::Greater => {}
        }
        let chunk = if last_chunk == 0 { 0 } else { self.chunk_of(key) };
        let found = self.chunks[chunk].binary_search_by(|(held, _)| (**held).cmp(key));
        found.map(|at| (chunk, at)).map_err(|at| (chunk, at))
    }

    /// Returns the chunk, among several, in which the key is or belongs.
    fn chunk_of(&self, key: &[u8]) -> usize {
        assert_eq!(self.heads.len(), self.chunks.len(), "each of several chunks has a head");
        let wanted = head(key);
        let mut before = self.heads.partition_point(|head| *head < wanted);
        if self.heads.get(before) == Some(&wanted) {
            let equal = self.heads[before..].partition_point(|head| *head == wanted);
            let is_before = |chunk: &Chunk<V>| *chunk[0].0 <= *key;
            before += self.chunks[before..before + equal].partition_point(is_before);
        }
        before.saturating_sub(1)
    }

    /// Notes the first key of a chunk, which is new or has another first key than before.
    fn note_first(&mut self, chunk: usize) {
        if let Some(noted) = self.heads.get_mut(chunk) {
            *noted = head(&self.chunks[chunk][0].0);
        }
    }

    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<&V> {
        self.place(key).ok().map(|(chunk, at)| &self.chunks[chunk][at].1)
    }

    #[inline]
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut V> {
        self.place(key).ok().map(|(chunk, at)| &mut self.chunks[chunk][at].1)
    }

    /// Returns the value of a key and its place. It is found by one comparison if it is in the
    /// place `near` or in the next one.
    #[inline]
    pub fn get_mut_near(&mut self, near: Place, key: &[u8]) -> Option<(Place, &mut V)> {
        let (chunk, at) = near;
        let next = [(chunk, at), (chunk, at + 1), (chunk + 1, 0)];
        let is_it = |(chunk, at): &Place| {
            self.chunks.get(*chunk).and_then(|chunk| chunk.get(*at)).is_some_and(|(held, _)| **held == *key)
        };
        let place = next.into_iter().find(is_it).or_else(|| self.place(key).ok())?;
        Some((place, &mut self.chunks[place.0][place.1].1))
    }

    /// Returns the entry with the greatest key.
    #[inline]
    pub fn last(&self) -> Option<(&KeyBuf, &V)> {
        self.chunks.last().and_then(|chunk| chunk.last()).map(|(key, value)| (key, value))
    }

    /// Returns the value of a key. A key that the map has not gets the value of `new`, and the
    /// answer says so.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: &[u8], new: impl FnOnce() -> V) -> (&mut V, bool) {
        let found = self.place(key);
        let (chunk, at) = match found {
            Ok(place) => place,
            Err(place) => self.insert_at(place, KeyBuf::from_slice(key), new()),
        };
        (&mut self.chunks[chunk][at].1, found.is_err())
    }

    /// Puts an entry. Returns the key's earlier value.
    pub fn insert(&mut self, key: KeyBuf, value: V) -> Option<V> {
        match self.place(&key) {
            Ok((chunk, at)) => Some(std::mem::replace(&mut self.chunks[chunk][at].1, value)),
            Err(place) => {
                self.insert_at(place, key, value);
                None
            }
        }
    }

    /// Puts the entry that `value` makes of the key's earlier value. Returns the earlier value.
    #[inline]
    pub fn change(&mut self, key: &[u8], value: impl FnOnce(Option<&V>) -> V) -> Option<V> {
        match self.place(key) {
            Ok((chunk, at)) => {
                let held = &mut self.chunks[chunk][at].1;
                let value = value(Some(held));
                Some(std::mem::replace(held, value))
            }
            Err(place) => {
                self.insert_at(place, KeyBuf::from_slice(key), value(None));
                None
            }
        }
    }

    /// Puts an entry unless the map has one with the key.
    #[inline]
    pub fn insert_new(&mut self, key: &[u8], value: V) {
        if let Err(place) = self.place(key) {
            self.insert_at(place, KeyBuf::from_slice(key), value);
        }
    }

    /// Puts an entry unless the map has one with the key, which becomes the entry's.
    pub fn insert_new_buf(&mut self, key: KeyBuf, value: V) {
        if let Err(place) = self.place(&key) {
            self.insert_at(place, key, value);
        }
    }

    /// Returns the entries in key order.
    pub fn into_entries(self) -> impl Iterator<Item = (KeyBuf, V)> {
        self.chunks.into_iter().flatten()
    }

    /// Puts an entry in the place where its key belongs. Returns the place that it then has.
    fn insert_at(&mut self, place: Place, key: KeyBuf, value: V) -> Place {
        let (chunk, at) = self.room_at(place);
        self.chunks[chunk].insert(at, (key, value));
        self.len += 1;
        if at == 0 {
            self.note_first(chunk);
        }
        (chunk, at)
    }

    /// Makes room for an entry. Returns the place that the entry then has.
    fn room_at(&mut self, (chunk, at): Place) -> Place {
        let Some(entries) = self.chunks.get_mut(chunk) else {
            self.chunks.push(Vec::with_capacity(Self::FIRST_ENTRIES));
            return (0, 0);
        };
        if entries.len() < CHUNK {
            if entries.len() == entries.capacity() {
                // Entries are large, so growing in few steps saves more than the unused room costs.
                entries.reserve_exact((3 * entries.len() + 1).min(CHUNK - entries.len()));
            }
            return (chunk, at);
        }
        let cut = if at == CHUNK { CHUNK } else { CHUNK / 2 };
        let mut right = Vec::with_capacity(CHUNK);
        right.extend(entries.drain(cut..));
        if self.heads.is_empty() {
            self.heads.push(head(&self.chunks[chunk][0].0));
        }
        // The head of a chunk that gets its first entry now is noted with the entry.
        self.heads.insert(chunk + 1, right.first().map_or(0, |(key, _)| head(key)));
        self.chunks.insert(chunk + 1, right);
        if at > cut || cut == CHUNK { (chunk + 1, at - cut) } else { (chunk, at) }
    }

    pub fn remove(&mut self, key: &[u8]) -> Option<V> {
        let (chunk, at) = self.place(key).ok()?;
        let (_, value) = self.chunks[chunk].remove(at);
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
            if chunk < self.heads.len() {
                self.heads.remove(chunk);
            }
        } else if at == 0 {
            self.note_first(chunk);
        }
        self.len -= 1;
        Some(value)
    }

    /// Keeps the entries for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&V) -> bool) {
        for chunk in &mut self.chunks {
            chunk.retain(|(_, value)| keep(value));
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
        self.heads.clear();
        self.heads.extend(self.chunks.iter().map(|chunk| head(&chunk[0].0)));
        self.len = self.chunks.iter().map(Vec::len).sum();
    }

    pub fn iter(&self) -> Iter<'_, V> {
        Iter { chunks: &self.chunks, from: (0, 0), to: (self.chunks.len(), 0) }
    }

    pub fn iter_mut(&mut self) -> IterMut<'_, V> {
        IterMut(self.chunks.iter_mut().flatten())
    }

    /// Returns the entries between two bounds, of which the first must not be after the second.
    pub fn range(&self, (start, end): (Bound<&[u8]>, Bound<&[u8]>)) -> Iter<'_, V> {
        let normal = |(chunk, at): Place| match self.chunks.get(chunk) {
            Some(entries) if at == entries.len() => (chunk + 1, 0),
            _ => (chunk, at),
        };
        let from_key = |key: &[u8], behind: bool| match self.place(key) {
            Ok((chunk, at)) => normal((chunk, at + usize::from(behind))),
            Err(place) => normal(place),
        };
        let from = match start {
            Bound::Included(key) => from_key(key, false),
            Bound::Excluded(key) => from_key(key, true),
            Bound::Unbounded => (0, 0),
        };
        let to = match end {
            Bound::Included(key) => from_key(key, true),
            Bound::Excluded(key) => from_key(key, false),
            Bound::Unbounded => (self.chunks.len(), 0),
        };
        Iter { chunks: &self.chunks, from, to }
    }
}

impl<V> std::ops::Index<&[u8]> for OrderedMap<V> {
    type Output = V;

    fn index(&self, key: &[u8]) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<'m, V> IntoIterator for &'m OrderedMap<V> {
    type Item = (&'m KeyBuf, &'m V);
    type IntoIter = Iter<'m, V>;

    fn into_iter(self) -> Iter<'m, V> {
        self.iter()
    }
}

impl<'m, V> IntoIterator for &'m mut OrderedMap<V> {
    type Item = (&'m KeyBuf, &'m mut V);
    type IntoIter = IterMut<'m, V>;

    fn into_iter(self) -> IterMut<'m, V> {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};
    use std::collections::BTreeMap;

    fn key(number: u64) -> KeyBuf {
        KeyBuf::from_slice(&(number as u16).to_be_bytes())
    }

    /// Returns keys of which many have the same head.
    fn long_key(number: u64) -> KeyBuf {
        let mut key = KeyBuf::from_slice(b"same on");
        key.extend_from_slice(&(number as u16).to_be_bytes());
        key
    }

    fn assert_same(map: &mut OrderedMap<u64>, model: &mut BTreeMap<KeyBuf, u64>) {
        assert_eq!((map.len(), map.last()), (model.len(), model.last_key_value()));
        assert!(map.iter().eq(model.iter()));
        assert!(map.iter().rev().eq(model.iter().rev()));
        assert!(map.iter_mut().eq(model.iter_mut()));
        assert!(map.chunks.iter().all(|chunk| !chunk.is_empty() && chunk.capacity() <= CHUNK));
        if map.chunks.len() > 1 || !map.heads.is_empty() {
            assert!(map.heads.iter().copied().eq(map.chunks.iter().map(|chunk| head(&chunk[0].0))));
        }
    }

    #[test]
    fn it_is_a_map_in_order() {
        let mut rng = Rng::new(test_seed("ordered it_is_a_map_in_order"));
        let mut most_chunks = 0;
        for round in 0..300u64 {
            let key = if round % 3 == 0 { long_key } else { key };
            let (mut map, mut model) = (OrderedMap::default(), BTreeMap::new());
            let (ascending, most) = (round % 2 == 0, if round % 5 == 0 { 3000 } else { 600 });
            for step in 0..rng.below(most) {
                let number = if ascending && rng.below(20) > 0 { 3 * step } else { rng.below(most) };
                match rng.below(9) {
                    8 => {
                        let (held, is_new) = map.get_or_insert_with(&key(number), || step);
                        *held += 1;
                        assert_eq!(is_new, !model.contains_key(&key(number)));
                        *model.entry(key(number)).or_insert(step) += 1;
                    }
                    0 => assert_eq!(map.remove(&key(number)), model.remove(&key(number))),
                    1 => {
                        map.insert_new(&key(number), step);
                        model.entry(key(number)).or_insert(step);
                    }
                    2 => {
                        let next = |held: Option<&u64>| held.map_or(step, |held| held + 1);
                        let value = next(model.get(&key(number)));
                        let earlier = model.insert(key(number), value);
                        assert_eq!(map.change(&key(number), next), earlier);
                    }
                    _ => assert_eq!(map.insert(key(number), step), model.insert(key(number), step)),
                }
                assert_eq!(map.get(&key(number)), model.get(&key(number)));
                let near = (rng.below(3) as usize, rng.below(CHUNK as u64) as usize);
                let found = map.get_mut_near(near, &key(number)).map(|(_, value)| value);
                assert_eq!(found, model.get_mut(&key(number)));
                assert_eq!(map.get_mut(&key(number)), model.get_mut(&key(number)));
            }
            for _ in 0..5 {
                let (low, high) = (key(rng.below(most / 2)), key(most / 2 + rng.below(most)));
                for start in [Bound::Included(&low[..]), Bound::Excluded(&low[..]), Bound::Unbounded] {
                    for end in [Bound::Included(&high[..]), Bound::Excluded(&high[..]), Bound::Unbounded] {
                        let expected: Vec<_> = model.range::<[u8], _>((start, end)).collect();
                        assert_eq!(map.range((start, end)).collect::<Vec<_>>(), expected);
                        let backward: Vec<_> = map.range((start, end)).rev().collect();
                        assert_eq!(backward, expected.into_iter().rev().collect::<Vec<_>>());
                    }
                }
            }
            assert_same(&mut map, &mut model);
            most_chunks = most_chunks.max(map.chunks.len());
            let limit = rng.below(most);
            map.retain(|value| *value < limit);
            model.retain(|_, value| *value < limit);
            assert_same(&mut map, &mut model);
        }
        assert!(most_chunks > 8, "{most_chunks} chunks");
    }

    #[test]
    fn keys_in_their_order_fill_the_chunks() {
        let mut map = OrderedMap::default();
        for number in 0..1000 {
            map.insert(key(number), number);
        }
        assert_eq!(map.chunks.len(), 1000usize.div_ceil(CHUNK));
    }
}
