//! What is known of transactions, and their sums.

use super::levels::Sums;
use super::recent::Kept;
use binlog::Xid;
use binlog::gtid::Gtid;
use engine::{GtidNext, Isolation};

/// How a transaction stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TransactionState {
    /// It has not ended.
    #[default]
    Active,
    /// It was committed.
    Committed,
    /// It was rolled back.
    RolledBack,
}

/// The stage of an XA transaction, as `XA_STATE` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XaState {
    /// XA START has begun it.
    Active,
    /// XA END has ended its statements.
    Idle,
    /// XA PREPARE has prepared it.
    Prepared,
    /// It was committed.
    Committed,
    /// It was rolled back.
    RolledBack,
}

/// The GTID of a transaction. It is kept apart, because most transactions have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NotedGtid {
    /// It gets one when it changes something, and has not.
    #[default]
    Automatic,
    /// None on purpose.
    Anonymous,
    /// This one. It is boxed, because it is larger than all else that is noted.
    Given(Box<Gtid>),
}

impl From<GtidNext> for NotedGtid {
    #[inline]
    fn from(gtid: GtidNext) -> NotedGtid {
        match gtid {
            GtidNext::Automatic | GtidNext::AutomaticTagged(_) => NotedGtid::Automatic,
            GtidNext::Anonymous => NotedGtid::Anonymous,
            GtidNext::Given(gtid) => NotedGtid::Given(Box::new(gtid)),
        }
    }
}

/// What holds of a transaction from its beginning on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionMode {
    /// Its isolation level.
    pub isolation: Isolation,
    /// Whether it may change nothing.
    pub read_only: bool,
    /// Whether it is a statement's own.
    pub autocommit: bool,
}

/// A transaction that begins.
pub struct TransactionBegun {
    /// The engine's number of it.
    pub id: u64,
    /// What holds of it.
    pub mode: TransactionMode,
    /// The session's `gtid_next`.
    pub gtid: NotedGtid,
    /// The XID of an XA transaction.
    pub xid: Option<Xid>,
    /// When it began, in ticks.
    pub ticks: u64,
}

/// A transaction that a statement has begun and ended.
#[derive(Debug, Clone, Copy)]
pub struct WholeTransaction {
    /// The engine's number of it. `None` for a change of definitions.
    pub id: Option<u64>,
    /// How it ended.
    pub state: TransactionState,
    /// What holds of it.
    pub mode: TransactionMode,
    /// Whether its GTID is told beside it. Without one it is [`NotedGtid::Automatic`].
    pub has_gtid: bool,
}

/// A transaction that runs or has run.
#[derive(Debug, Clone, Default)]
pub struct TransactionEvent {
    /// Its number among the session's events.
    pub number: u64,
    /// The number of the session's last event when it ended.
    pub end_number: u64,
    /// The number of the statement that began it; 0 for none.
    pub statement: u64,
    /// The engine's number of it.
    pub id: Option<u64>,
    /// When it began and ended, in ticks. It still runs where there is no end.
    pub ticks: (u64, Option<u64>),
    /// Whether its time is measured.
    pub is_timed: bool,
    /// How it stands.
    pub state: TransactionState,
    /// What holds of it.
    pub mode: TransactionMode,
    /// Its GTID.
    pub gtid: NotedGtid,
    /// The XID and the stage of an XA transaction.
    pub xa: Option<Box<(Xid, XaState)>>,
    /// How often SAVEPOINT, ROLLBACK TO and RELEASE SAVEPOINT ran in it.
    pub savepoints: [u64; 3],
    /// Whether it may have a GTID, an XID, or statements about savepoints.
    pub(super) has_more: bool,
    /// False when it is forgotten as soon as the next one begins.
    pub(super) is_kept: bool,
}

impl Kept for TransactionEvent {
    fn has_ended(&self) -> bool {
        self.ticks.1.is_some()
    }

    fn is_kept(&self) -> bool {
        self.is_kept
    }
}

/// How many transactions of one access mode there were, and what they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionTimes {
    /// Their number.
    pub count: u64,
    /// Their time in nanoseconds.
    pub wait_ns: u64,
    /// The shortest time in nanoseconds; [`u64::MAX`] where no time was measured.
    pub min_ns: u64,
    /// The longest time in nanoseconds.
    pub max_ns: u64,
}

impl Default for TransactionTimes {
    fn default() -> TransactionTimes {
        TransactionTimes { count: 0, wait_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl TransactionTimes {
    /// Adds a transaction. `None` means that its time was not measured.
    #[inline]
    pub(super) fn add(&mut self, wait_ns: Option<u64>) {
        self.count += 1;
        if let Some(wait_ns) = wait_ns {
            self.wait_ns = self.wait_ns.wrapping_add(wait_ns);
            self.min_ns = self.min_ns.min(wait_ns);
            self.max_ns = self.max_ns.max(wait_ns);
        }
    }

    /// Returns these times and others together.
    pub fn with(&self, other: &TransactionTimes) -> TransactionTimes {
        TransactionTimes {
            count: self.count + other.count,
            wait_ns: self.wait_ns.wrapping_add(other.wait_ns),
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
        }
    }

    /// Returns the shortest time in nanoseconds; 0 where no time was measured.
    pub fn shortest_ns(&self) -> u64 {
        if self.min_ns == u64::MAX { 0 } else { self.min_ns }
    }
}

/// The sums of transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionSums {
    /// Those that may change something.
    pub read_write: TransactionTimes,
    /// Those that may not.
    pub read_only: TransactionTimes,
}

impl TransactionSums {
    #[inline]
    pub(super) fn of(&mut self, mode: TransactionMode) -> &mut TransactionTimes {
        if mode.read_only { &mut self.read_only } else { &mut self.read_write }
    }
}

impl Sums for TransactionSums {
    fn merge(&mut self, other: &TransactionSums) {
        self.read_write = self.read_write.with(&other.read_write);
        self.read_only = self.read_only.with(&other.read_only);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_times_are_those_of_all_transactions() {
        let (mut one, mut other) = (TransactionTimes::default(), TransactionTimes::default());
        assert_eq!(one.with(&other), TransactionTimes::default());
        assert_eq!(one.shortest_ns(), 0);
        one.add(Some(30));
        one.add(None);
        other.add(Some(10));
        let both = TransactionTimes { count: 3, wait_ns: 40, min_ns: 10, max_ns: 30 };
        assert_eq!(one.with(&other), both);
        assert_eq!(other.with(&one), both);
    }
}
