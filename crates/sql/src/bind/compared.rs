//! Constants beside operands of comparisons: they are read as numbers or dates once, before the
//! statement runs.

use super::Scope;
use super::constants::{Constants, NoDate};
use crate::error::Result;
use crate::expr::{Expr, Node, Reading};

/// Returns how constants beside an operand are read. `None` if they are compared unchanged.
fn reading_beside(other: &Expr, scope: &Scope) -> Option<Reading> {
    let column = match other.node {
        Node::Slot(slot) => scope.of_slot(slot).map(|(table, at)| &*table.columns[at].org_name),
        _ => None,
    };
    Reading::beside(&other.ty, column)
}

/// Reads the constants among the two operands of a comparison.
///
/// # Errors
/// Returns 1525 (`ER_WRONG_VALUE`) when one operand is a date and the other is a text that is no
/// date.
pub(super) fn read_operands(
    constants: &mut Constants,
    operands: &mut [Expr; 2],
    scope: &Scope,
) -> Result<()> {
    let [left, right] = operands;
    read_beside(constants, right, left, scope, NoDate::Refused)?;
    read_beside(constants, left, right, scope, NoDate::Refused)
}

/// Reads `value`, if it is a constant or a parameter, as a value of the type of `other`.
///
/// # Errors
/// Returns the errors of [`read_operands`] if `no_date` is [`NoDate::Refused`].
pub(super) fn read_beside(
    constants: &mut Constants,
    value: &mut Expr,
    other: &Expr,
    scope: &Scope,
    no_date: NoDate,
) -> Result<()> {
    if !matches!(value.node, Node::Constant(_) | Node::Parameter(_)) {
        return Ok(());
    }
    match reading_beside(other, scope) {
        Some(reading) => constants.read(value, &reading, no_date),
        None => Ok(()),
    }
}

/// Reads the items of an IN list as values of the type of the operand. In a list of several items,
/// a text that is no date is no error: no row matches it.
///
/// # Errors
/// Returns the errors of [`read_operands`] for a list of one item.
pub(super) fn read_items(
    constants: &mut Constants,
    list: &mut [Expr],
    operand: &Expr,
    scope: &Scope,
) -> Result<()> {
    let Some(reading) = reading_beside(operand, scope) else { return Ok(()) };
    let no_date = if list.len() == 1 { NoDate::Refused } else { NoDate::Text };
    list.iter_mut().try_for_each(|item| constants.read(item, &reading, no_date))
}
