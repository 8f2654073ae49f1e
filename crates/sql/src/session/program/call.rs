//! The CALL statement, and checks of a new program's body.

use super::around::Around;
use super::entered::Entered;
use super::running::{ResultSets, Running};
use super::values;
use crate::ast::program::{Op, Program, SlotKind};
use crate::ast::{
    Call, CreateObject, Expr, ObjectDetails, SetItem, Statement, TableName, Target, TriggerDetails,
};
use crate::error::{Result, SqlError};
use crate::expr::conform;
use crate::host::VariableScope;
use crate::lexer::LexMode;
use crate::program::{Frame, Machine, Mode, Routine, Surroundings};
use crate::result_column::column_meta;
use crate::session::Session;
use crate::session::privileges;
use crate::session::set;
use crate::session::state::{PlanKey, Returned};
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink, status};
use engine::{Object, ObjectKind, Table};
use std::borrow::Cow;
use std::sync::Arc;
use types::{ColumnType, Value};

/// Returns the program, parsed. It is parsed once, and again when the object or its table has
/// changed.
pub(super) fn routine_of(
    session: &Session,
    object: &Arc<Object>,
    table: Option<&Arc<Table>>,
) -> Result<Arc<Routine>> {
    if let Some(known) = session.programs.known.borrow().routine(object, table) {
        return Ok(known);
    }
    let routine = Arc::new(Routine::read(object.clone(), table.map(|table| &**table))?);
    session.programs.known.borrow_mut().keep(&routine, table);
    Ok(routine)
}

/// Checks that a procedure does not call itself more often than allowed.
///
/// # Errors
/// Returns 1456 (`ER_SP_RECURSION_LIMIT`) when it would exceed `max_sp_recursion_depth`.
fn check_recursion(session: &Session, routine: &Routine) -> Result<()> {
    let depth = session.programs.depth_of(routine.object.id) as u64;
    if depth == 0 {
        return Ok(());
    }
    let limit = match session.server.host.variable(VariableScope::Session, "max_sp_recursion_depth")? {
        Some(Value::UInt(limit)) => limit,
        Some(Value::Int(limit)) => limit.max(0) as u64,
        _ => 0,
    };
    if depth <= limit {
        return Ok(());
    }
    let text = format!(
        "Recursive limit {limit} (as set by the max_sp_recursion_depth variable) was exceeded for routine {}",
        routine.object.def.name
    );
    Err(SqlError::new(1456, text))
}

fn check_count(routine: &Routine, got: usize) -> Result<()> {
    let expected = routine.parameters.len();
    if expected == got {
        return Ok(());
    }
    let text = format!(
        "Incorrect number of arguments for PROCEDURE {}; expected {expected}, got {got}",
        routine.name()
    );
    Err(SqlError::new(1318, text))
}

/// Returns the variable that takes the value of an OUT parameter.
fn target_of(argument: &Expr, number: usize, routine: &Routine) -> Result<Target> {
    match argument {
        Expr::UserVariable(name) => Ok(Target::UserVariable(name.clone())),
        Expr::Parameter(slot) => Ok(Target::Slot(*slot)),
        _ => Err(SqlError::new(
            1414,
            format!(
                "OUT or INOUT argument {} for routine {} is not a variable or NEW pseudo-variable in BEFORE trigger",
                number + 1,
                routine.name()
            ),
        )),
    }
}

/// Returns the positions of the OUT and INOUT parameters, with the variables that take their
/// values.
fn targets_of(call: &Call, routine: &Routine) -> Result<Vec<(usize, Target)>> {
    check_count(routine, call.arguments.len())?;
    let taking = call.arguments.iter().zip(&routine.parameters).enumerate();
    taking
        .filter(|(_, (_, parameter))| parameter.mode != Mode::In)
        .map(|(at, (argument, _))| Ok((at, target_of(argument, at, routine)?)))
        .collect()
}

/// Runs a procedure. Returns the values that its parameters have at its end.
fn run_procedure(
    session: &mut Session,
    around: Around<'_>,
    sink: &mut dyn ResultSink,
    routine: &Routine,
    arguments: &[Option<(Value, ColumnType)>],
) -> Result<Vec<Value>> {
    check_recursion(session, routine)?;
    crate::parse::check_stack()?;
    assert_eq!(arguments.len(), routine.parameters.len(), "each parameter has its argument");
    let entered = Entered::enter(session, routine)?;
    let done = run_entered(session, around, sink, routine, arguments);
    entered.leave(session);
    done
}

fn run_entered(
    session: &mut Session,
    around: Around<'_>,
    sink: &mut dyn ResultSink,
    routine: &Routine,
    arguments: &[Option<(Value, ColumnType)>],
) -> Result<Vec<Value>> {
    let mut frame = Frame::new(&routine.types, routine.program.cursors.len(), &session.server.memory)?;
    let mut running = Running { session, around, sink };
    for (slot, value) in arguments.iter().enumerate() {
        if let Some((value, ty)) = value {
            running.store(routine, &mut frame, slot, (value, ty))?;
        }
    }
    Machine { routine, surroundings: &mut running }.run(&mut frame)?;
    frame.values.truncate(arguments.len());
    assert_eq!(frame.values.len(), arguments.len(), "each parameter has a value at the end");
    Ok(frame.values)
}

/// Returns the procedure with this name.
///
/// # Errors
/// Returns 1305 (`ER_SP_DOES_NOT_EXIST`) when there is none.
pub(in crate::session) fn known_procedure(session: &Session, name: &TableName) -> Result<Arc<Object>> {
    let schema = session.settings.schema_of(name)?;
    let found = session.server.engine.catalog().object(&schema, ObjectKind::Procedure, &name.name);
    found.ok_or_else(|| crate::ddl::absent(ObjectKind::Procedure, &schema, &name.name))
}

/// Runs the body of an event, which has no parameters.
pub(in crate::session) fn run_event_body(
    session: &mut Session,
    event: &Arc<Object>,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    let routine = routine_of(session, event, None)?;
    run_procedure(session, None, sink, &routine, &[]).map(|_| ())
}

fn known(session: &Session, call: &Call) -> Result<Arc<Routine>> {
    routine_of(session, &known_procedure(session, &call.name)?, None)
}

/// Runs a CALL statement of a program.
pub(super) fn call_within(
    running: &mut Running<'_, '_>,
    caller: &Routine,
    key: PlanKey,
    call: &Call,
    frame: &mut Frame,
) -> Result<()> {
    privileges::check_statement(running.session, &Statement::Call(Box::new(call.clone())))?;
    let routine = known(running.session, call)?;
    let targets = targets_of(call, &routine)?;
    let mut arguments = Vec::with_capacity(call.arguments.len());
    for (at, (argument, parameter)) in call.arguments.iter().zip(&routine.parameters).enumerate() {
        arguments.push(match parameter.mode {
            Mode::Out => None,
            _ => Some(running.one_typed((key.0, key.1, at), argument, frame)?),
        });
    }
    let values = run_procedure(running.session, running.around, running.sink, &routine, &arguments)?;
    for (at, target) in targets {
        running.put(caller, frame, &target, (&values[at], &routine.columns[at].ty))?;
    }
    Ok(())
}

/// Runs a CALL statement of the client. The values of OUT parameters whose argument is a `?` stay
/// in the session, for the EXECUTE of the prepared statement.
pub(in crate::session) fn call(session: &mut Session, call: &Call, sink: &mut dyn ResultSink) -> Result<()> {
    let routine = known(session, call)?;
    let targets = targets_of(call, &routine)?;
    let mut arguments = Vec::with_capacity(call.arguments.len());
    for (argument, parameter) in call.arguments.iter().zip(&routine.parameters) {
        arguments.push(match parameter.mode {
            Mode::Out => None,
            _ => Some(values::evaluate_typed(session, argument)?),
        });
    }
    session.statement.row_count = 0;
    let more = std::mem::replace(&mut session.client.more_results, true);
    let done = run_procedure(session, None, &mut ResultSets::new(sink), &routine, &arguments);
    session.client.more_results = more;
    for ((at, target), parameter) in
        targets.into_iter().zip(routine.parameters.iter().filter(|parameter| parameter.mode != Mode::In))
    {
        let Ok(values) = &done else { break };
        match target {
            Target::UserVariable(name) => {
                let (value, ty) = (&values[at], &routine.columns[at].ty);
                session.settings.user_variables.set(&name, value, ty)?;
            }
            Target::Slot(number) => {
                let column = &routine.columns[at];
                session.parameters.returned.push(Returned {
                    number,
                    name: parameter.name.clone(),
                    ty: column.ty.clone(),
                    value: values[at].clone(),
                });
            }
        }
    }
    done.map(|_| ())
}

/// Runs a CALL that came as a text or by EXECUTE, and sends its OK.
pub(in crate::session) fn call_alone(
    session: &mut Session,
    call_of: &Call,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    call(session, call_of, sink)?;
    let tells = session.parameters.tells_returned && session.client.init.ps_multi_results;
    if tells && !session.parameters.returned.is_empty() {
        send_returned(session, sink)?;
    }
    let affected_rows = session.statement.row_count.max(0) as u64;
    let (warnings, status) = (session.warning_count(), session.status());
    sink.ok(&mut OkInfo { affected_rows, warnings, status, ..OkInfo::default() })
}

/// Sends the values of OUT parameters as a result set, to a client that can tell it from the
/// others.
fn send_returned(session: &mut Session, sink: &mut dyn ResultSink) -> Result<()> {
    let returned = std::mem::take(&mut session.parameters.returned);
    let columns: Vec<ColumnMeta> =
        returned.iter().map(|out| column_meta(&out.name, out.ty.clone(), true)).collect();
    let row = {
        let ctx = session.context(&[], false);
        let one = |out: &Returned| conform(Cow::Borrowed(&out.value), &out.ty, &ctx).map(Cow::into_owned);
        returned.iter().map(one).collect::<Result<Vec<_>>>()?
    };
    sink.columns(&columns)?;
    sink.row(&row)?;
    let status = session.status() | status::PS_OUT_PARAMS | status::MORE_RESULTS_EXISTS;
    sink.end_rows(EndOfRows { warnings: session.warning_count(), status })
}

/// Checks that a function has a RETURN.
///
/// # Errors
/// Returns 1320 (`ER_SP_NORETURN`) when it has none.
fn check_returns(session: &Session, create: &CreateObject, program: &Program) -> Result<()> {
    let returns = program.steps.iter().any(|step| matches!(step.op, Op::Return(_)));
    if create.kind != engine::ObjectKind::Function || returns {
        return Ok(());
    }
    let schema = session.settings.schema_of(&create.name)?;
    Err(SqlError::new(1320, format!("No RETURN found in FUNCTION {schema}.{}", create.name.name)))
}

/// Checks that a trigger uses only columns that its table has.
///
/// # Errors
/// Returns 1054 (`ER_BAD_FIELD_ERROR`) for another column.
fn check_columns(session: &Session, trigger: &TriggerDetails, program: &Program) -> Result<()> {
    let schema = session.settings.schema_of(&trigger.table)?;
    let Some(table) = session.server.engine.catalog().table(&schema, &trigger.table.name) else {
        return Ok(());
    };
    for slot in &program.slots {
        if let SlotKind::Column { new } = slot.kind
            && table.def.column(&slot.name).is_none()
        {
            return Err(SqlError::unknown_column(&slot.name, if new { "NEW" } else { "OLD" }));
        }
    }
    Ok(())
}

/// Checks the body of a new program for what its grammar does not tell, such as system variables
/// that do not exist.
pub(in crate::session) fn check_body(session: &Session, create: &CreateObject) -> Result<()> {
    use crate::parse::program::{Owner, parse_body};
    let (trigger, parameters) = match &create.details {
        ObjectDetails::View(_) => return Ok(()),
        ObjectDetails::Trigger(trigger) => (Some((trigger.event, trigger.before)), ""),
        ObjectDetails::Routine(routine) => (None, routine.parameters.as_str()),
        ObjectDetails::Event(_) => (None, ""),
    };
    let mode: LexMode = session.settings.variables.sql_mode.lex();
    let is_procedure = create.kind == engine::ObjectKind::Procedure;
    let parameters = crate::parse::object::parameters_of(parameters, is_procedure, mode);
    let owner = Owner { kind: create.kind, trigger };
    // A body with statements that are missing here is accepted when it is created.
    let Ok(program) = parse_body(create.body.as_bytes(), &owner, &parameters, mode) else { return Ok(()) };
    check_returns(session, create, &program)?;
    if let ObjectDetails::Trigger(trigger) = &create.details {
        check_columns(session, trigger, &program)?;
    }
    let items = program.statements().filter_map(|statement| match statement {
        Statement::Set(items) => Some(items),
        _ => None,
    });
    items
        .flatten()
        .filter(|item| matches!(item, SetItem::Variable { .. }))
        .try_for_each(|item| set::check_known(session, item))
}
