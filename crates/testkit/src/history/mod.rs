//! Histories of transactions that append to lists, and which isolation levels they contradict.
//!
//! The idea is that of Kingsbury and Alvaro's *Elle: Inferring Isolation Anomalies from
//! Experimental Observations* (VLDB 2021): a list that only grows shows, to whoever reads it, every
//! version that it had and who made it. So what the transactions of a history saw of each other is
//! known without knowing anything of the server, and is a graph: `ww` from who appended to who
//! appended next, `wr` from who appended the last element that somebody read to that reader, `rw`
//! from a reader to who appended the first element that he did not see. A cycle is an anomaly, and
//! its edges say which ([`graph`]; the names are Adya's).
//!
//! Here more is known: the order of commits, which the binary log has. So every read can be asked
//! whether it saw a prefix of that order, and which one ([`snapshots`]). That tells exactly what
//! InnoDB's REPEATABLE READ allows, which is none of Adya's levels: plain reads see one prefix, and
//! writes and locking reads see the newest one.

mod graph;
mod order;
mod snapshots;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use order::Orders;

/// An isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A statement's plain reads see one prefix.
    ReadCommitted,
    /// All plain reads of a transaction see one prefix.
    RepeatableRead,
    /// Reads lock.
    Serializable,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 3] = [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    /// As SQL has it.
    pub fn sql(self) -> &'static str {
        match self {
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }
}

/// Number of a list.
pub type Key = u32;
/// What is appended: of all appends to one list no two are the same.
pub type Element = u32;

/// Something that a statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Appended an element.
    Append(Key, Element),
    /// Read a list at a snapshot.
    Read(Key, Vec<Element>),
    /// Read the newest list, locked.
    Lock(Key, Vec<Element>),
}

impl Op {
    /// The list.
    pub fn key(&self) -> Key {
        match self {
            Op::Append(key, _) | Op::Read(key, _) | Op::Lock(key, _) => *key,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Append(key, element) => write!(f, "append({key}, {element})"),
            Op::Read(key, seen) => write!(f, "read({key}) = {seen:?}"),
            Op::Lock(key, seen) => write!(f, "lock({key}) = {seen:?}"),
        }
    }
}

/// One statement of a transaction.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// When it was sent, in nanoseconds of some clock that all sessions share.
    pub sent_ns: u64,
    /// When its answer was there.
    pub answered_ns: u64,
    /// What it did.
    pub ops: Vec<Op>,
}

/// A transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Which server it ran on; 0 is the source.
    pub server: usize,
    /// Its session; a session's transactions are in the history in their order.
    pub session: usize,
    /// Its isolation level.
    pub level: Level,
    /// What it did, in order.
    pub statements: Vec<Statement>,
    /// When its commit was answered; `None`: it was rolled back.
    pub committed_ns: Option<u64>,
}

impl Transaction {
    fn ops(&self) -> impl Iterator<Item = &Op> {
        self.statements.iter().flat_map(|statement| &statement.ops)
    }
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {}, session {}, {}:", self.server, self.session, self.level.sql())?;
        self.ops().try_for_each(|op| write!(f, " {op};"))?;
        write!(f, " {}", if self.committed_ns.is_some() { "commit" } else { "rollback" })
    }
}

/// All that was done to some lists, which were empty before.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The transactions.
    pub transactions: Vec<Transaction>,
    /// The lists as they were in the end.
    pub lists: BTreeMap<Key, Vec<Element>>,
    /// What the transactions that appended something appended first, in the order of their commits.
    pub commits: Vec<Element>,
}

/// What Adya calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// Transactions overwrote each other's writes in a circle.
    G0,
    /// Something was read that was rolled back.
    G1a,
    /// Something was read that its writer had not finished.
    G1b,
    /// Transactions depend on each other in a circle of `ww` and `wr`.
    G1c,
    /// A circle with one `rw` in it: read skew, lost update.
    GSingle,
    /// A circle with several `rw`: write skew.
    G2Item,
    /// A read saw no prefix of the order of commits, or not the one that its level, its locks, or
    /// what was answered before ask for.
    Snapshot,
    /// A list is not what was appended to it.
    Lost,
}

impl Anomaly {
    /// Whether a server like InnoDB may show it, as is written in `docs/isolation.md`.
    pub fn is_allowed(self, level: Level) -> bool {
        matches!(self, Anomaly::GSingle | Anomaly::G2Item) && level != Level::Serializable
    }
}

/// Anomalies of a history, each with what it was found in.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    found: BTreeMap<Anomaly, Vec<String>>,
}

impl Findings {
    fn add(&mut self, anomaly: Anomaly, what: String) {
        self.found.entry(anomaly).or_default().push(what);
    }

    /// The anomalies that were found.
    pub fn anomalies(&self) -> Vec<Anomaly> {
        self.found.keys().copied().collect()
    }

    /// How often one was found.
    pub fn count(&self, anomaly: Anomaly) -> usize {
        self.found.get(&anomaly).map_or(0, Vec::len)
    }

    /// Those that are not allowed at a level, with some of what they were found in.
    pub fn forbidden(&self, level: Level) -> Vec<String> {
        const SHOWN: usize = 3;
        let forbidden = self.found.iter().filter(|(anomaly, _)| !anomaly.is_allowed(level));
        let shown = forbidden.flat_map(|(anomaly, all)| {
            all.iter().take(SHOWN).map(move |what| format!("{anomaly:?} ({} times): {what}", all.len()))
        });
        shown.collect()
    }
}

impl History {
    /// Looks for every anomaly; for cycles with what the transactions at this level have read.
    pub fn check(&self, level: Level) -> Findings {
        let mut findings = Findings::default();
        let orders = Orders::of(self, &mut findings);
        graph::search(self, level, &orders, &mut findings);
        snapshots::search(self, &orders, &mut findings);
        findings
    }
}
