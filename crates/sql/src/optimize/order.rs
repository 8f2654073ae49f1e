//! The order in which the tables of a block are read.
//!
//! Up to [`MOST_EXACT`] tables are ordered exactly: the cheapest order of each set of tables is
//! found from the cheapest orders of the sets with one table less. More tables are ordered step by
//! step: the next table is always the one with the least sum of cost and resulting rows.

use super::counted::Counted;
use super::dive::Constants;
use super::equalities::Class;
use super::estimate::{self, Size};
use super::method::{Asked, Method, cheapest};
use super::tables::{Mask, Tables};
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::plan::{Source, Wish};
use std::collections::HashMap;

/// The number of tables up to which the order is found exactly.
const MOST_EXACT: usize = 8;

/// The most rows that are expected of tables that are joined. A product of the sizes of many tables
/// without conditions would be more than a number can express, and could not be compared.
const MOST_ROWS: f64 = 1e200;

/// What is known about a block whose tables are to be ordered.
pub(super) struct Ordering<'a> {
    pub tables: &'a Tables,
    pub constants: &'a Constants<'a>,
    pub counted: &'a Counted,
    /// The sizes of all tables of the query, by their positions.
    pub sizes: &'a [Size],
    /// The positions of the block's tables, in the order in which they are written.
    pub members: &'a [usize],
    /// The conditions, each with the tables that it depends on.
    pub conditions: &'a [(Expr, Mask)],
    pub classes: &'a [Class],
    pub straight: &'a [(Mask, Mask)],
    /// The tables around the block.
    pub known: Mask,
    /// The number of combinations of their rows, for each of which the block runs.
    pub rounds: f64,
    pub may_hash: bool,
    pub wish: Option<&'a dyn Fn(usize) -> Wish>,
}

/// The beginning of an order.
#[derive(Debug, Clone)]
struct Begun {
    order: Vec<usize>,
    placed: Mask,
    rows: f64,
    cost: f64,
}

/// A table that is read next.
pub(super) struct Next {
    pub method: Method,
    /// The number of combinations of rows after it.
    pub rows: f64,
}

impl Ordering<'_> {
    /// Returns the cheapest order.
    pub fn cheapest(&self) -> Result<Vec<usize>> {
        let first = Begun { order: Vec::new(), placed: Mask::NONE, rows: self.rounds, cost: 0.0 };
        let order = match self.members.len() <= MOST_EXACT {
            true => self.exactly(first)?,
            false => self.step_by_step(first)?,
        };
        let is_member = |at: &usize| self.members.contains(at);
        assert!(
            order.len() == self.members.len() && order.iter().all(is_member),
            "an order has each table of its block once: {order:?} of {:?}",
            self.members
        );
        Ok(order)
    }

    fn exactly(&self, first: Begun) -> Result<Vec<usize>> {
        let mut best = HashMap::from([(first.placed, first)]);
        for _ in self.members {
            let mut longer: HashMap<Mask, Begun> = HashMap::new();
            let mut begun: Vec<Begun> = best.into_values().collect();
            begun.sort_by(|a, b| a.order.cmp(&b.order));
            for begun in &begun {
                for at in self.may_follow(begun.placed) {
                    let extended = self.extended(begun, at)?;
                    let known = longer.get(&extended.placed);
                    if known.is_none_or(|known| extended.cost < known.cost) {
                        longer.insert(extended.placed, extended);
                    }
                }
            }
            best = longer;
        }
        Ok(best.into_values().next().map(|begun| begun.order).unwrap_or_default())
    }

    fn step_by_step(&self, first: Begun) -> Result<Vec<usize>> {
        let mut begun = first;
        for _ in self.members {
            let mut best: Option<Begun> = None;
            for at in self.may_follow(begun.placed) {
                let extended = self.extended(&begun, at)?;
                let is_better = |best: &Begun| extended.cost + extended.rows < best.cost + best.rows;
                if best.as_ref().is_none_or(is_better) {
                    best = Some(extended);
                }
            }
            begun = best.expect("some table may follow");
        }
        assert!(begun.cost.is_finite() && begun.cost >= 0.0, "orders are compared by their costs");
        Ok(begun.order)
    }

    /// Returns the tables that may be read after these.
    fn may_follow(&self, placed: Mask) -> Vec<usize> {
        let own = self.members.iter().fold(Mask::NONE, |mask, at| mask.with(*at));
        let waits = |at: usize| {
            let before = self.straight.iter().filter(|(_, after)| after.has(at));
            let needed = before.map(|(before, _)| *before).chain(std::iter::once(self.tables.needed_by(at)));
            needed.fold(Mask::NONE, |all, needed| all | needed & own)
        };
        let rest = self.members.iter().copied().filter(|at| !placed.has(*at));
        rest.filter(|at| waits(*at).is_within(placed)).collect()
    }

    fn extended(&self, begun: &Begun, at: usize) -> Result<Begun> {
        assert!(!begun.placed.has(at), "a table is read once: {at} in {:?}", begun.order);
        let next = self.next(begun.placed, at, begun.rows)?;
        let mut order = begun.order.clone();
        order.push(at);
        Ok(Begun {
            order,
            placed: begun.placed.with(at),
            rows: next.rows,
            cost: begun.cost + next.method.cost,
        })
    }

    /// Returns how a table is read after others of the block. `rounds` is the number of
    /// combinations of their rows.
    pub fn next(&self, placed: Mask, at: usize, rounds: f64) -> Result<Next> {
        self.constants.check_interrupt()?;
        let known = placed | self.known;
        let conditions = self.decided(placed, at);
        let size = &self.sizes[at];
        let is_own = |condition: &&Expr| self.tables.mask_of(condition).is_within(Mask::of(at));
        let guess = |condition: &Expr| self.share(condition, at);
        let leaf = &self.tables.leaves[at];
        let own = conditions.iter().filter(is_own);
        let own_share = self.counted.share(self.constants, (leaf, size), own, guess);
        let others = conditions.iter().filter(|condition| !is_own(condition));
        let share = own_share * others.map(guess).product::<f64>();
        assert!((0.0..=1.0).contains(&share), "a share of the rows meets the conditions: {share}");
        let taken = size.rows * share;
        let wish = self.wish_of(placed, at);
        let asked =
            Asked { conditions: &conditions, known, rounds, taken, may_hash: self.may_hash, wish: &wish };
        let method = cheapest(self.tables, self.constants, size, at, &asked)?;
        // The number of rows that the index finds may be known more exactly than the number that
        // meets the conditions.
        let found = match method.hashes {
            true => taken * (method.read / size.rows / own_share).min(1.0),
            false => taken.min(method.read),
        };
        let rows = (rounds * found).clamp(f64::MIN_POSITIVE, MOST_ROWS);
        assert!(rows.is_finite(), "orders are compared by their rows: {rounds} times {found}");
        Ok(Next { method, rows })
    }

    /// Returns the wanted order if the table is the first one.
    pub fn wish_of(&self, placed: Mask, at: usize) -> Wish {
        match self.wish {
            Some(wish) if placed.is_empty() => wish(self.tables.leaves[at].base),
            _ => Wish::default(),
        }
    }

    /// Returns the conditions that can be decided once a table is read after others of the block.
    pub fn decided(&self, placed: Mask, at: usize) -> Vec<Expr> {
        let known = placed | self.known;
        let is_decided = |mask: Mask| mask.has(at) && mask.is_within(known.with(at));
        let mut decided: Vec<Expr> = self
            .conditions
            .iter()
            .filter(|(_, mask)| is_decided(*mask))
            .map(|(expr, _)| expr.clone())
            .collect();
        let table_of = |column: &Expr| match column.node {
            Node::Slot(slot) => self.tables.of_slot(slot),
            _ => None,
        };
        for class in self.classes {
            let comes = |column: &Expr| table_of(column) == Some(at);
            let is_known = |column: &Expr| table_of(column).is_some_and(|table| placed.has(table));
            class.equalities(comes, is_known, &mut decided);
        }
        decided
    }

    /// Checks that each condition of the block was decided at some table or nest. `placed` are the
    /// tables of the block and of its nests.
    pub fn check_decided(&self, placed: Mask) {
        let known = placed | self.known;
        for (condition, mask) in self.conditions {
            assert!(
                mask.is_within(known) && !(*mask & placed).is_empty(),
                "a condition is decided where its tables are known: {condition:?}"
            );
        }
    }

    /// Returns the share of a table's rows that meets a condition.
    fn share(&self, condition: &Expr, at: usize) -> f64 {
        let Node::Compare { op: crate::ast::BinaryOp::Equal, operands, .. } = &condition.node else {
            return estimate::share(condition);
        };
        let is_join = operands.iter().all(|operand| matches!(operand.node, Node::Slot(_)));
        let distinct = operands.iter().filter_map(|operand| {
            let Node::Slot(slot) = operand.node else { return None };
            let table = self.tables.of_slot(slot)?;
            let (leaf, size) = (&self.tables.leaves[table], &self.sizes[table]);
            match &leaf.source {
                Source::Stored { table: stored, .. } => {
                    let known = size.distinct_of_column(stored, slot - leaf.base);
                    known.or(is_join.then(|| size.guessed_distinct_of_column()))
                }
                _ if table == at => Some((size.rows / 2.0).max(1.0)),
                _ => None,
            }
        });
        distinct.reduce(f64::max).map_or_else(|| estimate::share(condition), |distinct| 1.0 / distinct)
    }
}
