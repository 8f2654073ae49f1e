//! The files of LOAD DATA from a source that logs statements. Blocks of a file come before the
//! statement, and are kept in `tmpdir` until the statement has loaded them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use binlog::event::LoadBlock;
use os::disk::{Disk, TempFile};

/// The files of a group that have not been loaded yet, by their numbers at the source. The files
/// have no names, so each is removed when its value is dropped.
#[derive(Default)]
pub(super) struct LoadedFiles(BTreeMap<u32, TempFile>);

impl LoadedFiles {
    /// Reports whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Begins a file in directory `dir`.
    pub fn begin(&mut self, file_id: u32, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        let file = TempFile::create(disk, dir, "load")?;
        self.0.insert(file_id, file);
        Ok(())
    }

    /// Appends a block to its file. Returns false when the file was not begun.
    pub fn append(&mut self, block: &LoadBlock<'_>) -> io::Result<bool> {
        match self.0.get_mut(&block.file_id) {
            Some(file) => file.append(block.bytes).map(|_| true),
            None => Ok(false),
        }
    }

    /// Removes a file from the list and returns it.
    pub fn remove(&mut self, file_id: u32) -> Option<TempFile> {
        self.0.remove(&file_id)
    }
}
