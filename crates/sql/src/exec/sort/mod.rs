//! ORDER BY for rows that do not come in order: an external merge sort.
//!
//! In: rows. Each is kept as bytes: its key, which mostly compares by memcmp ([`key`]), and the
//! values that are asked for later. Rows are collected and sorted in a buffer. What does not fit
//! `sort_buffer_size` goes to a temporary file as a sorted run, and the runs are merged. Out: the
//! rows in order, those with equal keys in the order in which they came. With a LIMIT, the buffer
//! holds no more than a few times that many rows, and rows that sort behind them are dropped at
//! once.

mod key;
mod merge;
mod run;
#[cfg(test)]
mod tests;

use super::spill::{RowCodec, Tape, TapeFile, damaged, sort_bytes};
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;
use crate::plan::SortKey;
use key::{Key, KeyBuffer, KeyOrder};
use merge::{Merge, merge_to_tape};
use run::{Buffer, RunReader};
use types::Value;

/// The most that is sorted at once, in bytes. It is little enough that KILL need not be checked
/// meanwhile.
const MOST_BUFFER_BYTES: usize = 4 << 20;
/// The smallest block that is read and written at once, in bytes. Runs are mostly in the page
/// cache, so that reading them in small blocks costs less than merging once more.
const LEAST_BLOCK_BYTES: usize = 4 << 10;
const MOST_BLOCK_BYTES: usize = 64 << 10;
const LEAST_FAN_IN: usize = 8;

/// How a sorter divides its memory.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// All of the memory, in bytes.
    most_bytes: usize,
    buffer_bytes: usize,
    block_bytes: usize,
    /// The number of runs that are merged at once.
    fan_in: usize,
}

impl Room {
    fn of(most_bytes: usize) -> Room {
        let block_bytes = (most_bytes / 32).clamp(LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES);
        let fan_in = (most_bytes / block_bytes).max(LEAST_FAN_IN);
        Room { most_bytes, buffer_bytes: most_bytes.min(MOST_BUFFER_BYTES), block_bytes, fan_in }
    }
}

/// Sorts rows by their keys.
pub(crate) struct Sorter<'p> {
    keys: &'p [SortKey],
    /// Whether values that are not equal have different keys, also where they have no order.
    tells_apart: bool,
    codec: RowCodec,
    room: Room,
    /// The number of rows that will be asked for. `None` means all.
    wanted: Option<usize>,
    /// Whether the sorter has warned that it orders JSON arrays and objects by their number of
    /// elements.
    has_warned: bool,
    /// The key from which on rows are dropped, because as many rows as wanted sort before it.
    cutoff: Option<KeyBuffer>,
    order: KeyOrder,
    /// The key of the current row, and its values so far.
    key: KeyBuffer,
    payload: Vec<u8>,
    buffer: Buffer,
    /// The number of entries that were kept, in the buffer or anywhere else.
    kept: u64,
    /// Full buffers that have been sorted. Their rows came before those in `buffer`.
    sorted: Vec<Buffer>,
    sorted_bytes: usize,
    /// Sorted runs in the file. Their rows came before those in `sorted`.
    tapes: Vec<Tape>,
    file: TapeFile,
}

impl<'p> Sorter<'p> {
    /// Creates a sorter. At most `wanted` rows will be asked for; `None` means all.
    pub fn new(keys: &'p [SortKey], wanted: Option<u64>, ctx: &Context<'_>) -> Sorter<'p> {
        let (room, order) = (Room::of(sort_bytes(ctx)), KeyOrder::of(keys));
        Sorter {
            keys,
            tells_apart: false,
            codec: RowCodec::default(),
            room,
            wanted: wanted.and_then(|wanted| usize::try_from(wanted).ok()),
            has_warned: false,
            cutoff: None,
            order,
            key: KeyBuffer::default(),
            payload: Vec::new(),
            buffer: Buffer::new(room.buffer_bytes, order, Charge::new(ctx.memory)),
            kept: 0,
            sorted: Vec::new(),
            sorted_bytes: 0,
            tapes: Vec::new(),
            file: TapeFile::default(),
        }
    }

    /// As [`Sorter::new`], for all rows. Rows with equal keys come one after the other, whatever
    /// the values are: JSON arrays have no order otherwise.
    pub fn telling_apart(keys: &'p [SortKey], ctx: &Context<'_>) -> Sorter<'p> {
        Sorter { tells_apart: true, ..Sorter::new(keys, None, ctx) }
    }

    /// Computes the key of a row, and reports whether the row is to be kept. In that case the
    /// caller writes its values with [`Sorter::write`] and then calls [`Sorter::keep`].
    ///
    /// # Errors
    /// Returns the errors of the expressions.
    pub fn offer(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<bool> {
        self.payload.clear();
        let is_scalar = key::write_keys((self.keys, self.order, self.tells_apart), row, &mut self.key, ctx)?;
        if !is_scalar && !std::mem::replace(&mut self.has_warned, true) {
            ctx.warn(1235, "This version of MySQL doesn't yet support 'sorting of non-scalar JSON values'");
        }
        Ok(self.is_before_cutoff())
    }

    /// Does what [`Sorter::offer`] does for a row whose only key is a column with this text. `None`
    /// means that it has done nothing: the key is not of this kind.
    pub fn offer_text(&mut self, text: &[u8]) -> Option<bool> {
        if self.keys.len() != 1 || !key::write_only_text(self.order, text, &mut self.key) {
            return None;
        }
        self.payload.clear();
        Some(self.is_before_cutoff())
    }

    /// Reports whether the row whose key was made last may be among those that are wanted.
    #[inline]
    fn is_before_cutoff(&self) -> bool {
        let is_before = |cutoff: &KeyBuffer| self.order.compare(self.key.key(), cutoff.key()).is_lt();
        self.cutoff.as_ref().is_none_or(is_before)
    }

    /// Adds a value to the row that was offered last.
    pub fn write(&mut self, value: &Value) {
        self.codec.write(value, &mut self.payload);
    }

    /// Has `write` add bytes to the row that was offered last. They come back by
    /// [`Sorted::next_keyed`].
    ///
    /// # Errors
    /// Returns the errors of `write`.
    pub fn write_by(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        write(&mut self.payload)
    }

    /// Keeps the row that was offered last, with the values that were written.
    ///
    /// # Errors
    /// Returns 1 when a temporary file cannot be created and 3 when it cannot be written, 1317 when
    /// the statement is killed, and the errors of [`Charge::add`].
    pub fn keep(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.buffer.push(self.key.key(), &self.payload)?;
        self.kept += 1;
        self.make_room(ctx)
    }

    /// Offers and keeps a row whose only key is a column with this text, with the bytes of its
    /// payload, which come back by [`Sorted::next_keyed`]. Returns false if it has done nothing:
    /// the key is not of this kind, or not all rows are wanted.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::keep`].
    pub fn keep_text(&mut self, text: &[u8], payload: [&[u8]; 2], ctx: &Context<'_>) -> Result<bool> {
        if self.keys.len() != 1 || self.wanted.is_some() || !self.buffer.push_text(text, payload)? {
            return Ok(false);
        }
        self.kept += 1;
        self.make_room(ctx)?;
        Ok(true)
    }

    /// Keeps an entry whose key the caller has made. No such key may be a prefix of another.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::keep`].
    pub fn push_entry(&mut self, key: &[u8], payload: &[u8], ctx: &Context<'_>) -> Result<()> {
        assert!(self.keys.is_empty(), "all keys of a sort are made by the caller, or none");
        self.buffer.push(Key { start: key, tail: &[] }, payload)?;
        self.kept += 1;
        self.make_room(ctx)
    }

    /// Empties the buffer if it is full.
    fn make_room(&mut self, ctx: &Context<'_>) -> Result<()> {
        let is_enough = |wanted: usize| self.buffer.len() >= wanted.saturating_mul(4).saturating_add(1024);
        if self.buffer.used_bytes() >= self.room.buffer_bytes || self.wanted.is_some_and(is_enough) {
            self.settle(ctx)?;
            assert!(self.buffer.used_bytes() < self.room.buffer_bytes, "there is room for the next entry");
        }
        Ok(())
    }

    /// Offers a row and, if it is to be kept, keeps it with these values.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::keep`].
    pub fn push(&mut self, row: &[Value], values: &[Value], ctx: &Context<'_>) -> Result<()> {
        if self.offer(row, ctx)? {
            values.iter().for_each(|value| self.write(value));
            self.keep(ctx)?;
        }
        Ok(())
    }

    /// Makes room in the buffer: sorts it and drops the rows that are not wanted. If little is
    /// gained by that, moves the buffer's rows to the sorted buffers or to a run in the file.
    fn settle(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.sort_buffer();
        if self.wanted.is_some_and(|wanted| self.buffer.len() >= wanted) {
            if self.buffer.used_bytes() <= self.room.buffer_bytes / 2 {
                return Ok(());
            }
            // `sort_buffer` has put the rows back into the order in which they came.
            self.buffer.sort();
        }
        if self.room.buffer_bytes == self.room.most_bytes {
            return self.write_buffer(ctx);
        }
        let next = Buffer::new(self.room.buffer_bytes, self.order, Charge::new(ctx.memory));
        let full = std::mem::replace(&mut self.buffer, next);
        self.sorted_bytes += full.used_bytes();
        self.sorted.push(full);
        if self.sorted_bytes + self.room.buffer_bytes > self.room.most_bytes {
            self.write_sorted(ctx)?;
        }
        assert!(
            self.sorted_bytes + self.room.buffer_bytes <= self.room.most_bytes,
            "the sorted buffers leave the memory that the current one needs"
        );
        Ok(())
    }

    /// Sorts the buffer. If it has at least as many rows as wanted, only those stay, in the order
    /// in which they came, and the largest of their keys becomes the cutoff.
    fn sort_buffer(&mut self) {
        self.buffer.sort();
        if let Some(wanted) = self.wanted
            && self.buffer.len() >= wanted
        {
            let cutoff = self.buffer.keep_first(wanted);
            if let (Some(before), Some(now)) = (&self.cutoff, &cutoff) {
                debug_assert!(
                    self.order.compare(now.key(), before.key()).is_le(),
                    "only rows before the cutoff are kept, so that it only gets smaller"
                );
            }
            self.cutoff = cutoff;
        }
    }

    /// Writes the rows of the sorted buffer to the file as a run.
    fn write_buffer(&mut self, ctx: &Context<'_>) -> Result<()> {
        let mut tape = Tape::new(&self.file, self.room.block_bytes, Charge::new(ctx.memory));
        self.buffer.write_to(&mut tape, ctx)?;
        tape.finish(ctx)?;
        self.buffer.clear();
        self.tapes.push(tape);
        Ok(())
    }

    /// Merges the full sorted buffers and writes their rows to the file as one run.
    fn write_sorted(&mut self, ctx: &Context<'_>) -> Result<()> {
        let runs = self.sorted.drain(..).map(RunReader::of_buffer).collect();
        let tape = merge_to_tape(runs, self.wanted, &self.file, self.room.block_bytes, ctx)?;
        assert!(!tape.is_empty() || self.wanted == Some(0), "full buffers have entries");
        self.sorted_bytes = 0;
        self.tapes.push(tape);
        Ok(())
    }

    /// Ends the input and returns the rows in order.
    ///
    /// # Errors
    /// Returns the errors of [`Sorter::keep`], and 2 when the file cannot be read.
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<Sorted> {
        if !self.keys.is_empty() {
            // MySQL counts this for every sort, however its rows are read.
            ctx.counters.sort_scan.count();
        }
        self.buffer.sort();
        let mut runs: Vec<RunReader> = Vec::new();
        if !self.tapes.is_empty() {
            // The merge needs the memory of the sorted buffers.
            if !self.sorted.is_empty() {
                self.write_sorted(ctx)?;
            }
            self.write_buffer(ctx)?;
            let tapes = self.merge_to_few(ctx)?;
            assert!(tapes.len() <= self.room.fan_in, "the sort's memory has a block for each run");
            ctx.counters.sort_merge_passes.count();
            runs.extend(tapes.into_iter().map(|tape| RunReader::of_tape(tape, self.order, ctx)));
        } else {
            runs.extend(self.sorted.drain(..).map(RunReader::of_buffer));
            runs.push(RunReader::of_buffer(self.buffer));
        }
        // Where only some rows are wanted, others have been dropped.
        let left = self.wanted.is_none().then_some(self.kept);
        Ok(Sorted { codec: self.codec, merge: Merge::new(runs)?, wanted: self.wanted, left })
    }

    /// Merges runs until all of those that are left can be read at once.
    fn merge_to_few(&mut self, ctx: &Context<'_>) -> Result<Vec<Tape>> {
        // The readers need the buffer's memory.
        self.buffer = Buffer::new(self.room.buffer_bytes, self.order, Charge::new(ctx.memory));
        let mut tapes = std::mem::take(&mut self.tapes);
        while tapes.len() > self.room.fan_in {
            // The old file is deleted when all runs in it have been merged into the new one.
            let file = TapeFile::default();
            let tapes_before = tapes.len();
            let mut longer = Vec::with_capacity(tapes.len().div_ceil(self.room.fan_in));
            let mut rest = tapes.into_iter().peekable();
            while rest.peek().is_some() {
                let runs = rest
                    .by_ref()
                    .take(self.room.fan_in)
                    .map(|tape| RunReader::of_tape(tape, self.order, ctx));
                let merged = merge_to_tape(runs.collect(), self.wanted, &file, self.room.block_bytes, ctx)?;
                ctx.counters.sort_merge_passes.count();
                longer.push(merged);
            }
            assert!(longer.len() < tapes_before, "a merge leaves fewer runs than it takes");
            self.file = file;
            tapes = longer;
        }
        Ok(tapes)
    }
}

/// The sorted rows.
#[derive(Debug)]
pub(crate) struct Sorted {
    codec: RowCodec,
    merge: Merge,
    /// The number of rows that are still wanted. `None` means all.
    wanted: Option<usize>,
    /// The number of entries that are still to be delivered. `None` means that some of those that
    /// were kept have been dropped.
    left: Option<u64>,
}

impl Sorted {
    /// Reads the values of the next row, as many as were written for it. Returns false when there
    /// is no further row.
    ///
    /// # Errors
    /// Returns 2 when the temporary file cannot be read, 1034 when it is damaged, and 1317 when the
    /// statement is killed.
    pub fn next(&mut self, values: &mut [Value], ctx: &Context<'_>) -> Result<bool> {
        let Sorted { merge, wanted, left, .. } = self;
        let Some((_, payload)) = next_entry(merge, wanted, left, ctx)? else { return Ok(false) };
        ctx.counters.sort_rows.count();
        ctx.counters.rows_examined.count();
        self.codec.read_row(payload, values)?;
        Ok(true)
    }

    /// Returns the start of the next row's key, and the bytes that [`Sorter::write_by`] or
    /// [`Sorter::keep_text`] has added to the row, or `None` when there is no further row. Rows
    /// with different starts have different keys.
    ///
    /// # Errors
    /// Returns the errors of [`Sorted::next`].
    #[inline]
    pub fn next_keyed(&mut self, ctx: &Context<'_>) -> Result<Option<(&[u8], &[u8])>> {
        let Sorted { merge, wanted, left, .. } = self;
        let next = next_entry(merge, wanted, left, ctx)?;
        if next.is_some() {
            ctx.counters.sort_rows.count();
            ctx.counters.rows_examined.count();
        }
        Ok(next)
    }

    /// Returns the key and the payload of the next entry, or `None` at the end. The key is that of
    /// [`Sorter::push_entry`].
    ///
    /// # Errors
    /// Returns the errors of [`Sorted::next`].
    pub fn next_entry(&mut self, ctx: &Context<'_>) -> Result<Option<(&[u8], &[u8])>> {
        next_entry(&mut self.merge, &mut self.wanted, &mut self.left, ctx)
    }
}

fn next_entry<'m>(
    merge: &'m mut Merge,
    wanted: &mut Option<usize>,
    left: &mut Option<u64>,
    ctx: &Context<'_>,
) -> Result<Option<(&'m [u8], &'m [u8])>> {
    ctx.check_interrupt()?;
    if let Some(wanted) = wanted {
        if *wanted == 0 {
            return Ok(None);
        }
        *wanted -= 1;
    }
    let reads_file = merge.reads_file();
    let next = if merge.has_only_run_in_memory() {
        merge.next_of_only_run()
    } else {
        merge.next()?.map(RunReader::entry)
    };
    if let Some(left) = left {
        // A damaged file may have more entries than were written, or fewer.
        let is_one = u64::from(next.is_some());
        if *left < is_one || next.is_none() && *left > 0 {
            assert!(reads_file, "as many entries are delivered as were kept: {left} are left");
            return Err(damaged());
        }
        *left -= is_one;
    }
    Ok(next.map(|(key, payload)| (key.start, payload)))
}
