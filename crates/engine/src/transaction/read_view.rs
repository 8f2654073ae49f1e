//! What a transaction reads at: its isolation level and the snapshot that it has open.

use super::mode::{Isolation, LockMode};
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::version::snapshot::Snapshot;
use crate::version::view::View;
use redo::Lsn;

/// The isolation level of a transaction, and its snapshot.
pub(super) struct ReadView {
    pub isolation: Isolation,
    /// Whether the transaction is a single statement in autocommit mode.
    pub autocommit: bool,
    snapshot: Option<Snapshot>,
}

impl ReadView {
    pub fn new(isolation: Isolation) -> ReadView {
        ReadView { isolation, autocommit: false, snapshot: None }
    }

    /// Returns the mode in which a read is done at this isolation level.
    pub fn effective_mode(&self, mode: LockMode) -> LockMode {
        let locks = self.isolation == Isolation::Serializable && !self.autocommit;
        if mode == LockMode::Snapshot && locks { LockMode::Share } else { mode }
    }

    pub fn is_open(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Returns the sequence number that the open snapshot reads at.
    pub fn seq(&self) -> Option<Lsn> {
        self.snapshot.as_ref().map(|snapshot| snapshot.view.seq)
    }

    /// Returns the view of the snapshot, which is opened if there is none. A new one includes the
    /// commit `depends_on`.
    #[inline]
    pub fn open(&mut self, engine: &Engine, depends_on: Lsn) -> Result<&View> {
        if self.snapshot.is_none() {
            engine.sequencer.wait_visible(depends_on);
            self.snapshot = Some(engine.snapshots.open(&engine.sequencer)?);
        }
        Ok(&self.snapshot.as_ref().expect("just opened").view)
    }

    /// Returns what a transaction in another thread reads at, which sees what this one sees. The
    /// snapshot is open.
    pub fn beside(&self, engine: &Engine) -> Result<ReadView> {
        let own = self.snapshot.as_ref().expect("the snapshot of a reader is open");
        let beside = engine.snapshots.open_beside(own)?;
        let evicted = || EngineError::SnapshotTooOld { limit_bytes: engine.rows.versions.limit_bytes() };
        let snapshot = Some(beside.ok_or_else(evicted)?);
        Ok(ReadView { isolation: self.isolation, autocommit: self.autocommit, snapshot })
    }

    /// Keeps the snapshot, if one is open, from being evicted.
    pub fn pin(&self, engine: &Engine) {
        if let Some(snapshot) = &self.snapshot {
            engine.snapshots.pin(snapshot);
        }
    }

    /// Reports whether a result that was read before this call may be given out: the snapshot, if
    /// one is open, was not evicted.
    #[inline]
    pub fn is_valid(&self, engine: &Engine) -> bool {
        self.snapshot.as_ref().is_none_or(|snapshot| !engine.snapshots.is_evicted(snapshot))
    }

    /// Refuses a result that was read at a snapshot which was evicted meanwhile. It must be called
    /// after reading. It also replaces an error that came from what the snapshot no longer had.
    #[inline]
    pub fn at_valid_snapshot<R>(&self, engine: &Engine, read: Result<R>) -> Result<R> {
        match &self.snapshot {
            Some(snapshot) if engine.snapshots.is_evicted(snapshot) => {
                Err(EngineError::SnapshotTooOld { limit_bytes: engine.rows.versions.limit_bytes() })
            }
            _ => read,
        }
    }

    /// Closes the snapshot, if one is open.
    pub fn close(&mut self, engine: &Engine) {
        if let Some(snapshot) = self.snapshot.take() {
            engine.snapshots.close(snapshot);
        }
    }

    /// Closes a snapshot that belongs to the statement which ends.
    pub fn end_statement(&mut self, engine: &Engine) {
        if matches!(self.isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted) {
            self.close(engine);
        }
    }
}
