//! A map in key order that is made for keys which come in their order, as those of loaded rows do.
//!
//! While keys come behind all others, or there are few, the entries are a sorted list: a key behind the last is found to be
//! new by one comparison, and put at the end. Otherwise they move to a B-tree.

use crate::table::KeyBuf;
use std::collections::{BTreeMap, btree_map};
use std::ops::Bound;
use std::slice;

/// So many entries are a list even if keys come in any order: moving a few is no more than a walk down a tree.
const FEW: usize = 16;
/// A list of more entries becomes a tree: entries that have to be moved when a list grows should not be many.
const MOST: usize = 4096;

/// The map.
#[derive(Debug)]
pub(crate) struct OrderedMap<V> {
    /// In key order; empty when there is a tree.
    list: Vec<(KeyBuf, V)>,
    tree: Option<BTreeMap<KeyBuf, V>>,
}

impl<V> Default for OrderedMap<V> {
    fn default() -> Self {
        OrderedMap { list: Vec::new(), tree: None }
    }
}

/// Entries in key order.
pub(crate) enum Iter<'m, V> {
    List(slice::Iter<'m, (KeyBuf, V)>),
    Tree(btree_map::Iter<'m, KeyBuf, V>),
    Range(btree_map::Range<'m, KeyBuf, V>),
}

/// Entries in key order, to be changed.
pub(crate) enum IterMut<'m, V> {
    List(slice::IterMut<'m, (KeyBuf, V)>),
    Tree(btree_map::IterMut<'m, KeyBuf, V>),
}

impl<'m, V> Iterator for Iter<'m, V> {
    type Item = (&'m KeyBuf, &'m V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Iter::List(entries) => entries.next().map(|(key, value)| (key, value)),
            Iter::Tree(entries) => entries.next(),
            Iter::Range(entries) => entries.next(),
        }
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Iter::List(entries) => entries.next_back().map(|(key, value)| (key, value)),
            Iter::Tree(entries) => entries.next_back(),
            Iter::Range(entries) => entries.next_back(),
        }
    }
}

impl<'m, V> Iterator for IterMut<'m, V> {
    type Item = (&'m KeyBuf, &'m mut V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            IterMut::List(entries) => entries.next().map(|(key, value)| (&*key, value)),
            IterMut::Tree(entries) => entries.next(),
        }
    }
}

impl<V> OrderedMap<V> {
    pub fn len(&self) -> usize {
        self.tree.as_ref().map_or(self.list.len(), BTreeMap::len)
    }

    /// Where the key is in the list, or belongs.
    #[inline]
    fn place(&self, key: &[u8]) -> Result<usize, usize> {
        match self.list.last() {
            None => Err(0),
            Some((last, _)) if **last < *key => Err(self.list.len()),
            Some(_) => self.list.binary_search_by(|(held, _)| (**held).cmp(key)),
        }
    }

    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<&V> {
        match &self.tree {
            Some(tree) => tree.get(key),
            None => self.place(key).ok().map(|at| &self.list[at].1),
        }
    }

    #[inline]
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut V> {
        if self.tree.is_some() {
            return self.tree.as_mut()?.get_mut(key);
        }
        self.place(key).ok().map(|at| &mut self.list[at].1)
    }

    /// The entry with the greatest key.
    #[inline]
    pub fn last(&self) -> Option<(&KeyBuf, &V)> {
        match &self.tree {
            Some(tree) => tree.last_key_value(),
            None => self.list.last().map(|(key, value)| (key, value)),
        }
    }

    /// Puts an entry; returns what the key had.
    pub fn insert(&mut self, key: KeyBuf, value: V) -> Option<V> {
        if let Some(tree) = &mut self.tree {
            return tree.insert(key, value);
        }
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.list[at].1, value)),
            Err(at) if self.list.len() < FEW || (at == self.list.len() && at < MOST) => {
                if self.list.len() == self.list.capacity() {
                    // Entries are large: growing in few steps saves more than the room costs.
                    self.list.reserve(3 * self.list.len() + 1);
                }
                self.list.insert(at, (key, value));
                None
            }
            Err(_) => {
                let mut tree: BTreeMap<KeyBuf, V> = std::mem::take(&mut self.list).into_iter().collect();
                tree.insert(key, value);
                self.tree = Some(tree);
                None
            }
        }
    }

    pub fn remove(&mut self, key: &[u8]) -> Option<V> {
        match &mut self.tree {
            Some(tree) => tree.remove(key),
            None => self.place(key).ok().map(|at| self.list.remove(at).1),
        }
    }

    pub fn iter(&self) -> Iter<'_, V> {
        match &self.tree {
            Some(tree) => Iter::Tree(tree.iter()),
            None => Iter::List(self.list.iter()),
        }
    }

    pub fn iter_mut(&mut self) -> IterMut<'_, V> {
        match &mut self.tree {
            Some(tree) => IterMut::Tree(tree.iter_mut()),
            None => IterMut::List(self.list.iter_mut()),
        }
    }

    /// The entries between two bounds, of which the first is not behind the second.
    pub fn range(&self, (start, end): (Bound<&[u8]>, Bound<&[u8]>)) -> Iter<'_, V> {
        if let Some(tree) = &self.tree {
            return Iter::Range(tree.range::<[u8], _>((start, end)));
        }
        let below = |key: &[u8]| self.list.partition_point(|(held, _)| **held < *key);
        let up_to = |key: &[u8]| self.list.partition_point(|(held, _)| **held <= *key);
        let from = match start {
            Bound::Included(key) => below(key),
            Bound::Excluded(key) => up_to(key),
            Bound::Unbounded => 0,
        };
        let to = match end {
            Bound::Included(key) => up_to(key),
            Bound::Excluded(key) => below(key),
            Bound::Unbounded => self.list.len(),
        };
        Iter::List(self.list[from..to.max(from)].iter())
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

    fn key(number: u64) -> KeyBuf {
        KeyBuf::from_slice(&(number as u16).to_be_bytes())
    }

    #[test]
    fn it_is_a_map_in_order() {
        let mut rng = Rng::new(test_seed("ordered it_is_a_map_in_order"));
        let (mut lists, mut trees) = (0, 0);
        for round in 0..300 {
            let (mut map, mut model) = (OrderedMap::default(), BTreeMap::new());
            let ascending = round % 2 == 0;
            for step in 0..rng.below(200) {
                let number = if ascending && rng.below(20) > 0 { 3 * step } else { rng.below(600) };
                match rng.below(8) {
                    0 => assert_eq!(map.remove(&key(number)), model.remove(&key(number))),
                    _ if ascending && model.len() >= FEW && !model.contains_key(&key(number)) => {
                        // Behind all others, so that it stays a list.
                        let number = 3 * step + 600 * u64::from(rng.below(30) == 0);
                        assert_eq!(map.insert(key(number), step), model.insert(key(number), step));
                    }
                    _ => assert_eq!(map.insert(key(number), step), model.insert(key(number), step)),
                }
                assert_eq!(map.get(&key(number)), model.get(&key(number)));
                assert_eq!(map.get_mut(&key(number)), model.get_mut(&key(number)));
            }
            let (low, high) = (key(rng.below(300)), key(300 + rng.below(400)));
            for start in [Bound::Included(&low[..]), Bound::Excluded(&low[..]), Bound::Unbounded] {
                for end in [Bound::Included(&high[..]), Bound::Excluded(&high[..]), Bound::Unbounded] {
                    let expected: Vec<_> = model.range::<[u8], _>((start, end)).collect();
                    assert_eq!(map.range((start, end)).collect::<Vec<_>>(), expected);
                    let backward: Vec<_> = map.range((start, end)).rev().collect();
                    assert_eq!(backward, expected.into_iter().rev().collect::<Vec<_>>());
                }
            }
            assert_eq!((map.len(), map.last()), (model.len(), model.last_key_value()));
            assert!(map.iter().eq(model.iter()));
            assert!(map.iter_mut().eq(model.iter_mut()));
            (lists, trees) =
                (lists + usize::from(map.tree.is_none()), trees + usize::from(map.tree.is_some()));
        }
        assert!(lists > 20 && trees > 20, "{lists} lists, {trees} trees");
    }
}
