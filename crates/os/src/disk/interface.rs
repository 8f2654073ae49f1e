//! The two traits of disks and files, and the types of their methods' arguments and results.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The way in which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// The file is opened for reading and must exist.
    Read,
    /// The file is opened for reading and writing and must exist.
    ReadWrite,
    /// The file is made for reading and writing and must not exist before.
    CreateNew,
    /// As [`OpenMode::CreateNew`], and only the process's user can open the file from the first
    /// moment on. A disk without users treats both modes alike.
    CreatePrivate,
    /// The file is opened for reading and writing. An empty file is made when it does not exist.
    OpenOrCreate,
    /// As [`OpenMode::OpenOrCreate`], for a file that others cut, or write to as well: a write goes
    /// behind the content that is there. The caller passes the file's length as the offset, which a
    /// simulated disk needs. A real disk uses the length at the moment of the write.
    Append,
}

/// How a file's bytes go between memory and the storage medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Through the system's page cache.
    Buffered,
    /// Past the page cache. Offsets and lengths must be multiples of
    /// [`crate::aligned::IO_ALIGNMENT`]. Memory should be aligned to it, otherwise it is copied.
    Direct {
        /// Whether the pieces of [`File::write_batch`] are in flight at the same time, where the
        /// system can do that.
        native_aio: bool,
    },
}

/// A disk: names, and the files and directories that they stand for.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Opens a file. A new name is durable only after [`Disk::sync_dir`] of its directory.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>>;

    /// Opens a file as [`Disk::open`] does, with another way of access. Returns an error of kind
    /// `InvalidInput` where the file system does not support it. A disk without a page cache treats
    /// all ways alike.
    fn open_with(&self, path: &Path, mode: OpenMode, access: Access) -> io::Result<Arc<dyn File>> {
        let _ = access;
        self.open(path, mode)
    }

    /// Removes a file's name. Open handles go on working.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Renames a file or directory. An existing file of the new name is replaced, in one step even
    /// if a crash comes.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Reports whether a file or directory of this name exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Reports whether the name exists and is a directory.
    fn is_dir(&self, path: &Path) -> io::Result<bool>;

    /// Returns the full paths of all files and directories directly in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a directory and its missing parents. It may exist already. The directory is durable
    /// after [`Disk::sync_dir`] of the parents.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Removes a directory with everything in it.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Makes every earlier change of names in `dir` durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Takes the exclusive lock on a file or a directory until the guard is dropped or the process
    /// ends. A file is made when it does not exist. Returns an error of kind `WouldBlock` when
    /// another process, or another guard of this one, holds the lock.
    fn lock(&self, path: &Path) -> io::Result<LockGuard>;

    /// Ends everything, because going on could break a promise, such as after a failed sync: prints
    /// `message` and aborts the process. On a simulated disk the simulated machine stops instead:
    /// this returns, and every later operation fails.
    fn fail_stop(&self, message: &str);

    /// Returns the whole content of a file.
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

    /// Replaces a file's content as [`Disk::write_atomically`] does, for content such as keys and
    /// passwords that only the process's user may read.
    fn write_secret_atomically(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace(path, bytes, OpenMode::CreatePrivate)
    }

    /// Replaces a file's content, for the two methods above. `mode` is how the new file is made.
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

/// An open file. It has positioned reads and writes only, and no cursor.
pub trait File: Send + Sync + fmt::Debug {
    /// Reads up to `bytes.len()` bytes, and returns how many. They are fewer only at the end of the
    /// file.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes`, and makes the file longer where needed (a gap reads as zeros). The
    /// write is not durable before [`File::sync_data`].
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Writes several pieces, which do not overlap, in any order, each as [`File::write_all_at`]
    /// does. After an error any part of them may be written.
    fn write_batch(&self, pieces: &[(u64, &[u8])]) -> io::Result<()> {
        pieces.iter().try_for_each(|&(offset, bytes)| self.write_all_at(bytes, offset))
    }

    /// Reads several pieces, each as [`File::read_at`] does, in any order. `done` is called with
    /// each piece's number when it has been read, and with the bytes that were read, which are
    /// fewer than the piece only at the end of the file. Where the system can do that, several
    /// reads are in flight at the same time.
    fn read_batch(&self, pieces: &mut [(u64, &mut [u8])], done: &mut dyn FnMut(usize, io::Result<&[u8]>)) {
        read_one_by_one(self, pieces, done);
    }

    /// Returns the length in bytes of the largest write that the storage promises to make whole or
    /// not at all, whatever happens. The promise is for writes by [`File::write_untorn_at`] at a
    /// multiple of their own length, which is a power of two and at least 4096. 0 means that there
    /// is no such promise.
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

    /// Makes the system bring these bytes, written before, to the storage, and waits until they are
    /// there. This does not make them durable, which takes [`File::sync_data`]. But the sync then
    /// has less to do, and holds up the syncs of other threads less. Does nothing where the system
    /// does not support it.
    fn write_back(&self, _offset: u64, _len_bytes: u64) {}

    /// Returns the file's length in bytes.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Cuts the file to this length, or makes it longer with zeros.
    fn set_len(&self, len_bytes: u64) -> io::Result<()>;

    /// Returns the path that the file was opened by.
    fn path(&self) -> &Path;

    /// Fills all of `bytes`. Returns an error of kind `UnexpectedEof` when the file ends before.
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

/// Does the work of [`File::read_batch`] with one read in flight.
pub(super) fn read_one_by_one<F: File + ?Sized>(
    file: &F,
    pieces: &mut [(u64, &mut [u8])],
    done: &mut dyn FnMut(usize, io::Result<&[u8]>),
) {
    for (number, (offset, bytes)) in pieces.iter_mut().enumerate() {
        let read = file.read_at(bytes, *offset);
        done(number, read.map(|got| &bytes[..got]));
    }
}

/// A lock of [`Disk::lock`], which is held until this is dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct LockGuard {
    /// The value that releases the lock when it is dropped.
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

/// Returns the same error with the place in front: "cannot WHAT PATH: WHY".
pub(crate) fn placed(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what} {}: {error}", path.display()))
}
