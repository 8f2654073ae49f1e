//! The files of the binary log, and the state that the writer, the dump sessions and the statements
//! about it share.
//!
//! Lock order: `series` before `shared`; `safe` is taken alone. No lock is held while a file is
//! written or synced, except that a rotation or a purge holds `series`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use binlog::Checksum;
use engine::Engine;
use os::disk::Disk;
use parking_lot::{Condvar, Mutex, MutexGuard};
use redo::Lsn;

use crate::compression::CompressionStats;
use crate::config::BinlogConfig;
use crate::error::Refusal;
use crate::passed::Passed;
use crate::position::FilePosition;
use crate::recent::Recent;
use crate::semi_sync::SemiSync;
use crate::series::FileSeries;
use crate::state::{Safe, SafePoint};

/// The state that the writer, the sessions and the statements share.
pub(crate) struct Shared {
    /// The end up to which the files may be read and sent.
    pub end: FilePosition,
    /// The LSN up to which everything of the redo log is before `end`.
    pub end_lsn: Lsn,
    /// The number of rotations that were asked for, and below it the number of those done.
    pub rotations_wanted: u64,
    pub rotations_done: u64,
    /// The file number with which to start again, when RESET BINARY LOGS AND GTIDS has asked for
    /// it.
    pub reset_wanted: Option<u64>,
    pub resets_done: u64,
    /// The reason why the last reset failed.
    pub reset_error: Option<String>,
    /// The settings that can change while the server runs: a file's size in bytes, the age of
    /// expiry in seconds, and the number of remembered keys.
    pub max_file_bytes: u64,
    pub expire_after_s: u64,
    pub dependency_history_size: u64,
    /// The checksum of the files that begin from here on.
    pub checksum: Checksum,
    /// True when the server is shutting down, so that no commit follows.
    pub stop: bool,
    /// A number that grows with every reset, so that dump sessions let go of the old files and end.
    pub generation: u64,
    /// The number of sessions that wait for the writer, which does not rest meanwhile.
    pub waiting: usize,
    /// The newest bytes, kept while there are dump sessions.
    pub recent: Recent,
    /// The files that dump sessions are reading, with the number of sessions for each.
    pub readers: BTreeMap<u64, usize>,
    /// The reason why the writer gave up.
    pub failed: Option<String>,
    /// True when the server goes on without a binary log after the writer gave up.
    pub turned_off: bool,
}

/// The files of a server's binary log, and everything known about them.
pub(crate) struct LogFiles {
    pub(crate) config: BinlogConfig,
    pub(crate) engine: Arc<Engine>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) series: Mutex<FileSeries>,
    pub(crate) shared: Mutex<Shared>,
    /// Notified when `shared` has changed: more to send, a rotation done, the end.
    pub(crate) changed: Condvar,
    /// Notified when the writer must not rest any longer.
    pub(crate) asked: Condvar,
    pub(crate) safe: Arc<Safe>,
    pub(crate) semi_sync: Arc<SemiSync>,
    /// True for `binlog_error_action=IGNORE_ERROR`.
    pub(crate) ignores_errors: AtomicBool,
    /// True when the writer must not wait for space any longer.
    pub(crate) stopping: Arc<AtomicBool>,
    pub(crate) compression: Mutex<CompressionStats>,
    /// The places in the files that belong to places in the redo log.
    pub(crate) passed: Passed,
}

impl Shared {
    /// Builds the state of files whose `end` is behind everything in the redo log up to `lsn`.
    fn new(config: &BinlogConfig, end: FilePosition, lsn: Lsn) -> Shared {
        Shared {
            end,
            end_lsn: lsn,
            rotations_wanted: 0,
            rotations_done: 0,
            reset_wanted: None,
            resets_done: 0,
            reset_error: None,
            max_file_bytes: config.max_file_bytes,
            expire_after_s: config.expire_after_s,
            dependency_history_size: config.dependency_history_size,
            checksum: config.checksum,
            stop: false,
            generation: 0,
            waiting: 0,
            recent: Recent::default(),
            readers: BTreeMap::new(),
            failed: None,
            turned_off: false,
        }
    }

    /// Notes the new end of the log and of the files. The end moves back only by a reset, which
    /// begins a new generation.
    pub fn advance(&mut self, end: FilePosition, lsn: Lsn) {
        assert!(
            end >= self.end && lsn >= self.end_lsn,
            "the binary log grows: {end:?} at LSN {lsn} comes after {:?} at LSN {}",
            self.end,
            self.end_lsn
        );
        (self.end, self.end_lsn) = (end, lsn);
    }
}

impl LogFiles {
    /// Builds the state of the files of a log that ends at a safe point.
    pub fn new(
        disk: Arc<dyn Disk>,
        engine: Arc<Engine>,
        config: BinlogConfig,
        series: FileSeries,
        at: SafePoint,
        stopping: Arc<AtomicBool>,
    ) -> LogFiles {
        let end = FilePosition { file: at.file, pos: at.pos };
        LogFiles {
            shared: Mutex::new(Shared::new(&config, end, at.lsn)),
            semi_sync: Arc::new(SemiSync::new(Arc::downgrade(&engine))),
            config,
            engine,
            disk,
            series: Mutex::new(series),
            changed: Condvar::new(),
            asked: Condvar::new(),
            safe: Arc::new(Safe::new(at)),
            ignores_errors: AtomicBool::new(false),
            stopping,
            compression: Mutex::default(),
            passed: Passed::default(),
        }
    }

    /// Waits until everything that is committed and visible now is in the files, and returns their
    /// end.
    pub fn wait_caught_up(&self) -> Result<FilePosition, Refusal> {
        let lsn = self.engine.visible_lsn();
        let mut shared = self.shared.lock();
        self.wait_for_writer(&mut shared, |shared| shared.end_lsn >= lsn)?;
        Ok(shared.end)
    }

    /// Wakes the writer, and waits until it has done what `is_done` checks, or the server stops.
    ///
    /// # Errors
    /// Returns 1381 when the log has been turned off, and 1026 when the writer has given up.
    pub fn wait_for_writer(
        &self,
        shared: &mut MutexGuard<'_, Shared>,
        is_done: impl Fn(&Shared) -> bool,
    ) -> Result<(), Refusal> {
        while !is_done(shared) && !shared.stop {
            if shared.turned_off {
                return Err(Refusal::new(1381, "You are not using binary logging"));
            }
            if let Some(why) = &shared.failed {
                return Err(not_writable(why));
            }
            shared.waiting += 1;
            self.asked.notify_one();
            self.changed.wait_for(shared, Duration::from_millis(100));
            shared.waiting -= 1;
        }
        Ok(())
    }

    /// Reports whether an error has turned the log off, so that there is none until the next start.
    pub fn is_turned_off(&self) -> bool {
        self.shared.lock().turned_off
    }
}

fn not_writable(why: &str) -> Refusal {
    Refusal::new(1026, format!("Error writing file of the binary log ({why})"))
}
