//! Hashes of the keys that commits have written, handed over to the thread that derives the binary
//! log. That thread would otherwise decode the event group of each commit again to find them.
//!
//! Each commit may put its hashes into the slot that its sequence number selects, before its record
//! is in the log. The reader looks there when it comes to the record. What is there is only a hint:
//! a slot may have been taken for a later commit, and then the reader finds the keys in the group.
//!
//! Invariants:
//! - A slot belongs to one thread at a time. That thread has put [`BUSY`] in the place of the
//!   slot's sequence number, and nobody waits for it: who finds a slot busy does without it.
//! - The hashes of a slot are those of the commit whose sequence number it has, all of them.

use crate::key_hash::{PRIMARY, has_null, hash};
use crate::transaction::write_set::{TableWrites, WriteSet};
use os::sync::atomic::{AtomicU64, Ordering};
use redo::Lsn;

/// The largest number of keys of a commit that are handed over. With the sequence number they fill
/// a cache line.
const KEYS: usize = 7;

/// The number of slots. Those of a commit are used again when the log has grown by [`LSNS_EACH`]
/// bytes for each of them, which is 4 MB.
const SLOTS: usize = 1 << 14;

/// The number of bytes of the log that have a slot together. Few records with rows are shorter.
const LSNS_EACH: u64 = 256;

/// The value in the place of a sequence number while a thread has the slot.
const BUSY: Lsn = Lsn::MAX;

/// Room for the hashes of the keys of one commit.
pub(super) type Hashes = [u64; KEYS];

/// The keys of a commit, in a cache line of their own.
#[derive(Default)]
#[repr(align(64))]
struct Slot {
    /// The sequence number of the commit. 0 means that there is none.
    seq: AtomicU64,
    /// The hashes. They end before the first 0.
    hashes: [AtomicU64; KEYS],
}

/// The keys of the latest commits.
pub(crate) struct HandedKeys {
    slots: Box<[Slot]>,
}

impl HandedKeys {
    /// Returns slots in which nothing is.
    pub fn new() -> HandedKeys {
        HandedKeys { slots: (0..SLOTS).map(|_| Slot::default()).collect() }
    }

    fn slot(&self, seq: Lsn) -> &Slot {
        &self.slots[(seq / LSNS_EACH) as usize % SLOTS]
    }

    /// Hands the keys of a commit over, unless another thread has the slot. The commit's record is
    /// not in the log yet.
    #[inline]
    pub fn put(&self, seq: Lsn, hashes: &[u64]) {
        debug_assert!(seq != 0 && seq != BUSY, "a commit has a sequence number");
        assert!(hashes.len() <= KEYS, "{} keys are more than a slot has", hashes.len());
        let slot = self.slot(seq);
        // Acquire and Release order the accesses to the hashes of those who have the slot one after
        // the other.
        if slot.seq.swap(BUSY, Ordering::Acquire) == BUSY {
            return;
        }
        for (place, hash) in slot.hashes.iter().zip(hashes) {
            place.store(*hash, Ordering::Relaxed);
        }
        if let Some(end) = slot.hashes.get(hashes.len()) {
            end.store(0, Ordering::Relaxed);
        }
        slot.seq.store(seq, Ordering::Release);
    }

    /// Appends the keys of a commit, and returns whether they were there. They are not there again.
    pub fn take(&self, seq: Lsn, keys: &mut Vec<u64>) -> bool {
        let slot = self.slot(seq);
        if slot.seq.compare_exchange(seq, BUSY, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        let hashes = slot.hashes.iter().map(|place| place.load(Ordering::Relaxed));
        keys.extend(hashes.take_while(|hash| *hash != 0));
        slot.seq.store(0, Ordering::Release);
        true
    }
}

/// Returns the hashes of all keys that a write set puts, changes and removes: those of the primary
/// keys and of the entries of unique indexes. None are returned if they are too many, or not all
/// that others must know.
pub(crate) fn hashes_of<'h>(writes: &WriteSet, hashes: &'h mut Hashes) -> &'h [u64] {
    let count = put_hashes(writes, hashes).unwrap_or(0);
    &hashes[..count]
}

fn put_hashes(writes: &WriteSet, hashes: &mut Hashes) -> Option<usize> {
    let mut count = 0;
    let mut put = |hash: u64| -> Option<()> {
        *hashes.get_mut(count)? = hash;
        count += 1;
        Some(())
    };
    for TableWrites { table, rows, entries } in &writes.tables {
        // What a transaction demands of parent rows, or of child rows of its own rows, is not among
        // its keys.
        if !table.has_primary_key() || table.is_related() {
            return None;
        }
        for (key, _) in rows {
            put(hash(table.id, PRIMARY, key))?;
        }
        for (index, entries) in table.indexes.iter().zip(entries).filter(|(index, _)| index.unique) {
            for (key, change) in entries.settled() {
                let key = &key[..usize::from(change.secondary_len)];
                // A key with a NULL excludes no other row.
                if !has_null(&index.parts, key) {
                    put(hash(table.id, index.id, key))?;
                }
            }
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(handed: &HandedKeys, seq: Lsn) -> Option<Vec<u64>> {
        let mut keys = Vec::new();
        handed.take(seq, &mut keys).then_some(keys)
    }

    #[test]
    fn keys_are_those_of_their_commit_and_there_once() {
        let handed = HandedKeys::new();
        let later = 300 + LSNS_EACH * SLOTS as u64;
        handed.put(300, &[9; KEYS]);
        handed.put(300, &[1, 2]);
        assert_eq!(taken(&handed, later), None, "the slot has those of another commit");
        assert_eq!(taken(&handed, 300), Some(vec![1, 2]));
        assert_eq!(taken(&handed, 300), None);
        handed.put(300, &[1; KEYS]);
        handed.put(later, &[2; KEYS]);
        assert_eq!(taken(&handed, 300), None, "a later commit has taken the slot");
        assert_eq!(taken(&handed, later), Some(vec![2; KEYS]));
    }

    #[test]
    fn a_slot_that_a_thread_has_is_left_to_it() {
        let handed = HandedKeys::new();
        handed.slot(300).seq.store(BUSY, Ordering::Relaxed);
        handed.put(300, &[1; KEYS]);
        assert_eq!(taken(&handed, 300), None);
    }

    #[test]
    fn no_commit_gets_keys_of_another_one() {
        let handed = HandedKeys::new();
        // All sequence numbers share one slot, and each has hashes of its own.
        let seq = |number: u64| number * LSNS_EACH * SLOTS as u64 + 1;
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let handed = &handed;
                scope.spawn(move || {
                    for number in 0..20_000 {
                        let number = 2 * number + thread;
                        handed.put(seq(number), &[number + 1; KEYS]);
                    }
                });
            }
            for _ in 0..5 {
                for number in 0..40_000 {
                    if let Some(keys) = taken(&handed, seq(number)) {
                        assert_eq!(keys, [number + 1; KEYS]);
                    }
                }
            }
        });
    }
}
