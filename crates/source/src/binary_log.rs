//! The binary log of a server, with the operations that statements and connections ask for.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use binlog::Checksum;
use binlog::gtid::MariadbGtid;
use engine::Engine;
use os::disk::Disk;
use os::thread::JoinHandle;
use parking_lot::Mutex;
use redo::Lsn;

use crate::compression::CompressionStats;
use crate::config::BinlogConfig;
use crate::dump::{self, DumpEnd, DumpRequest, DumpSink};
use crate::error::{BinlogError, Refusal};
use crate::events;
use crate::files::LogFiles;
use crate::mariadb_gtid::{self, NewestGtid};
use crate::position::FilePosition;
use crate::purge::{self, LogFile, LogStatus};
use crate::semi_sync::SemiSync;
use crate::series::FileSeries;
use crate::show::{self, ShowRange, ShownEvent};
use crate::state::{SafePoint, TURNED_OFF};
use crate::tail::Tail;
use crate::{recover, reset, writer};

/// The binary log of a server.
pub struct Binlog {
    files: Arc<LogFiles>,
    newest_mariadb_gtid: NewestGtid,
    /// The writer's thread. A thread that waits for the writer to end holds this lock, and no
    /// other.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Binlog {
    /// Opens the binary log: brings the files to the end of the redo log, starts a new file, as
    /// every start of mysqld does, and starts the writer. The engine must have recovered, and
    /// nothing may commit yet.
    ///
    /// # Errors
    /// Returns an error when files cannot be read or written, or contradict the redo log, and the
    /// engine's errors.
    pub fn open(
        disk: Arc<dyn Disk>,
        engine: Arc<Engine>,
        config: BinlogConfig,
    ) -> Result<Arc<Binlog>, BinlogError> {
        let mut series =
            FileSeries::open(disk.clone(), &config.datadir, &config.basename, config.index.as_deref())?;
        let safe = SafePoint::decode(engine.recovered_participant_state());
        let mut first = None;
        let (lsn, gtids) = match safe {
            Some(safe) if safe.resets() => {
                log::warn!("RESET BINARY LOGS AND GTIDS was cut short by a crash; it is carried out now");
                series.remove_present()?;
                first = Some(safe.file);
                (safe.lsn, safe.gtids)
            }
            Some(safe) if safe.lsn == TURNED_OFF => {
                (engine.visible_lsn(), recover::after_turned_off(&series, safe, &engine)?)
            }
            Some(safe) if series.numbers().binary_search(&safe.file).is_ok() => {
                let tail = recover::rederive(&series, &safe, &engine)?;
                (tail.lsn, tail.gtids)
            }
            Some(safe) => {
                log::warn!(
                    "Binary log file '{}' is not in the index; its successor takes what followed it",
                    series.name(safe.file)
                );
                (safe.lsn, safe.gtids)
            }
            None => {
                // The log begins here: what was executed before, perhaps by the server that this
                // data directory is a copy of, is in none of its files.
                let executed = engine.gtid_executed();
                engine.add_gtid_purged(&executed)?;
                (engine.visible_lsn(), executed)
            }
        };
        let head =
            events::file_head(&config.server_version, config.server_id, &gtids, false, config.checksum);
        let (number, file) = match first {
            Some(first) => series.create_numbered(first, &head)?,
            None => series.create_next(&head)?,
        };
        let at = SafePoint { lsn, file: number, pos: head.len() as u64, sequence_number: 0, gtids };
        let stopping = Arc::new(AtomicBool::new(false));
        let tail = Tail::at(series.name(number), file, &at, config.checksum).until(&stopping);
        tail.mark_in_use(true)?;
        let stream = engine.commit_stream(lsn)?;
        let files = Arc::new(LogFiles::new(disk, engine.clone(), config, series, at, stopping));
        engine.set_commit_waiter(files.semi_sync.clone());
        engine.set_checkpoint_participant(files.safe.clone());
        if first.is_some() {
            // This checkpoint keeps the next start from carrying out the reset again.
            engine.checkpoint()?;
        }
        // From here on a crash finds in the checkpoint the file in which the log goes on.
        engine.checkpoint()?;
        purge::purge_expired(&files);
        let of_writer = files.clone();
        let handle = os::thread::spawn("binlog_writer", move || writer::run(&of_writer, tail, stream));
        let writer = Mutex::new(Some(handle));
        let binlog = Arc::new(Binlog { files, newest_mariadb_gtid: NewestGtid::default(), writer });
        // The writer runs by now, so that checkpoints make the log space that this takes.
        if let Err(error) = binlog.files.engine.settle_claims() {
            binlog.close();
            return Err(error.into());
        }
        Ok(binlog)
    }

    /// Ends the log with a stop event and syncs it. No commit may follow; dump sessions end.
    pub fn close(&self) {
        self.files.shared.lock().stop = true;
        self.files.stopping.store(true, Ordering::Release);
        self.files.asked.notify_one();
        self.files.changed.notify_all();
        if let Some(handle) = self.writer.lock().take()
            && handle.join().is_err()
        {
            log::error!("the binary log's writer ended by a panic");
        }
    }

    /// Returns the value of `@@log_bin_basename`.
    pub fn basename_path(&self) -> PathBuf {
        self.files.series.lock().base_path().to_path_buf()
    }

    /// Returns the value of `@@log_bin_index`.
    pub fn index_path(&self) -> PathBuf {
        self.files.series.lock().index_path().to_path_buf()
    }

    /// Returns the semi-synchronous replication to this server's replicas.
    pub fn semi_sync(&self) -> &SemiSync {
        &self.files.semi_sync
    }

    /// Returns the figures of compressed and plain transactions since the server's start.
    pub fn compression_stats(&self) -> CompressionStats {
        *self.files.compression.lock()
    }

    /// Sets `max_binlog_size`, in bytes.
    pub fn set_max_file_bytes(&self, max_file_bytes: u64) {
        self.files.shared.lock().max_file_bytes = max_file_bytes;
    }

    /// Sets the age in seconds at which files are removed (`binlog_expire_logs_seconds`); 0 keeps
    /// all files.
    pub fn set_expire_after_s(&self, seconds: u64) {
        self.files.shared.lock().expire_after_s = seconds;
    }

    /// Sets `binlog_transaction_dependency_history_size`, in keys.
    pub fn set_dependency_history_size(&self, keys: u64) {
        self.files.shared.lock().dependency_history_size = keys;
    }

    /// Sets `binlog_checksum`, and begins a new file, whose events have the new checksum.
    pub fn set_checksum(&self, checksum: Checksum) -> Result<(), Refusal> {
        self.files.shared.lock().checksum = checksum;
        self.rotate()
    }

    /// Sets `binlog_error_action`: true means IGNORE_ERROR, and false ABORT_SERVER.
    pub fn set_ignores_errors(&self, ignores: bool) {
        self.files.ignores_errors.store(ignores, Ordering::Release);
    }

    /// Reports whether an error has turned the log off, so that there is none until the next start.
    pub fn is_turned_off(&self) -> bool {
        self.files.is_turned_off()
    }

    /// Waits until everything that is committed and visible now is in the files, and returns their
    /// end.
    pub fn wait_caught_up(&self) -> Result<FilePosition, Refusal> {
        self.files.wait_caught_up()
    }

    /// Begins to note which places in the files belong to places in the redo log, from its end on.
    pub fn begin_places(&self) {
        self.files.passed.begin();
    }

    /// Returns the name of the file and the offset in it behind the last transaction that is before
    /// `lsn` in the redo log. `lsn` is a place that the redo log came to after
    /// [`Binlog::begin_places`]. `None` means that the files have not come to it.
    pub fn place_at(&self, lsn: Lsn) -> Option<(String, u64)> {
        if self.files.shared.lock().end_lsn < lsn {
            return None;
        }
        let place = self.files.passed.at(lsn)?;
        Some((self.files.series.lock().name(place.file), place.pos))
    }

    /// Ends what [`Binlog::begin_places`] began.
    pub fn end_places(&self) {
        self.files.passed.end();
    }

    /// Carries out FLUSH BINARY LOGS: everything committed so far stays in the present file, and
    /// what follows goes to a new one.
    pub fn rotate(&self) -> Result<(), Refusal> {
        self.files.wait_caught_up()?;
        let mut shared = self.files.shared.lock();
        shared.rotations_wanted += 1;
        let wanted = shared.rotations_wanted;
        self.files.wait_for_writer(&mut shared, |shared| shared.rotations_done >= wanted)?;
        drop(shared);
        purge::purge_expired(&self.files);
        Ok(())
    }

    /// Carries out RESET BINARY LOGS AND GTIDS [TO first].
    pub fn reset(&self, first: u64) -> Result<(), Refusal> {
        reset::reset(&self.files, first)
    }

    /// Returns the rows of SHOW BINARY LOGS.
    pub fn list(&self) -> Result<Vec<LogFile>, Refusal> {
        purge::list(&self.files)
    }

    /// Returns the files as they are now. Unlike [`Binlog::list`] it does not wait until what is
    /// committed is in them, which takes for ever on a full disk.
    pub fn list_written(&self) -> Vec<LogFile> {
        purge::list_written(&self.files)
    }

    /// Returns the row of SHOW BINARY LOG STATUS.
    pub fn status(&self) -> Result<LogStatus, Refusal> {
        purge::status(&self.files)
    }

    /// Carries out PURGE BINARY LOGS TO.
    pub fn purge_to(&self, name: &str) -> Result<(), Refusal> {
        purge::purge_to(&self.files, name)
    }

    /// Carries out PURGE BINARY LOGS BEFORE: removes the files whose last event is older than this
    /// unix time, in seconds.
    pub fn purge_before(&self, unix_time_s: i64) -> Result<(), Refusal> {
        purge::purge_before(&self.files, unix_time_s)
    }

    /// Returns the rows of SHOW BINLOG EVENTS. Without a file they are those of the first one.
    pub fn events(&self, file: Option<&str>, range: &ShowRange) -> Result<Vec<ShownEvent>, Refusal> {
        show::events_of_log(&self.files, file, range)
    }

    /// Returns the GTID of the last transaction that begins before a position (`BINLOG_GTID_POS`).
    /// An empty name is the first present file. `None` means that there is no transaction before
    /// the position.
    pub fn mariadb_gtid_at(&self, name: &str, pos: u64) -> Result<Option<MariadbGtid>, Refusal> {
        mariadb_gtid::gtid_at(&self.files, name, pos)
    }

    /// Returns the GTID of the last transaction of the log (`gtid_binlog_pos`). `None` means that
    /// there is none, or that transactions have no GTIDs.
    pub fn mariadb_gtid_at_end(&self) -> Result<Option<MariadbGtid>, Refusal> {
        self.newest_mariadb_gtid.get(&self.files)
    }

    /// Serves a dump until it ends.
    pub fn dump(&self, request: &DumpRequest, sink: &mut dyn DumpSink) -> DumpEnd {
        dump::serve(&self.files, request, sink)
    }

    /// Makes all sessions check [`DumpSink::is_killed`] now.
    pub fn wake_sessions(&self) {
        let _shared = self.files.shared.lock();
        self.files.changed.notify_all();
    }
}
