//! The failure of writing a file of the binary log. On a full disk the writer waits (`disk_full`).
//! For any other failure `binlog_error_action` decides: ABORT_SERVER stops the server, which
//! recovers from the redo log, and IGNORE_ERROR turns the binary log off until the next start.

use std::sync::atomic::Ordering;

use crate::error::BinlogError;
use crate::files::LogFiles;

/// Gives the writer up: stops the server or turns the binary log off.
pub(crate) fn give_up(files: &LogFiles, error: &BinlogError) {
    log::error!("Binary log: {error}");
    let stage = if matches!(error, BinlogError::Sync(_)) { "sync" } else { "flush" };
    // A server that is shutting down need not go on: the redo log keeps for the next start what the
    // files lack.
    let is_stopping = files.stopping.load(Ordering::Acquire);
    let ignores = files.ignores_errors.load(Ordering::Acquire) && error.is_of_a_file() && !is_stopping;
    let action = if ignores { "IGNORE_ERROR" } else { "ABORT_SERVER" };
    let what = format!(
        "An error occurred during {stage} stage of the commit. 'binlog_error_action' is set to '{action}'."
    );
    if ignores {
        log::error!(
            "{what} Hence turning logging off for the whole duration of the MySQL server process. To turn it on again: fix the \
             cause, shutdown the MySQL server and restart it."
        );
        return turn_off(files);
    }
    files.shared.lock().failed = Some(error.to_string());
    files.changed.notify_all();
    // The redo log cannot be checkpointed past groups that its binary log lacks, and replicas would
    // miss them. So the server stops and recovers from the redo log.
    files.disk.fail_stop(&format!(
        "Binary logging not possible. Message: {what} Server is being stopped ({error})"
    ));
}

/// Turns the binary log off: sessions get nothing from it any more, and neither commits nor the
/// checkpoint wait for it. The safe point keeps how far the files are synced and which GTIDs they
/// have, so that the next start cuts off what is behind, and knows what is missing.
fn turn_off(files: &LogFiles) {
    {
        let mut shared = files.shared.lock();
        shared.turned_off = true;
        shared.failed = Some("it has been turned off".to_string());
    }
    files.safe.turn_off();
    files.semi_sync.turn_off();
    files.changed.notify_all();
}
