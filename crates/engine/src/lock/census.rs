//! What is locked, and who waits for what, at a moment: for [`crate::data_locks`]. Taken part by
//! part, so that nobody stands still for it; what changes meanwhile may be seen before or after.

use super::gap::GapId;
use super::{LockId, LockTable, LockType, OwnerId};
use crate::bytes::KeyBuf;
use crate::lock::deadlock::WaitsFor;

/// A lock that somebody holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLock {
    pub id: LockId,
    pub owner: OwnerId,
    pub mode: LockType,
}

/// The key of an index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowName {
    pub table_id: u64,
    pub index_id: u32,
    pub key: KeyBuf,
}

/// Somebody who waits for a row, or for a gap to put one in.
#[derive(Clone, Debug)]
pub(crate) struct LockWait {
    pub owner: OwnerId,
    pub mode: LockType,
    pub row: RowName,
    /// It waits for a gap to be let go.
    pub is_insert: bool,
    /// Who stands against it: holders, and others who wait before it.
    pub blockers: Vec<OwnerId>,
}

/// An interval that somebody has locked.
#[derive(Clone, Debug)]
pub(crate) struct HeldGap {
    pub id: GapId,
    pub owner: OwnerId,
    pub index_id: u32,
    pub low: Option<KeyBuf>,
    pub high: Option<KeyBuf>,
}

impl HeldGap {
    /// Whether the gap before this key is in it, or ends at it.
    pub fn reaches(&self, key: &[u8]) -> bool {
        self.low.as_deref().is_none_or(|low| low < key) && self.high.as_deref().is_none_or(|high| key <= high)
    }
}

impl LockTable {
    /// Every lock that is held, metadata's too.
    pub fn held_locks(&self) -> Vec<HeldLock> {
        let mut held = Vec::new();
        for shard in &self.shards {
            for (id, lock) in &shard.lock().locks {
                let id = LockId(*id);
                lock.for_each_grant(|grant| {
                    held.push(HeldLock { id, owner: grant.owner, mode: grant.mode });
                });
            }
        }
        held
    }

    /// Everybody who waits for a row or a gap.
    pub fn row_waits(&self) -> Vec<LockWait> {
        let detector = self.detector.lock();
        let mut waits = Vec::new();
        for (&owner, waiting) in detector.waits().filter(|(_, waiting)| waiting.waiter.is_waiting()) {
            let Some(row) = waiting.row.clone() else { continue };
            let mut blockers = Vec::new();
            self.blockers_of(owner, &waiting.waits_for, &mut blockers);
            blockers.sort_unstable();
            blockers.dedup();
            let is_insert = matches!(waiting.waits_for, WaitsFor::Gap(..));
            waits.push(LockWait { owner, mode: waiting.waiter.mode, row, is_insert, blockers });
        }
        waits
    }
}
