//! The joins of FROM as they were written, before anything is decided about their order.

use crate::expr::Expr;

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
