//! Temporary files: sorted runs of an index build, and the changes that others make meanwhile.

use crate::error::Result;
use crate::files::io_error;
use os::disk::Disk;
use std::path::Path;

/// A file without a name, whose errors are the engine's.
pub(crate) struct TempFile(os::disk::TempFile);

impl TempFile {
    /// Makes a file in `dir` (`tmpdir`).
    pub fn create(disk: &dyn Disk, dir: &Path) -> Result<TempFile> {
        let file = os::disk::TempFile::create(disk, dir, "sort");
        file.map(TempFile).map_err(|error| io_error(dir, error))
    }

    /// Appends bytes to the file. Returns the offset at which they begin.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        self.0.append(bytes).map_err(|error| io_error(self.0.path(), error))
    }

    pub fn read(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        self.0.read(bytes, at).map_err(|error| io_error(self.0.path(), error))
    }
}
