//! A commit in two steps, for those who must keep an order: what decides the order is done in turn,
//! what takes the time is not.
//!
//! Invariants:
//! - A logged transaction cannot fail any more, and holds its row locks until its rows are on their
//!   pages. So whoever comes to one of its rows waits for it, as for every commit under way.
//! - Whoever has one waits for no lock, no log space and no snapshot before it is completed: any of
//!   them may be waiting for it.

use super::Transaction;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts, Logged};
use crate::error::Result;
use redo::Lsn;

/// A transaction that has its place in the order of commits and is in the log, but not on its
/// pages.
#[must_use = "what is in the log must get to its pages"]
pub struct LoggedTransaction {
    /// Gone once it is completed.
    open: Option<(Box<Transaction>, Logged)>,
}

impl Transaction {
    /// The part of [`Transaction::commit_received`] that decides the commit's order. The caller has
    /// asked the log for space ([`redo::Log::free_check`]) before, with no logged transaction in
    /// hand. While commits are held back it waits, unless it is `behind` one of the caller's.
    pub fn log_received(
        mut self: Box<Self>,
        group: &[u8],
        options: &CommitOptions<'_>,
        behind: Option<&LoggedTransaction>,
    ) -> Result<LoggedTransaction> {
        assert!(!self.has_temporary_changes(), "rows of a source are of no temporary table");
        let parts = CommitParts {
            group,
            spill: None,
            ddl: false,
            replacements: &[],
            dictionary: &[],
            next_ids: None,
            xa: None,
            options,
        };
        let logged = self.engine.committer.log_writes(
            &mut self.writes,
            &mut self.sidecar,
            &parts,
            behind.is_some(),
        )?;
        Ok(LoggedTransaction { open: Some((self, logged)) })
    }
}

impl LoggedTransaction {
    /// Puts the rows on their pages and lets the locks go. Does not wait for the log.
    pub fn complete(mut self) -> Result<CommitOutcome> {
        let (mut transaction, logged) = self.open.take().expect("it is completed once");
        let _state = os::account::enter(os::account::State::ApplyCommit);
        let outcome = transaction.engine.committer.apply_logged(&transaction.writes, logged)?;
        transaction.note_committed(outcome.seq);
        transaction.release();
        transaction.engine.committer.settle_commit(outcome.seq, false)?;
        Ok(outcome)
    }

    /// Sequence number.
    pub fn seq(&self) -> Lsn {
        self.open.as_ref().expect("not completed").1.seq()
    }
}

impl Drop for LoggedTransaction {
    fn drop(&mut self) {
        if let Some((transaction, logged)) = &self.open {
            // Recovery finds the commit in the log; here every later one would wait for it.
            let text = format!("commit {} is in the log and was not put on its pages", logged.seq());
            transaction.engine.config.disk.fail_stop(&text);
        }
    }
}
