//! What a simulated file holds, now and after a power cut.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Shared;
use super::bytes::Bytes;
use crate::disk::File;
use crate::random::Rng;

/// The unit that a power cut keeps or loses whole.
const SECTOR_BYTES: usize = 512;

/// Unsynced bytes of one file beyond which the simulated kernel writes the oldest back by itself,
/// as a real one does when dirty pages pile up. Bounds the memory of a test that never syncs.
const UNSYNCED_LIMIT_BYTES: usize = 16 << 20;

/// A file's bytes now, its bytes at the last sync, and the changes in between.
#[derive(Debug, Default)]
pub(super) struct Content {
    current: Bytes,
    durable: Bytes,
    unsynced: Vec<Change>,
    unsynced_bytes: usize,
}

#[derive(Debug)]
enum Change {
    /// `unit` is what a power cut keeps or loses whole.
    Write {
        offset: usize,
        bytes: Vec<u8>,
        unit: usize,
    },
    SetLen(usize),
}

impl Change {
    /// Applies the change; `keep` says for each sector of a write whether it arrives.
    fn apply(&self, to: &mut Bytes, mut keep: impl FnMut() -> bool) {
        match self {
            Change::SetLen(len) => {
                if keep() {
                    to.resize(*len);
                }
            }
            Change::Write { offset, bytes, unit } => {
                let mut from = 0;
                while from < bytes.len() {
                    let at = offset + from;
                    let until = ((at / unit + 1) * unit - offset).min(bytes.len());
                    if keep() {
                        to.put(at, &bytes[from..until]);
                    }
                    from = until;
                }
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Change::Write { bytes, .. } => bytes.len(),
            Change::SetLen(_) => 0,
        }
    }
}

impl Content {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.current, || true);
        self.unsynced_bytes += change.len();
        self.unsynced.push(change);
        if self.unsynced_bytes > UNSYNCED_LIMIT_BYTES {
            let half = self.unsynced.len().div_ceil(2);
            for change in self.unsynced.drain(..half) {
                change.apply(&mut self.durable, || true);
                self.unsynced_bytes -= change.len();
            }
        }
    }

    fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable, || true);
        }
        self.unsynced_bytes = 0;
    }

    /// A failed sync: what was not durable never will be, though it can still be read.
    fn lose_unsynced(&mut self) {
        self.unsynced.clear();
        self.unsynced_bytes = 0;
    }

    /// The content after a power cut now.
    pub(super) fn survivor(&self, rng: &mut Rng) -> Content {
        let mut left = self.durable.clone();
        // Some cuts lose nearly everything, some nearly nothing: both ends find different faults.
        let chance = *rng.pick(&[0, 10, 50, 90, 100]);
        for change in &self.unsynced {
            change.apply(&mut left, || rng.below(100) < chance);
        }
        if !self.unsynced.is_empty() && rng.one_in(2) {
            // The length arrived, the data of its last sectors perhaps not: they read as zeros.
            left.resize(self.current.len());
        }
        Content { durable: left.clone(), current: left, unsynced: Vec::new(), unsynced_bytes: 0 }
    }

    pub(super) fn flip_bit(&mut self, bit: u64) {
        let (byte, mask) = ((bit / 8) as usize, 1 << (bit % 8));
        for bytes in [&mut self.current, &mut self.durable] {
            let mut held = [0];
            if bytes.read(byte, &mut held) == 1 {
                bytes.put(byte, &[held[0] ^ mask]);
            }
        }
    }
}

/// An open simulated file.
#[derive(Debug)]
pub(super) struct SimFile {
    shared: Arc<Shared>,
    number: usize,
    path: PathBuf,
    writable: bool,
}

impl SimFile {
    pub(super) fn new(shared: Arc<Shared>, number: usize, path: &Path, writable: bool) -> SimFile {
        SimFile { shared, number, path: path.to_owned(), writable }
    }

    fn change(&self, mut change: Change, end_bytes: usize) -> io::Result<()> {
        let place = |error: io::Error| crate::disk::placed("write", &self.path, &error);
        if !self.writable {
            return Err(place(io::Error::new(io::ErrorKind::PermissionDenied, "opened for reading")));
        }
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change().map_err(place)?;
        let grows = end_bytes.saturating_sub(machine.contents[self.number].current.len());
        machine.take_space(grows as u64).map_err(place)?;
        let fails = |part: &String| self.path.to_string_lossy().contains(part.as_str());
        if machine.failing_writes.as_ref().is_some_and(fails) {
            if let Change::Write { bytes, .. } = &mut change {
                bytes.truncate(bytes.len() / 2);
                machine.contents[self.number].change(change);
            }
            return Err(place(io::Error::other("the simulated write failed")));
        }
        machine.contents[self.number].change(change);
        Ok(())
    }
}

impl File for SimFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let machine = self.shared.machine.lock();
        machine.check_power()?;
        Ok(machine.contents[self.number].current.read(offset as usize, bytes))
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let offset = offset as usize;
        self.change(Change::Write { offset, bytes: bytes.to_vec(), unit: SECTOR_BYTES }, offset + bytes.len())
    }

    fn untorn_bytes(&self) -> usize {
        self.shared.machine.lock().untorn_bytes
    }

    fn write_untorn_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (len, at) = (bytes.len(), offset as usize);
        let promised = len.is_power_of_two() && len <= self.untorn_bytes() && at.is_multiple_of(len);
        assert!(promised, "{len} bytes at {at} are not covered by the storage's promise");
        self.change(Change::Write { offset: at, bytes: bytes.to_vec(), unit: len }, at + len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.shared.before_change();
        let mut machine = self.shared.machine.lock();
        machine.change()?;
        let path = self.path.to_string_lossy();
        if let Some(index) = machine.failing_syncs.iter().position(|part| path.contains(part.as_str())) {
            machine.failing_syncs.remove(index);
            machine.contents[self.number].lose_unsynced();
            return Err(io::Error::other(format!("cannot sync {path}: the simulated sync failed")));
        }
        machine.contents[self.number].sync();
        Ok(())
    }

    fn len_bytes(&self) -> io::Result<u64> {
        let machine = self.shared.machine.lock();
        machine.check_power()?;
        Ok(machine.contents[self.number].current.len() as u64)
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.change(Change::SetLen(len_bytes as usize), len_bytes as usize)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
