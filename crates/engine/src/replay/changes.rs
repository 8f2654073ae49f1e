//! The changes of a stretch of the log, as replay wants them: an entry of a tree each, to be put in
//! order of trees and keys.

use crate::commit::sidecar::Placement;
use buffer::RecordLsn;
use std::collections::HashMap;
use types::ColumnMask;

/// Where bytes are: in the stretch of the log, or in what was made of it ([`Changes::made`]), whose
/// places begin behind the log's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    at: usize,
    len: u32,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// The row has this full image, whatever there was.
    Put(Bytes),
    /// The row, if there is one, gets the columns of the mask of this number.
    Patch { mask: u32, image: Bytes },
    /// There is no entry.
    Remove,
    /// The secondary entry is there.
    PutEntry { secondary_len: u16 },
    /// The row came and went within the record: nothing.
    Nothing,
}

impl What {
    /// The image that it takes.
    pub fn image(&self) -> Option<Bytes> {
        match self {
            What::Put(image) | What::Patch { image, .. } => Some(*image),
            What::Remove | What::PutEntry { .. } | What::Nothing => None,
        }
    }
}

/// One change of one entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Which tree, as [`super::Tables`] numbers them.
    pub tree: u32,
    /// The first bytes of the key, so that most comparisons need no more.
    pub prefix: u64,
    pub key: Bytes,
    pub what: What,
    /// Which of [`Changes::records`] it is from.
    pub record: u32,
    /// The record inserts the row: its secondary entries follow from its image.
    pub inserted: bool,
}

impl Change {
    /// What changes are divided among threads by: changes of one entry have the same place.
    pub fn place(&self) -> (u32, u64) {
        (self.tree, self.prefix)
    }
}

/// The changes of a part of a stretch of the log, in the log's order.
#[derive(Default)]
pub(super) struct Changes<'l> {
    log: &'l [u8],
    /// Keys, and images that are not in the log as they are.
    made: Vec<u8>,
    pub records: Vec<RecordLsn>,
    masks: Vec<ColumnMask>,
    pub all: Vec<Change>,
    /// Long values that commits placed on pages of their own, by the change of their row.
    pub placements: HashMap<u32, Vec<Placement>>,
}

pub(super) fn prefix_of(key: &[u8]) -> u64 {
    let mut prefix = [0; 8];
    let len = key.len().min(8);
    prefix[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(prefix)
}

impl<'l> Changes<'l> {
    /// None yet, of this stretch of the log, in the memory that others took.
    pub fn anew<'n>(mut self, log: &'n [u8]) -> Changes<'n> {
        self.made.clear();
        self.records.clear();
        self.masks.clear();
        self.all.clear();
        self.placements.clear();
        Changes { log, ..self }
    }

    /// What the changes take, and what is kept for others.
    #[cfg(test)]
    pub fn memory_bytes(&self) -> usize {
        self.made.capacity() + self.all.capacity() * size_of::<Change>()
    }

    /// The place of bytes that are part of the stretch; a copy's, if they are not.
    pub fn of_log(&mut self, bytes: &[u8]) -> Bytes {
        let at = (bytes.as_ptr() as usize).wrapping_sub(self.log.as_ptr() as usize);
        match at.checked_add(bytes.len()) {
            Some(end) if end <= self.log.len() => Bytes { at, len: bytes.len() as u32 },
            _ => self.make(bytes),
        }
    }

    /// Keeps a copy.
    pub fn make(&mut self, bytes: &[u8]) -> Bytes {
        let at = self.log.len() + self.made.len();
        self.made.extend_from_slice(bytes);
        Bytes { at, len: bytes.len() as u32 }
    }

    /// The bytes at a place.
    #[inline]
    pub fn bytes(&self, place: Bytes) -> &[u8] {
        let len = place.len as usize;
        match place.at.checked_sub(self.log.len()) {
            None => &self.log[place.at..place.at + len],
            Some(at) => &self.made[at..at + len],
        }
    }

    /// The number of a mask; neighbours mostly have the same.
    pub fn mask_number(&mut self, mask: &ColumnMask) -> u32 {
        if self.masks.last() != Some(mask) {
            self.masks.push(mask.clone());
        }
        self.masks.len() as u32 - 1
    }

    pub fn mask(&self, number: u32) -> &ColumnMask {
        &self.masks[number as usize]
    }

    #[inline]
    pub fn key(&self, change: &Change) -> &[u8] {
        self.bytes(change.key)
    }

    #[inline]
    pub fn place(&self, change: &Change) -> RecordLsn {
        self.records[change.record as usize]
    }
}
