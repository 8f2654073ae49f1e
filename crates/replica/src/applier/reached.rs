//! How far the applier has come in the relay log, told often and cheaply to the thread that reads
//! ahead of it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::relay::RelayPosition;

/// The bits of the offset in a file, and of the file's number above them. The highest bit says that
/// events end with a checksum.
const POS_BITS: u32 = 40;
const FILE_BITS: u32 = 23;
const HAS_CHECKSUMS: u64 = 1 << (POS_BITS + FILE_BITS);

/// The end of a group in the relay log that is applied, in one word. Relaxed: the position stands
/// for itself, and whoever reads it may see an earlier one.
#[derive(Debug, Default)]
pub struct Reached(AtomicU64);

impl Reached {
    /// Notes that everything up to `at` is applied, and whether the events from there on end with a
    /// CRC-32. A position that is too large for the word is none.
    pub fn note(&self, at: RelayPosition, has_checksums: bool) {
        let fits = at.file >> FILE_BITS == 0 && at.pos >> POS_BITS == 0;
        let flag = if has_checksums { HAS_CHECKSUMS } else { 0 };
        let word = if fits { flag | at.file << POS_BITS | at.pos } else { 0 };
        self.0.store(word, Ordering::Relaxed);
    }

    /// Returns what was noted last, if anything was.
    pub fn get(&self) -> Option<(RelayPosition, bool)> {
        let word = self.0.load(Ordering::Relaxed);
        let at = word & !HAS_CHECKSUMS;
        let position = RelayPosition { file: at >> POS_BITS, pos: at & ((1 << POS_BITS) - 1) };
        (word != 0).then_some((position, word & HAS_CHECKSUMS != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_told_unless_it_is_too_large() {
        let reached = Reached::default();
        assert_eq!(reached.get(), None);
        for file in [1, 77, (1 << FILE_BITS) - 1] {
            for pos in [4, 12_345, (1 << POS_BITS) - 1] {
                for has_checksums in [false, true] {
                    let at = RelayPosition { file, pos };
                    reached.note(at, has_checksums);
                    assert_eq!(reached.get(), Some((at, has_checksums)));
                }
            }
        }
        for (file, pos) in [(1 << FILE_BITS, 4), (1, 1 << POS_BITS)] {
            reached.note(RelayPosition { file, pos }, true);
            assert_eq!(reached.get(), None);
        }
    }
}
