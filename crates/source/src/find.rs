//! Finding the position at which a dump begins, for a replica that names a position or its GTIDs.

use binlog::gtid::{GtidSet, Uuid};
use os::disk::OpenMode;

use crate::error::Refusal;
use crate::events;
use crate::files::LogFiles;
use crate::position::FilePosition;
use crate::series::FileSeries;

/// Checks and returns the position that a replica names. An empty file name is the first file.
pub(crate) fn by_position(files: &LogFiles, file: &str, pos: u64) -> Result<FilePosition, Refusal> {
    let series = files.series.lock();
    let number = if file.is_empty() { series.numbers().first().copied() } else { series.find(file) };
    let Some(number) = number else {
        return Err(Refusal::fatal_1236("Could not find first log file name in binary log index file"));
    };
    if pos < 4 {
        return Err(Refusal::fatal_1236("Client requested source to start replication from position < 4"));
    }
    let end = files.shared.lock().end;
    let len = if end.file == number {
        end.pos
    } else {
        series.len_bytes(number).map_err(|_| Refusal::fatal_1236("Could not open log file"))?
    };
    if pos > len {
        return Err(Refusal::fatal_1236(
            "Client requested source to start replication from position > file size",
        ));
    }
    Ok(FilePosition { file: number, pos })
}

/// Returns the position where a replica that has these GTIDs must start: the newest file before
/// which the replica lacks nothing.
pub(crate) fn by_gtids(files: &LogFiles, has: &GtidSet) -> Result<FilePosition, Refusal> {
    let series = files.series.lock();
    refuse_more_than_ours(files, has)?;
    // `SET GLOBAL gtid_purged` may name GTIDs that were in no file.
    refuse_missing(files.engine.gtid_purged(), has)?;
    for &number in series.numbers().iter().rev() {
        if previous_gtids(&series, number)?.is_subset(has) {
            return Ok(FilePosition { file: number, pos: 4 });
        }
    }
    if let Some(&oldest) = series.numbers().first() {
        refuse_missing(previous_gtids(&series, oldest)?, has)?;
    }
    Err(Refusal::fatal_1236("Could not find first log file name in binary log index file"))
}

/// Refuses a replica that has GTIDs of this server's UUID that this server does not have, because
/// it holds transactions that this server has lost. A commit that still waits for a replica's
/// acknowledgement has a GTID that this server has: the replica may have received it and come anew.
fn refuse_more_than_ours(files: &LogFiles, has: &GtidSet) -> Result<(), Refusal> {
    let Ok(uuid) = files.config.server_uuid.parse::<Uuid>() else { return Ok(()) };
    let mut of_ours = GtidSet::default();
    for (tsid, intervals) in has.iter().filter(|(tsid, _)| tsid.uuid == uuid) {
        intervals.iter().for_each(|interval| of_ours.add_interval(tsid, *interval));
    }
    if of_ours.is_subset(&files.engine.gtid_logged()) {
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

/// Refuses a replica that does not have all of these GTIDs.
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

/// Returns the GTIDs that precede a file, which are those at its head.
pub(crate) fn previous_gtids(series: &FileSeries, number: u64) -> Result<GtidSet, Refusal> {
    let unreadable = |what: String| {
        Refusal::fatal_1236(format!("Could not open log file '{}': {what}", series.name(number)))
    };
    let file = series.open_file(number, OpenMode::Read).map_err(|error| unreadable(error.to_string()))?;
    let head = events::read_head(&*file).map_err(unreadable)?;
    events::previous_gtids_of(&head).map_err(unreadable)
}
