//! The branches that exist, from `XA START` to their end, and what prepared branches hold.

use super::record::PreparedRecord;
use crate::commit::sidecar::SidecarWriter;
use crate::error::{EngineError, Result};
use crate::lock::LockOwner;
use crate::spill::SpillFile;
use crate::transaction::write_set::WriteSet;
use binlog::Xid;
use os::sync::Mutex;
use redo::Lsn;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The things that a prepared transaction holds.
pub(crate) struct Held {
    pub writes: WriteSet,
    pub sidecar: SidecarWriter,
    /// The locks on rows and gaps, and on the metadata of tables.
    pub locks: LockOwner,
    /// The images of rows that are neither in memory nor in the group.
    pub images: Option<SpillFile>,
}

/// A prepared transaction.
pub(crate) struct PreparedXa {
    /// The transaction's record. `None` means that it has changed nothing and the log does not know
    /// it.
    pub record: Option<Arc<PreparedRecord>>,
    pub held: Held,
}

/// The state of a branch.
pub(crate) enum Branch {
    /// A session works in the branch.
    Running,
    /// A session writes a record into the log: that the branch is prepared, or that it ends.
    Changing(Option<Arc<PreparedRecord>>),
    /// The branch is prepared. If it is `attached`, only the session that prepared it may finish
    /// it.
    Prepared { prepared: Box<PreparedXa>, attached: bool },
}

/// All branches that exist.
#[derive(Default)]
pub(crate) struct Branches {
    all: Mutex<BTreeMap<Xid, Branch>>,
    /// The records of branches that have ended, until their files are not needed any more.
    ended: Mutex<Vec<Arc<PreparedRecord>>>,
}

impl Branches {
    /// Sets the state of a branch. Returns the state that it had before.
    pub fn set(&self, xid: &Xid, branch: Branch) -> Option<Branch> {
        self.all.lock().insert(*xid, branch)
    }

    /// Begins a branch.
    ///
    /// # Errors
    /// Returns [`EngineError::XidExists`] when there is a branch with this XID already.
    pub fn begin(self: &Arc<Branches>, xid: Xid) -> Result<XaBranch> {
        let mut all = self.all.lock();
        if all.contains_key(&xid) {
            return Err(EngineError::XidExists);
        }
        all.insert(xid, Branch::Running);
        Ok(XaBranch { branches: self.clone(), xid })
    }

    /// Returns the XIDs of the prepared transactions (`XA RECOVER`).
    pub fn prepared_xids(&self) -> Vec<Xid> {
        let all = self.all.lock();
        let prepared = all.iter().filter(|(_, branch)| matches!(branch, Branch::Prepared { .. }));
        prepared.map(|(xid, _)| *xid).collect()
    }

    /// Reports whether a transaction with this XID is prepared.
    pub fn is_prepared(&self, xid: &Xid) -> bool {
        matches!(self.all.lock().get(xid), Some(Branch::Prepared { .. }))
    }

    /// Notes that the session which a prepared transaction was attached to is gone. From here on
    /// any session may finish the transaction.
    pub fn detach(&self, xid: &Xid) {
        if let Some(Branch::Prepared { attached, .. }) = self.all.lock().get_mut(xid) {
            *attached = false;
        }
    }

    /// Removes a branch that has ended.
    pub fn remove(&self, xid: &Xid) {
        let ended = self.all.lock().remove(xid);
        let was_changing = matches!(ended, Some(Branch::Changing(_)));
        assert!(was_changing, "a branch that ends was taken out to be finished");
    }

    /// Takes a prepared transaction out, to be finished.
    pub fn take(&self, xid: &Xid, by_its_session: bool) -> Result<(PreparedXa, bool)> {
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

    /// Returns the prepared transactions that the log knows and that have not ended.
    pub fn records(&self) -> Vec<Arc<PreparedRecord>> {
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
        assert!(record.finished_at() != Lsn::MAX, "a branch has ended whose end is not in the log");
        self.ended.lock().push(record);
    }

    /// Returns the numbers of the files that a durable checkpoint at this position no longer needs.
    pub fn forget_ended(&self, checkpoint_lsn: Lsn) -> Vec<u64> {
        let mut ended = self.ended.lock();
        let forgotten = ended.extract_if(.., |record| record.finished_at() <= checkpoint_lsn);
        forgotten.filter_map(|record| record.file().map(|file| file.number)).collect()
    }
}

/// A branch that a session has begun. If it is dropped before it is prepared, it leaves nothing.
pub struct XaBranch {
    branches: Arc<Branches>,
    xid: Xid,
}

impl XaBranch {
    /// Returns the XID of the branch.
    pub fn xid(&self) -> &Xid {
        &self.xid
    }

    /// Notes that the log is about to get the branch's record.
    pub(crate) fn begin_prepare(&self, record: &Arc<PreparedRecord>) {
        let before = self.branches.set(&self.xid, Branch::Changing(Some(record.clone())));
        assert!(matches!(before, Some(Branch::Running)), "a branch is prepared while a session works in it");
    }

    pub(crate) fn prepared(self, prepared: PreparedXa, attached: bool) {
        let branch = Branch::Prepared { prepared: Box::new(prepared), attached };
        let before = self.branches.set(&self.xid, branch);
        let is_ours = matches!(before, Some(Branch::Running | Branch::Changing(_)));
        assert!(is_ours, "a branch is prepared once, by the session that began it");
    }
}

impl Drop for XaBranch {
    fn drop(&mut self) {
        let mut all = self.branches.all.lock();
        if matches!(all.get(&self.xid), Some(Branch::Running | Branch::Changing(_))) {
            all.remove(&self.xid);
        }
    }
}
