//! The two traits, and what their methods take and give.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading; the file must exist.
    Read,
    /// For reading and writing; the file must exist.
    ReadWrite,
    /// For reading and writing; the file must not exist.
    CreateNew,
    /// As [`OpenMode::CreateNew`], and nobody but the process's user can open it from the first
    /// moment on. A disk without users takes the two alike.
    CreatePrivate,
    /// For reading and writing; made empty when it does not exist.
    OpenOrCreate,
    /// As [`OpenMode::OpenOrCreate`], for a file that others cut, or write to as well: a write goes
    /// behind what is there. It names the file's length as its offset, which a simulated disk
    /// needs; a real one goes by what the length is by then.
    Append,
}

/// How a file's bytes go between memory and the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Through the system's page cache.
    Buffered,
    /// Past it. Offsets and lengths must be multiples of [`crate::aligned::IO_ALIGNMENT`]; memory
    /// should be aligned to it, or is copied.
    Direct {
        /// Whether the pieces of [`File::write_batch`] are in flight at once, where the system can
        /// do that.
        native_aio: bool,
    },
}

/// A disk: names and what they stand for.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Opens a file. A new name is durable only after [`Disk::sync_dir`] of its directory.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>>;

    /// As [`Disk::open`], with another way of access. An error of kind `InvalidInput` where the
    /// file system does not have it. A disk without a page cache takes them all alike.
    fn open_with(&self, path: &Path, mode: OpenMode, access: Access) -> io::Result<Arc<dyn File>> {
        let _ = access;
        self.open(path, mode)
    }

    /// Removes a file's name. Open handles go on working.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Renames a file or directory; an existing file of the new name is replaced, in one step also
    /// as a crash sees it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Whether a file or directory of this name exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Whether the name exists and is a directory.
    fn is_dir(&self, path: &Path) -> io::Result<bool>;

    /// Full paths of what is directly in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a directory and its missing parents; an existing one is fine. Durable after
    /// [`Disk::sync_dir`] of the parents.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Removes a directory with all that is in it.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Makes every earlier change of names in `dir` durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Takes the exclusive lock on a file, made when it does not exist, until the guard is dropped
    /// or the process ends. An error of kind `WouldBlock` when another process, or another guard of
    /// this one, holds it.
    fn lock(&self, path: &Path) -> io::Result<LockGuard>;

    /// Ends everything because going on could break a promise, as after a failed sync: prints
    /// `message` and aborts the process. On a simulated disk the simulated machine stops instead:
    /// this returns, and every later operation fails.
    fn fail_stop(&self, message: &str);

    /// The whole content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenMode::Read)?;
        let mut bytes = vec![0; file.len_bytes()? as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// Replaces a file's content so that a crash leaves either the old or the new: writes
    /// `PATH.tmp`, syncs it, renames it over `path` and syncs the directory.
    fn write_atomically(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace(path, bytes, OpenMode::CreateNew)
    }

    /// As [`Disk::write_atomically`], of what nobody but the process's user may read, as keys and
    /// passwords.
    fn write_secret_atomically(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace(path, bytes, OpenMode::CreatePrivate)
    }

    /// What the two have in common: `mode` is how the new file is made.
    fn replace(&self, path: &Path, bytes: &[u8], mode: OpenMode) -> io::Result<()> {
        let mut name = path.as_os_str().to_owned();
        name.push(".tmp");
        let tmp = PathBuf::from(name);
        if self.exists(&tmp)? {
            self.remove(&tmp)?;
        }
        let file = self.open(&tmp, mode)?;
        file.write_all_at(bytes, 0)?;
        file.sync_data()?;
        self.rename(&tmp, path)?;
        self.sync_dir(path.parent().unwrap_or(Path::new("")))
    }
}

/// An open file. Positioned reads and writes only; there is no cursor.
pub trait File: Send + Sync + fmt::Debug {
    /// Reads up to `bytes.len()` bytes; fewer only at the end of the file.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes`, making the file longer where needed (a gap reads as zeros). Not
    /// durable before [`File::sync_data`].
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Writes several pieces, in any order; as [`File::write_all_at`] for each. They do not
    /// overlap. After an error any part of them may be written.
    fn write_batch(&self, pieces: &[(u64, &[u8])]) -> io::Result<()> {
        pieces.iter().try_for_each(|&(offset, bytes)| self.write_all_at(bytes, offset))
    }

    /// The largest write that the storage promises to make whole or not at all, whatever happens,
    /// when it is made by [`File::write_untorn_at`] at a multiple of its own length, a power of two
    /// of at least 4096 bytes. 0: no such promise.
    fn untorn_bytes(&self) -> usize {
        0
    }

    /// Writes all of `bytes` under the promise of [`File::untorn_bytes`].
    fn write_untorn_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let message = format!(
            "{}: the storage cannot write {} bytes at {offset} in one",
            self.path().display(),
            bytes.len()
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// Makes every earlier write to the file, and its length, durable. After an error the caller
    /// must call [`Disk::fail_stop`]: the kernel may have dropped the writes and will not report
    /// them again.
    fn sync_data(&self) -> io::Result<()>;

    /// Has the system bring these bytes, written before, to the storage, and waits until they are
    /// there. No promise of durability, which takes [`File::sync_data`]: that has less to do then,
    /// and holds up others' syncs less. Does nothing where it cannot.
    fn write_back(&self, _offset: u64, _len_bytes: u64) {}

    /// The file's length.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Cuts the file, or makes it longer with zeros.
    fn set_len(&self, len_bytes: u64) -> io::Result<()>;

    /// The path the file was opened by.
    fn path(&self) -> &Path;

    /// Fills all of `bytes`; an error of kind `UnexpectedEof` when the file ends before.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let got = self.read_at(bytes, offset)?;
        if got == bytes.len() {
            return Ok(());
        }
        let (path, wanted) = (self.path().display(), bytes.len());
        let message = format!("{path}: the file ends within the {wanted} bytes at {offset}");
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }
}

/// Holds a lock of [`Disk::lock`] until dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct LockGuard {
    /// Whatever releases the lock when dropped.
    _held: Box<dyn Send + Sync>,
}

impl LockGuard {
    pub(crate) fn new(held: Box<dyn Send + Sync>) -> LockGuard {
        LockGuard { _held: held }
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LockGuard")
    }
}

/// The same error with the place in front: "cannot WHAT PATH: WHY".
pub(crate) fn placed(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what} {}: {error}", path.display()))
}
