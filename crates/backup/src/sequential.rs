//! Files of a disk, read and written from their beginning on.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use os::disk::{Disk, File, OpenMode};

use crate::error::{BackupError, Result};

/// The number of bytes that are read at a time.
const PIECE_BYTES: usize = 1 << 20;

/// A file of the disk, read or written from its beginning on.
pub(crate) struct Sequential {
    file: Arc<dyn File>,
    at: u64,
}

impl Sequential {
    pub fn of(file: Arc<dyn File>) -> Sequential {
        Sequential { file, at: 0 }
    }

    pub fn open(disk: &dyn Disk, path: &Path, mode: OpenMode) -> Result<Sequential> {
        let file = disk.open(path, mode).map_err(|error| BackupError::io(path, error))?;
        Ok(Sequential::of(file))
    }

    /// Makes a new file of a backup, in the place of one that a run that was cut short has left.
    pub fn create(disk: &dyn Disk, path: &Path) -> Result<Sequential> {
        let wrong = |error| BackupError::io(path, error);
        if disk.exists(path).map_err(wrong)? {
            disk.remove(path).map_err(wrong)?;
        }
        Sequential::open(disk, path, OpenMode::CreateNew)
    }

    /// Returns the length of the file in bytes.
    pub fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    /// Makes what was written durable.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

impl Read for Sequential {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(bytes, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Write for Sequential {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies all bytes. `unread` and `unwritten` say what an error of each side means.
pub(crate) fn pour(
    from: &mut dyn Read,
    to: &mut dyn Write,
    unread: impl Fn(io::Error) -> BackupError,
    unwritten: impl Fn(io::Error) -> BackupError,
) -> Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut piece).map_err(&unread)? {
            0 => return Ok(()),
            got => to.write_all(&piece[..got]).map_err(&unwritten)?,
        }
    }
}
