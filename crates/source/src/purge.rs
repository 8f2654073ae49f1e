//! The list of files, and the removal of old ones: SHOW BINARY LOGS, PURGE BINARY LOGS, expiry.

use os::disk::OpenMode;

use crate::error::Refusal;
use crate::events;
use crate::files::LogFiles;
use crate::find::previous_gtids;
use crate::position::FilePosition;
use crate::series::FileSeries;

/// A row of SHOW BINARY LOGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// The file's name without its directory.
    pub name: String,
    /// The file's length in bytes.
    pub size_bytes: u64,
}

/// The row of SHOW BINARY LOG STATUS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStatus {
    /// The name of the newest file.
    pub file: String,
    /// The position of that file's end, in bytes.
    pub position: u64,
    /// The GTIDs executed by the server.
    pub executed_gtid_set: String,
}

/// Returns the rows of SHOW BINARY LOGS.
pub(crate) fn list(files: &LogFiles) -> Result<Vec<LogFile>, Refusal> {
    let end = files.wait_caught_up()?;
    Ok(list_up_to(files, end))
}

/// Returns the files as they are now, and waits for nothing that the writer has still to do.
pub(crate) fn list_written(files: &LogFiles) -> Vec<LogFile> {
    let end = files.shared.lock().end;
    list_up_to(files, end)
}

fn list_up_to(files: &LogFiles, end: FilePosition) -> Vec<LogFile> {
    let series = files.series.lock();
    let row = |&number: &u64| {
        // As in MySQL, a file that was removed from outside is still listed, and has 0 bytes.
        let of_closed = || series.len_bytes(number).unwrap_or(0);
        let size_bytes = if number == end.file { end.pos } else { of_closed() };
        LogFile { name: series.name(number), size_bytes }
    };
    series.numbers().iter().map(row).collect()
}

/// Returns the row of SHOW BINARY LOG STATUS.
pub(crate) fn status(files: &LogFiles) -> Result<LogStatus, Refusal> {
    let end = files.wait_caught_up()?;
    let executed_gtid_set = files.engine.gtid_executed().to_string();
    let file = files.series.lock().name(end.file);
    Ok(LogStatus { file, position: end.pos, executed_gtid_set })
}

/// Carries out PURGE BINARY LOGS TO.
///
/// # Errors
/// Returns 1373 (`ER_UNKNOWN_TARGET_BINLOG`) when there is no such file, and 1377 when files cannot
/// be removed.
pub(crate) fn purge_to(files: &LogFiles, name: &str) -> Result<(), Refusal> {
    let mut series = files.series.lock();
    let number =
        series.find(name).ok_or_else(|| Refusal::new(1373, "Target log not found in binlog index"))?;
    remove_before(files, &mut series, number)
}

/// Carries out PURGE BINARY LOGS BEFORE: removes the files whose last event is older than this unix
/// time, in seconds.
pub(crate) fn purge_before(files: &LogFiles, unix_time_s: i64) -> Result<(), Refusal> {
    let mut series = files.series.lock();
    let mut first_kept = None;
    for (at, &number) in series.numbers().iter().enumerate() {
        // A file's last event is as old as its successor's first one.
        let Some(&successor) = series.numbers().get(at + 1) else { break };
        match created_s(&series, successor) {
            Some(created) if i64::from(created) < unix_time_s => first_kept = Some(successor),
            _ => {
                first_kept = first_kept.or(Some(number));
                break;
            }
        }
    }
    match first_kept {
        Some(number) => remove_before(files, &mut series, number),
        None => Ok(()),
    }
}

/// Removes the files that `binlog_expire_logs_seconds` lets go, at start and at every rotation.
pub(crate) fn purge_expired(files: &LogFiles) {
    let expire_after_s = files.shared.lock().expire_after_s;
    if expire_after_s == 0 {
        return;
    }
    let now_s = (os::clock::now_us() / 1_000_000) as i64;
    if let Err(error) = purge_before(files, now_s - expire_after_s as i64) {
        log::warn!("Expired binary log files could not be removed: {error}");
    }
}

fn remove_before(files: &LogFiles, series: &mut FileSeries, number: u64) -> Result<(), Refusal> {
    // The checkpoint's file must stay, because recovery goes on from it.
    let mut needed = files.safe.file().min(number);
    if let Some((&read, count)) = files.shared.lock().readers.first_key_value()
        && read < needed
    {
        let name = series.name(read);
        log::warn!("file {name} was not purged because it was being read by {count} dump sessions.");
        needed = read;
    }
    if series.numbers().first().is_some_and(|oldest| *oldest < needed) {
        // A crash must not find a checkpoint that names a removed file.
        let checkpoint = files.engine.checkpoint();
        checkpoint.map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))?;
    }
    series
        .remove_before(needed)
        .map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))?;
    note_purged(files, series)
}

/// Adds to `gtid_purged` the GTIDs that precede the oldest file.
fn note_purged(files: &LogFiles, series: &FileSeries) -> Result<(), Refusal> {
    let Some(&oldest) = series.numbers().first() else { return Ok(()) };
    let purged = previous_gtids(series, oldest)?;
    files
        .engine
        .add_gtid_purged(&purged)
        .map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))
}

fn created_s(series: &FileSeries, number: u64) -> Option<u32> {
    let file = series.open_file(number, OpenMode::Read).ok()?;
    events::read_head(&*file).ok()?.first().map(|event| events::timestamp(&event.bytes))
}
