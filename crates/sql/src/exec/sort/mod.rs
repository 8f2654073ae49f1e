//! ORDER BY of rows that do not come in order.
//!
//! A row is kept as bytes: its key, which orders by memcmp ([`key`]), and the values that are asked
//! for later. Rows are collected in a buffer and sorted there; what does not fit
//! `sort_buffer_size` goes to a temporary file as a sorted run, and the runs are merged. Rows that
//! are equal keep the order in which they came. With a LIMIT the buffer has no more than a few
//! times that many rows, and rows behind those are not taken.

mod key;
mod merge;
mod run;
#[cfg(test)]
mod tests;

use super::spill::{RowCodec, Tape, TapeFile, sort_bytes};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;
use crate::plan::SortKey;
use merge::{Merge, merge_to_tape};
use run::{Buffer, RunReader};
use types::Value;

/// What is sorted at once: so little that KILL need not look in between.
const MOST_BUFFER_BYTES: usize = 4 << 20;
/// The least that is read and written at once. A run is mostly in the page cache: reading it in
/// small pieces costs less than merging once more.
const LEAST_BLOCK_BYTES: usize = 4 << 10;
const MOST_BLOCK_BYTES: usize = 64 << 10;
const LEAST_FAN_IN: usize = 8;

/// How a sorter uses its memory.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// All of it.
    most_bytes: usize,
    buffer_bytes: usize,
    block_bytes: usize,
    /// So many runs are read at once.
    fan_in: usize,
}

impl Room {
    fn of(most_bytes: usize) -> Room {
        let block_bytes = (most_bytes / 32).clamp(LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES);
        let fan_in = (most_bytes / block_bytes).max(LEAST_FAN_IN);
        Room { most_bytes, buffer_bytes: most_bytes.min(MOST_BUFFER_BYTES), block_bytes, fan_in }
    }
}

/// Rows with their sort keys.
pub(crate) struct Sorter<'p> {
    keys: &'p [SortKey],
    codec: RowCodec,
    room: Room,
    /// Rows that will be asked for.
    wanted: Option<usize>,
    /// That documents are ordered by how many elements they have.
    has_warned: bool,
    /// From this key on nothing is taken: there are as many rows as wanted before it.
    cutoff: Option<Vec<u8>>,
    /// The key of the row at hand, and its values so far.
    key: Vec<u8>,
    payload: Vec<u8>,
    buffer: Buffer,
    /// Sorted, before what is in the buffer.
    sorted: Vec<Buffer>,
    sorted_bytes: usize,
    /// Before what is sorted in memory.
    tapes: Vec<Tape>,
    file: TapeFile,
}

impl<'p> Sorter<'p> {
    /// A sorter of which no more than `wanted` rows will be asked for, if that is known.
    pub fn new(keys: &'p [SortKey], wanted: Option<u64>, ctx: &Context<'_>) -> Sorter<'p> {
        Sorter {
            keys,
            codec: RowCodec::default(),
            room: Room::of(sort_bytes(ctx)),
            wanted: wanted.and_then(|wanted| usize::try_from(wanted).ok()),
            has_warned: false,
            cutoff: None,
            key: Vec::new(),
            payload: Vec::new(),
            buffer: Buffer::new(Charge::new(ctx.memory)),
            sorted: Vec::new(),
            sorted_bytes: 0,
            tapes: Vec::new(),
            file: TapeFile::default(),
        }
    }

    /// Computes the keys of a row. True: it is to be kept, and [`Sorter::write`] and
    /// [`Sorter::keep`] follow.
    ///
    /// # Errors
    /// Those of the expressions.
    pub fn offer(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<bool> {
        self.key.clear();
        self.payload.clear();
        let is_scalar = key::write_keys(self.keys, row, &mut self.key, ctx)?;
        if !is_scalar && !std::mem::replace(&mut self.has_warned, true) {
            ctx.warn(1235, "This version of MySQL doesn't yet support 'sorting of non-scalar JSON values'");
        }
        Ok(self.cutoff.as_ref().is_none_or(|cutoff| self.key < *cutoff))
    }

    /// Adds a value to the row that was offered.
    pub fn write(&mut self, value: &Value) {
        self.codec.write(value, &mut self.payload);
    }

    /// Keeps the row that was offered, with the values that were written.
    ///
    /// # Errors
    /// 1 and 3 when a temporary file cannot be made or written, 1317, those of [`Charge::add`].
    pub fn keep(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.buffer.push(&self.key, &self.payload)?;
        self.make_room(ctx)
    }

    /// Keeps an entry whose key somebody else has made: none of these keys is the beginning of
    /// another.
    ///
    /// # Errors
    /// As [`Sorter::keep`].
    pub fn push_entry(&mut self, key: &[u8], payload: &[u8], ctx: &Context<'_>) -> Result<()> {
        self.buffer.push(key, payload)?;
        self.make_room(ctx)
    }

    /// Empties a buffer that is full.
    fn make_room(&mut self, ctx: &Context<'_>) -> Result<()> {
        let is_enough = |wanted: usize| self.buffer.len() >= wanted.saturating_mul(4).saturating_add(1024);
        if self.buffer.used_bytes() >= self.room.buffer_bytes || self.wanted.is_some_and(is_enough) {
            self.settle(ctx)?;
        }
        Ok(())
    }

    /// As [`Sorter::offer`] and what follows, of a row whose values are these.
    ///
    /// # Errors
    /// As [`Sorter::keep`].
    pub fn push(&mut self, row: &[Value], values: &[Value], ctx: &Context<'_>) -> Result<()> {
        if self.offer(row, ctx)? {
            values.iter().for_each(|value| self.write(value));
            self.keep(ctx)?;
        }
        Ok(())
    }

    /// Sorts the buffer, and takes what is not wanted, or all of it, out.
    fn settle(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.sort_buffer();
        if self.wanted.is_some_and(|wanted| self.buffer.len() >= wanted) {
            if self.buffer.used_bytes() <= self.room.buffer_bytes / 2 {
                return Ok(());
            }
            // It has been put into the order in which the rows came.
            self.buffer.sort();
        }
        if self.room.buffer_bytes == self.room.most_bytes {
            return self.write_buffer(ctx);
        }
        let next = Buffer::new(Charge::new(ctx.memory));
        let full = std::mem::replace(&mut self.buffer, next);
        self.sorted_bytes += full.used_bytes();
        self.sorted.push(full);
        if self.sorted_bytes + self.room.buffer_bytes > self.room.most_bytes {
            self.write_sorted(ctx)?;
        }
        Ok(())
    }

    /// Sorts the buffer. Where it has as many rows as wanted, it has only those then, in the order
    /// in which they came.
    fn sort_buffer(&mut self) {
        self.buffer.sort();
        if let Some(wanted) = self.wanted
            && self.buffer.len() >= wanted
        {
            self.cutoff = self.buffer.keep_first(wanted);
        }
    }

    /// Has the sorted buffer's rows on a tape.
    fn write_buffer(&mut self, ctx: &Context<'_>) -> Result<()> {
        let mut tape = Tape::new(&self.file, self.room.block_bytes, Charge::new(ctx.memory));
        self.buffer.write_to(&mut tape, ctx)?;
        tape.finish(ctx)?;
        self.buffer.clear();
        self.tapes.push(tape);
        Ok(())
    }

    /// Has the rows that are sorted in memory, but for the buffer's, on one tape.
    fn write_sorted(&mut self, ctx: &Context<'_>) -> Result<()> {
        let runs = self.sorted.drain(..).map(RunReader::of_buffer).collect();
        let tape = merge_to_tape(runs, self.wanted, &self.file, self.room.block_bytes, ctx)?;
        self.sorted_bytes = 0;
        self.tapes.push(tape);
        Ok(())
    }

    /// The rows in order.
    ///
    /// # Errors
    /// As [`Sorter::keep`]; 2 when the file cannot be read.
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<Sorted> {
        if !self.keys.is_empty() {
            // As MySQL does, whatever was read for it.
            ctx.counters.sort_scan.count();
        }
        self.buffer.sort();
        let mut runs: Vec<RunReader> = Vec::new();
        if !self.tapes.is_empty() {
            // Their memory is wanted for the merge.
            if !self.sorted.is_empty() {
                self.write_sorted(ctx)?;
            }
            self.write_buffer(ctx)?;
            let tapes = self.merge_to_few(ctx)?;
            ctx.counters.sort_merge_passes.count();
            runs.extend(tapes.into_iter().map(|tape| RunReader::of_tape(tape, ctx)));
        } else {
            runs.extend(self.sorted.drain(..).map(RunReader::of_buffer));
            runs.push(RunReader::of_buffer(self.buffer));
        }
        Ok(Sorted { codec: self.codec, merge: Merge::new(runs)?, left: self.wanted })
    }

    /// Merges tapes until they can all be read at once.
    fn merge_to_few(&mut self, ctx: &Context<'_>) -> Result<Vec<Tape>> {
        // The buffer's memory is the readers'.
        self.buffer = Buffer::new(Charge::new(ctx.memory));
        let mut tapes = std::mem::take(&mut self.tapes);
        while tapes.len() > self.room.fan_in {
            // The file of the runs before goes when they are merged.
            let file = TapeFile::default();
            let mut longer = Vec::with_capacity(tapes.len().div_ceil(self.room.fan_in));
            let mut rest = tapes.into_iter().peekable();
            while rest.peek().is_some() {
                let runs = rest.by_ref().take(self.room.fan_in).map(|tape| RunReader::of_tape(tape, ctx));
                let merged = merge_to_tape(runs.collect(), self.wanted, &file, self.room.block_bytes, ctx)?;
                ctx.counters.sort_merge_passes.count();
                longer.push(merged);
            }
            self.file = file;
            tapes = longer;
        }
        Ok(tapes)
    }
}

/// Rows in their order.
#[derive(Debug)]
pub(crate) struct Sorted {
    codec: RowCodec,
    merge: Merge,
    /// So many more are wanted.
    left: Option<usize>,
}

impl Sorted {
    /// Reads the next row's values, as many as were written; false: there is none.
    ///
    /// # Errors
    /// 2 when the temporary file cannot be read; 1317.
    pub fn next(&mut self, values: &mut [Value], ctx: &Context<'_>) -> Result<bool> {
        let Some(payload) = next_entry(&mut self.merge, &mut self.left, ctx)?.map(|(_, payload)| payload)
        else {
            return Ok(false);
        };
        ctx.counters.sort_rows.count();
        self.codec.read_row(payload, values)?;
        Ok(true)
    }

    /// The key and the payload of the next entry.
    ///
    /// # Errors
    /// As [`Sorted::next`].
    pub fn next_entry(&mut self, ctx: &Context<'_>) -> Result<Option<(&[u8], &[u8])>> {
        next_entry(&mut self.merge, &mut self.left, ctx)
    }
}

fn next_entry<'m>(
    merge: &'m mut Merge,
    left: &mut Option<usize>,
    ctx: &Context<'_>,
) -> Result<Option<(&'m [u8], &'m [u8])>> {
    ctx.check_interrupt()?;
    if let Some(left) = left {
        if *left == 0 {
            return Ok(None);
        }
        *left -= 1;
    }
    let next = merge.next()?;
    Ok(next.map(RunReader::entry))
}
