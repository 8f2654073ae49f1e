//! FROM while it is bound: its tables, and how they are joined.

use super::super::Scope;
use crate::optimize::Mask;
use crate::plan::{JoinTree, Leaf};

/// The tables of FROM in the order in which they are written, each at the same position as in the
/// scope, and how they are joined.
#[derive(Default)]
pub(in crate::bind) struct From {
    pub tables: Vec<Leaf>,
    pub tree: Option<JoinTree>,
    /// The order that hints demand: the tables of the first mask are read before those of the
    /// second.
    pub before: Vec<(Mask, Mask)>,
    /// The positions of earlier tables that a LATERAL table may not name: those on the other side
    /// of a RIGHT JOIN.
    pub(super) hidden: Vec<std::ops::Range<usize>>,
}

impl From {
    /// Returns the tables before a LATERAL table that it may name.
    pub(super) fn nameable(&self, scope: &Scope) -> Scope {
        let tables = scope.tables.iter().enumerate();
        let tables = tables.filter(|(at, _)| !self.hidden.iter().any(|hidden| hidden.contains(at)));
        Scope { tables: tables.map(|(_, table)| table.clone()).collect(), joined: None }
    }
}
