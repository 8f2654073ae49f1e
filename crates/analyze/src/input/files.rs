//! Binary log files: finding them in a directory, and reading their events one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use binlog::DecodeError;
use binlog::event::{HEADER_LEN, flag};
use binlog::reader::event_len;
use os::disk::{Disk, File, OpenMode};

use crate::error::AnalyzeError;

/// The first bytes of an encrypted file.
const ENCRYPTED_MAGIC: [u8; 4] = [0xfd, b'b', b'i', b'n'];
/// The least number of bytes that a read asks for.
const READ_BYTES: usize = 1 << 20;

/// Returns the files that a path names: the file itself, or the binary logs of the directory in the
/// order of their numbers.
pub fn find(disk: &dyn Disk, path: &Path) -> Result<Vec<PathBuf>, AnalyzeError> {
    if !disk.is_dir(path)? {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found: Vec<(Kind, String, u64, PathBuf)> = Vec::new();
    for file in disk.list(path)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((base, number)) = name.rsplit_once('.') else { continue };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if let (true, Ok(number)) = (is_number, number.parse())
            && let Some(kind) = kind_of_log(disk, &file)?
        {
            found.push((kind, base.to_string(), number, file));
        }
    }
    // A replica's data directory has binary and relay logs. Relay logs must be named themselves.
    if found.iter().any(|(kind, ..)| *kind == Kind::Binary) {
        found.retain(|(kind, ..)| *kind == Kind::Binary);
    }
    let mut found: Vec<(String, u64, PathBuf)> =
        found.into_iter().map(|(_, base, number, file)| (base, number, file)).collect();
    found.sort();
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        return Err(AnalyzeError::Directory(format!("there is no binary log in {}", path.display())));
    };
    if first.0 != last.0 {
        return Err(AnalyzeError::Directory(format!(
            "there are several series of logs in {}, {}.* and {}.*: name the files of one",
            path.display(),
            first.0,
            last.0
        )));
    }
    Ok(found.into_iter().map(|(_, _, file)| file).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Binary,
    Relay,
}

/// Returns the kind of log that a file is. A relay log's first event has a flag. `None` means that
/// the file is no log.
fn kind_of_log(disk: &dyn Disk, path: &Path) -> Result<Option<Kind>, AnalyzeError> {
    let mut head = [0; 4 + HEADER_LEN];
    let read = disk.open(path, OpenMode::Read)?.read_at(&mut head, 0)?;
    let (magic, event) = head[..read].split_at(read.min(4));
    if magic != binlog::MAGIC && magic != ENCRYPTED_MAGIC {
        return Ok(None);
    }
    let is_relay = binlog::Header::decode(event).is_ok_and(|header| header.flags & flag::RELAY_LOG != 0);
    Ok(Some(if is_relay { Kind::Relay } else { Kind::Binary }))
}

/// The events of one file, read through a buffer.
pub struct FileEvents {
    file: Arc<dyn File>,
    name: String,
    buffer: Vec<u8>,
    /// The offset in the file where the buffer begins.
    buffer_pos: u64,
    /// The offset in the buffer where the next event begins.
    at: usize,
}

impl FileEvents {
    /// Opens a file, which must be a binary log.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<FileEvents, AnalyzeError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = disk.open(path, OpenMode::Read)?;
        let mut events = FileEvents { file, name, buffer: Vec::new(), buffer_pos: 0, at: 0 };
        events.fill(binlog::MAGIC.len())?;
        if events.buffer.starts_with(&ENCRYPTED_MAGIC) {
            return Err(AnalyzeError::Encrypted(events.name));
        }
        if !events.buffer.starts_with(&binlog::MAGIC) {
            let what = "no binary log file: it does not start with fe 62 69 6e";
            return Err(events.damaged(DecodeError { offset: 0, what }));
        }
        events.at = binlog::MAGIC.len();
        Ok(events)
    }

    /// Returns the file's name without its directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the next event and its offset in the file. `None` means the end. An event that is
    /// cut short at the end of the file is still being written, and counts as the end.
    pub fn next_event(&mut self) -> Result<Option<(&[u8], u64)>, AnalyzeError> {
        if !self.fill(HEADER_LEN)? {
            return Ok(None);
        }
        let header = binlog::Header::decode(&self.buffer[self.at..]).map_err(|error| self.damaged(error))?;
        let size = header.event_size as usize;
        if size < HEADER_LEN {
            let error = event_len(&self.buffer[self.at..]).expect_err("too small a size is refused");
            return Err(self.damaged(error));
        }
        if !self.fill(size)? {
            return Ok(None);
        }
        let (start, pos) = (self.at, self.buffer_pos + self.at as u64);
        self.at += size;
        Ok(Some((&self.buffer[start..start + size], pos)))
    }

    /// Makes the buffer hold this many bytes from the next event on. Returns false when the file
    /// ends before.
    fn fill(&mut self, bytes: usize) -> Result<bool, AnalyzeError> {
        if self.buffer.len() - self.at >= bytes {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.buffer_pos += self.at as u64;
        self.at = 0;
        // An event's size is trusted only as far as the file is long.
        let wanted = bytes.max(READ_BYTES) as u64;
        let end = self.file.len_bytes()?.min(self.buffer_pos + wanted);
        let have = self.buffer.len();
        let more = end.saturating_sub(self.buffer_pos + have as u64) as usize;
        self.buffer.resize(have + more, 0);
        let read = self.file.read_at(&mut self.buffer[have..], self.buffer_pos + have as u64)?;
        self.buffer.truncate(have + read);
        Ok(self.buffer.len() >= bytes)
    }

    fn damaged(&self, error: DecodeError) -> AnalyzeError {
        AnalyzeError::Event { file: self.name.clone(), pos: self.buffer_pos + self.at as u64, error }
    }
}
