//! FROM while it is bound: its tables, and how they are joined.

use super::super::Scope;
use crate::optimize::Mask;
use crate::plan::{JoinTree, Leaf};

/// FROM: its tables as they were written, each at the position that it has in the scope, and how
/// they are joined.
#[derive(Default)]
pub(in crate::bind) struct From {
    pub tables: Vec<Leaf>,
    pub tree: Option<JoinTree>,
    /// What hints say of the order: the tables that are read before others.
    pub before: Vec<(Mask, Mask)>,
    /// Tables that come before the one at hand and may not be named by a LATERAL one: the other
    /// side of a RIGHT JOIN.
    pub(super) hidden: Vec<std::ops::Range<usize>>,
}

impl From {
    /// What a LATERAL table may name: the tables before it.
    pub(super) fn nameable(&self, scope: &Scope) -> Scope {
        let tables = scope.tables.iter().enumerate();
        let tables = tables.filter(|(at, _)| !self.hidden.iter().any(|hidden| hidden.contains(at)));
        Scope { tables: tables.map(|(_, table)| table.clone()).collect(), joined: None }
    }
}
