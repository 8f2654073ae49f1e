//! The tables of a query, and sets of them.

use crate::expr::Expr;
use crate::plan::{JoinTree, Leaf, Source};
use std::ops::{BitAnd, BitOr};

/// A set of tables, by their positions. A query has at most [`Mask::MOST`] tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Mask(u64);

impl Mask {
    pub const NONE: Mask = Mask(0);
    pub const MOST: usize = 64;

    pub fn of(at: usize) -> Mask {
        assert!(at < Mask::MOST, "a query has fewer tables than a mask has bits");
        Mask(1 << at)
    }

    pub fn with(self, at: usize) -> Mask {
        self | Mask::of(at)
    }

    pub fn has(self, at: usize) -> bool {
        self.0 >> at & 1 == 1
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }

    /// Reports whether all tables of this set are in the other one.
    pub fn is_within(self, other: Mask) -> bool {
        self.0 & !other.0 == 0
    }

    pub fn without(self, other: Mask) -> Mask {
        Mask(self.0 & !other.0)
    }
}

impl BitOr for Mask {
    type Output = Mask;
    fn bitor(self, other: Mask) -> Mask {
        Mask(self.0 | other.0)
    }
}

impl BitAnd for Mask {
    type Output = Mask;
    fn bitand(self, other: Mask) -> Mask {
        Mask(self.0 & other.0)
    }
}

/// The tables of a query in the order in which they are written. Their slots ascend.
#[derive(Debug)]
pub(crate) struct Tables {
    pub leaves: Vec<Leaf>,
}

impl Tables {
    /// Returns the position of the table that a slot belongs to.
    pub fn of_slot(&self, slot: usize) -> Option<usize> {
        let behind = self.leaves.partition_point(|leaf| leaf.base <= slot);
        let at = behind.checked_sub(1)?;
        debug_assert!(self.leaves[at].base <= slot, "the slots of the tables ascend");
        (slot < self.leaves[at].base + self.leaves[at].columns).then_some(at)
    }

    /// Returns the tables whose rows must be available before a table can be read.
    pub fn needed_by(&self, at: usize) -> Mask {
        match &self.leaves[at].source {
            Source::Subquery(call) => call.args.iter().fold(Mask::NONE, |mask, arg| mask | self.mask_of(arg)),
            Source::JsonTable(table) => self.mask_of(&table.document),
            Source::Stored { .. } | Source::Virtual { .. } | Source::Derived(_) => Mask::NONE,
        }
    }

    pub fn mask_of(&self, expr: &Expr) -> Mask {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        slots.iter().filter_map(|slot| self.of_slot(*slot)).fold(Mask::NONE, Mask::with)
    }

    pub fn mask_of_tree(&self, tree: &JoinTree) -> Mask {
        let mut found = Vec::new();
        tree.tables(&mut found);
        found.into_iter().fold(Mask::NONE, Mask::with)
    }
}
