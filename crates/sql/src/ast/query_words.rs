//! The words of a query that hold no expression: joins, set operators, locks and hints.

use super::TableName;

/// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    Update,
    Share,
}

/// NOWAIT, SKIP LOCKED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// A locking clause of a query; it may have several, for different tables.
#[derive(Debug, Clone, PartialEq)]
pub struct LockClause {
    pub strength: LockStrength,
    /// OF; none: every table.
    pub tables: Vec<TableName>,
    pub wait: LockWait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    pub kind: IndexHintKind,
    /// `PRIMARY` is the primary key. Empty with USE: no index.
    pub indexes: Vec<String>,
}

/// A hint behind SELECT about how its tables are read; each names tables as the query does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinHint {
    /// JOIN_FIXED_ORDER
    FixedOrder,
    /// JOIN_ORDER: in this order, others before and between.
    Order(Vec<String>),
    /// JOIN_PREFIX: first of all, in this order.
    Prefix(Vec<String>),
    /// JOIN_SUFFIX: last of all, in this order.
    Suffix(Vec<String>),
    /// HASH_JOIN, BNL, and their opposites; no names: all tables.
    Hash { is_wanted: bool, tables: Vec<String> },
    /// INDEX, JOIN_INDEX, and their opposites; no names of indexes: all.
    Index { is_wanted: bool, table: String, indexes: Vec<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    /// STRAIGHT_JOIN: inner, the left side is read first.
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
