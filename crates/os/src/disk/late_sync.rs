//! A disk whose syncs wait until everything has been written.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::interface::{Access, Disk, File, LockGuard, OpenMode};

/// A disk that passes everything on except syncs, for making a directory that is of no use before
/// it is complete, as a new data directory is. Nothing is durable before [`LateSync::sync_all`].
/// The files then share the journal's commits, where hundreds of syncs would each wait for one.
#[derive(Debug)]
pub struct LateSync {
    disk: Arc<dyn Disk>,
    owed: Arc<Mutex<Owed>>,
}

/// The syncs that were asked for and not made.
#[derive(Debug, Default)]
struct Owed {
    files: Vec<Arc<dyn File>>,
    dirs: BTreeSet<PathBuf>,
}

impl LateSync {
    /// Returns a disk with late syncs over another one.
    pub fn over(disk: Arc<dyn Disk>) -> LateSync {
        LateSync { disk, owed: Arc::default() }
    }

    /// Makes everything durable whose sync was asked for, the names last.
    ///
    /// # Errors
    /// Returns the errors of the disk. Then nothing that was written may be relied on.
    pub fn sync_all(&self) -> io::Result<()> {
        let Owed { files, dirs } = std::mem::take(&mut *self.owed.lock());
        // The content goes to the storage first, so that the syncs find little left to write.
        for file in &files {
            file.write_back(0, file.len_bytes()?);
        }
        files.iter().try_for_each(|file| file.sync_data())?;
        dirs.iter().rev().try_for_each(|dir| match self.disk.exists(dir)? {
            true => self.disk.sync_dir(dir),
            false => Ok(()),
        })
    }

    fn late(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(LateFile { file, owed: self.owed.clone(), is_owed: AtomicBool::new(false) })
    }
}

impl Disk for LateSync {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        Ok(self.late(self.disk.open(path, mode)?))
    }

    fn open_with(&self, path: &Path, mode: OpenMode, access: Access) -> io::Result<Arc<dyn File>> {
        Ok(self.late(self.disk.open_with(path, mode, access)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.disk.is_dir(from)? {
            // Its names would be owed under the old one.
            let message = format!("{}: a directory whose syncs are late keeps its name", from.display());
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        self.disk.rename(from, to)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }

    fn is_dir(&self, path: &Path) -> io::Result<bool> {
        self.disk.is_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir_all(dir)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.disk.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.owed.lock().dirs.insert(dir.to_owned());
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<LockGuard> {
        self.disk.lock(path)
    }

    fn fail_stop(&self, message: &str) {
        self.disk.fail_stop(message);
    }
}

/// A file of a [`LateSync`].
#[derive(Debug)]
struct LateFile {
    file: Arc<dyn File>,
    owed: Arc<Mutex<Owed>>,
    /// Whether the file's sync is owed. Relaxed: it only keeps the list of those short.
    is_owed: AtomicBool,
}

impl File for LateFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(bytes, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn write_batch(&self, pieces: &[(u64, &[u8])]) -> io::Result<()> {
        self.file.write_batch(pieces)
    }

    fn read_batch(&self, pieces: &mut [(u64, &mut [u8])], done: &mut dyn FnMut(usize, io::Result<&[u8]>)) {
        self.file.read_batch(pieces, done);
    }

    fn untorn_bytes(&self) -> usize {
        self.file.untorn_bytes()
    }

    fn write_untorn_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_untorn_at(bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        if !self.is_owed.swap(true, Ordering::Relaxed) {
            self.owed.lock().files.push(self.file.clone());
        }
        Ok(())
    }

    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.file.set_len(len_bytes)
    }

    fn path(&self) -> &Path {
        self.file.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimDisk;

    #[test]
    fn what_was_synced_late_is_durable_and_nothing_is_before() {
        let paths = ["d/one", "d/inner/two"];
        let mut survived_unsynced = 0;
        for seed in 0..20 {
            let disk = SimDisk::new(seed);
            let late = LateSync::over(Arc::new(disk.clone()));
            late.create_dir_all(Path::new("d/inner")).expect("it is made");
            for path in paths {
                late.write_atomically(Path::new(path), b"content").expect("it is written");
            }
            let moved = late.rename(Path::new("d/inner"), Path::new("d/moved"));
            assert_eq!(moved.map_err(|error| error.kind()), Err(io::ErrorKind::Unsupported));
            for dir in ["", "d"] {
                late.sync_dir(Path::new(dir)).expect("it is noted");
            }
            let unsynced = disk.if_power_went();
            let is_there =
                |disk: &SimDisk, path: &str| disk.read(Path::new(path)).is_ok_and(|read| read == b"content");
            survived_unsynced += usize::from(paths.iter().all(|path| is_there(&unsynced, path)));
            late.sync_all().expect("it is synced");
            let synced = disk.power_cut();
            for path in paths {
                assert!(is_there(&synced, path), "{path} with seed {seed}");
            }
        }
        assert!(survived_unsynced < 20, "a disk that loses nothing shows nothing");
    }
}
