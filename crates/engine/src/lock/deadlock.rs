//! The search for cycles of waits.

use super::{LockId, LockTable, OwnerId};
use std::collections::HashSet;

impl LockTable {
    /// Enters `owner` as waiting for `id` and says whether it now waits, through others, for itself.
    ///
    /// The requester is the victim: it is the one that is known to be running, and its statement has just begun to
    /// wait, so nothing else has to be stopped.
    pub(super) fn closes_cycle(&self, owner: OwnerId, id: LockId) -> bool {
        let mut waits = self.detector.lock();
        waits.insert(owner, id);
        let mut seen = HashSet::new();
        let mut stack = vec![owner];
        let mut blockers = Vec::new();
        while let Some(waiting) = stack.pop() {
            let Some(id) = waits.get(&waiting).copied() else { continue };
            blockers.clear();
            if let Some(lock) = self.shard(id).lock().get(&id.0) {
                lock.blockers(waiting, &mut blockers);
            }
            for &blocker in &blockers {
                if blocker == owner {
                    return true;
                }
                if seen.insert(blocker) {
                    stack.push(blocker);
                }
            }
        }
        false
    }
}
