//! The search for cycles of waits, and who has to give way.
//!
//! The victim is the member of the cycle with the smallest weight (rows changed plus locks held, as
//! InnoDB weighs transactions); among equals it is the one that has just begun to wait, which is
//! known to be running. Another victim is told through its waiter: its wait ends with the error,
//! its transaction rolls back, and its locks go.

use super::census::RowName;
use super::gap::TableLocks;
use super::wait::Waiter;
use super::{LockId, LockOwner, LockTable, OwnerId, Patience};
use crate::bytes::KeyBuf;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What an owner waits for.
pub(super) enum WaitsFor {
    Lock(LockId),
    /// That no interval covers the key it wants to insert.
    Gap(Arc<TableLocks>, u32, KeyBuf),
}

/// An owner that waits.
pub(super) struct Waiting {
    pub waits_for: WaitsFor,
    pub waiter: Arc<Waiter>,
    /// The row that it waits for; `None`: metadata.
    pub row: Option<RowName>,
    weight: u64,
    member: DeadlockMember,
}

/// A transaction of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockMember {
    /// Number of the transaction.
    pub transaction_id: u64,
    /// The connection that it belongs to; 0: none.
    pub connection_id: u64,
    /// Locks that it held.
    pub locks: u64,
    /// Rows that it had changed.
    pub changes: u64,
    /// What it waited for.
    pub waits_for: String,
}

/// A deadlock that was found and broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReport {
    /// When, microseconds of Unix time.
    pub at_us: u64,
    /// The transactions; each waits for the one behind it, the last for the first.
    pub members: Vec<DeadlockMember>,
    /// Position of the one that was rolled back.
    pub victim: usize,
}

impl DeadlockReport {
    /// The report as the section LATEST DETECTED DEADLOCK has it, without the heading.
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

/// Who waits for what.
#[derive(Default)]
pub(super) struct Detector {
    waits: HashMap<OwnerId, Waiting>,
    /// Owners that hold locks for one who waits, and that one.
    holders: HashMap<OwnerId, OwnerId>,
    latest: Option<DeadlockReport>,
}

impl Detector {
    /// Everybody who waits.
    pub fn waits(&self) -> impl Iterator<Item = (&OwnerId, &Waiting)> {
        self.waits.iter()
    }
}

impl LockTable {
    /// Enters an owner as waiting. False: it must not wait, because it is the victim of the cycle
    /// that its wait closed.
    pub(super) fn begin_wait(
        &self,
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
        let mut detector = self.detector.lock();
        detector.waits.insert(owner.id, waiting);
        if let Some(holder) = owner.works_under {
            detector.holders.insert(holder, owner.id);
        }
        if !self.deadlock_detect.load(Ordering::Relaxed) {
            return true;
        }
        while let Some(cycle) = self.cycle_through(&detector, owner.id) {
            // The owner itself is the first: it is the victim among equals.
            let lightest = cycle.iter().min_by_key(|id| detector.waits[*id].weight);
            let victim = *lightest.expect("a cycle has members");
            if victim != owner.id && !detector.waits[&victim].waiter.give_up() {
                // Granted in this moment: what it waited for is no part of a cycle any more.
                continue;
            }
            self.report(&mut detector, &cycle, victim);
            if victim == owner.id {
                return false;
            }
            detector.waits.remove(&victim);
        }
        true
    }

    pub(super) fn end_wait(&self, owner: &LockOwner) {
        let mut detector = self.detector.lock();
        detector.waits.remove(&owner.id);
        if let Some(holder) = owner.works_under {
            detector.holders.remove(&holder);
        }
    }

    /// The members of a cycle of waits that the owner is in, itself first.
    fn cycle_through(&self, detector: &Detector, owner: OwnerId) -> Option<Vec<OwnerId>> {
        let Detector { waits, holders, .. } = detector;
        let mut came_from: HashMap<OwnerId, OwnerId> = HashMap::new();
        let mut stack = vec![owner];
        let mut blockers = Vec::new();
        while let Some(id) = stack.pop() {
            // One who has been granted meanwhile is entered until it runs again.
            let Some(waiting) = waits.get(&id).filter(|waiting| waiting.waiter.is_waiting()) else {
                continue;
            };
            blockers.clear();
            self.blockers_of(id, &waiting.waits_for, &mut blockers);
            for blocker in &blockers {
                let blocker = *holders.get(blocker).unwrap_or(blocker);
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

    pub(super) fn blockers_of(&self, owner: OwnerId, waits_for: &WaitsFor, out: &mut Vec<OwnerId>) {
        match waits_for {
            WaitsFor::Lock(id) => {
                if let Some(lock) = self.shard(*id).lock().locks.get(&id.0) {
                    lock.blockers(owner, out);
                }
            }
            WaitsFor::Gap(locks, index_id, key) => locks.blockers(owner, *index_id, key, out),
        }
    }

    fn report(&self, detector: &mut Detector, cycle: &[OwnerId], victim: OwnerId) {
        let members = cycle.iter().map(|id| detector.waits[id].member.clone()).collect();
        let at = cycle.iter().position(|id| *id == victim).expect("the victim is a member");
        let report = DeadlockReport { at_us: os::clock::now_us(), members, victim: at };
        if self.print_all_deadlocks.load(Ordering::Relaxed) {
            log::info!("InnoDB: Transactions deadlock detected:\n{}", report.to_text());
        }
        detector.latest = Some(report);
    }

    /// The deadlock that was found last.
    pub fn latest_deadlock(&self) -> Option<DeadlockReport> {
        self.detector.lock().latest.clone()
    }
}
