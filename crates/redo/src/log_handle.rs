//! The log's handle, which the layers above use.

use os::sync::atomic::{AtomicU64, Ordering};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use os::disk::Disk;
use os::sync::Mutex;
use os::thread::JoinHandle;

use crate::core::Core;
use crate::space::Space;
use crate::{Checkpoint, LogConfig, LogCopy, LogReader, Lsn, RedoError, Reservation, make_space, open};

/// An open log, with its threads: the writer, the flusher and the files governor. Dropping it
/// closes it.
pub struct Log {
    core: Arc<Core>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The result of [`Log::open_noting`].
#[derive(Debug)]
pub struct Opened {
    /// The log.
    pub log: Arc<Log>,
    /// The checkpoint to recover from.
    pub checkpoint: Checkpoint,
    /// Stretches of whole records, in order. They have all records that were wanted, and may have
    /// others.
    pub noted: Vec<Range<Lsn>>,
}

/// The counters of a log since it was opened, and its positions, for SHOW STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogStatus {
    /// The log's end (`Innodb_redo_log_current_lsn`).
    pub current_lsn: Lsn,
    /// The end of the bytes that are written to the files.
    pub written_lsn: Lsn,
    /// The end of the bytes that are durable (`Innodb_redo_log_flushed_to_disk_lsn`).
    pub durable_lsn: Lsn,
    /// The start of the newest checkpoint (`Innodb_redo_log_checkpoint_lsn`).
    pub checkpoint_lsn: Lsn,
    /// The capacity in bytes that the log is to have (`innodb_redo_log_capacity`).
    pub capacity_bytes: u64,
    /// The capacity in bytes that is in force (`Innodb_redo_log_capacity_resized`). It is larger
    /// than `capacity_bytes` while the log is being made smaller.
    pub resized_bytes: u64,
    /// Whether the log, or one of its files, is still larger than it is to be
    /// (`Innodb_redo_log_resize_status`).
    pub resizing_down: bool,
    /// The bytes of all log files (`Innodb_redo_log_physical_size`).
    pub physical_bytes: u64,
    /// The number of records (`Innodb_log_write_requests`). A large record counts once for each of
    /// its parts.
    pub write_requests: u64,
    /// The number of writes to the files (`Innodb_log_writes`).
    pub writes: u64,
    /// The number of bytes written to the files (`Innodb_os_log_written`).
    pub written_bytes: u64,
    /// The number of syncs (`Innodb_os_log_fsyncs`).
    pub syncs: u64,
    /// The time spent in syncs, in nanoseconds.
    pub sync_ns: u64,
    /// How many times a record waited for room in the log buffer (`Innodb_log_waits`).
    pub buffer_waits: u64,
    /// How many times a thread waited for a checkpoint to free space.
    pub space_waits: u64,
}

/// The function that one of the log's threads runs.
type Job = fn(&Core);

impl Log {
    /// Makes an empty log in `#innodb_redo` of the configured directory.
    ///
    /// # Errors
    /// Returns [`RedoError::Exists`] when there is a log.
    pub fn create(disk: Arc<dyn Disk>, config: LogConfig) -> Result<Arc<Log>, RedoError> {
        open::create(disk, &config).map(Log::start)
    }

    /// Opens a log, finds its end, and returns the checkpoint to recover from. The caller reads the
    /// records from its LSN on with [`Log::read_from`].
    ///
    /// # Errors
    /// Returns [`RedoError::Missing`] when there is no log, and [`RedoError::Corrupt`] when the
    /// files cannot be those of the log that the checkpoint belongs to.
    pub fn open(disk: Arc<dyn Disk>, config: LogConfig) -> Result<(Arc<Log>, Checkpoint), RedoError> {
        let opened = Log::open_noting(disk, config, &mut |_, _| false)?;
        Ok((opened.log, opened.checkpoint))
    }

    /// Opens a log as [`Log::open`] does, which goes through all records from the checkpoint on,
    /// and notes where the wanted records are. `wanted` decides by a record's kind and the first
    /// bytes of its payload.
    ///
    /// # Errors
    /// Returns the errors of [`Log::open`].
    pub fn open_noting(
        disk: Arc<dyn Disk>,
        config: LogConfig,
        wanted: &mut dyn FnMut(u8, &[u8]) -> bool,
    ) -> Result<Opened, RedoError> {
        let (core, checkpoint, noted) = open::open(disk, &config, wanted)?;
        Ok(Opened { log: Log::start(core), checkpoint, noted })
    }

    fn start(core: Core) -> Arc<Log> {
        let core = Arc::new(core);
        let jobs: [(&str, Job); 3] = [
            ("log_writer", Core::run_writer),
            ("log_flusher", Core::run_flusher),
            ("log_files_governor", Core::run_governor),
        ];
        let threads = jobs.map(|(name, run)| {
            let core = Arc::clone(&core);
            os::thread::spawn(name, move || run(&core))
        });
        Arc::new(Log { core, threads: Mutex::new(threads.into()) })
    }

    /// Takes the next bytes of the log for a record of this payload length. The order of calls is
    /// the order of the log. Never waits. The reservation must be filled soon, and nothing may be
    /// waited for in between.
    ///
    /// # Errors
    /// Returns [`RedoError::RecordTooLarge`]. Nothing is reserved then.
    pub fn reserve(&self, payload_bytes: u64) -> Result<Reservation<'_>, RedoError> {
        Reservation::take(&self.core, payload_bytes)
    }

    /// Returns the length in bytes of the longest payload that [`Log::reserve`] accepts.
    pub fn max_payload_bytes(&self) -> u64 {
        Reservation::max_payload_bytes(&self.core)
    }

    /// Pokes the checkpointer while the log is filling, and waits while it is nearly full. To be
    /// called before reserving, with no latch held. Returns early when the log is poisoned or
    /// closed, which the next call reports.
    #[inline]
    pub fn free_check(&self) {
        make_space::wait_below(&self.core, Space::hard_limit_bytes);
    }

    /// Does the same as [`Log::free_check`] for a thread that writes a lot. It waits earlier, so
    /// that others do not have to.
    #[inline]
    pub fn free_check_in_bulk(&self) {
        make_space::wait_below(&self.core, Space::bulk_limit_bytes);
    }

    /// Ends the waiting for space on a full disk. From now on a thread that needs space for bytes
    /// that cannot be taken back ends the process, and the next start finds in the log what was
    /// promised. This is for the server's shutdown, which must not depend on somebody freeing
    /// space.
    pub fn give_up_on_full_disk(&self) {
        self.core.gives_up_on_full_disk.store(true, Ordering::Relaxed);
    }

    /// Reports whether a full disk is no longer waited out.
    pub fn gives_up_on_full_disk(&self) -> bool {
        self.core.gives_up_on_full_disk.load(Ordering::Relaxed)
    }

    /// Sets the function that [`Log::free_check`] calls to have a checkpoint made. It must not wait
    /// for the log. It replaces an earlier one.
    pub fn on_space_needed(&self, hook: Box<dyn Fn() + Send + Sync>) {
        self.core.space.set_hook(hook);
    }

    /// Returns the log's end: the position at which the next record will begin.
    #[inline]
    pub fn current_lsn(&self) -> Lsn {
        self.core.reserved()
    }

    /// Returns the end of the bytes that are written to the files and survive the end of the
    /// process.
    #[inline]
    pub fn written_lsn(&self) -> Lsn {
        self.core.written()
    }

    /// Returns the end of the bytes that are synced and survive a power cut.
    #[inline]
    pub fn durable_lsn(&self) -> Lsn {
        self.core.durable()
    }

    /// Returns the start of the newest checkpoint.
    pub fn checkpoint_lsn(&self) -> Lsn {
        self.core.space.checkpoint_lsn()
    }

    /// Returns when everything before `lsn` is written. The caller has no unfilled reservation.
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed.
    #[inline]
    pub fn wait_written(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.core.write_through(lsn)
    }

    /// Returns when everything before `lsn` is durable. The caller has no unfilled reservation.
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed. The record may or may not survive.
    #[inline]
    pub fn wait_durable(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.core.wait_durable(lsn)
    }

    /// Returns when everything before `lsn` is durable, for a background thread that follows the
    /// log. It takes the syncs as they come and hurries none, so it may wait for some milliseconds
    /// more than [`Log::wait_durable`]. It requests a sync only if `asks` is true; otherwise
    /// another thread is about to.
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed. The record may or may not survive.
    pub fn follow_durable(&self, lsn: Lsn, asks: bool) -> Result<(), RedoError> {
        self.core.follow_durable(lsn, asks)
    }

    /// Waits as long as `innodb_flush_log_at_trx_commit` demands of a commit whose record ends at
    /// `lsn`: until it is durable (1), until it is written (2), or not at all (0).
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed.
    pub fn commit_wait(&self, lsn: Lsn) -> Result<(), RedoError> {
        match self.core.flush_at_trx_commit.load(Ordering::Relaxed) {
            1 => self.core.wait_durable(lsn),
            2 => self.core.write_through(lsn),
            _ => {
                self.core.request_written(lsn);
                self.core.check()
            }
        }
    }

    /// Requests what [`Log::commit_wait`] waits for, for a caller that does not wait, such as a
    /// replica's applier: everything before `lsn` is synced (1) or written (0, 2) in the
    /// background.
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed.
    pub fn commit_request(&self, lsn: Lsn) -> Result<(), RedoError> {
        match self.core.flush_at_trx_commit.load(Ordering::Relaxed) {
            1 => self.core.request_durable(lsn),
            _ => self.core.request_written(lsn),
        }
        self.core.check()
    }

    /// Requests that everything before `lsn` is synced soon, in the background. Does not wait.
    pub fn request_durable(&self, lsn: Lsn) {
        self.core.request_durable(lsn);
    }

    /// Requests that everything before `lsn` is written soon, in the background. Does not wait.
    pub fn request_written(&self, lsn: Lsn) {
        self.core.request_written(lsn);
    }

    /// Sets `innodb_flush_log_at_trx_commit` to 0, 1 or 2. Other numbers count as 0.
    pub fn set_flush_at_trx_commit(&self, value: u8) {
        // Relaxed: commits after the change see the value soon, and it orders nothing else.
        self.core.flush_at_trx_commit.store(value, Ordering::Relaxed);
    }

    /// Returns the value of `innodb_flush_log_at_trx_commit` in force.
    pub fn flush_at_trx_commit(&self) -> u8 {
        self.core.flush_at_trx_commit.load(Ordering::Relaxed)
    }

    /// Sets `innodb_redo_log_capacity`, in bytes. A larger capacity is there at once, a smaller one
    /// when checkpoints have freed the space. Until then [`LogStatus::resizing_down`] is true.
    pub fn set_capacity(&self, bytes: u64) {
        make_space::set_capacity(&self.core, bytes);
    }

    /// Returns `innodb_redo_log_capacity` in bytes.
    #[inline]
    pub fn capacity_bytes(&self) -> u64 {
        self.core.space.wanted_bytes()
    }

    /// Sets `innodb_log_buffer_size`, in bytes, rounded up to a power of two. Nobody waits for the
    /// change: the buffer of the new size is used from about a lap of the old one on.
    pub fn set_buffer_bytes(&self, bytes: u64) {
        self.core.set_buffer_bytes(bytes);
    }

    /// Sets `innodb_log_writer_threads`. If it is on, all writing and syncing is left to the log's
    /// own threads. If it is off, a thread that needs a write or a sync does it when no other
    /// thread is doing it.
    pub fn set_writer_threads(&self, on: bool) {
        // Threads that wait for one of the log's threads notice the change themselves, after a
        // short time.
        self.core.writer_threads.store(on, Ordering::Relaxed);
        self.core.wake_all();
    }

    /// Returns the value of `innodb_log_writer_threads` in force.
    pub fn writer_threads(&self) -> bool {
        self.core.writer_threads.load(Ordering::Relaxed)
    }

    /// Returns a reader that begins at `lsn`, which must be a record's start or the log's end, and
    /// not before the checkpoint.
    pub fn read_from(&self, lsn: Lsn) -> LogReader {
        LogReader::new(Arc::clone(&self.core), lsn)
    }

    /// Begins a copy of the log in `#innodb_redo` of another data directory, from the newest
    /// checkpoint on. The log keeps what is still to be copied.
    ///
    /// # Errors
    /// Returns I/O errors of either log.
    pub fn copy_to(&self, disk: &Arc<dyn Disk>, datadir: &Path) -> Result<LogCopy, RedoError> {
        LogCopy::begin(&self.core, disk, datadir)
    }

    /// Makes a checkpoint: a later [`Log::open`] returns `lsn` and `state`, and reads records from
    /// `lsn` on, which must be a record's start or the log's end. Waits until everything that is in
    /// the log now is durable, writes and syncs the checkpoint, and only then lets files wholly
    /// before `lsn` be recycled.
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed or fails now.
    ///
    /// # Panics
    /// Panics when `lsn` is before the last checkpoint or beyond the log's end.
    pub fn write_checkpoint(&self, lsn: Lsn, state: &[u8]) -> Result<(), RedoError> {
        make_space::write_checkpoint(&self.core, lsn, state)
    }

    /// Returns the cause of the log's failure, if it has failed.
    pub fn failure(&self) -> Option<String> {
        self.core.poison.lock().clone()
    }

    /// Returns the counters and positions.
    pub fn status(&self) -> LogStatus {
        let (core, counters) = (&self.core, &self.core.counters);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LogStatus {
            current_lsn: core.reserved(),
            written_lsn: core.written(),
            durable_lsn: core.durable(),
            checkpoint_lsn: core.space.checkpoint_lsn(),
            capacity_bytes: core.space.wanted_bytes(),
            resized_bytes: core.space.in_force_bytes(),
            resizing_down: core.space.in_force_bytes() > core.space.wanted_bytes()
                || core.files.have_too_large(),
            physical_bytes: core.files.size_bytes(),
            write_requests: read(&counters.write_requests),
            writes: read(&counters.writes),
            written_bytes: read(&counters.written_bytes),
            syncs: read(&counters.syncs),
            sync_ns: read(&counters.sync_ns),
            buffer_waits: read(&counters.buffer_waits),
            space_waits: read(&counters.space_waits),
        }
    }

    /// Syncs everything that is in the log and ends the threads. Readers come to their end. Nothing
    /// may be reserved afterwards. A second call does nothing.
    ///
    /// # Errors
    /// Returns [`RedoError::Poisoned`] when the log has failed. The threads have ended all the
    /// same.
    pub fn close(&self) -> Result<(), RedoError> {
        let mut threads = self.threads.lock();
        if threads.is_empty() {
            return self.core.check();
        }
        let synced = self.core.wait_durable(self.core.reserved());
        self.core.closing.store(true, Ordering::SeqCst);
        self.core.wake_all();
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                self.core.fail("a thread of the log panicked");
            }
        }
        synced
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::error!("{error}");
        }
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Log({:?})", self.status())
    }
}
