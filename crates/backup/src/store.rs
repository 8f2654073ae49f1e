//! The place of a backup: a directory or a part of an object store, behind one trait.

use std::io::{Read, Write};

use os::disk::LockGuard;

use crate::error::Result;

/// What a manifest was when it was read. It says whether another run has replaced it since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Version {
    /// The whole content, where the place has no versions of its own.
    Content(Vec<u8>),
    /// The marks by which an object store tells versions apart.
    Object {
        /// The entity tag.
        e_tag: Option<String>,
        /// The number of the version, in stores that number them.
        version: Option<String>,
    },
}

/// A file of a place, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The path in the place, with `/` between its parts.
    pub path: String,
    /// The time of the last change, in microseconds of Unix time. `None` where the place does not
    /// tell.
    pub changed_us: Option<u64>,
}

/// A file that is being written. It is there, durably, once [`Sink::finish`] has returned. A file
/// that is dropped before that does not count and may be left behind.
pub(crate) trait Sink: Write {
    /// Ends the file.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A place that holds files under relative paths with `/` between their parts.
pub(crate) trait Store {
    /// Returns the name by which messages call a file, or with an empty path the place itself.
    fn name(&self, path: &str) -> String;

    /// Opens a file, to be read from its beginning on.
    ///
    /// # Errors
    /// Returns [`crate::BackupError::Missing`] when it does not exist.
    fn open(&self, path: &str) -> Result<Box<dyn Read + '_>>;

    /// Makes a file, and replaces one that is there. `expected_bytes` is a guess of its length.
    fn create(&self, path: &str, expected_bytes: u64) -> Result<Box<dyn Sink + '_>>;

    /// Removes a file. One that does not exist is no error.
    fn remove(&self, path: &str) -> Result<()>;

    /// Removes a directory with everything in it, where the place has directories.
    fn remove_dir(&self, path: &str) -> Result<()>;

    /// Claims a directory of the place for this process, until the guard is dropped. `None` means
    /// that another process has claimed it, or that the place has no directories.
    fn claim(&self, path: &str) -> Result<Option<LockGuard>>;

    /// Returns the path under which [`Store::list`] shows a file.
    fn listed_as(&self, path: &str) -> String;

    /// Returns all files of the place.
    fn list(&self) -> Result<Vec<Listed>>;

    /// Reads a whole small file and its version. `None` means that it does not exist.
    fn read_version(&self, path: &str) -> Result<Option<(Vec<u8>, Version)>>;

    /// Reads a whole small file and its version if it is not the version `seen` any more. `None`
    /// means that it is, or that the file does not exist.
    fn read_newer(&self, path: &str, seen: &Version) -> Result<Option<(Vec<u8>, Version)>>;

    /// Puts a small file in the place of the version `seen`, in one step; `None` stands for no
    /// file. Returns the new version, or `None` when the file is not the version `seen` any more.
    /// Then nothing has changed.
    fn replace(&self, path: &str, bytes: &[u8], seen: Option<&Version>) -> Result<Option<Version>>;
}

/// Reads all of a file into memory. It is for small files.
pub(crate) fn read_all(from: &mut dyn Read, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|error| crate::error::BackupError::unread(name, error))?;
    Ok(bytes)
}
