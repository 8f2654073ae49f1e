//! Where the files of the data directory are, and how errors about them read.
//!
//! In come names of schemas and tables; out go paths. A path depends on names alone, so recovery
//! finds the file of a table without anything but the dictionary.

use crate::dictionary::file_name;
use crate::error::{EngineError, Result};

/// The error of something that was done to a file or a directory.
pub(crate) fn io_error(place: &std::path::Path, error: std::io::Error) -> EngineError {
    EngineError::Io(place.display().to_string(), error)
}

/// Makes a directory, if it does not exist, and its name durable.
pub(crate) fn make_dir(disk: &dyn os::disk::Disk, dir: &std::path::Path) -> Result<()> {
    if disk.is_dir(dir).map_err(|error| io_error(dir, error))? {
        return Ok(());
    }
    disk.create_dir_all(dir).map_err(|error| io_error(dir, error))?;
    let parent = dir.parent().unwrap_or(std::path::Path::new(""));
    disk.sync_dir(parent).map_err(|error| io_error(parent, error))
}

/// Where a table's file is in a data directory.
pub(crate) fn table_path(datadir: &std::path::Path, schema: &str, table: &str) -> std::path::PathBuf {
    datadir.join(file_name(schema)).join(format!("{}.ibd", file_name(table)))
}

/// Where a space's file waits for its table's name to become free.
pub(crate) fn aside(path: &std::path::Path, space: buffer::SpaceId) -> std::path::PathBuf {
    path.with_file_name(format!("#sql-{space}.ibd"))
}
