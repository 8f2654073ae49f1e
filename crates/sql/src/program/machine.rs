//! Runs a program from step to step.

use super::{Frame, Handling, Routine, handler_for};
use crate::ast::Expr;
use crate::ast::program::{InnerStatement, Op, SlotKind};
use crate::error::{Result, SqlError};
use crate::expr::{Diagnostics, Level, Warning};
use std::cell::RefCell;
use types::{ColumnType, Value};

/// The services that a program needs from the session that runs it.
pub(crate) trait Surroundings {
    /// Runs the statement of a step.
    fn run(
        &mut self,
        routine: &Routine,
        step: usize,
        inner: &InnerStatement,
        frame: &mut Frame,
    ) -> Result<()>;

    /// Evaluates a step's expression. Returns its value and type.
    fn value(
        &mut self,
        routine: &Routine,
        step: usize,
        expr: &Expr,
        frame: &Frame,
    ) -> Result<(Value, ColumnType)>;

    /// Reports whether the condition of a step is true.
    fn holds(&mut self, routine: &Routine, step: usize, condition: &Expr, frame: &Frame) -> Result<bool>;

    /// Stores a value in a slot, converted to the slot's type.
    fn store(
        &mut self,
        routine: &Routine,
        frame: &mut Frame,
        slot: usize,
        value: (&Value, &ColumnType),
    ) -> Result<()>;

    /// Opens a cursor.
    fn open(&mut self, routine: &Routine, cursor: usize, frame: &mut Frame) -> Result<()>;

    /// Returns the diagnostics area.
    fn diagnostics(&self) -> &RefCell<Diagnostics>;

    /// Checks whether the program has to end.
    ///
    /// # Errors
    /// Returns 1317 (`ER_QUERY_INTERRUPTED`) when it has.
    fn check_interrupt(&self) -> Result<()>;

    /// Ends the rows of a result set that the failed step has begun, if there is one, because the
    /// program goes on.
    fn end_begun_rows(&mut self) -> Result<()>;

    /// Reports whether no handler may catch this error.
    fn is_fatal(&self, error: &SqlError) -> bool;
}

/// A running program.
pub(crate) struct Machine<'r, S> {
    pub routine: &'r Routine,
    pub surroundings: &'r mut S,
}

/// The place where a program goes on after a step.
enum Next {
    Step(usize),
    End((Value, ColumnType)),
}

/// The extent of the diagnostics area before a step, which tells the conditions that the step adds.
struct Known {
    cleared: u64,
    count: usize,
}

impl<S: Surroundings> Machine<'_, S> {
    /// Runs the program to its end. Returns the value of RETURN with its type, if the program has
    /// ended by that.
    ///
    /// # Errors
    /// Returns the error that no handler has caught.
    pub fn run(&mut self, frame: &mut Frame) -> Result<Option<(Value, ColumnType)>> {
        let mut at = 0;
        let program = &self.routine.program;
        assert_eq!(frame.values.len(), program.slots.len(), "each slot has a value");
        assert_eq!(frame.types.len(), program.slots.len(), "each slot has a type");
        assert_eq!(frame.cursors.len(), program.cursors.len(), "each cursor has a place");
        while at < self.routine.program.steps.len() {
            self.surroundings.check_interrupt()?;
            let known = self.known();
            at = match self.step(at, frame) {
                Ok(Next::End(value)) => {
                    if !frame.handling.is_empty() {
                        // The running handlers end with the program.
                        self.surroundings.diagnostics().borrow_mut().remove_marked();
                    }
                    return Ok(Some(value));
                }
                Ok(Next::Step(next)) => self.handle_warnings(at, next, &known, frame),
                Err(error) => self.handle(at, error, frame)?,
            };
        }
        assert_eq!(at, self.routine.program.steps.len(), "a program ends behind its last step");
        assert!(frame.handling.is_empty(), "a handler ends before its program");
        Ok(None)
    }

    fn known(&self) -> Known {
        let area = self.surroundings.diagnostics().borrow();
        Known { cleared: area.cleared, count: area.warnings.len() }
    }

    fn step(&mut self, at: usize, frame: &mut Frame) -> Result<Next> {
        let program = &self.routine.program;
        match &program.steps[at].op {
            Op::Run(inner) => self.surroundings.run(self.routine, at, inner, frame)?,
            Op::Assign { slot, value } => {
                let (value, ty) = self.surroundings.value(self.routine, at, value, frame)?;
                if program.slots[*slot].kind == SlotKind::Operand {
                    frame.types[*slot] = ty;
                    frame.put(*slot, value)?;
                } else {
                    self.surroundings.store(self.routine, frame, *slot, (&value, &ty))?;
                }
            }
            Op::Jump(to) => return Ok(Next::Step(*to)),
            Op::JumpUnless { condition, to, .. } => {
                if !self.surroundings.holds(self.routine, at, condition, frame)? {
                    return Ok(Next::Step(*to));
                }
            }
            Op::CaseNotFound => return Err(SqlError::new(1339, "Case not found for CASE statement")),
            Op::EndHandler(handler) => return Ok(Next::Step(self.end_handler(*handler, frame))),
            Op::Open(cursor) => {
                if frame.cursors[*cursor].is_some() {
                    return Err(SqlError::new(1325, "Cursor is already open"));
                }
                self.surroundings.open(self.routine, *cursor, frame)?;
            }
            Op::Fetch { cursor, into } => {
                let open = frame.cursors[*cursor].as_mut().ok_or_else(SqlError::cursor_not_open)?;
                let (row, types) = open.next(into.len())?;
                for ((slot, value), ty) in into.iter().zip(&row).zip(&*types) {
                    self.surroundings.store(self.routine, frame, *slot, (value, ty))?;
                }
            }
            Op::Close(cursor) => {
                frame.cursors[*cursor].take().ok_or_else(SqlError::cursor_not_open)?;
            }
            Op::LeaveCursors { from, to } => frame.cursors[*from..*to].iter_mut().for_each(|it| *it = None),
            Op::Return(value) => {
                return self.surroundings.value(self.routine, at, value, frame).map(Next::End);
            }
        }
        Ok(Next::Step(at + 1))
    }

    /// Returns the step at which a CONTINUE handler goes on behind a step that has failed.
    fn behind(&self, at: usize) -> usize {
        match &self.routine.program.steps[at].op {
            Op::JumpUnless { after, .. } => *after,
            _ => at + 1,
        }
    }

    /// Activates the handler for an error and returns its first step. Without a handler, the error
    /// ends the program.
    fn handle(&mut self, at: usize, error: SqlError, frame: &mut Frame) -> Result<usize> {
        if self.surroundings.is_fatal(&error) {
            return Err(error);
        }
        let program = &self.routine.program;
        let found = Warning { state: error.state, ..Warning::new(Level::Error, error.code, "") };
        let Some(handler) = handler_for(program, program.steps[at].scope, &found) else { return Err(error) };
        self.surroundings.end_begun_rows()?;
        let condition = {
            let mut area = self.surroundings.diagnostics().borrow_mut();
            area.note_handled(error.code);
            area.push_error(&error)
        };
        let continue_at = self.behind(at);
        Ok(self.activate(handler, condition, continue_at, frame))
    }

    /// Activates the handler for a warning of a step that has succeeded. Of several warnings with
    /// handlers, the last one counts. Returns the next step.
    fn handle_warnings(&mut self, at: usize, next: usize, known: &Known, frame: &mut Frame) -> usize {
        let found = {
            let area = self.surroundings.diagnostics().borrow();
            let new = if area.cleared == known.cleared { known.count } else { 0 };
            let new = area.warnings.get(new..).unwrap_or_default();
            let program = &self.routine.program;
            let scope = program.steps[at].scope;
            let raised = new.iter().rev().filter(|condition| condition.level != Level::Error);
            let mut handled = raised
                .filter_map(|condition| Some((handler_for(program, scope, condition)?, condition.clone())));
            handled.next()
        };
        match found {
            Some((handler, condition)) => self.activate(handler, condition, next, frame),
            None => next,
        }
    }

    fn activate(
        &mut self,
        handler: usize,
        condition: Warning,
        continue_at: usize,
        frame: &mut Frame,
    ) -> usize {
        assert!(continue_at <= self.routine.program.steps.len(), "a program goes on at one of its steps");
        let mut diagnostics = self.surroundings.diagnostics().borrow_mut();
        let area = diagnostics.warnings.clone();
        diagnostics.mark();
        frame.handling.push(Handling { handler, condition, area, continue_at });
        self.routine.program.handlers[handler].start
    }

    fn end_handler(&mut self, number: usize, frame: &mut Frame) -> usize {
        let program = &self.routine.program;
        let handler = &program.handlers[number];
        let ended = frame.handling.pop().expect("a handler that ends has begun");
        assert_eq!(ended.handler, number, "handlers end in the order in which they are nested");
        self.surroundings.diagnostics().borrow_mut().remove_marked();
        if !handler.exits {
            return ended.continue_at;
        }
        // An EXIT handler ends its block, and with it the handlers within the block.
        let ends =
            |handling: &Handling| program.is_within(program.handlers[handling.handler].scope, handler.scope);
        while frame.handling.last().is_some_and(ends) {
            frame.handling.pop();
        }
        handler.end_of_block
    }
}
