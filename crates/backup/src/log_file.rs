//! The events of a binary log file, or of a segment of one, read one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use binlog::event::{Event, FLAGS_OFFSET, HEADER_LEN, Header, LOG_POS_OFFSET, flag};
use binlog::{Checksum, Format};
use os::disk::{Disk, File, OpenMode};

use crate::error::{BackupError, Result};

/// The least number of bytes that a read asks for.
const READ_BYTES: u64 = 1 << 20;

/// The events of a file from an offset on.
pub(crate) struct Events {
    file: Arc<dyn File>,
    path: PathBuf,
    /// The format description event, as it stands before events that are not the file's first.
    pub format: Vec<u8>,
    /// The checksum that the events end with.
    pub checksum: Checksum,
    buffer: Vec<u8>,
    /// The offset in the file where the buffer begins.
    buffer_at: u64,
    /// The offset in the buffer of the next event.
    at: usize,
    /// The offset of the next event in the server's file.
    pos: u64,
}

impl Events {
    /// Opens a file whose first event is at `from` in the server's file. In a segment that event
    /// follows the format description; otherwise it is at that offset.
    pub fn open(disk: &dyn Disk, path: &Path, from: u64, is_segment: bool) -> Result<Events> {
        let file = disk.open(path, OpenMode::Read).map_err(|error| BackupError::io(path, error))?;
        let mut events = Events {
            file,
            path: path.to_owned(),
            format: Vec::new(),
            checksum: Checksum::Crc32,
            buffer: Vec::new(),
            buffer_at: 0,
            at: 0,
            pos: 4,
        };
        if !events.fill(binlog::MAGIC.len())? || !events.buffer.starts_with(&binlog::MAGIC) {
            return Err(BackupError::damaged(path.display(), "it is no binary log file"));
        }
        events.at = binlog::MAGIC.len();
        let format = events.next_event()?.map(|(_, event)| event.to_vec());
        let mut format =
            format.ok_or_else(|| BackupError::damaged(path.display(), "it has no format description"))?;
        // The file may be one that a server still writes. The event's checksum is that without this
        // flag.
        format[FLAGS_OFFSET] &= !(flag::BINLOG_IN_USE as u8);
        let decoded = binlog::decode(&format, &Format::new(Checksum::Crc32));
        events.checksum = match decoded {
            Ok((_, Event::FormatDescription(format))) => format.checksum,
            _ => {
                return Err(BackupError::damaged(
                    path.display(),
                    "it does not begin with a format description",
                ));
            }
        };
        events.format = format;
        if from > 4 {
            events.format = without_place(events.format);
            if !is_segment {
                (events.buffer, events.buffer_at, events.at) = (Vec::new(), from, 0);
            }
            events.pos = from;
        }
        Ok(events)
    }

    /// Returns the offset of the next event in the server's file, and the event. `None` means the
    /// end. An event that is cut short at the end of the file counts as the end.
    pub fn next_event(&mut self) -> Result<Option<(u64, &[u8])>> {
        if !self.fill(HEADER_LEN)? {
            return Ok(None);
        }
        let header = Header::decode(&self.buffer[self.at..]).map_err(|error| {
            BackupError::damaged(self.path.display(), format!("at {}: {error}", self.pos))
        })?;
        let size = header.event_size as usize;
        if size < HEADER_LEN {
            return Err(BackupError::damaged(
                self.path.display(),
                format!("at {}: no event has {size} bytes", self.pos),
            ));
        }
        if !self.fill(size)? {
            return Ok(None);
        }
        let (start, pos) = (self.at, self.pos);
        self.at += size;
        self.pos += size as u64;
        Ok(Some((pos, &self.buffer[start..start + size])))
    }

    /// Makes the buffer hold so many bytes from the next event on. Returns false when the file ends
    /// before.
    fn fill(&mut self, bytes: usize) -> Result<bool> {
        if self.buffer.len() - self.at >= bytes {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.buffer_at += self.at as u64;
        self.at = 0;
        let wrong = |error| BackupError::io(&self.path, error);
        // An event's size is trusted only as far as the file is long.
        let len = self.file.len_bytes().map_err(wrong)?;
        let end = len.min(self.buffer_at + (bytes as u64).max(READ_BYTES));
        let have = self.buffer.len();
        let more = end.saturating_sub(self.buffer_at + have as u64) as usize;
        self.buffer.resize(have + more, 0);
        let got = self.file.read_at(&mut self.buffer[have..], self.buffer_at + have as u64).map_err(wrong)?;
        self.buffer.truncate(have + got);
        Ok(self.buffer.len() >= bytes)
    }
}

/// Returns a format description event that has no place in a file, as a server sends it before
/// events from the middle of one.
pub(crate) fn without_place(mut event: Vec<u8>) -> Vec<u8> {
    event[LOG_POS_OFFSET..LOG_POS_OFFSET + 4].fill(0);
    // The event ends with a checksum whatever the others do.
    let end = event.len() - Checksum::Crc32.len_bytes();
    let crc = binlog::checksum::crc32(&event[..end]);
    event[end..].copy_from_slice(&crc.to_le_bytes());
    event
}
