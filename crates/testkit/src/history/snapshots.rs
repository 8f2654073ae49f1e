//! Checks whether each read saw a prefix of the order of commits, and the right one.
//!
//! A snapshot is a number of commits. It includes the writers of what was read, and excludes the
//! writers of what was appended next. So every read gives a lower and an upper bound, and there
//! must be a number that satisfies all of them:
//!
//! - At REPEATABLE READ, one number for all plain reads of the transaction. At READ COMMITTED, one
//!   number for each statement, and none smaller than that of the statement before.
//! - The snapshot includes what was known when it was opened: commits that had been answered, what
//!   any statement on the same server had been told, what the session had seen before, and what the
//!   transaction's own locking reads and appends had found, because a transaction that gets a lock
//!   sees what the lock's earlier holders committed.
//! - A transaction's own commit comes after its snapshots, and after the writers of what it read
//!   under locks and appended to. A transaction that overwrote what it had locked comes after it.

use std::collections::HashMap;

use super::findings::{Anomaly, Findings};
use super::order::{At, Orders};
use super::recorded::{History, Level, Op, Transaction};

/// The bounds of an unknown number of commits: at least `low`, less than `high`.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: u64,
    high: u64,
}

impl Bounds {
    const ANY: Bounds = Bounds { low: 0, high: u64::MAX };

    fn narrow(&mut self, low: u64, high: u64) {
        (self.low, self.high) = (self.low.max(low), self.high.min(high));
    }

    fn is_possible(self) -> bool {
        self.low < self.high
    }
}

/// What clients of a server knew at each time: the number of commits that had been seen or answered
/// by then.
struct Known {
    /// Times in nanoseconds, with the number of commits known then. Both increase.
    at: Vec<(u64, u64)>,
}

impl Known {
    fn new(mut at: Vec<(u64, u64)>) -> Known {
        at.sort_unstable();
        let mut most = 0;
        at.retain_mut(|(_, number)| {
            let is_more = *number > most;
            most = most.max(*number);
            is_more
        });
        Known { at }
    }

    /// Returns the number of commits known before this time.
    fn before(&self, ns: u64) -> u64 {
        let count = self.at.partition_point(|(known, _)| *known < ns);
        count.checked_sub(1).map_or(0, |last| self.at[last].1)
    }
}

struct Search<'h> {
    orders: &'h Orders,
    known: HashMap<usize, Known>,
    /// The number of commits that each session of each server has seen.
    sessions: HashMap<(usize, usize), u64>,
}

impl Search<'_> {
    fn number(&self, at: Option<At>, none: u64) -> u64 {
        at.map_or(none, |at| self.orders.numbers.get(&at).copied().unwrap_or(none))
    }

    /// Checks the reads and writes of a transaction. An error describes what is wrong.
    fn look_at(&mut self, at: At, transaction: &Transaction) -> Result<(), String> {
        let own = self.orders.numbers.get(&at).copied();
        let known = &self.known[&transaction.server];
        let session = (transaction.server, transaction.session);
        let before = self.sessions.get(&session).copied().unwrap_or(0);
        // These are the snapshot of the plain reads, the bounds of the transaction's own commit,
        // and the number of commits that it has learned of under locks so far.
        let (mut snapshot, mut commit, mut learned) = (None, Bounds::ANY, before);
        let mut touched = Vec::new();
        for statement in &transaction.statements {
            let now = known.before(statement.sent_ns);
            if transaction.level == Level::ReadCommitted {
                learned = snapshot.map_or(learned, |last: Bounds| learned.max(last.low));
                snapshot = None;
            }
            let opened = Bounds { low: now.max(learned), ..Bounds::ANY };
            for op in &statement.ops {
                let own_version = touched.contains(&op.key());
                match op {
                    Op::Append(key, element) => {
                        touched.push(*key);
                        // An element that was rolled back has no place in the list.
                        let Some(place) = self.orders.place(*key, *element) else { continue };
                        let low = self.number(self.orders.around(*key, place).0, 0);
                        if !own_version && Some(low) != own {
                            commit.narrow(low, u64::MAX);
                            learned = learned.max(low);
                        }
                    }
                    // A read of the transaction's own version also opens the snapshot.
                    Op::Read(..) if own_version => drop(snapshot.get_or_insert(opened)),
                    Op::Lock(..) if own_version => {}
                    Op::Lock(key, seen) => {
                        let (last, next) = self.orders.around(*key, seen.len());
                        let low = self.number(last, 0);
                        let next = next.filter(|next| *next != at);
                        let high = self.number(next, u64::MAX);
                        if high <= now.max(before) {
                            return Err(format!("{op} lacks commit {high}, {now} were known"));
                        }
                        commit.narrow(low, high);
                        learned = learned.max(low);
                    }
                    Op::Read(key, seen) => {
                        let (last, next) = self.orders.around(*key, seen.len());
                        let (low, high) = (self.number(last, 0), self.number(next, u64::MAX));
                        let view = snapshot.get_or_insert(opened);
                        view.narrow(low, high.min(own.unwrap_or(u64::MAX)));
                        if !view.is_possible() {
                            return Err(format!("{op}: it had to see {}, not {}", view.low, view.high));
                        }
                    }
                }
            }
            if let Some(view) = snapshot
                && view.low >= commit.high
            {
                return Err(format!("it has seen {}, behind its own locks", view.low));
            }
        }
        if let Some(own) = own.filter(|own| !(commit.low < *own && *own < commit.high)) {
            return Err(format!("commit {own} is not between {} and {}", commit.low, commit.high));
        }
        if !commit.is_possible() {
            return Err(format!("locked: it had to see {}, not {}", commit.low, commit.high));
        }
        let seen = snapshot.map_or(0, |view| view.low).max(commit.low).max(learned);
        let seen = if transaction.committed_ns.is_some() { seen.max(own.unwrap_or(0)) } else { seen };
        self.sessions.insert(session, seen);
        Ok(())
    }
}

/// Returns what the clients of each server knew at each time.
fn all_known(history: &History, orders: &Orders) -> HashMap<usize, Known> {
    let mut known: HashMap<usize, Vec<(u64, u64)>> = HashMap::new();
    for (at, transaction) in history.transactions.iter().enumerate() {
        let of_server = known.entry(transaction.server).or_default();
        if let (Some(ns), Some(number)) = (transaction.committed_ns, orders.numbers.get(&at)) {
            of_server.push((ns, *number));
        }
        let mut touched = Vec::new();
        for statement in &transaction.statements {
            for op in &statement.ops {
                match op {
                    Op::Append(key, _) => touched.push(*key),
                    Op::Read(key, seen) | Op::Lock(key, seen) if !touched.contains(key) => {
                        let number = orders.around(*key, seen.len()).0.and_then(|at| orders.numbers.get(&at));
                        of_server.extend(number.map(|number| (statement.answered_ns, *number)));
                    }
                    _ => {}
                }
            }
        }
    }
    known.into_iter().map(|(server, at)| (server, Known::new(at))).collect()
}

pub(super) fn search(history: &History, orders: &Orders, findings: &mut Findings) {
    let known = all_known(history, orders);
    let mut search = Search { orders, known, sessions: HashMap::new() };
    for (at, transaction) in history.transactions.iter().enumerate() {
        if let Err(what) = search.look_at(at, transaction) {
            findings.add(Anomaly::Snapshot, format!("{what}: {transaction}"));
        }
    }
}
