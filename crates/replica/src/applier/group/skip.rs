//! Groups that are passed over, because they were executed before or `sql_replica_skip_counter`
//! counts them.

use binlog::event::{Event, Header};
use engine::{CommitOptions, GtidNext};

use super::progress::{GroupProgress, Stage};
use super::xa_statement::XaStatement;
use crate::applier::report;
use crate::error::ThreadError;
use crate::gtid::GroupHead;
use crate::relay::RelayPosition;

impl GroupProgress<'_> {
    /// Reports whether `sql_replica_skip_counter` makes the applier pass over the group whose first
    /// event behind its GTID comes now, and if so begins to pass over it.
    pub(super) fn skips_from_here(&mut self, header: &Header) -> bool {
        let skips = self.stage != Stage::Open && self.channel.apply.skip_counter() > 0;
        if skips {
            if self.stage == Stage::Outside {
                self.head = GroupHead::of_second(header.timestamp);
                self.server_id = header.server_id;
            }
            self.stage = Stage::Skipping { in_transaction: false, counted: true };
        }
        skips
    }

    /// Passes over an event. Returns true when the group that is passed over ends here.
    pub(super) fn pass_over(&mut self, event: &Event<'_>, relay: RelayPosition) -> Result<bool, ThreadError> {
        let Stage::Skipping { in_transaction: inside, counted } = self.stage else { return Ok(false) };
        let ends = match event {
            // A compressed transaction payload is a whole transaction.
            Event::Xid(_) | Event::XaPrepare(_) | Event::TransactionPayload(_) => true,
            Event::Query(query) if query.is_begin() || XaStatement::of(query) == Some(XaStatement::Start) => {
                self.stage = Stage::Skipping { in_transaction: true, counted };
                false
            }
            Event::Query(query) => query.is_end() || !inside,
            _ => false,
        };
        if counted {
            // The last event of the counter is not counted before its group ends, so that no group
            // is cut in two.
            let left = self.channel.apply.skip_counter();
            if ends || left > 1 {
                self.channel.apply.set_skip_counter(left.saturating_sub(1));
            }
        }
        if ends {
            if counted {
                self.note_skipped(relay)?;
            }
            self.abandon();
            self.mark_done(relay);
        }
        Ok(ends)
    }

    /// Commits the position behind a group that `sql_replica_skip_counter` passed over, so that it
    /// stays passed over after a crash.
    fn note_skipped(&mut self, relay: RelayPosition) -> Result<(), ThreadError> {
        self.name_relay_end(relay);
        let options = CommitOptions { gtid: GtidNext::Anonymous, binlog: false, ..self.options() };
        let noted = self.channel.engine.commit_empty(&options);
        noted.map(|_| ()).map_err(|error| report::commit(&error, self.place()))
    }
}
