//! The requests of the crates above that one part of the engine answers alone. Each method hands
//! its question on to the part that it names.

use crate::Engine;
use crate::checkpoint::CheckpointParticipant;
use crate::commit::hold::{CommitHold, DdlPass};
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitWaiter, GtidNext};
use crate::commit::position::{ChannelChange, PositionUpdate, ReplicaPosition, parse_mariadb_state};
use crate::commit::sequencer::ReadOnly;
use crate::commit::stream::CommitStream;
use crate::error::{EngineError, Result};
use crate::gtid_owners::{GtidMode, GtidModeRefusal, GtidOwner};
use crate::xa::branches::XaBranch;
use binlog::Xid;
use binlog::gtid::{Gtid, GtidSet};
use redo::Lsn;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The requests about commits.
impl Engine {
    /// Commits an empty transaction under a GTID, so that the GTID counts as executed (`BEGIN;
    /// COMMIT;` with `gtid_next` set, or a transaction that a filter left empty), or only moves a
    /// channel's position.
    pub fn commit_empty(&self, options: &CommitOptions<'_>) -> Result<CommitOutcome> {
        self.committer.commit_empty(options)
    }

    /// Makes commits visible up to `limit` at most. `u64::MAX` means no limit: a commit becomes
    /// visible as soon as it and all before it are on their pages.
    pub fn limit_visibility(&self, limit: Lsn) {
        self.committer.limit_visibility(limit);
    }

    /// Sets the waiter that every committing session asks before it answers its client. It can be
    /// set only once.
    pub fn set_commit_waiter(&self, waiter: Arc<dyn CommitWaiter>) {
        self.committer.set_commit_waiter(waiter);
    }

    /// Holds back all commits. Returns when the commits that are under way are visible.
    pub fn hold_commits(&self) -> CommitHold {
        self.committer.gate.hold()
    }

    /// Sets which commits of sessions are refused (`read_only`, `super_read_only`), to what `now`
    /// answers. When it returns, nothing that it refuses is under way any more.
    pub fn set_read_only(&self, now: impl FnOnce() -> ReadOnly) {
        self.committer.gate.set_read_only(now);
    }

    /// Checks that a commit with these options would not be refused because of `read_only`. The
    /// answer stays right for as long as the caller has a [`DdlPass`].
    ///
    /// # Errors
    /// Returns [`EngineError::ServerIsReadOnly`] when the commit would be refused.
    pub fn check_read_only(&self, options: &CommitOptions<'_>) -> Result<()> {
        self.sequencer.check_read_only(options.refused_from)
    }

    /// Announces a statement that changes definitions. While commits are held back it waits as for
    /// a lock: for `timeout_ms` milliseconds at most (`None` means the engine's
    /// `lock_wait_timeout`), and until `interrupt` becomes true, because the session that holds
    /// commits back may itself wait for this session's locks.
    pub fn enter_ddl(&self, timeout_ms: Option<u64>, interrupt: Option<&AtomicBool>) -> Result<DdlPass<'_>> {
        let timeout_ms = timeout_ms.unwrap_or(self.config.lock_wait_timeout_ms);
        self.committer.gate.enter_ddl(timeout_ms, interrupt)
    }

    /// Returns a stream of the committed groups from `from_lsn` on. `from_lsn` must be a position
    /// that a stream or a checkpoint gave out.
    pub fn commit_stream(&self, from_lsn: Lsn) -> Result<CommitStream> {
        self.committer.commit_stream(from_lsn)
    }
}

/// The requests about checkpoints and purge.
impl Engine {
    /// Makes a checkpoint as far as pages are on disk already. Returns the position of the
    /// checkpoint.
    pub fn checkpoint(&self) -> Result<Lsn> {
        self.checkpointer.checkpoint()
    }

    /// Flushes every page and makes a checkpoint. Afterwards only the participant needs the log.
    pub fn sharp_checkpoint(&self) -> Result<Lsn> {
        self.checkpointer.sharp_checkpoint()
    }

    /// Sets the participant, for which the log is kept and whose state becomes part of each
    /// checkpoint.
    pub fn set_checkpoint_participant(&self, participant: Arc<dyn CheckpointParticipant>) {
        *self.checkpointer.participant.lock() = Some(participant);
    }

    /// Returns the participant's state in the checkpoint that recovery began from. It is empty when
    /// there was none.
    pub fn recovered_participant_state(&self) -> &[u8] {
        &self.checkpointer.recovered_participant_state
    }

    /// Purges every batch that no snapshot needs, and, while versions take more memory than they
    /// may, also batches that the oldest snapshots need. Returns how many batches it purged.
    pub fn purge(&self) -> Result<usize> {
        self.purger.purge()
    }
}

/// The requests about XA transactions.
impl Engine {
    /// Begins the branch of an XA transaction.
    ///
    /// # Errors
    /// Returns [`EngineError::XidExists`] when there is an XA transaction with this XID already.
    pub fn begin_xa(&self, xid: Xid) -> Result<XaBranch> {
        self.xa.begin(xid)
    }

    /// Returns the XIDs of the prepared transactions (`XA RECOVER`).
    pub fn prepared_xids(&self) -> Vec<Xid> {
        self.xa.prepared_xids()
    }

    /// Reports whether a transaction with this XID is prepared.
    pub fn is_prepared(&self, xid: &Xid) -> bool {
        self.xa.is_prepared(xid)
    }

    /// Notes that the session which a prepared transaction was attached to is gone. From here on
    /// any session may finish the transaction.
    pub fn detach_xa(&self, xid: &Xid) {
        self.xa.detach(xid);
    }
}

/// The requests about GTIDs that sessions own.
impl Engine {
    /// Makes a connection the owner of a GTID, waiting while another connection owns it. `None`
    /// means that the GTID has been executed, so that nobody is to own it.
    ///
    /// # Errors
    /// Returns [`EngineError::Interrupted`] when `interrupt` was set meanwhile, and
    /// [`EngineError::GtidUnusable`] when the mode is OFF.
    pub fn own_gtid(
        &self,
        gtid: Gtid,
        connection_id: u64,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Option<GtidOwner>> {
        self.gtid_owners.own(gtid, connection_id, interrupt)
    }

    /// Announces that the next transaction of a session is to have no GTID. `None` means that the
    /// mode is ON, which forbids this.
    pub fn own_anonymous(&self) -> Option<GtidOwner> {
        self.gtid_owners.own_anonymous()
    }

    /// Announces that the transactions of a session are to have GTIDs with a tag. `None` means that
    /// the mode gives no GTIDs.
    pub fn hold_tag(&self) -> Option<GtidOwner> {
        self.gtid_owners.hold_tag()
    }

    /// Returns every GTID that is owned, with the id of the connection that owns it
    /// (`@@GLOBAL.gtid_owned`).
    pub fn owned_gtids(&self) -> Vec<(Gtid, u64)> {
        self.gtid_owners.owned()
    }

    /// Returns how many sessions own the right to commit without a GTID
    /// (`Ongoing_anonymous_transaction_count`).
    pub fn anonymous_owners(&self) -> u64 {
        self.gtid_owners.anonymous()
    }

    /// Returns a count that changes whenever a session gets or loses a GTID. While the count stays
    /// the same, an applier need not look whether sessions own or have executed its GTIDs.
    pub fn gtid_owner_changes(&self) -> u64 {
        self.gtid_owners.changes()
    }

    /// Waits while a session owns the GTID.
    ///
    /// # Errors
    /// Returns [`EngineError::Interrupted`] when `interrupt` was set meanwhile.
    pub fn wait_disowned(&self, gtid: Gtid, interrupt: &AtomicBool) -> Result<()> {
        self.gtid_owners.wait_disowned(gtid, interrupt)
    }

    /// Returns `gtid_mode`.
    pub fn gtid_mode(&self) -> GtidMode {
        self.gtid_owners.mode()
    }

    /// Changes `gtid_mode`. Every transaction that gets its place in the log afterwards obeys the
    /// new mode.
    pub fn set_gtid_mode(&self, mode: GtidMode) -> std::result::Result<(), GtidModeRefusal> {
        self.gtid_owners.set_mode(mode)
    }
}

/// The requests about the replication state that users see and set: GTIDs and positions.
impl Engine {
    /// Returns `gtid_executed`: every GTID whose transaction is visible.
    pub fn gtid_executed(&self) -> GtidSet {
        self.sequencer.replication(|state| state.executed.clone())
    }

    /// Returns `gtid_executed` and the GTIDs of commits that are in the log and not visible yet, as
    /// those that wait for the acknowledgement of a replica that has them already.
    pub fn gtid_logged(&self) -> GtidSet {
        self.sequencer.logged_gtids()
    }

    /// Returns `gtid_purged`: the GTIDs that were executed and are in no binary log file any more.
    pub fn gtid_purged(&self) -> GtidSet {
        self.sequencer.replication(|state| state.purged.clone())
    }

    /// Reports whether a GTID has been executed.
    pub fn has_executed(&self, gtid: Gtid) -> bool {
        self.sequencer.has_executed(gtid)
    }

    /// Adds GTIDs to `gtid_purged` and to `gtid_executed` (`SET GLOBAL gtid_purged`, or a purge of
    /// binary log files). The change is durable when this returns.
    pub fn add_gtid_purged(&self, purged: &GtidSet) -> Result<()> {
        self.sequencer.change_replication(|state| {
            state.purged.union(purged);
            state.executed.union(purged);
        });
        self.checkpoint().map(|_| ())
    }

    /// Forgets all executed and purged GTIDs (`RESET BINARY LOGS AND GTIDS`). The change is durable
    /// when this returns.
    ///
    /// # Errors
    /// Returns [`EngineError::GtidUnusable`] while transactions are being committed.
    pub fn reset_gtids(&self) -> Result<()> {
        self.reset_gtids_and(|| ())
    }

    /// Does what [`Engine::reset_gtids`] does and runs `and` as part of it. No checkpoint has the
    /// one without the other: after a crash the participant's state and the GTIDs are either both
    /// from before the reset or both from after it.
    pub fn reset_gtids_and(&self, and: impl FnOnce()) -> Result<()> {
        {
            let _no_checkpoint = self.checkpointer.checkpointing.lock();
            self.sequencer.reset_gtids();
            and();
        }
        // Otherwise recovery would bring the GTIDs back from records before the checkpoint.
        let current = self.log.current_lsn();
        if self.sharp_checkpoint()? < current {
            return Err(EngineError::GtidUnusable("transactions are being committed; try again".to_string()));
        }
        Ok(())
    }

    /// Returns how far a channel has applied. `None` means that there is no such channel.
    pub fn replica_position(&self, channel: &str) -> Option<ReplicaPosition> {
        self.sequencer.replication(|state| state.position(channel))
    }

    /// Sets a channel's position outside any transaction (`CHANGE REPLICATION SOURCE TO`), or
    /// forgets the channel when `position` is `None` (`RESET REPLICA ALL`). The channel must not be
    /// applying. The change is a commit record of its own, durable when this returns, so that the
    /// replay of older records does not win over it.
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
