//! The handle that the layers above hold.

use os::sync::atomic::{AtomicU64, Ordering};
use std::ops::Range;
use std::sync::Arc;

use os::disk::Disk;
use os::sync::Mutex;
use os::thread::JoinHandle;

use crate::core::Core;
use crate::space::Space;
use crate::{Checkpoint, LogConfig, LogReader, Lsn, RedoError, Reservation, make_space, open};

/// An open log, its writer, flusher and files governor. Dropping it closes it.
pub struct Log {
    core: Arc<Core>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What [`Log::open_noting`] comes to.
#[derive(Debug)]
pub struct Opened {
    /// The log.
    pub log: Arc<Log>,
    /// To recover from.
    pub checkpoint: Checkpoint,
    /// Stretches of whole records, in order, that have all those that were wanted, and may have
    /// others.
    pub noted: Vec<Range<Lsn>>,
}

/// Counters of a log since it was opened, and its positions; for SHOW STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogStatus {
    /// `Innodb_redo_log_current_lsn`.
    pub current_lsn: Lsn,
    /// End of what is written.
    pub written_lsn: Lsn,
    /// `Innodb_redo_log_flushed_to_disk_lsn`.
    pub durable_lsn: Lsn,
    /// `Innodb_redo_log_checkpoint_lsn`.
    pub checkpoint_lsn: Lsn,
    /// `innodb_redo_log_capacity` as it is to be.
    pub capacity_bytes: u64,
    /// `Innodb_redo_log_capacity_resized`: the capacity in force, more than that while the log is
    /// being made smaller.
    pub resized_bytes: u64,
    /// `Innodb_redo_log_resize_status`: the log, or one of its files, is still larger than it is to
    /// be.
    pub resizing_down: bool,
    /// `Innodb_redo_log_physical_size`.
    pub physical_bytes: u64,
    /// `Innodb_log_write_requests`: records (a large one counts by its parts).
    pub write_requests: u64,
    /// `Innodb_log_writes`.
    pub writes: u64,
    /// `Innodb_os_log_written`, in bytes.
    pub written_bytes: u64,
    /// `Innodb_os_log_fsyncs`.
    pub syncs: u64,
    /// Time spent in them.
    pub sync_ns: u64,
    /// `Innodb_log_waits`: a record waited for room in the log buffer.
    pub buffer_waits: u64,
    /// A thread waited for a checkpoint to free space.
    pub space_waits: u64,
}

/// What one of the log's threads runs.
type Job = fn(&Core);

impl Log {
    /// Makes an empty log in `#innodb_redo` of the configured directory.
    ///
    /// # Errors
    /// [`RedoError::Exists`] when there is one.
    pub fn create(disk: Arc<dyn Disk>, config: LogConfig) -> Result<Arc<Log>, RedoError> {
        open::create(disk, &config).map(Log::start)
    }

    /// Opens a log, finds its end, and gives the checkpoint to recover from: read on from its LSN
    /// with [`Log::read_from`].
    ///
    /// # Errors
    /// [`RedoError::Missing`] when there is none, [`RedoError::Corrupt`] when what is there cannot
    /// be the log that the checkpoint is of.
    pub fn open(disk: Arc<dyn Disk>, config: LogConfig) -> Result<(Arc<Log>, Checkpoint), RedoError> {
        let opened = Log::open_noting(disk, config, &mut |_, _| false)?;
        Ok((opened.log, opened.checkpoint))
    }

    /// As [`Log::open`], which goes through all records from the checkpoint on: notes where those
    /// are of which `wanted` says so by their kind and the first bytes that they hold.
    ///
    /// # Errors
    /// As [`Log::open`].
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
    /// [`RedoError::RecordTooLarge`]; nothing is reserved then.
    pub fn reserve(&self, payload_bytes: u64) -> Result<Reservation<'_>, RedoError> {
        Reservation::take(&self.core, payload_bytes)
    }

    /// The longest payload that [`Log::reserve`] accepts.
    pub fn max_payload_bytes(&self) -> u64 {
        Reservation::max_payload_bytes(&self.core)
    }

    /// To be called with no latch held before reserving: pokes the checkpointer while the log is
    /// filling, waits while it is nearly full. Returns early when the log is poisoned or closed;
    /// what comes next reports it.
    #[inline]
    pub fn free_check(&self) {
        make_space::wait_below(&self.core, Space::hard_limit_bytes);
    }

    /// As [`Log::free_check`], for a thread that writes a lot: it waits earlier, so that others do
    /// not have to.
    #[inline]
    pub fn free_check_in_bulk(&self) {
        make_space::wait_below(&self.core, Space::bulk_limit_bytes);
    }

    /// From here on a full disk is not waited out: a thread that needs space for what cannot be
    /// taken back ends the process, whose next start finds in the log what was promised. For the
    /// end of the server, which must not depend on somebody who frees space.
    pub fn give_up_on_full_disk(&self) {
        self.core.gives_up_on_full_disk.store(true, Ordering::Relaxed);
    }

    /// Whether a full disk is waited out no more.
    pub fn gives_up_on_full_disk(&self) -> bool {
        self.core.gives_up_on_full_disk.load(Ordering::Relaxed)
    }

    /// What [`Log::free_check`] calls to have a checkpoint made. It must not wait for the log.
    /// Replaces an earlier hook.
    pub fn on_space_needed(&self, hook: Box<dyn Fn() + Send + Sync>) {
        self.core.space.set_hook(hook);
    }

    /// The log's end: where the next record will begin.
    #[inline]
    pub fn current_lsn(&self) -> Lsn {
        self.core.reserved()
    }

    /// End of what is written to the files, and survives the end of the process.
    #[inline]
    pub fn written_lsn(&self) -> Lsn {
        self.core.written()
    }

    /// End of what is synced, and survives a power cut.
    #[inline]
    pub fn durable_lsn(&self) -> Lsn {
        self.core.durable()
    }

    /// Start of the newest checkpoint.
    pub fn checkpoint_lsn(&self) -> Lsn {
        self.core.space.checkpoint_lsn()
    }

    /// Returns when everything before `lsn` is written. Not with a reservation unfilled.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed.
    #[inline]
    pub fn wait_written(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.core.write_through(lsn)
    }

    /// Returns when everything before `lsn` is durable. Not with a reservation unfilled.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed: the record may or may not survive.
    #[inline]
    pub fn wait_durable(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.core.wait_durable(lsn)
    }

    /// As [`Log::wait_durable`] for a background thread that follows the log: takes the syncs as
    /// they come and causes none sooner, so it may wait for some milliseconds more. It causes one
    /// at all only if it `asks`; else somebody else is about to.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed: the record may or may not survive.
    pub fn follow_durable(&self, lsn: Lsn, asks: bool) -> Result<(), RedoError> {
        self.core.follow_durable(lsn, asks)
    }

    /// What `innodb_flush_log_at_trx_commit` demands of a commit whose record ends at `lsn`: 1
    /// durable, 2 written, 0 nothing.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed.
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

    /// As [`Log::commit_wait`] for a caller that does not wait, such as a replica's applier: it has
    /// `lsn` synced (1) or written (0, 2) in the background.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed.
    pub fn commit_request(&self, lsn: Lsn) -> Result<(), RedoError> {
        match self.core.flush_at_trx_commit.load(Ordering::Relaxed) {
            1 => self.core.request_durable(lsn),
            _ => self.core.request_written(lsn),
        }
        self.core.check()
    }

    /// Has everything before `lsn` synced in the background, soon; does not wait.
    pub fn request_durable(&self, lsn: Lsn) {
        self.core.request_durable(lsn);
    }

    /// Has everything before `lsn` written in the background, soon; does not wait.
    pub fn request_written(&self, lsn: Lsn) {
        self.core.request_written(lsn);
    }

    /// Sets `innodb_flush_log_at_trx_commit`: 0, 1 or 2; other numbers count as 0.
    pub fn set_flush_at_trx_commit(&self, value: u8) {
        // Relaxed: commits after the change see it soon, and the value orders nothing else.
        self.core.flush_at_trx_commit.store(value, Ordering::Relaxed);
    }

    /// `innodb_flush_log_at_trx_commit` in force.
    pub fn flush_at_trx_commit(&self) -> u8 {
        self.core.flush_at_trx_commit.load(Ordering::Relaxed)
    }

    /// Sets `innodb_redo_log_capacity`. More room is there at once; less when checkpoints have
    /// freed it, until when [`LogStatus::resizing_down`] says so.
    pub fn set_capacity(&self, bytes: u64) {
        make_space::set_capacity(&self.core, bytes);
    }

    /// `innodb_redo_log_capacity` in bytes.
    #[inline]
    pub fn capacity_bytes(&self) -> u64 {
        self.core.space.wanted_bytes()
    }

    /// Sets `innodb_log_buffer_size`, rounded up to a power of two. Nobody waits for it: the buffer
    /// of the new size is used from about a lap of the old one on.
    pub fn set_buffer_bytes(&self, bytes: u64) {
        self.core.set_buffer_bytes(bytes);
    }

    /// Sets `innodb_log_writer_threads`: on leaves all writing and syncing to the log's own
    /// threads, off lets whoever needs it and finds nobody at it do it.
    pub fn set_writer_threads(&self, on: bool) {
        // Those who wait for a thread find out by themselves, within their patience.
        self.core.writer_threads.store(on, Ordering::Relaxed);
        self.core.wake_all();
    }

    /// `innodb_log_writer_threads` in force.
    pub fn writer_threads(&self) -> bool {
        self.core.writer_threads.load(Ordering::Relaxed)
    }

    /// A reader from `lsn`, which must be a record's start or the log's end, and not before the
    /// checkpoint.
    pub fn read_from(&self, lsn: Lsn) -> LogReader {
        LogReader::new(Arc::clone(&self.core), lsn)
    }

    /// Makes a checkpoint: a later [`Log::open`] returns `lsn` and `state`, and reads records from
    /// `lsn` on, which must be a record's start or the log's end. Waits until all that is in the
    /// log now is durable, writes and syncs the checkpoint, and only then lets files wholly before
    /// `lsn` be recycled.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed or fails now.
    ///
    /// # Panics
    /// When `lsn` is before the last checkpoint or beyond the log's end.
    pub fn write_checkpoint(&self, lsn: Lsn, state: &[u8]) -> Result<(), RedoError> {
        make_space::write_checkpoint(&self.core, lsn, state)
    }

    /// Why the log has failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.core.poison.lock().clone()
    }

    /// Counters and positions.
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

    /// Syncs what is there and ends the threads; readers come to their end. Nothing may be reserved
    /// afterwards. A second call does nothing.
    ///
    /// # Errors
    /// [`RedoError::Poisoned`] when the log has failed; the threads have ended all the same.
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
