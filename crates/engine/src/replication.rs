//! The replication state that users see and set: GTIDs and positions.

use crate::Engine;
use crate::commit::pipeline::{CommitOptions, GtidNext};
use crate::commit::position::{ChannelChange, PositionUpdate, ReplicaPosition, parse_mariadb_state};
use crate::error::{EngineError, Result};
use crate::transaction::Transaction;
use binlog::gtid::{Gtid, GtidSet};
use std::sync::Arc;

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

    /// Begins a transaction that applies a source's. See [`Transaction::apply_insert`] and its
    /// neighbours.
    pub fn begin_apply(self: &Arc<Engine>) -> Box<Transaction> {
        Box::new(Transaction::new(self.clone(), crate::Isolation::ReadCommitted, false))
    }
}
