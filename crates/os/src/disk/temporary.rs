//! Temporary files without a name.

use super::interface::{Disk, File, OpenMode};
use crate::account::{State, enter};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is gone when this value is dropped, and when the process ends. It is written from
/// its beginning to its end, and read anywhere.
#[derive(Debug)]
pub struct TempFile {
    file: Arc<dyn File>,
    end: u64,
}

impl TempFile {
    /// Makes a file in `dir`. Its name, which begins with `#sql-` and `what`, is removed at once.
    pub fn create(disk: &dyn Disk, dir: &Path, what: &str) -> io::Result<TempFile> {
        let path: PathBuf = dir.join(format!("#sql-{what}-{:016x}.tmp", crate::random::u64()));
        let file = disk.open(&path, OpenMode::CreateNew)?;
        disk.remove(&path)?;
        Ok(TempFile { file, end: 0 })
    }

    /// Returns the path that the file had.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the number of bytes that were written.
    pub fn len_bytes(&self) -> u64 {
        self.end
    }

    /// Writes behind the bytes that were written before, and returns the offset. After an error the
    /// bytes may be written in part, and count as not written.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let _state = enter(State::SortFile);
        let at = self.end;
        self.file.write_all_at(bytes, at)?;
        self.end += bytes.len() as u64;
        Ok(at)
    }

    /// Reads bytes that were written before.
    pub fn read(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let _state = enter(State::SortFile);
        self.file.read_exact_at(bytes, at)
    }
}
