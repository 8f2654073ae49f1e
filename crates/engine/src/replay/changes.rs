//! The changes of a stretch of the log in the form that replay needs: each is for one entry of a
//! tree, to be sorted by tree and key.

use crate::commit::sidecar::Placement;
use buffer::RecordLsn;
use std::collections::HashMap;
use types::ColumnMask;

/// The place of bytes: in the stretch of the log, or in the bytes that were made from it
/// ([`Changes::made`]), whose places begin after the log's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    at: usize,
    len: u32,
}

/// The new state of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// The row has this full image, whatever there was before.
    Put(Bytes),
    /// The row, if there is one, gets the columns of the mask with this number.
    Patch { mask: u32, image: Bytes },
    /// There is no entry.
    Remove,
    /// The secondary entry is present.
    PutEntry { secondary_len: u16 },
}

impl What {
    /// Returns the image that the change has.
    pub fn image(&self) -> Option<Bytes> {
        match self {
            What::Put(image) | What::Patch { image, .. } => Some(*image),
            What::Remove | What::PutEntry { .. } => None,
        }
    }
}

/// One change of one entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The number of the tree, as [`super::Tables`] numbers trees.
    pub tree: u32,
    /// The first bytes of the key, which are enough for most comparisons.
    pub prefix: u64,
    pub key: Bytes,
    pub what: What,
    /// The position in [`Changes::records`] of the record that the change is from.
    pub record: u32,
    /// Whether the record inserts the row, so that its secondary entries follow from its image.
    pub inserted: bool,
}

impl Change {
    /// Returns the place by which changes are divided among threads. Changes of one entry have the
    /// same place.
    pub fn place(&self) -> (u32, u64) {
        (self.tree, self.prefix)
    }
}

/// The changes of a part of a stretch of the log, in the log's order.
#[derive(Default)]
pub(super) struct Changes<'l> {
    log: &'l [u8],
    /// The keys, and the images that are not in the log in this form.
    made: Vec<u8>,
    pub records: Vec<RecordLsn>,
    masks: Vec<ColumnMask>,
    pub all: Vec<Change>,
    /// The long values that commits placed on pages of their own, by the number of the row's
    /// change.
    pub placements: HashMap<u32, Vec<Placement>>,
}

pub(super) fn prefix_of(key: &[u8]) -> u64 {
    let mut prefix = [0; 8];
    let len = key.len().min(8);
    prefix[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(prefix)
}

impl<'l> Changes<'l> {
    /// Returns an empty value for this stretch of the log, which takes over the memory of an old
    /// one.
    pub fn anew<'n>(mut self, log: &'n [u8]) -> Changes<'n> {
        self.made.clear();
        self.records.clear();
        self.masks.clear();
        self.all.clear();
        self.placements.clear();
        Changes { log, ..self }
    }

    /// Returns how many bytes of memory the changes take, including memory that is kept for later
    /// changes.
    #[cfg(test)]
    pub fn memory_bytes(&self) -> usize {
        self.made.capacity() + self.all.capacity() * size_of::<Change>()
    }

    /// Returns the place of bytes that are part of the stretch. Other bytes are copied.
    pub fn of_log(&mut self, bytes: &[u8]) -> Bytes {
        let at = (bytes.as_ptr() as usize).wrapping_sub(self.log.as_ptr() as usize);
        match at.checked_add(bytes.len()) {
            Some(end) if end <= self.log.len() => Bytes { at, len: bytes.len() as u32 },
            _ => self.make(bytes),
        }
    }

    /// Keeps a copy of the bytes, and returns its place.
    pub fn make(&mut self, bytes: &[u8]) -> Bytes {
        let at = self.log.len() + self.made.len();
        self.made.extend_from_slice(bytes);
        Bytes { at, len: bytes.len() as u32 }
    }

    /// Returns the bytes at a place.
    #[inline]
    pub fn bytes(&self, place: Bytes) -> &[u8] {
        let len = place.len as usize;
        match place.at.checked_sub(self.log.len()) {
            None => &self.log[place.at..place.at + len],
            Some(at) => &self.made[at..at + len],
        }
    }

    /// Returns the number of a mask. Neighbouring changes mostly have the same mask.
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
