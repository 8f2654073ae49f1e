//! How the rows of a table of the nested loops are read: under which lock, for which nests, and
//! whether by their hashed keys.

use crate::expr::Expr;
use engine::{LockMode, OnLocked};

/// How the rows of a table are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowLock {
    pub mode: LockMode,
    pub on_locked: OnLocked,
}

impl RowLock {
    /// A plain read.
    pub const NONE: RowLock = RowLock { mode: LockMode::Snapshot, on_locked: OnLocked::Wait };
    /// What statements that change rows do with those that they only read.
    pub const SHARE: RowLock = RowLock { mode: LockMode::Share, on_locked: OnLocked::Wait };
    /// What UPDATE and DELETE do.
    pub const UPDATE: RowLock = RowLock { mode: LockMode::Update, on_locked: OnLocked::Wait };
}

/// What becomes of the rows so far at tables that are read together for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestKind {
    /// A row of NULLs where the tables have nothing.
    Outer,
    /// The row goes on, once, if they have something.
    Semi,
    /// The row goes on if they have nothing.
    Anti,
}

/// Tables that belong together: the right side of an outer join, a semi-join or an anti-join. The
/// conditions of its ON are at the tables.
#[derive(Debug)]
pub(crate) struct Nest {
    pub kind: NestKind,
    /// How many steps, from the one at which it is noted.
    pub tables: usize,
    /// Those conditions of ON that look at none of its tables.
    pub guards: Vec<Expr>,
    /// Conditions that can be decided once it is known what the nest has.
    pub conditions: Vec<Expr>,
}

/// Two columns whose values are equal exactly when their keys are.
#[derive(Debug)]
pub(crate) struct HashKey {
    /// Slot of the table.
    pub own: usize,
    /// Slot of a table before.
    pub other: usize,
    pub kind: KeyKind,
}

/// What the keys of two columns are made of, so that they are the same exactly if `=` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Integer,
    Decimal,
    Double,
    /// Weights in this collation.
    Text(u16),
    /// Dates and datetimes.
    Moment,
    Time,
}

/// A table whose rows are read once and found by their keys.
#[derive(Debug)]
pub(crate) struct HashLookup {
    pub keys: Vec<HashKey>,
    /// Conditions on the table alone: its rows for which they do not hold are not kept.
    pub conditions: Vec<Expr>,
}

/// What the optimizer expects of a step; EXPLAIN shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    /// Rows that are read for each row of the tables before, or once for a hash table.
    pub read: f64,
    /// The share of them, in percent, that the conditions take.
    pub taken_percent: f64,
    /// Rows that go on, of all rounds together.
    pub rows: f64,
    /// Of this step and those before it.
    pub cost: f64,
}
