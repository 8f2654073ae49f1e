//! Blocks: the tables of a query that may be joined in any order, with the nests that depend on
//! them.
//!
//! In: FROM as a tree, and WHERE. Out: one block for the query, and one within it for each outer
//! join, semi-join and anti-join. An outer join becomes an inner join if the conditions reject the
//! rows that it completes with NULLs.

use super::equalities::key_kind;
use super::nulls::rejected_slots;
use super::tables::{Mask, Tables};
use crate::ast::BinaryOp;
use crate::expr::{Expr, Node, is_text};
use crate::plan::{JoinTree, Joining, KeyKind, NestKind, Source};
use engine::IndexRef;
use std::collections::HashSet;

/// Tables that are joined by inner joins, and the nests that depend on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// The tables and nests in the order in which they are written.
    pub members: Vec<Member>,
    /// The conditions that hold for each combination of rows of the block.
    pub conditions: Vec<Expr>,
    /// The order that each STRAIGHT_JOIN demands: the tables of the first mask are read before
    /// those of the second.
    pub straight: Vec<(Mask, Mask)>,
}

#[derive(Clone, Debug)]
pub(super) enum Member {
    Table(usize),
    Nest(NestKind, Block),
}

impl Block {
    /// Returns all tables of the block, including those of nests.
    pub fn tables(&self) -> Mask {
        self.members.iter().fold(Mask::NONE, |mask, member| match member {
            Member::Table(at) => mask.with(*at),
            Member::Nest(_, block) => mask | block.tables(),
        })
    }

    /// Builds the block of a whole query.
    pub fn of(tables: &mut Tables, tree: JoinTree, filter: Vec<Expr>) -> Block {
        let rejected = filter.iter().flat_map(rejected_slots).collect();
        let mut planted = Vec::new();
        tree.tables(&mut planted);
        let tree = simplified(tables, tree, &rejected);
        let mut block = Block { conditions: filter, ..Block::default() };
        block.add(tables, tree);
        let all = planted.iter().fold(Mask::NONE, |mask, at| {
            assert!(!mask.has(*at), "a table is joined once");
            mask.with(*at)
        });
        assert_eq!(block.tables(), all, "each table of FROM is in the block or in one of its nests");
        assert_eq!(planted.len(), tables.leaves.len(), "FROM joins all of its tables");
        block
    }

    /// Notes the tables that hints want read before others. A wish is dropped if no order of the
    /// tables would meet it.
    pub fn prefer(&mut self, tables: &Tables, before: Vec<(Mask, Mask)>) {
        let own = self.members.iter().fold(Mask::NONE, |mask, member| match member {
            Member::Table(at) => mask.with(*at),
            Member::Nest(..) => mask,
        });
        for (first, then) in before {
            self.straight.push((first & own, (then & own).without(first)));
            if !self.has_order(tables, own) {
                self.straight.pop();
            }
        }
        debug_assert!(
            self.straight.iter().all(|(first, then)| (*first & *then).is_empty()),
            "no table is to be read before itself"
        );
    }

    /// Reports whether the tables can be read in some order.
    fn has_order(&self, tables: &Tables, own: Mask) -> bool {
        let mut placed = Mask::NONE;
        loop {
            let may_follow = |at: &usize| {
                let before = self.straight.iter().filter(|(_, then)| then.has(*at));
                let needed = before.fold(tables.needed_by(*at), |all, (before, _)| all | *before);
                (needed & own).is_within(placed)
            };
            let next = (0..Mask::MOST).find(|at| own.has(*at) && !placed.has(*at) && may_follow(at));
            match next {
                Some(at) => placed = placed.with(at),
                None => return placed == own,
            }
        }
    }

    fn add(&mut self, tables: &mut Tables, tree: JoinTree) {
        match tree {
            JoinTree::Table(at) => {
                self.members.push(Member::Table(at));
                self.conditions.append(&mut tables.leaves[at].chosen);
            }
            JoinTree::Join { joining: joining @ (Joining::Inner | Joining::Straight), left, right, on } => {
                if joining == Joining::Straight {
                    self.straight.push((tables.mask_of_tree(&left), tables.mask_of_tree(&right)));
                }
                self.add(tables, *left);
                self.add(tables, *right);
                self.conditions.extend(on);
            }
            JoinTree::Join { joining, left, right, on } => {
                self.add(tables, *left);
                let mut nest = Block { conditions: on, ..Block::default() };
                nest.add(tables, *right);
                let kind = match joining {
                    Joining::Semi => NestKind::Semi,
                    Joining::Anti => NestKind::Anti,
                    _ => NestKind::Outer,
                };
                self.members.push(Member::Nest(kind, nest));
            }
        }
    }
}

/// Reports whether, for any row of the other tables, at most one row of a table meets the
/// conditions, because they fix the columns of a unique key.
fn has_one_row(tables: &Tables, at: usize, conditions: &[Expr]) -> bool {
    let leaf = &tables.leaves[at];
    let Source::Stored { table, .. } = &leaf.source else { return false };
    let is_fixed = |column: usize| {
        conditions.iter().any(|condition| {
            let Node::Compare { op: BinaryOp::Equal, operands, collation } = &condition.node else {
                return false;
            };
            let is_column = |expr: &Expr| matches!(expr.node, Node::Slot(slot) if slot == leaf.base + column);
            let [one, other] = &**operands;
            let (own, other) = if is_column(one) { (one, other) } else { (other, one) };
            is_column(own)
                && !tables.mask_of(other).has(at)
                && !other.varies()
                && key_kind(&own.ty, &other.ty, *collation).is_some_and(|kind| kind != KeyKind::Double)
                && (!is_text(&own.ty) || own.ty.collation == *collation)
        })
    };
    let secondary = (0..table.def.indexes.len()).filter(|at| table.def.indexes[*at].unique);
    std::iter::once(IndexRef::Primary).chain(secondary.map(IndexRef::Secondary)).any(|index| {
        let parts = table.index_columns(index);
        !parts.is_empty() && parts.iter().all(|part| part.prefix.is_none() && is_fixed(part.column))
    })
}

/// Returns the tree with an outer join replaced by an inner join where conditions around it reject
/// its NULLs, and a semi-join replaced by one where at most one row can match.
fn simplified(tables: &Tables, tree: JoinTree, rejected: &HashSet<usize>) -> JoinTree {
    let JoinTree::Join { joining, left, right, on } = tree else { return tree };
    let of_right = tables.mask_of_tree(&right);
    let is_inner = match joining {
        Joining::Outer => {
            rejected.iter().any(|slot| tables.of_slot(*slot).is_some_and(|at| of_right.has(at)))
        }
        Joining::Semi => matches!(*right, JoinTree::Table(at) if has_one_row(tables, at, &on)),
        _ => false,
    };
    let joining = if is_inner { Joining::Inner } else { joining };
    let of_on: HashSet<usize> = on.iter().flat_map(rejected_slots).collect();
    let both = || rejected.union(&of_on).copied().collect::<HashSet<usize>>();
    let (for_left, for_right) = match joining {
        Joining::Inner | Joining::Straight => (both(), both()),
        Joining::Semi => (both(), of_on),
        Joining::Outer | Joining::Anti => (rejected.clone(), of_on),
    };
    let left = Box::new(simplified(tables, *left, &for_left));
    let right = Box::new(simplified(tables, *right, &for_right));
    JoinTree::Join { joining, left, right, on }
}
