//! The rows of a hash table in a file, in the order of the hashes of their keys.
//!
//! In memory there is the first hash of each block. To look up a key, the block that may have it is
//! read, and those behind it as long as they have rows of the key. So a look-up costs a read of a
//! few kilobytes, and the rows of the tables before need not wait: their order stays, no matter how
//! many rows have one key.

use crate::error::Result;
use crate::exec::sort::Sorter;
use crate::exec::spill::{Tape, TapeFile, TapeReader, damaged, read_bytes, write_bytes};
use crate::expr::Context;
use crate::memory::{Charge, growth};
use std::cell::RefCell;

/// The size at which a block is written, in bytes.
const BLOCK_BYTES: usize = 4 << 10;

/// Rows that are being sorted.
pub(super) struct Sorting {
    sorter: Sorter<'static>,
    /// The number of rows so far. It orders the rows of a key.
    rows: u64,
    key: Vec<u8>,
    payload: Vec<u8>,
}

impl Sorting {
    pub fn new(ctx: &Context<'_>) -> Sorting {
        Sorting { sorter: Sorter::new(&[], None, ctx), rows: 0, key: Vec::new(), payload: Vec::new() }
    }

    /// Adds a row behind those that have the same key.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::push_entry`].
    pub fn push(&mut self, key: &[u8], hash: u64, row: &[u8], ctx: &Context<'_>) -> Result<()> {
        self.key.clear();
        self.key.extend_from_slice(&hash.to_be_bytes());
        self.key.extend_from_slice(&self.rows.to_be_bytes());
        self.rows += 1;
        self.payload.clear();
        write_bytes(key, &mut self.payload);
        write_bytes(row, &mut self.payload);
        self.sorter.push_entry(&self.key, &self.payload, ctx)
    }

    /// Writes the rows in their order.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::finish`] and of [`Tape::push`].
    pub fn finish(self, ctx: &Context<'_>) -> Result<SortedRows> {
        let mut sorted = self.sorter.finish(ctx)?;
        let mut tape = Tape::new(&TapeFile::default(), BLOCK_BYTES, Charge::new(ctx.memory));
        let (mut first_hashes, mut charge) = (Vec::new(), Charge::new(ctx.memory));
        while let Some((key, payload)) = sorted.next_entry(ctx)? {
            let hash = key.first_chunk().ok_or_else(damaged)?;
            if tape.begins_block() {
                growth::push(&mut first_hashes, u64::from_be_bytes(*hash), &mut charge)?;
            }
            tape.push(&[hash, payload], ctx)?;
        }
        tape.finish(ctx)?;
        let reader =
            RefCell::new(BlockReader { block: None, reader: TapeReader::new(Charge::new(ctx.memory)) });
        Ok(SortedRows { tape, first_hashes, reader, _charge: charge })
    }
}

/// Rows in a file that are found by their keys.
pub(super) struct SortedRows {
    tape: Tape,
    /// The hash of the first row of each block.
    first_hashes: Vec<u64>,
    reader: RefCell<BlockReader>,
    _charge: Charge,
}

struct BlockReader {
    /// The index of the block that the reader has in memory.
    block: Option<usize>,
    reader: TapeReader,
}

/// A position among the rows of a key.
pub(in crate::exec) struct Position {
    key: Vec<u8>,
    hash: u64,
    block: usize,
    /// The offset in the block, in bytes.
    at: usize,
}

impl SortedRows {
    /// Returns a position in front of the first row with this key.
    pub fn find(&self, key: Vec<u8>, hash: u64) -> Position {
        let block = self.first_hashes.partition_point(|first| *first < hash).saturating_sub(1);
        Position { key, hash, block, at: 0 }
    }

    /// Passes the bytes of the next row with the position's key to `take`. Returns false when there
    /// is no such row.
    ///
    /// # Errors
    /// Returns the errors of [`TapeReader::next_block`] and of `take`, and 1034 when the file is
    /// damaged.
    pub fn next(&self, position: &mut Position, take: impl FnOnce(&[u8]) -> Result<()>) -> Result<bool> {
        let mut reader = self.reader.borrow_mut();
        while self.first_hashes.get(position.block).is_some_and(|first| *first <= position.hash) {
            if reader.block != Some(position.block) {
                reader.block = None;
                reader.reader.seek(position.block);
                if !reader.reader.next_block(&self.tape)? {
                    return Err(damaged());
                }
                reader.block = Some(position.block);
            }
            let block = reader.reader.block();
            while let Some(mut rest) = block.get(position.at..).filter(|rest| !rest.is_empty()) {
                let (hash, behind) = rest.split_first_chunk().ok_or_else(damaged)?;
                rest = behind;
                let key = read_bytes(&mut rest).ok_or_else(damaged)?;
                let row = read_bytes(&mut rest).ok_or_else(damaged)?;
                let hash = u64::from_be_bytes(*hash);
                if hash > position.hash {
                    return Ok(false);
                }
                position.at = block.len() - rest.len();
                if hash == position.hash && key == position.key {
                    take(row)?;
                    return Ok(true);
                }
            }
            position.block += 1;
            position.at = 0;
        }
        Ok(false)
    }
}
