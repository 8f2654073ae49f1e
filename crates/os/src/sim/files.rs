//! An open file of the simulated disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::{Change, SECTOR_BYTES};
use super::machine::Shared;
use crate::disk::File;

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
        let is_meant = |part: &String| self.path.to_string_lossy().contains(part.as_str());
        if machine.failing_writes.as_ref().is_some_and(is_meant) {
            if let Change::Write { bytes, .. } = &mut change {
                bytes.truncate(bytes.len() / 2);
                machine.contents[self.number].change(change);
            }
            return Err(place(io::Error::other("the simulated write failed")));
        }
        if machine.damaged_writes.as_ref().is_some_and(is_meant)
            && let Change::Write { bytes, .. } = &mut change
            && !bytes.is_empty()
        {
            let bit = machine.rng.below(8 * bytes.len() as u64) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
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
