//! Dependencies from writesets (MySQL worklog 9556): a transaction depends on the newest one before it that wrote one of its keys.
//!
//! What each key was last written by is remembered for the transactions of one file, up to `binlog_transaction_dependency_history_size` keys. When
//! more come, or a transaction of which nothing is known, all is forgotten, and what follows depends on that transaction.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use engine::Writeset;

/// What a transaction has written.
#[derive(Clone, Copy)]
pub struct Written<'k> {
    /// Whether that is all.
    pub writeset: Writeset,
    /// Hashes of keys.
    pub keys: &'k [u64],
    /// `binlog_transaction_dependency_history_size`
    pub history_size: u64,
}

impl Written<'_> {
    /// Nobody has looked.
    pub const UNKNOWN: Written<'static> = Written { writeset: Writeset::Unknown, keys: &[], history_size: 0 };
}

/// Keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// See the module's header.
#[derive(Default)]
pub(crate) struct History {
    last_writer: HashMap<u64, u64, BuildHasherDefault<AsItIs>>,
    /// The transaction that stands for all that are not remembered.
    start: u64,
}

impl History {
    /// Nothing is remembered of transactions up to this one.
    pub fn after(start: u64) -> History {
        History { start, ..History::default() }
    }

    /// The newest transaction that this one depends on by what both have written; `None`: that cannot be said.
    pub fn parent(&mut self, sequence_number: u64, written: Written<'_>) -> Option<u64> {
        if written.writeset == Writeset::Unknown {
            self.forget(sequence_number);
            return None;
        }
        let is_full = (self.last_writer.len() + written.keys.len()) as u64 > written.history_size;
        let mut parent = self.start;
        for &key in written.keys {
            match self.last_writer.entry(key) {
                Entry::Occupied(mut last) => {
                    let last = last.insert(sequence_number);
                    if last != sequence_number {
                        parent = parent.max(last);
                    }
                }
                Entry::Vacant(unknown) if !is_full => drop(unknown.insert(sequence_number)),
                Entry::Vacant(_) => {}
            }
        }
        if is_full {
            self.forget(sequence_number);
        }
        (written.writeset == Writeset::Complete).then_some(parent)
    }

    fn forget(&mut self, sequence_number: u64) {
        self.last_writer.clear();
        self.start = sequence_number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    fn written(keys: &[u64], history_size: u64) -> Written<'_> {
        Written { writeset: Writeset::Complete, keys, history_size }
    }

    #[test]
    fn a_transaction_depends_on_the_last_writer_of_its_keys() {
        let mut history = History::after(0);
        assert_eq!(history.parent(1, written(&[1, 2], 100)), Some(0));
        assert_eq!(history.parent(2, written(&[3], 100)), Some(0));
        assert_eq!(history.parent(3, written(&[2, 4, 4], 100)), Some(1));
        assert_eq!(history.parent(4, written(&[2, 3], 100)), Some(3));
        let keyless = Written { writeset: Writeset::Keyless, ..written(&[5], 100) };
        assert_eq!(history.parent(5, keyless), None);
        assert_eq!(history.parent(6, written(&[5], 100)), Some(5), "its keys count for others");
        assert_eq!(history.parent(7, written(&[9], 100)), Some(0), "and it is in nobody else's way");
        assert_eq!(history.parent(8, Written::UNKNOWN), None);
        assert_eq!(history.parent(9, written(&[9], 100)), Some(8));
    }

    #[test]
    fn a_history_that_is_full_begins_anew() {
        let mut history = History::after(0);
        assert_eq!(history.parent(1, written(&[1, 2], 3)), Some(0));
        assert_eq!(history.parent(2, written(&[1, 3], 3)), Some(1), "known still");
        assert_eq!(history.parent(3, written(&[7], 3)), Some(2), "forgotten since");
        assert_eq!(history.parent(4, written(&[8], 1)), Some(2), "a smaller size counts at once");
        assert_eq!(history.parent(5, written(&[9], 1)), Some(4));
    }

    /// Whatever is forgotten when: of two transactions that wrote one key the later depends on the earlier.
    #[test]
    fn no_dependency_is_missed() {
        let mut rng = Rng::new(test_seed("no_dependency_is_missed"));
        for _ in 0..50 {
            let (mut history, history_size) = (History::after(0), rng.between(1, 40));
            let mut last_writer = HashMap::new();
            let mut unknown = 0;
            for number in 1..200 {
                let keys: Vec<u64> = (0..rng.between(0, 6)).map(|_| rng.between(0, 30)).collect();
                let writeset = match rng.between(0, 20) {
                    0 => Writeset::Unknown,
                    1 => Writeset::Keyless,
                    _ => Writeset::Complete,
                };
                let parent = history.parent(number, Written { writeset, keys: &keys, history_size });
                let needed = keys.iter().filter_map(|key| last_writer.insert(*key, number)).max();
                let needed = needed.filter(|needed| *needed != number).unwrap_or(0).max(unknown);
                if let Some(parent) = parent {
                    assert!((needed..number).contains(&parent), "{number} needs {needed}, has {parent}");
                }
                if writeset == Writeset::Unknown {
                    unknown = number;
                }
            }
        }
    }
}
