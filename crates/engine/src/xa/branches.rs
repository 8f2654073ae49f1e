//! The branches that there are, from `XA START` to their end, and what prepared ones hold.

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
pub(crate) enum Branch {
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
    /// Records of branches that have ended, until their files are not needed any more.
    ended: Mutex<Vec<Arc<PreparedRecord>>>,
}

impl Branches {
    pub fn set(&self, xid: &Xid, branch: Branch) {
        self.all.lock().insert(*xid, branch);
    }

    /// Begins a branch.
    ///
    /// # Errors
    /// [`EngineError::XidExists`]
    pub fn begin(self: &Arc<Branches>, xid: Xid) -> Result<XaBranch> {
        let mut all = self.all.lock();
        if all.contains_key(&xid) {
            return Err(EngineError::XidExists);
        }
        all.insert(xid, Branch::Running);
        Ok(XaBranch { branches: self.clone(), xid })
    }

    /// Numbers of the transactions that are prepared (`XA RECOVER`).
    pub fn prepared_xids(&self) -> Vec<Xid> {
        let all = self.all.lock();
        let prepared = all.iter().filter(|(_, branch)| matches!(branch, Branch::Prepared { .. }));
        prepared.map(|(xid, _)| *xid).collect()
    }

    /// Whether a transaction of this number is prepared.
    pub fn is_prepared(&self, xid: &Xid) -> bool {
        matches!(self.all.lock().get(xid), Some(Branch::Prepared { .. }))
    }

    /// The session is gone that a prepared transaction was attached to: anybody may finish it.
    pub fn detach(&self, xid: &Xid) {
        if let Some(Branch::Prepared { attached, .. }) = self.all.lock().get_mut(xid) {
            *attached = false;
        }
    }

    /// The branch has ended.
    pub fn remove(&self, xid: &Xid) {
        self.all.lock().remove(xid);
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

    /// The prepared transactions that the log knows and that have not ended.
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
    branches: Arc<Branches>,
    xid: Xid,
}

impl XaBranch {
    /// Its number.
    pub fn xid(&self) -> &Xid {
        &self.xid
    }

    /// The log is about to get the record.
    pub(crate) fn begin_prepare(&self, record: &Arc<PreparedRecord>) {
        self.branches.set(&self.xid, Branch::Changing(Some(record.clone())));
    }

    pub(crate) fn prepared(self, prepared: PreparedXa, attached: bool) {
        self.branches.set(&self.xid, Branch::Prepared { prepared: Box::new(prepared), attached });
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
