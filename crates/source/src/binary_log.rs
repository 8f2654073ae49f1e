//! The binary log of a server: opened, closed, set, and asked by statements and connections.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use binlog::Checksum;
use binlog::gtid::MariadbGtid;
use engine::Engine;
use os::disk::Disk;
use os::thread::JoinHandle;
use parking_lot::Mutex;

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
    /// The writer's thread. A thread that holds no other lock holds it while it waits for the
    /// writer to end.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Binlog {
    /// Opens the binary log: brings the files to where the log ends, starts a new file as every
    /// start of mysqld does, and starts the writer. The engine has recovered and nothing commits
    /// yet.
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
            None => (engine.visible_lsn(), engine.gtid_executed()),
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
            // The next start is not to do it again.
            engine.checkpoint()?;
        }
        // From here on a crash finds in the checkpoint which file the log goes on in.
        engine.checkpoint()?;
        purge::purge_expired(&files);
        let of_writer = files.clone();
        let handle = os::thread::spawn("binlog_writer", move || writer::run(&of_writer, tail, stream));
        let writer = Mutex::new(Some(handle));
        Ok(Arc::new(Binlog { files, newest_mariadb_gtid: NewestGtid::default(), writer }))
    }

    /// Ends the log with a stop event and syncs it. Nothing commits any more; dump sessions end.
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

    /// `@@log_bin_basename`
    pub fn basename_path(&self) -> PathBuf {
        self.files.series.lock().base_path().to_path_buf()
    }

    /// `@@log_bin_index`
    pub fn index_path(&self) -> PathBuf {
        self.files.series.lock().index_path().to_path_buf()
    }

    /// Semi-synchronous replication to this server's replicas.
    pub fn semi_sync(&self) -> &SemiSync {
        &self.files.semi_sync
    }

    /// What compression makes of the transactions since the server's start.
    pub fn compression_stats(&self) -> CompressionStats {
        *self.files.compression.lock()
    }

    /// `max_binlog_size` from now on.
    pub fn set_max_file_bytes(&self, max_file_bytes: u64) {
        self.files.shared.lock().max_file_bytes = max_file_bytes;
    }

    /// `binlog_expire_logs_seconds` from now on.
    pub fn set_expire_after_s(&self, seconds: u64) {
        self.files.shared.lock().expire_after_s = seconds;
    }

    /// `binlog_transaction_dependency_history_size` from now on.
    pub fn set_dependency_history_size(&self, keys: u64) {
        self.files.shared.lock().dependency_history_size = keys;
    }

    /// `binlog_checksum`: what follows goes to a new file, whose events end with it.
    pub fn set_checksum(&self, checksum: Checksum) -> Result<(), Refusal> {
        self.files.shared.lock().checksum = checksum;
        self.rotate()
    }

    /// `binlog_error_action` is IGNORE_ERROR from now on, or ABORT_SERVER.
    pub fn set_ignores_errors(&self, ignores: bool) {
        self.files.ignores_errors.store(ignores, Ordering::Release);
    }

    /// It was turned off by an error: there is no binary log until the next start.
    pub fn is_turned_off(&self) -> bool {
        self.files.is_turned_off()
    }

    /// Waits until everything that is committed and visible now is in the files.
    pub fn wait_caught_up(&self) -> Result<FilePosition, Refusal> {
        self.files.wait_caught_up()
    }

    /// FLUSH BINARY LOGS: everything committed so far stays in the present file, what follows goes
    /// to a new one.
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

    /// RESET BINARY LOGS AND GTIDS [TO first].
    pub fn reset(&self, first: u64) -> Result<(), Refusal> {
        reset::reset(&self.files, first)
    }

    /// SHOW BINARY LOGS.
    pub fn list(&self) -> Result<Vec<LogFile>, Refusal> {
        purge::list(&self.files)
    }

    /// SHOW BINARY LOG STATUS.
    pub fn status(&self) -> Result<LogStatus, Refusal> {
        purge::status(&self.files)
    }

    /// PURGE BINARY LOGS TO.
    pub fn purge_to(&self, name: &str) -> Result<(), Refusal> {
        purge::purge_to(&self.files, name)
    }

    /// PURGE BINARY LOGS BEFORE: files whose last event is older than this unix time in seconds.
    pub fn purge_before(&self, unix_time_s: i64) -> Result<(), Refusal> {
        purge::purge_before(&self.files, unix_time_s)
    }

    /// SHOW BINLOG EVENTS; without a file of the first one.
    pub fn events(&self, file: Option<&str>, range: &ShowRange) -> Result<Vec<ShownEvent>, Refusal> {
        show::events_of_log(&self.files, file, range)
    }

    /// The last transaction that begins before a place (`BINLOG_GTID_POS`); a file without a name
    /// is the first one there is. `None`: there is none before it.
    pub fn mariadb_gtid_at(&self, name: &str, pos: u64) -> Result<Option<MariadbGtid>, Refusal> {
        mariadb_gtid::gtid_at(&self.files, name, pos)
    }

    /// The last transaction of all (`gtid_binlog_pos`); `None`: there is none, or they have no
    /// GTIDs.
    pub fn mariadb_gtid_at_end(&self) -> Result<Option<MariadbGtid>, Refusal> {
        self.newest_mariadb_gtid.get(&self.files)
    }

    /// Serves a dump until it ends.
    pub fn dump(&self, request: &DumpRequest, sink: &mut dyn DumpSink) -> DumpEnd {
        dump::serve(&self.files, request, sink)
    }

    /// Makes sessions look at [`DumpSink::is_killed`] now.
    pub fn wake_sessions(&self) {
        let _shared = self.files.shared.lock();
        self.files.changed.notify_all();
    }
}
