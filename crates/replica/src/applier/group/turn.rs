//! The turn of a group that a worker has prepared.

use std::sync::atomic::Ordering;

use engine::{LoggedTransaction, TableHold, Turn};

use super::progress::{GroupProgress, Stage};
use crate::applier::job::ReadyGroup;
use crate::applier::report;
use crate::error::ThreadError;
use crate::event;
use crate::relay::RelayPosition;

/// The result of a prepared group's turn.
pub(in crate::applier) enum Turned {
    /// The group is in the log, or was executed before. Its rows, if there are any, must still be
    /// put on their pages.
    Logged(Option<LoggedTransaction>),
    /// The group would have to wait for something, which was not permitted.
    Blocked(ReadyGroup),
    /// The group must be applied from its events, and nothing of it has been done.
    NotAsPrepared,
}

impl GroupProgress<'_> {
    /// Logs a prepared group whose turn has come. `relay` is the group's end in the relay log, and
    /// `hold` gets its tables. `behind` is a group of the same worker that is not on its pages yet.
    pub fn take_turn(
        &mut self,
        mut ready: ReadyGroup,
        events: &[u8],
        relay: RelayPosition,
        (hold, waits): (&mut TableHold, bool),
        behind: Option<&LoggedTransaction>,
    ) -> Result<Turned, ThreadError> {
        assert_eq!(self.stage, Stage::Outside, "groups end before the next one's turn comes");
        self.head = ready.head;
        self.mind_owners()?;
        self.server_id = ready.server_id;
        let is_executed = self.is_executed();
        if ready.rows.is_none() && !is_executed && !waits {
            return Ok(Turned::Blocked(ready));
        }
        let transaction =
            match ready.rows.take().filter(|_| !is_executed).map(|rows| rows.take_turn(hold, waits)) {
                None => None,
                Some(Ok(Turn::Ready(transaction))) => Some(transaction),
                Some(Ok(Turn::Blocked(rows))) => {
                    ready.rows = Some(rows);
                    return Ok(Turned::Blocked(ready));
                }
                Some(Err(_)) => return Ok(Turned::NotAsPrepared),
            };
        // Earlier groups may not be on their pages yet, and the lag counts from the oldest of them,
        // so `applying_us` stays.
        self.channel.times.event_timestamp_s.store(ready.timestamp_s.into(), Ordering::Relaxed);
        if let Some(end) = ready.end_pos {
            self.pos = event::unwrap_pos(self.pos, end);
        }
        if is_executed {
            self.mark_done(relay);
            return Ok(Turned::Logged(None));
        }
        let Some(transaction) = transaction else {
            return self.commit_rows(None, events, relay).map(|()| Turned::Logged(None));
        };
        self.name_relay_end(relay);
        let logged = transaction.log_received(events, &self.options(), behind);
        let logged = logged.map_err(|error| report::commit(&error, self.place()))?;
        self.group_is_in_order(relay);
        Ok(Turned::Logged(Some(logged)))
    }
}
