//! A file that is read and written through the system's page cache.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::interface::{File, placed};
use super::uses::{Handle, Operation};
use crate::clock::ticks;

#[derive(Debug)]
pub(super) struct BufferedFile {
    pub file: fs::File,
    pub path: PathBuf,
    /// What is done with the file is counted here.
    pub used: Handle,
}

impl BufferedFile {
    /// Reads until the bytes are filled or the file ends, and returns how many were read.
    fn fill(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                // A file opened for direct I/O cannot be read from within a block. A part of a
                // block is the end of such a file.
                Ok(got) if got % 512 != 0 && filled + got < bytes.len() => return Ok(filled + got),
                Ok(got) => filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(placed(&format!("read at {offset} of"), &self.path, &error)),
            }
        }
        Ok(filled)
    }
}

impl File for BufferedFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let since = ticks();
        let read = self.fill(bytes, offset);
        self.used.note(Operation::Read, *read.as_ref().unwrap_or(&0), since);
        read
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let since = ticks();
        let written = self.file.write_all_at(bytes, offset);
        self.used.note(Operation::Write, if written.is_ok() { bytes.len() } else { 0 }, since);
        written.map_err(|error| placed(&format!("write at {offset} of"), &self.path, &error))
    }

    fn sync_data(&self) -> io::Result<()> {
        let since = ticks();
        let synced = self.file.sync_data();
        self.used.note(Operation::Misc, 0, since);
        synced.map_err(|error| placed("sync", &self.path, &error))
    }

    fn write_back(&self, offset: u64, len_bytes: u64) {
        let fd = std::os::fd::AsRawFd::as_raw_fd(&self.file);
        let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        let since = ticks();
        // SAFETY: the descriptor is open. A failed write is reported by the sync that must follow.
        unsafe { libc::sync_file_range(fd, offset as libc::off64_t, len_bytes as libc::off64_t, flags) };
        self.used.note(Operation::Misc, 0, since);
    }

    fn len_bytes(&self) -> io::Result<u64> {
        let since = ticks();
        let metadata = self.file.metadata();
        self.used.note(Operation::Misc, 0, since);
        Ok(metadata.map_err(|error| placed("look at", &self.path, &error))?.len())
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        let since = ticks();
        let set = self.file.set_len(len_bytes);
        self.used.note(Operation::Misc, 0, since);
        set.map_err(|error| placed("set the length of", &self.path, &error))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
