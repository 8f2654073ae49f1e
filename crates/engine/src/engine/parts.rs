//! What the crates above ask of the engine's parts: each method hands its question on to the part
//! that it names.

use crate::Engine;
use crate::checkpoint::CheckpointParticipant;
use crate::commit::hold::{CommitHold, DdlPass};
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitWaiter, GtidNext};
use crate::commit::position::{ChannelChange, PositionUpdate, ReplicaPosition, parse_mariadb_state};
use crate::commit::stream::CommitStream;
use crate::error::{EngineError, Result};
use crate::gtid_owners::{GtidMode, GtidModeRefusal, GtidOwner};
use crate::xa::branches::XaBranch;
use binlog::Xid;
use binlog::gtid::{Gtid, GtidSet};
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
    /// [`EngineError::XidExists`]
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
    /// [`EngineError::Interrupted`] when `interrupt` was set meanwhile;
    /// [`EngineError::GtidUnusable`] where the mode is OFF.
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
    /// [`EngineError::Interrupted`] when `interrupt` was set meanwhile.
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

/// The replication state that users see and set: GTIDs and positions.
impl Engine {
    /// `gtid_executed`: every GTID whose transaction is visible.
    pub fn gtid_executed(&self) -> GtidSet {
        self.sequencer.replication(|state| state.executed.clone())
    }

    /// `gtid_purged`: executed, and in no binary log file any more.
    pub fn gtid_purged(&self) -> GtidSet {
        self.sequencer.replication(|state| state.purged.clone())
    }

    /// Whether a GTID has been executed.
    pub fn has_executed(&self, gtid: Gtid) -> bool {
        self.sequencer.has_executed(gtid)
    }

    /// Adds to `gtid_purged` and to `gtid_executed` (`SET GLOBAL gtid_purged`, files purged).
    /// Durable when this returns.
    pub fn add_gtid_purged(&self, purged: &GtidSet) -> Result<()> {
        self.sequencer.change_replication(|state| {
            state.purged.union(purged);
            state.executed.union(purged);
        });
        self.checkpoint().map(|_| ())
    }

    /// `RESET BINARY LOGS AND GTIDS`: no GTID is executed or purged. Durable when this returns.
    ///
    /// # Errors
    /// [`EngineError::GtidUnusable`] while transactions are being committed.
    pub fn reset_gtids(&self) -> Result<()> {
        self.reset_gtids_and(|| ())
    }

    /// As [`Engine::reset_gtids`]; `and` runs as part of it. No checkpoint has one without the
    /// other: after a crash the state of the participant and the GTIDs are both those before or
    /// both those behind.
    pub fn reset_gtids_and(&self, and: impl FnOnce()) -> Result<()> {
        {
            let _no_checkpoint = self.checkpointer.checkpointing.lock();
            self.sequencer.reset_gtids();
            and();
        }
        // Records before the checkpoint must not bring the GTIDs back in recovery.
        let current = self.log.current_lsn();
        if self.sharp_checkpoint()? < current {
            return Err(EngineError::GtidUnusable("transactions are being committed; try again".to_string()));
        }
        Ok(())
    }

    /// How far a channel has applied; `None`: there is no such channel.
    pub fn replica_position(&self, channel: &str) -> Option<ReplicaPosition> {
        self.sequencer.replication(|state| state.position(channel))
    }

    /// Sets a channel's position outside any transaction (`CHANGE REPLICATION SOURCE TO`), or
    /// forgets the channel (`RESET REPLICA ALL`). The channel must not be applying. It is a commit
    /// record of its own, durable when this returns, so that replay of older records does not win
    /// over it.
    pub fn set_replica_position(&self, channel: &str, position: Option<&ReplicaPosition>) -> Result<()> {
        let forget = ReplicaPosition::default();
        let set = position.unwrap_or(&forget);
        parse_mariadb_state(&set.mariadb_gtid_state)?;
        let update = PositionUpdate {
            channel,
            source_log_file: &set.source_log_file,
            source_log_pos: set.source_log_pos,
            relay_log_file: &set.relay_log_file,
            relay_log_pos: set.relay_log_pos,
            change: match position {
                Some(position) => ChannelChange::SetMariadbState(&position.mariadb_gtid_state),
                None => ChannelChange::Forget,
            },
        };
        let options = CommitOptions {
            gtid: GtidNext::Anonymous,
            position: Some(update),
            binlog: false,
            wait: false,
            ..CommitOptions::default()
        };
        let outcome = self.committer.commit_empty(&options)?;
        self.log.wait_durable(outcome.seq)?;
        self.sequencer.wait_visible(outcome.seq);
        Ok(())
    }
}
