//! The data directory: whose it is, whether it is new, and the lock that keeps a second server out.

pub mod auto_cnf;
mod format;

use format::FormatError;
use os::disk::{Disk, LockGuard};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The file whose lock a running server holds.
const LOCK_FILE: &str = "slipstream.lock";
/// The engine's system tablespace: where it is, the directory has been initialised.
const SYSTEM_FILE: &str = "mysql.ibd";

/// Why a data directory cannot be used.
#[derive(Debug)]
pub enum DatadirError {
    /// Another server uses it.
    InUse(PathBuf),
    /// There are files in it that are not ours.
    NotOurs(PathBuf, String),
    /// Another server's format, or none that can be told.
    Format(FormatError),
    /// It was made by a server, but the system tablespace is gone.
    Incomplete(PathBuf),
    /// `--initialize` of a directory that has been initialised.
    NotEmpty(PathBuf),
    /// The operating system said no.
    Io(PathBuf, io::Error),
}

impl fmt::Display for DatadirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatadirError::InUse(path) => {
                write!(
                    f,
                    "Another server is running on the data directory '{}': it holds the lock on {LOCK_FILE}",
                    path.display()
                )
            }
            DatadirError::NotOurs(path, file) => write!(
                f,
                "The data directory '{}' has files in it (for instance '{file}') but was not made by this server",
                path.display()
            ),
            DatadirError::Incomplete(path) => write!(
                f,
                "{}: the system tablespace is missing, but the data directory has a redo log that belongs to it. Put the file back, or \
                 restore the whole data directory from a backup",
                path.join(SYSTEM_FILE).display()
            ),
            DatadirError::NotEmpty(path) => write!(
                f,
                "--initialize specified but the data directory '{}' has files in it. Aborting.",
                path.display()
            ),
            DatadirError::Format(e) => write!(f, "{e}"),
            DatadirError::Io(path, e) => {
                write!(f, "The data directory '{}' is unusable: {e}", path.display())
            }
        }
    }
}

impl std::error::Error for DatadirError {}

/// A data directory that is ours for as long as this lives.
#[derive(Debug)]
pub struct Datadir {
    /// Absolute.
    pub path: PathBuf,
    /// Nothing was in it.
    pub is_new: bool,
    _lock: LockGuard,
}

/// Takes a data directory. With `initialize` it must be empty.
pub fn take(disk: &dyn Disk, path: &Path, initialize: bool) -> Result<Datadir, DatadirError> {
    let wrong = |e: io::Error| DatadirError::Io(path.to_owned(), e);
    disk.create_dir_all(path).map_err(wrong)?;
    if !disk.is_dir(path).map_err(wrong)? {
        return Err(wrong(io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory")));
    }
    let has_system = disk.exists(&path.join(SYSTEM_FILE)).map_err(wrong)?;
    // What lies about in an empty directory: a file system's own, hidden files, and what a start
    // that failed left.
    let is_foreign = |name: &str| {
        !(name.starts_with('.')
            || name == "lost+found"
            || name == LOCK_FILE
            || name == "auto.cnf"
            || name == format::FORMAT_FILE
            || name.ends_with(".pid"))
    };
    let names: Vec<String> = disk
        .list(path)
        .map_err(wrong)?
        .iter()
        .filter_map(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()))
        .filter(|name| is_foreign(name))
        .collect();
    if initialize && !names.is_empty() {
        return Err(DatadirError::NotEmpty(path.to_owned()));
    }
    let lock = disk.lock(&path.join(LOCK_FILE)).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => DatadirError::InUse(path.to_owned()),
        _ => wrong(e),
    })?;
    // A start that was killed in the middle of initialising leaves the redo log's directory, which
    // is begun anew.
    let other = names.iter().find(|name| *name != "#innodb_redo");
    if let (false, Some(name)) = (has_system, other) {
        if names.iter().any(|name| name == "#innodb_redo") {
            return Err(DatadirError::Incomplete(path.to_owned()));
        }
        return Err(DatadirError::NotOurs(path.to_owned(), name.clone()));
    }
    format::check(disk, path).map_err(DatadirError::Format)?;
    Ok(Datadir { path: path.to_owned(), is_new: !has_system, _lock: lock })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_taken_once_and_only_when_it_is_ours() {
        let disk = os::sim::SimDisk::new(1);
        let path = Path::new("/data");
        let taken = take(&disk, path, true).unwrap();
        assert!(taken.is_new);
        assert!(matches!(take(&disk, path, false), Err(DatadirError::InUse(_))));
        drop(taken);
        disk.write_atomically(&path.join(SYSTEM_FILE), b"x").unwrap();
        assert!(!take(&disk, path, false).unwrap().is_new);
        assert!(matches!(take(&disk, path, true), Err(DatadirError::NotEmpty(_))));
        disk.create_dir_all(Path::new("/other")).unwrap();
        disk.write_atomically(Path::new("/other/ibdata1"), b"x").unwrap();
        let error = take(&disk, Path::new("/other"), false).unwrap_err();
        assert!(error.to_string().contains("ibdata1"), "{error}");
        disk.create_dir_all(Path::new("/other/#innodb_redo")).unwrap();
        let error = take(&disk, Path::new("/other"), false).unwrap_err();
        assert!(error.to_string().starts_with("/other/mysql.ibd"), "{error}");
    }
}
