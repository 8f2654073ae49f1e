//! Constants that are compared with numbers and dates are read as such before the statement runs.

use super::Scope;
use super::constants::{Constants, NoDate};
use crate::error::Result;
use crate::expr::{Expr, Node, Reading};

/// How constants beside an operand are read; `None` where they are compared as what they are.
fn reading_beside(other: &Expr, scope: &Scope) -> Option<Reading> {
    let column = match other.node {
        Node::Slot(slot) => scope.of_slot(slot).map(|(table, at)| &*table.columns[at].org_name),
        _ => None,
    };
    Reading::beside(&other.ty, column)
}

/// Reads the constants among the operands of a comparison.
///
/// # Errors
/// 1525 for a text that is no date beside a date.
pub(super) fn read_operands(
    constants: &mut Constants,
    operands: &mut [Expr; 2],
    scope: &Scope,
) -> Result<()> {
    let [left, right] = operands;
    read_beside(constants, right, left, scope, NoDate::Refused)?;
    read_beside(constants, left, right, scope, NoDate::Refused)
}

/// Reads an operand, if it is a constant, as a value of the other.
///
/// # Errors
/// As [`read_operands`], where what is no date is refused.
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

/// Reads the items of a list that an operand is looked for in. Among several, what is no date is
/// found in no row.
///
/// # Errors
/// As [`read_operands`], for a list of one.
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
