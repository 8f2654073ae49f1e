//! A disk in memory whose power can be cut.
//!
//! A cut leaves what a real machine may leave, and no more than that:
//! - A write survives for certain once its file was synced after it. An unsynced write survives in
//!   any part: each 512-byte sector of it is there or not, on its own, whatever happened to earlier
//!   or later writes. A sector is never half old and half new.
//! - A file's length is what it was at the last sync, or what it is now.
//! - Names made, changed or removed in a directory survive for certain once the directory was
//!   synced. Of the other changes, those of one directory survive up to some point in their order
//!   (file systems journal names in order), each directory on its own. A rename is whole or not at
//!   all.
//! - After a failed sync the unsynced writes can still be read but never become durable (as on
//!   Linux), so a test finds a caller who syncs again and believes the success.
//!
//! A cut leaves the old disk dead: every operation on it and its files fails.
//! [`SimDisk::power_cut`] returns the disk that the machine finds when it is started again. All
//! randomness comes from the seed.

mod bytes;
mod content;
mod files;
mod machine;
mod names;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::disk::{Disk, File, LockGuard, OpenMode};
use crate::random::Rng;
use files::SimFile;
use machine::{Machine, Shared, Visit};
use names::Names;

/// The simulated disk. Cloning is cheap, and clones are the same disk.
#[derive(Debug, Clone)]
pub struct SimDisk {
    shared: Arc<Shared>,
}

impl SimDisk {
    /// Makes an empty disk. The seed and the order of operations determine what a power cut loses.
    pub fn new(seed: u64) -> SimDisk {
        SimDisk::of(Machine::of(Names::default(), Vec::new(), Rng::new(seed)))
    }

    fn of(machine: Machine) -> SimDisk {
        SimDisk { shared: Arc::new(Shared { machine: Mutex::new(machine), visit: OnceLock::new() }) }
    }

    /// Cuts the power, if it is not off already, and returns the disk that the machine finds when
    /// it starts again. This disk stays dead.
    pub fn power_cut(&self) -> SimDisk {
        let mut machine = self.shared.machine.lock();
        machine.off = true;
        SimDisk::of(machine.survivor())
    }

    /// Returns the disk that the machine would find if the power went now. This disk goes on.
    pub fn if_power_went(&self) -> SimDisk {
        SimDisk::of(self.shared.machine.lock().survivor())
    }

    /// Arranges that `visit` is called before each change (write, sync, change of names) from now
    /// on, by the thread that makes the change. The disk at that moment is a state that a power cut
    /// may meet: see [`SimDisk::if_power_went`].
    ///
    /// # Panics
    /// Panics when there is a visitor already.
    pub fn before_each_change(&self, visit: impl Fn(&SimDisk) + Send + Sync + 'static) {
        let visit: Visit = Box::new(move |shared| visit(&SimDisk { shared: Arc::clone(shared) }));
        assert!(self.shared.visit.set(visit).is_ok(), "there is a visitor already");
    }

    /// Ends the process but not the machine, as `kill -9` does: nothing written is lost, nothing
    /// unsynced becomes durable. Returns the disk that the next process finds. This disk stays
    /// dead.
    pub fn kill(&self) -> SimDisk {
        let mut machine = self.shared.machine.lock();
        machine.off = true;
        let names = std::mem::take(&mut machine.names);
        let contents = std::mem::take(&mut machine.contents);
        let rng = Rng::new(machine.rng.u64());
        SimDisk::of(Machine::of(names, contents, rng))
    }

    /// Makes the power go by itself after `changes` more writes, syncs and name changes: the next
    /// change fails, as does everything after it.
    pub fn cut_power_after(&self, changes: u64) {
        self.shared.machine.lock().changes_until_cut = Some(changes);
    }

    /// Reports whether the power is off.
    pub fn is_off(&self) -> bool {
        self.shared.machine.lock().off
    }

    /// Returns the number of writes, syncs and name changes so far.
    pub fn changes(&self) -> u64 {
        self.shared.machine.lock().changes
    }

    /// Returns the message of [`Disk::fail_stop`], if that was called.
    pub fn stopped_with(&self) -> Option<String> {
        self.shared.machine.lock().stopped.clone()
    }

    /// Makes the next sync of a file whose path contains `part` fail and lose that file's unsynced
    /// writes.
    pub fn fail_sync(&self, part: &str) {
        self.shared.machine.lock().failing_syncs.push(part.to_owned());
    }

    /// Makes every write to a file whose path contains `part` fail half-way from now on. `None`
    /// lets all writes succeed again.
    pub fn fail_writes(&self, part: Option<&str>) {
        self.shared.machine.lock().failing_writes = part.map(str::to_owned);
    }

    /// Flips one bit of every write to a file whose path contains `part` from now on, as decaying
    /// media do. `None` lets all writes be read as they were written again. It reaches files whose
    /// names are gone, too.
    pub fn damage_writes(&self, part: Option<&str>) {
        self.shared.machine.lock().damaged_writes = part.map(str::to_owned);
    }

    /// Lets files grow by `left_bytes` more bytes in all. After that the disk is full. `None` lifts
    /// the limit.
    pub fn limit_space(&self, left_bytes: Option<u64>) {
        self.shared.machine.lock().space_left_bytes = left_bytes;
    }

    /// Makes the storage promise that writes of up to `bytes` bytes are whole or not there, see
    /// [`File::untorn_bytes`]. The disk that a power cut leaves does not have the promise.
    pub fn promise_untorn(&self, bytes: usize) {
        self.shared.machine.lock().untorn_bytes = bytes;
    }

    /// Flips one bit of a file, in what is read and in what survives, as decaying media do.
    ///
    /// # Panics
    /// Panics when there is no such file or it has no such bit, since the test is then wrong.
    pub fn flip_bit(&self, path: &Path, bit: u64) {
        let mut machine = self.shared.machine.lock();
        let number = machine.names.file(path).expect("flip_bit: no such file");
        machine.contents[number].flip_bit(bit);
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        if matches!(
            mode,
            OpenMode::CreateNew | OpenMode::CreatePrivate | OpenMode::OpenOrCreate | OpenMode::Append
        ) {
            self.shared.before_change();
        }
        let number = self.shared.machine.lock().open(path, mode)?;
        let writable = mode != OpenMode::Read;
        Ok(Arc::new(SimFile::new(Arc::clone(&self.shared), number, path, writable)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change()?;
        machine.names.unlink(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change()?;
        machine.names.rename(from, to)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let machine = self.shared.machine.lock();
        machine.check_power()?;
        Ok(machine.names.file(path).is_some() || machine.names.is_dir(path))
    }

    fn is_dir(&self, path: &Path) -> io::Result<bool> {
        let machine = self.shared.machine.lock();
        machine.check_power()?;
        Ok(machine.names.is_dir(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let machine = self.shared.machine.lock();
        machine.check_power()?;
        machine.names.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change()?;
        machine.names.create_dir_all(dir)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change()?;
        machine.names.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change()?;
        machine.names.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<LockGuard> {
        let mut machine = self.shared.machine.lock();
        if !machine.names.is_dir(path) {
            machine.open(path, OpenMode::OpenOrCreate)?;
        }
        if !machine.locks.insert(path.to_owned()) {
            let message = format!("{} is locked by another process", path.display());
            return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
        }
        let held = HeldLock { shared: Arc::clone(&self.shared), path: path.to_owned() };
        Ok(LockGuard::new(Box::new(held)))
    }

    fn fail_stop(&self, message: &str) {
        let mut machine = self.shared.machine.lock();
        machine.stopped.get_or_insert_with(|| message.to_owned());
        machine.off = true;
    }
}

struct HeldLock {
    shared: Arc<Shared>,
    path: PathBuf,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.shared.machine.lock().locks.remove(&self.path);
    }
}

#[cfg(test)]
mod tests;
