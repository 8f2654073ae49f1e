//! What the crates above ask of the engine's parts: each method hands its question on to the part
//! that it names.

use crate::Engine;
use crate::checkpoint::CheckpointParticipant;
use crate::commit::hold::{CommitHold, DdlPass};
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitWaiter};
use crate::commit::stream::CommitStream;
use crate::error::Result;
use crate::gtid_owners::{GtidMode, GtidModeRefusal, GtidOwner};
use crate::xa::branches::XaBranch;
use binlog::Xid;
use binlog::gtid::Gtid;
use redo::Lsn;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Commits.
impl Engine {
    /// Commits an empty transaction under a GTID, so that it counts as executed (`BEGIN; COMMIT;`
    /// with `gtid_next` set; a transaction that a filter left empty), or only moves a channel's
    /// position.
    pub fn commit_empty(&self, options: &CommitOptions<'_>) -> Result<CommitOutcome> {
        self.committer.commit_empty(options)
    }

    /// Commits become visible up to here at most; `u64::MAX`: as soon as they are on their pages.
    pub fn limit_visibility(&self, limit: Lsn) {
        self.committer.limit_visibility(limit);
    }

    /// Sets, once, whose word sessions wait for.
    pub fn set_commit_waiter(&self, waiter: Arc<dyn CommitWaiter>) {
        self.committer.set_commit_waiter(waiter);
    }

    /// Holds back all commits. Returns when those under way are visible.
    pub fn hold_commits(&self) -> CommitHold {
        self.committer.gate.hold()
    }

    /// Announces a statement that changes definitions; waits while commits are held back, as for a
    /// lock: for `timeout_ms` at most (the engine's `lock_wait_timeout` when none is given), and
    /// until `interrupt` becomes true. Whoever holds commits back may wait for this session's
    /// locks.
    pub fn enter_ddl(&self, timeout_ms: Option<u64>, interrupt: Option<&AtomicBool>) -> Result<DdlPass<'_>> {
        let timeout_ms = timeout_ms.unwrap_or(self.config.lock_wait_timeout_ms);
        self.committer.gate.enter_ddl(timeout_ms, interrupt)
    }

    /// Committed groups from `from_lsn` on, which is a position that a stream or a checkpoint gave
    /// out.
    pub fn commit_stream(&self, from_lsn: Lsn) -> Result<CommitStream> {
        self.committer.commit_stream(from_lsn)
    }
}

/// Checkpoints and purge.
impl Engine {
    /// Makes a checkpoint as far as pages are on disk already. Returns its position.
    pub fn checkpoint(&self) -> Result<Lsn> {
        self.checkpointer.checkpoint()
    }

    /// Flushes every page and makes a checkpoint: the log is then needed by the participant alone.
    pub fn sharp_checkpoint(&self) -> Result<Lsn> {
        self.checkpointer.sharp_checkpoint()
    }

    /// Makes the log wait for `participant` and its state part of the checkpoint.
    pub fn set_checkpoint_participant(&self, participant: Arc<dyn CheckpointParticipant>) {
        *self.checkpointer.participant.lock() = Some(participant);
    }

    /// What the participant's state was in the checkpoint that recovery began from; empty when
    /// there was none.
    pub fn recovered_participant_state(&self) -> &[u8] {
        &self.checkpointer.recovered_participant_state
    }

    /// Works off every batch that no snapshot needs, and those that the oldest snapshots need while
    /// versions take more memory than they may. Returns how many there were.
    pub fn purge(&self) -> Result<usize> {
        self.purger.purge()
    }
}

/// XA transactions.
impl Engine {
    /// Begins a branch.
    ///
    /// # Errors
    /// [`crate::EngineError::XidExists`]
    pub fn begin_xa(&self, xid: Xid) -> Result<XaBranch> {
        self.xa.begin(xid)
    }

    /// Numbers of the transactions that are prepared (`XA RECOVER`).
    pub fn prepared_xids(&self) -> Vec<Xid> {
        self.xa.prepared_xids()
    }

    /// Whether a transaction of this number is prepared.
    pub fn is_prepared(&self, xid: &Xid) -> bool {
        self.xa.is_prepared(xid)
    }

    /// The session is gone that a prepared transaction was attached to: anybody may finish it.
    pub fn detach_xa(&self, xid: &Xid) {
        self.xa.detach(xid);
    }
}

/// GTIDs that sessions own.
impl Engine {
    /// Makes a connection the owner of a GTID; `None`: it has been executed, and nobody is to own
    /// it. Waits while another owns it.
    ///
    /// # Errors
    /// [`crate::EngineError::Interrupted`] when `interrupt` was set meanwhile;
    /// [`crate::EngineError::GtidUnusable`] where the mode is OFF.
    pub fn own_gtid(
        &self,
        gtid: Gtid,
        connection_id: u64,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Option<GtidOwner>> {
        self.gtid_owners.own(gtid, connection_id, interrupt)
    }

    /// The next transaction of a session is to have no GTID; `None`: the mode is ON.
    pub fn own_anonymous(&self) -> Option<GtidOwner> {
        self.gtid_owners.own_anonymous()
    }

    /// The transactions of a session are to have GTIDs with a tag; `None`: the mode gives none.
    pub fn hold_tag(&self) -> Option<GtidOwner> {
        self.gtid_owners.hold_tag()
    }

    /// Every GTID that is owned, and the connection that owns it (`@@GLOBAL.gtid_owned`).
    pub fn owned_gtids(&self) -> Vec<(Gtid, u64)> {
        self.gtid_owners.owned()
    }

    /// Sessions that own the right to commit without a GTID
    /// (`Ongoing_anonymous_transaction_count`).
    pub fn anonymous_owners(&self) -> u64 {
        self.gtid_owners.anonymous()
    }

    /// Changes whenever a session gets or loses a GTID: an applier for which it is what it was has
    /// nobody beside it.
    pub fn gtid_owner_changes(&self) -> u64 {
        self.gtid_owners.changes()
    }

    /// Waits while a session owns the GTID.
    ///
    /// # Errors
    /// [`crate::EngineError::Interrupted`] when `interrupt` was set meanwhile.
    pub fn wait_disowned(&self, gtid: Gtid, interrupt: &AtomicBool) -> Result<()> {
        self.gtid_owners.wait_disowned(gtid, interrupt)
    }

    /// `gtid_mode`
    pub fn gtid_mode(&self) -> GtidMode {
        self.gtid_owners.mode()
    }

    /// Changes `gtid_mode`: every transaction that gets its place in the log later is as the new
    /// mode says.
    pub fn set_gtid_mode(&self, mode: GtidMode) -> std::result::Result<(), GtidModeRefusal> {
        self.gtid_owners.set_mode(mode)
    }
}
