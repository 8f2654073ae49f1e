//! The reader of the relay log, which reads it block by block and hands out one event after the
//! other without copying it.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use binlog::event::HEADER_LEN;
use os::disk::File;

use super::files::{RelayLog, RelayPosition};

/// The number of bytes that are read from a file at once.
const BLOCK_BYTES: usize = 512 * 1024;
/// The largest possible event, in bytes (`replica_max_allowed_packet`'s largest value).
const MAX_EVENT_BYTES: usize = 1 << 30;

/// The reason why the relay log cannot be read further.
#[derive(Debug)]
pub enum RelayError {
    /// A file could not be read.
    Io(io::Error),
    /// The bytes at a position of the relay log are no event.
    Damaged {
        /// The position of the first byte that is wrong.
        at: RelayPosition,
        /// What is wrong there, in words.
        what: String,
    },
}

impl fmt::Display for RelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelayError::Io(error) => write!(f, "{error}"),
            RelayError::Damaged { at, what } => {
                write!(f, "relay log file number {}, position {}: {what}", at.file, at.pos)
            }
        }
    }
}

impl std::error::Error for RelayError {}

impl From<io::Error> for RelayError {
    fn from(error: io::Error) -> RelayError {
        RelayError::Io(error)
    }
}

/// The result of [`RelayReader::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// There is an event, which [`RelayReader::event`] returns until the next step.
    Event,
    /// The relay log has no further event for now.
    End,
}

/// A reader of the events in their order. Its position is behind the event that it handed out last.
pub struct RelayReader {
    log: Arc<RelayLog>,
    file: Arc<dyn File>,
    number: u64,
    /// The bytes that were read from the file; only the first `filled` bytes count.
    block: Vec<u8>,
    filled: usize,
    /// The offset in the file of the first byte of `block`.
    block_offset: u64,
    /// The place in `block` of the event that was handed out last.
    event: Range<usize>,
    /// The offset up to which the file was readable when the reader last asked.
    readable: u64,
    complete: bool,
}

impl RelayReader {
    /// Opens a reader at the start of the oldest file.
    pub fn from_start(log: &Arc<RelayLog>) -> Result<RelayReader, RelayError> {
        let number = log.following(0).ok_or_else(|| RelayError::Damaged {
            at: RelayPosition::default(),
            what: "the relay log has no file".to_string(),
        })?;
        RelayReader::at(log, RelayPosition { file: number, pos: 4 })
    }

    /// Opens a reader at the event that begins at `start`.
    pub fn at(log: &Arc<RelayLog>, start: RelayPosition) -> Result<RelayReader, RelayError> {
        let file = log.open_file(start.file)?;
        Ok(RelayReader {
            log: log.clone(),
            file,
            number: start.file,
            block: vec![0; BLOCK_BYTES],
            filled: 0,
            block_offset: start.pos.max(4),
            event: 0..0,
            readable: 0,
            complete: false,
        })
    }

    /// Returns the bytes of the event that the last step found.
    pub fn event(&self) -> &[u8] {
        &self.block[self.event.clone()]
    }

    /// Returns the end of the event that the last step found.
    pub fn position(&self) -> RelayPosition {
        RelayPosition { file: self.number, pos: self.block_offset + self.event.end as u64 }
    }

    /// Moves to the next event.
    ///
    /// # Errors
    /// Returns an error when a file cannot be read, or when the bytes are no event of a permitted
    /// size.
    pub fn step(&mut self) -> Result<Step, RelayError> {
        loop {
            let have = self.filled - self.event.end;
            if have >= HEADER_LEN {
                let size = self.event_size()?;
                if have >= size {
                    self.event = self.event.end..self.event.end + size;
                    return Ok(Step::Event);
                }
                if self.fill(size)? {
                    continue;
                }
            } else if self.fill(HEADER_LEN)? {
                continue;
            }
            if !self.complete {
                return Ok(Step::End);
            }
            if self.filled > self.event.end {
                return Err(self.damaged("the file ends within an event"));
            }
            self.next_file()?;
        }
    }

    fn event_size(&self) -> Result<usize, RelayError> {
        let at = self.event.end + 9;
        let size = u32::from_le_bytes(self.block[at..at + 4].try_into().expect("four bytes")) as usize;
        if !(HEADER_LEN..=MAX_EVENT_BYTES).contains(&size) {
            return Err(self.damaged(&format!("an event of {size} bytes")));
        }
        Ok(size)
    }

    /// Reads on, so that up to `wanted` bytes stand behind the current event. Returns false when
    /// the file has no more bytes now.
    fn fill(&mut self, wanted: usize) -> Result<bool, RelayError> {
        let read_to = self.block_offset + self.filled as u64;
        if read_to >= self.readable {
            (self.readable, self.complete) = self.log.readable(self.number);
            if read_to >= self.readable {
                return Ok(false);
            }
        }
        self.block.copy_within(self.event.end..self.filled, 0);
        self.filled -= self.event.end;
        self.block_offset += self.event.end as u64;
        self.event = 0..0;
        // The block grows for an event that is larger, and shrinks back behind it.
        let room = BLOCK_BYTES.max(wanted);
        if self.block.len() != room {
            self.block.resize(room, 0);
            self.block.shrink_to_fit();
        }
        let length = (self.readable - read_to).min((room - self.filled) as u64) as usize;
        self.file.read_exact_at(&mut self.block[self.filled..self.filled + length], read_to)?;
        self.filled += length;
        Ok(true)
    }

    fn next_file(&mut self) -> Result<(), RelayError> {
        let Some(next) = self.log.following(self.number) else {
            return Err(self.damaged("the file that follows is not in the index"));
        };
        self.file = self.log.open_file(next)?;
        self.number = next;
        self.filled = 0;
        self.event = 0..0;
        self.block_offset = 4;
        self.readable = 0;
        self.complete = false;
        Ok(())
    }

    /// Tells the log that everything up to `done` is applied, so that it removes the files before
    /// it.
    pub fn note_done(&self, done: RelayPosition) -> Result<(), RelayError> {
        Ok(self.log.note_done(done)?)
    }

    /// Waits for at most `limit` until the log has more than was read, or until a nudge.
    pub fn wait(&self, limit: Duration) {
        let read_to = self.block_offset + self.filled as u64;
        self.log.wait_beyond(RelayPosition { file: self.number, pos: read_to }, limit);
    }

    fn damaged(&self, what: &str) -> RelayError {
        RelayError::Damaged { at: self.position(), what: what.to_string() }
    }
}
