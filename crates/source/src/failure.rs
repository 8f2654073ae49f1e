//! What happens when a file of the binary log cannot be written: a full disk is waited out, as
//! MySQL does; anything else is up to `binlog_error_action`. ABORT_SERVER stops the server, which
//! recovers from the redo log. IGNORE_ERROR turns the binary log off until the next start.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::EngineError;
use os::account::{State, enter};

use crate::error::{BinlogError, Refusal};
use crate::files::Binlog;
use crate::writer::RESET_TRIES;

/// Between two looks whether there is space again.
const LOOK: Duration = Duration::from_millis(100);
/// So many looks before it is said again that the disk is full.
const LOOKS_PER_REPORT: u64 = 600;

/// Does something with a file, again and again while there is no space for it, until the server is
/// to stop.
pub(crate) fn wait_for_space<T>(
    file: &str,
    stopping: &AtomicBool,
    mut act: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut looks = 0u64;
    loop {
        match act() {
            Err(error)
                if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
                    && !stopping.load(Ordering::Acquire) =>
            {
                if looks.is_multiple_of(LOOKS_PER_REPORT) {
                    log::error!(
                        "Disk is full writing '{file}' ({error}). Waiting for someone to free space..."
                    );
                }
                looks += 1;
                let _waiting = enter(State::DiskFullWait);
                os::clock::sleep(LOOK);
            }
            done => return done,
        }
    }
}

impl Binlog {
    /// `binlog_error_action` is IGNORE_ERROR from now on, or ABORT_SERVER.
    pub fn set_ignores_errors(&self, ignores: bool) {
        self.ignores_errors.store(ignores, Ordering::Release);
    }

    /// It was turned off by an error: there is no binary log until the next start.
    pub fn is_turned_off(&self) -> bool {
        self.shared.lock().turned_off
    }

    /// The writer cannot go on.
    pub(crate) fn give_up(&self, error: &BinlogError) {
        log::error!("Binary log: {error}");
        let stage = if matches!(error, BinlogError::Sync(_)) { "sync" } else { "flush" };
        // A server that is being shut down has nothing to go on with: the redo log keeps for the
        // next start what the files lack.
        let is_stopping = self.stopping.load(Ordering::Acquire);
        let ignores = self.ignores_errors.load(Ordering::Acquire) && error.is_of_a_file() && !is_stopping;
        let action = if ignores { "IGNORE_ERROR" } else { "ABORT_SERVER" };
        let what = format!(
            "An error occurred during {stage} stage of the commit. 'binlog_error_action' is set to '{action}'."
        );
        if ignores {
            log::error!(
                "{what} Hence turning logging off for the whole duration of the MySQL server process. To turn it on again: fix the \
                 cause, shutdown the MySQL server and restart it."
            );
            return self.turn_off();
        }
        self.shared.lock().failed = Some(error.to_string());
        self.changed.notify_all();
        // The log cannot be checkpointed past what its binary log lacks, and replicas would miss
        // it: stop, and recover from the log.
        self.disk.fail_stop(&format!(
            "Binary logging not possible. Message: {what} Server is being stopped ({error})"
        ));
    }

    /// Nobody gets anything from the binary log any more, and nobody waits for it, nor does the
    /// checkpoint. That keeps up to where the files are synced and which GTIDs they have: the next
    /// start cuts off what is behind, and knows what is missing.
    fn turn_off(&self) {
        {
            let mut shared = self.shared.lock();
            shared.turned_off = true;
            shared.failed = Some("it has been turned off".to_string());
        }
        self.safe.turn_off();
        self.semi_sync.turn_off();
        self.changed.notify_all();
    }

    /// RESET BINARY LOGS AND GTIDS of a log that was turned off: no file has anything of what
    /// comes, nor will the next start find old ones.
    pub(crate) fn reset_turned_off(&self) -> Result<(), Refusal> {
        let removed = self.files.lock().remove_all();
        removed.map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))?;
        self.safe.forget_gtids();
        let mut tries = 0;
        loop {
            match self.engine.reset_gtids() {
                Err(EngineError::GtidUnusable(_)) if tries < RESET_TRIES => tries += 1,
                other => return other.map_err(|error| Refusal::new(1105, error.to_string())),
            }
        }
    }

    /// To a dump session: there is no binary log.
    pub(crate) fn not_open() -> Refusal {
        Refusal::fatal_1236("Binary log is not open")
    }
}
