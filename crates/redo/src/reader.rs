//! Readers, which read records back, up to the live end of the log.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use os::account::{self, State};
use os::clock::Stopwatch;

use crate::core::Core;
use crate::frame::{FRAME_BYTES, Frame};
use crate::open::read_stream;
use crate::{Lsn, RedoError};

/// The number of bytes asked of the file at once, unless a record is larger.
const READ_BYTES: usize = 256 << 10;

/// A record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The record's kind, see [`crate::kind`].
    pub kind: u8,
    /// The LSN of the record's first byte.
    pub start_lsn: Lsn,
    /// The position after the record's last byte.
    pub lsn: Lsn,
    /// The payload that was given to [`crate::Reservation::fill`].
    pub payload: Vec<u8>,
}

/// The place and kind of a record, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHead {
    /// The record's kind, see [`crate::kind`].
    pub kind: u8,
    /// The LSN of the record's first byte.
    pub start_lsn: Lsn,
    /// The position after the record's last byte.
    pub lsn: Lsn,
}

/// Records that lie one behind the other in the log, read in one piece.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    start_lsn: Lsn,
    /// The kind of each record, and the place of its payload in `bytes`.
    records: Vec<(u8, Range<usize>)>,
}

/// A record of a [`Batch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRecord<'b> {
    /// The record's kind, see [`crate::kind`].
    pub kind: u8,
    /// The LSN of the record's first byte.
    pub start_lsn: Lsn,
    /// The position after the record's last byte.
    pub lsn: Lsn,
    /// The payload that was given to [`crate::Reservation::fill`].
    pub payload: &'b [u8],
}

impl Batch {
    /// Returns how many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Reports whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the records from number `range.start` up to `range.end`, in the order of the log.
    pub fn records(&self, range: Range<usize>) -> impl Iterator<Item = BatchRecord<'_>> {
        self.records[range].iter().map(|(kind, place)| BatchRecord {
            kind: *kind,
            start_lsn: self.start_lsn + (place.start - FRAME_BYTES) as u64,
            lsn: self.start_lsn + place.end as u64,
            payload: &self.bytes[place.clone()],
        })
    }

    /// Returns the piece of the log that all payloads are parts of.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads records in the order of the log, from a record's start on, and waits for more at the live
/// end. It reads written bytes from the files, in large pieces. Recently written bytes come from
/// the page cache.
pub struct LogReader {
    core: Arc<Core>,
    lsn: Lsn,
    /// A buffer, whose first `filled` bytes are the stream from `window_lsn` on. It does not shrink
    /// for a shorter piece, since growing it again would write zeros for nothing.
    window: Vec<u8>,
    filled: usize,
    window_lsn: Lsn,
    /// The place in `window` of the last record's payload.
    payload: Range<usize>,
}

impl LogReader {
    pub(crate) fn new(core: Arc<Core>, lsn: Lsn) -> LogReader {
        LogReader { core, lsn, window: Vec::new(), filled: 0, window_lsn: lsn, payload: 0..0 }
    }

    /// Returns the position of the next record.
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// Returns the next record, or `None` when there is none. Without `wait` it returns at once.
    /// With `wait` it returns `None` when no record has come within this time or the log is being
    /// closed.
    ///
    /// A record comes out once it is written, which may be before it is durable. Records are
    /// written soon when somebody waits for them or asked for it, within some milliseconds
    /// otherwise.
    ///
    /// # Errors
    /// Returns [`RedoError::Gone`] when a checkpoint has passed this reader and the bytes are
    /// recycled, [`RedoError::Corrupt`] when the file holds no record here though one was written,
    /// and [`RedoError::Poisoned`] at the end of a log that has failed.
    pub fn next(&mut self, wait: Option<Duration>) -> Result<Option<Record>, RedoError> {
        let Some(RecordHead { kind, start_lsn, lsn }) = self.advance(wait)? else { return Ok(None) };
        Ok(Some(Record { kind, start_lsn, lsn, payload: self.payload().to_vec() }))
    }

    /// Goes to the next record as [`LogReader::next`] does, but leaves the payload where it was
    /// read: [`LogReader::payload`] returns it.
    ///
    /// # Errors
    /// Returns the errors of [`LogReader::next`].
    pub fn advance(&mut self, wait: Option<Duration>) -> Result<Option<RecordHead>, RedoError> {
        // A write may end anywhere, also within a frame: at the end of the ring or of a file.
        let header_end = self.lsn + FRAME_BYTES as u64;
        if self.core.written() < header_end && !self.wait_for_more(header_end, wait)? {
            return Ok(None);
        }
        let seed = self.core.lives.seed_at(self.lsn);
        let start_lsn = self.lsn;
        let header = self.get(FRAME_BYTES)?;
        let decoded = Frame::decode(self.window[header].try_into().expect("as asked"), start_lsn);
        let Some(frame) = decoded else { return Err(self.nothing_here()) };
        let lsn = start_lsn + frame.total_bytes();
        // A record that is larger than the ring is written in parts: its start may be in the file
        // when its end is not yet.
        if self.core.written() < lsn && !self.wait_until(lsn, wait)? {
            return Ok(None);
        }
        let record = self.get(frame.total_bytes() as usize)?;
        let payload = record.start + FRAME_BYTES..record.end;
        if !frame.matches(seed, start_lsn, &self.window[payload.clone()]) {
            return Err(self.nothing_here());
        }
        self.lsn = lsn;
        self.payload = payload;
        Ok(Some(RecordHead { kind: frame.kind, start_lsn, lsn }))
    }

    /// Returns the payload of the record that [`LogReader::advance`] returned last.
    pub fn payload(&self) -> &[u8] {
        &self.window[self.payload.clone()]
    }

    /// Reads the whole records of the next `bytes` bytes into `batch`, whose memory is used again:
    /// at least one record, and none that ends behind `end`. Returns false, with an empty batch,
    /// when the reader is at `end`, which is written. This is for recovery: records that opening
    /// the log has checked are not checked again.
    ///
    /// # Errors
    /// Returns the errors of [`LogReader::next`].
    pub fn next_batch(&mut self, end: Lsn, bytes: usize, batch: &mut Batch) -> Result<bool, RedoError> {
        batch.records.clear();
        batch.start_lsn = self.lsn;
        // Memory that a large record needed is given back.
        if batch.bytes.capacity() > 2 * bytes {
            batch.bytes = Vec::new();
        }
        let mut wanted = bytes.max(FRAME_BYTES);
        while self.lsn < end && batch.records.is_empty() {
            wanted = wanted.min((end - self.lsn) as usize);
            batch.bytes.resize(wanted, 0);
            if self.lsn < self.core.files.oldest_lsn() {
                return Err(self.gone());
            }
            if read_stream(&self.core.files, self.lsn, &mut batch.bytes)? != wanted {
                return Err(self.nothing_here());
            }
            match self.take_records(batch)? {
                0 => {}
                // The first record is longer than what was read.
                needed => wanted = needed,
            }
        }
        Ok(!batch.is_empty())
    }

    /// Notes the whole records of the batch's bytes and moves the reader behind them. Returns 0, or
    /// the length of the first record in bytes when not even that one is whole.
    fn take_records(&mut self, batch: &mut Batch) -> Result<usize, RedoError> {
        let mut at = 0;
        while let Some(header) = batch.bytes.get(at..at + FRAME_BYTES) {
            let (seed, start_lsn) = (self.core.lives.seed_at(self.lsn), self.lsn);
            let Some(frame) = Frame::decode(header.try_into().expect("as asked"), start_lsn) else {
                return Err(self.nothing_here());
            };
            let place = at + FRAME_BYTES..at + frame.total_bytes() as usize;
            let Some(payload) = batch.bytes.get(place.clone()) else {
                let first = batch.records.is_empty();
                // No record goes beyond what is written.
                if first && start_lsn + frame.total_bytes() > self.core.written() {
                    return Err(self.nothing_here());
                }
                return Ok(if first { place.end } else { 0 });
            };
            if start_lsn >= self.core.opened_lsn && !frame.matches(seed, start_lsn, payload) {
                return Err(self.nothing_here());
            }
            at = place.end;
            batch.records.push((frame.kind, place));
            self.lsn += frame.total_bytes();
        }
        Ok(0)
    }

    fn wait_for_more(&self, lsn: Lsn, wait: Option<Duration>) -> Result<bool, RedoError> {
        match wait {
            None => self.core.check().map(|()| false),
            Some(_) => self.wait_until(lsn, wait),
        }
    }

    /// Waits until the log is written up to `lsn`, at most for `wait`. Returns whether it is.
    fn wait_until(&self, lsn: Lsn, wait: Option<Duration>) -> Result<bool, RedoError> {
        let since = Stopwatch::start();
        let _idle = account::enter(State::Idle);
        loop {
            let waiter = self.core.written.prepare();
            if self.core.written() >= lsn {
                return Ok(true);
            }
            self.core.check()?;
            let left = since.remaining(wait.unwrap_or_default());
            if left.is_zero() || self.core.is_closing() {
                return Ok(false);
            }
            waiter.wait(Some(left));
        }
    }

    /// Returns the place in the window of the `len` bytes at the reader's position. All of them are
    /// written.
    fn get(&mut self, len: usize) -> Result<Range<usize>, RedoError> {
        if (self.lsn - self.window_lsn) as usize + len > self.filled {
            self.refill(len)?;
        }
        let from = (self.lsn - self.window_lsn) as usize;
        Ok(from..from + len)
    }

    fn refill(&mut self, len: usize) -> Result<(), RedoError> {
        let written = (self.core.written() - self.lsn) as usize;
        assert!(len <= written, "{len} bytes are wanted at {}, {written} are written", self.lsn);
        (self.payload, self.filled) = (0..0, 0);
        let wanted = READ_BYTES.min(written).max(len);
        // A window that a large record made large is given back when a small one follows.
        if self.window.len() > 4 * READ_BYTES.max(wanted) {
            self.window = Vec::new();
        }
        if self.window.len() < wanted {
            self.window.resize(wanted, 0);
        }
        self.window_lsn = self.lsn;
        if self.lsn < self.core.files.oldest_lsn() {
            return Err(self.gone());
        }
        if read_stream(&self.core.files, self.lsn, &mut self.window[..wanted])? != wanted {
            return Err(self.nothing_here());
        }
        self.filled = wanted;
        Ok(())
    }

    fn clear_window(&mut self) {
        (self.payload, self.filled) = (0..0, 0);
    }

    fn gone(&mut self) -> RedoError {
        self.clear_window();
        RedoError::Gone { lsn: self.lsn, oldest_lsn: self.core.files.oldest_lsn() }
    }

    /// Returns the error for a reader at whose position there is no record: the log has been
    /// recycled, or it is damaged.
    fn nothing_here(&mut self) -> RedoError {
        if self.lsn < self.core.files.oldest_lsn() {
            return self.gone();
        }
        self.clear_window();
        let place = self.core.files.find(self.lsn);
        let place =
            place.map(|file| format!("{}, offset {}", file.file.path().display(), file.offset(self.lsn)));
        RedoError::Corrupt(format!("no record at {} ({})", self.lsn, place.unwrap_or("no file".into())))
    }
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "LogReader({})", self.lsn)
    }
}
