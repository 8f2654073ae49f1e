//! The tables that a replay is about, and the numbers that it gives their trees.

use crate::catalog::Catalog;
use crate::table::Table;
use std::collections::HashMap;
use std::sync::Arc;

/// The tables as they are after the whole log, and numbers for their trees.
pub(super) struct Tables {
    all: Vec<Arc<Table>>,
    by_id: HashMap<u64, u32>,
}

/// A tree of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Clustered,
    /// The tree of the secondary index at this position among the table's indexes.
    Secondary(usize),
}

/// A number greater than the number of trees that a table may have.
const TREES: u32 = 128;

impl Tree {
    pub fn number(self, table: u32) -> u32 {
        let tree = match self {
            Tree::Clustered => 0,
            Tree::Secondary(at) => at as u32 + 1,
        };
        table * TREES + tree
    }

    pub fn of(number: u32) -> Tree {
        match number % TREES {
            0 => Tree::Clustered,
            tree => Tree::Secondary(tree as usize - 1),
        }
    }
}

impl Tables {
    pub fn new(catalog: &Catalog) -> Tables {
        let all = catalog.all_tables();
        let by_id = all.iter().zip(0..).map(|(table, number)| (table.id, number)).collect();
        Tables { all, by_id }
    }

    pub fn number(&self, id: u64) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    pub fn table(&self, number: u32) -> &Table {
        &self.all[number as usize]
    }

    pub fn table_of(&self, tree: u32) -> (u32, &Table) {
        (tree / TREES, self.table(tree / TREES))
    }
}
