//! What the applier shares with the statements that command and show it.

use crate::error::ThreadError;
use crate::gtid::GroupHead;
use crate::relay::RelayPosition;
use crate::until::UntilCondition;

/// Where an applier goes on that was stopped while its relay log is still there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// End of the last complete group in the relay log.
    pub relay: RelayPosition,
    /// Events there end with a CRC-32.
    pub has_checksums: bool,
    /// The source's file there.
    pub file: String,
    /// Offset in it.
    pub pos: u64,
    /// The last group before it that was applied; the default is none.
    pub last: GroupHead,
}

/// Guarded by one mutex; the applier updates it when it starts, ends and runs dry, and every few
/// hundred transactions.
#[derive(Debug, Default)]
pub struct ApplierState {
    /// The thread runs.
    pub running: bool,
    /// Why it stopped.
    pub error: Option<ThreadError>,
    /// The source's file up to which everything is applied; empty before the first group.
    pub exec_file: String,
    /// Offset in it.
    pub exec_pos: u64,
    /// Transactions that were tried again (`COUNT_TRANSACTIONS_RETRIES`), each time counted.
    pub transaction_retries: u64,
    /// The last group that was applied, and when that was shown, in microseconds of our clock.
    pub last_applied: GroupHead,
    /// See `last_applied`.
    pub last_applied_us: u64,
    /// START REPLICA UNTIL; stays until the next start.
    pub until: Option<UntilCondition>,
    /// SOURCE_DELAY: nothing is applied before this, in microseconds of our clock's unix time.
    pub delayed_until_us: Option<u64>,
    /// Where to go on; `None` is the start of the relay log.
    pub resume: Option<ResumePoint>,
}

impl ApplierState {
    /// Shows that everything up to here is applied.
    pub fn show(&mut self, at: &ResumePoint) {
        if self.exec_file != at.file {
            self.exec_file.clone_from(&at.file);
        }
        self.exec_pos = at.pos;
        if self.last_applied != at.last {
            self.last_applied = at.last;
            self.last_applied_us = os::clock::now_us();
        }
    }

    /// Replica_SQL_Running_State.
    pub fn state_text(&self, caught_up: bool) -> String {
        if self.delayed_until_us.is_some() {
            return "Waiting until SOURCE_DELAY seconds after source executed event".to_string();
        }
        match (self.running, caught_up) {
            (false, _) => String::new(),
            (true, true) => "Replica has read all relay log; waiting for more updates".to_string(),
            (true, false) => "Applying batch of row changes".to_string(),
        }
    }
}
