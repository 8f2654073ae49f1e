//! How the rows of a table in the nested loops are read: under which lock, in which nests, and
//! whether through a hash table.

use crate::expr::Expr;
use engine::{LockMode, OnLocked};

/// How the rows of a table are locked while they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowLock {
    pub mode: LockMode,
    pub on_locked: OnLocked,
}

impl RowLock {
    /// A plain read without locks.
    pub const NONE: RowLock = RowLock { mode: LockMode::Snapshot, on_locked: OnLocked::Wait };
    /// The lock of a statement that changes rows on rows that it only reads.
    pub const SHARE: RowLock = RowLock { mode: LockMode::Share, on_locked: OnLocked::Wait };
    /// The lock of UPDATE and DELETE on the rows that they change.
    pub const UPDATE: RowLock = RowLock { mode: LockMode::Update, on_locked: OnLocked::Wait };
}

/// What becomes of a row of the tables before when a nest is read for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestKind {
    /// If the nest has no row, the row is completed with NULLs.
    Outer,
    /// The row goes on, once, if the nest has a row.
    Semi,
    /// The row goes on if the nest has no row.
    Anti,
}

/// Tables that belong together: the right side of an outer join, a semi-join or an anti-join. The
/// conditions of ON are in the steps of its tables.
#[derive(Debug)]
pub(crate) struct Nest {
    pub kind: NestKind,
    /// The number of steps of the nest, counted from the one that has it.
    pub tables: usize,
    /// The conditions of ON that depend on none of the nest's tables.
    pub guards: Vec<Expr>,
    /// The conditions that can be decided once it is known whether the nest has a row.
    pub conditions: Vec<Expr>,
}

/// Two columns whose values are equal exactly when their keys are.
#[derive(Debug, Clone)]
pub(crate) struct HashKey {
    /// The slot of the column of the table itself.
    pub own: usize,
    /// The slot of the column of a table before it.
    pub other: usize,
    pub kind: KeyKind,
}

/// The form of the keys of two columns, in which they are identical exactly when `=` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Integer,
    Decimal,
    Double,
    /// The sort weights in this collation.
    Text(u16),
    /// Dates and datetimes.
    Moment,
    Time,
}

/// A table whose rows are read once and found by their keys.
#[derive(Debug, Clone)]
pub(crate) struct HashLookup {
    pub keys: Vec<HashKey>,
    /// The conditions on the table alone. Rows that do not meet them are not kept.
    pub conditions: Vec<Expr>,
}

/// The optimizer's estimate for a step, which EXPLAIN shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    /// The number of rows that are read for each row of the tables before, or once for a hash
    /// table.
    pub read: f64,
    /// The share of those rows, in percent, that meets the conditions.
    pub taken_percent: f64,
    /// The number of rows that go on, in all rounds together.
    pub rows: f64,
    /// The cost of this step and those before it.
    pub cost: f64,
}
