//! A directory as the place of a backup.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::disk::{Disk, File, LockGuard, OpenMode};

use crate::error::{BackupError, Result};
use crate::sequential::Sequential;
use crate::store::{Listed, Sink, Store, Version};

/// How long a run waits for another one that is replacing the manifest, which takes a moment.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// A directory of this machine.
#[derive(Debug)]
pub(crate) struct Directory {
    disk: Arc<dyn Disk>,
    root: PathBuf,
}

/// A file that is written into a directory.
struct Written<'a> {
    directory: &'a Directory,
    path: PathBuf,
    file: Sequential,
}

impl Write for Written<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Sink for Written<'_> {
    fn finish(self: Box<Self>) -> Result<()> {
        self.file.sync().map_err(|error| BackupError::io(&self.path, error))?;
        self.directory.sync_above(&self.path)
    }
}

impl Directory {
    pub fn new(disk: Arc<dyn Disk>, root: PathBuf) -> Directory {
        Directory { disk, root }
    }

    /// Makes the names on the way from the directory to a file durable.
    fn sync_above(&self, path: &Path) -> Result<()> {
        for dir in path.ancestors().skip(1).take_while(|dir| dir.starts_with(&self.root)) {
            self.disk.sync_dir(dir).map_err(|error| BackupError::io(dir, error))?;
        }
        Ok(())
    }

    /// Waits until no other run replaces the manifest.
    fn lock(&self) -> Result<LockGuard> {
        let waited = Stopwatch::start();
        loop {
            match self.disk.lock(&self.root) {
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && waited.elapsed() < LOCK_TIMEOUT =>
                {
                    sleep(Duration::from_millis(5));
                }
                locked => return locked.map_err(|error| BackupError::io(&self.root, error)),
            }
        }
    }

    fn content(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let wrong = |error| BackupError::io(path, error);
        match self.disk.exists(path).map_err(wrong)? {
            true => self.disk.read(path).map(Some).map_err(wrong),
            false => Ok(None),
        }
    }
}

impl Store for Directory {
    fn name(&self, path: &str) -> String {
        match path {
            "" => self.root.display().to_string(),
            path => self.root.join(path).display().to_string(),
        }
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read + '_>> {
        let path = self.root.join(path);
        let opened: io::Result<Arc<dyn File>> = self.disk.open(&path, OpenMode::Read);
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(BackupError::Missing(error.to_string()))
            }
            opened => Ok(Box::new(Sequential::of(opened.map_err(|error| BackupError::io(&path, error))?))),
        }
    }

    fn create(&self, path: &str, _expected_bytes: u64) -> Result<Box<dyn Sink + '_>> {
        let path = self.root.join(path);
        let dir = path.parent().unwrap_or(&self.root);
        self.disk.create_dir_all(dir).map_err(|error| BackupError::io(dir, error))?;
        let file = Sequential::create(&*self.disk, &path)?;
        Ok(Box::new(Written { directory: self, path, file }))
    }

    fn remove(&self, path: &str) -> Result<()> {
        let path = self.root.join(path);
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BackupError::io(&path, error)),
            _ => Ok(()),
        }
    }

    fn remove_dir(&self, path: &str) -> Result<()> {
        let path = self.root.join(path);
        let wrong = |error| BackupError::io(&path, error);
        match self.disk.is_dir(&path).map_err(wrong)? {
            true => self.disk.remove_dir_all(&path).map_err(wrong),
            false => Ok(()),
        }
    }

    fn claim(&self, path: &str) -> Result<Option<LockGuard>> {
        let path = self.root.join(path);
        let wrong = |error| BackupError::io(&path, error);
        self.disk.create_dir_all(&path).map_err(wrong)?;
        match self.disk.lock(&path) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            locked => locked.map(Some).map_err(wrong),
        }
    }

    fn listed_as(&self, path: &str) -> String {
        path.to_owned()
    }

    fn list(&self) -> Result<Vec<Listed>> {
        let (mut found, mut dirs) = (Vec::new(), vec![self.root.clone()]);
        while let Some(next) = dirs.pop() {
            for path in self.disk.list(&next).map_err(|error| BackupError::io(&next, error))? {
                if self.disk.is_dir(&path).map_err(|error| BackupError::io(&path, error))? {
                    dirs.push(path);
                } else if let Some(name) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) {
                    found.push(Listed { path: name.to_owned(), changed_us: None });
                }
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn read_version(&self, path: &str) -> Result<Option<(Vec<u8>, Version)>> {
        let content = self.content(&self.root.join(path))?;
        Ok(content.map(|bytes| (bytes.clone(), Version::Content(bytes))))
    }

    fn read_newer(&self, path: &str, seen: &Version) -> Result<Option<(Vec<u8>, Version)>> {
        Ok(self.read_version(path)?.filter(|(_, version)| version != seen))
    }

    fn replace(&self, path: &str, bytes: &[u8], seen: Option<&Version>) -> Result<Option<Version>> {
        let path = self.root.join(path);
        let _lock = self.lock()?;
        if self.content(&path)?.map(Version::Content).as_ref() != seen {
            return Ok(None);
        }
        self.disk.write_atomically(&path, bytes).map_err(|error| BackupError::io(&path, error))?;
        Ok(Some(Version::Content(bytes.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::read_all;
    use os::sim::SimDisk;

    fn directory(seed: u64) -> (Arc<SimDisk>, Directory) {
        let disk = Arc::new(SimDisk::new(seed));
        disk.create_dir_all(Path::new("backup")).expect("a directory");
        (disk.clone(), Directory::new(disk, PathBuf::from("backup")))
    }

    fn put(store: &Directory, path: &str, content: &[u8]) {
        let mut sink = store.create(path, 0).expect("made");
        sink.write_all(content).expect("written");
        sink.finish().expect("ended");
    }

    /// A run that was ended within a file leaves it. The next run writes the file again.
    #[test]
    fn a_file_that_an_earlier_run_has_left_is_replaced() {
        let (_, store) = directory(1);
        put(&store, "logs/x", b"a long file that was cut short");
        put(&store, "logs/x", b"new");
        assert_eq!(read_all(&mut *store.open("logs/x").expect("open"), "x").expect("read"), b"new");
        assert_eq!(store.list().expect("a list").len(), 1);
        store.remove("logs/x").expect("removed");
        store.remove("logs/x").expect("a file that is not there is no error");
        assert!(matches!(store.open("logs/x"), Err(BackupError::Missing(_))));
    }

    #[test]
    fn files_survive_a_power_cut_once_they_have_ended() {
        for seed in 0..32 {
            let (disk, store) = directory(seed);
            disk.sync_dir(Path::new("")).expect("the directory is durable");
            put(&store, "data/d/x", b"content");
            let after = Directory::new(Arc::new(disk.power_cut()), PathBuf::from("backup"));
            let read = read_all(&mut *after.open("data/d/x").expect("it is there"), "x").expect("read");
            assert_eq!(read, b"content", "seed {seed}");
        }
    }

    #[test]
    fn a_version_that_another_run_has_replaced_is_not_replaced() {
        let (_, store) = directory(1);
        let first = store.replace("m", b"1", None).expect("written").expect("none was there");
        assert_eq!(store.replace("m", b"other", None).expect("looked"), None);
        let second = store.replace("m", b"2", Some(&first)).expect("written").expect("it was the first");
        assert_eq!(store.replace("m", b"other", Some(&first)).expect("looked"), None);
        assert_eq!(store.read_version("m").expect("read"), Some((b"2".to_vec(), second)));
    }
}
