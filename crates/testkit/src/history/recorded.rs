//! A history: what transactions did and saw, as their sessions recorded it.

use std::collections::BTreeMap;
use std::fmt;

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
