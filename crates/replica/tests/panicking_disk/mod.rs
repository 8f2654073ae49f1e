//! A storage that is the real disk, except that one chosen read panics in the thread that makes it.

use os::disk::{Disk, File, LockGuard, OpenMode};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;

#[derive(Debug, Default)]
struct Trap(Mutex<Option<[&'static str; 2]>>);

impl Trap {
    fn step(&self) {
        let mut threads = self.0.lock().expect("is not held by the panic");
        let thread = std::thread::current();
        if threads.is_some_and(|names| thread.name().is_some_and(|name| names.contains(&name))) {
            *threads = None;
            drop(threads);
            panic!("the disk panics");
        }
    }
}

/// The real disk, with a trap that makes one read panic.
#[derive(Debug)]
pub struct PanickingDisk {
    real: Arc<dyn Disk>,
    trap: Arc<Trap>,
}

impl PanickingDisk {
    pub fn new() -> Arc<PanickingDisk> {
        Arc::new(PanickingDisk { real: os::disk::real(), trap: Arc::default() })
    }

    /// Makes the next read by a thread with one of these names panic.
    pub fn panic_at_next_read_of(&self, one: &'static str, other: &'static str) {
        *self.trap.0.lock().expect("is not held by a panic") = Some([one, other]);
    }
}

impl Disk for PanickingDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = PanickingFile { real: self.real.open(path, mode)?, trap: self.trap.clone() };
        Ok(Arc::new(file))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.real.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.real.rename(from, to)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.real.exists(path)
    }

    fn is_dir(&self, path: &Path) -> io::Result<bool> {
        self.real.is_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.real.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.real.create_dir_all(dir)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.real.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.real.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<LockGuard> {
        self.real.lock(path)
    }

    fn fail_stop(&self, message: &str) {
        self.real.fail_stop(message);
    }
}

#[derive(Debug)]
struct PanickingFile {
    real: Arc<dyn File>,
    trap: Arc<Trap>,
}

impl File for PanickingFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.trap.step();
        self.real.read_at(bytes, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.real.write_all_at(bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.real.sync_data()
    }

    fn len_bytes(&self) -> io::Result<u64> {
        self.real.len_bytes()
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.real.set_len(len_bytes)
    }

    fn path(&self) -> &Path {
        self.real.path()
    }
}
