//! The parts of a join whose hash table does not fit in memory.
//!
//! The table's rows are spread over tapes by the hashes of their keys, and so are the rows of the
//! tables before it that may match them. Each part is then joined for itself. A part whose rows
//! still do not fit is spread again, by other bits of the hash.

use crate::error::Result;
use crate::exec::spill::{Entries, RowCodec, Tape, TapeFile, damaged, hash_of, join_bytes, push_entry};
use crate::expr::Context;
use crate::memory::Charge;
use crate::plan::TableStep;
use std::cell::RefCell;
use types::Value;

const BITS: u32 = 6;
/// The number of parts at each level.
pub(super) const PARTS: usize = 1 << BITS;
/// How many times rows can be spread, each time by other bits of the hash: at the first level by
/// the highest ones, then by those below.
pub(super) const LEVELS: u32 = 5;

/// Returns the part of a key among those of a level.
pub(super) fn part_of(hash: u64, level: u32) -> usize {
    debug_assert!(level < LEVELS, "the bits of the hash are used up");
    (hash >> (64 - BITS * (level + 1))) as usize % PARTS
}

/// Tapes that rows are being spread over.
#[derive(Debug)]
pub(super) struct Spread {
    tapes: Vec<Tape>,
    /// The number of rows in each tape.
    rows: Vec<u64>,
    level: u32,
    lengths: Vec<u8>,
}

impl Spread {
    /// Creates empty tapes. `level` is how many times the rows have been spread before.
    pub fn new(level: u32, ctx: &Context<'_>) -> Spread {
        let block_bytes = (join_bytes(ctx) / PARTS).clamp(1 << 10, 64 << 10);
        let file = TapeFile::default();
        let tapes = (0..PARTS).map(|_| Tape::new(&file, block_bytes, Charge::new(ctx.memory))).collect();
        Spread { tapes, rows: vec![0; PARTS], level, lengths: Vec::new() }
    }

    /// Appends a row to the tape of its part.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn push(&mut self, key: &[u8], hash: u64, row: &[u8], ctx: &Context<'_>) -> Result<()> {
        let part = part_of(hash, self.level);
        self.rows[part] += 1;
        push_entry(&mut self.tapes[part], key, row, &mut self.lengths, ctx)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Returns the tapes and the number of rows in each. All rows are in the file now.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<Vec<(Tape, u64)>> {
        self.tapes.iter_mut().try_for_each(|tape| tape.finish(ctx))?;
        Ok(self.tapes.into_iter().zip(self.rows).collect())
    }
}

/// The parts of a hash table that are not in memory, and the rows of the tables before that wait
/// for them.
#[derive(Debug)]
pub(super) struct Parts {
    /// For each part, the table's rows and their number.
    own: Vec<(Tape, u64)>,
    /// The first parts, up to this number, are in memory.
    in_memory: usize,
    level: u32,
    waiting: RefCell<Waiting>,
}

/// Rows that wait, as they are written.
#[derive(Debug)]
struct Waiting {
    spread: Spread,
    codec: RowCodec,
    row: Vec<u8>,
}

/// A part that can be joined: rows of the table and rows that look for them.
#[derive(Debug)]
pub(super) struct Pair {
    /// The rows of the table, and their number.
    pub own: (Tape, u64),
    /// The rows that wait, and their number.
    pub waiting: (Tape, u64),
    /// How many times the rows have been spread.
    pub level: u32,
}

impl Parts {
    /// Closes the tapes of a table whose rows were spread.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn new(spread: Spread, in_memory: usize, ctx: &Context<'_>) -> Result<Parts> {
        let level = spread.level;
        let own = spread.finish(ctx)?;
        let waiting =
            Waiting { spread: Spread::new(level, ctx), codec: RowCodec::default(), row: Vec::new() };
        Ok(Parts { own, in_memory, level, waiting: RefCell::new(waiting) })
    }

    /// Reports whether rows that match this key may be in a part that is not in memory.
    pub fn has(&self, hash: u64) -> bool {
        let part = part_of(hash, self.level);
        part >= self.in_memory && self.own[part].1 > 0
    }

    /// Has a row wait for the part of its key. `tables` are those that have filled the row so far.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn wait(
        &self,
        (key, hash): (&[u8], u64),
        tables: &[TableStep],
        row: &[Value],
        ctx: &Context<'_>,
    ) -> Result<()> {
        let Waiting { spread, codec, row: written } = &mut *self.waiting.borrow_mut();
        written.clear();
        tables.iter().flat_map(TableStep::kept_slots).for_each(|slot| codec.write(&row[slot], written));
        spread.push(key, hash, written, ctx)
    }

    /// Returns the parts for which rows wait, and what decodes these rows.
    ///
    /// # Errors
    /// Returns the errors of [`Tape::push`].
    pub fn into_pairs(self, ctx: &Context<'_>) -> Result<(Vec<Pair>, RowCodec)> {
        let Waiting { spread, codec, .. } = self.waiting.into_inner();
        let all: u64 = self.own.iter().map(|(_, rows)| rows).sum();
        assert_eq!(self.level, spread.level, "the rows that wait are spread as the table's own are");
        let mut pairs = Vec::new();
        for ((own, own_rows), (waiting, waiting_rows)) in self.own.into_iter().zip(spread.finish(ctx)?) {
            if waiting_rows > 0 {
                // Rows that all went to one part probably have one key, which nothing can spread.
                let is_stuck = own_rows == all && self.in_memory == 0;
                let level = if is_stuck { LEVELS } else { self.level + 1 };
                assert!(own_rows > 0, "a row waits for rows of the table");
                pairs.push(Pair { own: (own, own_rows), waiting: (waiting, waiting_rows), level });
            }
        }
        Ok((pairs, codec))
    }
}

/// The rows that wait for a part.
pub(in crate::exec) struct WaitingRows<'w> {
    entries: Entries<'w>,
    /// The number of rows that are still to be read.
    left: u64,
    codec: &'w RowCodec,
}

impl<'w> WaitingRows<'w> {
    pub(super) fn of(
        (tape, rows): &'w (Tape, u64),
        codec: &'w RowCodec,
        ctx: &Context<'_>,
    ) -> WaitingRows<'w> {
        WaitingRows { entries: Entries::of(tape, ctx), left: *rows, codec }
    }

    /// Puts the next row back into the slots of `tables`. Returns false behind the last row.
    ///
    /// # Errors
    /// Returns the errors of [`Entries::next`], and 1034 when the file has not as many rows as were
    /// written to it.
    pub fn next_into(&mut self, tables: &[TableStep], row: &mut [Value]) -> Result<bool> {
        let Some((_, mut written)) = self.entries.next()? else {
            return if self.left == 0 { Ok(false) } else { Err(damaged()) };
        };
        self.left = self.left.checked_sub(1).ok_or_else(damaged)?;
        for slot in tables.iter().flat_map(TableStep::kept_slots) {
            self.codec.read(&mut written, &mut row[slot])?;
        }
        Ok(true)
    }
}

/// Calls `visit` with the key, the hash and the bytes of each row of a tape.
///
/// # Errors
/// Returns the errors of [`Entries::next`] and of `visit`, 1034 when the file has not as many rows
/// as were written to it, and 1317 when the statement is killed.
pub(super) fn for_each_row(
    (tape, rows): &(Tape, u64),
    ctx: &Context<'_>,
    mut visit: impl FnMut(&[u8], u64, &[u8]) -> Result<()>,
) -> Result<()> {
    let (mut entries, mut read) = (Entries::of(tape, ctx), 0);
    while let Some((key, row)) = entries.next()? {
        ctx.check_interrupt()?;
        read += 1;
        visit(key, hash_of(key), row)?;
    }
    if read == *rows { Ok(()) } else { Err(damaged()) }
}
