//! A commit in two steps, for threads that must keep an order: the step that decides the order is
//! done in turn, the step that takes the time is not.
//!
//! Invariants:
//! - A logged transaction cannot fail any more, and holds its row locks until its rows are on their
//!   pages. So another transaction that comes to one of its rows waits for it, as for every commit
//!   under way.
//! - A thread that has a logged transaction waits for no lock, no log space and no snapshot before
//!   it completes it, because the holder of any of these may be waiting for the logged transaction.

use super::Transaction;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts, Logged};
use crate::error::Result;
use redo::Lsn;

/// A transaction that has its place in the order of commits and is in the log, but not on its
/// pages.
#[must_use = "what is in the log must get to its pages"]
pub struct LoggedTransaction {
    /// The transaction and its place; `None` once it is completed.
    open: Option<(Box<Transaction>, Logged)>,
}

impl LoggedTransaction {
    /// Runs the part of a commit that decides its order; see [`Transaction::log_received`].
    pub(super) fn new(
        mut transaction: Box<Transaction>,
        group: &[u8],
        options: &CommitOptions<'_>,
        behind: Option<&LoggedTransaction>,
    ) -> Result<LoggedTransaction> {
        let rows = &mut transaction.rows;
        assert!(!rows.changes.has_temporary(), "rows of a source are of no temporary table");
        let replacements = rows.changes.replacements_in(group)?;
        let parts = CommitParts {
            group,
            spill: None,
            ddl: false,
            only_rows: rows.changes.are_as_received(),
            replacements: &replacements,
            dictionary: &[],
            next_ids: None,
            xa: None,
            options,
        };
        let logged = rows.engine.committer.log_writes(
            &mut rows.changes.writes,
            &mut rows.changes.sidecar,
            &parts,
            behind.is_some(),
        )?;
        Ok(LoggedTransaction { open: Some((transaction, logged)) })
    }

    /// Puts the rows on their pages and releases the locks. Does not wait for the log.
    pub fn complete(mut self) -> Result<CommitOutcome> {
        let (mut transaction, logged) = self.open.take().expect("it is completed once");
        let _state = os::account::enter(os::account::State::ApplyCommit);
        let rows = &mut transaction.rows;
        let outcome = rows.engine.committer.apply_logged(&rows.changes.writes, logged)?;
        rows.note_committed(outcome.seq);
        rows.release();
        rows.engine.committer.settle_commit(outcome.seq, false)?;
        Ok(outcome)
    }

    /// Returns the sequence number of the commit.
    pub fn seq(&self) -> Lsn {
        self.open.as_ref().expect("not completed").1.seq()
    }
}

impl Drop for LoggedTransaction {
    fn drop(&mut self) {
        if let Some((transaction, logged)) = &self.open {
            // Recovery would find the commit in the log, but here every later commit would wait for
            // it.
            let text = format!("commit {} is in the log and was not put on its pages", logged.seq());
            transaction.rows.engine.config.disk.fail_stop(&text);
        }
    }
}
