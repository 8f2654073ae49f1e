//! Which tables a statement asks information_schema about.
//!
//! The columns of a view are found by binding its query, which is much more work than to read a
//! stored table's definition. Most statements name a schema or a table, so that only few views need
//! to be bound.

use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Context, Expr, Node};
use crate::plan::TableStep;
use types::Value;

/// The positions of TABLE_SCHEMA and TABLE_NAME in the tables that have both.
const NAMES: [usize; 2] = [1, 2];

/// The conditions `name = constant` of a statement about the schema and the name of a table. A row
/// that fails one of them is not in the result, even behind an outer join, since NULL fails it too.
pub(super) struct NamedTables<'p> {
    conditions: Vec<&'p Expr>,
    base: usize,
    columns: usize,
}

impl<'p> NamedTables<'p> {
    /// Finds these conditions among those of a step.
    pub(super) fn of(step: &'p TableStep) -> NamedTables<'p> {
        let is_one = |condition: &&Expr| is_about_names(condition, step.base);
        NamedTables {
            conditions: step.conditions.iter().filter(is_one).collect(),
            base: step.base,
            columns: step.columns,
        }
    }

    /// Reports whether the statement may want rows about the table with this schema and name.
    ///
    /// # Errors
    /// Returns the errors of evaluating the conditions.
    pub(super) fn may_want(&self, schema: &str, name: &str, ctx: &Context<'_>) -> Result<bool> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let mut row = vec![Value::Null; self.base + self.columns];
        row[self.base + NAMES[0]] = Value::text(schema);
        row[self.base + NAMES[1]] = Value::text(name);
        for condition in &self.conditions {
            if !condition.holds(&row, ctx)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Reports whether a condition compares a name with a constant. `base` is the table's first slot.
fn is_about_names(condition: &Expr, base: usize) -> bool {
    let Node::Compare { op: BinaryOp::Equal, operands, .. } = &condition.node else { return false };
    let is_name =
        |side: &Expr| NAMES.iter().any(|at| matches!(side.node, Node::Slot(slot) if slot == base + at));
    let is_constant = |side: &Expr| matches!(side.node, Node::Constant(_) | Node::Parameter(_));
    let [left, right] = &**operands;
    is_name(left) && is_constant(right) || is_constant(left) && is_name(right)
}
