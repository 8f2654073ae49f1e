//! The configuration of a pool, and the numbers of frames and instances that follow from it.

use std::path::{Path, PathBuf};

use os::disk::{Access, Disk, OpenMode};

use crate::error::{BufferError, Result};
use crate::options::PoolOptions;
use crate::page::PAGE_SIZES;

/// The number of frames of the smallest pool: enough for every thread of a small server to hold the
/// pages of a structure change.
const MIN_FRAMES: usize = 64;

/// The least number of frames of an instance when `innodb_buffer_pool_instances` is 0.
const AUTO_FRAMES: usize = 1024;
/// The number of instances when `innodb_buffer_pool_instances` is 0, for pools below this many
/// gigabytes. Each instance has an LRU flusher, and while one waits for the device the others
/// write.
const AUTO_INSTANCES: usize = 4;

/// The configuration of a pool.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// The memory for pages, in bytes (`innodb_buffer_pool_size`).
    pub capacity_bytes: usize,
    /// The size of a page in bytes (`innodb_page_size`): 4096, 8192, 16384, 32768 or 65536.
    pub page_size: usize,
    /// The data directory, where the doublewrite file is.
    pub datadir: PathBuf,
    /// The other options of the pool.
    pub options: PoolOptions,
}

impl PoolConfig {
    /// Returns MySQL's defaults for a data directory, with a pool of `capacity_bytes`.
    pub fn new(datadir: &Path, capacity_bytes: usize) -> PoolConfig {
        PoolConfig {
            capacity_bytes,
            page_size: 16384,
            datadir: datadir.to_owned(),
            options: PoolOptions::default(),
        }
    }

    /// Returns how many frames the pool has.
    ///
    /// # Errors
    /// Returns [`BufferError::Config`] when no pool can have this page size, or this memory.
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

    /// Returns how many instances the pool's `frames` frames are divided into.
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

    /// Returns how pages are accessed: as the options ask, or through the page cache if the file
    /// system refuses direct access.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub(crate) fn access(&self, disk: &dyn Disk) -> Result<Access> {
        if !self.options.flush_method.is_direct() {
            return Ok(Access::Buffered);
        }
        let direct = Access::Direct { native_aio: self.options.native_aio };
        let probe = self.datadir.join("#innodb_direct_io");
        let outcome = disk.open_with(&probe, OpenMode::OpenOrCreate, direct).map(|_| direct);
        // A file system that refuses direct access has created the file nevertheless.
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
