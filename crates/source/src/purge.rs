//! Which files there are, and taking old ones away: SHOW BINARY LOGS, PURGE BINARY LOGS, expiry,
//! RESET BINARY LOGS AND GTIDS; and which file a replica needs that says what it has.

use binlog::gtid::{GtidSet, Uuid};
use os::disk::OpenMode;

use crate::error::Refusal;
use crate::events;
use crate::files::Binlog;
use crate::series::FileSeries;

/// A row of SHOW BINARY LOGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Name without directory.
    pub name: String,
    /// Length in bytes.
    pub size_bytes: u64,
}

/// SHOW BINARY LOG STATUS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStatus {
    /// The newest file.
    pub file: String,
    /// Its end.
    pub position: u64,
    /// GTIDs executed by the server.
    pub executed_gtid_set: String,
}

impl Binlog {
    /// SHOW BINARY LOGS.
    pub fn list(&self) -> Result<Vec<LogFile>, Refusal> {
        let end = self.wait_caught_up()?;
        let files = self.files.lock();
        Ok(files
            .numbers()
            .iter()
            .map(|&number| {
                // As in MySQL one that somebody has removed is listed still, and has no bytes.
                let of_closed = || files.len_bytes(number).unwrap_or(0);
                let size_bytes = if number == end.file { end.pos } else { of_closed() };
                LogFile { name: files.name(number), size_bytes }
            })
            .collect())
    }

    /// SHOW BINARY LOG STATUS.
    pub fn status(&self) -> Result<LogStatus, Refusal> {
        let end = self.wait_caught_up()?;
        let executed_gtid_set = self.engine.gtid_executed().to_string();
        let file = self.files.lock().name(end.file);
        Ok(LogStatus { file, position: end.pos, executed_gtid_set })
    }

    /// PURGE BINARY LOGS TO.
    pub fn purge_to(&self, name: &str) -> Result<(), Refusal> {
        let mut files = self.files.lock();
        let number =
            files.find(name).ok_or_else(|| Refusal::new(1373, "Target log not found in binlog index"))?;
        self.remove_before(&mut files, number)
    }

    /// PURGE BINARY LOGS BEFORE: files whose last event is older than this unix time in seconds.
    pub fn purge_before(&self, unix_time_s: i64) -> Result<(), Refusal> {
        let mut files = self.files.lock();
        let mut first_kept = None;
        for (at, &number) in files.numbers().iter().enumerate() {
            // A file's last event is as old as its successor's first one.
            let Some(&successor) = files.numbers().get(at + 1) else { break };
            match created_s(&files, successor) {
                Some(created) if i64::from(created) < unix_time_s => first_kept = Some(successor),
                _ => {
                    first_kept = first_kept.or(Some(number));
                    break;
                }
            }
        }
        match first_kept {
            Some(number) => self.remove_before(&mut files, number),
            None => Ok(()),
        }
    }

    /// Removes what `binlog_expire_logs_seconds` lets go of; called at start and at every rotation.
    pub fn purge_expired(&self) {
        let expire_after_s = self.shared.lock().expire_after_s;
        if expire_after_s == 0 {
            return;
        }
        let now_s = (os::clock::now_us() / 1_000_000) as i64;
        if let Err(error) = self.purge_before(now_s - expire_after_s as i64) {
            log::warn!("Expired binary log files could not be removed: {error}");
        }
    }

    fn remove_before(&self, files: &mut FileSeries, number: u64) -> Result<(), Refusal> {
        // The checkpoint's file must stay: recovery goes on from it.
        let mut needed = self.safe.file().min(number);
        if let Some((&read, count)) = self.shared.lock().readers.first_key_value()
            && read < needed
        {
            let name = files.name(read);
            log::warn!("file {name} was not purged because it was being read by {count} dump sessions.");
            needed = read;
        }
        if files.numbers().first().is_some_and(|oldest| *oldest < needed) {
            // What a crash finds must not name a file that is gone.
            let checkpoint = self.engine.checkpoint();
            checkpoint
                .map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))?;
        }
        files
            .remove_before(needed)
            .map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))?;
        self.note_purged(files)
    }

    /// `gtid_purged` is what the oldest file does not have any more.
    fn note_purged(&self, files: &FileSeries) -> Result<(), Refusal> {
        let Some(&oldest) = files.numbers().first() else { return Ok(()) };
        let purged = previous_gtids(files, oldest)?;
        self.engine
            .add_gtid_purged(&purged)
            .map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))
    }

    /// RESET BINARY LOGS AND GTIDS [TO first].
    pub fn reset(&self, first: u64) -> Result<(), Refusal> {
        if !(1..=crate::series::MAX_LOG_NUMBER).contains(&first) {
            return Err(Refusal::new(
                3567,
                format!(
                    "The requested value '{first}' for the next binary log index is out of range. Please use a value between '1' and '2000000000'."
                ),
            ));
        }
        if self.is_turned_off() {
            return self.reset_turned_off();
        }
        self.wait_caught_up()?;
        let mut shared = self.shared.lock();
        let before = shared.resets_done;
        shared.reset_wanted = Some(first);
        self.wait_for_writer(&mut shared, |shared| shared.resets_done > before)?;
        match shared.reset_error.take() {
            Some(why) => Err(Refusal::new(1105, why)),
            None => Ok(()),
        }
    }

    /// Where a replica that has these GTIDs has to start: the newest file before which there is
    /// nothing that it lacks.
    pub(crate) fn find_by_gtids(&self, has: &GtidSet) -> Result<crate::files::FilePosition, Refusal> {
        let files = self.files.lock();
        self.refuse_more_than_ours(has)?;
        // `SET GLOBAL gtid_purged` may name what no file has had.
        refuse_missing(self.engine.gtid_purged(), has)?;
        for &number in files.numbers().iter().rev() {
            if previous_gtids(&files, number)?.is_subset(has) {
                return Ok(crate::files::FilePosition { file: number, pos: 4 });
            }
        }
        if let Some(&oldest) = files.numbers().first() {
            refuse_missing(previous_gtids(&files, oldest)?, has)?;
        }
        Err(Refusal::fatal_1236("Could not find first log file name in binary log index file"))
    }

    /// A replica that has GTIDs of our own UUID that we do not have holds transactions that we
    /// lost.
    fn refuse_more_than_ours(&self, has: &GtidSet) -> Result<(), Refusal> {
        let Ok(uuid) = self.config.server_uuid.parse::<Uuid>() else { return Ok(()) };
        let mut of_ours = GtidSet::default();
        for (tsid, intervals) in has.iter().filter(|(tsid, _)| tsid.uuid == uuid) {
            intervals.iter().for_each(|interval| of_ours.add_interval(tsid, *interval));
        }
        if of_ours.is_subset(&self.engine.gtid_executed()) {
            return Ok(());
        }
        Err(Refusal::fatal_1236(
            "Replica has more GTIDs than the source has, using the source's SERVER_UUID. This may indicate that the last binary log \
             file was truncated or lost, e.g., after a power failure when sync_binlog != 1. The source may have rolled back \
             transactions that were already replicated to the replica. Replicate any transactions that source has rolled back from \
             replica to source, and/or commit empty transactions on source to account for transactions that have been committed on \
             source but are not included in GTID_EXECUTED.",
        ))
    }
}

/// A replica must have all of these.
fn refuse_missing(mut purged: GtidSet, has: &GtidSet) -> Result<(), Refusal> {
    purged.subtract(has);
    if purged.is_empty() {
        return Ok(());
    }
    Err(Refusal::fatal_1236(format!(
        "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from elsewhere, or \
         provision a new replica from backup. Consider increasing the source's binary log expiration period. The GTID set sent by \
         the replica is '{has}', and the missing transactions are '{purged}'"
    )))
}

fn created_s(files: &FileSeries, number: u64) -> Option<u32> {
    let file = files.open_file(number, OpenMode::Read).ok()?;
    events::read_head(&*file).ok()?.first().map(|event| events::timestamp(&event.bytes))
}

pub(crate) fn previous_gtids(files: &FileSeries, number: u64) -> Result<GtidSet, Refusal> {
    let unreadable = |what: String| {
        Refusal::fatal_1236(format!("Could not open log file '{}': {what}", files.name(number)))
    };
    let file = files.open_file(number, OpenMode::Read).map_err(|error| unreadable(error.to_string()))?;
    let head = events::read_head(&*file).map_err(unreadable)?;
    events::previous_gtids_of(&head).map_err(unreadable)
}
