//! Retries of a transaction that a lock stood in the way of.
//!
//! MySQL's rules apply. After error 1205 or 1213 the transaction is rolled back and, after a pause,
//! applied again from its events, up to `replica_transaction_retries` times. Then its error stops
//! the applier. The pauses grow from 0 to 5 seconds.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::channel::Channel;
use crate::error::ThreadError;
use crate::relay::RelayPosition;

/// The longest pause, in seconds (MySQL's `MAX_REPLICA_RETRY_PAUSE`).
const LONGEST_PAUSE_S: u64 = 5;

/// The number of attempts for the applier's present transaction.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// The position in the relay log where the transaction begins.
    at: RelayPosition,
    count: u64,
}

impl Retries {
    /// Waits for the pause after a failure of the transaction that begins at `at`. Returns true
    /// when the transaction has to be tried again.
    pub fn again(&mut self, channel: &Channel, error: &ThreadError, at: RelayPosition) -> bool {
        if !error.is_temporary() || channel.applier_stop.load(Ordering::Acquire) {
            return false;
        }
        if self.at != at {
            *self = Retries { at, count: 0 };
        }
        let limit = channel.apply.transaction_retries();
        if self.count >= limit {
            log::error!(
                "Replica SQL thread for channel '{}' retried transaction {limit} time(s) in vain, giving up. Consider raising the value of \
                 the replica_transaction_retries variable.",
                channel.name
            );
            return false;
        }
        log::warn!("Replica SQL for channel '{}': {error}; the transaction is tried again", channel.name);
        let pause = Duration::from_secs(self.count.min(LONGEST_PAUSE_S));
        self.count += 1;
        channel.applier.lock().transaction_retries += 1;
        !channel.applier_pauses(pause)
    }
}
