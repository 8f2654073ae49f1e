//! FROM as it was written: tables and joins, before anything is decided about how they are read.

use super::Source;
use crate::ast::IndexHint;
use crate::expr::Expr;

/// A table of FROM before its access is chosen.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// A stored table's access is yet to be chosen.
    pub source: Source,
    /// First of its slots.
    pub base: usize,
    pub columns: usize,
    /// The name under which the statement knows it.
    pub alias: String,
    pub hints: Vec<IndexHint>,
    /// Whether hints want its rows in a hash table.
    pub hash_hint: Option<bool>,
    /// What holds of the rows of the partitions that were chosen, and of those that are seen of a
    /// table with system versioning.
    pub chosen: Vec<Expr>,
}

/// What becomes of the left side's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joining {
    Inner,
    /// STRAIGHT_JOIN: the left side's tables are read first.
    Straight,
    /// Each of them comes at least once, with NULLs where nothing on the right goes with it.
    Outer,
    /// Those come, once, with which something on the right goes.
    Semi,
    /// Those come with which nothing on the right goes.
    Anti,
}

/// Tables, by their positions in FROM, and the joins between them.
#[derive(Debug, Clone)]
pub(crate) enum JoinTree {
    Table(usize),
    Join { joining: Joining, left: Box<JoinTree>, right: Box<JoinTree>, on: Vec<Expr> },
}

impl Leaf {
    /// The same table once more, where its rows are not those of a plan of its own.
    pub fn copied(&self) -> Option<Leaf> {
        let source = match &self.source {
            Source::Stored { table, access } => {
                Source::Stored { table: table.clone(), access: access.clone() }
            }
            Source::Virtual { schema, name } => {
                Source::Virtual { schema: schema.clone(), name: name.clone() }
            }
            Source::Subquery(call) => Source::Subquery(call.clone()),
            Source::Derived(_) | Source::JsonTable(_) => return None,
        };
        Some(Leaf {
            source,
            base: self.base,
            columns: self.columns,
            alias: self.alias.clone(),
            hints: self.hints.clone(),
            hash_hint: self.hash_hint,
            chosen: self.chosen.clone(),
        })
    }
}

impl JoinTree {
    /// The positions of its tables.
    pub fn tables(&self, into: &mut Vec<usize>) {
        match self {
            JoinTree::Table(at) => into.push(*at),
            JoinTree::Join { left, right, .. } => {
                left.tables(into);
                right.tables(into);
            }
        }
    }
}

/// A plain SELECT before it has a plan: what a query around needs to join its tables.
#[derive(Debug)]
pub(crate) struct Unplanned {
    pub leaves: Vec<Leaf>,
    pub tree: JoinTree,
    pub conditions: Vec<Expr>,
    pub outputs: Vec<Expr>,
    /// Slots of its tables.
    pub slots: usize,
}
