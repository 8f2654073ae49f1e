//! The writer of the relay log, which gathers events in memory and writes them in blocks.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use os::account::{State, enter};
use os::disk::File;

use super::files::{RelayLog, RelayPosition};

/// The number of gathered bytes at which they are written.
const BLOCK_BYTES: usize = 256 * 1024;

/// The one writer of a relay log. The reader sees appended events after [`RelayWriter::flush`].
pub struct RelayWriter {
    log: Arc<RelayLog>,
    file: Arc<dyn File>,
    /// The position in the log at which `gathered` begins.
    written: RelayPosition,
    gathered: Vec<u8>,
    /// The source's last rotate and format description events, which stand at the head of every
    /// file.
    rotate_at_head: Vec<u8>,
    format_at_head: Vec<u8>,
}

impl RelayWriter {
    /// Opens a writer that goes on at the end of the log, in a new file.
    pub fn open(log: &Arc<RelayLog>) -> io::Result<RelayWriter> {
        let (_, file) = log.next_file()?;
        Ok(RelayWriter {
            log: log.clone(),
            file,
            written: log.end(),
            gathered: Vec::with_capacity(BLOCK_BYTES + 4096),
            rotate_at_head: Vec::new(),
            format_at_head: Vec::new(),
        })
    }

    /// Appends one event.
    pub fn append(&mut self, event: &[u8]) -> io::Result<()> {
        self.gathered.extend_from_slice(event);
        if self.gathered.len() >= BLOCK_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Appends a rotate event. `at_head` is the form of it that stands at the head of later files.
    pub fn append_rotate(&mut self, event: &[u8], at_head: Vec<u8>) -> io::Result<()> {
        self.rotate_at_head = at_head;
        self.append(event)
    }

    /// Appends the source's format description event, which later files repeat at their head.
    pub fn append_format(&mut self, event: &[u8]) -> io::Result<()> {
        self.format_at_head.clear();
        self.format_at_head.extend_from_slice(event);
        self.append(event)
    }

    /// Writes the gathered events and publishes them to the reader.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let _state = enter(State::RelayLogWrite);
        self.file.write_all_at(&self.gathered, self.written.pos)?;
        self.written.pos += self.gathered.len() as u64;
        self.gathered.clear();
        self.log.publish(self.written);
        Ok(())
    }

    /// Ends an event group: begins a new file when the present one has reached its size, and waits
    /// for room where space is limited. `Ok(false)` means that `stop` ended the wait.
    pub fn end_of_group(&mut self, stop: &dyn Fn() -> bool) -> io::Result<bool> {
        let limit = self.log.max_file_bytes.load(Ordering::Relaxed);
        if limit != 0 && self.position().pos >= limit {
            self.rotate()?;
        }
        if self.log.config.space_limit_bytes != 0 {
            self.flush()?;
            return Ok(self.log.wait_for_space(stop));
        }
        Ok(true)
    }

    /// Begins a new file, with the source's rotate and format description events at its head.
    pub fn rotate(&mut self) -> io::Result<()> {
        self.flush()?;
        let (_, file) = self.log.next_file()?;
        self.file = file;
        self.written = self.log.end();
        self.gathered.extend_from_slice(&self.rotate_at_head);
        self.gathered.extend_from_slice(&self.format_at_head);
        Ok(())
    }

    /// Returns the position at which the next event begins.
    pub fn position(&self) -> RelayPosition {
        RelayPosition { file: self.written.file, pos: self.written.pos + self.gathered.len() as u64 }
    }
}
