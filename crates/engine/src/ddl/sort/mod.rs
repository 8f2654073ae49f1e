//! An external sort of entries by key, in bounded memory.
//!
//! Entries are collected in a buffer (`innodb_sort_buffer_size`), sorted there, and written to a
//! temporary file as a run when the buffer is full. [`merge`] reads the runs back in order. If all
//! entries fit the buffer, nothing is written.
//!
//! Sorting looks at eight key bytes at a time, which are kept beside each entry's place as a
//! number. Entries are compared in the array that is being sorted, and only entries that are equal
//! so far have their next eight bytes fetched.

mod file;
mod merge;
mod run;

use crate::error::Result;
pub(crate) use file::TempFile;
pub(super) use merge::Merge;
pub(crate) use run::SortLimits;
pub(super) use run::Sorted;
use run::{Run, RunSource, entry_at, head, put_entry};
use std::sync::Arc;

/// An entry's place in the buffer, with the key bytes that are being compared.
#[derive(Clone, Copy)]
struct Place {
    head: u64,
    at: u32,
}

/// The entries in memory.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

const MOST_PIECE_BYTES: usize = 64 << 10;

/// Groups of at most this many entries are sorted by whole keys, which costs less than fetching
/// heads.
const FEW: usize = 12;

impl Buffer {
    fn memory(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    fn push(&mut self, key: &[u8], value: &[u8]) {
        self.places.push(Place { head: head(key, 0), at: self.bytes.len() as u32 });
        put_entry(&mut self.bytes, key, value);
    }

    fn sort(&mut self) {
        sort_from(&self.bytes, &mut self.places, 0);
    }

    /// Returns the entries in order, as the bytes of a run.
    fn sorted_bytes(&self) -> Vec<u8> {
        let mut run = Vec::with_capacity(self.bytes.len());
        for place in &self.places {
            let (key, value) = entry_at(&self.bytes, place.at as usize);
            put_entry(&mut run, key, value);
        }
        run
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// Sorts places whose keys are equal in their first `depth` bytes. Their heads are the eight bytes
/// at that depth.
fn sort_from(bytes: &[u8], places: &mut [Place], depth: usize) {
    places.sort_unstable_by_key(|place| place.head);
    let mut rest = places;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|place| place.head == first.head).count();
        let (group, after) = rest.split_at_mut(same);
        rest = after;
        if same == 1 {
            continue;
        }
        let key = |place: &Place| entry_at(bytes, place.at as usize).0;
        let go_on = same > FEW && group.iter().any(|place| key(place).len() > depth + 8);
        if go_on {
            group.iter_mut().for_each(|place| place.head = head(key(place), depth + 8));
            sort_from(bytes, group, depth + 8);
        } else {
            group.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        }
    }
}

/// Collects entries in any order.
pub(super) struct Sorter {
    limits: SortLimits,
    buffer: Buffer,
    file: Option<TempFile>,
    /// The start and the end of each run in the file.
    runs: Vec<(u64, u64)>,
}

impl Sorter {
    pub fn new(limits: &SortLimits) -> Sorter {
        Sorter { limits: limits.clone(), buffer: Buffer::default(), file: None, runs: Vec::new() }
    }

    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.buffer.push(key, value);
        if self.buffer.memory() + self.piece_bytes() >= self.limits.buffer_bytes {
            self.spill()
        } else {
            Ok(())
        }
    }

    /// Returns the size of the pieces in which a run is written. A piece is put together in memory
    /// of its own, besides the buffer.
    fn piece_bytes(&self) -> usize {
        MOST_PIECE_BYTES.min(self.limits.buffer_bytes / 8)
    }

    fn spill(&mut self) -> Result<()> {
        self.buffer.sort();
        if self.file.is_none() {
            self.file = Some(TempFile::create(&*self.limits.disk, &self.limits.tmpdir)?);
        }
        let piece_bytes = self.piece_bytes();
        let file = self.file.as_mut().expect("just made");
        let (mut run, mut piece) = (None, Vec::with_capacity(piece_bytes));
        for (number, place) in self.buffer.places.iter().enumerate() {
            let (key, value) = entry_at(&self.buffer.bytes, place.at as usize);
            put_entry(&mut piece, key, value);
            if piece.len() >= piece_bytes || number + 1 == self.buffer.places.len() {
                let at = file.append(&piece)?;
                let (start, _) = run.unwrap_or((at, at));
                run = Some((start, at + piece.len() as u64));
                piece.clear();
            }
        }
        self.runs.extend(run);
        self.buffer.clear();
        Ok(())
    }

    pub fn finish(mut self) -> Result<Sorted> {
        // Entries that stay in memory are copied into their order, so there must be room for the
        // copy.
        if self.buffer.memory() + self.buffer.bytes.len() > self.limits.buffer_bytes {
            self.spill()?;
        }
        let mut runs = Vec::with_capacity(self.runs.len() + 1);
        if let Some(file) = self.file.take() {
            let file = Arc::new(file);
            let run = |(at, end)| Run { source: RunSource::File(file.clone()), at, end };
            runs.extend(self.runs.drain(..).map(run));
        }
        if !self.buffer.places.is_empty() {
            self.buffer.sort();
            let bytes = self.buffer.sorted_bytes();
            let end = bytes.len() as u64;
            runs.push(Run { source: RunSource::Memory(bytes), at: 0, end });
        }
        Ok(Sorted { limits: self.limits, runs })
    }
}

#[cfg(test)]
mod tests;
