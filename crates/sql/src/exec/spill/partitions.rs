//! Partitions of entries with keys: entries are distributed by the hashes of their keys, so that
//! all entries of a key are in one partition and each partition can be processed alone, with a part
//! of the memory.

use super::room::{BLOCK_BYTES, table_bytes};
use super::row::{damaged, read_bytes, write_number};
use super::table::hash_of;
use super::tape::{Tape, TapeFile, TapeReader};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;

/// The number of partitions at each level, and the hash bits that choose one of them.
const PARTS: usize = 16;
const BITS: u32 = 4;
/// How many times entries can be partitioned, each time by other bits of the hash: at the first
/// level by the highest ones, then by those below. The slots of a key table go by the lower half of
/// the hash, and compare the upper half.
const LEVELS: u32 = 8;

/// A partition whose entries are complete.
#[derive(Debug)]
pub(crate) struct Part {
    tape: Tape,
    /// How many times its entries have been partitioned.
    level: u32,
    /// Which of the partitions it is.
    index: usize,
    /// The number of its entries.
    entries: u64,
}

/// The partitions that entries are being distributed to.
#[derive(Debug)]
pub(crate) struct Partitions {
    parts: Vec<Tape>,
    /// The number of entries of each partition.
    entries: [u64; PARTS],
    level: u32,
    lengths: Vec<u8>,
}

/// Returns the partition of a key among those of entries that have been partitioned `level` times
/// before.
fn part_of(hash: u64, level: u32) -> usize {
    (hash >> (64 - BITS * (level + 1))) as usize % PARTS
}

impl Partitions {
    /// Reports whether entries that have been partitioned `level` times can be partitioned once
    /// more.
    pub fn can_spread(level: u32) -> bool {
        level < LEVELS
    }

    /// Creates empty partitions for entries that have been partitioned `level` times before.
    pub fn new(level: u32, ctx: &Context<'_>) -> Partitions {
        assert!(Partitions::can_spread(level), "the bits of the hashes are used up");
        let block_bytes = (table_bytes(ctx) / PARTS).clamp(1 << 10, BLOCK_BYTES);
        let file = TapeFile::default();
        let parts = (0..PARTS).map(|_| Tape::new(&file, block_bytes, Charge::new(ctx.memory))).collect();
        Partitions { parts, entries: [0; PARTS], level, lengths: Vec::new() }
    }

    /// Appends an entry to its partition.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn push(&mut self, key: &[u8], hash: u64, payload: &[u8], ctx: &Context<'_>) -> Result<()> {
        debug_assert_eq!(hash, hash_of(key), "a key goes to the partition of its own hash");
        let part = part_of(hash, self.level);
        self.entries[part] += 1;
        push_entry(&mut self.parts[part], key, payload, &mut self.lengths, ctx)
    }

    /// Returns the partitions that have entries. All of their entries are in the file now.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn finish(self, ctx: &Context<'_>) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for (index, (mut tape, entries)) in self.parts.into_iter().zip(self.entries).enumerate() {
            assert_eq!(tape.is_empty(), entries == 0, "a partition has the entries that were pushed");
            if !tape.is_empty() {
                tape.finish(ctx)?;
                parts.push(Part { tape, level: self.level + 1, index, entries });
            }
        }
        Ok(parts)
    }
}

/// Appends an entry to a tape that [`Entries`] reads. `lengths` is scratch memory.
///
/// # Errors
/// Returns the errors of [`Tape::push`].
pub(crate) fn push_entry(
    tape: &mut Tape,
    key: &[u8],
    payload: &[u8],
    lengths: &mut Vec<u8>,
    ctx: &Context<'_>,
) -> Result<()> {
    lengths.clear();
    write_number(key.len() as u64, lengths);
    let key_length = lengths.len();
    write_number(payload.len() as u64, lengths);
    let (key_length, payload_length) = lengths.split_at(key_length);
    tape.push(&[key_length, key, payload_length, payload], ctx)
}

/// Reads the entries of a tape, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Entries<'t> {
    tape: &'t Tape,
    reader: TapeReader,
    /// The offset of the next entry in the reader's block.
    at: usize,
}

impl<'t> Entries<'t> {
    pub fn of(tape: &'t Tape, ctx: &Context<'_>) -> Entries<'t> {
        Entries { tape, reader: TapeReader::new(Charge::new(ctx.memory)), at: 0 }
    }

    /// Returns the key and the payload of the next entry, or `None` behind the last one.
    ///
    /// # Errors
    /// Returns the errors of [`TapeReader::next_block`], and 1034 when the file is damaged.
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.at == self.reader.block().len() {
            self.at = 0;
            if !self.reader.next_block(self.tape)? {
                return Ok(None);
            }
        }
        let mut rest = &self.reader.block()[self.at..];
        let key = read_bytes(&mut rest).ok_or_else(damaged)?;
        let payload = read_bytes(&mut rest).ok_or_else(damaged)?;
        self.at = self.reader.block().len() - rest.len();
        Ok(Some((key, payload)))
    }
}

/// Takes the key, the hash and the payload of an entry.
pub(crate) type VisitEntry<'v> = dyn FnMut(&[u8], u64, &[u8]) -> Result<()> + 'v;

impl Part {
    /// Returns how many times its entries have been partitioned.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Returns which of the partitions it is. Entries with the same key are in partitions with the
    /// same index.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Calls `visit` with the key, the hash and the payload of each entry, in the order in which
    /// the entries came.
    ///
    /// # Errors
    /// Returns the errors of [`TapeReader::next_block`] and of `visit`, 1034 when the file is
    /// damaged, and 1317 when the statement is killed.
    pub fn for_each(&self, ctx: &Context<'_>, visit: &mut VisitEntry<'_>) -> Result<()> {
        let (mut entries, mut read) = (Entries::of(&self.tape, ctx), 0);
        while let Some((key, payload)) = entries.next()? {
            ctx.check_interrupt()?;
            let hash = hash_of(key);
            if part_of(hash, self.level - 1) != self.index {
                return Err(damaged());
            }
            read += 1;
            visit(key, hash, payload)?;
        }
        // A damaged file may have lost entries.
        if read == self.entries { Ok(()) } else { Err(damaged()) }
    }
}
