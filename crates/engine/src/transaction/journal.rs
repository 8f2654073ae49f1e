//! The journal of a write set: what each change has replaced, so that a statement can be taken
//! back.
//!
//! A large transaction has an entry for each of its rows, so entries are small: the keys lie one
//! behind the other in one buffer, and an entry is a few words.

use super::row_change::{EntryChange, RowChange};
use crate::bytes::KeyBuf;
use crate::kept_memory::{shrink_list, shrink_small_list};
use smallvec::SmallVec;

/// The state that a change has replaced.
pub(crate) enum Replaced {
    /// The row's earlier change. It is boxed because most rows are changed once.
    Row(Option<Box<RowChange>>),
    Entry {
        index: u16,
        previous: Option<EntryChange>,
    },
}

struct Entry {
    key_len: u16,
    /// The position of the table's writes in the write set.
    table: u32,
    replaced: Replaced,
}

/// The first capacity for entries.
const FEW_ENTRIES: usize = 4;

#[derive(Default)]
pub(crate) struct Journal {
    entries: Vec<Entry>,
    /// The keys of the entries. Those of a short transaction need no allocation.
    keys: SmallVec<[u8; 32]>,
}

impl Journal {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn push(&mut self, table: usize, key: &[u8], replaced: Replaced) {
        let key_len = u16::try_from(key.len()).expect("keys are shorter than a page");
        self.keys.extend_from_slice(key);
        if self.entries.capacity() == 0 {
            self.entries = Vec::with_capacity(FEW_ENTRIES);
        }
        self.entries.push(Entry { key_len, table: table as u32, replaced });
    }

    /// Takes the newest entry out.
    pub fn pop(&mut self) -> Option<(usize, KeyBuf, Replaced)> {
        let Some(Entry { key_len, table, replaced }) = self.entries.pop() else {
            assert!(self.keys.is_empty(), "the journal has a key without an entry");
            return None;
        };
        let (bytes, key_len) = (self.keys.len(), usize::from(key_len));
        assert!(key_len <= bytes, "the journal has {bytes} bytes of keys, and its last key {key_len}");
        let at = bytes - key_len;
        let key = KeyBuf::from_slice(&self.keys[at..]);
        self.keys.truncate(at);
        Some((table as usize, key, replaced))
    }

    /// Returns the rows changed by the entries from `from` on.
    pub fn rows_since(&self, from: usize) -> impl Iterator<Item = (usize, &[u8])> {
        let entries = &self.entries[from.min(self.entries.len())..];
        let len: usize = entries.iter().map(|entry| usize::from(entry.key_len)).sum();
        let mut keys = &self.keys[self.keys.len() - len..];
        entries.iter().filter_map(move |entry| {
            let (key, rest) = keys.split_at(usize::from(entry.key_len));
            keys = rest;
            let is_row = matches!(entry.replaced, Replaced::Row(_));
            is_row.then_some((entry.table as usize, key))
        })
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.keys.clear();
    }

    /// Gives back memory of a large transaction, when the journal is empty.
    pub fn spend(&mut self) {
        let Journal { entries, keys } = self;
        shrink_list(entries);
        shrink_small_list(keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_reverse_with_their_keys() {
        let mut journal = Journal::default();
        journal.push(0, b"first", Replaced::Row(None));
        journal.push(1, b"", Replaced::Entry { index: 2, previous: None });
        journal.push(3, b"third", Replaced::Row(None));
        let rows =
            |from| journal.rows_since(from).map(|(table, key)| (table, key.to_vec())).collect::<Vec<_>>();
        assert_eq!(rows(0), [(0, b"first".to_vec()), (3, b"third".to_vec())]);
        assert_eq!(rows(1), [(3, b"third".to_vec())]);
        assert_eq!(rows(9), []);
        let mut back = Vec::new();
        while let Some((table, key, _)) = journal.pop() {
            back.push((table, key.to_vec()));
        }
        assert_eq!(back, [(3, b"third".to_vec()), (1, b"".to_vec()), (0, b"first".to_vec())]);
        assert!(size_of::<Entry>() <= 24, "{} bytes", size_of::<Entry>());
    }
}
