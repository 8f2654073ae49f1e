//! A hash table in a file: rows with keys, in the order of the hashes of the keys.
//!
//! In memory there is the first hash of each block. To look up a key, the block that may have it is
//! read, and those behind it as long as they have rows of the key. So a look-up costs a read of a
//! few kilobytes, no matter how many rows have one key.

use super::sort::Sorter;
use super::spill::{
    Entered, KeyTable, Tape, TapeFile, TapeReader, damaged, hash_of, read_bytes, table_bytes, write_bytes,
};
use crate::error::Result;
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

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Adds a row behind those that have the same key.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::push_entry`].
    pub fn push(&mut self, key: &[u8], hash: u64, row: &[u8], ctx: &Context<'_>) -> Result<()> {
        debug_assert_eq!(hash, hash_of(key), "a row lies where its key is looked for");
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
        assert!(first_hashes.is_sorted(), "the blocks are in the order of their hashes");
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
pub(super) struct Position {
    key: Vec<u8>,
    hash: u64,
    block: usize,
    /// The offset in the block, in bytes.
    at: usize,
}

/// A row as it lies in a block.
struct Entry<'b> {
    hash: u64,
    key: &'b [u8],
    row: &'b [u8],
}

impl<'b> Entry<'b> {
    /// Takes the first entry of `bytes`. `None` means that they are damaged.
    fn read(bytes: &mut &'b [u8]) -> Option<Entry<'b>> {
        let (hash, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        let (key, row) = (read_bytes(bytes)?, read_bytes(bytes)?);
        Some(Entry { hash: u64::from_be_bytes(*hash), key, row })
    }
}

impl SortedRows {
    /// Returns a position in front of the first row with this key.
    pub fn find(&self, key: Vec<u8>, hash: u64) -> Position {
        let block = self.first_hashes.partition_point(|first| *first < hash).saturating_sub(1);
        Position { key, hash, block, at: 0 }
    }

    /// Reports whether there is a row with this key.
    ///
    /// # Errors
    /// Returns the errors of [`SortedRows::next`].
    pub fn contains(&self, key: &[u8], hash: u64) -> Result<bool> {
        self.next(&mut self.find(key.to_vec(), hash), |_| Ok(()))
    }

    /// Calls `visit` with the key, the hash and the bytes of each row.
    ///
    /// # Errors
    /// Returns the errors of [`TapeReader::next_block`] and of `visit`, 1034 when the file is
    /// damaged, and 1317 when the statement is killed.
    pub fn for_each(
        &self,
        ctx: &Context<'_>,
        mut visit: impl FnMut(&[u8], u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut reader = TapeReader::new(Charge::new(ctx.memory));
        while reader.next_block(&self.tape)? {
            let mut rest = reader.block();
            while !rest.is_empty() {
                ctx.check_interrupt()?;
                let Entry { hash, key, row } = Entry::read(&mut rest).ok_or_else(damaged)?;
                visit(key, hash, row)?;
            }
        }
        Ok(())
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
                let Entry { hash, key, row } = Entry::read(&mut rest).ok_or_else(damaged)?;
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

/// Keys that have been seen, in memory up to a bound and in files beyond it.
pub(super) struct Seen {
    table: KeyTable,
    most_bytes: usize,
    /// Keys that had no room in memory any more. Each is in one of the files.
    files: Vec<SortedRows>,
}

/// When there are that many files they become one, because each key is looked up in all of them.
const MOST_FILES: usize = 8;

impl Seen {
    pub fn new(ctx: &Context<'_>) -> Seen {
        Seen {
            table: KeyTable::new(Charge::new(ctx.memory)),
            most_bytes: table_bytes(ctx),
            files: Vec::new(),
        }
    }

    /// Reports whether the key has not been seen yet. From now on it has.
    ///
    /// # Errors
    /// Returns 1, 2 and 3 when a temporary file cannot be created, read or written, and the errors
    /// of [`Charge::add`].
    pub fn is_new(&mut self, key: &[u8], ctx: &Context<'_>) -> Result<bool> {
        let hash = hash_of(key);
        for file in &self.files {
            if file.contains(key, hash)? {
                return Ok(false);
            }
        }
        if self.table.used_bytes() + key.len() > self.most_bytes
            && self.table.len() > 0
            && self.table.find(key, hash).is_none()
        {
            self.write(ctx)?;
        }
        Ok(matches!(self.table.enter(key, hash, true)?, Entered::New(_)))
    }

    /// Moves the keys in memory to a file.
    fn write(&mut self, ctx: &Context<'_>) -> Result<()> {
        if self.files.is_empty() {
            ctx.counters.created_tmp_disk_tables.count();
        }
        let mut sorting = Sorting::new(ctx);
        for number in 0..self.table.len() {
            ctx.check_interrupt()?;
            let key = self.table.key(number);
            sorting.push(key, hash_of(key), &[], ctx)?;
        }
        self.table = KeyTable::new(Charge::new(ctx.memory));
        if self.files.len() >= MOST_FILES {
            for file in self.files.drain(..) {
                file.for_each(ctx, |key, hash, _| sorting.push(key, hash, &[], ctx))?;
            }
        }
        self.files.push(sorting.finish(ctx)?);
        assert!(self.files.len() <= MOST_FILES, "many files become one");
        Ok(())
    }
}
