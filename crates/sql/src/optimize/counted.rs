//! Counts of the rows that meet conditions, among the rows that the statistics of a table keep.
//!
//! A condition on columns without an index is guessed to hold for one row of ten, or of three. A
//! look at some two hundred rows tells whether it holds for half of them or for none, and whether
//! several conditions hold for the same rows.

use super::dive::Constants;
use super::estimate::Size;
use crate::expr::{Expr, Node};
use crate::plan::{Leaf, Source};
use engine::Table;
use std::cell::RefCell;
use types::Value;

/// What has been counted for the tables of a query.
#[derive(Default)]
pub(super) struct Counted {
    asked: RefCell<Vec<Asked>>,
}

/// The kept rows of a table for which a condition holds. `None` if it cannot be decided now.
struct Asked {
    /// The first slot of the table, by which it is known.
    base: usize,
    condition: Expr,
    holds: Option<RowSet>,
}

/// A set of kept rows, one bit for each.
#[derive(Clone, Copy)]
struct RowSet([u64; 4]);

impl RowSet {
    /// The most rows of a set. The statistics keep fewer.
    const MOST: usize = 4 * 64;

    /// Returns the set of the first `rows` rows.
    fn first(rows: usize) -> RowSet {
        let mut set = RowSet([0; 4]);
        (0..rows).for_each(|row| set.add(row));
        set
    }

    fn add(&mut self, row: usize) {
        self.0[row / 64] |= 1 << (row % 64);
    }

    fn intersection(mut self, other: RowSet) -> RowSet {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }

    fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

impl Counted {
    /// Returns the share of a table's rows that meets all of these conditions on the table alone.
    /// `guess` returns the share that a condition is guessed to have. It counts for conditions that
    /// cannot be decided now, and where none of the kept rows meets the others.
    pub fn share<'e>(
        &self,
        constants: &Constants<'_>,
        (leaf, size): (&Leaf, &Size),
        conditions: impl Iterator<Item = &'e Expr>,
        guess: impl Fn(&Expr) -> f64,
    ) -> f64 {
        let kept = size.kept_rows();
        let (Source::Stored { table, .. }, 1..=RowSet::MOST) = (&leaf.source, kept.len()) else {
            return conditions.map(guess).product();
        };
        let (mut guessed, mut of_undecided) = (1.0, 1.0);
        let mut holds = RowSet::first(kept.len());
        for condition in conditions {
            match self.holds(constants, (leaf, table, kept), condition) {
                Some(rows) => {
                    holds = holds.intersection(rows);
                    guessed *= guess(condition);
                }
                None => of_undecided *= guess(condition),
            }
        }
        let counted = match holds.len() {
            // The share is below that of one kept row.
            0 => guessed.min(0.5 / kept.len() as f64),
            rows => f64::from(rows) / kept.len() as f64,
        };
        counted * of_undecided
    }

    /// Returns the kept rows for which a condition holds, which are found out once for a query.
    fn holds(
        &self,
        constants: &Constants<'_>,
        (leaf, table, kept): (&Leaf, &Table, &[Box<[u8]>]),
        condition: &Expr,
    ) -> Option<RowSet> {
        let mut asked = self.asked.borrow_mut();
        if let Some(known) = asked.iter().find(|it| it.base == leaf.base && it.condition == *condition) {
            return known.holds;
        }
        let holds = match is_decidable(condition) {
            true => decided(constants, (leaf, table, kept), condition),
            false => None,
        };
        asked.push(Asked { base: leaf.base, condition: condition.clone(), holds });
        holds
    }
}

/// Reports whether a condition can be decided before the statement runs, cheaply and without an
/// effect: it has columns, literals and operators alone.
fn is_decidable(condition: &Expr) -> bool {
    let mut is_decidable = true;
    condition.visit(&mut |expr| {
        is_decidable &= matches!(
            expr.node,
            Node::Constant(_)
                | Node::HexLiteral(..)
                | Node::Slot(_)
                | Node::And(_)
                | Node::Or(_)
                | Node::Not(_)
                | Node::Compare { .. }
                | Node::Between { .. }
                | Node::In { .. }
                | Node::Like { .. }
                | Node::IsNull { .. }
                | Node::Arithmetic { .. }
                | Node::DateAdd { .. }
        );
    });
    is_decidable
}

fn decided(
    constants: &Constants<'_>,
    (leaf, table, kept): (&Leaf, &Table, &[Box<[u8]>]),
    condition: &Expr,
) -> Option<RowSet> {
    let mut slots = Vec::new();
    condition.slots(&mut slots);
    let columns: Option<Vec<usize>> = slots
        .iter()
        .map(|slot| slot.checked_sub(leaf.base).filter(|column| *column < table.layout.columns()))
        .collect();
    let mut columns = columns?;
    columns.sort_unstable();
    columns.dedup();
    let mut row = Value::nulls(leaf.base + leaf.columns);
    let mut holds = RowSet::first(0);
    constants.with_context(|ctx| {
        for (at, image) in kept.iter().enumerate() {
            ctx.forget_made();
            table.layout.decode_columns(image, &columns, &mut row[leaf.base..]).ok()?;
            if condition.holds(&row, ctx).ok()? {
                holds.add(at);
            }
        }
        Some(holds)
    })
}
