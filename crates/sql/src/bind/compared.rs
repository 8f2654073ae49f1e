//! Brings the operands of comparisons to the kind in which MySQL compares them: constants are read
//! as numbers, dates or times once, before the statement runs, and a TIME beside a text, or a text
//! beside the number of a BETWEEN, is converted for each row.

use super::constants::{Constants, NoDate};
use super::{Binder, Scope};
use crate::error::Result;
use crate::expr::{self, Coercibility, Expr, NoSession, Node, Reading, is_text};
use types::temporal::parse;
use types::{ColumnType, TypeCode, Value, Zone};

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
    read_pair(constants, operands, scope, NoDate::Refused)
}

/// Does the same as [`read_operands`] for values of rows, of which several are in an IN list: a
/// text that is no date is refused there only if `no_date` says so.
pub(super) fn read_pair(
    constants: &mut Constants,
    operands: &mut [Expr; 2],
    scope: &Scope,
    no_date: NoDate,
) -> Result<()> {
    choose_numbers(operands);
    let [left, right] = operands;
    read_beside(constants, right, left, scope, no_date)?;
    read_beside(constants, left, right, scope, no_date)?;
    show_time_beside_text(operands);
    make_dates_of_years(operands);
    Ok(())
}

/// Asks IF, CASE, GREATEST and LEAST, where they are compared with a number, for the number of what
/// they choose, and sums of dates and times for theirs.
fn choose_numbers(operands: &mut [Expr; 2]) {
    for at in 0..2 {
        let is_chosen = operands[at].is_extreme()
            || operands[at].is_moment_text()
            || matches!(operands[at].node, Node::If(_) | Node::Case { .. });
        if is_chosen && is_text(&operands[at].ty) && expr::is_number(&operands[1 - at].ty) {
            let choice = std::mem::replace(&mut operands[at], Expr::constant(Value::Null));
            operands[at] = choice.choice_as_number();
        }
    }
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

/// Computes a call with constant arguments that is compared with a column of type YEAR or TIME, so
/// that it is read as a literal would be.
#[inline(never)]
pub(super) fn compute_beside(binder: &Binder<'_>, value: &mut Expr, other: &Expr) {
    let is_column = matches!(other.node, Node::Slot(_) | Node::Outer(_));
    let is_read = other.ty.code == TypeCode::Year || expr::is_time(&other.ty);
    if is_column && is_read {
        compute_constant(binder, value);
    }
}

/// Computes a call with constant arguments whose value is the text of a date or a time, where a
/// function wants to know how many digits it has behind the seconds.
pub(super) fn compute_text(binder: &Binder<'_>, value: &mut Expr) {
    if expr::is_constant_text(value)
        && let Some(Value::Bytes(text)) = computed(binder, value)
        && (parse::time(&text, Zone::UTC).is_some() || parse::datetime(&text).is_some())
        && !text.is_empty()
    {
        // The type stays, because it says what the characters are.
        (value.node, value.nullable) = (Node::Constant(Value::Bytes(text)), false);
    }
}

/// Computes a call with constant arguments. A call that warns or fails stays as it is.
pub(super) fn compute_constant(binder: &Binder<'_>, value: &mut Expr) {
    if expr::is_constant_call(value)
        && let Some(computed) = computed(binder, value)
    {
        *value = Expr::constant(computed);
    }
}

/// Returns the value of a call with constant arguments. `None` means that the call warns or fails.
#[inline(never)]
fn computed(binder: &Binder<'_>, value: &Expr) -> Option<Value> {
    let no_session = NoSession::new(binder.host.memory(), 0);
    let ctx = no_session.context(binder.engine, binder.host, binder.variables, false);
    let computed = value.eval(&[], &ctx).map(|computed| computed.into_owned());
    computed.ok().filter(|_| !no_session.has_conditions())
}

/// Prepares an operand and the only item of its IN list, which are compared as with `=`.
#[inline(never)]
pub(super) fn compared_alone(operand: Expr, item: &mut Expr) -> Expr {
    let mut pair = [operand, std::mem::replace(item, Expr::constant(Value::Null))];
    show_time_beside_text(&mut pair);
    let [operand, alone] = pair;
    *item = alone;
    operand
}

/// Makes moments of the texts among an operand and the items of its IN list where all others of
/// them are dates and times. As in MySQL, all are compared as values of one type then: that of the
/// first DATETIME or TIMESTAMP, and without one that of the last DATE or TIME. A list of constants
/// stays as it is.
#[inline(never)]
pub(super) fn as_moments(operand: Expr, list: &mut [Expr], scope: &Scope) -> Expr {
    let is_plain_text = |expr: &Expr| is_text(&expr.ty) && !expr.is_json() && !expr.has_parameter();
    let is_date = |expr: &Expr| matches!(expr.ty.code, TypeCode::Date);
    let is_moment = |expr: &Expr| matches!(expr.ty.code, TypeCode::Datetime2 | TypeCode::Timestamp2);
    let is_time = |expr: &Expr| expr::is_time(&expr.ty);
    let is_constant = |item: &Expr| matches!(item.node, Node::Constant(_)) || expr::is_constant_call(item);
    let are_constants = list.iter().all(is_constant);
    let all = || std::iter::once(&operand).chain(&*list);
    let is_in_turn = |expr: &Expr| {
        is_plain_text(expr) || is_date(expr) || is_moment(expr) || is_time(expr) || is_null(expr)
    };
    if are_constants || !all().all(is_in_turn) {
        return operand;
    }
    let last = all().rfind(|expr| is_date(expr) || is_time(expr));
    let Some(chosen) = all().find(|expr| is_moment(expr)).or(last) else { return operand };
    let column = match chosen.node {
        Node::Slot(slot) => scope.of_slot(slot).map(|(table, at)| table.columns[at].name.to_string()),
        _ => None,
    };
    let (ty, column, of_times) = (chosen.ty.clone(), column.unwrap_or_default(), is_time(chosen));
    let is_read = |expr: &Expr| is_plain_text(expr) || of_times && is_date(expr);
    for item in list.iter_mut().filter(|item| is_read(item)) {
        let text = std::mem::replace(item, Expr::constant(Value::Null));
        *item = text.into_moment(&ty, &column);
    }
    if is_read(&operand) { operand.into_moment(&ty, &column) } else { operand }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.node, Node::Constant(Value::Null))
}

/// Makes documents of an operand and of the items of its IN list where one of them is a document:
/// MySQL compares all of them as documents then.
#[inline(never)]
pub(super) fn as_documents(operand: Expr, list: &mut [Expr]) -> Expr {
    if !operand.is_json() && !list.iter().any(Expr::is_json) {
        return operand;
    }
    for item in list {
        let value = std::mem::replace(item, Expr::constant(Value::Null));
        *item = value.into_json();
    }
    operand.into_json()
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
    if matches!(value.node, Node::Slot(_) | Node::Outer(_)) {
        return Ok(());
    }
    match reading_beside(other, scope) {
        Some(reading) => constants.read(value, &reading, no_date),
        None => Ok(()),
    }
}

/// Makes dates of today of the times among the operands of BETWEEN where a date is among them, and
/// all others are dates, times, texts or NULL. As in MySQL, all of them are compared as dates then.
pub(super) fn make_dates_of_times(operands: &mut [Expr; 3]) {
    let is_date = |operand: &Expr| operand.ty.is_temporal() && !expr::is_time(&operand.ty);
    let is_plain = |operand: &Expr| {
        let is_value = operand.ty.is_temporal() || is_text(&operand.ty) && !operand.is_json();
        is_value || operand.ty.code == TypeCode::Null
    };
    if !operands.iter().any(is_date) || !operands.iter().all(is_plain) {
        return;
    }
    for operand in operands.iter_mut().filter(|operand| expr::is_time(&operand.ty)) {
        let time = std::mem::replace(operand, Expr::constant(Value::Null));
        *operand = Expr {
            ty: ColumnType::datetime(time.ty.fsp()),
            nullable: time.nullable,
            coercibility: Coercibility::Numeric,
            node: Node::Cast(Box::new(time)),
        };
    }
}

/// Makes numbers of the texts among the operands of BETWEEN when a number is among them, too. Dates
/// and times that are not of one kind become numbers with them, because all three operands are
/// compared in one way. A column of dates or times is compared as such.
pub(super) fn read_texts_beside_numbers(operands: &mut [Expr; 3]) {
    let is_plain_text = |operand: &Expr| is_text(&operand.ty) && !operand.is_json();
    let is_number = |operand: &Expr| expr::is_number(&operand.ty);
    let is_simple = |operand: &Expr| {
        let is_value = is_plain_text(operand) || is_number(operand) || operand.ty.is_temporal();
        is_value || operand.ty.code == TypeCode::Null
    };
    if !operands.iter().any(is_number) || !operands.iter().all(is_simple) {
        return;
    }
    let mut kinds = operands.iter().filter(|operand| operand.ty.is_temporal()).map(|operand| operand.ty.code);
    let kind = kinds.next();
    let has_other_kinds = kinds.any(|other| Some(other) != kind);
    let is_column = matches!(operands[0].node, Node::Slot(_)) && operands[0].ty.is_temporal();
    let are_mixed = operands.iter().any(is_plain_text) || has_other_kinds && !is_column;
    for operand in operands {
        if operand.is_extreme() || matches!(operand.node, Node::If(_) | Node::Case { .. }) {
            let choice = std::mem::replace(operand, Expr::constant(Value::Null));
            *operand = choice.choice_as_number();
        }
        // A parameter is read as a number when the statement runs.
        let is_read = match operand.ty.is_temporal() {
            true => are_mixed,
            false => is_plain_text(operand) && !matches!(operand.node, Node::Parameter(_)),
        };
        if is_read {
            let mut value = std::mem::replace(operand, Expr::constant(Value::Null));
            if value.literal_number().is_some() {
                *operand = value.numeric();
                continue;
            }
            value.show_on_clocks();
            *operand = Expr {
                nullable: value.nullable,
                node: Node::Cast(Box::new(value)),
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
