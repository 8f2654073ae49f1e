//! The parts of a query that hold no expressions: joins, set operators, locks and hints.

use super::TableName;

/// FOR UPDATE, or FOR SHARE and LOCK IN SHARE MODE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    Update,
    Share,
}

/// What happens at a row that is locked: waiting, NOWAIT, or SKIP LOCKED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// A locking clause. A query may have several of them, for different tables.
#[derive(Debug, Clone, PartialEq)]
pub struct LockClause {
    pub strength: LockStrength,
    /// The tables behind OF. Empty means every table.
    pub tables: Vec<TableName>,
    pub wait: LockWait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

/// The use of a table for which an index hint is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexHintUse {
    Join,
    Order,
    Group,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    pub kind: IndexHintKind,
    /// The words behind FOR. `None` if they are not written, which means all uses.
    pub purpose: Option<IndexHintUse>,
    /// The names of the indexes. `PRIMARY` is the primary key. An empty list of USE means no index.
    pub indexes: Vec<String>,
}

/// Words behind SELECT that have no effect here, and that views show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SelectWords {
    pub high_priority: bool,
    pub small_result: bool,
    pub big_result: bool,
    pub buffer_result: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    /// STRAIGHT_JOIN: an inner join whose left side is read first.
    Straight,
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

/// How the text of AGAINST is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    NaturalLanguage,
    Boolean,
    /// WITH QUERY EXPANSION: in natural language, and then for the words of what was found.
    Expanded,
}
