//! The joins of FROM as they are written, before anything is decided about their order.

use crate::expr::Expr;

/// The kinds of joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joining {
    Inner,
    /// STRAIGHT_JOIN: the tables of the left side are read first.
    Straight,
    /// Each row of the left side comes at least once, with NULLs if no row of the right side
    /// matches it.
    Outer,
    /// A row of the left side comes, once, if a row of the right side matches it.
    Semi,
    /// A row of the left side comes if no row of the right side matches it.
    Anti,
}

/// Tables, by their positions in FROM, and the joins between them.
#[derive(Debug, Clone)]
pub(crate) enum JoinTree {
    Table(usize),
    Join { joining: Joining, left: Box<JoinTree>, right: Box<JoinTree>, on: Vec<Expr> },
}

impl JoinTree {
    /// Collects the positions of the tables.
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
