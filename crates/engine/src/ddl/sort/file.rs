//! Temporary files: sorted runs of an index build, and the changes that others make meanwhile.

use crate::error::Result;
use crate::files::io_error;
use os::account::{State, enter};
use os::disk::{Disk, File, OpenMode};
use std::path::Path;
use std::sync::Arc;

/// A file without a name: it is gone when it is dropped, and when the process ends.
pub(crate) struct TempFile {
    file: Arc<dyn File>,
    end: u64,
}

impl TempFile {
    /// Makes a file in `dir` (`tmpdir`).
    pub fn create(disk: &dyn Disk, dir: &Path) -> Result<TempFile> {
        let path = dir.join(format!("#sql-sort-{:016x}.tmp", os::random::u64()));
        let file = disk.open(&path, OpenMode::CreateNew).map_err(|error| io_error(&path, error))?;
        disk.remove(&path).map_err(|error| io_error(&path, error))?;
        Ok(TempFile { file, end: 0 })
    }

    /// Writes behind what was written before; returns where.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let _state = enter(State::SortFile);
        let at = self.end;
        self.file.write_all_at(bytes, at).map_err(|error| io_error(self.file.path(), error))?;
        self.end += bytes.len() as u64;
        Ok(at)
    }

    pub fn read(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let _state = enter(State::SortFile);
        self.file.read_exact_at(bytes, at).map_err(|error| io_error(self.file.path(), error))
    }
}
