//! XA transactions: branches by their XIDs, from `XA START` to `XA COMMIT` or `XA ROLLBACK`.
//!
//! Pages hold committed rows only, so a prepared transaction is a durable write set with its locks
//! (decision 0020). `XA PREPARE` is a commit record that changes no page: its sidecar holds the
//! event group, from which the write set can be made again. `XA COMMIT` is an ordinary commit
//! record with the same rows, for which the binary log gets one statement. The record of `XA
//! ROLLBACK` has that statement alone. Each of the three has a GTID of its own.
//!
//! A prepared transaction outlives its session. One that the checkpoint passes is in a spill file,
//! which the checkpoint's state names. Recovery makes its write set again and takes its locks
//! before anybody else can ([`crate::recovery`]).
//!
//! Invariants:
//! - A branch is in the table from `XA START` to its end, so that no two branches have the same
//!   XID.
//! - A branch's record in the log is noted in the branch before the checkpoint may pass the record
//!   ([`record::XaPart::note_logged`]).
//! - A branch that cannot be finished (because of a full disk) stays prepared, with its locks.
//!
//! Lock order: the committer's `xa_logging`, then the sequencer; the table of branches is a leaf.

pub(crate) mod branches;
pub(crate) mod record;

use crate::Engine;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts, GtidNext};
use crate::commit::sidecar::SidecarWriter;
use crate::error::Result;
use crate::group::query::put_xa;
use crate::spill::{Spill, SpillFile};
use crate::transaction::write_set::WriteSet;
use crate::transaction::xa::hold_prepared;
use binlog::Xid;
use binlog::encode::EventBase;
use branches::{Branch, Held, PreparedXa};
use record::PreparedRecord;
use record::XaPart;
use std::sync::Arc;

/// The way in which a prepared transaction is finished.
pub struct XaFinish<'a> {
    /// Whether it is committed. Otherwise it is rolled back.
    pub commit: bool,
    /// Whether the session that prepared the transaction finishes it. While the transaction is
    /// attached to that session, no other may.
    pub by_its_session: bool,
    /// The source's event, in the form that the log keeps. `None` means that an event is made.
    pub events: Option<&'a [u8]>,
}

/// Ends prepared transactions, and takes them over after a crash.
pub(crate) struct XaRunner<'e> {
    pub engine: &'e Arc<Engine>,
}

impl XaRunner<'_> {
    /// Commits a prepared transaction or rolls it back.
    ///
    /// # Errors
    /// Returns `EngineError::UnknownXid` when no prepared transaction has this XID. After any
    /// other error the transaction is prepared as before.
    pub fn finish(
        &self,
        xid: &Xid,
        finish: &XaFinish<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        let (mut prepared, attached) = self.engine.xa.take(xid, finish.by_its_session)?;
        match self.log_finish(xid, &mut prepared, finish, options) {
            Ok(outcome) => {
                self.engine.sequencer.note_released(outcome.seq);
                prepared.held.locks.set_committed(outcome.seq);
                self.engine.locks.release_all(&mut prepared.held.locks);
                self.engine.xa.remove(xid);
                if let Some(record) = prepared.record {
                    self.engine.xa.note_ended(record);
                }
                self.engine.committer.settle_commit(outcome.seq, options.wait)?;
                Ok(outcome)
            }
            Err(error) => {
                self.make_held_again(&mut prepared);
                let branch = Branch::Prepared { prepared: Box::new(prepared), attached };
                let before = self.engine.xa.set(xid, branch);
                let was_changing = matches!(before, Some(Branch::Changing(_)));
                assert!(was_changing, "a branch that stays prepared was taken out to be finished");
                Err(error)
            }
        }
    }

    /// Puts the end of a prepared transaction into the log, and its rows on their pages.
    fn log_finish(
        &self,
        xid: &Xid,
        prepared: &mut PreparedXa,
        finish: &XaFinish<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        let PreparedXa { record, held } = prepared;
        let Some(record) = record else {
            return match options.gtid {
                GtidNext::Given(_) => self.engine.committer.commit_empty(options),
                _ => Ok(CommitOutcome { seq: self.engine.sequencer.visible(), gtid: None }),
            };
        };
        let mut made = Vec::new();
        if finish.events.is_none() {
            let timestamp = (os::clock::now_us() / 1_000_000) as u32;
            let base =
                EventBase { timestamp, server_id: options.server_id.unwrap_or(self.engine.config.server_id) };
            put_xa(&mut made, base, if finish.commit { "XA COMMIT" } else { "XA ROLLBACK" }, xid);
        }
        let events = finish.events.unwrap_or(&made);
        let (group, spill) = match record.in_memory() {
            _ if !finish.commit => (&[][..], None),
            Some((group, _)) => (group, None),
            None => (&[][..], Some(Spill { group: self.copy_group(record)?, images: held.images.take() })),
        };
        let parts = CommitParts {
            group,
            spill,
            ddl: false,
            only_rows: false,
            replacements: &[],
            dictionary: &[],
            next_ids: None,
            xa: Some(XaPart::Finishes(record, events)),
            options: &CommitOptions { binlog: options.binlog && record.binlogged, ..*options },
        };
        match finish.commit {
            true => self.engine.committer.commit_writes(&mut held.writes, &mut held.sidecar, parts),
            false => self.engine.committer.commit_writes(
                &mut WriteSet::new(false),
                &mut SidecarWriter::default(),
                parts,
            ),
        }
    }

    /// Copies the event group of a large transaction to a file of the commit's own, to which the
    /// commit appends its sidecar.
    fn copy_group(&self, record: &PreparedRecord) -> Result<SpillFile> {
        let mut copy = self.engine.spills.create()?;
        if let Some(file) = record.file() {
            file.open(&self.engine.config)?.for_each_run(|run| copy.append(run))?;
        }
        Ok(copy)
    }

    /// Makes the write set again after a commit failed, which undoes what the commit had done to
    /// it.
    fn make_held_again(&self, prepared: &mut PreparedXa) {
        let Some(record) = &prepared.record else { return };
        if let Err(error) = hold_prepared(self.engine, record, &mut prepared.held) {
            // Recovery makes the write set again.
            self.engine
                .config
                .disk
                .fail_stop(&format!("the prepared transaction {} is lost: {error}", record.xid));
        }
    }

    /// Takes over a transaction that recovery found prepared, with its write set and its locks.
    pub fn adopt_prepared(&self, record: PreparedRecord) -> Result<()> {
        let (xid, record) = (record.xid, Arc::new(record));
        let mut held = Held {
            writes: WriteSet::new(false),
            sidecar: SidecarWriter::default(),
            locks: self.engine.locks.owner(),
            images: None,
        };
        hold_prepared(self.engine, &record, &mut held)?;
        let prepared = Box::new(PreparedXa { record: Some(record), held });
        let before = self.engine.xa.set(&xid, Branch::Prepared { prepared, attached: false });
        assert!(before.is_none(), "recovery hands over each prepared transaction once");
        Ok(())
    }
}
