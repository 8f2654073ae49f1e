//! The search for cycles of waits, and the choice of the transaction that has to give way.
//!
//! The victim is the member of the cycle with the smallest weight (rows changed plus locks held, as
//! InnoDB weighs transactions). Among equals it is the owner that has just begun to wait, which is
//! known to be running. Another victim is told through its waiter: its wait ends with the error,
//! its transaction rolls back, and its locks are released.

use super::gap::TableLocks;
use super::id::{LockId, RowName};
use super::mode::{LockType, OwnerId};
use super::owner::LockOwner;
use super::shards::Shards;
use super::wait::{Patience, Waiter};
use crate::bytes::KeyBuf;
use os::sync::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The lock or gap that an owner waits for.
pub(super) enum WaitsFor {
    Lock(LockId),
    /// A wait until no interval covers the key that the owner wants to insert.
    Gap(Arc<TableLocks>, u32, KeyBuf),
}

impl WaitsFor {
    /// Appends the owners that are in the way of `owner`, which waits for this lock or gap.
    fn blockers(&self, shards: &Shards, owner: OwnerId, out: &mut Vec<OwnerId>) {
        match self {
            WaitsFor::Lock(id) => shards.blockers(owner, *id, out),
            WaitsFor::Gap(locks, index_id, key) => locks.blockers(owner, *index_id, key, out),
        }
    }
}

/// An owner that waits.
struct Waiting {
    waits_for: WaitsFor,
    waiter: Arc<Waiter>,
    /// The row that the owner waits for. `None` means a wait for metadata.
    row: Option<RowName>,
    weight: u64,
    member: DeadlockMember,
}

/// A wait for a row, or for a gap to put a row in.
#[derive(Clone, Debug)]
pub(crate) struct LockWait {
    pub owner: OwnerId,
    pub mode: LockType,
    pub row: RowName,
    /// Whether the owner waits for a gap to be released.
    pub is_insert: bool,
    /// The owners that are in the way: holders, and owners that wait before this one.
    pub blockers: Vec<OwnerId>,
}

/// A member of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockMember {
    /// The number of the transaction.
    pub transaction_id: u64,
    /// The id of the connection that the transaction belongs to. 0 means none.
    pub connection_id: u64,
    /// The number of locks that the transaction held.
    pub locks: u64,
    /// The number of rows that the transaction had changed.
    pub changes: u64,
    /// A text that names what the transaction waited for.
    pub waits_for: String,
}

/// A deadlock that was found and broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReport {
    /// The time of the deadlock, in microseconds of Unix time.
    pub at_us: u64,
    /// The transactions. Each waits for the next one in the list, and the last for the first.
    pub members: Vec<DeadlockMember>,
    /// The position in `members` of the transaction that was rolled back.
    pub victim: usize,
}

impl DeadlockReport {
    /// Returns the report as the section LATEST DETECTED DEADLOCK has it, without the heading.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (at, member) in self.members.iter().enumerate() {
            let number = at + 1;
            let DeadlockMember { transaction_id, connection_id, locks, changes, waits_for } = member;
            let _ = write!(
                text,
                "*** ({number}) TRANSACTION:\nTRANSACTION {transaction_id}, ACTIVE\n\
                 {locks} row lock(s), undo log entries {changes}\nMySQL thread id {connection_id}\n\
                 *** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n{waits_for}\n"
            );
        }
        let _ = writeln!(text, "*** WE ROLL BACK TRANSACTION ({})", self.victim + 1);
        text
    }
}

/// The waits of all owners.
#[derive(Default)]
struct Waits {
    by_owner: HashMap<OwnerId, Waiting>,
    /// The owners that hold locks for another owner that waits, each with that waiting owner.
    holders: HashMap<OwnerId, OwnerId>,
    latest: Option<DeadlockReport>,
}

impl Waits {
    /// Returns the members of a cycle of waits that the owner is in, with the owner first.
    fn cycle_through(&self, shards: &Shards, owner: OwnerId) -> Option<Vec<OwnerId>> {
        let mut came_from: HashMap<OwnerId, OwnerId> = HashMap::new();
        let mut stack = vec![owner];
        let mut blockers = Vec::new();
        while let Some(id) = stack.pop() {
            // An owner whose request has been granted meanwhile stays entered until it runs again.
            let waiting = self.by_owner.get(&id).filter(|waiting| waiting.waiter.is_waiting());
            let Some(waiting) = waiting else { continue };
            blockers.clear();
            waiting.waits_for.blockers(shards, id, &mut blockers);
            for blocker in &blockers {
                let blocker = *self.holders.get(blocker).unwrap_or(blocker);
                if blocker == owner {
                    let mut cycle = vec![id];
                    while let Some(&before) = came_from.get(cycle.last().expect("it has one")) {
                        cycle.push(before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if let Entry::Vacant(unseen) = came_from.entry(blocker) {
                    unseen.insert(id);
                    stack.push(blocker);
                }
            }
        }
        None
    }

    fn report(&mut self, cycle: &[OwnerId], victim: OwnerId, prints: bool) {
        let members = cycle.iter().map(|id| self.by_owner[id].member.clone()).collect();
        let at = cycle.iter().position(|id| *id == victim).expect("the victim is a member");
        let report = DeadlockReport { at_us: os::clock::now_us(), members, victim: at };
        if prints {
            log::info!("InnoDB: Transactions deadlock detected:\n{}", report.to_text());
        }
        self.latest = Some(report);
    }
}

/// All owners that wait, and the search for cycles among them.
pub(super) struct Detector {
    waits: Mutex<Waits>,
    /// `innodb_deadlock_detect`.
    pub is_on: AtomicBool,
    /// `innodb_print_all_deadlocks`.
    pub prints_all: AtomicBool,
}

impl Detector {
    pub fn new() -> Detector {
        Detector { waits: Mutex::default(), is_on: AtomicBool::new(true), prints_all: AtomicBool::new(false) }
    }

    /// Enters an owner as waiting. Returns false when the owner must not wait, because it is the
    /// victim of the cycle that its wait closed.
    pub fn begin_wait(
        &self,
        shards: &Shards,
        owner: &LockOwner,
        waits_for: WaitsFor,
        waiter: &Arc<Waiter>,
        patience: Patience<'_>,
    ) -> bool {
        let member = DeadlockMember {
            transaction_id: owner.id,
            connection_id: owner.connection_id,
            locks: owner.held.len() as u64,
            changes: owner.changes,
            waits_for: (patience.describe)(),
        };
        let row = patience.row.map(|row| row());
        let waiting = Waiting { waits_for, waiter: waiter.clone(), row, weight: owner.weight(), member };
        let mut waits = self.waits.lock();
        let before = waits.by_owner.insert(owner.id, waiting);
        assert!(before.is_none(), "owner {} waits for two things at once", owner.id);
        if let Some(holder) = owner.works_under {
            waits.holders.insert(holder, owner.id);
        }
        if !self.is_on.load(Ordering::Relaxed) {
            return true;
        }
        while let Some(cycle) = waits.cycle_through(shards, owner.id) {
            // The owner itself is the first of the cycle, so that it is the victim among equals.
            let lightest = cycle.iter().min_by_key(|id| waits.by_owner[*id].weight);
            let victim = *lightest.expect("a cycle has members");
            if victim != owner.id && !waits.by_owner[&victim].waiter.give_up() {
                // The victim was granted its lock at this moment, so its wait is no part of a cycle
                // any more.
                continue;
            }
            waits.report(&cycle, victim, self.prints_all.load(Ordering::Relaxed));
            if victim == owner.id {
                return false;
            }
            waits.by_owner.remove(&victim);
        }
        true
    }

    /// Removes an owner whose wait is over.
    pub fn end_wait(&self, owner: &LockOwner) {
        let mut waits = self.waits.lock();
        waits.by_owner.remove(&owner.id);
        if let Some(holder) = owner.works_under {
            waits.holders.remove(&holder);
        }
    }

    /// Returns every wait for a row or a gap.
    pub fn row_waits(&self, shards: &Shards) -> Vec<LockWait> {
        let waits = self.waits.lock();
        let mut shown = Vec::new();
        for (&owner, waiting) in waits.by_owner.iter().filter(|(_, waiting)| waiting.waiter.is_waiting()) {
            let Some(row) = waiting.row.clone() else { continue };
            let mut blockers = Vec::new();
            waiting.waits_for.blockers(shards, owner, &mut blockers);
            blockers.sort_unstable();
            blockers.dedup();
            let is_insert = matches!(waiting.waits_for, WaitsFor::Gap(..));
            shown.push(LockWait { owner, mode: waiting.waiter.mode, row, is_insert, blockers });
        }
        shown
    }

    /// Returns the report of the latest deadlock, if there has been one.
    pub fn latest_deadlock(&self) -> Option<DeadlockReport> {
        self.waits.lock().latest.clone()
    }
}
