//! The binary log: its files, and the state that the writer, the dump sessions and the statements
//! about it share.
//!
//! Lock order: `files` before `shared`; `safe` is taken alone. No lock is held while a file is
//! written or synced, except that a rotation or purge holds `files`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use binlog::Checksum;
use engine::Engine;
use os::disk::Disk;
use os::thread::JoinHandle;
use parking_lot::{Condvar, Mutex, MutexGuard};
use redo::Lsn;

use crate::compression::CompressionStats;
use crate::error::{BinlogError, Refusal};
use crate::events;
use crate::mariadb_gtid::Newest;
use crate::recent::Recent;
use crate::semi_sync::SemiSync;
use crate::series::FileSeries;
use crate::state::{Safe, SafePoint, TURNED_OFF};
use crate::tail::Tail;
use crate::{recover, writer};

/// Settings of the binary log.
#[derive(Debug, Clone)]
pub struct BinlogConfig {
    /// `datadir`
    pub datadir: PathBuf,
    /// `log_bin`: basename, relative to the data directory.
    pub basename: String,
    /// `log_bin_index`
    pub index: Option<String>,
    /// `max_binlog_size`
    pub max_file_bytes: u64,
    /// `binlog_expire_logs_seconds`; 0 keeps all.
    pub expire_after_s: u64,
    /// `binlog_transaction_dependency_history_size`
    pub dependency_history_size: u64,
    /// `binlog_checksum`
    pub checksum: Checksum,
    /// `server_id`
    pub server_id: u32,
    /// `server_uuid`
    pub server_uuid: String,
    /// `version`, as format description events carry it.
    pub server_version: String,
}

/// A place in the binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FilePosition {
    /// Number of the file.
    pub file: u64,
    /// Offset in it.
    pub pos: u64,
}

/// What writer, sessions and statements tell each other.
pub(crate) struct Shared {
    /// Up to here the files may be read and sent.
    pub end: FilePosition,
    /// Everything of the log up to here is before `end`.
    pub end_lsn: Lsn,
    /// Rotations asked for, and done.
    pub rotations_wanted: u64,
    pub rotations_done: u64,
    /// Asked for by RESET BINARY LOGS AND GTIDS: start again with this file number.
    pub reset_wanted: Option<u64>,
    pub resets_done: u64,
    /// Why the last one failed.
    pub reset_error: Option<String>,
    /// Settings that can change while the server runs.
    pub max_file_bytes: u64,
    pub expire_after_s: u64,
    pub dependency_history_size: u64,
    /// Of files that begin from here on.
    pub checksum: Checksum,
    /// The server is shutting down: no commit follows.
    pub stop: bool,
    /// Counts files that dump sessions have to let go of (reset), so that they end.
    pub generation: u64,
    /// Sessions that wait for the writer: it does not rest meanwhile.
    pub waiting: usize,
    /// The newest bytes, while there are dump sessions.
    pub recent: Recent,
    /// Files that dump sessions are reading, and how many sessions each.
    pub readers: BTreeMap<u64, usize>,
    /// The writer gave up.
    pub failed: Option<String>,
    /// And the server goes on without a binary log.
    pub turned_off: bool,
}

/// The binary log of a server.
pub struct Binlog {
    pub(crate) config: BinlogConfig,
    pub(crate) engine: Arc<Engine>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) files: Mutex<FileSeries>,
    pub(crate) shared: Mutex<Shared>,
    /// `shared` changed: more to send, a rotation done, the end.
    pub(crate) changed: Condvar,
    /// The writer is not to rest any longer.
    pub(crate) asked: Condvar,
    pub(crate) safe: Arc<Safe>,
    pub(crate) semi_sync: Arc<SemiSync>,
    /// `binlog_error_action=IGNORE_ERROR`
    pub(crate) ignores_errors: AtomicBool,
    /// The writer is not to wait for space any longer.
    pub(crate) stopping: Arc<AtomicBool>,
    pub(crate) compression: Mutex<CompressionStats>,
    /// Before `files` and `shared`.
    pub(crate) newest_mariadb_gtid: Mutex<Option<Newest>>,
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
        let mut files =
            FileSeries::open(disk.clone(), &config.datadir, &config.basename, config.index.as_deref())?;
        let safe = SafePoint::decode(engine.recovered_participant_state());
        let mut first = None;
        let (lsn, gtids) = match safe {
            Some(safe) if safe.resets() => {
                log::warn!("RESET BINARY LOGS AND GTIDS was cut short by a crash; it is carried out now");
                files.remove_present()?;
                first = Some(safe.file);
                (safe.lsn, safe.gtids)
            }
            Some(safe) if safe.lsn == TURNED_OFF => {
                (engine.visible_lsn(), recover::after_turned_off(&files, safe, &engine)?)
            }
            Some(safe) if files.numbers().binary_search(&safe.file).is_ok() => {
                let mut stream = engine.commit_stream(safe.lsn)?;
                let tail = recover::rederive(&files, &safe, &mut stream)?;
                (tail.lsn, tail.gtids)
            }
            Some(safe) => {
                log::warn!(
                    "Binary log file '{}' is not in the index; its successor takes what followed it",
                    files.name(safe.file)
                );
                (safe.lsn, safe.gtids)
            }
            None => (engine.visible_lsn(), engine.gtid_executed()),
        };
        let head =
            events::file_head(&config.server_version, config.server_id, &gtids, false, config.checksum);
        let (number, file) = match first {
            Some(first) => files.create_numbered(first, &head)?,
            None => files.create_next(&head)?,
        };
        let at = SafePoint { lsn, file: number, pos: head.len() as u64, sequence_number: 0, gtids };
        let stopping = Arc::new(AtomicBool::new(false));
        let tail = Tail::at(files.name(number), file, &at, config.checksum).until(&stopping);
        tail.mark_in_use(true)?;
        let shared = Shared {
            end: FilePosition { file: number, pos: at.pos },
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
        };
        let stream = engine.commit_stream(lsn)?;
        let semi_sync = Arc::new(SemiSync::new(Arc::downgrade(&engine)));
        engine.set_commit_waiter(semi_sync.clone());
        let binlog = Arc::new(Binlog {
            config,
            engine: engine.clone(),
            disk,
            files: Mutex::new(files),
            shared: Mutex::new(shared),
            changed: Condvar::new(),
            asked: Condvar::new(),
            safe: Arc::new(Safe::new(at)),
            semi_sync,
            ignores_errors: AtomicBool::new(false),
            stopping,
            compression: Mutex::default(),
            newest_mariadb_gtid: Mutex::default(),
            writer: Mutex::new(None),
        });
        engine.set_checkpoint_participant(binlog.safe.clone());
        if first.is_some() {
            // The next start is not to do it again.
            engine.checkpoint()?;
        }
        // From here on a crash finds in the checkpoint which file the log goes on in.
        engine.checkpoint()?;
        binlog.purge_expired();
        let thread_binlog = binlog.clone();
        let handle = os::thread::spawn("binlog_writer", move || writer::run(&thread_binlog, tail, stream));
        *binlog.writer.lock() = Some(handle);
        Ok(binlog)
    }

    /// Ends the log with a stop event and syncs it. Nothing commits any more; dump sessions end.
    pub fn close(&self) {
        self.shared.lock().stop = true;
        self.stopping.store(true, Ordering::Release);
        self.asked.notify_one();
        self.changed.notify_all();
        if let Some(handle) = self.writer.lock().take()
            && handle.join().is_err()
        {
            log::error!("the binary log's writer ended by a panic");
        }
    }

    /// `@@log_bin_basename`
    pub fn basename_path(&self) -> PathBuf {
        self.files.lock().base_path().to_path_buf()
    }

    /// `@@log_bin_index`
    pub fn index_path(&self) -> PathBuf {
        self.files.lock().index_path().to_path_buf()
    }

    /// Semi-synchronous replication to this server's replicas.
    pub fn semi_sync(&self) -> &SemiSync {
        &self.semi_sync
    }

    /// What compression makes of the transactions since the server's start.
    pub fn compression_stats(&self) -> CompressionStats {
        *self.compression.lock()
    }

    /// `max_binlog_size` from now on.
    pub fn set_max_file_bytes(&self, max_file_bytes: u64) {
        self.shared.lock().max_file_bytes = max_file_bytes;
    }

    /// `binlog_expire_logs_seconds` from now on.
    pub fn set_expire_after_s(&self, seconds: u64) {
        self.shared.lock().expire_after_s = seconds;
    }

    /// `binlog_transaction_dependency_history_size` from now on.
    pub fn set_dependency_history_size(&self, keys: u64) {
        self.shared.lock().dependency_history_size = keys;
    }

    /// `binlog_checksum`: what follows goes to a new file, whose events end with it.
    pub fn set_checksum(&self, checksum: Checksum) -> Result<(), Refusal> {
        self.shared.lock().checksum = checksum;
        self.rotate()
    }

    /// Waits until everything that is committed and visible now is in the files.
    pub fn wait_caught_up(&self) -> Result<FilePosition, Refusal> {
        let lsn = self.engine.visible_lsn();
        let mut shared = self.shared.lock();
        self.wait_for_writer(&mut shared, |shared| shared.end_lsn >= lsn)?;
        Ok(shared.end)
    }

    /// Has the writer go on at once, and waits until it has done something, or stops.
    pub(crate) fn wait_for_writer(
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

    /// FLUSH BINARY LOGS: everything committed so far stays in the present file, what follows goes
    /// to a new one.
    pub fn rotate(&self) -> Result<(), Refusal> {
        self.wait_caught_up()?;
        let mut shared = self.shared.lock();
        shared.rotations_wanted += 1;
        let wanted = shared.rotations_wanted;
        self.wait_for_writer(&mut shared, |shared| shared.rotations_done >= wanted)?;
        drop(shared);
        self.purge_expired();
        Ok(())
    }
}

fn not_writable(why: &str) -> Refusal {
    Refusal::new(1026, format!("Error writing file of the binary log ({why})"))
}
