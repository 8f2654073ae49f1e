//! The data directory: its owner, whether it is new, and the lock that keeps a second server out.

pub mod auto_cnf;
mod format;

use format::FormatError;
use os::disk::{Disk, LockGuard};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The file whose lock a running server holds.
const LOCK_FILE: &str = "slipstream.lock";
/// The engine's system tablespace. A directory that has it has been initialised.
pub const SYSTEM_FILE: &str = "mysql.ibd";

/// The reason why a data directory cannot be used.
#[derive(Debug)]
pub enum DatadirError {
    /// Another server uses the directory.
    InUse(PathBuf),
    /// The directory has files of another program, of which one is named.
    NotOurs(PathBuf, String),
    /// The directory has another server's format, or an unknown one.
    Format(FormatError),
    /// A server made the directory, but its system tablespace is missing.
    Incomplete(PathBuf),
    /// `--initialize` was given for a directory that has been initialised.
    NotEmpty(PathBuf),
    /// The operating system refused an operation.
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

/// A data directory that belongs to this server for as long as this value lives.
#[derive(Debug)]
pub struct Datadir {
    /// The absolute path of the directory.
    pub path: PathBuf,
    /// True when the directory has not been initialised.
    pub is_new: bool,
    _lock: LockGuard,
    _lock_of_log: Option<LockGuard>,
}

impl Datadir {
    /// Takes the directory of the redo log, too, so that no second server writes a log there. It
    /// may be the data directory itself.
    ///
    /// # Errors
    /// Returns [`DatadirError::InUse`] when another server has it, and errors of the operating
    /// system.
    pub fn take_log_home(&mut self, disk: &dyn Disk, path: &Path) -> Result<(), DatadirError> {
        if path != self.path {
            disk.create_dir_all(path).map_err(|error| DatadirError::Io(path.to_owned(), error))?;
            self._lock_of_log = Some(lock(disk, path)?);
        }
        Ok(())
    }
}

fn lock(disk: &dyn Disk, path: &Path) -> Result<LockGuard, DatadirError> {
    disk.lock(&path.join(LOCK_FILE)).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => DatadirError::InUse(path.to_owned()),
        _ => DatadirError::Io(path.to_owned(), e),
    })
}

/// Takes a data directory for this server. With `initialize` it must be empty.
///
/// # Errors
/// Returns a [`DatadirError`] that says why the directory cannot be used.
pub fn take(disk: &dyn Disk, path: &Path, initialize: bool) -> Result<Datadir, DatadirError> {
    let wrong = |e: io::Error| DatadirError::Io(path.to_owned(), e);
    disk.create_dir_all(path).map_err(wrong)?;
    if !disk.is_dir(path).map_err(wrong)? {
        return Err(wrong(io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory")));
    }
    let has_system = disk.exists(&path.join(SYSTEM_FILE)).map_err(wrong)?;
    // These files may lie in an empty directory: those of the file system, hidden files, and those
    // that a failed start left.
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
    let lock = lock(disk, path)?;
    // A start that was killed while it initialised the directory leaves the redo log's directory,
    // which is then begun anew.
    let other = names.iter().find(|name| *name != "#innodb_redo");
    if let (false, Some(name)) = (has_system, other) {
        if names.iter().any(|name| name == "#innodb_redo") {
            return Err(DatadirError::Incomplete(path.to_owned()));
        }
        return Err(DatadirError::NotOurs(path.to_owned(), name.clone()));
    }
    format::check(disk, path).map_err(DatadirError::Format)?;
    Ok(Datadir { path: path.to_owned(), is_new: !has_system, _lock: lock, _lock_of_log: None })
}

/// Returns the name and the content of the file that tells the format of a data directory which
/// this server writes.
pub fn format_file() -> (&'static str, Vec<u8>) {
    format::file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_a_log_is_taken_once() {
        let disk = os::sim::SimDisk::new(1);
        let mut one = take(&disk, Path::new("/one"), true).unwrap();
        let mut other = take(&disk, Path::new("/other"), true).unwrap();
        one.take_log_home(&disk, Path::new("/one")).unwrap();
        one.take_log_home(&disk, Path::new("/logs")).unwrap();
        assert!(matches!(other.take_log_home(&disk, Path::new("/logs")), Err(DatadirError::InUse(_))));
        drop(one);
        other.take_log_home(&disk, Path::new("/logs")).unwrap();
    }

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
