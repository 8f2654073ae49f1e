//! SIGNAL, RESIGNAL, GET DIAGNOSTICS.

use super::running::Running;
use super::values;
use crate::ast::{ConditionItem, DiagnosticsWanted, Expr, GetDiagnostics, Signal, Target};
use crate::error::{Result, SqlError};
use crate::expr::{Level, Warning, number, text_of};
use crate::program::{Frame, Routine};
use crate::session::Session;
use crate::session::state::PlanKey;
use types::Value;

/// The longest MESSAGE_TEXT, in characters. Other items may have half as many.
const MOST_MESSAGE_CHARS: usize = 128;
const MOST_ITEM_CHARS: usize = 64;

fn name_of(item: ConditionItem) -> &'static str {
    match item {
        ConditionItem::ClassOrigin => "CLASS_ORIGIN",
        ConditionItem::SubclassOrigin => "SUBCLASS_ORIGIN",
        ConditionItem::ReturnedSqlstate => "RETURNED_SQLSTATE",
        ConditionItem::MessageText => "MESSAGE_TEXT",
        ConditionItem::MysqlErrno => "MYSQL_ERRNO",
        ConditionItem::ConstraintCatalog => "CONSTRAINT_CATALOG",
        ConditionItem::ConstraintSchema => "CONSTRAINT_SCHEMA",
        ConditionItem::ConstraintName => "CONSTRAINT_NAME",
        ConditionItem::CatalogName => "CATALOG_NAME",
        ConditionItem::SchemaName => "SCHEMA_NAME",
        ConditionItem::TableName => "TABLE_NAME",
        ConditionItem::ColumnName => "COLUMN_NAME",
        ConditionItem::CursorName => "CURSOR_NAME",
    }
}

/// Returns a condition with this SQLSTATE and the default message and number.
fn plain(state: [u8; 5]) -> Warning {
    let (level, code, message) = match &state[..2] {
        b"01" => (Level::Warning, 1642, "Unhandled user-defined warning condition"),
        b"02" => (Level::Error, 1643, "Unhandled user-defined not found condition"),
        _ => (Level::Error, 1644, "Unhandled user-defined exception condition"),
    };
    let items =
        vec![(ConditionItem::ClassOrigin, String::new()), (ConditionItem::SubclassOrigin, String::new())];
    Warning { state, items, ..Warning::new(level, code, message) }
}

/// Sets an item of a condition to a value from SIGNAL or RESIGNAL.
fn set_item(condition: &mut Warning, item: ConditionItem, value: &Value) -> Result<()> {
    let text = String::from_utf8_lossy(&text_of(value)).into_owned();
    let wrong = |shown: &str| SqlError::wrong_value_for_variable(name_of(item), shown);
    if value.is_null() {
        return Err(wrong("NULL"));
    }
    if item == ConditionItem::MysqlErrno {
        let code = crate::expr::decimal_of(&number(value)).to_u64().filter(|code| *code > 0);
        condition.code = code.and_then(|code| u16::try_from(code).ok()).ok_or_else(|| wrong(&text))?;
        return Ok(());
    }
    let most = if item == ConditionItem::MessageText { MOST_MESSAGE_CHARS } else { MOST_ITEM_CHARS };
    if text.chars().count() > most {
        let message = format!("Data too long for condition item '{}'", name_of(item));
        return Err(SqlError { state: *b"22001", ..SqlError::new(1648, message) });
    }
    match item {
        ConditionItem::MessageText => condition.message = text,
        item => {
            condition.items.retain(|(known, _)| *known != item);
            condition.items.push((item, text));
        }
    }
    Ok(())
}

/// Raises a condition: a warning is noted, anything else becomes the statement's error.
fn raise(session: &Session, condition: Warning) -> Result<()> {
    let mut diagnostics = session.statement.diagnostics.borrow_mut();
    if condition.level != Level::Error {
        diagnostics.push_condition(condition);
        return Ok(());
    }
    let error = SqlError { code: condition.code, state: condition.state, message: condition.message.clone() };
    diagnostics.signal(condition);
    Err(error)
}

fn check_resignal(is_active: bool) -> Result<()> {
    let text = "RESIGNAL when handler not active";
    if is_active { Ok(()) } else { Err(SqlError { state: *b"0K000", ..SqlError::new(1645, text) }) }
}

/// Runs a SIGNAL outside of a program.
pub(in crate::session) fn signal(session: &mut Session, signal: &Signal) -> Result<()> {
    check_resignal(!signal.again)?;
    let mut condition = plain(signal.state.expect("SIGNAL has one"));
    for (item, expr) in &signal.items {
        let value = values::evaluate_one(session, expr)?;
        set_item(&mut condition, *item, &value)?;
    }
    session.statement.diagnostics.borrow_mut().clear();
    raise(session, condition)
}

/// Runs a SIGNAL or RESIGNAL in a program.
pub(super) fn signal_in(
    running: &mut Running<'_, '_>,
    key: PlanKey,
    signal: &Signal,
    frame: &mut Frame,
) -> Result<()> {
    let handled = frame.handling.last().filter(|_| signal.again);
    check_resignal(!signal.again || handled.is_some())?;
    let mut condition = match (handled, signal.state) {
        (None, Some(state)) => plain(state),
        (Some(handled), Some(state)) => {
            let Warning { level, code, .. } = plain(state);
            Warning { level, code, state, ..handled.condition.clone() }
        }
        (Some(handled), None) => handled.condition.clone(),
        (None, None) => unreachable!("SIGNAL has a state"),
    };
    let mut area = handled.map_or_else(Vec::new, |handled| handled.area.clone());
    if signal.state.is_none() {
        // The handled condition is raised again, with the new items, in place of its old form.
        area.pop();
    }
    for (at, (item, expr)) in signal.items.iter().enumerate() {
        let value = running.one((key.0, key.1, at), expr, frame)?;
        set_item(&mut condition, *item, &value)?;
    }
    {
        let mut diagnostics = running.session.statement.diagnostics.borrow_mut();
        diagnostics.clear();
        area.into_iter().for_each(|condition| diagnostics.restore(condition));
    }
    raise(running.session, condition)
}

/// Returns the value of a condition's item.
fn item_of(condition: &Warning, item: ConditionItem) -> Value {
    let said = condition.items.iter().find(|(known, _)| *known == item).map(|(_, text)| text.as_str());
    // As in MySQL, the subclasses of a class of the standard count as the standard's, too.
    let is_of_standard = matches!(condition.state[0], b'0'..=b'4' | b'A'..=b'H');
    let of_standard = |is_it: bool| if is_it { "ISO 9075" } else { "MySQL" };
    match item {
        ConditionItem::ReturnedSqlstate => Value::Bytes(condition.state.to_vec()),
        ConditionItem::MessageText => Value::text(&condition.message),
        ConditionItem::MysqlErrno => Value::Int(i64::from(condition.code)),
        ConditionItem::ClassOrigin => Value::text(said.unwrap_or(of_standard(is_of_standard))),
        ConditionItem::SubclassOrigin => {
            let is_of_standard = is_of_standard || condition.state.ends_with(b"000");
            Value::text(said.unwrap_or(of_standard(is_of_standard)))
        }
        _ => Value::text(said.unwrap_or_default()),
    }
}

/// Returns the condition with this number, from 1 on.
fn numbered<'c>(area: &'c [Warning], value: &Value) -> Option<&'c Warning> {
    let at = crate::expr::decimal_of(&number(value)).to_u64().unwrap_or(0) as usize;
    at.checked_sub(1).and_then(|at| area.get(at))
}

/// Builds condition 1758, which is noted, but is not the statement's error.
fn no_such_condition() -> Warning {
    Warning { state: *b"35000", ..Warning::new(Level::Error, 1758, "Invalid condition number") }
}

/// Returns the targets of GET DIAGNOSTICS with their values, or `None` if there is no condition
/// with the wanted number.
fn wanted<'g>(
    get: &'g GetDiagnostics,
    area: &[Warning],
    row_count: i64,
    evaluate: &mut dyn FnMut(&Expr) -> Result<Value>,
) -> Result<Option<Vec<(&'g Target, Value)>>> {
    match &get.what {
        DiagnosticsWanted::Statement(items) => {
            let of = |(target, is_row_count): &'g (Target, bool)| {
                let value = if *is_row_count { row_count } else { area.len() as i64 };
                (target, Value::Int(value))
            };
            Ok(Some(items.iter().map(of).collect()))
        }
        DiagnosticsWanted::Condition { number, items } => {
            let number = evaluate(number)?;
            let Some(condition) = numbered(area, &number) else { return Ok(None) };
            Ok(Some(items.iter().map(|(target, item)| (target, item_of(condition, *item))).collect()))
        }
    }
}

fn no_handler() -> SqlError {
    let text = "GET STACKED DIAGNOSTICS when handler not active";
    SqlError { state: *b"0Z002", ..SqlError::new(3004, text) }
}

/// Runs a GET DIAGNOSTICS outside of a program.
pub(in crate::session) fn get_diagnostics(session: &mut Session, get: &GetDiagnostics) -> Result<()> {
    if get.stacked {
        return Err(no_handler());
    }
    let (area, row_count) =
        (session.statement.diagnostics.borrow().warnings.clone(), session.statement.row_count);
    let values = wanted(get, &area, row_count, &mut |expr| values::evaluate_one(session, expr))?;
    let Some(values) = values else {
        session.statement.diagnostics.borrow_mut().push_condition(no_such_condition());
        return Ok(());
    };
    for (target, value) in values {
        if let Target::UserVariable(name) = target {
            session.settings.user_variables.set(name, &value, &value.natural_type())?;
        }
    }
    Ok(())
}

/// Runs a GET DIAGNOSTICS in a program.
pub(super) fn get_in(
    running: &mut Running<'_, '_>,
    routine: &Routine,
    key: PlanKey,
    get: &GetDiagnostics,
    frame: &mut Frame,
) -> Result<()> {
    let area = match (get.stacked, frame.handling.last()) {
        (true, None) => return Err(no_handler()),
        (true, Some(handled)) => handled.area.clone(),
        (false, _) => running.session.statement.diagnostics.borrow().warnings.clone(),
    };
    let row_count = running.session.statement.row_count;
    let values = wanted(get, &area, row_count, &mut |expr| running.one(key, expr, frame))?;
    let Some(values) = values else {
        running.session.statement.diagnostics.borrow_mut().push_condition(no_such_condition());
        return Ok(());
    };
    for (target, value) in values {
        running.put(routine, frame, target, (&value, &value.natural_type()))?;
    }
    Ok(())
}
