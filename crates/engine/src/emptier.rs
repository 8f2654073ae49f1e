//! Deletes the rows of dropped partitions after the statement that dropped them, and then forgets
//! that there were any ([`crate::dropped_partitions`]).
//!
//! A pass goes through a table once, in the order of its keys. Nothing becomes such a row again, so
//! a pass that left no row has found them all. The note goes when no snapshot is older than the end
//! of the pass. Each step is a transaction of its own, which is in no binary log: replicas have
//! their own rows. A crash begins the passes again.

use crate::Engine;
use crate::commit::pipeline::{CommitOptions, GtidNext};
use crate::ddl::forget_dropped;
use crate::emptying::{Emptied, Pass};
use crate::error::{EngineError, Result};
use crate::transaction::mode::Isolation;
use crate::transaction::{StatementContext, Transaction};
use std::sync::Arc;

/// How long a step waits for the table, in milliseconds. Later statements about the table may have
/// to wait as long.
const PATIENCE_MS: u64 = 10;

/// Deletes the rows of dropped partitions of an engine.
pub(crate) struct Emptier<'e> {
    pub engine: &'e Arc<Engine>,
}

impl Emptier<'_> {
    /// Makes one step; see [`Engine::delete_dropped_rows`].
    pub fn run(&self) -> Result<Emptied> {
        let emptying = &self.engine.emptying;
        let Some(mut pass) = emptying.take() else { return Ok(Emptied::Done) };
        let outcome = match self.step(&mut pass) {
            Err(EngineError::LockNotAvailable | EngineError::LockWaitTimeout | EngineError::Deadlock) => {
                Ok(Emptied::Waits)
            }
            // DDL has replaced the table meanwhile.
            Err(EngineError::TableChanged(_)) => Ok(Emptied::Waits),
            Err(error) => tell_once(&mut pass, error),
            Ok(emptied) => {
                pass.told = None;
                Ok(emptied)
            }
        };
        if !matches!(outcome, Ok(Emptied::Done)) {
            emptying.put_back(pass);
        }
        match outcome? {
            Emptied::Done if !emptying.is_empty() => Ok(Emptied::GoesOn),
            outcome => Ok(outcome),
        }
    }

    /// Makes one step of a pass. Returns what is left to do in its table.
    fn step(&self, pass: &mut Pass) -> Result<Emptied> {
        let Some(table) = self.engine.catalog.table_by_id(pass.table_id) else { return Ok(Emptied::Done) };
        let Some(dropped) = &table.dropped else { return Ok(Emptied::Done) };
        if dropped.until() != pass.until {
            pass.begin_again(dropped.until());
        }
        let mut transaction = Transaction::boxed(self.engine.clone(), Isolation::ReadCommitted, false);
        transaction.set_metadata_lock_timeout_ms(PATIENCE_MS);
        transaction.begin_statement(StatementContext::default());
        let step = transaction.delete_dropped(&table, &pass.from)?;
        transaction.end_statement();
        let options = CommitOptions {
            gtid: GtidNext::Anonymous,
            binlog: false,
            wait: false,
            ..CommitOptions::default()
        };
        transaction.commit_in_place(&options)?;
        drop(transaction);
        pass.has_left_rows |= step.has_left_rows;
        if let Some(next) = step.next {
            pass.from = next;
            return Ok(Emptied::GoesOn);
        }
        if pass.has_left_rows {
            pass.begin_again(pass.until);
            return Ok(Emptied::Waits);
        }
        // An older snapshot still comes across these rows among the older versions, where nothing
        // but the note says that they went.
        let ended_at = *pass.ended_at.get_or_insert_with(|| self.engine.sequencer.newest());
        if self.engine.snapshots.purge_limit(&self.engine.sequencer) < ended_at {
            return Ok(Emptied::Waits);
        }
        forget_dropped(&self.engine.ddl, &table, pass.until, PATIENCE_MS)?;
        Ok(Emptied::Done)
    }
}

/// Returns an error of a step, unless it is the error of the step before. The step is tried again
/// and again, and a lasting error would fill the log.
fn tell_once(pass: &mut Pass, error: EngineError) -> Result<Emptied> {
    let words = error.to_string();
    if pass.told.as_ref() == Some(&words) {
        return Ok(Emptied::Waits);
    }
    pass.told = Some(words);
    Err(error)
}
