//! The real disk: the machine's own file system.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::buffered::BufferedFile;
use super::direct::{self, DirectFile};
use super::interface::{Access, Disk, File, LockGuard, OpenMode, placed};
use super::uses;
use crate::clock::ticks;

/// Returns the real disk.
pub fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

#[derive(Debug)]
struct RealDisk;

/// The permissions of new files. They and those of new directories are mysqld's (manual,
/// "Environment Variables", UMASK and UMASK_DIR).
const FILE_MODE: u32 = 0o640;
const DIR_MODE: u32 = 0o750;
const OWNER_MODE: u32 = 0o600;

fn options_of(mode: OpenMode) -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.read(true).mode(FILE_MODE);
    match mode {
        OpenMode::Read => &mut options,
        OpenMode::ReadWrite => options.write(true),
        OpenMode::CreateNew => options.write(true).create_new(true),
        OpenMode::CreatePrivate => options.write(true).create_new(true).mode(OWNER_MODE),
        OpenMode::OpenOrCreate => options.write(true).create(true).truncate(false),
        // pwrite(2): on Linux a write to a file opened with O_APPEND goes to its end, whatever the
        // offset.
        OpenMode::Append => options.append(true).create(true),
    };
    options
}

/// Returns the directory, or the working directory for an empty path, which is the parent of
/// "file.txt".
fn dir_or_here(dir: &Path) -> &Path {
    if dir.as_os_str().is_empty() { Path::new(".") } else { dir }
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let since = ticks();
        let file = options_of(mode).open(path).map_err(|error| placed("open", path, &error))?;
        Ok(Arc::new(BufferedFile { file, path: path.to_owned(), used: uses::opened(path, since) }))
    }

    fn open_with(&self, path: &Path, mode: OpenMode, access: Access) -> io::Result<Arc<dyn File>> {
        let Access::Direct { native_aio } = access else { return self.open(path, mode) };
        let since = ticks();
        let opened = direct::options(&mut options_of(mode)).open(path);
        let file = opened.map_err(|error| placed("open for direct I/O", path, &error))?;
        let file = BufferedFile { file, path: path.to_owned(), used: uses::opened(path, since) };
        Ok(Arc::new(DirectFile::new(file, native_aio)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let since = ticks();
        fs::remove_file(path).map_err(|error| placed("remove", path, &error))?;
        uses::removed(path, since);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let what = format!("rename to {}", to.display());
        let since = ticks();
        fs::rename(from, to).map_err(|error| placed(&what, from, &error))?;
        uses::renamed(from, to, since);
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists().map_err(|error| placed("look for", path, &error))
    }

    fn is_dir(&self, path: &Path) -> io::Result<bool> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(metadata.is_dir()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(placed("look at", path, &error)),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(dir_or_here(dir)).map_err(|error| placed("list", dir, &error))?;
        let mut paths = entries
            .map(|entry| entry.map(|entry| dir.join(entry.file_name())))
            .collect::<io::Result<Vec<PathBuf>>>()
            .map_err(|error| placed("list", dir, &error))?;
        paths.sort();
        Ok(paths)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(DIR_MODE)
            .create(dir)
            .map_err(|error| placed("make directory", dir, &error))
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir_all(dir).map_err(|error| placed("remove directory", dir, &error))?;
        uses::removed_dir(dir);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let opened = fs::File::open(dir_or_here(dir));
        opened.and_then(|opened| opened.sync_all()).map_err(|error| placed("sync directory", dir, &error))
    }

    fn lock(&self, path: &Path) -> io::Result<LockGuard> {
        // A directory cannot be opened for writing, and can be locked all the same.
        let mode = if path.is_dir() { OpenMode::Read } else { OpenMode::OpenOrCreate };
        let opened = options_of(mode).open(path);
        let file = opened.map_err(|error| placed("open", path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(LockGuard::new(Box::new(file))),
            Err(fs::TryLockError::WouldBlock) => {
                let message = format!("{} is locked by another process", path.display());
                Err(io::Error::new(io::ErrorKind::WouldBlock, message))
            }
            Err(fs::TryLockError::Error(error)) => Err(placed("lock", path, &error)),
        }
    }

    fn fail_stop(&self, message: &str) {
        eprintln!("[ERROR] [Server] {message}; stopping, because going on could lose acknowledged data.");
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TempDir(PathBuf);

    impl TempDir {
        fn new() -> TempDir {
            let dir = std::env::temp_dir().join(format!("slipstream-os-{:016x}", crate::random::u64()));
            real().create_dir_all(&dir).expect("the temporary directory can be made");
            TempDir(dir)
        }
    }

    impl Drop for TempDir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_are_written_read_renamed_and_removed() {
        let (dir, disk) = (TempDir::new(), real());
        let (one, two) = (dir.0.join("one"), dir.0.join("two"));
        let file = disk.open(&one, OpenMode::CreateNew).unwrap();
        file.write_all_at(b"hello", 3).unwrap();
        file.sync_data().unwrap();
        assert_eq!(disk.read(&one).unwrap(), b"\0\0\0hello");
        disk.rename(&one, &two).unwrap();
        assert!(!disk.exists(&one).unwrap());
        assert_eq!(disk.list(&dir.0).unwrap(), vec![two.clone()]);
        disk.write_atomically(&two, b"new").unwrap();
        assert_eq!(disk.read(&two).unwrap(), b"new");
        disk.remove(&two).unwrap();
        let error = disk.open(&two, OpenMode::Read).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("two"), "{error}");
    }

    #[test]
    fn reading_past_the_end_is_short_and_exact_reading_an_error() {
        let (dir, disk) = (TempDir::new(), real());
        let file = disk.open(&dir.0.join("f"), OpenMode::OpenOrCreate).unwrap();
        file.set_len(10).unwrap();
        let mut bytes = [1; 8];
        assert_eq!(file.read_at(&mut bytes, 6).unwrap(), 4);
        assert_eq!(file.read_exact_at(&mut bytes, 6).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(file.len_bytes().unwrap(), 10);
    }

    #[test]
    fn a_lock_is_exclusive_until_dropped() {
        let (dir, disk) = (TempDir::new(), real());
        let path = dir.0.join("lock");
        let held = disk.lock(&path).unwrap();
        assert_eq!(disk.lock(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(held);
        disk.lock(&path).map(drop).unwrap();
    }
}
