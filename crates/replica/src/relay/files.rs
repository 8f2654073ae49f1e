//! The files of the relay log, and the state that its writer and its reader share.
//!
//! Lock order: `files` before `shared`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use os::disk::{Disk, File, OpenMode};
use parking_lot::{Condvar, Mutex};
use source::series::FileSeries;

use super::head::file_head;
use crate::channel_name::escape_name;

/// The settings of the relay log. A size of 0 means that there is no limit.
#[derive(Debug, Clone)]
pub struct RelayLogConfig {
    /// The system variable `relay_log`: the files' base name, relative to the data directory.
    pub basename: String,
    /// The system variable `relay_log_index`: the name of the index. `None` means that the base
    /// name gives it.
    pub index: Option<String>,
    /// The size in bytes at which a file ends: `max_relay_log_size`, or `max_binlog_size` where
    /// that is 0.
    pub max_file_bytes: u64,
    /// The system variable `relay_log_space_limit`, in bytes.
    pub space_limit_bytes: u64,
    /// The system variable `relay_log_purge`: whether files are removed once they are applied.
    pub purge: bool,
}

impl RelayLogConfig {
    /// Returns the settings of a channel's relay log. As in mysqld, the files of a named channel
    /// have its name behind the base name.
    pub(crate) fn of_channel(&self, name: &str) -> RelayLogConfig {
        if name.is_empty() {
            return self.clone();
        }
        let name = escape_name(name);
        let index = self.index.as_ref().map(|index| {
            let stem = index.strip_suffix(".index").unwrap_or(index);
            format!("{stem}-{name}.index")
        });
        RelayLogConfig { basename: format!("{}-{name}", self.basename), index, ..self.clone() }
    }
}

/// A position in the relay log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RelayPosition {
    /// The number of the file.
    pub file: u64,
    /// The offset in the file.
    pub pos: u64,
}

/// The files of the relay log.
pub struct RelayLog {
    disk: Arc<dyn Disk>,
    pub(super) config: RelayLogConfig,
    /// The two settings that change at run time. Relaxed: it does no harm when one more file
    /// follows the old value.
    pub(super) max_file_bytes: AtomicU64,
    purge: AtomicBool,
    files: Mutex<FileSeries>,
    shared: Mutex<Shared>,
    /// Notified when the end has moved, or a waiting thread has to look whether it must stop.
    grown: Condvar,
    /// Notified when files have been removed because the reader is done with them.
    freed: Condvar,
}

#[derive(Default)]
struct Shared {
    /// The newest file and the end of its written part.
    end: RelayPosition,
    /// The lengths in bytes of the finished files that still exist, by number.
    finished: BTreeMap<u64, u64>,
    /// The position that the reader has reached.
    read: RelayPosition,
    /// The number of wake-ups that are not about growth.
    nudges: u64,
}

impl RelayLog {
    /// Opens the relay log of a data directory, drops the files of an earlier process and begins
    /// the first file.
    pub fn start_anew(
        disk: Arc<dyn Disk>,
        datadir: &Path,
        config: RelayLogConfig,
    ) -> io::Result<Arc<RelayLog>> {
        let mut files = FileSeries::open(disk.clone(), datadir, &config.basename, config.index.as_deref())?;
        files.remove_all()?;
        let log = RelayLog {
            disk,
            max_file_bytes: config.max_file_bytes.into(),
            purge: config.purge.into(),
            config,
            files: Mutex::new(files),
            shared: Mutex::new(Shared::default()),
            grown: Condvar::new(),
            freed: Condvar::new(),
        };
        log.next_file()?;
        Ok(Arc::new(log))
    }

    /// Begins the next file, which is the newest from now on. The one before is complete.
    pub(super) fn next_file(&self) -> io::Result<(u64, Arc<dyn File>)> {
        let head = file_head();
        let mut files = self.files.lock();
        let (number, file) = files.create_next(&head)?;
        let mut shared = self.shared.lock();
        let before = shared.end;
        if before.file != 0 {
            shared.finished.insert(before.file, before.pos);
        }
        shared.end = RelayPosition { file: number, pos: head.len() as u64 };
        if shared.read.file == 0 {
            shared.read = RelayPosition { file: number, pos: 4 };
        }
        self.grown.notify_all();
        Ok((number, file))
    }

    /// Drops all files and begins a new, empty one. No reader and no writer may be at work.
    pub fn drop_all(&self) -> io::Result<()> {
        let mut files = self.files.lock();
        // The new file comes first, so that numbers go on and the index is never empty.
        let head = file_head();
        let (number, _) = files.create_next(&head)?;
        files.remove_before(number)?;
        let mut shared = self.shared.lock();
        shared.finished.clear();
        shared.end = RelayPosition { file: number, pos: head.len() as u64 };
        shared.read = RelayPosition { file: number, pos: 4 };
        Ok(())
    }

    /// Removes all files and the index, because the channel is removed.
    pub fn remove_all(&self) -> io::Result<()> {
        let mut files = self.files.lock();
        files.remove_all()?;
        files.remove_index()
    }

    /// Returns the end that the writer has published.
    pub fn end(&self) -> RelayPosition {
        self.shared.lock().end
    }

    /// Returns the end of the last event that the reader has finished.
    pub fn read_position(&self) -> RelayPosition {
        self.shared.lock().read
    }

    /// Returns the size of all existing files together, in bytes (`Relay_Log_Space`).
    pub fn space_bytes(&self) -> u64 {
        let shared = self.shared.lock();
        shared.finished.values().sum::<u64>() + shared.end.pos
    }

    /// Returns the name of a file as it is shown to users.
    pub fn name(&self, number: u64) -> String {
        self.files.lock().name(number)
    }

    /// Returns name and path of each existing file, the oldest first.
    pub fn list(&self) -> Vec<(String, std::path::PathBuf)> {
        let files = self.files.lock();
        files.numbers().iter().map(|&n| (files.name(n), files.path(n))).collect()
    }

    /// Wakes a reader or writer that waits, so that it looks at its stop condition.
    pub fn nudge(&self) {
        let mut shared = self.shared.lock();
        shared.nudges += 1;
        self.grown.notify_all();
        self.freed.notify_all();
    }

    pub(super) fn publish(&self, end: RelayPosition) {
        let mut shared = self.shared.lock();
        assert!(end >= shared.end, "the relay log grows: {end:?} comes after {:?}", shared.end);
        shared.end = end;
        self.grown.notify_all();
    }

    /// Returns the offset up to which `file` may be read, and whether the file is complete.
    pub(super) fn readable(&self, file: u64) -> (u64, bool) {
        let shared = self.shared.lock();
        if shared.end.file == file {
            return (shared.end.pos, false);
        }
        (shared.finished.get(&file).copied().unwrap_or(0), true)
    }

    /// Waits for at most `limit` until the log reaches beyond `at`, or until a nudge.
    pub(super) fn wait_beyond(&self, at: RelayPosition, limit: Duration) {
        let mut shared = self.shared.lock();
        let nudges = shared.nudges;
        if shared.end <= at && shared.nudges == nudges {
            self.grown.wait_for(&mut shared, limit);
        }
    }

    /// Waits until all files together are no larger than the space limit. Returns at once where
    /// there is no limit, and false when `stop` says that the writer has to stop.
    pub(super) fn wait_for_space(&self, stop: &dyn Fn() -> bool) -> bool {
        if self.config.space_limit_bytes == 0 {
            return true;
        }
        let mut shared = self.shared.lock();
        loop {
            let space = shared.finished.values().sum::<u64>() + shared.end.pos;
            // A single, unfinished file has to be allowed, or a limit below the size of a file
            // would block for ever.
            if space <= self.config.space_limit_bytes || shared.finished.is_empty() {
                return true;
            }
            if stop() {
                return false;
            }
            self.freed.wait_for(&mut shared, Duration::from_secs(1));
        }
    }

    /// Notes that everything up to `done` is applied, and removes the files before it.
    pub fn note_done(&self, done: RelayPosition) -> io::Result<()> {
        self.shared.lock().read = done;
        self.release_before(done.file)
    }

    /// Removes the files before `file`, with which the reader is done, if `relay_log_purge` is on.
    fn release_before(&self, file: u64) -> io::Result<()> {
        if !self.purge.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut files = self.files.lock();
        if files.numbers().first().is_none_or(|&oldest| oldest >= file) {
            return Ok(());
        }
        files.remove_before(file)?;
        let mut shared = self.shared.lock();
        shared.finished.retain(|&number, _| number >= file);
        self.freed.notify_all();
        Ok(())
    }

    pub(super) fn open_file(&self, number: u64) -> io::Result<Arc<dyn File>> {
        self.files.lock().open_file(number, OpenMode::Read)
    }

    pub(super) fn following(&self, number: u64) -> Option<u64> {
        let files = self.files.lock();
        let at = files.numbers().partition_point(|&n| n <= number);
        files.numbers().get(at).copied()
    }

    /// Sets `relay_log_purge`.
    pub fn set_purge(&self, purge: bool) {
        self.purge.store(purge, Ordering::Relaxed);
    }

    /// Sets the size in bytes at which a file ends: `max_relay_log_size`, or `max_binlog_size`
    /// where that is 0.
    pub fn set_max_file_bytes(&self, max_file_bytes: u64) {
        self.max_file_bytes.store(max_file_bytes, Ordering::Relaxed);
    }

    /// Returns the disk that the files are on.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }
}
