//! Entries with keys, spread over parts by the hashes of their keys: all entries of a key are in
//! one part, so that each part can be worked on for itself, with a part of the memory.

use super::room::{BLOCK_BYTES, table_bytes};
use super::row::{damaged, read_bytes, write_number};
use super::table::hash_of;
use super::tape::{Tape, TapeFile, TapeReader};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;

/// So many parts of each, and so many bits of a hash.
const PARTS: usize = 16;
const BITS: u32 = 4;
/// The table of keys goes by the lower half of the hashes, and by four bytes of the upper; the
/// parts of the first level by the uppermost bits, those of the next by the ones behind.
const LEVELS: u32 = 8;

/// A part of what did not fit, to be worked on.
#[derive(Debug)]
pub(crate) struct Part {
    tape: Tape,
    /// How many times it was spread.
    level: u32,
}

/// The parts that are being written.
#[derive(Debug)]
pub(crate) struct Partitions {
    parts: Vec<Tape>,
    level: u32,
    lengths: Vec<u8>,
}

impl Partitions {
    /// Whether entries that have been spread `level` times can be spread once more.
    pub fn can_spread(level: u32) -> bool {
        level < LEVELS
    }

    /// Parts of entries that have been spread `level` times before.
    pub fn new(level: u32, ctx: &Context<'_>) -> Partitions {
        assert!(Partitions::can_spread(level), "the bits of the hashes are used up");
        let block_bytes = (table_bytes(ctx) / PARTS).clamp(1 << 10, BLOCK_BYTES);
        let file = TapeFile::default();
        let parts = (0..PARTS).map(|_| Tape::new(&file, block_bytes, Charge::new(ctx.memory))).collect();
        Partitions { parts, level, lengths: Vec::new() }
    }

    /// Puts an entry to its part.
    ///
    /// # Errors
    /// As [`Tape::push`].
    pub fn push(&mut self, key: &[u8], hash: u64, payload: &[u8], ctx: &Context<'_>) -> Result<()> {
        let part = (hash >> (64 - BITS * (self.level + 1))) as usize % PARTS;
        self.lengths.clear();
        write_number(key.len() as u64, &mut self.lengths);
        let key_length = self.lengths.len();
        write_number(payload.len() as u64, &mut self.lengths);
        let (key_length, payload_length) = self.lengths.split_at(key_length);
        self.parts[part].push(&[key_length, key, payload_length, payload], ctx)
    }

    /// The parts that have something, none of it in memory.
    ///
    /// # Errors
    /// As [`Tape::push`].
    pub fn finish(self, ctx: &Context<'_>) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for mut tape in self.parts {
            if !tape.is_empty() {
                tape.finish(ctx)?;
                parts.push(Part { tape, level: self.level + 1 });
            }
        }
        Ok(parts)
    }
}

/// Takes the key, the hash and the payload of an entry.
pub(crate) type VisitEntry<'v> = dyn FnMut(&[u8], u64, &[u8]) -> Result<()> + 'v;

impl Part {
    /// How many times its entries have been spread.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Calls `visit` with key, hash and payload of each entry, in the order in which they came.
    ///
    /// # Errors
    /// As [`TapeReader::next_block`]; those of `visit`; 1317.
    pub fn for_each(&self, ctx: &Context<'_>, visit: &mut VisitEntry<'_>) -> Result<()> {
        let mut reader = TapeReader::new(Charge::new(ctx.memory));
        while reader.next_block(&self.tape)? {
            let mut rest = reader.block();
            while !rest.is_empty() {
                ctx.check_interrupt()?;
                let key = read_bytes(&mut rest).ok_or_else(damaged)?;
                let payload = read_bytes(&mut rest).ok_or_else(damaged)?;
                visit(key, hash_of(key), payload)?;
            }
        }
        Ok(())
    }
}
