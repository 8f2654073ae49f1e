//! A history: what transactions did and saw, as their sessions recorded it.

use std::collections::BTreeMap;
use std::fmt;

/// An isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The plain reads of a statement see one prefix of the order of commits.
    ReadCommitted,
    /// All plain reads of a transaction see one prefix of the order of commits.
    RepeatableRead,
    /// Reads lock.
    Serializable,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 3] = [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    /// Returns the level's name in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }
}

/// The number of a list.
pub type Key = u32;
/// An element of a list. No two appends to one list have the same element.
pub type Element = u32;

/// An operation of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// An append of an element to a list.
    Append(Key, Element),
    /// A plain read of a list, from a snapshot.
    Read(Key, Vec<Element>),
    /// A locking read of the newest version of a list.
    Lock(Key, Vec<Element>),
}

impl Op {
    /// Returns the number of the list.
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
    /// The time when it was sent, in nanoseconds of a clock that all sessions share.
    pub sent_ns: u64,
    /// The time when its answer had arrived, in nanoseconds of the same clock.
    pub answered_ns: u64,
    /// The operations of the statement.
    pub ops: Vec<Op>,
}

/// A transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The number of the server on which it ran; 0 is the source.
    pub server: usize,
    /// The number of its session. The transactions of a session are in the history in their order.
    pub session: usize,
    /// Its isolation level.
    pub level: Level,
    /// Its statements, in order.
    pub statements: Vec<Statement>,
    /// The time when its commit was answered, in nanoseconds. `None` means that it was rolled back.
    pub committed_ns: Option<u64>,
}

impl Transaction {
    pub(super) fn ops(&self) -> impl Iterator<Item = &Op> {
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

/// Everything that was done to some lists, which were empty before.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The transactions.
    pub transactions: Vec<Transaction>,
    /// The lists at the end.
    pub lists: BTreeMap<Key, Vec<Element>>,
    /// The first element that each transaction appended, in the order of the commits. Transactions
    /// that appended nothing are not in it.
    pub commits: Vec<Element>,
}
