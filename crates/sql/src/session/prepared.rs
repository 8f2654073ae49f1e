//! Prepared statements, of the binary protocol and of PREPARE.

use super::classes::is_about_rows;
use super::setup_tables;
use super::state::{Arguments, Bound, PreparedPlace, PreparedStatement};
use super::statement_names::name_of;
use super::{Session, bound, measuring, privileges, refused, results, set_var, watched};
use crate::admin::AdminCommand;
use crate::ast::{PrepareText, Show, Statement};
use crate::error::{Result, SqlError};
use crate::memory::Charge;
use crate::sink::{ColumnMeta, OkInfo, ResultSink};
use os::account::{State, enter};
use std::sync::Arc;
use types::{ColumnType, Value};

/// The answer to COM_STMT_PREPARE.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The id of the statement, for the commands that execute and close it.
    pub id: u32,
    /// The number of `?`.
    pub parameters: u16,
    /// The columns of the result, empty for a statement without a result set.
    pub columns: Vec<ColumnMeta>,
}

/// Returns the type of a parameter with this value, or `None` for NULL, which may be of any type.
fn parameter_type(value: &Value) -> Option<ColumnType> {
    /// Precision and scale for a DECIMAL whose digits are not known in advance.
    const DIGITS: (u8, u8) = (65, 30);
    Some(match value {
        Value::Null => return None,
        Value::Float(_) | Value::Double(_) => ColumnType::double(),
        Value::Decimal(_) => ColumnType::decimal(DIGITS.0, DIGITS.1),
        Value::Time(_) => ColumnType::time(6),
        Value::DateTime(_) | Value::Timestamp { .. } => ColumnType::datetime(6),
        other => other.natural_type(),
    })
}

impl Session {
    /// Prepares a statement (COM_STMT_PREPARE).
    pub fn prepare(&mut self, text: &[u8]) -> Result<Prepared> {
        self.statement.diagnostics.borrow_mut().clear();
        let text = types::collation::to_utf8mb4(self.settings.variables.client_collation, text);
        let prepare = |session: &mut Session| session.prepare_text(&text);
        let prepared = measuring::run_prepare(self, &text, prepare)
            .inspect_err(|error| self.note_failed_prepare(error))?;
        let parameters = u16::try_from(prepared.parameters)
            .map_err(|_| SqlError::new(1390, "Prepared statement contains too many placeholders"))?;
        let columns = prepared.bound.as_ref().map_or_else(Vec::new, |bound| bound.columns().to_vec());
        let id = self.prepared.add(prepared);
        Ok(Prepared { id, parameters, columns })
    }

    fn note_failed_prepare(&self, error: &SqlError) {
        let mut diagnostics = self.statement.diagnostics.borrow_mut();
        diagnostics.clear();
        diagnostics.push(crate::expr::Level::Error, error.code, error.message.clone());
    }

    /// Prepares a statement. What parsing warns of is warned of here, and not when the statement is
    /// executed.
    fn prepare_text(&self, text: &[u8]) -> Result<Box<PreparedStatement>> {
        // As in MySQL, the limit of prepared statements is checked before anything else.
        let place = PreparedPlace::take(&self.server.host)?;
        let mut charge = Charge::new(&self.server.memory);
        // The connection has a copy of its own, which the process list shows.
        charge.add_now(2 * text.len())?;
        let empty = || SqlError::new(1065, "Query was empty");
        let mut parsed = {
            let _state = enter(State::Parse);
            let mut watch = |bytes| self.may_read_on(bytes, &mut charge);
            crate::parse::parse_watched(text, self.settings.variables.lex_mode(), &mut watch)
                .map_err(|error| refused::refusal_of_prepared(self, text, error))?
                .ok_or_else(empty)?
        };
        let rest = &text[parsed.next..];
        if parsed.end < text.len() && rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Err(crate::lexer::syntax_error_after(text, parsed.next));
        }
        if matches!(
            parsed.statement,
            Statement::Empty
                | Statement::Prepare { .. }
                | Statement::Execute { .. }
                | Statement::Deallocate(_)
                | Statement::LockTables(_)
                | Statement::Load(_)
                | Statement::Handler(_)
                | Statement::Xa(_)
                | Statement::Admin(AdminCommand::CloneLocal { .. })
                | Statement::Show { show: Show::Warnings { .. } | Show::CountOf { .. } | Show::Help(_), .. }
        ) {
            return Err(SqlError::not_preparable());
        }
        if !parsed.hints.warnings.is_empty() {
            for (code, text) in std::mem::take(&mut parsed.hints.warnings) {
                self.statement.diagnostics.borrow_mut().push(crate::expr::Level::Warning, code, text);
            }
        }
        if let Statement::Call(call) = &parsed.statement {
            privileges::check_statement(self, &parsed.statement)?;
            super::program::known_procedure(self, &call.name)?;
        }
        let binds = is_about_rows(&parsed.statement) && !setup_tables::is_changed_by(self, &parsed.statement);
        let bound = match binds {
            true => Some(Arc::new(
                bound::bind_hinted(self, &parsed.statement, &parsed.hints)
                    .map_err(|error| refused::refusal(self, text, error))?,
            )),
            false => None,
        };
        let tells_of_parameters = bound.as_ref().is_some_and(|bound| match &bound.plan {
            super::state::Plan::Query(plan) => {
                let subqueries = &bound.subqueries;
                parsed.parameters > 0
                    && (plan.tells_of_parameters()
                        || subqueries.iter().any(|subquery| subquery.plan.tells_of_parameters()))
            }
            _ => false,
        });
        Ok(Box::new(PreparedStatement {
            _place: place,
            parameter_types: tells_of_parameters.then(Vec::new),
            _charge: charge,
            text: text[..parsed.end].into(),
            kind: name_of(&parsed.statement),
            statement: Arc::new(parsed.statement),
            hints: parsed.hints,
            parameters: parsed.parameters,
            bound,
            known: None,
            measured: None,
        }))
    }

    /// Runs a prepared statement (COM_STMT_EXECUTE).
    ///
    /// # Errors
    /// Returns 1243 (`ER_UNKNOWN_STMT_HANDLER`) for an unknown id, and the errors of the statement.
    pub fn execute_prepared(
        &mut self,
        id: u32,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<()> {
        let Some(mut prepared) = self.prepared.take(id) else {
            return Err(SqlError::new(
                1243,
                format!("Unknown prepared statement handler ({id}) given to mysql_stmt_precheck"),
            ));
        };
        self.note_conditions();
        self.parameters.tells_returned = true;
        let run = |session: &mut Session, sink: &mut dyn ResultSink| {
            measuring::begin_prepared(session, &mut prepared);
            session.run_prepared(&mut prepared, parameters, sink)
        };
        let result = watched::run(self, sink, &[], run);
        self.parameters.tells_returned = false;
        self.parameters.returned.clear();
        self.prepared.put_back(id, prepared);
        self.assert_at_rest();
        result.inspect_err(|error| self.note_error(error))
    }

    /// Removes a prepared statement (COM_STMT_CLOSE). An unknown id is ignored.
    pub fn close_prepared(&mut self, id: u32) {
        if let Some(closed) = self.prepared.close(id) {
            measuring::closed(self, &closed);
        }
    }

    /// Binds a prepared statement again, with the types of its parameters as far as they are known.
    fn bound_again(&self, prepared: &PreparedStatement) -> Result<Arc<Bound>> {
        let types = prepared.parameter_types.as_deref().unwrap_or_default();
        bound::bind_typed(self, &prepared.statement, &prepared.hints, types).map(Arc::new)
    }

    fn run_prepared(
        &mut self,
        prepared: &mut PreparedStatement,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<()> {
        if parameters.len() != prepared.parameters {
            return Err(SqlError::new(1210, "Incorrect arguments to EXECUTE"));
        }
        self.server.counters.statements.count(prepared.kind.0);
        let class = match &prepared.bound {
            Some(bound) => super::classes::class_of_bound(bound, true),
            None => super::classes::class_of(&prepared.statement, true),
        };
        self.server.host.admit_statement(class)?;
        watched::tell_begin_of_prepared(self, &prepared.statement, &prepared.text, parameters);
        let Some(bound) = &prepared.bound else {
            let (text, statement) = (prepared.text.clone(), prepared.statement.clone());
            self.parameters.arguments = Arguments { values: parameters.to_vec(), types: Vec::new() };
            let hints = prepared.hints.clone();
            assert!(hints.warnings.is_empty(), "they were told when the statement was prepared");
            let done = set_var::with_hinted(self, &statement, &hints, |session, hints| {
                session.run_unbound(&text, (&statement, hints), sink)
            });
            self.parameters.arguments = Arguments::default();
            return done;
        };
        let bound = bound.clone();
        let hinted_ms = prepared.hints.max_execution_time_ms;
        if prepared.hints.set_vars.is_empty() {
            return bound::within_time(self, bound.is_query(), hinted_ms, |session| {
                session.run_prepared_bound(prepared, bound, parameters, sink)
            });
        }
        let (statement, hints) = (prepared.statement.clone(), prepared.hints.clone());
        let done = set_var::with_hinted(self, &statement, &hints, |session, told| {
            prepared.hints = told.clone();
            bound::within_time(session, bound.is_query(), hinted_ms, |session| {
                session.run_prepared_bound(prepared, bound, parameters, sink)
            })
        });
        prepared.hints = hints;
        done
    }

    fn run_prepared_bound(
        &mut self,
        prepared: &mut PreparedStatement,
        mut bound: Arc<Bound>,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> Result<()> {
        let mut is_stale = !bound::still_holds(self, &bound) || !bound.cacheable;
        if let Some(types) = &mut prepared.parameter_types {
            is_stale |= take_types(types, parameters);
        }
        if is_stale {
            bound = self.bound_again(prepared)?;
            prepared.bound = Some(bound.clone());
            if bound.cacheable {
                self.server.counters.stmt_reprepare.count();
                if let Some(measured) = &prepared.measured {
                    measured.prepared_again();
                }
            }
        }
        match bound::run(self, &bound, parameters, &prepared.text, sink) {
            Err(error) if bound::can_run_again(self, &error) => {
                // The table has changed since the statement was bound, so it runs once more with
                // the new table.
                let bound = self.bound_again(prepared)?;
                prepared.bound = Some(bound.clone());
                bound::run(self, &bound, parameters, &prepared.text, sink)
            }
            other => other,
        }
    }

    /// Runs PREPARE, EXECUTE or DEALLOCATE PREPARE. Returns false for another statement.
    pub(super) fn run_prepare(&mut self, statement: &Statement, sink: &mut dyn ResultSink) -> Result<bool> {
        match statement {
            Statement::Prepare { name, text } => {
                self.statement.diagnostics.borrow_mut().clear();
                let text = match text {
                    PrepareText::Literal(text) => text.clone(),
                    PrepareText::UserVariable(variable) => {
                        // As in MySQL, NULL is taken for the text `NULL`.
                        match self.settings.user_variables.value(variable) {
                            Value::Null => b"NULL".to_vec(),
                            value => crate::expr::text_of(&value).into_owned(),
                        }
                    }
                };
                let name = name.to_lowercase();
                self.prepared.take_named(&name);
                let mut prepared = self.prepare_text(&text)?;
                watched::tell_prepare(self, &text);
                measuring::told_prepared(self, &mut prepared, &name);
                self.prepared.put_named(name, prepared);
                self.statement.row_count = 0;
                let info = "Statement prepared".to_owned();
                let (status, warnings) = (self.status(), self.warning_count());
                sink.ok(&mut OkInfo { status, warnings, info, ..OkInfo::default() })?;
            }
            Statement::Execute { name, using } => {
                let key = name.to_lowercase();
                let variables = &self.settings.user_variables;
                let parameters: Vec<Value> = using.iter().map(|name| variables.value(name)).collect();
                let Some(mut prepared) = self.prepared.take_named(&key) else {
                    return Err(unknown(name, "EXECUTE"));
                };
                // As in MySQL, the digest is that of PREPARE.
                measuring::told_named(self, "PREPARE ", &prepared);
                let result = self.run_prepared(&mut prepared, &parameters, sink);
                self.prepared.put_named(key, prepared);
                let returned = std::mem::take(&mut self.parameters.returned);
                assert!(
                    returned.iter().all(|out| out.number < using.len()),
                    "each parameter that gets a value was given a variable"
                );
                result?;
                for out in returned {
                    self.settings.user_variables.set(&using[out.number], &out.value, &out.ty)?;
                }
            }
            Statement::Deallocate(name) => {
                let Some(prepared) = self.prepared.take_named(&name.to_lowercase()) else {
                    return Err(unknown(name, "DEALLOCATE PREPARE"));
                };
                measuring::told_named(self, "DEALLOCATE ", &prepared);
                drop(prepared);
                results::ok(self, sink)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Sets the types to those of the values. Returns true if a type has changed.
fn take_types(types: &mut Vec<ColumnType>, values: &[Value]) -> bool {
    let is_first = types.is_empty();
    let unknown = || ColumnType::varchar(1, types::collation::UTF8MB4_0900_AI_CI);
    types.resize_with(values.len(), unknown);
    let mut changed = is_first;
    for (ty, value) in types.iter_mut().zip(values) {
        if let Some(new) = parameter_type(value)
            && (new.code, new.unsigned) != (ty.code, ty.unsigned)
        {
            *ty = new;
            changed = true;
        }
    }
    changed
}

fn unknown(name: &str, command: &str) -> SqlError {
    SqlError::new(1243, format!("Unknown prepared statement handler ({name}) given to {command}"))
}
