//! How a pool is made: its configuration, and what follows from it for its frames and files.

use std::path::{Path, PathBuf};

use os::disk::{Access, Disk, OpenMode};

use crate::error::{BufferError, Result};
use crate::options::PoolOptions;
use crate::page::PAGE_SIZES;

/// The smallest pool, in frames: enough for every thread of a small server to hold the pages of a
/// structure change.
const MIN_FRAMES: usize = 64;

/// Frames that an instance has at least when `innodb_buffer_pool_instances` is 0.
const AUTO_FRAMES: usize = 1024;
/// Instances of a pool below that many gigabytes when it is 0: each brings an LRU flusher, and
/// while one waits for the device the others write.
const AUTO_INSTANCES: usize = 4;

/// How a pool is made.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// Memory for pages, in bytes (`innodb_buffer_pool_size`).
    pub capacity_bytes: usize,
    /// Size of a page in bytes (`innodb_page_size`): 4096, 8192, 16384, 32768 or 65536.
    pub page_size: usize,
    /// The data directory, where the doublewrite file is.
    pub datadir: PathBuf,
    /// The rest.
    pub options: PoolOptions,
}

impl PoolConfig {
    /// MySQL's defaults for a data directory, with a pool of `capacity_bytes`.
    pub fn new(datadir: &Path, capacity_bytes: usize) -> PoolConfig {
        PoolConfig {
            capacity_bytes,
            page_size: 16384,
            datadir: datadir.to_owned(),
            options: PoolOptions::default(),
        }
    }

    /// How many frames the pool has.
    ///
    /// # Errors
    /// When no pool can have this page size, or this memory.
    pub(crate) fn frames(&self) -> Result<usize> {
        if !PAGE_SIZES.contains(&self.page_size) {
            let message = format!("innodb_page_size {} is none of {PAGE_SIZES:?}", self.page_size);
            return Err(BufferError::Config(message));
        }
        let frames = self.capacity_bytes / self.page_size;
        if frames < MIN_FRAMES || frames >= u32::MAX as usize / 4 {
            let least = MIN_FRAMES * self.page_size;
            let message =
                format!("innodb_buffer_pool_size {} is below {least} or too large", self.capacity_bytes);
            return Err(BufferError::Config(message));
        }
        Ok(frames)
    }

    /// How many instances the pool's `frames` frames are divided into.
    pub(crate) fn instances(&self, frames: usize) -> usize {
        let wanted = match self.options.instances {
            0 => (frames / AUTO_FRAMES).clamp(1, AUTO_INSTANCES.max((frames * self.page_size) >> 30)).min(64),
            set => set,
        };
        let most = frames / MIN_FRAMES;
        if wanted > most {
            log::warn!("innodb_buffer_pool_instances reduced to {most}: each needs {MIN_FRAMES} pages");
        }
        wanted.clamp(1, most)
    }

    /// How pages are accessed: as the options ask, if the file system can do that.
    ///
    /// # Errors
    /// An I/O error.
    pub(crate) fn access(&self, disk: &dyn Disk) -> Result<Access> {
        if !self.options.flush_method.is_direct() {
            return Ok(Access::Buffered);
        }
        let direct = Access::Direct { native_aio: self.options.native_aio };
        let probe = self.datadir.join("#innodb_direct_io");
        let outcome = disk.open_with(&probe, OpenMode::OpenOrCreate, direct).map(|_| direct);
        // A file system that refuses makes the file nevertheless.
        if disk.exists(&probe)? {
            disk.remove(&probe)?;
        }
        match outcome {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                log::warn!(
                    "Failed to set O_DIRECT on file {}: OPEN: {error}, continuing anyway.",
                    probe.display()
                );
                Ok(Access::Buffered)
            }
            outcome => Ok(outcome?),
        }
    }
}
