//! The steps of a program, carried out in a session.

use super::around::is_fatal;
use super::running::{Running, arguments_of};
use super::{call, conditions, values};
use crate::ast::program::InnerStatement;
use crate::ast::{Expr, Statement};
use crate::error::{Result, SqlError};
use crate::expr::{Diagnostics, truth};
use crate::program::{Frame, Routine, Surroundings};
use crate::session::classes::is_about_rows;
use crate::session::setup_tables::is_changed_by;
use crate::sink::EndOfRows;
use std::cell::RefCell;
use types::{ColumnType, Value};

impl Surroundings for Running<'_, '_> {
    fn run(
        &mut self,
        routine: &Routine,
        step: usize,
        inner: &InnerStatement,
        frame: &mut Frame,
    ) -> Result<()> {
        let key = (routine.object.id, step, 0);
        self.count_unless_later(&inner.statement);
        match &inner.statement {
            Statement::Query(_) if !inner.into.is_empty() => self.select_into(routine, key, inner, frame),
            statement if is_about_rows(statement) && !is_changed_by(self.session, statement) => {
                self.run_rows(key, inner, frame, None)
            }
            Statement::Call(call) => call::call_within(self, routine, key, call, frame),
            Statement::Signal(signal) => conditions::signal_in(self, key, signal, frame),
            Statement::GetDiagnostics(get) => conditions::get_in(self, routine, key, get, frame),
            Statement::Set(items) => self.set(key, items, inner, frame),
            Statement::Do(exprs) => {
                self.clear_area();
                self.session.statement.row_count = 0;
                let bound = self.bound_values(key, exprs, frame)?;
                values::evaluate(self.session, self.around, &bound, &frame.values).map(|_| ())
            }
            statement => self.alone(statement, inner, arguments_of(frame)),
        }
    }

    fn value(
        &mut self,
        routine: &Routine,
        step: usize,
        expr: &Expr,
        frame: &Frame,
    ) -> Result<(Value, ColumnType)> {
        self.clear_area();
        self.one_typed((routine.object.id, step, 0), expr, frame)
    }

    fn holds(&mut self, routine: &Routine, step: usize, condition: &Expr, frame: &Frame) -> Result<bool> {
        self.clear_area();
        let value = self.one((routine.object.id, step, 0), condition, frame)?;
        Ok(truth(&value, &self.session.context(&frame.values, false)) == Some(true))
    }

    fn store(
        &mut self,
        routine: &Routine,
        frame: &mut Frame,
        slot: usize,
        value: (&Value, &ColumnType),
    ) -> Result<()> {
        self.keep(routine, frame, slot, value)
    }

    fn open(&mut self, routine: &Routine, cursor: usize, frame: &mut Frame) -> Result<()> {
        self.open_cursor(routine, cursor, frame)
    }

    fn diagnostics(&self) -> &RefCell<Diagnostics> {
        &self.session.statement.diagnostics
    }

    fn check_interrupt(&self) -> Result<()> {
        self.session.server.check_interrupt()
    }

    fn end_begun_rows(&mut self) -> Result<()> {
        let (warnings, status) = (self.session.warning_count(), self.session.status());
        self.sink.end_begun_rows(EndOfRows { warnings, status })
    }

    fn is_fatal(&self, error: &SqlError) -> bool {
        is_fatal(self.session, error)
    }
}
