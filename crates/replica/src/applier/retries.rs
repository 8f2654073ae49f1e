//! Trying a transaction again that a lock stood in the way of.
//!
//! MySQL's rules: after 1205 or 1213 the transaction is rolled back and, after a pause, applied
//! again from its events, up to `replica_transaction_retries` times; then its error stops the
//! applier. The pauses grow from nothing to five seconds.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::channel::Channel;
use crate::error::ThreadError;
use crate::relay::RelayPosition;

/// The longest pause, in seconds (MySQL's `MAX_REPLICA_RETRY_PAUSE`).
const LONGEST_PAUSE_S: u64 = 5;

/// How often the transaction has been tried that the applier is at.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// Where it begins in the relay log.
    at: RelayPosition,
    count: u64,
}

impl Retries {
    /// The transaction that begins at `at` failed. True: it is to be tried again, and the pause is
    /// over.
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
