//! XA transactions: branches by their numbers, from `XA START` to `XA COMMIT` or `XA ROLLBACK`.
//!
//! Pages hold committed rows only, so a prepared transaction is a durable write set with its locks
//! (decision 0020). `XA PREPARE` is a commit record that changes no page: its sidecar holds the
//! event group, from which the write set can be made again. `XA COMMIT` is an ordinary commit
//! record with the same rows, for which the binary log gets one statement; `XA ROLLBACK` has that
//! statement alone. Each has a GTID of its own.
//!
//! A prepared transaction outlives its session. One that the checkpoint passes is in a spill file,
//! which the checkpoint's state names; recovery makes its write set again and takes its locks
//! before anybody else comes ([`crate::recovery`]).
//!
//! Invariants:
//! - A branch is in the table from `XA START` to its end, so that no two have the same number.
//! - Whatever record of a branch the checkpoint may pass is known of it before
//!   ([`record::XaPart::note_logged`]).
//! - A branch that cannot be finished (a full disk) stays prepared, with its locks.
//!
//! Lock order: `logging`, then the sequencer; the table of branches is a leaf.

pub(crate) mod record;

use crate::Engine;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts, GtidNext};
use crate::commit::sidecar::SidecarWriter;
use crate::error::{EngineError, Result};
use crate::group::query::put_xa;
use crate::lock::LockOwner;
use crate::spill::{Spill, SpillFile, SpillRef};
use crate::transaction::write_set::WriteSet;
use binlog::Xid;
use binlog::encode::EventBase;
use os::sync::{Mutex, MutexGuard};
use record::PreparedRecord;
pub(crate) use record::XaPart;
use redo::Lsn;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a prepared transaction holds.
pub(crate) struct Held {
    pub writes: WriteSet,
    pub sidecar: SidecarWriter,
    /// Of its rows and gaps, and of its tables' metadata.
    pub locks: LockOwner,
    /// Images of rows that neither the memory nor the group has.
    pub images: Option<SpillFile>,
}

/// A prepared transaction.
pub(crate) struct PreparedXa {
    /// `None`: it has changed nothing, and the log does not know it.
    pub record: Option<Arc<PreparedRecord>>,
    pub held: Held,
}

/// How far a branch has come.
enum Branch {
    /// A session is at it.
    Running,
    /// A session writes this into the log: that it is prepared, or that it ends.
    Changing(Option<Arc<PreparedRecord>>),
    /// `attached`: to the session that prepared it, which alone may finish it.
    Prepared { prepared: Box<PreparedXa>, attached: bool },
}

/// All branches there are.
#[derive(Default)]
pub(crate) struct Branches {
    all: Mutex<BTreeMap<Xid, Branch>>,
    /// Held while a record about a branch gets its place in the log and that becomes known of the
    /// branch. A checkpoint holds it while it looks at both: a large commit does not keep it from
    /// passing.
    logging: Mutex<()>,
    /// Records of branches that have ended, until their files are not needed any more.
    ended: Mutex<Vec<Arc<PreparedRecord>>>,
}

impl Branches {
    fn set(&self, xid: &Xid, branch: Branch) {
        self.all.lock().insert(*xid, branch);
    }

    pub fn logging(&self) -> MutexGuard<'_, ()> {
        self.logging.lock()
    }

    /// Takes a prepared transaction out, to be finished.
    fn take(&self, xid: &Xid, by_its_session: bool) -> Result<(PreparedXa, bool)> {
        let mut all = self.all.lock();
        match all.remove(xid) {
            Some(Branch::Prepared { prepared, attached }) if by_its_session || !attached => {
                all.insert(*xid, Branch::Changing(prepared.record.clone()));
                Ok((*prepared, attached))
            }
            other => {
                other.and_then(|branch| all.insert(*xid, branch));
                Err(EngineError::UnknownXid)
            }
        }
    }

    /// The prepared transactions that the log knows and that have not ended.
    fn records(&self) -> Vec<Arc<PreparedRecord>> {
        let all = self.all.lock();
        let records = all.values().filter_map(|branch| match branch {
            Branch::Running => None,
            Branch::Changing(record) => record.clone(),
            Branch::Prepared { prepared, .. } => prepared.record.clone(),
        });
        let goes_on = |record: &Arc<PreparedRecord>| {
            record.prepared_at() != Lsn::MAX && record.finished_at() == Lsn::MAX
        };
        records.filter(goes_on).collect()
    }

    /// Notes a branch that has ended, which may have a file.
    pub fn note_ended(&self, record: Arc<PreparedRecord>) {
        self.ended.lock().push(record);
    }

    /// The files that a durable checkpoint at this position does not need any more.
    pub fn forget_ended(&self, checkpoint_lsn: Lsn) -> Vec<u64> {
        let mut ended = self.ended.lock();
        let forgotten = ended.extract_if(.., |record| record.finished_at() <= checkpoint_lsn);
        forgotten.filter_map(|record| record.file().map(|file| file.number)).collect()
    }
}

/// A branch that a session has begun. Dropped before it is prepared, it leaves nothing.
pub struct XaBranch {
    engine: Arc<Engine>,
    xid: Xid,
}

impl XaBranch {
    /// Its number.
    pub fn xid(&self) -> &Xid {
        &self.xid
    }

    /// The log is about to get the record.
    pub(crate) fn begin_prepare(&self, record: &Arc<PreparedRecord>) {
        self.engine.xa.set(&self.xid, Branch::Changing(Some(record.clone())));
    }

    pub(crate) fn prepared(self, prepared: PreparedXa, attached: bool) {
        self.engine.xa.set(&self.xid, Branch::Prepared { prepared: Box::new(prepared), attached });
    }
}

impl Drop for XaBranch {
    fn drop(&mut self) {
        let mut all = self.engine.xa.all.lock();
        if matches!(all.get(&self.xid), Some(Branch::Running | Branch::Changing(_))) {
            all.remove(&self.xid);
        }
    }
}

/// How a prepared transaction is finished.
pub struct XaFinish<'a> {
    /// Commit it; else roll it back.
    pub commit: bool,
    /// By the session that prepared it, if it is attached to it still.
    pub by_its_session: bool,
    /// The source's event, in the form that the log keeps; `None`: one is made.
    pub events: Option<&'a [u8]>,
}

impl Engine {
    /// Begins a branch.
    ///
    /// # Errors
    /// [`EngineError::XidExists`]
    pub fn begin_xa(self: &Arc<Engine>, xid: Xid) -> Result<XaBranch> {
        let mut all = self.xa.all.lock();
        if all.contains_key(&xid) {
            return Err(EngineError::XidExists);
        }
        all.insert(xid, Branch::Running);
        Ok(XaBranch { engine: self.clone(), xid })
    }

    /// Numbers of the transactions that are prepared (`XA RECOVER`).
    pub fn prepared_xids(&self) -> Vec<Xid> {
        let all = self.xa.all.lock();
        let prepared = all.iter().filter(|(_, branch)| matches!(branch, Branch::Prepared { .. }));
        prepared.map(|(xid, _)| *xid).collect()
    }

    /// Whether a transaction of this number is prepared.
    pub fn is_prepared(&self, xid: &Xid) -> bool {
        matches!(self.xa.all.lock().get(xid), Some(Branch::Prepared { .. }))
    }

    /// The session is gone that a prepared transaction was attached to: anybody may finish it.
    pub fn detach_xa(&self, xid: &Xid) {
        if let Some(Branch::Prepared { attached, .. }) = self.xa.all.lock().get_mut(xid) {
            *attached = false;
        }
    }

    /// Commits a prepared transaction, or rolls it back.
    ///
    /// # Errors
    /// [`EngineError::UnknownXid`]. After any other error it is prepared as before.
    pub fn finish_xa(
        self: &Arc<Engine>,
        xid: &Xid,
        finish: &XaFinish<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        let (mut prepared, attached) = self.xa.take(xid, finish.by_its_session)?;
        match self.log_finish(xid, &mut prepared, finish, options) {
            Ok(outcome) => {
                self.sequencer.note_released(outcome.seq);
                prepared.held.locks.set_committed(outcome.seq);
                self.locks.release_all(&mut prepared.held.locks);
                self.xa.all.lock().remove(xid);
                if let Some(record) = prepared.record {
                    self.xa.note_ended(record);
                }
                self.settle_commit(outcome.seq, options.wait)?;
                Ok(outcome)
            }
            Err(error) => {
                self.make_held_again(&mut prepared);
                self.xa.set(xid, Branch::Prepared { prepared: Box::new(prepared), attached });
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
                GtidNext::Given(_) => self.commit_empty(options),
                _ => Ok(CommitOutcome { seq: self.sequencer.visible(), gtid: None }),
            };
        };
        let mut made = Vec::new();
        if finish.events.is_none() {
            let timestamp = (os::clock::now_us() / 1_000_000) as u32;
            let base = EventBase { timestamp, server_id: options.server_id.unwrap_or(self.config.server_id) };
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
            replacements: &[],
            dictionary: &[],
            next_ids: None,
            xa: Some(XaPart::Finishes(record, events)),
            options: &CommitOptions { binlog: options.binlog && record.binlogged, ..*options },
        };
        match finish.commit {
            true => self.commit_writes(&mut held.writes, &mut held.sidecar, parts),
            false => self.commit_writes(&mut WriteSet::new(false), &mut SidecarWriter::default(), parts),
        }
    }

    /// The event group of a large transaction in a file of the commit's own, which its sidecar is
    /// to follow.
    fn copy_group(&self, record: &PreparedRecord) -> Result<SpillFile> {
        let mut copy = self.spills.create()?;
        if let Some(file) = record.file() {
            file.open(&self.config)?.for_each_run(|run| copy.append(run))?;
        }
        Ok(copy)
    }

    /// After a commit that failed: what it had done to the write set is undone by making it again.
    fn make_held_again(self: &Arc<Engine>, prepared: &mut PreparedXa) {
        let Some(record) = &prepared.record else { return };
        if let Err(error) = self.hold_prepared(record, &mut prepared.held) {
            // Recovery makes it again.
            self.config.disk.fail_stop(&format!("the prepared transaction {} is lost: {error}", record.xid));
        }
    }

    /// Takes up a transaction that recovery found prepared: its write set, and its locks.
    pub(crate) fn adopt_prepared(self: &Arc<Engine>, record: PreparedRecord) -> Result<()> {
        let (xid, record) = (record.xid, Arc::new(record));
        let mut held = Held {
            writes: WriteSet::new(false),
            sidecar: SidecarWriter::default(),
            locks: self.locks.owner(),
            images: None,
        };
        self.hold_prepared(&record, &mut held)?;
        let prepared = Box::new(PreparedXa { record: Some(record), held });
        self.xa.set(&xid, Branch::Prepared { prepared, attached: false });
        Ok(())
    }

    /// What the checkpoint's state is to say of prepared transactions.
    pub(crate) fn prepared_records(&self) -> Vec<Arc<PreparedRecord>> {
        self.xa.records()
    }

    /// The file of a prepared transaction, made if it has none.
    pub(crate) fn file_of_prepared(&self, record: &PreparedRecord) -> Result<SpillRef> {
        if let Some(file) = record.file() {
            return Ok(file);
        }
        let (group, sidecar) = record.in_memory().unwrap_or_default();
        let mut file = self.spills.create()?;
        file.append(group)?;
        let named = file.finish(group.len() as u64, sidecar)?;
        record.set_file(named);
        file.keep();
        Ok(named)
    }
}
