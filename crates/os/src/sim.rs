//! A disk in memory whose power can be cut.
//!
//! What survives a cut is what a real machine may leave, no better:
//! - A write survives for certain once its file was synced after it. An unsynced write survives in
//!   any part: each 512-byte sector of it is there or not, on its own, whatever happened to earlier
//!   or later ones. A sector is never half old and half new.
//! - A file's length is what it was at the last sync, or what it is now.
//! - Names made, changed or removed in a directory survive for certain once the directory was
//!   synced; of the others, those of one directory survive up to some point in their order (file
//!   systems journal names in order), each directory on its own. A rename is whole or not at all.
//! - After a failed sync the unsynced writes can still be read but never become durable (as Linux
//!   does it), so a caller who syncs again and believes the success is caught.
//!
//! A cut leaves the old disk dead: every operation on it and its files fails.
//! [`SimDisk::power_cut`] gives the disk that the machine finds when it is started again. All
//! randomness comes from the seed.

mod bytes;
mod files;
mod names;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::disk::{Disk, File, LockGuard, OpenMode};
use crate::random::Rng;
use files::{Content, SimFile};
use names::{Names, not_found};

/// The simulated disk. Cheap to clone: clones are the same disk.
#[derive(Debug, Clone)]
pub struct SimDisk {
    shared: Arc<Shared>,
}

/// Called before changes of a disk; see [`SimDisk::before_each_change`].
type Visit = Box<dyn Fn(&SimDisk) + Send + Sync>;

/// One lock over the whole machine; nothing else is locked while it is held.
struct Shared {
    machine: Mutex<Machine>,
    visit: OnceLock<Visit>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl Shared {
    /// Runs the visitor, without the lock.
    fn before_change(self: &Arc<Shared>) {
        if let Some(visit) = self.visit.get() {
            visit(&SimDisk { shared: Arc::clone(self) });
        }
    }
}

#[derive(Debug)]
struct Machine {
    names: Names,
    /// Contents by the number that names point to. A content whose name is gone stays: handles may
    /// be open, the removal may be lost.
    contents: Vec<Content>,
    rng: Rng,
    off: bool,
    stopped: Option<String>,
    /// Changes (writes, syncs, name changes) until the power goes by itself.
    changes_until_cut: Option<u64>,
    changes: u64,
    failing_syncs: Vec<String>,
    failing_writes: Option<String>,
    space_left_bytes: Option<u64>,
    locks: BTreeSet<PathBuf>,
    untorn_bytes: usize,
}

impl SimDisk {
    /// An empty disk; what a power cut loses follows from `seed` and the order of operations.
    pub fn new(seed: u64) -> SimDisk {
        SimDisk::of(Names::default(), Vec::new(), Rng::new(seed))
    }

    fn of(names: Names, contents: Vec<Content>, rng: Rng) -> SimDisk {
        let machine = Machine {
            names,
            contents,
            rng,
            off: false,
            stopped: None,
            changes_until_cut: None,
            changes: 0,
            failing_syncs: Vec::new(),
            failing_writes: None,
            space_left_bytes: None,
            locks: BTreeSet::new(),
            untorn_bytes: 0,
        };
        SimDisk { shared: Arc::new(Shared { machine: Mutex::new(machine), visit: OnceLock::new() }) }
    }

    /// Cuts the power, if it is not off already, and returns the disk that the machine finds when
    /// it starts again. This disk stays dead.
    pub fn power_cut(&self) -> SimDisk {
        let mut machine = self.shared.machine.lock();
        machine.off = true;
        machine.survivor()
    }

    /// The disk that the machine would find if the power went now. This one goes on.
    pub fn if_power_went(&self) -> SimDisk {
        self.shared.machine.lock().survivor()
    }

    /// Has `visit` called before each change (write, sync, change of names) from now on, by the
    /// thread that makes the change. Whatever the disk is at that moment is a state that a power
    /// cut may meet: see [`SimDisk::if_power_went`]. To be called once.
    ///
    /// # Panics
    /// When there is a visitor already.
    pub fn before_each_change(&self, visit: impl Fn(&SimDisk) + Send + Sync + 'static) {
        assert!(self.shared.visit.set(Box::new(visit)).is_ok(), "there is a visitor already");
    }

    /// Ends the process but not the machine, as `kill -9` does: nothing written is lost, nothing
    /// unsynced becomes durable. Returns the disk that the next process finds; this one stays dead.
    pub fn kill(&self) -> SimDisk {
        let mut machine = self.shared.machine.lock();
        machine.off = true;
        let names = std::mem::take(&mut machine.names);
        let contents = std::mem::take(&mut machine.contents);
        let rng = Rng::new(machine.rng.u64());
        SimDisk::of(names, contents, rng)
    }

    /// Lets the power go by itself after `changes` more writes, syncs and name changes: the one
    /// after them fails, as does all else from then on.
    pub fn cut_power_after(&self, changes: u64) {
        self.shared.machine.lock().changes_until_cut = Some(changes);
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.shared.machine.lock().off
    }

    /// Writes, syncs and name changes so far.
    pub fn changes(&self) -> u64 {
        self.shared.machine.lock().changes
    }

    /// What [`Disk::fail_stop`] was called with, if it was.
    pub fn stopped_with(&self) -> Option<String> {
        self.shared.machine.lock().stopped.clone()
    }

    /// Makes the next sync of a file whose path contains `part` fail and lose that file's unsynced
    /// writes.
    pub fn fail_sync(&self, part: &str) {
        self.shared.machine.lock().failing_syncs.push(part.to_owned());
    }

    /// Makes every write to a file whose path contains `part` fail half-way from now on; `None`
    /// lets all writes succeed again.
    pub fn fail_writes(&self, part: Option<&str>) {
        self.shared.machine.lock().failing_writes = part.map(str::to_owned);
    }

    /// Lets files grow by `left_bytes` more in all, then answers "no space"; `None` lifts the
    /// limit.
    pub fn limit_space(&self, left_bytes: Option<u64>) {
        self.shared.machine.lock().space_left_bytes = left_bytes;
    }

    /// Makes the storage promise that writes of up to `bytes` are whole or not there, see
    /// [`File::untorn_bytes`]. The disk after a power cut has to be told again.
    pub fn promise_untorn(&self, bytes: usize) {
        self.shared.machine.lock().untorn_bytes = bytes;
    }

    /// Turns one bit of a file over, in what is read and in what survives, as decaying media do.
    ///
    /// # Panics
    /// When there is no such file or it has no such bit: the test is wrong.
    pub fn flip_bit(&self, path: &Path, bit: u64) {
        let mut machine = self.shared.machine.lock();
        let number = machine.names.file(path).expect("flip_bit: no such file");
        machine.contents[number].flip_bit(bit);
    }
}

impl Machine {
    /// What a power cut now leaves.
    fn survivor(&mut self) -> SimDisk {
        let Machine { names, contents, rng, .. } = self;
        let names = names.survivors(rng);
        let named = names.files();
        let survivor = |(number, content): (usize, &Content)| match named.contains(&number) {
            true => content.survivor(rng),
            false => Content::default(),
        };
        let contents = contents.iter().enumerate().map(survivor).collect();
        SimDisk::of(names, contents, Rng::new(rng.u64()))
    }

    fn check_power(&self) -> io::Result<()> {
        match self.off {
            false => Ok(()),
            true => Err(io::Error::other("the simulated machine is off")),
        }
    }

    /// Counts a change; the power may go right before it.
    fn change(&mut self) -> io::Result<()> {
        self.check_power()?;
        if let Some(left) = &mut self.changes_until_cut {
            if *left == 0 {
                self.off = true;
                return self.check_power();
            }
            *left -= 1;
        }
        self.changes += 1;
        Ok(())
    }

    fn take_space(&mut self, bytes: u64) -> io::Result<()> {
        let Some(left) = &mut self.space_left_bytes else { return Ok(()) };
        match left.checked_sub(bytes) {
            Some(rest) => {
                *left = rest;
                Ok(())
            }
            None => Err(io::Error::new(io::ErrorKind::StorageFull, "the simulated disk is full")),
        }
    }

    fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<usize> {
        self.check_power()?;
        match (self.names.file(path), mode) {
            (Some(_), OpenMode::CreateNew | OpenMode::CreatePrivate) => Err(exists(path)),
            (Some(number), _) => Ok(number),
            (None, OpenMode::Read | OpenMode::ReadWrite) => Err(not_found(path)),
            (
                None,
                OpenMode::CreateNew | OpenMode::CreatePrivate | OpenMode::OpenOrCreate | OpenMode::Append,
            ) => {
                self.change()?;
                let number = self.contents.len();
                self.names.link(path, number)?;
                self.contents.push(Content::default());
                Ok(number)
            }
        }
    }
}

fn exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{}: the name exists", path.display()))
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
        machine.open(path, OpenMode::OpenOrCreate)?;
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
