//! Dependencies from writesets (MySQL worklog 9556): a transaction depends on the newest earlier
//! one that wrote one of its keys.
//!
//! The last writer of each key is remembered for the transactions of one file, for
//! `binlog_transaction_dependency_history_size` keys or a few more. MySQL forgets all keys when
//! their number is exceeded. Here the keys that were written longest ago go one by one, and a
//! transaction that writes a forgotten key depends on a transaction that is at least as new as the
//! key's writer. Transactions after one whose keys are unknown depend on it.

use engine::Writeset;

/// The keys that a transaction has written.
#[derive(Clone, Copy)]
pub struct Written<'k> {
    /// Whether `keys` is the whole writeset.
    pub writeset: Writeset,
    /// The hashes of the keys.
    pub keys: &'k [u64],
    /// The system variable `binlog_transaction_dependency_history_size`, in keys.
    pub history_size: u64,
}

impl Written<'_> {
    /// The value for a transaction whose keys were not read.
    pub const UNKNOWN: Written<'static> = Written { writeset: Writeset::Unknown, keys: &[], history_size: 0 };
}

/// The slots of some keys in one cache line: the lower halves of the keys' hashes, the last writer
/// of each key (0 means that the slot is free), and the newest writer of a key that was dropped.
/// The last stands for the writers of all keys that are not in the bucket. When the bucket is full,
/// the key that was written longest ago is dropped.
///
/// A bucket is a plain array, so that a history is zeroed memory, which the system does not provide
/// until it is touched. With the default size it could come to 90 MB.
type Bucket = [u32; 16];

const SLOTS: usize = 7;

/// Notes a writer of a key. Returns the writer before it, or one that is newer than that.
fn note(bucket: &mut Bucket, tag: u32, writer: u32) -> u32 {
    debug_assert!(writer > 0, "0 stands for no writer");
    let (tags, rest) = bucket.split_at_mut(SLOTS);
    let (writers, rest) = rest.split_at_mut(SLOTS);
    let gone = &mut rest[0];
    for (known, last) in tags.iter().zip(&mut *writers) {
        if *known == tag && *last != 0 {
            return std::mem::replace(last, writer);
        }
    }
    let before = *gone;
    let oldest = (0..SLOTS).min_by_key(|slot| writers[*slot]).expect("there are slots");
    *gone = before.max(writers[oldest]);
    (tags[oldest], writers[oldest]) = (tag, writer);
    // A key of the same transaction that was dropped may hide an older writer.
    before.min(writer - 1)
}

/// The last writers of the keys of one file's transactions.
#[derive(Default)]
pub(crate) struct History {
    /// The buckets, as many as are needed for `size` keys.
    buckets: Vec<Bucket>,
    size: u64,
    /// The sequence number of the transaction that stands for all those that are not remembered.
    start: u64,
}

impl History {
    /// Builds a history that remembers nothing of the transactions up to number `start`.
    pub fn after(start: u64) -> History {
        History { start, ..History::default() }
    }

    /// Returns the newest transaction on which this one depends because both have written a key.
    /// `None` means that this is not known.
    pub fn parent(&mut self, sequence_number: u64, written: Written<'_>) -> Option<u64> {
        if written.history_size != self.size {
            // The known writers are in the slots of the old size, so they are forgotten.
            self.start = sequence_number - 1;
            self.size = written.history_size;
            self.buckets = vec![[0; 16]; self.size.div_ceil(SLOTS as u64) as usize];
        }
        assert!(self.start < sequence_number, "transactions come in the order of their numbers");
        let number = u32::try_from(sequence_number).ok().filter(|_| !self.buckets.is_empty());
        let Some(number) = number.filter(|_| written.writeset != Writeset::Unknown) else {
            self.start = sequence_number;
            return None;
        };
        let mut newest = 0;
        for key in written.keys {
            let last = note(self.bucket_of(*key), *key as u32, number);
            // The transaction has written the key before.
            if last != number {
                newest = newest.max(last);
            }
        }
        (written.writeset == Writeset::Complete).then_some(self.start.max(u64::from(newest)))
    }

    /// Returns the bucket of a key, which the upper half of its hash selects.
    fn bucket_of(&mut self, key: u64) -> &mut Bucket {
        let at = ((key >> 32) * self.buckets.len() as u64) >> 32;
        &mut self.buckets[at as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};
    use std::collections::HashMap;

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

    /// Returns a key, which is the hash of a number.
    fn key(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn what_was_written_longest_ago_is_forgotten_first() {
        let (mut history, size) = (History::after(0), 70);
        for number in 1..=1000 {
            let parent = history.parent(number, written(&[key(number)], size));
            let is_old = |parent: u64| parent == 0 || parent + size / 4 < number;
            assert!(parent.is_some_and(is_old), "{number}: {parent:?}");
        }
        assert_eq!(history.parent(1001, written(&[key(1000)], size)), Some(1000), "known still");
        let parent = history.parent(1002, written(&[key(1)], size));
        assert!(
            parent.is_some_and(|parent| parent > 1),
            "forgotten, and not taken for unwritten: {parent:?}"
        );
        assert!(history.buckets.len() * size_of::<Bucket>() <= 10 * size as usize, "bytes a key");
    }

    #[test]
    fn another_size_begins_anew() {
        let mut history = History::after(0);
        assert_eq!(history.parent(1, written(&[1], 10)), Some(0));
        assert_eq!(history.parent(2, written(&[2], 20)), Some(1));
        assert_eq!(history.parent(3, written(&[2], 20)), Some(2));
    }

    /// Checks that of two transactions that wrote the same key the later one depends on the earlier
    /// one, whatever was forgotten in between.
    #[test]
    fn no_dependency_is_missed() {
        let mut rng = Rng::new(test_seed("no_dependency_is_missed"));
        for _ in 0..50 {
            let (mut history, history_size) = (History::after(0), rng.between(1, 40));
            let mut last_writer = HashMap::new();
            let mut unknown = 0;
            for number in 1..200 {
                let keys: Vec<u64> = (0..rng.between(0, 12)).map(|_| key(rng.between(0, 60))).collect();
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
