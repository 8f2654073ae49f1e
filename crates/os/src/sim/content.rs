//! The content of a simulated file: its bytes now, its bytes at the last sync, and the changes in
//! between, of which a power cut keeps any part.

use super::bytes::Bytes;
use crate::random::Rng;

/// The number of bytes that a power cut keeps or loses as a whole.
pub(super) const SECTOR_BYTES: usize = 512;

/// The most unsynced bytes of one file. Beyond it the simulated kernel writes the oldest half back
/// by itself, as a real one does when dirty pages pile up. This bounds the memory of a test that
/// never syncs.
const UNSYNCED_LIMIT_BYTES: usize = 16 << 20;

/// A file's bytes now, its bytes at the last sync, and the changes in between.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) current: Bytes,
    durable: Bytes,
    unsynced: Vec<Change>,
    unsynced_bytes: usize,
}

#[derive(Debug)]
pub(super) enum Change {
    /// A write. A power cut keeps or loses stretches of `unit` bytes as a whole.
    Write {
        offset: usize,
        bytes: Vec<u8>,
        unit: usize,
    },
    SetLen(usize),
}

impl Change {
    /// Applies the change. `keep` returns for each stretch that a cut keeps or loses as a whole
    /// whether it arrives.
    fn apply(&self, to: &mut Bytes, mut keep: impl FnMut() -> bool) {
        match self {
            Change::SetLen(len) => {
                if keep() {
                    to.resize(*len);
                }
            }
            Change::Write { offset, bytes, unit } => {
                let mut from = 0;
                while from < bytes.len() {
                    let at = offset + from;
                    let until = ((at / unit + 1) * unit - offset).min(bytes.len());
                    if keep() {
                        to.put(at, &bytes[from..until]);
                    }
                    from = until;
                }
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Change::Write { bytes, .. } => bytes.len(),
            Change::SetLen(_) => 0,
        }
    }
}

impl Content {
    pub(super) fn change(&mut self, change: Change) {
        change.apply(&mut self.current, || true);
        self.unsynced_bytes += change.len();
        self.unsynced.push(change);
        if self.unsynced_bytes > UNSYNCED_LIMIT_BYTES {
            let half = self.unsynced.len().div_ceil(2);
            for change in self.unsynced.drain(..half) {
                change.apply(&mut self.durable, || true);
                self.unsynced_bytes -= change.len();
            }
        }
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable, || true);
        }
        self.unsynced_bytes = 0;
    }

    /// Handles a failed sync: writes that were not durable never will be, though they can still be
    /// read.
    pub(super) fn lose_unsynced(&mut self) {
        self.unsynced.clear();
        self.unsynced_bytes = 0;
    }

    /// Returns the content after a power cut now.
    pub(super) fn survivor(&self, rng: &mut Rng) -> Content {
        let mut left = self.durable.clone();
        // Some cuts lose nearly everything, some nearly nothing. Both extremes find different
        // faults.
        let chance = *rng.pick(&[0, 10, 50, 90, 100]);
        for change in &self.unsynced {
            change.apply(&mut left, || rng.below(100) < chance);
        }
        if !self.unsynced.is_empty() && rng.one_in(2) {
            // The length arrived, but perhaps not the data of the last sectors, which then read as
            // zeros.
            left.resize(self.current.len());
        }
        Content { durable: left.clone(), current: left, unsynced: Vec::new(), unsynced_bytes: 0 }
    }

    pub(super) fn flip_bit(&mut self, bit: u64) {
        let (byte, mask) = ((bit / 8) as usize, 1 << (bit % 8));
        for bytes in [&mut self.current, &mut self.durable] {
            let mut held = [0];
            if bytes.read(byte, &mut held) == 1 {
                bytes.put(byte, &[held[0] ^ mask]);
            }
        }
    }
}
