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

/// A hint behind SELECT about how tables are read. It names the tables as the query does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinHint {
    /// JOIN_FIXED_ORDER.
    FixedOrder,
    /// JOIN_ORDER: these tables come in this order. Others may be before and between them.
    Order(Vec<String>),
    /// JOIN_PREFIX: these tables come first, in this order.
    Prefix(Vec<String>),
    /// JOIN_SUFFIX: these tables come last, in this order.
    Suffix(Vec<String>),
    /// HASH_JOIN, BNL, and their opposites. No names means all tables.
    Hash { is_wanted: bool, tables: Vec<String> },
    /// INDEX, JOIN_INDEX, and their opposites. No names of indexes means all indexes.
    Index { is_wanted: bool, table: String, indexes: Vec<String> },
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
