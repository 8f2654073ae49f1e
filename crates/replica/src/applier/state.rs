//! The state that the applier shares with the statements that command and show it.

use crate::error::ThreadError;
use crate::gtid::GroupHead;
use crate::relay::RelayPosition;
use crate::until::UntilCondition;

/// The point where a stopped applier goes on while its relay log still exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// The end of the last complete group in the relay log.
    pub relay: RelayPosition,
    /// True when the events from there on end with a CRC-32.
    pub has_checksums: bool,
    /// The source's file at that point.
    pub file: String,
    /// The offset in the source's file.
    pub pos: u64,
    /// The last applied group before that point. The default stands for none.
    pub last: GroupHead,
}

/// The applier's state, guarded by one mutex. The applier updates it when it starts, ends or has
/// read everything, and every few hundred transactions.
#[derive(Debug, Default)]
pub struct ApplierState {
    /// True while the thread runs.
    pub running: bool,
    /// The error that stopped the thread.
    pub error: Option<ThreadError>,
    /// The source's file up to which everything is applied; empty before the first group.
    pub exec_file: String,
    /// The offset in `exec_file`.
    pub exec_pos: u64,
    /// The number of retries of transactions (`COUNT_TRANSACTIONS_RETRIES`).
    pub transaction_retries: u64,
    /// The last applied group.
    pub last_applied: GroupHead,
    /// The time when `last_applied` was noted, in microseconds of this server's clock.
    pub last_applied_us: u64,
    /// The condition of START REPLICA UNTIL, which stays until the next start.
    pub until: Option<UntilCondition>,
    /// The time before which SOURCE_DELAY lets nothing be applied, in microseconds of unix time by
    /// this server's clock.
    pub delayed_until_us: Option<u64>,
    /// The point where to go on. `None` means the start of the relay log.
    pub resume: Option<ResumePoint>,
}

impl ApplierState {
    /// Notes that everything up to `at` is applied.
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

    /// Returns the text of Replica_SQL_Running_State.
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
