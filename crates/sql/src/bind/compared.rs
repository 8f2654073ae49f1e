//! Brings the operands of comparisons to the kind in which MySQL compares them: constants are read
//! as numbers, dates or times once, before the statement runs, and a TIME beside a text, or a text
//! beside the number of a BETWEEN, is converted for each row.

use super::Scope;
use super::constants::{Constants, NoDate};
use crate::error::Result;
use crate::expr::{self, Coercibility, Expr, Node, Reading, is_text};
use types::{ColumnType, TypeCode, Value};

/// Returns how constants beside an operand are read. `None` if they are compared unchanged.
fn reading_beside(other: &Expr, scope: &Scope) -> Option<Reading> {
    let column = match other.node {
        Node::Slot(slot) => scope.of_slot(slot).map(|(table, at)| &*table.columns[at].org_name),
        _ => None,
    };
    Reading::beside(&other.ty, column)
}

/// Reads the constants among the two operands of a comparison, and makes a text of a TIME that is
/// compared with a text.
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
    read_beside(constants, left, right, scope, NoDate::Refused)?;
    show_time_beside_text(operands);
    make_dates_of_years(operands);
    Ok(())
}

/// Makes a date of a YEAR that is compared with a date. A constant beside a column of type YEAR was
/// read as a year, and stays one.
fn make_dates_of_years(operands: &mut [Expr; 2]) {
    let is_date = |operand: &Expr| {
        matches!(operand.ty.code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2)
    };
    let Some(at) = operands.iter().position(|operand| operand.ty.code == TypeCode::Year) else { return };
    let is_read =
        matches!(operands[at].node, Node::Slot(_)) && matches!(operands[1 - at].node, Node::Constant(_));
    if is_date(&operands[1 - at]) && !is_read {
        let year = std::mem::replace(&mut operands[at], Expr::constant(Value::Null));
        operands[at] = year.year_as_date();
    }
}

/// Makes a text of a TIME that is compared with texts. MySQL compares them as times only when a
/// constant was read as a value of the TIME's column.
pub(super) fn show_time_beside_text(operands: &mut [Expr]) {
    let is_time = |operand: &Expr| expr::is_time(&operand.ty);
    // A parameter is read as a time when the statement runs.
    let stays_text = |operand: &Expr| {
        is_text(&operand.ty) && !operand.is_json() && !matches!(operand.node, Node::Parameter(_))
    };
    let Some(at) = operands.iter().position(is_time) else { return };
    if operands.iter().enumerate().all(|(other, operand)| other == at || stays_text(operand)) {
        let time = std::mem::replace(&mut operands[at], Expr::constant(Value::Null));
        operands[at] = time.shown();
    }
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

/// Makes numbers of the texts among the operands of BETWEEN when a number is among them, too. All
/// three are compared in one way.
pub(super) fn read_texts_beside_numbers(operands: &mut [Expr; 3]) {
    let is_plain_text = |operand: &Expr| is_text(&operand.ty) && !operand.is_json();
    let is_number = |operand: &Expr| expr::is_number(&operand.ty);
    let is_simple =
        |operand: &Expr| is_plain_text(operand) || is_number(operand) || operand.ty.code == TypeCode::Null;
    if !operands.iter().any(is_number) || !operands.iter().all(is_simple) {
        return;
    }
    for operand in operands {
        // A parameter is read as a number when the statement runs.
        if is_plain_text(operand) && !matches!(operand.node, Node::Parameter(_)) {
            let text = std::mem::replace(operand, Expr::constant(Value::Null));
            *operand = Expr {
                nullable: text.nullable,
                node: Node::Cast(Box::new(text)),
                ty: ColumnType::double(),
                coercibility: Coercibility::Numeric,
            };
        }
    }
}

/// Reads the items of an IN list as values of the type of the operand. In a list of several items,
/// a text that is no date is no error: it counts as the zero date.
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
    let (reading, no_date) = match list.len() {
        1 => (reading, NoDate::Refused),
        _ => (reading.in_list(), NoDate::Text),
    };
    list.iter_mut().try_for_each(|item| constants.read(item, &reading, no_date))
}
